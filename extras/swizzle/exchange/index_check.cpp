#include "faro/exchange/index_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "faro/error.hpp"
#include "faro/exchange/lane_program.hpp"
#include "faro/json_schema.hpp"

namespace faro::exchange {

enum class IndexOperator : std::uint8_t {
  number,
  name,  // by its place in the list
  logical_not,
  complement,
  negate,
  multiply,
  divide,
  remainder,
  add,
  subtract,
  left,
  right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  choose,
};

struct IndexExpression::Node {
  IndexOperator operation = IndexOperator::number;
  std::int32_t number = 0;
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = IndexExpression::Node;
using NodePointer = std::shared_ptr<const Node>;

struct BinaryToken {
  std::string_view token;
  IndexOperator operation;
};
// By rising precedence; within one, longer tokens first.
const std::vector<std::vector<BinaryToken>>& binary_levels() {
  using enum IndexOperator;
  static const std::vector<std::vector<BinaryToken>> levels{
      {{"||", logical_or}},
      {{"&&", logical_and}},
      {{"|", bit_or}},
      {{"^", bit_xor}},
      {{"&", bit_and}},
      {{"==", equal}, {"!=", not_equal}},
      {{"<=", less_equal}, {">=", greater_equal}, {"<", less}, {">", greater}},
      {{"<<", left}, {">>", right}},
      {{"+", add}, {"-", subtract}},
      {{"*", multiply}, {"/", divide}, {"%", remainder}},
  };
  return levels;
}

class IndexParser {
 public:
  IndexParser(std::string_view text, const std::vector<std::string>& names)
      : text_(text), rest_(text), names_(names) {}

  NodePointer whole() {
    NodePointer root = choice();
    skip_space();
    if (!rest_.empty()) refuse("an operator or the end");
    return root;
  }

 private:
  static NodePointer node(IndexOperator operation, std::vector<NodePointer> operands) {
    return std::make_shared<const Node>(Node{operation, 0, std::move(operands)});
  }

  // An expression within an expression costs stack.
  void require_shallow() {
    constexpr int kMostDepth = 200;
    if (depth_ > kMostDepth) refuse("at most 200 brackets within each other");
  }

  NodePointer choice() {
    ++depth_;
    require_shallow();
    NodePointer condition = binary(0);
    if (take("?")) {
      NodePointer if_true = choice();
      if (!take(":")) refuse("`:`");
      NodePointer if_false = choice();
      condition = node(IndexOperator::choose, {condition, if_true, if_false});
    }
    --depth_;
    return condition;
  }

  NodePointer binary(std::size_t level) {
    if (level == binary_levels().size()) return unary();
    NodePointer left = binary(level + 1);
    while (const BinaryToken* found = next_of(binary_levels()[level])) {
      rest_.remove_prefix(found->token.size());
      left = node(found->operation, {left, binary(level + 1)});
    }
    return left;
  }

  // `&` is no operator where `&&` stands, nor `<` before another.
  const BinaryToken* next_of(const std::vector<BinaryToken>& level) {
    skip_space();
    for (const BinaryToken& entry : level) {
      if (!rest_.starts_with(entry.token)) continue;
      const bool is_single = entry.token.size() == 1;
      const char after = rest_.size() > 1 ? rest_[1] : ' ';
      const bool is_longer = is_single &&
                             std::string_view("&|<>").find(entry.token[0]) != std::string_view::npos &&
                             after == entry.token[0];
      const bool assigns = rest_.substr(entry.token.size()).starts_with("=") && entry.token.back() != '=';
      if (assigns) refuse("an expression that assigns nothing");
      if (!is_longer) return &entry;
    }
    return nullptr;
  }

  NodePointer unary() {
    ++depth_;
    require_shallow();
    NodePointer result;
    if (take("!")) {
      result = node(IndexOperator::logical_not, {unary()});
    } else if (take("~")) {
      result = node(IndexOperator::complement, {unary()});
    } else if (take("-")) {
      result = node(IndexOperator::negate, {unary()});
    } else if (take("+")) {
      result = unary();
    } else {
      result = primary();
    }
    --depth_;
    return result;
  }

  NodePointer primary() {
    if (take("(")) {
      NodePointer inner = choice();
      if (!take(")")) refuse("`)`");
      return inner;
    }
    skip_space();
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) return number();
    const auto is_of_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_of_name);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    const auto known = std::ranges::find(names_, name);
    if (known == names_.end()) refuse(fmt::format("a number, {} or `(`", fmt::join(names_, ", ")));
    rest_.remove_prefix(name.size());
    return std::make_shared<const Node>(
        Node{IndexOperator::name, static_cast<std::int32_t>(known - names_.begin()), {}});
  }

