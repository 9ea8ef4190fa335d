// Moving bytes in order, past the caches or through them, on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/tile/program.hpp"

namespace faro::cpu {

/// Copies with stores that bypass the caches. Any size and alignment: the ends that are no whole cache lines
/// of the target are copied plainly. Requires: no overlap (unchecked).
void copy_streamed(const std::byte* from, std::byte* to, std::uint64_t bytes);

/// Copies as std::memcpy, but at any distance of the two: where the target's place in its page is up to a
/// line past the source's, as in a short roll, the processor's own string instruction, which std::memcpy
/// trusts, takes each store for one that the next load waits for: 3 GB/s from and to the caches where 40 to
/// 90 are usual (EPYC, Zen 4). Requires: no overlap (unchecked).
void copy_cached(const std::byte* from, std::byte* to, std::uint64_t bytes);

/// The one or the other.
inline void copy_bytes(const std::byte* from, std::byte* to, std::uint64_t bytes, bool streamed) {
  streamed ? copy_streamed(from, to, bytes) : copy_cached(from, to, bytes);
}

/// Streams the segments of some consecutive blocks to their places. Lines some way ahead are fetched
/// meanwhile.
struct SegmentMove {
  std::uint64_t segment_bytes = 0;  // a multiple of 64
  TileCursor source;
  TileCursor target;
  TileCursor ahead;               // a source further on than `source`
  std::uint64_t count = 0;        // segments to move
  std::uint64_t count_ahead = 0;  // segments to fetch; `ahead` may be followed this far
};
/// Requires: `to` aligned to 64 bytes (unchecked).
void move_segments(SegmentMove move, const std::byte* from, std::byte* to);

/// Makes streamed stores of this thread visible to others before what follows.
void finish_streams();

}  // namespace faro::cpu
