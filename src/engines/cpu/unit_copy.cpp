#include "engines/cpu/unit_copy.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engines/cpu/unit_copy.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/gathered_segment.hpp"
#include "engines/cpu/strided_nest-inl.hpp"
#include "hwy/highway.h"

#ifndef FARO_UNROLL_UNITS
#if defined(__clang__)
#define FARO_UNROLL_UNITS _Pragma("unroll")
#else
#define FARO_UNROLL_UNITS _Pragma("GCC unroll 8")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace faro::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What is copied, and from where to where.
struct Units {
  const std::byte* from;
  std::byte* to;
  std::uint64_t bytes;
  const StridedNest& nest;
  RowTraffic* fetched;

  template <class Copy>
  HWY_INLINE void CopyEach(const Copy& copy) const {
    ForEachPlace(nest, 0, [&](std::int64_t a, std::int64_t b) { copy(from + a, to + b); });
  }
};

// Row by row along the first axis, several units a turn: a load and a store each, with all places in
// registers.
template <class Width>
HWY_INLINE void CopyRows(const Units& units, Width width) {
  constexpr std::uint64_t kTogether = 8;
  const StridedNest& nest = units.nest;
  const bool is_row = nest.axes > 0;
  const std::uint64_t count = is_row ? nest.extents[0] : 1;
  const std::int64_t in = is_row ? nest.in[0] : 0;
  const std::int64_t out = is_row ? nest.out[0] : 0;
  const std::byte* const first = units.from;  // a stored byte may alias what `units` refers to
  std::byte* const first_to = units.to;
  ForEachPlace(nest, 1, [=](std::int64_t a, std::int64_t b) {
    const std::byte* from = first + a;
    std::byte* to = first_to + b;
    std::uint64_t left = count;
    for (; left >= kTogether; left -= kTogether) {
      FARO_UNROLL_UNITS
      for (std::uint64_t i = 0; i < kTogether; ++i, from += in, to += out) width.move(from, to);
    }
    for (; left > 0; --left, from += in, to += out) width.move(from, to);
  });
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
void CopyUnits(const Units& units) {
  with_width(units.bytes, [&](auto width) { CopyRows(units, width); });
}
#else

// The first and the last kBytes, which may overlap. Requires: at most twice as many.
template <std::size_t kBytes>
HWY_INLINE void CopyEnds(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kBytes> d;
  constexpr std::size_t kStep = hn::MaxLanes(d);
  const auto* const a = reinterpret_cast<const std::uint8_t*>(from);
  auto* const b = reinterpret_cast<std::uint8_t*>(to);
  if constexpr (kStep == kBytes) {
    const auto first = hn::LoadU(d, a);
    const auto last = hn::LoadU(d, a + bytes - kBytes);
    hn::StoreU(first, d, b);
    hn::StoreU(last, d, b + bytes - kBytes);
  } else {
    CopyEnds<kStep>(from, to, kBytes);
    CopyEnds<kStep>(from + bytes - kBytes, to + bytes - kBytes, kBytes);
  }
}

// More than a line: whole vectors, and a last one that may overlap them. Long ones are stored where no
// store is cut by a line's end from the second on: that costs more than loads that are.
HWY_INLINE void CopyLong(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const hn::CappedTag<std::uint8_t, kLineBytes> d;
  const std::uint64_t step = hn::Lanes(d);
  const auto move = [&](std::uint64_t at) {
    hn::StoreU(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + at)), d,
               reinterpret_cast<std::uint8_t*>(to + at));
  };
  constexpr std::uint64_t kLong = 6 * kLineBytes;
  std::uint64_t at = 0;
  if (bytes >= kLong) {
    move(0);
    at = step - reinterpret_cast<std::uintptr_t>(to) % step;
  }
  for (; at + step < bytes; at += step) move(at);
  move(bytes - step);
}

// Copies units of odd widths, side by side in the output: a move of a register each.
void CopyOdd(const Units& units) {
  const StridedNest& nest = units.nest;
  const std::uint64_t lines = (nest.extents[0] * units.bytes + kLineBytes - 1) / kLineBytes;
  ForEachPlace(nest, 1, [&](std::int64_t a, std::int64_t b) {
    const GatheredSegment row{
        .from = units.from + a, .step = nest.in[0], .count = nest.extents[0], .to = units.to + b};
    move_plainly(units.bytes, row, 0);
    if (units.fetched != nullptr) units.fetched->fetch(lines);
  });
}

void CopyUnits(const Units& units) {
  constexpr std::uint64_t kBlock = 16;
  const std::uint64_t bytes = units.bytes;
  constexpr std::uint64_t kLongRow = 16;
  const StridedNest& nest = units.nest;
  const bool is_odd = (bytes & (bytes - 1)) != 0 && bytes < 2 * kBlock;
  if (is_odd && nest.axes > 0 && nest.extents[0] >= kLongRow &&
      nest.out[0] == static_cast<std::int64_t>(bytes))
    return CopyOdd(units);
  if (bytes <= kBlock) return with_width(bytes, [&](auto width) { CopyRows(units, width); });
  if (bytes <= 2 * kBlock)
    return units.CopyEach([bytes](const std::byte* a, std::byte* b) { CopyEnds<kBlock>(a, b, bytes); });
  if (bytes <= kLineBytes)
    return units.CopyEach([bytes](const std::byte* a, std::byte* b) { CopyEnds<2 * kBlock>(a, b, bytes); });
  units.CopyEach([bytes](const std::byte* a, std::byte* b) { CopyLong(a, b, bytes); });
}
#endif

void CopyAll(const std::byte* from, std::byte* to, std::uint64_t bytes, const StridedNest& nest,
             RowTraffic* fetched) {
  CopyUnits({.from = from, .to = to, .bytes = bytes, .nest = nest, .fetched = fetched});
}

}  // namespace HWY_NAMESPACE
}  // namespace faro::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace faro::cpu {

HWY_EXPORT(CopyAll);

void copy_units(const std::byte* from, std::byte* to, std::uint64_t bytes, const StridedNest& nest,
                RowTraffic* fetched) {
  HWY_DYNAMIC_DISPATCH(CopyAll)(from, to, bytes, nest, fetched);
}

}  // namespace faro::cpu
#endif  // HWY_ONCE
