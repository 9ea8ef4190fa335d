#include "bench/arguments.hpp"

// Before Highway: the instruction sets that the kernels are compiled for.
#define HWY_WANT_AVX3_DL

#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "faro/error.hpp"

namespace faro::bench {

namespace {

const char* const kSharedUsage = R"(
Every benchmark takes:
  --targets NAME   instruction set: avx2 and what is below it on a processor with AVX-512, or avx3, ...
                                       (default the best that this processor has)
)";

std::string lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

// From here on, as on a machine that knows this set and the lesser ones, which have the higher bits.
void limit_targets(const Argument& argument) {
  std::string names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const std::string name = lower_case(hwy::TargetName(target));
    if (name == argument.text) return hwy::SetSupportedTargetsForTest(~(target - 1));
    names += (names.empty() ? "" : ", ") + name;
  }
  refuse(argument, "one of " + names);
}

}  // namespace

void refuse(const Argument& got, const std::string& wanted) {
  fail(ErrorCode::usage, got.option, got.text.empty() ? "nothing" : "`" + std::string(got.text) + "`", wanted,
       "--help lists the options");
}

std::uint64_t parse_count(const Argument& argument, std::uint64_t least, std::uint64_t most) {
  const std::string_view text = argument.text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && value >= least && value <= most) return value;
  const bool is_limited = most != std::numeric_limits<std::uint64_t>::max();
  if (is_limited) refuse(argument, fmt::format("a number from {} to {}", least, most));
  refuse(argument, least == 0 ? "a number" : fmt::format("a number, at least {}", least));
}

int parse_int(const Argument& argument, int least, int most) {
  return static_cast<int>(
      parse_count(argument, static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most)));
}

std::uint64_t parse_bytes(const Argument& argument, std::uint64_t least) {
  constexpr int kLargestBits = 40;
  Argument number = argument;
  std::uint64_t bytes = 0;
  if (number.text.starts_with("2^")) {
    number.text.remove_prefix(2);
    const std::uint64_t exponent = parse_count(number);
    bytes = exponent <= kLargestBits ? std::uint64_t{1} << exponent : 0;
  } else {
    int shift = 0;
    for (const auto& [unit, unit_shift] : {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
      if (!number.text.ends_with(unit)) continue;
      shift = unit_shift;
      number.text.remove_suffix(3);
      break;
    }
    const std::uint64_t count = parse_count(number);
    bytes = count <= std::uint64_t{1} << (kLargestBits - shift) ? count << shift : 0;
  }
  if (!std::has_single_bit(bytes) || bytes < least) {
    refuse(argument, "a power of two, " + size_text(least) + " to 2^40");
  }
  return bytes;
}

std::vector<std::uint64_t> parse_counts(const Argument& argument, std::uint64_t least) {
  std::vector<std::uint64_t> numbers;
  for (const Argument& part : split(argument)) numbers.push_back(parse_count(part, least));
  return numbers;
}

std::vector<int> parse_ints(const Argument& argument, int least, int most) {
  std::vector<int> numbers;
  for (const Argument& part : split(argument)) numbers.push_back(parse_int(part, least, most));
  return numbers;
}

std::vector<std::uint64_t> parse_widths(const Argument& argument) {
  std::vector<std::uint64_t> widths;
  for (const Argument& part : split(argument)) {
    const std::uint64_t width = parse_count(part);
    if (!std::has_single_bit(width) || width > 16) refuse(part, "1, 2, 4, 8 or 16");
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> parse_names(const Argument& argument) {
  std::vector<std::string> names;
  for (const Argument& part : split(argument)) names.emplace_back(part.text);
  return names;
}

std::vector<Argument> split(const Argument& argument, char separator) {
  std::vector<Argument> parts;
  std::string_view text = argument.text;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back({argument.option, text.substr(0, end)});
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

CommandLine::CommandLine(int count, const char* const* words)
    : name_(std::filesystem::path(words[0]).filename()), words_(words + 1, words + count) {}

std::string CommandLine::text() const {
  std::string text = name_;
  for (const std::string& word : words_) text += " " + word;
  return text;
}

bool CommandLine::has(std::string_view word) const {
  return std::find(words_.begin(), words_.end(), word) != words_.end();
}

void CommandLine::read(const std::vector<Option>& own, const std::vector<std::string_view>& flags) const {
  std::vector<Option> options = own;
  options.push_back({"--targets", limit_targets});
  for (auto word = words_.begin(); word != words_.end(); ++word) {
    if (std::find(flags.begin(), flags.end(), *word) != flags.end()) continue;
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& known) { return known.name == *word; });
    if (option == options.end()) refuse({"read the command line", *word}, "an option");
    if (word + 1 == words_.end()) refuse({*word, ""}, "a value");
    ++word;
    option->read({std::string(option->name), *word});
  }
}

int run_program(int count, const char* const* words, const char* usage,
                const std::function<int(const CommandLine&)>& run) {
  const CommandLine line(count, words);
  try {
    if (!line.has("--help")) return run(line);
    std::fputs(usage, stdout);
    std::fputs(kSharedUsage, stdout);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", line.name().c_str(), error.what());
    return exit_status(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", line.name().c_str(), error.what());
    return exit_status(ErrorCode::internal);
  }
}

}  // namespace faro::bench
