#include "cli/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"

namespace faro::cli {
namespace {

bool colours_wanted() {
  const char* const no_color = secure_getenv("NO_COLOR");
  return isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

// What the system says of a file, as people do.
std::string_view plain_reason(std::string_view system_says) {
  struct Reason {
    std::string_view system;
    std::string_view plain;
  };
  constexpr std::array<Reason, 9> kReasons{{{"No such file or directory", "no such file"},
                                            {"Permission denied", "permission denied"},
                                            {"No space left on device", "the disk is full"},
                                            {"Read-only file system", "the disk is read-only"},
                                            {"Is a directory", "it is a folder"},
                                            {"Not a directory", "a folder of its path is a file"},
                                            {"Too many levels of symbolic links", "its links go in a circle"},
                                            {"Input/output error", "the disk failed"},
                                            {"File too large", "larger than files may be here"}}};
  for (const Reason& reason : kReasons) {
    if (system_says.starts_with(reason.system)) return reason.plain;
  }
  return {};
}

// "cannot read nope.npy: no such file (got No such file or directory, wanted a readable .npy file)", and of
// other faults "cannot permute `a.npy`: got ..., wanted ...".
std::string plain_message(const Error& error) {
  constexpr std::array<std::string_view, 8> kDeeds{"read ",  "write ", "change ", "permute ",
                                                   "parse ", "plan",   "run",     "save "};
  const ErrorReport& report = error.report();
  const std::string_view operation = report.operation;
  const bool is_deed = std::any_of(kDeeds.begin(), kDeeds.end(),
                                   [&](std::string_view deed) { return operation.starts_with(deed); });
  if (!is_deed || report.code == ErrorCode::internal) return error.what();
  if (operation == "read ``") return "cannot read ``: got an empty name, wanted the name of a file";
  std::string_view reason = plain_reason(report.got);
  // A file that is written need not be there, but its folder.
  if (reason == "no such file" && operation.starts_with("write ")) reason = "no such folder";
  if (reason.empty()) return std::string("cannot ") + error.what();
  std::string deed = report.operation;
  std::erase(deed, '`');
  return fmt::format("cannot {}: {} (got {}, wanted {}){}{}", deed, reason, report.got, report.wanted,
                     report.remedy.empty() ? "" : "; ", report.remedy);
}

// The code point that begins at `text[at]` and its length; length 0 where no valid UTF-8 does.
struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return {.code = first, .length = 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return {};
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3fU);
  }
  return {.code = code, .length = length};
}

// A path on the command line may hold any bytes; JSON holds UTF-8.
std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json new_json() { return Json{{"schema", kJsonSchema}}; }

void print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                       std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
  if (!written) {
    fail(ErrorCode::file, "write to standard output", "a failure", "a place that can be written to");
  }
}

void print(const Json& json) { print(dump(json)); }

namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Whether what is before and at `i` is of one word, number or character.
bool joins(const std::string& text, std::size_t i) {
  const auto is_of_a_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  return i > 0 && i < text.size() && is_of_a_word(text[i - 1]) && is_of_a_word(text[i]);
}

Error with_typed_names(const Error& error) noexcept {
  try {
    ErrorReport report = error.report();
    for (std::string* const part : {&report.operation, &report.got, &report.wanted, &report.remedy})
      *part = as_typed(*part);
    return Error(report);
  } catch (const std::exception&) {
    return error;  // without the memory for it
  }
}

}  // namespace

std::string fit_for_a_terminal(std::string_view text) {
  constexpr std::size_t kLongestQuoted = 400;
  std::string shown;
  std::size_t quoted_from = std::string::npos;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool is_control = c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0);
    if (c.length == 0 || (is_control && (c.code != '\n' || quoted_from != std::string::npos))) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    if (text[at] == '`' && quoted_from == std::string::npos) {
      quoted_from = shown.size();
    } else if (text[at] == '`') {
      const std::size_t length = shown.size() - quoted_from;
      if (length > kLongestQuoted) {
        std::size_t begin = quoted_from + kLongestQuoted / 2;
        std::size_t end = shown.size() - kLongestQuoted / 2;
        // Between two words, where there is such a place near: half a number would be another one.
        constexpr std::size_t kLongestWord = 80;
        std::size_t words_end = begin;
        std::size_t words_begin = end;
        while (words_end > begin - kLongestWord && joins(shown, words_end)) --words_end;
        while (words_begin < end + kLongestWord && joins(shown, words_begin)) ++words_begin;
        if (!joins(shown, words_end)) begin = words_end;
        if (!joins(shown, words_begin)) end = words_begin;
        while (!begins_character(shown[begin])) --begin;
        while (end < shown.size() && !begins_character(shown[end])) ++end;
        shown.replace(begin, end - begin, "…");
      }
      quoted_from = std::string::npos;
    }
    shown += text.substr(at, c.length);
    at += c.length;
  }
  return shown;
}

