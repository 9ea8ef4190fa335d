// The kernels that make a partition schedule (schedule/index_schedule.hpp) on a device.
//
//     for each level     CountRuns        lengths of the runs of every chunk           reads the entries
//                        SumColumns,      lengths --> offsets: chunk by chunk within   reads the lengths
//                        ScanColumns        a region, a bucket a column
//                        SpreadEntries    places and starts; remainders to the next    reads the entries,
//                                           level's array, the last one's to `last`    writes 2 + 4 or 2 + 2
//     at the end         CheckLast        every chunk's places occur once              reads 2
//
// Entries come from anywhere. They are in range, every bucket gets what it holds, and the last places of each
// chunk are distinct: the three together say that the array is a permutation. Whoever finds otherwise raises
// the fault, after which the kernels that follow do nothing; and no address depends on an entry unchecked,
// even if the array is changed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_fault.hpp"
#include "engines/cuda/kernels/device_block.hpp"

namespace faro::cuda {

/// A level of a PartitionShape. Buckets are 2^bucket_bits places, regions 2^level_bits buckets.
struct LevelShape {
  std::uint64_t count = 0;
  std::int32_t chunk_bits = 0;
  std::int32_t bucket_bits = 0;
  std::int32_t level_bits = 0;

  constexpr std::uint64_t chunks() const {
    return (count + (std::uint64_t{1} << chunk_bits) - 1) >> chunk_bits;
  }
  constexpr std::uint32_t buckets() const { return std::uint32_t{1} << level_bits; }
  constexpr std::int32_t region_bits() const { return bucket_bits + level_bits; }
  constexpr std::uint32_t chunk_size(std::uint64_t chunk) const {
    const std::uint64_t left = count - (chunk << chunk_bits);
    const std::uint64_t whole = std::uint64_t{1} << chunk_bits;
    return static_cast<std::uint32_t>(left < whole ? left : whole);
  }
  constexpr std::uint64_t region_of(std::uint64_t chunk) const {
    return chunk << chunk_bits >> region_bits() << region_bits();
  }
  /// Places of the bucket that the array has.
  constexpr std::uint32_t bucket_size(std::uint64_t region, std::uint32_t bucket) const {
    const std::uint64_t first = region + (std::uint64_t{bucket} << bucket_bits);
    const std::uint64_t whole = std::uint64_t{1} << bucket_bits;
    if (first >= count) return 0;
    return static_cast<std::uint32_t>(count - first < whole ? count - first : whole);
  }
  /// Where in its bucket a chunk's run must end: where the next chunk's begins.
  constexpr std::uint32_t run_end(const std::uint32_t* offsets, std::uint64_t chunk,
                                  std::uint32_t bucket) const {
    const std::uint64_t next = chunk + 1;
    if (next < chunks() && region_of(next) == region_of(chunk)) return offsets[next * buckets() + bucket];
    return bucket_size(region_of(chunk), bucket);
  }
  /// The bucket of a place within the region; the last bucket for what lies beyond.
  template <typename Entry>
  constexpr std::uint32_t bucket(Entry entry) const {
    const Entry high = entry >> bucket_bits;
    const std::uint32_t last = buckets() - 1;
    return high < last ? static_cast<std::uint32_t>(high) : last;
  }
};

/// A block a chunk: lengths[chunk x buckets + b] = entries of the chunk in bucket b.
template <typename Entry>
struct CountRuns {
  static constexpr std::uint32_t kThreads = 512;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kLoads = 8;  // in flight, a thread

  LevelShape level;
  const Entry* entries = nullptr;
  std::uint64_t limit = 0;  // entries are below it
  std::uint32_t* lengths = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return level.chunks(); }
  constexpr std::uint32_t shared_bytes() const { return 4 * level.buckets(); }

  template <Block B>
  constexpr void operator()(B& block) const {
    if (fault.raised()) return;
    auto* const counts = reinterpret_cast<std::uint32_t*>(block.shared());
    const std::uint32_t thread = block.thread();
    for (std::uint32_t b = thread; b < level.buckets(); b += kThreads) counts[b] = 0;
    block.barrier();
    const Entry* const from = entries + (block.index() << level.chunk_bits);
    const std::uint32_t size = level.chunk_size(block.index());
    bool in_range = true;
    for (std::uint32_t first = thread; first < size; first += kLoads * kThreads) {
      Entry loaded[kLoads] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        if (first + k * kThreads < size) loaded[k] = from[first + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        if (first + k * kThreads >= size) continue;
        in_range = in_range && loaded[k] < limit;
        block.atomic_add(counts + level.bucket(loaded[k]), 1U);
      }
    }
    if (!in_range) fault.raise(block);
    block.barrier();
    std::uint32_t* const to = lengths + block.index() * level.buckets();
    for (std::uint32_t b = thread; b < level.buckets(); b += kThreads) to[b] = counts[b];
  }
};

/// For an array that is one chunk: the entries are the places.
template <typename Entry>
struct NarrowEntries : PlainKernel<> {
  std::uint64_t count = 0;
  const Entry* entries = nullptr;
  std::uint64_t limit = 0;
  std::uint16_t* last = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return blocks_of(count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t i = thread_of(block);
    if (i >= count) return;
    const Entry entry = entries[i];
    if (entry >= limit) fault.raise(block);
    last[i] = static_cast<std::uint16_t>(entry);
  }
};

/// A block a chunk: its places in the last pass must each occur once.
struct CheckLast {
  static constexpr std::uint32_t kThreads = 512;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kLoads = 8;
  static constexpr std::uint32_t kWordBits = 32;

  LevelShape level;  // count and chunk_bits
  const std::uint16_t* last = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return level.chunks(); }
  constexpr std::uint32_t words() const {
    return ((std::uint32_t{1} << level.chunk_bits) + kWordBits - 1) / kWordBits;
  }
  constexpr std::uint32_t shared_bytes() const { return 4 * words(); }

  template <Block B>
  constexpr void operator()(B& block) const {
    if (fault.raised()) return;
    auto* const seen = reinterpret_cast<std::uint32_t*>(block.shared());
    for (std::uint32_t w = block.thread(); w < words(); w += kThreads) seen[w] = 0;
    block.barrier();
    const std::uint16_t* const from = last + (block.index() << level.chunk_bits);
    const std::uint32_t size = level.chunk_size(block.index());
    bool fine = true;
    for (std::uint32_t first = block.thread(); first < size; first += kLoads * kThreads) {
      std::uint32_t loaded[kLoads] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        if (first + k * kThreads < size) loaded[k] = from[first + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kLoads; ++k) {
        if (first + k * kThreads >= size) continue;
        const std::uint32_t place = loaded[k];
        if (place >= size) {
          fine = false;
          continue;
        }
        const std::uint32_t bit = std::uint32_t{1} << place % kWordBits;
        fine = (block.atomic_or(seen + place / kWordBits, bit) & bit) == 0 && fine;
      }
    }
    if (!fine) fault.raise(block);
  }
};

}  // namespace faro::cuda
