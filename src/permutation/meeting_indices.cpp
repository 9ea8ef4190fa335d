// Whether two elements of a view meet in the output: whether digits, each the difference of two below its
// extent, are not all 0 and their sum with the strides is.
//
//     extents 4 3, strides 3 5       3 d + 5 e = 0 takes d = 5, e = -3: none meet
//     extents 6 4, strides 3 5       (5, 0) and (0, 3) meet in element 15
//
// The search goes from the longest stride down. A digit is tried where the shorter strides may make up the
// rest: it is no farther than they reach, and a multiple of their greatest common divisor. The digits that
// leave such a multiple are one residue class, so that of two axes one digit is tried, and of three as many
// as the longest stride leaves.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"
#include "permutation/modular_arithmetic.hpp"

namespace faro {
namespace {

class MeetingSearch {
 public:
  explicit MeetingSearch(const Strided& view) {
    for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
      if (view.extents[axis] <= 1) continue;
      const std::int64_t stride = view.out_strides[axis];
      terms_.push_back({.axis = axis,
                        .most = static_cast<std::int64_t>(view.extents[axis] - 1),
                        .stride = stride < 0 ? -stride : stride});
    }
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.stride < b.stride; });
    if (terms_.empty() || terms_.front().stride == 0) return;
    std::int64_t reach = 0;
    std::int64_t divisor = 0;
    for (Term& term : terms_) {
      term.reach_below = reach;
      if (divisor != 0) {
        term.common = std::gcd(divisor, term.stride);
        term.step = divisor / term.common;
        term.inverse = detail::inverse_mod(static_cast<std::uint64_t>(term.stride / term.common),
                                           static_cast<std::uint64_t>(term.step));
      }
      reach += term.most * term.stride;
      divisor = std::gcd(divisor, term.stride);
    }
  }

  /// The digits by the view's axes, as if all strides were positive; empty: none meet.
  std::vector<std::int64_t> digits(std::size_t rank) {
    if (terms_.empty()) return {};
    if (terms_.front().stride == 0) {
      terms_.front().digit = 1;
    } else if (!search(terms_.size(), 0, false)) {
      return {};
    }
    std::vector<std::int64_t> found(rank, 0);
    for (const Term& term : terms_) found[term.axis] = term.digit;
    return found;
  }

 private:
  struct Term {
    std::size_t axis = 0;
    std::int64_t most = 0;
    std::int64_t stride = 0;
    std::int64_t reach_below = 0;  // of the terms with shorter strides
    std::int64_t common = 0;       // divisor of its stride and of all below; 0 of the first
    std::int64_t step = 1;         // from a digit that leaves a multiple of the strides below to the next
    std::uint64_t inverse = 0;     // of the stride modulo the step, both divided by `common`
    std::int64_t digit = 0;
  };

  // Digits of the terms below `left`, such that the sum with `rest` is 0. `moved`: whether a digit above is
  // not 0.
  bool search(std::size_t left, std::int64_t rest, bool moved) {
    if (rest == 0 && moved) {
      for (std::size_t i = 0; i < left; ++i) terms_[i].digit = 0;
      return true;
    }
    if (left == 0) return false;
    Term& term = terms_[left - 1];
    if (left == 1) {
      term.digit = -rest / term.stride;
      return rest != 0 && rest % term.stride == 0 && std::abs(term.digit) <= term.most;
    }
    if (rest % term.common != 0) return false;
    // The first digit that is not 0 may be taken above 0.
    std::int64_t least = moved ? -term.most : 0;
    std::int64_t most = term.most;
    least = std::max(least, -floor_of(rest + term.reach_below, term.stride));
    most = std::min(most, floor_of(term.reach_below - rest, term.stride));
    for (std::int64_t digit = first_digit(term, rest, least); digit <= most; digit += term.step) {
      if (++trials_ > kMostTrials) {
        fail(ErrorCode::unsupported, "strided", "strides of the output so entangled that a search gives up",
             "strides each of which is longer than those before it reach",
             "two views, one after the other, or extents that are smaller");
      }
      term.digit = digit;
      if (search(left - 1, rest + digit * term.stride, moved || digit != 0)) return true;
    }
    return false;
  }

  // The first from `least` on that leaves a multiple of the strides below.
  static std::int64_t first_digit(const Term& term, std::int64_t rest, std::int64_t least) {
    const std::int64_t wanted = modulo(-(rest / term.common), term.step);
    const auto residue = static_cast<std::int64_t>(detail::product_mod(
        static_cast<std::uint64_t>(wanted), term.inverse, static_cast<std::uint64_t>(term.step)));
    return least + modulo(residue - modulo(least, term.step), term.step);
  }

  static std::int64_t modulo(std::int64_t a, std::int64_t b) { return (a % b + b) % b; }
  static std::int64_t floor_of(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
  }

  static constexpr std::uint64_t kMostTrials = std::uint64_t{1} << 24;
  std::vector<Term> terms_;
  std::uint64_t trials_ = 0;
};

}  // namespace

std::optional<MeetingIndices> meeting_indices(const Strided& view) {
  if (element_count(view) <= 1) return std::nullopt;
  static_cast<void>(out_elements(view));
  const std::vector<std::int64_t> digits = MeetingSearch(view).digits(view.extents.size());
  if (digits.empty()) return std::nullopt;
  MeetingIndices found;
  for (std::size_t axis = 0; axis < digits.size(); ++axis) {
    const std::int64_t digit = view.out_strides[axis] < 0 ? -digits[axis] : digits[axis];
    found.first.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, digit)));
    found.second.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, -digit)));
  }
  return found;
}

}  // namespace faro
