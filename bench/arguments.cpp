#include "bench/arguments.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <utility>

#include "faro/error.hpp"

namespace faro::bench {

void refuse_option(const std::string& option, std::string_view got, const std::string& wanted) {
  throw Error({.code = ErrorCode::usage,
               .operation = option,
               .got = "`" + std::string(got) + "`",
               .wanted = wanted,
               .remedy = "--help lists the options"});
}

std::uint64_t parse_count(const std::string& option, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse_option(option, text, "a number");
  return value;
}

std::uint64_t parse_bytes(const std::string& option, std::string_view text, std::uint64_t least) {
  constexpr int kLargestBits = 40;
  const std::string_view given = text;
  std::uint64_t bytes = 0;
  if (text.starts_with("2^")) {
    const std::uint64_t exponent = parse_count(option, text.substr(2));
    bytes = exponent <= kLargestBits ? std::uint64_t{1} << exponent : 0;
  } else {
    int shift = 0;
    for (const auto& [unit, unit_shift] : {std::pair{"KiB", 10}, {"MiB", 20}, {"GiB", 30}}) {
      if (!text.ends_with(unit)) continue;
      shift = unit_shift;
      text.remove_suffix(3);
      break;
    }
    const std::uint64_t count = parse_count(option, text);
    bytes = count <= std::uint64_t{1} << (kLargestBits - shift) ? count << shift : 0;
  }
  if (!std::has_single_bit(bytes) || bytes < least) {
    refuse_option(option, given, "a power of two, " + size_text(least) + " to 2^40");
  }
  return bytes;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::uint64_t> parse_widths(const std::string& option, std::string_view text) {
  std::vector<std::uint64_t> widths;
  for (const std::string_view part : split(text)) {
    const std::uint64_t width = parse_count(option, part);
    if (!std::has_single_bit(width) || width > 16) refuse_option(option, part, "1, 2, 4, 8 or 16");
    widths.push_back(width);
  }
  return widths;
}

std::string size_text(std::uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}) {
    if (bytes >= std::uint64_t{1} << shift) return fmt::format("{} {}", bytes >> shift, unit);
  }
  return fmt::format("{} bytes", bytes);
}

}  // namespace faro::bench
