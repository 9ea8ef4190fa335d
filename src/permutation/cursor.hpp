// A place in a permutation's text: the tokens from there on, and errors that say where they are.
//
// Tokens are words, numbers, the signs ( ) , ; - and @path. White space between them is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "faro/error.hpp"

namespace faro::detail {

class Cursor {
 public:
  /// `text` must outlive the cursor.
  explicit Cursor(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }

  /// Offset of the next token.
  std::size_t position();

  bool at_end() { return position() == text_.size(); }

  /// The first character of the next token, 0 at the end.
  char peek();

  /// Steps over `sign` where it comes next. Returns whether it did.
  bool take(char sign);

  /// Steps over a word. Returns nothing where none comes next.
  std::string_view word();

  /// Steps over a number. `wanted` completes the error "wanted ...". Errors: ErrorCode::spec where none comes
  /// next, ErrorCode::value past 2^64 - 1.
  std::uint64_t number(const std::string& wanted);

  /// The path after an `@`: up to white space, `,`, `;` or `)`, or between double quotes.
  std::string_view path();

  /// How often `sign` stands between here and the `)` that closes what is being read; what is nested in
  /// parentheses or quotes is passed over.
  std::size_t count_ahead(char sign);

  /// Steps to the first such sign, or back to a position() of before.
  void skip_to(char sign);
  void go_to(std::size_t position) { position_ = position; }

  /// "`;` at character 9" (from 1), or "the end of the text".
  std::string here();

  /// Throws, naming the text.
  [[noreturn]] void fail(ErrorCode code, std::string got, std::string wanted, std::string remedy = {}) const;

  /// Throws ErrorCode::spec with what comes next as what was got.
  [[noreturn]] void fail_here(std::string wanted, std::string remedy = {});

 private:
  std::string_view rest() { return text_.substr(position()); }

  /// Calls `visit` with each character up to that `)`, and where it stands, until it gives true.
  template <typename Visit>
  void walk_level(Visit visit);

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace faro::detail
