#include "text.hpp"

#include <algorithm>
#include <limits>

namespace faro::detail {
namespace {

// Value of a digit in base 16, or 16.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

// Digits only, at least one.
ScannedNumber scan_digits(std::string_view digits, unsigned base) {
  ScannedNumber result{.value = 0, .length = digits.size(), .fault = NumberFault::none};
  if (digits.empty()) result.fault = NumberFault::malformed;
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base) return {.value = 0, .length = digits.size(), .fault = NumberFault::malformed};
    // Once too large, the rest is still read: a malformed number is called malformed, however long.
    if (result.value > (std::numeric_limits<std::uint64_t>::max() - digit) / base) {
      result.fault = NumberFault::too_large;
    } else {
      result.value = result.value * base + digit;
    }
  }
  return result;
}

std::string escaped(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15U]};
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned point = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  const unsigned smallest = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  // U+0080..U+009F are control characters: a terminal may act on them.
  return point < smallest || point > 0x10ffff || surrogate || point < 0xa0 ? 0 : length;
}

std::size_t word_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const char c = text[length];
    const bool is_ascii = length == 0 ? is_word_start(c) : is_word(c);
    const std::size_t bytes = is_ascii ? 1 : utf8_length(text.substr(length));
    if (bytes == 0) break;
    length += bytes;
  }
  return length;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }

ScannedNumber scan_number(std::string_view text) {
  if (text.empty() || !is_digit(text[0])) return {.value = 0, .length = 0, .fault = NumberFault::missing};
  // The token is all that a reader would take for one number, so that `12ab` is one wrong number.
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) { return is_word(c) || c == '^'; });
  const std::string_view token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  ScannedNumber result;
  if (token.starts_with("0x")) {
    result = scan_digits(token.substr(2), 16);
  } else if (token.starts_with("2^")) {
    result = scan_digits(token.substr(2), 10);
    if (result.fault == NumberFault::none && result.value > 63) result.fault = NumberFault::too_large;
    if (result.fault == NumberFault::none) result.value = std::uint64_t{1} << result.value;
  } else {
    result = scan_digits(token, 10);
  }
  result.length = token.size();
  return result;
}

std::size_t count_while(std::string_view text, bool (*holds)(char)) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), holds) - text.begin());
}

std::string printable(std::string_view text, std::size_t longest_bytes) {
  std::string result;
  std::size_t i = 0;
  while (i < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[i]) < 0x80;
    const bool printable = ascii && text[i] >= ' ' && text[i] != '\x7f';
    const std::size_t length = ascii ? 1 : utf8_length(text.substr(i));
    const bool as_is = printable || (!ascii && length > 0);
    const std::string piece = as_is ? std::string(text.substr(i, length)) : escaped(text[i]);
    if (result.size() + piece.size() > longest_bytes) {
      // Between two words, where there is such a place: half a number would be another one.
      const std::size_t blank = is_word(text[i]) ? result.find_last_of(" ,;()") : result.size();
      return result.substr(0, blank == std::string::npos ? result.size() : blank + 1) + "...";
    }
    result += piece;
    i += as_is ? length : 1;
  }
  return result;
}

std::string in_quotes(std::string_view text, std::size_t longest_bytes) {
  return "`" + printable(text, longest_bytes) + "`";
}

std::string reading(std::string_view path) { return "read " + in_quotes(path, kLongestPathBytes); }

std::string line_of(std::string_view path, std::uint64_t line) {
  return printable(path, kLongestPathBytes) + ":" + std::to_string(line);
}

}  // namespace faro::detail
