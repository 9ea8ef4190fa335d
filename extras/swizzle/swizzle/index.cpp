#include <algorithm>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/hole.hpp"
#include "swizzle/arithmetic.hpp"

namespace faro::swizzle {

struct Index::Node {
  IndexKind kind = IndexKind::constant;
  std::int64_t value = 0;  // of a constant; the number of a loop, argument or hole
  std::vector<Index> operands;
};

namespace {

std::size_t operands_of(IndexKind kind) {
  switch (kind) {
    case IndexKind::constant:
    case IndexKind::lane:
    case IndexKind::warp:
    case IndexKind::block:
    case IndexKind::loop:
    case IndexKind::argument:
      return 0;
    case IndexKind::logical_not:
      return 1;
    case IndexKind::select:
      return 3;
    default:
      return 2;
  }
}

std::int64_t nonzero(std::int64_t divisor) {
  if (divisor == 0) {
    fail(ErrorCode::spec, "evaluate an index", "a division by 0", "a divisor other than 0",
         "check the divisors of the sketch's index expressions");
  }
  return divisor;
}

std::int64_t applied(IndexKind kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case IndexKind::add:
      return detail::added(a, b);
    case IndexKind::subtract:
      return detail::subtracted(a, b);
    case IndexKind::multiply:
      return detail::multiplied(a, b);
    case IndexKind::divide:
      return detail::floor_divided(a, nonzero(b));
    case IndexKind::remainder:
      return detail::floor_remainder(a, nonzero(b));
    case IndexKind::exclusive_or:
      return a ^ b;
    case IndexKind::less:
      return a < b ? 1 : 0;
    case IndexKind::less_equal:
      return a <= b ? 1 : 0;
    case IndexKind::equal:
      return a == b ? 1 : 0;
    case IndexKind::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case IndexKind::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      FARO_CHECK(false && "an operator of two operands");
      return 0;
  }
}

// `leaf` gives the value of every kind that is no operator, holes included.
template <typename Leaf>
std::int64_t evaluated(const Index& index, const Leaf& leaf) {
  const std::span<const Index> operands = index.operands();
  switch (index.kind()) {
    case IndexKind::constant:
      return index.value();
    case IndexKind::lane:
    case IndexKind::warp:
    case IndexKind::block:
    case IndexKind::loop:
    case IndexKind::argument:
    case IndexKind::hole:
      return leaf(index);
    case IndexKind::logical_not:
      return evaluated(operands[0], leaf) == 0 ? 1 : 0;
    case IndexKind::select: {
      const std::int64_t condition = evaluated(operands[0], leaf);
      const std::int64_t if_true = evaluated(operands[1], leaf);
      const std::int64_t if_false = evaluated(operands[2], leaf);
      return condition != 0 ? if_true : if_false;
    }
    default: {
      const std::int64_t a = evaluated(operands[0], leaf);
      return applied(index.kind(), a, evaluated(operands[1], leaf));
    }
  }
}

std::int64_t at_place(const Index& index, const Place& place) {
  switch (index.kind()) {
    case IndexKind::lane:
      return place.lane;
    case IndexKind::warp:
      return place.warp;
    case IndexKind::block:
      return place.block;
    case IndexKind::loop:
      FARO_CHECK(static_cast<std::size_t>(index.number()) < place.loops.size());
      return place.loops[static_cast<std::size_t>(index.number())];
    default:
      FARO_CHECK(false && "a variable of a place");
      return 0;
  }
}

std::vector<std::int64_t> argument_values(const Index& call, const Place& place) {
  std::vector<std::int64_t> values;
  values.reserve(call.operands().size());
  for (const Index& argument : call.operands()) {
    values.push_back(evaluated(argument, [&](const Index& leaf) -> std::int64_t {
      if (leaf.kind() != IndexKind::hole) return at_place(leaf, place);
      fail(ErrorCode::spec, "read a hole's arguments", "a hole inside a hole's argument",
           "arguments of lanes, warps, blocks, loop counters and constants",
           "let the outer hole take the inner one's arguments instead");
    }));
  }
  return values;
}

void collect_calls(const Index& index, const Place& place, std::vector<HoleCall>& calls) {
  if (index.kind() == IndexKind::hole) {
    HoleCall call{index.number(), argument_values(index, place)};
    for (const HoleCall& known : calls) {
      if (known.hole == call.hole && known.arguments == call.arguments) return;
    }
    calls.push_back(std::move(call));
    return;
  }
  for (const Index& operand : index.operands()) collect_calls(operand, place, calls);
}

Index binary(IndexKind kind, const Index& a, const Index& b) { return Index::node(kind, 0, {a, b}); }

}  // namespace

