#include "engines/cpu/transpose/rotation.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/transpose/rotation.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kMostColumns = 64;
constexpr std::size_t kMostPieceBytes = 128;
constexpr int kMostSteps = 6;

// Rows from either end: `down` counts them from the last.
template <std::size_t kPieceBytes>
HWY_INLINE void RotatePieces(const StripRows& strip, Rotation rotation) {
  const hn::CappedTag<std::uint8_t, 64> d;
  alignas(64) std::byte window[kMostColumns * kMostPieceBytes];
  alignas(64) std::uint8_t masks[kMostSteps][kPieceBytes];
  const auto columns = static_cast<std::int64_t>(kPieceBytes / strip.element_bytes);
  const auto rows = static_cast<std::int64_t>(strip.rows);
  const auto stride = static_cast<std::int64_t>(strip.stride_bytes);
  const std::int64_t step_bytes = rotation == Rotation::up ? stride : -stride;
  std::byte* const first = rotation == Rotation::up ? strip.first : strip.first + (rows - 1) * stride;
  for (int step = 0; step < kMostSteps; ++step) {
    for (std::size_t at = 0; at < kPieceBytes; ++at)
      masks[step][at] = (at / strip.element_bytes >> step & 1) != 0 ? 0xff : 0;
  }
  // The first rows come again after the last.
  const std::int64_t again = columns - 1;
  for (std::int64_t r = 0; r < again; ++r)
    std::memcpy(window + static_cast<std::size_t>(r) * kPieceBytes, first + r * step_bytes, kPieceBytes);
  const auto row_at = [&](std::int64_t r) {
    return reinterpret_cast<std::uint8_t*>(
        r < rows ? first + r * step_bytes : window + static_cast<std::size_t>(r - rows) * kPieceBytes);
  };
  constexpr std::int64_t kAhead = 12;
  for (std::int64_t newest = 1; newest < rows + again; ++newest) {
    if (newest + kAhead < rows) {
      const std::uint8_t* const ahead = row_at(newest + kAhead);
      __builtin_prefetch(ahead, 1, 2);
      __builtin_prefetch(ahead + kPieceBytes / 2, 1, 2);
      __builtin_prefetch(ahead + kPieceBytes - 1, 1, 2);
    }
    // What a step makes is what the next one chooses from.
    std::uint8_t* here[kMostSteps];
    int steps = 0;
    for (std::int64_t row = newest - 1; row >= 0 && std::int64_t{1} << steps < columns; ++steps) {
      here[steps] = row_at(row);
      row -= std::int64_t{2} << steps;
    }
    const std::uint8_t* const source = row_at(newest);
    for (std::size_t at = 0; at < kPieceBytes; at += hn::Lanes(d)) {
      auto further = hn::LoadU(d, source + at);
      for (int step = 0; step < steps; ++step) {
        const auto moves = hn::MaskFromVec(hn::Load(d, masks[step] + at));
        further = hn::IfThenElse(moves, further, hn::LoadU(d, here[step] + at));
        hn::StoreU(further, d, here[step] + at);
      }
    }
  }
}

void RotateStrip(const StripRows& strip, Rotation rotation) {
  if (strip.element_bytes == 1) {
    RotatePieces<64>(strip, rotation);
  } else {
    RotatePieces<128>(strip, rotation);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(RotateStrip);

void rotate_strip(const StripRows& strip, Rotation rotation) {
  HWY_DYNAMIC_DISPATCH(RotateStrip)(strip, rotation);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
