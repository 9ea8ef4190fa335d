#include <optional>
#include <utility>
#include <vector>

#include "faro/swizzle/hole.hpp"
#include "swizzle/arithmetic.hpp"

namespace faro::swizzle {
namespace {

using detail::added;
using detail::floor_divided;
using detail::floor_remainder;
using detail::multiplied;
using detail::subtracted;

struct Term {
  std::int64_t factor = 0;
  Index index;
};

// A sum as constant + factors times terms; a product of a sum stays a term, so that 4 * (t + i) does not
// become two products.
struct Linear {
  std::int64_t constant = 0;
  std::vector<Term> terms;

  void add(std::int64_t factor, const Index& index) {
    for (Term& term : terms) {
      if (same(term.index, index)) {
        term.factor = added(term.factor, factor);
        return;
      }
    }
    terms.push_back({factor, index});
  }
};

bool is_constant(const Index& index) { return index.kind() == IndexKind::constant; }
bool is_constant(const Index& index, std::int64_t value) {
  return is_constant(index) && index.value() == value;
}

void flatten(const Index& index, std::int64_t factor, Linear& sum) {
  const std::span<const Index> x = index.operands();
  switch (index.kind()) {
    case IndexKind::constant:
      sum.constant = added(sum.constant, multiplied(factor, index.value()));
      return;
    case IndexKind::add:
      flatten(x[0], factor, sum);
      flatten(x[1], factor, sum);
      return;
    case IndexKind::subtract:
      flatten(x[0], factor, sum);
      flatten(x[1], subtracted(0, factor), sum);
      return;
    case IndexKind::multiply: {
      if (!is_constant(x[0]) && !is_constant(x[1])) break;
      const Index& inner = is_constant(x[0]) ? x[1] : x[0];
      const std::int64_t product = multiplied(factor, (is_constant(x[0]) ? x[0] : x[1]).value());
      const bool is_sum = inner.kind() == IndexKind::add || inner.kind() == IndexKind::subtract;
      if (is_sum && product != 1 && product != -1) {
        sum.add(product, inner);
      } else {
        flatten(inner, product, sum);
      }
      return;
    }
    default:
      break;
  }
  sum.add(factor, index);
}

Index scaled(std::int64_t factor, const Index& index) { return factor == 1 ? index : Index(factor) * index; }

// Terms that are added, then those that are subtracted, the constant where it needs no sign of its own.
Index built(const Linear& sum) {
  std::optional<Index> result;
  for (const Term& term : sum.terms) {
    if (term.factor <= 0) continue;
    const Index product = scaled(term.factor, term.index);
    result = result ? *result + product : product;
  }
  std::int64_t constant = sum.constant;
  if (!result) {
    result = Index(constant);
    constant = 0;
  }
  for (const Term& term : sum.terms) {
    if (term.factor < 0) result = *result - scaled(subtracted(0, term.factor), term.index);
  }
  if (constant > 0) result = *result + Index(constant);
  if (constant < 0) result = *result - Index(subtracted(0, constant));
  return *result;
}

class Simplifier {
 public:
  explicit Simplifier(const IndexRanges& ranges) : ranges_(ranges) {}

  Index simplified(const Index& index) const {
    if (index.kind() == IndexKind::constant) return index;
    const Interval range = bounds(index, ranges_);
    if (range.least == range.most && !has_division_by_zero(index)) return range.least;
    if (index.operands().empty()) return index;
    std::vector<Index> x;
    x.reserve(index.operands().size());
    for (const Index& operand : index.operands()) x.push_back(simplified(operand));
    Index result = rewritten(index, std::move(x));
    const Interval after = bounds(result, ranges_);
    if (after.least == after.most && !has_division_by_zero(result)) return after.least;
    return result;
  }

 private:
  // What would fail when it is evaluated must go on failing.
  bool has_division_by_zero(const Index& index) const {
    for (const Index& operand : index.operands()) {
      if (has_division_by_zero(operand)) return true;
    }
    if (index.kind() != IndexKind::divide && index.kind() != IndexKind::remainder) return false;
    const Interval divisor = bounds(index.operands()[1], ranges_);
    return divisor.least <= 0 && divisor.most >= 0;
  }

  Index rewritten(const Index& index, std::vector<Index> x) const {
    switch (index.kind()) {
      case IndexKind::add:
      case IndexKind::subtract:
      case IndexKind::multiply:
        return sum(Index::node(index.kind(), 0, std::move(x)));
      case IndexKind::divide:
        return is_positive(x[1]) ? quotient(x[0], x[1].value()) : x[0] / x[1];
      case IndexKind::remainder:
        return is_positive(x[1]) ? rest(x[0], x[1].value()) : x[0] % x[1];
      case IndexKind::exclusive_or:
        if (is_constant(x[0], 0)) return x[1];
        return is_constant(x[1], 0) ? x[0] : x[0] ^ x[1];
      case IndexKind::less:
      case IndexKind::less_equal:
      case IndexKind::equal:
        return comparison(index.kind(), x[0], x[1]);
      case IndexKind::logical_not:
        return negated(x[0]);
      case IndexKind::logical_and:
      case IndexKind::logical_or:
        return joined(index.kind(), x[0], x[1]);
      case IndexKind::select:
        return selected(x[0], x[1], x[2]);
      case IndexKind::hole:
        return Index::node(IndexKind::hole, index.number(), std::move(x));
      default:
        return index;
    }
  }

  static bool is_positive(const Index& divisor) { return is_constant(divisor) && divisor.value() > 0; }

  // Terms that vanish must not take a division by 0 with them.
  Index sum(const Index& index) const {
    Linear linear;
    flatten(index, 1, linear);
    for (const Term& term : linear.terms) {
      if (term.factor == 0 && has_division_by_zero(term.index)) return index;
    }
    return built(linear);
  }

