// Whole lines written past the caches, as they are or reversed, for the target being compiled.
#if defined(FARO_STREAMED_LINES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARO_STREAMED_LINES_INL_HPP
#undef FARO_STREAMED_LINES_INL_HPP
#else
#define FARO_STREAMED_LINES_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/reversed_lanes-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What is read downwards, or reversed, is so much at a time: the input is read upwards, part by part, and the
// output is written upwards within each. Lines that are all written downwards cost a tenth more.
constexpr std::uint64_t kPartBytes = 1024;

// Whole lines. Requires: `to` aligned to one.
HWY_INLINE void StreamWholeLines(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  for (std::uint64_t at = 0; at < bytes; at += hn::Lanes(d)) {
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  }
}

#if HWY_TARGET != HWY_SCALAR
// Calls visit() with a lane of `width` bytes; 0 where there is none.
template <typename Visit>
HWY_INLINE std::uint64_t WithLane(std::uint64_t width, const Visit& visit) {
  switch (width) {
    case 1:
      return visit(std::uint8_t{});
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    case 8:
      return visit(std::uint64_t{});
    default:
      return 0;
  }
}

// `bytes` of whole lines, `from` end for end. Requires: `to` aligned to a line.
template <class D>
HWY_INLINE void StreamTurned(D d, const std::byte* from, std::byte* to, std::uint64_t bytes) {
  using Lane = hn::TFromD<D>;
  const std::uint64_t step = hn::Lanes(d) * sizeof(Lane);
  for (std::uint64_t at = 0; at < bytes; at += step) {
    const auto lanes = hn::LoadU(d, reinterpret_cast<const Lane*>(from + bytes - step - at));
    hn::Stream(ReversedLanes(d, lanes), d, reinterpret_cast<Lane*>(to + at));
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard, once a target
