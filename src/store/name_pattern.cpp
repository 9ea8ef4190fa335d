#include "store/name_pattern.hpp"

#include <algorithm>
#include <utility>

#include "faro/error.hpp"

namespace faro::store {
namespace {

constexpr std::size_t kMostItems = 64;

// Calls text(part) for what is outside of braces and capture(name) for what is inside, in order.
template <typename Text, typename Capture>
void for_parts(const std::string& whole, const std::string& operation, const Text& text,
               const Capture& capture) {
  std::size_t at = 0;
  while (at < whole.size()) {
    const std::size_t brace = whole.find_first_of("{}", at);
    if (brace != at) text(whole.substr(at, brace - at));
    if (brace == std::string::npos) return;
    const std::size_t end = whole.find_first_of("{}", brace + 1);
    const bool is_pair = whole[brace] == '{' && end != std::string::npos && whole[end] == '}';
    if (!is_pair)
      fail(ErrorCode::value, operation, "`" + whole + "`", "each `{` followed by its `}`, as in `{layer}`");
    capture(whole.substr(brace + 1, end - brace - 1));
    at = end + 1;
  }
}

}  // namespace

// Items from one on match the name from a place on: places that failed are not tried again.
class NamePattern::Search {
 public:
  Search(const std::vector<Item>& items, std::string_view name)
      : items_(items), name_(name), failed_(items.size() * (name.size() + 1), false) {}

  bool matches(std::size_t item, std::size_t at) {
    if (item == items_.size()) return at == name_.size();
    const std::size_t place = item * (name_.size() + 1) + at;
    if (failed_[place]) return false;
    const bool is_match = items_[item].is_capture ? captures(item, at) : reads(item, at);
    failed_[place] = !is_match;
    return is_match;
  }
  Captures found;

 private:
  bool reads(std::size_t item, std::size_t at) {
    const std::string& text = items_[item].text;
    return name_.substr(at).starts_with(text) && matches(item + 1, at + text.size());
  }

  bool captures(std::size_t item, std::size_t at) {
    std::size_t most = name_.size();
    if (!items_[item].takes_dots) most = std::min(name_.find('.', at), most);
    for (std::size_t end = most; end > at; --end) {
      if (!matches(item + 1, end)) continue;
      found[items_[item].text] = std::string(name_.substr(at, end - at));
      return true;
    }
    return false;
  }

  const std::vector<Item>& items_;
  std::string_view name_;
  std::vector<bool> failed_;
};

NamePattern::NamePattern(std::string text, const std::string& operation) : text_(std::move(text)) {
  const auto add_capture = [&](std::string name) {
    const bool takes_dots = name.ends_with('*');
    if (takes_dots) name.pop_back();
    if (name.empty() || has(name)) {
      fail(ErrorCode::value, operation,
           name.empty() ? "a capture without a name in `" + text_ + "`"
                        : "the capture `" + name + "` twice in `" + text_ + "`",
           "captures of different names, such as `{layer}` and `{part*}`");
    }
    items_.push_back({.text = name, .is_capture = true, .takes_dots = takes_dots});
  };
  for_parts(
      text_, operation, [this](std::string part) { items_.push_back({.text = std::move(part)}); },
      add_capture);
  if (items_.size() > kMostItems)
    fail(ErrorCode::value, operation, "a pattern of " + std::to_string(items_.size()) + " parts",
         "at most 64");
}

std::optional<Captures> NamePattern::match(std::string_view name) const {
  const bool begins = items_.empty() || items_.front().is_capture || name.starts_with(items_.front().text);
  const bool ends = items_.empty() || items_.back().is_capture || name.ends_with(items_.back().text);
  if (!begins || !ends) return std::nullopt;
  Search search(items_, name);
  if (!search.matches(0, 0)) return std::nullopt;
  return std::move(search.found);
}

bool NamePattern::has(std::string_view capture) const {
  return std::any_of(items_.begin(), items_.end(),
                     [&](const Item& item) { return item.is_capture && item.text == capture; });
}

std::vector<std::string> NamePattern::captures() const {
  std::vector<std::string> names;
  for (const Item& item : items_) {
    if (item.is_capture) names.push_back(item.text);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void require_captures(const std::string& made, const NamePattern& pattern, const std::string& operation) {
  for_parts(
      made, operation, [](const std::string&) {},
      [&](const std::string& name) {
        if (pattern.has(name)) return;
        fail(ErrorCode::value, operation, "`{" + name + "}` in the name `" + made + "`",
             "a capture of the pattern `" + pattern.text() + "`");
      });
}

std::string filled(const std::string& made, const Captures& captures) {
  std::string name;
  for_parts(
      made, "name a tensor", [&](const std::string& part) { name += part; },
      [&](const std::string& capture) { name += captures.at(capture); });
  return name;
}

}  // namespace faro::store
