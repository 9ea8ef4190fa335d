// Elements that are equally far apart in the input, moved side by side into the output without vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engines/cpu/element_width.hpp"

namespace faro::cpu {

// Elements that are equally far apart, from the first one's place on.
struct GatheredSegment {
  const std::byte* from = nullptr;
  std::int64_t step = 0;
  std::uint64_t count = 0;
  std::byte* to = nullptr;

  const std::byte* element(std::uint64_t i) const { return from + static_cast<std::int64_t>(i) * step; }
};

template <typename Width>
void move_one_by_one(Width width, const GatheredSegment& segment, std::uint64_t first) {
  for (std::uint64_t i = first; i < segment.count; ++i)
    width.move(segment.element(i), segment.to + i * width.bytes());
}

// Elements of more than half of `kWide` bytes, a move of so many for each: what follows an element in the
// input is of the array too but behind the highest, and in the output the next move overwrites it.
template <std::size_t kWide>
void move_by_wider(std::uint64_t width, const GatheredSegment& segment) {
  const AnyWidth exactly{width};
  std::uint64_t i = 0;
  if (segment.step < 0) {
    exactly.move(segment.from, segment.to);
    ++i;
  }
  for (; i + 1 < segment.count; ++i) {
    std::byte moved[kWide];
    std::memcpy(moved, segment.element(i), kWide);
    std::memcpy(segment.to + i * width, moved, kWide);
  }
  for (; i < segment.count; ++i) exactly.move(segment.element(i), segment.to + i * width);
}

// Moves a segment of any width.
inline void move_plainly(std::uint64_t bytes, const GatheredSegment& segment, std::uint64_t first) {
  constexpr std::uint64_t kHalf = 4;
  constexpr std::uint64_t kWord = 8;
  constexpr std::uint64_t kVector = 16;
  constexpr std::uint64_t kTwo = 32;
  const bool odd = (bytes & (bytes - 1)) != 0 && bytes < kTwo && first == 0 &&
                   static_cast<std::uint64_t>(std::abs(segment.step)) >= bytes;
  if (!odd) return with_width(bytes, [&](auto width) { move_one_by_one(width, segment, first); });
  if (bytes < kHalf) return move_by_wider<kHalf>(bytes, segment);
  if (bytes < kWord) return move_by_wider<kWord>(bytes, segment);
  if (bytes < kVector) return move_by_wider<kVector>(bytes, segment);
  move_by_wider<kTwo>(bytes, segment);
}

}  // namespace faro::cpu
