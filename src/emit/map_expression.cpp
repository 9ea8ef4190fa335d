#include <cctype>
#include <string_view>

#include "emit/text.hpp"
#include "faro/error.hpp"

namespace faro::emit {
namespace {

[[noreturn]] void fail_expression(const std::string& text, const std::string& got) {
  throw Error({.code = ErrorCode::value,
               .operation = "read the map expression `" + text + "`",
               .got = got,
               .wanted = "one C++ expression over v (the element), x and y (its source and target index)",
               .remedy = "such as `v * 2 + x`"});
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  MapExpression read() {
    require_plain_text();
    while (at_ < text_.size()) step();
    if (!open_.empty()) fail_expression(text_, std::string("a `") + open_.back() + "` that does not close");
    if (result_.text.find_first_not_of(' ') == std::string::npos) fail_expression(text_, "nothing");
    return result_;
  }

 private:
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  // What is refused between quotes, too: it would end the line, or the quotes elsewhere than here.
  void require_plain_text() const {
    for (const char c : text_) {
      if (static_cast<unsigned char>(c) < ' ')
        fail_expression(text_, "a new line or another control character");
      if (c == '\\') fail_expression(text_, "a `\\`");
    }
  }

  void step() {
    const char c = text_[at_];
    if (c == '/' && (next() == '/' || next() == '*')) fail_expression(text_, "a comment");
    if (c == '#' || (c == ';' && open_.find('{') == std::string::npos)) {
      fail_expression(text_, std::string("a `") + c + "`");
    }
    if (is_letter(c)) return word();
    if (c == '"' || c == '\'') return quoted(c);
    bracket(c);
    ++at_;
  }

  void bracket(char c) {
    constexpr std::string_view opening = "([{";
    constexpr std::string_view closing = ")]}";
    if (opening.find(c) != std::string_view::npos) open_ += c;
    const std::size_t kind = closing.find(c);
    if (kind == std::string_view::npos) return;
    if (open_.empty() || open_.back() != opening[kind]) {
      fail_expression(text_, std::string("a `") + c + "` that nothing opened");
    }
    open_.pop_back();
  }

  void quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos)
      fail_expression(text_, std::string("a `") + quote + "` that does not close");
    at_ = end + 1;
  }

  // A number's letters, digits and separators (1'000) belong to it, and a name behind `.`, `->` or `::` is a
  // member's.
  void word() {
    const std::size_t begin = at_;
    const bool is_number = std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
    const auto separates = [&] { return is_number && text_[at_] == '\'' && is_letter(next()); };
    while (at_ < text_.size() && (is_letter(text_[at_]) || separates())) ++at_;
    const std::string_view word = std::string_view(text_).substr(begin, at_ - begin);
    std::size_t before = begin;
    while (before > 0 && text_[before - 1] == ' ') --before;
    const std::string_view left = std::string_view(text_).substr(0, before);
    if (left.ends_with('.') || left.ends_with("->") || left.ends_with("::")) return;
    result_.uses_value |= word == "v";
    result_.uses_source |= word == "x";
    result_.uses_target |= word == "y";
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string open_;
  MapExpression result_{.text = text_, .uses_value = false, .uses_source = false, .uses_target = false};
};

}  // namespace

MapExpression parse_map(const std::string& text) { return Reader(text).read(); }

}  // namespace faro::emit
