#include "store/checkpoint_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "store/json.hpp"
#include "store/toml.hpp"

namespace faro::store {
namespace {

constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 62;
constexpr std::array<std::string_view, 8> kChangeKeys{"reshape", "map",   "rotary", "shape",
                                                      "dtype",   "scale", "offset", "along"};

// An object of a plan whose keys are known ones.
class Fields {
 public:
  Fields(const Json& json, std::string operation, std::vector<std::string_view> keys)
      : json_(json), operation_(std::move(operation)) {
    if (!json.is_object()) refuse(excerpt_of(json), "an object");
    for (const auto& [key, value] : json.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      fail(ErrorCode::value, operation_, "the key `" + key.substr(0, 80) + "`",
           fmt::format("any of {}", fmt::join(keys, ", ")), did_you_mean(key, keys));
    }
  }

  bool has(const char* key) const { return json_.contains(key); }
  const Json& at(const char* key) const { return json_.at(key); }
  const std::string& operation() const { return operation_; }

  [[noreturn]] void refuse(const std::string& got, const std::string& wanted) const {
    fail(ErrorCode::value, operation_, got, wanted);
  }

  std::string text(const char* key) const {
    if (!has(key)) refuse(fmt::format("no key `{}`", key), "it");
    const Json& value = at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      refuse(fmt::format("{} for `{}`", excerpt_of(value), key), "a text");
    return value.get<std::string>();
  }

  bool flag(const char* key) const {
    if (!has(key)) return false;
    if (!at(key).is_boolean()) refuse(fmt::format("{} for `{}`", excerpt_of(at(key)), key), "true or false");
    return at(key).get<bool>();
  }

  std::int64_t whole(const Json& value, const char* key, std::int64_t least) const {
    const bool is_whole =
        value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMostWhole);
    if (!is_whole || value.get<std::int64_t>() < least)
      refuse(fmt::format("{} for `{}`", excerpt_of(value), key),
             fmt::format("a whole number from {} on", least));
    return value.get<std::int64_t>();
  }
  std::int64_t whole(const char* key, std::int64_t least) const { return whole(at(key), key, least); }

  std::uint64_t count(const char* key) const {
    if (!has(key)) refuse(fmt::format("no key `{}`", key), "it");
    return static_cast<std::uint64_t>(whole(key, 1));
  }

  // "-1": what is left.
  std::vector<std::int64_t> extents(const char* key) const {
    std::vector<std::int64_t> found;
    for (const Json& each : list(key)) found.push_back(whole(each, key, -1));
    return found;
  }

  // One, or a list.
  std::vector<double> numbers(const char* key) const {
    std::vector<double> found;
    for (const Json& each : list(key)) {
      if (!each.is_number() || !std::isfinite(each.get<double>()))
        refuse(fmt::format("{} for `{}`", excerpt_of(each), key), "numbers");
      found.push_back(each.get<double>());
    }
    return found;
  }

  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> found;
    for (const Json& each : list(key)) {
      if (!each.is_string() || each.get_ref<const std::string&>().empty())
        refuse(fmt::format("{} for `{}`", excerpt_of(each), key), "texts");
      found.push_back(each.get<std::string>());
    }
    return found;
  }

 private:
  std::vector<Json> list(const char* key) const {
    const Json& value = at(key);
    return value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>{value};
  }

  const Json& json_;
  std::string operation_;
};

std::vector<std::string_view> with_change_keys(std::vector<std::string_view> keys) {
  keys.insert(keys.end(), kChangeKeys.begin(), kChangeKeys.end());
  keys.emplace_back("saturate");
  return keys;
}

Rotary rotary_of(const Json& json, const std::string& operation) {
  const Fields fields(json, operation + ", `rotary`", {"heads", "to", "dims"});
  Rotary rotary{.heads = fields.count("heads")};
  const std::string to = fields.text("to");
  if (to != "interleaved" && to != "halves") fields.refuse("`to` " + to, "interleaved or halves");
  rotary.interleaves = to == "interleaved";
  if (fields.has("dims")) rotary.turned = fields.count("dims");
  return rotary;
}

Change change_of(const Fields& fields) {
  Change change;
  if (fields.has("reshape")) change.reshape = fields.extents("reshape");
  if (fields.has("map") && fields.has("rotary")) fields.refuse("a map and `rotary`", "one of them");
  if (fields.has("map")) change.layout = Layout{.map = fields.text("map")};
  if (fields.has("rotary"))
    change.layout = Layout{.rotary = rotary_of(fields.at("rotary"), fields.operation())};
  if (fields.has("shape")) change.shape = fields.extents("shape");
  if (fields.has("dtype")) change.type = element_type_or_fail(fields.text("dtype"), fields.operation());
  if (fields.has("scale")) change.scale = fields.numbers("scale");
  if (fields.has("offset")) change.offset = fields.numbers("offset");
  if (fields.has("along")) change.along = fields.whole("along", -64);
  if (fields.has("saturate")) change.saturates = fields.flag("saturate");
  return change;
}

