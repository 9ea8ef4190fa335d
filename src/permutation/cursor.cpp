#include "cursor.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace faro::detail {
namespace {

bool ends_path(char c) { return is_space(c) || c == ',' || c == ';' || c == ')'; }

std::string at_character(std::size_t offset) { return " at character " + std::to_string(offset + 1); }

}  // namespace

std::size_t Cursor::position() {
  position_ += count_while(text_.substr(position_), is_space);
  return position_;
}

char Cursor::peek() { return at_end() ? '\0' : text_[position_]; }

bool Cursor::take(char sign) {
  if (at_end() || text_[position_] != sign) return false;
  ++position_;
  return true;
}

std::string_view Cursor::word() {
  const std::string_view left = rest();
  if (left.empty() || !is_word_start(left[0])) return {};
  const std::string_view found = left.substr(0, count_while(left, is_word));
  position_ += found.size();
  return found;
}

std::uint64_t Cursor::number(const std::string& wanted) {
  const ScannedNumber scanned = scan_number(rest());
  switch (scanned.fault) {
    case NumberFault::none:
      break;
    case NumberFault::missing:
      fail_here(wanted);
    case NumberFault::malformed:
      fail_here(wanted, "numbers are decimal, 0x... or 2^k");
    case NumberFault::too_large:
      fail(ErrorCode::value, here(), "a number below 2^64");
  }
  position_ += scanned.length;
  return scanned.value;
}

std::string_view Cursor::path() {
  std::string_view left = rest();
  std::string_view found;
  if (take('"')) {
    left = left.substr(1);
    const std::size_t end = left.find('"');
    if (end == std::string_view::npos) {
      position_ = text_.size();
      fail_here("a closing \" after the file's name");
    }
    if (end == 0) fail(ErrorCode::spec, "an empty file's name", "a file's name after `@`");
    found = left.substr(0, end);
    position_ += end + 1;
  } else {
    found = left.substr(
        0, static_cast<std::size_t>(std::find_if(left.begin(), left.end(), ends_path) - left.begin()));
    position_ += found.size();
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (found.empty()) fail_here("a file's name after `@`");
  if (std::any_of(found.begin(), found.end(), is_control)) {
    fail(ErrorCode::spec, "a control character in the file's name " + in_quotes(found),
         "a file's name after `@`");
  }
  return found;
}

template <typename Visit>
void Cursor::walk_level(Visit visit) {
  std::size_t depth = 0;
  bool is_quoted = false;
  for (std::size_t at = position(); at < text_.size(); ++at) {
    const char c = text_[at];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == ')' && depth == 0) return;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && visit(c, at)) return;
  }
}

std::size_t Cursor::count_ahead(char sign) {
  std::size_t count = 0;
  walk_level([&](char c, std::size_t) {
    if (c == sign) ++count;
    return false;
  });
  return count;
}

void Cursor::skip_to(char sign) {
  walk_level([&](char c, std::size_t at) {
    if (c == sign) position_ = at;
    return c == sign;
  });
}

std::string Cursor::here() {
  const std::string_view left = rest();
  if (left.empty()) return text_.empty() ? "an empty text" : "the end of the text";
  const std::size_t run = count_while(left, [](char c) { return is_word(c) || c == '^'; });
  // A lone byte above 127 is part of a character: the quote shows it whole where it is valid.
  const std::size_t character =
      count_while(left, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return in_quotes(left.substr(0, std::max({run, std::min<std::size_t>(character, 8), std::size_t{1}})), 40) +
         at_character(position_);
}

void Cursor::fail(ErrorCode code, std::string got, std::string wanted, std::string remedy) const {
  faro::fail(code, "parse " + in_quotes(text_), std::move(got), std::move(wanted), std::move(remedy));
}

void Cursor::fail_here(std::string wanted, std::string remedy) {
  fail(ErrorCode::spec, here(), std::move(wanted), std::move(remedy));
}

}  // namespace faro::detail