  NodePointer number() {
    const bool is_hexadecimal = rest_.starts_with("0x") || rest_.starts_with("0X");
    if (is_hexadecimal) rest_.remove_prefix(2);
    std::uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, is_hexadecimal ? 16 : 10);
    if (error != std::errc{}) refuse("a number below 2^32");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    while (!rest_.empty() && std::string_view("uUlL").find(rest_.front()) != std::string_view::npos)
      rest_.remove_prefix(1);
    return std::make_shared<const Node>(Node{IndexOperator::number, static_cast<std::int32_t>(value), {}});
  }

  void skip_space() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  [[noreturn]] void refuse(const std::string& wanted) {
    skip_space();
    fail(ErrorCode::spec, fmt::format("parse the index `{}`", text_),
         rest_.empty() ? "its end" : fmt::format("`{}`", rest_.substr(0, 40)), wanted,
         "docs/guide/exchange.md has what an index may be made of");
  }

  std::string_view text_;
  std::string_view rest_;
  const std::vector<std::string>& names_;
  int depth_ = 0;
};

// Modulo 2^32, as the hardware does.
std::int32_t wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

std::optional<std::int32_t> computed(IndexOperator operation, std::int64_t a, std::int64_t b) {
  using enum IndexOperator;
  const bool fits_shift = b >= 0 && b < 32;
  switch (operation) {
    case multiply:
      return wrapped(a * b);
    case divide:
      return b == 0 ? std::nullopt : std::optional(wrapped(a / b));
    case remainder:
      return b == 0 ? std::nullopt : std::optional(wrapped(a % b));
    case add:
      return wrapped(a + b);
    case subtract:
      return wrapped(a - b);
    case left:
      return fits_shift ? std::optional(wrapped(a * (std::int64_t{1} << b))) : std::nullopt;
    case right:
      return fits_shift ? std::optional(wrapped(a >> b)) : std::nullopt;
    case less:
      return a < b ? 1 : 0;
    case less_equal:
      return a <= b ? 1 : 0;
    case greater:
      return a > b ? 1 : 0;
    case greater_equal:
      return a >= b ? 1 : 0;
    case equal:
      return a == b ? 1 : 0;
    case not_equal:
      return a != b ? 1 : 0;
    case bit_and:
      return wrapped(a & b);
    case bit_xor:
      return wrapped(a ^ b);
    case bit_or:
      return wrapped(a | b);
    default:
      return std::nullopt;
  }
}

std::optional<std::int32_t> value_of(const Node& node, std::span<const std::int32_t> place) {
  using enum IndexOperator;
  if (node.operation == number) return node.number;
  if (node.operation == name) return place[static_cast<std::size_t>(node.number)];
  const std::optional<std::int32_t> a = value_of(*node.operands[0], place);
  if (!a) return std::nullopt;
  switch (node.operation) {
    case logical_not:
      return *a == 0 ? 1 : 0;
    case complement:
      return ~*a;
    case negate:
      return wrapped(-std::int64_t{*a});
    case logical_and:
      if (*a == 0) return 0;
      break;
    case logical_or:
      if (*a != 0) return 1;
      break;
    case choose:
      return value_of(*node.operands[*a != 0 ? 1 : 2], place);
    default:
      break;
  }
  const std::optional<std::int32_t> b = value_of(*node.operands[1], place);
  if (!b) return std::nullopt;
  if (node.operation == logical_and || node.operation == logical_or) return *b != 0 ? 1 : 0;
  return computed(node.operation, *a, *b);
}

// The element's coordinates, or its number where there is one expression.
std::vector<std::int64_t> wanted_of(const Layout& layout, f2::Word element, std::size_t count) {
  if (count == 1) return {static_cast<std::int64_t>(element)};
  std::vector<std::int64_t> wanted(count);
  for (std::size_t k = count; k-- > 0;) {
    wanted[k] = static_cast<std::int64_t>(element & f2::low_mask(layout.axes[k].bits));
    element >>= layout.axes[k].bits;
  }
  return wanted;
}

}  // namespace

IndexExpression::IndexExpression(std::string_view text, const std::vector<std::string>& names)
    : text_(text), root_(IndexParser(text, names).whole()) {}

std::optional<std::int32_t> IndexExpression::at(std::span<const std::int32_t> values) const {
  return value_of(*root_, values);
}

std::optional<std::int32_t> IndexExpression::operator()(const IndexPlace& place) const {
  const std::array values{place.i, place.lane, place.warp,
                          wrapped((std::int64_t{place.warp} << kCudaLaneBits) + place.lane)};
  return at(values);
}

