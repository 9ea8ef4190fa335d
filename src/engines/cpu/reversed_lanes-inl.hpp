// A vector whose lanes change places end for end, for the target being compiled.
#if defined(FARO_REVERSED_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_REVERSED_LANES_INL_HPP
#undef FARO_REVERSED_LANES_INL_HPP
#else
#define FARO_REVERSED_LANES_INL_HPP
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {

// Highway 1.0.3 reverses lanes of two bytes and more: bytes change places within them afterwards.
#if HWY_TARGET != HWY_SCALAR
template <class D, class V>
HWY_INLINE V ReversedLanes(D d, V lanes) {
  if constexpr (sizeof(hwy::HWY_NAMESPACE::TFromD<D>) == 1) {
    const hwy::HWY_NAMESPACE::RepartitionToWide<D> pairs;
    const auto reversed = hwy::HWY_NAMESPACE::Reverse(pairs, hwy::HWY_NAMESPACE::BitCast(pairs, lanes));
    return hwy::HWY_NAMESPACE::BitCast(d,
                                       hwy::HWY_NAMESPACE::Or(hwy::HWY_NAMESPACE::ShiftLeft<8>(reversed),
                                                              hwy::HWY_NAMESPACE::ShiftRight<8>(reversed)));
  } else {
    return hwy::HWY_NAMESPACE::Reverse(d, lanes);
  }
}
#else
template <class D, class V>
HWY_INLINE V ReversedLanes(D /*d*/, V lane) {
  return lane;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once a target
