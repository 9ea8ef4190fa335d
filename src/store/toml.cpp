#include "store/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "faro/error.hpp"

#ifdef FARO_HAVE_TOML
namespace faro::store {
namespace {

struct RefusedToml {
  std::string got;
  std::uint64_t line = 0;  // from 1 on; 0: nobody knows
};

[[noreturn]] void refuse_key() { throw RefusedToml{"no TOML: something that is no key"}; }

}  // namespace
}  // namespace faro::store

// The library asserts what no text of a stranger has to keep, such as that a key begins with one of its
// letters; with NDEBUG compilers take it for true. So each such text is refused, in every build.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : ::faro::store::refuse_key())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
#endif

namespace faro::store {

#ifdef FARO_HAVE_TOML
namespace {

constexpr int kMostTomlDepth = 64;

// Dots of a key are levels, of which the library takes as many as there are.
void require_few_dots(std::string_view text) {
  int dots = 0;
  std::uint64_t line = 1;
  for (const char letter : text) {
    if (letter == '\n') ++line;
    dots = std::string_view(",{}=\n[]").find(letter) != std::string_view::npos
               ? 0
               : dots + (letter == '.' ? 1 : 0);
    if (dots > kMostTomlDepth) throw RefusedToml{fmt::format("more than {} dots", kMostTomlDepth), line};
  }
}

// Outside of texts and comments TOML has ASCII alone. What else is there is refused before the
// library reads it, which does not do so itself in all versions.
class AsciiOutsideTexts {
 public:
  explicit AsciiOutsideTexts(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  void require() {
    for (; at_ < text_.size(); ++at_) {
      const char letter = text_[at_];
      if (letter == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (letter == '"' || letter == '\'') {
        pass_text(letter);
      } else {
        require_ascii();
      }
    }
  }

 private:
  void require_ascii() const {
    if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x80) return;
    const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw RefusedToml{"a letter beyond ASCII outside of texts", static_cast<std::uint64_t>(lines) + 1};
  }

  // From its first quote to its last one.
  void pass_text(char quote) {
    const std::string three(3, quote);
    const bool has_lines = text_.substr(at_).starts_with(three);
    for (at_ += has_lines ? 3 : 1; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        pass_escape();
      } else if (has_lines ? text_.substr(at_).starts_with(three)
                           : text_[at_] == quote || text_[at_] == '\n') {
        // As many quotes of its own may be before the last three.
        while (has_lines && at_ + 1 < text_.size() && text_[at_ + 1] == quote) ++at_;
        return;
      }
    }
  }

  // A letter; or the end of a line and all white space behind it.
  void pass_escape() {
    ++at_;
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (text_.substr(at_, next - std::min(at_, next)).find('\n') == std::string_view::npos) return;
    at_ = next;
    require_ascii();
    --at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json json_of(const toml::node& node, int depth) {
  const auto refuse = [&node](const char* got) { throw RefusedToml{got, node.source().begin.line}; };
  if (depth > kMostTomlDepth) refuse("too many levels");
  switch (node.type()) {
    case toml::node_type::table: {
      Json object = Json::object();
      for (const auto& [key, value] : *node.as_table())
        object[std::string(key.str())] = json_of(value, depth + 1);
      return object;
    }
    case toml::node_type::array: {
      Json list = Json::array();
      for (const toml::node& each : *node.as_array()) list.push_back(json_of(each, depth + 1));
      return list;
    }
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer: {
      // As JSON has them, those from 0 on have no sign.
      const std::int64_t value = node.as_integer()->get();
      return value < 0 ? Json(value) : Json(static_cast<std::uint64_t>(value));
    }
    case toml::node_type::floating_point:
      if (!std::isfinite(node.as_floating_point()->get())) refuse("a number that is not finite");
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    default:
      refuse("a date or a time");
  }
  return nullptr;
}

}  // namespace

Json json_of_toml(std::string_view text, const std::string& operation) {
  RefusedToml refused;
  try {
    require_few_dots(text);
    AsciiOutsideTexts(text).require();
    const toml::table table = toml::parse(text);
    return json_of(table, 0);
  } catch (const RefusedToml& found) {
    refused = found;
  } catch (const toml::parse_error& error) {
    refused = {"no TOML: " + std::string(error.description()).substr(0, 200), error.source().begin.line};
  }
  std::replace_if(
      refused.got.begin(), refused.got.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (refused.line > 0) refused.got += fmt::format(" in line {}", refused.line);
  fail(ErrorCode::file, operation, refused.got, "TOML, or a JSON object");
}
#else
Json json_of_toml(std::string_view /*text*/, const std::string& operation) {
  fail(ErrorCode::unsupported, operation, "TOML, in a build without its library", "JSON",
       "tools/install_dependencies.sh installs libtomlplusplus-dev, for a new build");
}
#endif

}  // namespace faro::store
