#include "permutation/pattern.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "permutation/text.hpp"

namespace faro::detail {
namespace {

// One axis: the names that it joins, the slowest first; none: an axis of 1.
struct PatternGroup {
  std::vector<std::string> names;
  bool in_brackets = false;
};
using PatternSide = std::vector<PatternGroup>;
using PatternLengths = std::map<std::string, std::uint64_t, std::less<>>;

constexpr const char* kEllipsis = "...";
constexpr std::size_t kMostPatternAxes = 64;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  PatternSide before;
  PatternSide after;
  PatternLengths lengths;

  void read() {
    const std::size_t arrow = text_.find("->");
    before = side(text_.substr(0, arrow));
    for (const PatternGroup& group : before) {
      if (!group.in_brackets || !has_ellipsis(group)) continue;
      fail(ErrorCode::spec, operation(), "`...` within brackets on the side of the array's axes",
           "`...` as axes of their own there, for nothing says how many one axis is taken apart into",
           "names and their lengths, as '(a b) c -> a b c, a=2' has them");
    }
    std::string_view rest = text_.substr(arrow + 2);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    after = side(rest.substr(0, comma));
    while (rest.size() > std::min(rest.find(','), rest.size())) {
      rest.remove_prefix(rest.find(',') + 1);
      length(rest.substr(0, std::min(rest.find(','), rest.size())));
    }
  }

  std::string operation() const { return "parse " + in_quotes(text_); }

  static bool has_ellipsis(const PatternGroup& group) {
    return std::find(group.names.begin(), group.names.end(), kEllipsis) != group.names.end();
  }

 private:
  PatternSide side(std::string_view text) const {
    PatternSide groups;
    bool open = false;
    std::size_t names = 0;
    while (!(text = trimmed(text)).empty()) {
      const char first = text.front();
      if (first == '(' || first == ')') {
        if ((first == '(') == open)
          fail(ErrorCode::spec, operation(), "brackets within brackets, or unmatched", "pairs of brackets");
        open = first == '(';
        if (open) groups.push_back({.names = {}, .in_brackets = true});
        text.remove_prefix(1);
        continue;
      }
      std::string name;
      if (text.starts_with(kEllipsis)) {
        name = kEllipsis;
      } else if (is_word_start(first)) {
        name = text.substr(0, count_while(text, is_word));
      } else if (first == '1' && (text.size() == 1 || !is_word(text[1]))) {
        text.remove_prefix(1);
        if (!open) groups.emplace_back();
        continue;
      } else {
        fail(ErrorCode::spec, operation(), in_quotes(text, 20), "names of axes, brackets, `1` and `...`",
             "for example 'b s h d -> b h s d'");
      }
      text.remove_prefix(name.size());
      if (++names > kMostPatternAxes) fail(ErrorCode::spec, operation(), "more than 64 axes", "at most 64");
      if (!open) groups.emplace_back();
      groups.back().names.push_back(std::move(name));
    }
    if (open) fail(ErrorCode::spec, operation(), "a bracket that is not closed", "pairs of brackets");
    return groups;
  }

  // "h=8"
  void length(std::string_view text) {
    const std::string_view given = trimmed(text);
    const std::size_t sign = given.find('=');
    const std::string_view name = trimmed(given.substr(0, std::min(sign, given.size())));
    const bool is_name =
        !name.empty() && is_word_start(name.front()) && count_while(name, is_word) == name.size();
    if (sign == std::string_view::npos || !is_name)
      fail(ErrorCode::spec, operation(), in_quotes(given, 20), "lengths such as `h=8`");
    const std::string_view digits = trimmed(given.substr(sign + 1));
    const ScannedNumber number = scan_number(digits);
    if (number.fault != NumberFault::none || number.length != digits.size())
      fail(ErrorCode::spec, operation(), in_quotes(given, 20), "lengths such as `h=8`");
    if (number.value > Indexed::kMaxCount)
      fail(ErrorCode::value, operation(), in_quotes(given, 20), "a length from 0 to 2^40");
    if (!lengths.emplace(std::string(name), number.value).second)
      fail(ErrorCode::spec, operation(), "a second length of `" + std::string(name) + "`", "one");
  }