  // (d x + y) / d is x + y / d.
  Index quotient(const Index& a, std::int64_t d) const {
    if (d == 1) return a;
    if (a.kind() == IndexKind::divide && is_positive(a.operands()[1]) &&
        a.operands()[1].value() < (1 << 30) && d < (1 << 30)) {
      return quotient(a.operands()[0], d * a.operands()[1].value());
    }
    Linear linear, whole, part;
    flatten(a, 1, linear);
    whole.constant = floor_divided(linear.constant, d);
    part.constant = floor_remainder(linear.constant, d);
    for (const Term& term : linear.terms) {
      if (term.factor % d == 0) {
        if (term.factor != 0) whole.add(term.factor / d, term.index);
      } else {
        part.add(term.factor, term.index);
      }
    }
    const Index inner = built(part);
    const Interval range = bounds(inner, ranges_);
    const std::int64_t least = floor_divided(range.least, d);
    if (least == floor_divided(range.most, d) && !has_division_by_zero(a)) {
      whole.constant = added(whole.constant, least);
      return built(whole);
    }
    if (whole.terms.empty()) return a / Index(d);
    whole.add(1, inner / Index(d));
    return built(whole);
  }

  // (d x + (y mod k d)) mod d is y mod d.
  Index rest(const Index& a, std::int64_t d) const {
    Linear linear, kept;
    flatten(a, 1, linear);
    kept.constant = floor_remainder(linear.constant, d);
    for (const Term& term : linear.terms) keep_modulo(term, d, kept);
    if (has_division_by_zero(a)) return a % Index(d);
    const Index inner = built(kept);
    // The one of the two forms of the same remainder that needs none.
    for (const Index& form : {a, inner}) {
      const Interval range = bounds(form, ranges_);
      const std::int64_t least = floor_divided(range.least, d);
      if (least != floor_divided(range.most, d)) continue;
      return sum(form - Index(multiplied(least, d)));
    }
    return inner % Index(d);
  }

  static void keep_modulo(const Term& term, std::int64_t d, Linear& kept) {
    if (term.factor % d == 0) return;
    const bool inner_remainder = term.index.kind() == IndexKind::remainder &&
                                 is_positive(term.index.operands()[1]) &&
                                 term.index.operands()[1].value() % d == 0;
    if (!inner_remainder) {
      kept.add(term.factor, term.index);
      return;
    }
    Linear inside;
    flatten(term.index.operands()[0], term.factor, inside);
    kept.constant = floor_remainder(added(kept.constant, floor_remainder(inside.constant, d)), d);
    for (const Term& inner : inside.terms) keep_modulo(inner, d, kept);
  }

  Index comparison(IndexKind kind, const Index& a, const Index& b) const {
    // a < b is a - b < 0: what both sides have cancels, and the bounds of what is left may decide.
    Linear difference;
    flatten(a, 1, difference);
    flatten(b, -1, difference);
    const Interval truth = bounds(Index::node(kind, 0, {built(difference), 0}), ranges_);
    if (truth.least == truth.most && !has_division_by_zero(a) && !has_division_by_zero(b)) return truth.least;
    if (kind == IndexKind::equal && is_constant(a) && !is_constant(b)) return Index::node(kind, 0, {b, a});
    return Index::node(kind, 0, {a, b});
  }

  bool is_truth(const Index& a) const {
    const Interval range = bounds(a, ranges_);
    return range.least >= 0 && range.most <= 1;
  }

  Index negated(const Index& a) const {
    const std::span<const Index> x = a.operands();
    if (a.kind() == IndexKind::logical_not && is_truth(x[0])) return x[0];
    if (a.kind() == IndexKind::less) return x[1] <= x[0];
    if (a.kind() == IndexKind::less_equal) return x[1] < x[0];
    return !a;
  }

  Index joined(IndexKind kind, const Index& a, const Index& b) const {
    const bool is_and = kind == IndexKind::logical_and;
    if (is_constant(a) && (a.value() != 0) == is_and && is_truth(b)) return b;
    if (is_constant(b) && (b.value() != 0) == is_and && is_truth(a)) return a;
    if (same(a, b) && is_truth(a)) return a;
    return Index::node(kind, 0, {a, b});
  }

  Index selected(const Index& condition, const Index& a, const Index& b) const {
    const bool safe =
        !has_division_by_zero(condition) && !has_division_by_zero(a) && !has_division_by_zero(b);
    if (safe && is_constant(condition)) return condition.value() != 0 ? a : b;
    if (safe && same(a, b)) return a;
    if (is_truth(condition) && is_constant(a, 1) && is_constant(b, 0)) return condition;
    if (condition.kind() == IndexKind::logical_not) return select(condition.operands()[0], b, a);
    return select(condition, a, b);
  }

  const IndexRanges& ranges_;
};

}  // namespace

Index simplify(const Index& index, const IndexRanges& ranges) { return Simplifier(ranges).simplified(index); }

int operations(const Index& index) {
  int count = 0;
  for (const Index& operand : index.operands()) count += operations(operand);
  switch (index.kind()) {
    case IndexKind::constant:
    case IndexKind::lane:
    case IndexKind::warp:
    case IndexKind::block:
    case IndexKind::loop:
    case IndexKind::argument:
    case IndexKind::hole:
      return count;
    case IndexKind::divide:
    case IndexKind::remainder: {
      const Index& divisor = index.operands()[1];
      return count + (is_constant(divisor) && detail::is_power_of_two(divisor.value()) ? 1 : 3);
    }
    default:
      return count + 1;
  }
}

}  // namespace faro::swizzle
