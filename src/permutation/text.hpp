// What every reader of text in this module shares: numbers, and text quoted in an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faro::detail {

enum class NumberFault {
  none,
  missing,    // no digit at the start
  malformed,  // digits, but not a number: `0x`, `3^2`, `12ab`
  too_large,  // past 2^64 - 1
};

struct ScannedNumber {
  std::uint64_t value = 0;
  std::size_t length = 0;  // of the token, faulty ones included
  NumberFault fault = NumberFault::none;
};

/// The number at the start of `text`: decimal, 0x... or 2^k.
ScannedNumber scan_number(std::string_view text);

bool is_space(char c);
bool is_digit(char c);
bool is_word_start(char c);  // a letter or `_`
bool is_word(char c);        // a letter, a digit or `_`

/// How many characters at the start of `text` are so.
std::size_t count_while(std::string_view text, bool (*holds)(char));

/// `text` made printable: control bytes and bytes that are no UTF-8 are written \x0a, and what is past
/// `longest_bytes` is left out for "...", from the end of a word on.
std::string printable(std::string_view text, std::size_t longest_bytes = 80);

/// The same between backquotes, as errors show it.
std::string in_quotes(std::string_view text, std::size_t longest_bytes = 80);

/// A path is shown whole: it is what the user has to look at.
inline constexpr std::size_t kLongestPathBytes = 300;

/// "read `PATH`", the operation of an error in a file, and "PATH:LINE".
std::string reading(std::string_view path);
std::string line_of(std::string_view path, std::uint64_t line);

}  // namespace faro::detail