Index::Index(std::int64_t constant)
    : node_(std::make_shared<const Node>(Node{IndexKind::constant, constant, {}})) {}

IndexKind Index::kind() const { return node_->kind; }

std::int64_t Index::value() const {
  FARO_CHECK(node_->kind == IndexKind::constant);
  return node_->value;
}

int Index::number() const {
  FARO_CHECK(node_->kind == IndexKind::loop || node_->kind == IndexKind::argument ||
             node_->kind == IndexKind::hole);
  return static_cast<int>(node_->value);
}

std::span<const Index> Index::operands() const { return node_->operands; }

bool same(const Index& a, const Index& b) {
  if (a.node_ == b.node_) return true;
  if (a.node_->kind != b.node_->kind || a.node_->value != b.node_->value ||
      a.node_->operands.size() != b.node_->operands.size()) {
    return false;
  }
  for (std::size_t k = 0; k < a.node_->operands.size(); ++k) {
    if (!same(a.node_->operands[k], b.node_->operands[k])) return false;
  }
  return true;
}

Index Index::node(IndexKind kind, std::int64_t value_or_number, std::vector<Index> operands) {
  FARO_CHECK(kind == IndexKind::hole || operands.size() == operands_of(kind));
  return Index(std::make_shared<const Node>(Node{kind, value_or_number, std::move(operands)}));
}

Index lane_index() { return Index::node(IndexKind::lane, 0, {}); }
Index warp_index() { return Index::node(IndexKind::warp, 0, {}); }
Index block_index() { return Index::node(IndexKind::block, 0, {}); }
Index argument_index(int number) { return Index::node(IndexKind::argument, number, {}); }

Index operator+(const Index& a, const Index& b) { return binary(IndexKind::add, a, b); }
Index operator-(const Index& a, const Index& b) { return binary(IndexKind::subtract, a, b); }
Index operator*(const Index& a, const Index& b) { return binary(IndexKind::multiply, a, b); }
Index operator/(const Index& a, const Index& b) { return binary(IndexKind::divide, a, b); }
Index operator%(const Index& a, const Index& b) { return binary(IndexKind::remainder, a, b); }
Index operator^(const Index& a, const Index& b) { return binary(IndexKind::exclusive_or, a, b); }
Index operator<(const Index& a, const Index& b) { return binary(IndexKind::less, a, b); }
Index operator<=(const Index& a, const Index& b) { return binary(IndexKind::less_equal, a, b); }
Index operator>(const Index& a, const Index& b) { return binary(IndexKind::less, b, a); }
Index operator>=(const Index& a, const Index& b) { return binary(IndexKind::less_equal, b, a); }
Index operator==(const Index& a, const Index& b) { return binary(IndexKind::equal, a, b); }
Index operator!=(const Index& a, const Index& b) { return !(a == b); }
Index operator!(const Index& a) { return Index::node(IndexKind::logical_not, 0, {a}); }
Index operator&&(const Index& a, const Index& b) { return binary(IndexKind::logical_and, a, b); }
Index operator||(const Index& a, const Index& b) { return binary(IndexKind::logical_or, a, b); }

Index select(const Index& condition, const Index& if_true, const Index& if_false) {
  return Index::node(IndexKind::select, 0, {condition, if_true, if_false});
}

std::int64_t evaluate(const Index& index, const Place& place, const HoleReader& holes) {
  return evaluated(index, [&](const Index& leaf) {
    if (leaf.kind() != IndexKind::hole) return at_place(leaf, place);
    return holes(leaf.number(), argument_values(leaf, place));
  });
}

std::int64_t evaluate(const Index& function, std::span<const std::int64_t> arguments) {
  return evaluated(function, [&](const Index& leaf) {
    FARO_CHECK(leaf.kind() == IndexKind::argument);
    FARO_CHECK(static_cast<std::size_t>(leaf.number()) < arguments.size());
    return arguments[static_cast<std::size_t>(leaf.number())];
  });
}

std::vector<HoleCall> hole_calls(const Index& index, const Place& place) {
  std::vector<HoleCall> calls;
  collect_calls(index, place, calls);
  return calls;
}

Index substitute(const Index& function, std::span<const Index> arguments) {
  if (function.kind() == IndexKind::argument) {
    FARO_CHECK(static_cast<std::size_t>(function.number()) < arguments.size());
    return arguments[static_cast<std::size_t>(function.number())];
  }
  if (function.operands().empty()) return function;
  std::vector<Index> operands;
  operands.reserve(function.operands().size());
  for (const Index& operand : function.operands()) operands.push_back(substitute(operand, arguments));
  const bool numbered = function.kind() == IndexKind::hole;
  return Index::node(function.kind(), numbered ? function.number() : 0, std::move(operands));
}

