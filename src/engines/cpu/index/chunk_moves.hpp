// The inner loops of all that moves elements by 16-bit places, within a chunk that fits a cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "plan/cpu/cpu_workspace.hpp"

namespace faro::cpu {

using faro::detail::kStageBytes;

namespace chunk_moves {
inline constexpr std::size_t kAtOnce = 8;
inline constexpr std::uint64_t kBytesAhead = 1024;

struct Places {
  std::uint16_t at[kAtOnce];
};
inline Places load(const std::uint16_t* places) {
  Places result;
  std::memcpy(result.at, places, sizeof(result.at));
  return result;
}
}  // namespace chunk_moves

/// to[places[i]] = from[i].
template <typename Width>
void scatter_chunk(Width width, const std::byte* from, const std::uint16_t* places, std::uint64_t count,
                   std::byte* to) {
  using namespace chunk_moves;
  const std::uint64_t bytes = width.bytes();
  std::uint64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    const std::byte* const next = from + i * bytes;
    __builtin_prefetch(next + kBytesAhead);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(places + i) + kBytesAhead);
    const Places p = load(places + i);
    for (std::size_t k = 0; k < kAtOnce; ++k) width.move(next + k * bytes, to + p.at[k] * bytes);
  }
  for (; i < count; ++i) width.move(from + i * bytes, to + places[i] * bytes);
}

/// to[i] = from[places[i]].
template <typename Width>
void gather_chunk(Width width, const std::byte* from, const std::uint16_t* places, std::uint64_t count,
                  std::byte* to) {
  using namespace chunk_moves;
  const std::uint64_t bytes = width.bytes();
  std::uint64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    __builtin_prefetch(reinterpret_cast<const std::byte*>(places + i) + kBytesAhead);
    const Places p = load(places + i);
    for (std::size_t k = 0; k < kAtOnce; ++k) width.move(from + p.at[k] * bytes, to + (i + k) * bytes);
  }
  for (; i < count; ++i) width.move(from + places[i] * bytes, to + i * bytes);
}

/// Calls make(first, last, to) for parts of 0..count, where to is the place of element `first`: the output
/// itself, or where lines are streamed a stage of kStageBytes that is sent there.
template <typename Make>
void write_in_order(std::uint64_t count, std::uint64_t element_bytes, bool streamed, std::byte* stage,
                    std::byte* out, const Make& make) {
  if (!streamed) {
    make(std::uint64_t{0}, count, out);
    return;
  }
  const std::uint64_t step = std::max<std::uint64_t>(1, kStageBytes / element_bytes);
  for (std::uint64_t first = 0; first < count; first += step) {
    const std::uint64_t last = std::min(count, first + step);
    make(first, last, stage);
    copy_streamed(stage, out + first * element_bytes, (last - first) * element_bytes);
  }
}

}  // namespace faro::cpu
