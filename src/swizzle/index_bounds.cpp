#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "faro/error.hpp"
#include "faro/swizzle/index.hpp"
#include "swizzle/index_arithmetic.hpp"

namespace faro::swizzle {
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