namespace {

using detail::floor_divided;

// What may be this far out may be anything: sums and products of two ends still fit in 128 bits.
constexpr std::int64_t kFar = std::int64_t{1} << 60;
constexpr Interval kAnything{-kFar, kFar};
constexpr Interval kTruth{0, 1};

__extension__ using Wide = __int128;

Interval between(Wide least, Wide most) {
  if (least <= -kFar || most >= kFar) return kAnything;
  return {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
}

Interval hull(std::initializer_list<Wide> values) { return between(std::min(values), std::max(values)); }

Interval variable(const std::vector<Interval>& ranges, int number) {
  const auto k = static_cast<std::size_t>(number);
  return k < ranges.size() ? ranges[k] : kAnything;
}

Interval quotient(const Interval& a, const Interval& d) {
  if ((d.least <= 0 && d.most >= 0) || a == kAnything || d == kAnything) return kAnything;
  return hull({floor_divided(a.least, d.least), floor_divided(a.least, d.most),
               floor_divided(a.most, d.least), floor_divided(a.most, d.most)});
}

Interval rest(const Interval& a, const Interval& d) {
  if (d.least <= 0) return kAnything;
  if (d.least == d.most && floor_divided(a.least, d.least) == floor_divided(a.most, d.least)) {
    const std::int64_t base = d.least * floor_divided(a.least, d.least);
    return {a.least - base, a.most - base};
  }
  if (a.least >= 0) return {0, std::min(a.most, d.most - 1)};
  return {0, d.most - 1};
}

Interval exclusive(const Interval& a, const Interval& b) {
  if (a.least < 0 || b.least < 0) return kAnything;
  if (a.least == a.most && b.least == b.most) return {a.least ^ b.least, a.least ^ b.least};
  const auto most = static_cast<std::uint64_t>(std::max(a.most, b.most));
  return {0, static_cast<std::int64_t>(std::bit_ceil(most + 1)) - 1};
}

Interval truth(bool always, bool never) {
  if (always) return {1, 1};
  if (never) return {0, 0};
  return kTruth;
}

bool always_true(const Interval& x) { return x.least > 0 || x.most < 0; }
bool always_false(const Interval& x) { return x.least == 0 && x.most == 0; }

Interval combined(IndexKind kind, const Interval& a, const Interval& b) {
  switch (kind) {
    case IndexKind::add:
      return between(Wide{a.least} + b.least, Wide{a.most} + b.most);
    case IndexKind::subtract:
      return between(Wide{a.least} - b.most, Wide{a.most} - b.least);
    case IndexKind::multiply:
      return hull(
          {Wide{a.least} * b.least, Wide{a.least} * b.most, Wide{a.most} * b.least, Wide{a.most} * b.most});
    case IndexKind::divide:
      return quotient(a, b);
    case IndexKind::remainder:
      return rest(a, b);
    case IndexKind::exclusive_or:
      return exclusive(a, b);
    case IndexKind::less:
      return truth(a.most < b.least, a.least >= b.most);
    case IndexKind::less_equal:
      return truth(a.most <= b.least, a.least > b.most);
    case IndexKind::equal:
      return truth(a.least == a.most && a == b, a.most < b.least || b.most < a.least);
    case IndexKind::logical_and:
      return truth(always_true(a) && always_true(b), always_false(a) || always_false(b));
    case IndexKind::logical_or:
      return truth(always_true(a) || always_true(b), always_false(a) && always_false(b));
    default:
      FARO_CHECK(false && "an operator of two operands");
      return kAnything;
  }
}

}  // namespace

Interval bounds(const Index& index, const IndexRanges& ranges) {
  switch (index.kind()) {
    case IndexKind::constant:
      return between(index.value(), index.value());
    case IndexKind::lane:
      return ranges.lane;
    case IndexKind::warp:
      return ranges.warp;
    case IndexKind::block:
      return ranges.block;
    case IndexKind::loop:
      return variable(ranges.loops, index.number());
    case IndexKind::argument:
      return variable(ranges.arguments, index.number());
    case IndexKind::hole:
      return variable(ranges.holes, index.number());
    case IndexKind::logical_not: {
      const Interval x = bounds(index.operands()[0], ranges);
      return truth(always_false(x), always_true(x));
    }
    case IndexKind::select: {
      const Interval condition = bounds(index.operands()[0], ranges);
      const Interval a = bounds(index.operands()[1], ranges);
      const Interval b = bounds(index.operands()[2], ranges);
      if (always_true(condition)) return a;
      if (always_false(condition)) return b;
      return {std::min(a.least, b.least), std::max(a.most, b.most)};
    }
    default:
      return combined(index.kind(), bounds(index.operands()[0], ranges), bounds(index.operands()[1], ranges));
  }
}

}  // namespace faro::swizzle