Split split_of(const Json& json, const Rule& rule) {
  const Fields fields(json, rule.operation + ", `split`", {"axis", "into"});
  Split split;
  if (fields.has("axis")) split.axis = fields.whole("axis", -64);
  if (!fields.has("into") || !fields.at("into").is_array() || fields.at("into").empty())
    fields.refuse("no list `into`", "the parts, each with its name and size");
  for (const Json& each : fields.at("into")) {
    const Fields part(each, rule.operation + fmt::format(", part {}", split.parts.size() + 1),
                      with_change_keys({"name", "size"}));
    if (part.has("reshape")) part.refuse("`reshape` of a part", "it of the whole rule; `shape` is of a part");
    SplitPart made{.name = part.text("name"), .change = change_of(part)};
    if (part.has("size")) made.extent = part.count("size");
    for (const NamePattern& pattern : rule.patterns) require_captures(made.name, pattern, part.operation());
    split.parts.push_back(std::move(made));
  }
  const auto says = [](const SplitPart& part) { return part.extent.has_value(); };
  const auto sized = std::count_if(split.parts.begin(), split.parts.end(), says);
  if (sized != 0 && static_cast<std::size_t>(sized) != split.parts.size())
    fields.refuse("sizes of some parts", "the sizes of all, or of none for equal ones");
  return split;
}

void read_join(Rule& rule, const Fields& fields) {
  rule.join = Join{.shape = std::exchange(rule.change.shape, std::nullopt)};
  if (fields.has("axis")) rule.join->axis = fields.whole("axis", -64);
  if (!rule.name) fields.refuse("no name of what is joined", "the key `name`");
  for (const NamePattern& pattern : rule.patterns) {
    if (pattern.captures() != rule.patterns.front().captures()) {
      fields.refuse("`" + rule.patterns.front().text() + "` and `" + pattern.text() + "` joined",
                    "the same captures in both, by which they find each other");
    }
  }
}

Rule rule_of(const Json& json, std::size_t number) {
  Rule rule{.operation = fmt::format("rule {} of the checkpoint", number)};
  const Fields fields(json, rule.operation,
                      with_change_keys({"match", "join", "from", "name", "drop", "split", "axis"}));
  if (fields.has("match") == fields.has("join"))
    fields.refuse(fields.has("match") ? "`match` and `join`" : "neither `match` nor `join`", "one of them");
  for (std::string& text : fields.texts(fields.has("match") ? "match" : "join"))
    rule.patterns.emplace_back(std::move(text), rule.operation);
  if (rule.patterns.empty()) fields.refuse("no patterns", "one or more");
  if (fields.has("from")) rule.types = fields.texts("from");
  for (const std::string& type : rule.types) {
    if (type != "floats") static_cast<void>(element_type_or_fail(type, rule.operation));
  }
  rule.change = change_of(fields);
  if (fields.has("name")) rule.name = fields.text("name");
  rule.is_dropped = fields.flag("drop");
  if (fields.has("split")) rule.split = split_of(fields.at("split"), rule);
  if (fields.has("join")) {
    read_join(rule, fields);
  } else if (fields.has("axis")) {
    fields.refuse("`axis` of a rule that joins nothing", "it in a rule with `join`, or in `split`");
  }
  const int fates = (rule.name ? 1 : 0) + (rule.is_dropped ? 1 : 0) + (rule.split ? 1 : 0);
  if (fates > 1) fields.refuse("more than one of `name`, `drop` and `split`", "one of them");
  if (rule.split && rule.change.shape) fields.refuse("`shape` beside `split`", "it in the parts");
  if (rule.name) {
    for (const NamePattern& pattern : rule.patterns) require_captures(*rule.name, pattern, rule.operation);
  }
  return rule;
}

// What begins with a brace, or is a list of what does.
bool is_json(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string::npos || text[first] == '{') return true;
  const std::size_t second = text.find_first_not_of(kBlank, first + 1);
  return text[first] == '[' && second != std::string::npos && (text[second] == '{' || text[second] == ']');
}

}  // namespace

void Change::take(const Change& later) {
  const auto take_one = [](auto& mine, const auto& other) {
    if (other) mine = other;
  };
  take_one(reshape, later.reshape);
  take_one(layout, later.layout);
  take_one(shape, later.shape);
  take_one(type, later.type);
  take_one(scale, later.scale);
  take_one(offset, later.offset);
  take_one(along, later.along);
  take_one(saturates, later.saturates);
}

bool Rule::is_for(const ElementType& type) const {
  if (types.empty()) return true;
  const bool is_float = type.number && *type.number != Number::boolean && !is_integer(*type.number) &&
                        !is_complex(*type.number);
  return std::any_of(types.begin(), types.end(), [&](const std::string& each) {
    return each == "floats" ? is_float : known_element_type(each) == type;
  });
}

std::string Rule::text() const {
  std::string text;
  for (const NamePattern& pattern : patterns) text += (text.empty() ? "`" : ", `") + pattern.text() + "`";
  return text;
}

Rules parse_rules(const std::string& text) {
  const std::string operation = "read the rules of the checkpoint";
  const Json plan = is_json(text) ? parse_json_object(text, operation) : json_of_toml(text, operation);
  const Fields fields(plan, operation, {"rules", "metadata"});
  if (!fields.has("rules") || !fields.at("rules").is_array()) fields.refuse("no list `rules`", "the rules");
  Rules rules;
  for (const Json& each : fields.at("rules")) rules.rules.push_back(rule_of(each, rules.rules.size() + 1));
  if (!fields.has("metadata")) return rules;
  if (!fields.at("metadata").is_object())
    fields.refuse(excerpt_of(fields.at("metadata")) + " for `metadata`", "an object of texts");
  for (const auto& [key, value] : fields.at("metadata").items()) {
    const bool is_taken_out = value.is_null() || value == false;  // TOML has no null
    if (!value.is_string() && !is_taken_out)
      fields.refuse(excerpt_of(value) + " for `metadata`", "texts, or null or false for what is taken out");
    rules.metadata[key] = is_taken_out ? std::nullopt : std::optional(value.get<std::string>());
  }
  return rules;
}

}  // namespace faro::store