  std::string_view text_;
};

std::vector<std::string> names_of(const PatternSide& side) {
  std::vector<std::string> names;
  for (const PatternGroup& group : side) names.insert(names.end(), group.names.begin(), group.names.end());
  return names;
}

void check_names(const PatternReader& reader) {
  std::vector<std::string> before = names_of(reader.before);
  std::vector<std::string> after = names_of(reader.after);
  for (auto* const names : {&before, &after}) {
    std::sort(names->begin(), names->end());
    const auto twice = std::adjacent_find(names->begin(), names->end());
    if (twice != names->end())
      fail(ErrorCode::spec, reader.operation(), "`" + *twice + "` twice on one side",
           "each axis once on each side");
  }
  for (const auto& [some, others] : {std::pair(&before, &after), std::pair(&after, &before)}) {
    for (const std::string& name : *some) {
      if (std::binary_search(others->begin(), others->end(), name)) continue;
      fail(ErrorCode::spec, reader.operation(), "`" + name + "` on one side only",
           "the same axes on both sides", "axes are permuted; none is summed up or repeated");
    }
  }
  for (const auto& [name, length] : reader.lengths) {
    if (!std::binary_search(before.begin(), before.end(), name))
      fail(ErrorCode::spec, reader.operation(), "a length of `" + name + "`, which is no axis",
           "lengths of the pattern's axes");
  }
}

// `...` as so many axes, whose names no text can have: each by itself, or all joined where it is in brackets.
void expand(PatternSide& side, std::size_t axes) {
  PatternSide expanded;
  for (PatternGroup& group : side) {
    const auto dots = std::find(group.names.begin(), group.names.end(), kEllipsis);
    if (dots == group.names.end()) {
      expanded.push_back(std::move(group));
      continue;
    }
    std::vector<std::string> matched;
    for (std::size_t axis = 0; axis < axes; ++axis) matched.push_back(kEllipsis + std::to_string(axis));
    if (group.in_brackets) {
      group.names.insert(group.names.erase(dots), matched.begin(), matched.end());
      expanded.push_back(std::move(group));
    } else {
      for (std::string& name : matched) expanded.push_back({.names = {std::move(name)}});
    }
  }
  side = std::move(expanded);
}

// The lengths that follow from those of the array's axes.
void complete(PatternReader& reader, const std::vector<std::uint64_t>& shape) {
  const bool has_ellipsis =
      std::any_of(reader.before.begin(), reader.before.end(), PatternReader::has_ellipsis);
  const std::size_t named = reader.before.size() - (has_ellipsis ? 1 : 0);
  if (has_ellipsis ? shape.size() < named : shape.size() != named) {
    fail(ErrorCode::value, reader.operation(),
         "an array of " + std::to_string(shape.size()) + (shape.size() == 1 ? " axis" : " axes"),
         std::to_string(named) + (has_ellipsis ? " or more" : "") + ", as the pattern has");
  }
  expand(reader.before, shape.size() - named);
  expand(reader.after, shape.size() - named);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::uint64_t known = 1;
    const std::string* missing = nullptr;
    for (const std::string& name : reader.before[axis].names) {
      const auto length = reader.lengths.find(name);
      if (length != reader.lengths.end()) {
        known *= std::min(length->second, Indexed::kMaxCount / std::max<std::uint64_t>(known, 1) + 1);
        continue;
      }
      if (missing != nullptr) {
        fail(ErrorCode::value, reader.operation(),
             "neither the length of `" + *missing + "` nor that of `" + name + "`",
             "all lengths in a bracket but one", "such as `" + name + "=8` after the pattern");
      }
      missing = &name;
    }
    const std::string of_axis = "axis " + std::to_string(axis) + " of " + std::to_string(shape[axis]);
    if (known == 0 && (missing != nullptr || shape[axis] != 0))
      fail(ErrorCode::value, reader.operation(), "a length of 0 for a part of " + of_axis,
           "a length from 1 to 2^40, or all lengths of an axis of 0");
    if (missing == nullptr && known != shape[axis])
      fail(ErrorCode::value, reader.operation(), of_axis,
           "a length of " + std::to_string(known) + ", as the pattern says");
    if (missing == nullptr) continue;
    if (shape[axis] % known != 0)
      fail(ErrorCode::value, reader.operation(), of_axis,
           "a multiple of " + std::to_string(known) + ", as the pattern says");
    reader.lengths.emplace(*missing, shape[axis] / known);
  }
}

std::vector<std::uint64_t> shape_of(const PatternSide& side, const PatternLengths& lengths) {
  std::vector<std::uint64_t> shape;
  for (const PatternGroup& group : side) {
    std::uint64_t extent = 1;
    for (const std::string& name : group.names) extent *= lengths.find(name)->second;
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace

bool is_pattern(std::string_view text) {
  return text.find("->") != std::string_view::npos && text.find('@') == std::string_view::npos;
}

std::string inverse_pattern(std::string_view text) {
  const std::size_t arrow = std::min(text.find("->"), text.size());
  const std::string_view rest = text.substr(std::min(arrow + 2, text.size()));
  const std::size_t comma = std::min(rest.find(','), rest.size());
  return std::string(trimmed(rest.substr(0, comma))) + " -> " + std::string(trimmed(text.substr(0, arrow))) +
         std::string(rest.substr(comma));
}

ParsedPermutation parse_pattern(std::string_view text,
                                const std::optional<std::vector<std::uint64_t>>& shape) {
  PatternReader reader(text);
  reader.read();
  check_names(reader);
  if (shape) complete(reader, *shape);
  NamedAxes axes;
  const std::vector<std::string> before = names_of(reader.before);
  for (const std::string& name : before) {
    if (name == kEllipsis) {
      fail(ErrorCode::value, reader.operation(), "`...` without an array",
           "names of all axes where there is no array", "such as 'a b -> b a, a=3, b=5'");
    }
    const auto length = reader.lengths.find(name);
    if (length == reader.lengths.end()) {
      fail(ErrorCode::value, reader.operation(), "no length of `" + name + "`",
           "a length of each axis where there is no array", "such as `" + name + "=8` after the pattern");
    }
    axes.shape.push_back(length->second);
  }
  for (const std::string& name : names_of(reader.after)) {
    axes.order.push_back(static_cast<int>(std::find(before.begin(), before.end(), name) - before.begin()));
  }
  const bool is_empty = std::find(axes.shape.begin(), axes.shape.end(), 0) != axes.shape.end();
  Permutation permutation = is_empty ? Axes({0}, {0}) : Axes(axes.shape, axes.order);
  RegroupedShape regrouped{.before = shape_of(reader.before, reader.lengths),
                           .after = shape_of(reader.after, reader.lengths)};
  return {.permutation = std::move(permutation), .axes = std::move(axes), .regrouped = std::move(regrouped)};
}

}  // namespace faro::detail
