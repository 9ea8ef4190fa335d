// The tokens of OpenQASM, with the line of each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "faro/error.hpp"

namespace faro::detail {

struct QasmToken {
  enum class Kind { word, number, text, sign, end };
  Kind kind = Kind::end;
  std::string_view text;  // a text token's without its quotes
  std::size_t line = 1;

  bool is_sign(char c) const { return kind == Kind::sign && text[0] == c; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

class QasmLexer {
 public:
  /// `source` must outlive the lexer.
  QasmLexer(std::string_view source, std::string_view file_name) : rest_(source), file_name_(file_name) {}

  /// The next token; comments and white space are passed over.
  QasmToken next();

  /// Throws, naming the file and the line.
  [[noreturn]] void fail(ErrorCode code, std::size_t line, const std::string& got, std::string wanted,
                         std::string remedy = {}) const;

 private:
  void skip_blanks();
  QasmToken take(QasmToken::Kind kind, std::size_t length);

  std::string_view rest_;
  std::string file_name_;
  std::size_t line_ = 1;
};

/// How an error names a token: "`;`" or "the end of the file".
std::string shown(const QasmToken& token);

}  // namespace faro::detail
