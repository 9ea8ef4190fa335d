// Any permutation in a few passes that read and write long runs: the elements are partitioned by the high
// bits of where they go, then by the next bits, until what is left fits on chip.
//
//     N = 16, chunks of 4, one level of 2 bits:    targets  9 2 14 5 | 0 8 3 13 | 7 12 1 10 | 15 4 11 6
//
//     chunk 0, targets 9 2 14 5, buckets 2 0 3 1   places 2 0 3 1   runs: one element to each bucket
//     …
//     after the level, bucket by bucket            2 0 3 1 | 5 7 4 6 | 9 8 10 11 | 14 13 12 15
//     the last pass places within chunks           0 1 2 3 | 4 5 6 7 | 8 9 10 11 | 12 13 14 15
//
// A *chunk* is 2^chunk_bits consecutive elements, what one block holds at a time; only the array's last one
// may be short. A *level* is a partition pass. At level l a *region* is 2^region_bits(l) consecutive places,
// whole chunks (the whole array at level 0), and its *buckets* are the regions of level l + 1; the last
// level's buckets are chunks. Because the map is a permutation, bucket b of a region holds exactly its own
// places: no table says where buckets begin, only where in the bucket a chunk's run does.
//
//     level l      chunk k: element i of the chunk goes to place places[i] of the chunk, stable by bucket;
//                  places starts[b] .. starts[b + 1] - 1 are bucket b's run, copied to
//                  region + (b << region_bits(l + 1)) + offsets[b] onwards
//     last pass    element i of the chunk goes to place last[i] of the chunk
//
// Run forwards this is scatter by the array it was made from; run backwards, each pass undone, it is gather
// by it. It says nothing of element widths. Its size: 2 bytes an element a pass, and 6 a run.
//
// Passes: 1 + levels. With runs of 2^r elements a level takes chunk_bits - r bits of the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "faro/permutation/indexed.hpp"

namespace faro::schedule {

inline constexpr int kMaxChunkBits = 15;      // a start may be the chunk's size, and is 16 bits wide
inline constexpr int kMaxSoleChunkBits = 16;  // without levels there are only places
inline constexpr int kMaxLevelBits = 12;

struct PartitionShape {
  std::uint64_t count = 0;
  int chunk_bits = 14;
  std::vector<int> level_bits;  // first level first; empty: the array is one chunk

  int levels() const { return static_cast<int>(level_bits.size()); }
  std::uint64_t chunk_elements() const { return std::uint64_t{1} << chunk_bits; }
  std::uint64_t chunks() const { return (count + chunk_elements() - 1) >> chunk_bits; }
  /// Of chunk k: chunk_elements(), or what is left.
  std::uint64_t chunk_size(std::uint64_t chunk) const;
  std::uint32_t buckets(int level) const {
    return std::uint32_t{1} << level_bits[static_cast<std::size_t>(level)];
  }
  /// Bits of a place within a region of `level`; region_bits(levels()) is chunk_bits.
  int region_bits(int level) const;
  /// Bytes of the schedule: places, starts and offsets.
  std::uint64_t bytes() const;

  friend bool operator==(const PartitionShape&, const PartitionShape&) = default;
};

/// Whether the shape can hold a schedule: chunk_bits in 1..kMaxChunkBits (1..kMaxSoleChunkBits without
/// levels), levels of 1..kMaxLevelBits bits that reach the count, buckets of at most 2^31 places, so that
/// offsets have 32 bits. Errors: ErrorCode::value naming the number.
void check_shape(const PartitionShape& shape);

/// The levels that cover `count` elements, as few and as equal as possible, each of at most `most_bits`, the
/// larger first. Of 2^30, chunks of 2^14 and 8 bits: 8 8. Errors: ErrorCode::value for `most_bits` outside
/// 1..kMaxLevelBits.
std::vector<int> even_levels(std::uint64_t count, int chunk_bits, int most_bits);

struct PartitionLevel {
  std::vector<std::uint16_t> places;   // count
  std::vector<std::uint16_t> starts;   // chunks x buckets; the end of the last run is the chunk's size
  std::vector<std::uint32_t> offsets;  // chunks x buckets, within the bucket
};

struct PartitionSchedule {
  PartitionShape shape;
  std::vector<PartitionLevel> levels;
  std::vector<std::uint16_t> last;  // count
};

/// Law:    run forwards it takes element i to entry(i) of `indexed`, whatever its direction. Runs are in the
///         order of the source, so the schedule is the only one of its shape: the CUDA engine makes the same,
///         byte for byte.
/// Errors: ErrorCode::value for an array on a device, a count that is not the shape's, and too little memory,
///         saying how much it takes.
/// Cost:   two sweeps a level by `threads` threads (0: what OpenMP would use). Memory beside the schedule: 4
///         bytes an element with two levels, 8 with more, and 6 bytes x chunk for each thread.
PartitionSchedule partition_schedule(const Indexed& indexed, const PartitionShape& shape, int threads = 0);

/// Whether a schedule from anywhere does what the page above says: places are permutations of their chunks,
/// runs follow one another in their buckets, in the order of the chunks, and fill them. What passes is safe
/// to run and is a permutation. The order inside a run is free. Errors: ErrorCode::value naming pass, chunk
/// and entry.   Cost: a sweep of it, all threads.
void check_schedule(const PartitionSchedule& schedule, int threads = 0);

/// The array whose scatter it is, by running it on 0 .. N - 1. Requires: a checked schedule.
std::vector<std::uint64_t> entries_of(const PartitionSchedule& schedule);

}  // namespace faro::schedule
