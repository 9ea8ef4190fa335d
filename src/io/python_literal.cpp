#include "io/python_literal.hpp"

namespace faro::io {
namespace {

using Kind = PythonLiteral::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  PythonLiteral all() {
    PythonLiteral value = literal(0);
    skip_space();
    if (position_ != text_.size()) fail("nothing after the literal");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const { throw PythonLiteralError(wanted, position_); }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_space() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n\f").find(text_[position_]) != std::string_view::npos)
      ++position_;
  }

  bool take(char c) {
    skip_space();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  bool take_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  PythonLiteral literal(int depth) {
    if (depth > kMaxLiteralDepth) fail("at most " + std::to_string(kMaxLiteralDepth) + " nested brackets");
    skip_space();
    const std::size_t start = position_;
    PythonLiteral value = unlocated(depth);
    value.source = text_.substr(start, position_ - start);
    return value;
  }

  PythonLiteral unlocated(int depth) {
    switch (peek()) {
      case '\'':
      case '"':
        return string();
      case '(':
        return tuple(depth);
      case '[':
        return sequence(Kind::list, ']', depth);
      case '{':
        return dictionary(depth);
      default:
        break;
    }
    if (peek() >= '0' && peek() <= '9') return integer();
    PythonLiteral word;
    if (take_word("None")) return word;
    word.kind = Kind::boolean;
    if (take_word("False")) return word;
    word.integer = 1;
    if (take_word("True")) return word;
    fail("a string, an integer, True, False, a tuple, a list or a dictionary");
  }

  PythonLiteral string() {
    PythonLiteral value;
    value.kind = Kind::string;
    const char quote = text_[position_++];
    while (peek() != quote) {
      if (position_ >= text_.size() || peek() == '\n') fail("a closing quote");
      if (peek() == '\\') {
        ++position_;
        if (position_ >= text_.size()) fail("a character after the backslash");
        if (peek() != '\\' && peek() != '\'' && peek() != '"') value.text += '\\';
      }
      value.text += text_[position_++];
    }
    ++position_;
    return value;
  }

  PythonLiteral integer() {
    PythonLiteral value;
    value.kind = Kind::integer;
    const std::size_t start = position_;
    for (; peek() >= '0' && peek() <= '9'; ++position_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (value.integer > (kMaxInteger - digit) / 10) fail("an integer below 2^63");
      value.integer = value.integer * 10 + digit;
    }
    if (text_[start] == '0' && position_ - start > 1) fail("an integer without leading zeros");
    if (peek() == 'L') ++position_;
    return value;
  }

  // A comma makes the tuple: (3,) and () are tuples, (3) is the integer 3.
  PythonLiteral tuple(int depth) {
    PythonLiteral value = sequence(Kind::tuple, ')', depth);
    if (value.items.size() == 1 && !trailing_comma_) {
      PythonLiteral only = std::move(value.items.front());
      return only;
    }
    return value;
  }

  PythonLiteral sequence(Kind kind, char close, int depth) {
    PythonLiteral value;
    value.kind = kind;
    ++position_;
    bool comma = true;
    while (!take(close)) {
      if (!comma) fail(std::string("`,` or `") + close + "`");
      value.items.push_back(literal(depth + 1));
      comma = take(',');
    }
    trailing_comma_ = comma;
    return value;
  }

  PythonLiteral dictionary(int depth) {
    PythonLiteral value;
    value.kind = Kind::dictionary;
    ++position_;
    bool comma = true;
    while (!take('}')) {
      if (!comma) fail("`,` or `}`");
      value.items.push_back(literal(depth + 1));
      if (!take(':')) fail("`:`");
      value.items.push_back(literal(depth + 1));
      comma = take(',');
    }
    return value;
  }

  static constexpr std::uint64_t kMaxInteger = (std::uint64_t{1} << 63) - 1;

  std::string_view text_;
  std::size_t position_ = 0;
  bool trailing_comma_ = false;  // whether the sequence last closed had a comma before its bracket
};

}  // namespace

PythonLiteral parse_python_literal(std::string_view text) { return Parser(text).all(); }

}  // namespace faro::io
