// A program's text as tokens, each knowing its place; errors that show the text and the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/error.hpp"

namespace faro::network {

enum class TokenKind { word, number, string, sign, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;   // a string's with its quotes
  std::size_t offset = 0;  // in the whole text
};

/// A text and its tokens, the last of which is an `end`.
class Tokens {
 public:
  /// `text` must outlive the tokens. Errors: ErrorCode::spec for a string without its end.
  explicit Tokens(std::string_view text);

  std::string_view text() const { return text_; }
  /// The `end` at and past it.
  const Token& at(std::size_t position) const {
    return position < tokens_.size() ? tokens_[position] : tokens_.back();
  }
  bool is_sign(std::size_t position, char sign) const;
  bool is_word(std::size_t position, std::string_view word) const;

  /// The text from the first of these tokens to the end of the one before `end`.
  std::string_view between(std::size_t begin, std::size_t end) const;

  /// The first `)` past `position` that closes what is open there, or the end.
  std::size_t closing(std::size_t position) const;

  /// "`;` at character 9", or "the end of the text".
  std::string here(std::size_t position) const;

  [[noreturn]] void fail(ErrorCode code, std::string got, std::string wanted, std::string remedy = {}) const;
  [[noreturn]] void fail_here(std::size_t position, std::string wanted, std::string remedy = {}) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
};

/// What `"a \"b\""` stands for: a "b".
std::string string_value(const Token& token);

/// A size variable and its value. Without one, nothing has a value yet.
struct Variable {
  std::string_view name;
  std::optional<std::uint64_t> value;
};

/// Reads sums of numbers and of the variable with + - * / ^ and parentheses: `2^(n-1)`, `3*n`, `0x10`.
class Arithmetic {
 public:
  Arithmetic(const Tokens& tokens, const Variable& variable) : tokens_(tokens), variable_(variable) {}

  /// The value of the expression at `position`, which moves past it; where the variable has no value, 1, and
  /// only the grammar is checked.
  /// Errors: ErrorCode::spec where there is no expression; ErrorCode::value for a value below zero or past
  /// 2^64 - 1, for a division by zero, and for a variable that is not this one.
  std::uint64_t sum(std::size_t& position);

  /// A number, the variable, or a sum in parentheses.
  std::uint64_t primary(std::size_t& position);

  /// Whether the variable was met.
  bool met_variable() const { return met_variable_; }

 private:
  std::uint64_t product(std::size_t& position);
  std::uint64_t power(std::size_t& position);
  std::uint64_t checked(bool fault, std::uint64_t value, std::size_t begin, std::size_t end,
                        std::string_view what) const;

  const Tokens& tokens_;
  Variable variable_;
  bool met_variable_ = false;
  int depth_ = 0;
};

}  // namespace faro::network