faro::detail::TypedNames& typed_names() {
  static faro::detail::TypedNames names;
  return names;
}

void remember_name(const Permutation& permutation, const std::string& typed) {
  typed_names().remember(permutation, typed);
}

std::string as_typed(std::string text) { return typed_names().in(std::move(text)); }

void note(const std::string& line) noexcept {
  std::fprintf(stderr, "%s\n", fit_for_a_terminal(line).c_str());
}

namespace {

std::vector<std::string>& later_notes() {
  static std::vector<std::string> lines;
  return lines;
}

}  // namespace

void note_afterwards(const std::string& line) {
  std::vector<std::string>& lines = later_notes();
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

void tell_notes() {
  if (!later_notes().empty()) std::fflush(stdout);
  for (const std::string& line : later_notes()) note("faro: " + line);
}

int report_error(const Error& told, bool as_json) noexcept {
  const Error error = with_typed_names(told);
  const ErrorReport& report = error.report();
  std::fprintf(stderr, colours_wanted() ? "\x1b[1;31mfaro:\x1b[0m %s\n" : "faro: %s\n",
               fit_for_a_terminal(plain_message(error)).c_str());
  if (as_json) {
    try {
      Json json = new_json();
      json["error"] = {{"code", name(report.code)},
                       {"operation", report.operation},
                       {"got", report.got},
                       {"wanted", report.wanted},
                       {"remedy", report.remedy}};
      print(json);
    } catch (const std::exception&) {
      return exit_status(ErrorCode::file);
    }
  }
  return exit_status(report.code);
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "()" : text;
}

std::string count_text(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string device_name() {
  std::string processor = "unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    processor = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {}, {}", processor, cpu::simd_target(),
                     count_text(static_cast<std::uint64_t>(detail::thread_count()), "thread"));
}

std::string gpu_name(int ordinal) {
  const std::vector<cuda::Device> all = cuda::devices();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const cuda::Device& device) { return device.ordinal == ordinal; });
  if (found == all.end()) return cuda::target(ordinal).name;  // refuses, and says why
  const cuda::Versions versions = cuda::versions();
  return fmt::format("{}, compute capability {}.{}, CUDA driver {}, runtime {}", found->name, found->major,
                     found->minor, versions.driver, versions.runtime);
}

std::string explained(const std::string& word, const std::string& text) {
  return fmt::format("{:<14}{}", word, text);
}

std::string time_text(double milliseconds) {
  return milliseconds < 1000 ? fmt::format("{:.3g} ms", milliseconds)
                             : fmt::format("{:.3g} s", milliseconds / 1000);
}

std::string fitted_line(const std::vector<std::string>& heads,
                        const std::vector<std::vector<std::string>>& more) {
  constexpr std::size_t kColumns = 80;
  const std::size_t words = more.empty() || more.front().empty() ? 0 : more.front().back().size();
  const std::size_t wanted = words == 0 ? 0 : words + 2;
  const auto fitting = [&](std::size_t room) {
    return std::find_if(heads.begin(), heads.end(),
                        [room](const std::string& text) { return text.size() <= room; });
  };
  auto head = wanted < kColumns ? fitting(kColumns - wanted) : heads.end();
  if (head == heads.end()) head = fitting(kColumns);
  std::string line = head == heads.end() ? heads.back() : *head;
  for (const std::vector<std::string>& part : more) {
    const auto text = std::find_if(part.begin(), part.end(), [&](const std::string& each) {
      return !each.empty() && line.size() + 2 + each.size() <= kColumns;
    });
    if (text != part.end()) line += "; " + *text;
  }
  return line;
}

double gb_per_s(std::uint64_t bytes, double milliseconds) {
  return milliseconds > 0 ? 2.0 * static_cast<double>(bytes) / (milliseconds * 1e6) : 0;
}

}  // namespace faro::cli
