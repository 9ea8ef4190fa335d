// What every reader of text in this module shares: numbers, and text quoted in an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faro/permutation/permutation.hpp"

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

/// Length of the UTF-8 sequence of two to four bytes at the start of `text`, or 0 where there is none, or a
/// control character.
std::size_t utf8_length(std::string_view text);

/// How many bytes at the start of `text` are a name of OpenQASM: letters of any script, digits and `_`, no
/// digit first. What is no letter but no ASCII either counts as one: no name that is declared has it.
std::size_t word_length(std::string_view text);

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

// What maps were called where they were typed. A map of bits is its matrix, and `random_bmmc(28, 1)` would
// be told as 28 numbers: messages, explanations and drawings keep the name instead.

class TypedNames {
 public:
  void remember(const Permutation& permutation, const std::string& typed);

  /// `text` with the typed names where it has the maps' own texts.
  std::string in(std::string text) const;

  /// An explanation of `permutation`, whose first line is "permutation   " and a text, under the name that
  /// was typed. A second line says what that is in other words, where those are short: the permutation's own
  /// text, or the text that stood there, which may be of its normal form.
  std::string in_explanation(const std::string& text, const Permutation& permutation,
                             const std::string& typed) const;

  /// The same for the drawing of `permutation`, typed as `typed`, whose title may hold the beginning of a
  /// long text.
  std::string in_drawing(const std::string& svg, const Permutation& permutation,
                         const std::string& typed) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // own text, typed; in the order of the typing
};

// A permutation's text, with what it says beyond the permutation: shapes, and what its files hold besides,
// such as a circuit's measurements.

struct NotedPermutation {
  ParsedPermutation parsed;
  /// For words that name axes composed with other maps, where `parsed.axes` is nothing: the shape that is
  /// taken and the one that is given.
  std::optional<RegroupedShape> shapes = std::nullopt;
  std::vector<std::string> notes = {};  // a line each: what was read and left out
  std::uint64_t index_elements = 0;     // entries of all index arrays that the text made or read
};

/// What has the shape of ParseOptions: what the map takes, or what it gives, where its inverse is to be run.
/// In compose(f, g) the array is at hand for g, and what g gives for f.
enum class AtHand : std::uint8_t { input, result };

/// parse_with_axes() with its notes.
NotedPermutation parse_with_notes(std::string_view text, const ParseOptions& options = {},
                                  AtHand at_hand = AtHand::input);

/// Whether the text lacks nothing but the n of a map without it: with some n it can be read.
bool lacks_only_bits(std::string_view text, ParseOptions options);

}  // namespace faro::detail
