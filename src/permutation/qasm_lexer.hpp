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

/// The present token of a file that is read from first to last.
class QasmCursor {
 public:
  QasmCursor(std::string_view source, std::string_view file_name) : lexer_(source, file_name) { advance(); }

  const QasmToken& token() const { return token_; }
  bool at(char sign) const { return token_.is_sign(sign); }
  bool at_end() const { return token_.kind == QasmToken::Kind::end; }
  /// The token behind the present one.
  QasmToken ahead() const;

  void advance() { token_ = lexer_.next(); }
  bool take(char sign);  // passes over it if it is there
  void sign(char sign);  // the same, and refuses any other token
  /// A name, which errors call `what`.
  QasmToken word(const std::string& what);
  /// An unsigned number below 2^31.
  int number(const std::string& what);
  /// What stands between balanced brackets, without blanks; the present token is the one that opens.
  std::string bracketed(char open, char close);

  /// The first names the line of the present token.
  [[noreturn]] void fail(ErrorCode code, const std::string& got, std::string wanted,
                         std::string remedy = {}) const;
  [[noreturn]] void fail_at(const QasmToken& token, ErrorCode code, const std::string& got,
                            std::string wanted, std::string remedy = {}) const;

 private:
  QasmLexer lexer_;
  QasmToken token_;
};

}  // namespace faro::detail
