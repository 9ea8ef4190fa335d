#include <algorithm>
#include <charconv>
#include <utility>

#include "permutation/qasm_registers.hpp"
#include "text.hpp"

namespace faro::detail {
namespace {

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The base that a whole number's first characters tell.
int base_of(std::string_view number) {
  if (number.starts_with("0x") || number.starts_with("0X")) return 16;
  if (number.starts_with("0b") || number.starts_with("0B")) return 2;
  if (number.starts_with("0o") || number.starts_with("0O")) return 8;
  return 10;
}

// Its digits without the `_` between them; nothing where one stands elsewhere.
std::string digits_of(std::string_view number) {
  if (number.starts_with('_') || number.ends_with('_') || number.find("__") != std::string_view::npos)
    return {};
  std::string digits(number);
  std::erase(digits, '_');
  return digits;
}

}  // namespace

QasmToken QasmLexer::next() {
  skip_blanks();
  if (rest_.empty()) return {.kind = QasmToken::Kind::end, .text = {}, .line = line_};
  const char first = rest_[0];
  if (const std::size_t length = word_length(rest_); length > 0) return take(QasmToken::Kind::word, length);
  if (is_digit(first)) {
    return take(QasmToken::Kind::number, count_while(rest_, [](char c) { return is_word(c) || c == '.'; }));
  }
  // A physical qubit, as compilers for a device name it.
  if (first == '$' && rest_.size() > 1 && is_digit(rest_[1]))
    return take(QasmToken::Kind::word, 1 + count_while(rest_.substr(1), is_digit));
  if (first == '"' || first == '\'') {
    const std::size_t end = rest_.find_first_of(std::string{first, '\n'}, 1);
    if (end == std::string_view::npos || rest_[end] == '\n') {
      fail(ErrorCode::spec, line_, in_quotes(rest_.substr(0, std::min(end, rest_.size())), 40),
           "a closing " + std::string{first});
    }
    QasmToken token = take(QasmToken::Kind::text, end + 1);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }
  const bool known = std::string_view(";,[]{}()=<>+-*/:@!&|^%~.#").find(first) != std::string_view::npos;
  // Bytes above 127 are shown together, so that a whole character is.
  const std::size_t length = std::max<std::size_t>(
      1, std::min<std::size_t>(
             8, count_while(rest_, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })));
  if (!known) fail(ErrorCode::spec, line_, in_quotes(rest_.substr(0, length)), "a statement of OpenQASM");
  return take(QasmToken::Kind::sign, 1);
}

void QasmLexer::skip_blanks() {
  for (;;) {
    const std::size_t blanks = count_while(rest_, is_space);
    line_ += lines_in(rest_.substr(0, blanks));
    rest_ = rest_.substr(blanks);
    if (rest_.starts_with("//")) {
      rest_ = rest_.substr(std::min(rest_.find('\n'), rest_.size()));
    } else if (rest_.starts_with("/*")) {
      const std::size_t end = rest_.find("*/", 2);
      if (end == std::string_view::npos)
        fail(ErrorCode::spec, line_, "`/*` without `*/`", "the comment's end");
      line_ += lines_in(rest_.substr(0, end));
      rest_ = rest_.substr(end + 2);
    } else {
      return;
    }
  }
}

std::string_view QasmLexer::line() {
  const std::string_view line = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(line.size());
  return line;
}

QasmToken QasmLexer::take(QasmToken::Kind kind, std::size_t length) {
  const QasmToken token{.kind = kind, .text = rest_.substr(0, length), .line = line_};
  rest_ = rest_.substr(length);
  return token;
}

void QasmLexer::fail(ErrorCode code, std::size_t line, const std::string& got, std::string wanted,
                     std::string remedy) const {
  faro::fail(code, reading(file_name_), got + " at " + line_of(file_name_, line), std::move(wanted),
             std::move(remedy));
}

std::string shown(const QasmToken& token) {
  return token.kind == QasmToken::Kind::end ? "the end of the file" : in_quotes(token.text, 40);
}

QasmToken QasmCursor::ahead() const {
  QasmLexer lexer = lexer_;
  return lexer.next();
}

bool QasmCursor::take(char sign) {
  if (!at(sign)) return false;
  advance();
  return true;
}

void QasmCursor::sign(char sign) {
  if (!take(sign)) fail(ErrorCode::spec, shown(token_), in_quotes(std::string_view(&sign, 1)));
}

QasmToken QasmCursor::word(const std::string& what) {
  const QasmToken word = token_;
  if (word.kind != QasmToken::Kind::word) fail(ErrorCode::spec, shown(word), what);
  advance();
  return word;
}

int QasmCursor::number(const std::string& what) {
  const int base = base_of(token_.text);
  const std::string digits = digits_of(base == 10 ? token_.text : token_.text.substr(2));
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (token_.kind != QasmToken::Kind::number || digits.empty() || end != digits.data() + digits.size()) {
    fail(ErrorCode::spec, shown(token_), what);
  }
  if (fault != std::errc{}) fail(ErrorCode::value, shown(token_), what + " below 2^31");
  advance();
  return value;
}

std::string QasmCursor::bracketed(char open, char close) {
  std::string text;
  sign(open);
  for (int depth = 1;; advance()) {
    if (at_end()) fail(ErrorCode::spec, shown(token_), in_quotes(std::string_view(&close, 1)));
    if (at(open)) ++depth;
    if (at(close) && --depth == 0) break;
    // `1 0` is not 10. Between words and numbers a blank is the only thing that there can be.
    if (!text.empty() && is_word(text.back()) && token_.kind != QasmToken::Kind::sign) text += ' ';
    text += token_.text;
  }
  sign(close);
  return text;
}

std::string_view QasmCursor::rest_of_line() {
  std::string_view line = lexer_.line();
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  advance();
  return line;
}

void QasmCursor::fail(ErrorCode code, const std::string& got, std::string wanted, std::string remedy) const {
  fail_at(token_, code, got, std::move(wanted), std::move(remedy));
}

void QasmCursor::fail_at(const QasmToken& token, ErrorCode code, const std::string& got, std::string wanted,
                         std::string remedy) const {
  lexer_.fail(code, token.line, got, std::move(wanted), std::move(remedy));
}

}  // namespace faro::detail
