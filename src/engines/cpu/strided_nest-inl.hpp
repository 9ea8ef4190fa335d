// The places of a nest, one after another.   Included once a set of vector instructions, as Highway's
// -inl.hpp.
#if defined(FARO_STRIDED_NEST_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_STRIDED_NEST_INL_HPP
#undef FARO_STRIDED_NEST_INL_HPP
#else
#define FARO_STRIDED_NEST_INL_HPP
#endif

#include "engines/cpu/strided_nest.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

// Calls visit(a, b) with the sums of both kinds of strides for every combination of digits along the axes
// from `first` on. Requires: no extent of 0.
template <typename Visit>
HWY_INLINE void ForEachPlace(const StridedNest& nest, std::size_t first, const Visit& visit) {
  if (first >= nest.axes) return visit(std::int64_t{0}, std::int64_t{0});
  const std::uint64_t count = nest.extents[first];
  const std::int64_t in = nest.in[first];
  const std::int64_t out = nest.out[first];
  std::uint64_t at[StridedNest::kMostAxes];
  for (std::size_t axis = first + 1; axis < nest.axes; ++axis) at[axis] = 0;
  std::int64_t row_a = 0;
  std::int64_t row_b = 0;
  for (;;) {
    std::int64_t a = row_a;
    std::int64_t b = row_b;
    for (std::uint64_t i = 0; i < count; ++i, a += in, b += out) visit(a, b);
    std::size_t axis = first + 1;
    for (; axis < nest.axes; ++axis) {
      row_a += nest.in[axis];
      row_b += nest.out[axis];
      if (++at[axis] < nest.extents[axis]) break;
      const auto extent = static_cast<std::int64_t>(nest.extents[axis]);
      row_a -= extent * nest.in[axis];
      row_b -= extent * nest.out[axis];
      at[axis] = 0;
    }
    if (axis >= nest.axes) return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // FARO_STRIDED_NEST_INL_HPP