std::optional<IndexMismatch> check_indices(const Layout& layout,
                                           const std::vector<IndexExpression>& expressions) {
  if (expressions.size() != 1 && expressions.size() != layout.axes.size())
    fail(ErrorCode::value, "check indices of `" + layout.name + "`",
         fmt::format("{} expressions", expressions.size()),
         layout.axes.size() == 1 ? "one"
                                 : fmt::format("one, or one for each of its {} axes", layout.axes.size()));
  const auto count = [](const std::vector<f2::Word>& columns) {
    return static_cast<std::int32_t>(f2::unit(static_cast<int>(columns.size())));
  };
  IndexPlace place;
  for (place.warp = 0; place.warp < count(layout.warps); ++place.warp) {
    for (place.lane = 0; place.lane < count(layout.lanes); ++place.lane) {
      for (place.i = 0; place.i < count(layout.registers); ++place.i) {
        const f2::Word element =
            layout.element(static_cast<f2::Word>(place.i), static_cast<f2::Word>(place.lane),
                           static_cast<f2::Word>(place.warp));
        IndexMismatch mismatch{
            .place = place, .got = {}, .wanted = wanted_of(layout, element, expressions.size())};
        bool agrees = true;
        for (std::size_t k = 0; k < expressions.size(); ++k) {
          mismatch.got.push_back(expressions[k](place));
          agrees = agrees && mismatch.got.back() == mismatch.wanted[k];
        }
        if (!agrees) return mismatch;
      }
    }
  }
  return std::nullopt;
}

std::optional<swizzle::Mismatch> check_holes(
    const swizzle::Specification& specification, const swizzle::Program& sketch,
    const std::vector<std::pair<std::string, std::string>>& expressions) {
  swizzle::Valuation valuation(sketch);
  swizzle::Mismatch undefined;
  for (const auto& [name, text] : expressions) {
    const auto holes = sketch.holes();
    const auto hole = std::ranges::find(holes, name, &swizzle::HoleDeclaration::name);
    if (hole == holes.end()) {
      std::vector<std::string> known;
      for (const auto& declared : holes) known.push_back(declared.name);
      fail(ErrorCode::value, "check a sketch", fmt::format("`{}`", name),
           known.empty() ? "no expression: the sketch has no hole"
                         : fmt::format("one of its holes: {}", fmt::join(known, ", ")));
    }
    std::vector<std::string> names;
    for (const auto& argument : hole->arguments) names.push_back(argument.name);
    const IndexExpression expression(text, names);
    std::vector<std::int32_t> table(static_cast<std::size_t>(swizzle::cells(*hole)));
    std::vector<std::int32_t> at(names.size(), 0);
    for (std::int32_t& value : table) {
      const auto computed = expression.at(at);
      std::string where;
      for (std::size_t k = 0; k < at.size(); ++k)
        where += fmt::format("{}{} = {}", k == 0 ? " at " : ", ", names[k], at[k]);
      if (!computed) {
        undefined.text = fmt::format("`{}`, which C leaves undefined{}", text, where);
        return undefined;
      }
      value = *computed;
      for (std::size_t k = 0; k < at.size() && ++at[k] == hole->arguments[k].asked; ++k) at[k] = 0;
    }
    try {
      valuation.set_table(static_cast<int>(hole - holes.begin()), std::move(table));
    } catch (const Error& error) {
      undefined.text = error.what();
      return undefined;
    }
  }
  return swizzle::first_mismatch(specification, sketch, valuation);
}

std::string to_json(const Layout& layout, const std::vector<IndexExpression>& expressions,
                    const std::optional<IndexMismatch>& mismatch) {
  nlohmann::ordered_json json;
  json["schema"] = kJsonSchema;
  json["layout"] = layout.name;
  json["indices"] = nlohmann::ordered_json::array();
  for (const IndexExpression& expression : expressions) json["indices"].push_back(expression.text());
  json["places"] = std::uint64_t{1} << layout.matrix().columns();
  json["agrees"] = !mismatch;
  json["first_difference"] = nullptr;
  if (!mismatch) return json.dump(2);
  nlohmann::ordered_json got = nlohmann::ordered_json::array();
  for (const auto& value : mismatch->got) got.push_back(value ? nlohmann::ordered_json(*value) : nullptr);
  json["first_difference"] = {{"warp", mismatch->place.warp},
                              {"lane", mismatch->place.lane},
                              {"i", mismatch->place.i},
                              {"got", got},
                              {"wanted", mismatch->wanted}};
  return json.dump(2);
}

}  // namespace faro::exchange
