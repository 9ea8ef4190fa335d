// The kernels that make a partition schedule (schedule/partition.hpp) on a device.
//
//     for each level     CountRuns        lengths of the runs of every chunk              reads the entries
//                        SumColumns,      lengths --> offsets: chunk by chunk within      reads the lengths
//                        ScanColumns        a region, a bucket a column
//                        SpreadEntries    places and starts; remainders to the next       reads the entries,
//                                           level's array, the last one's to `last`       writes 2 + 4 or 2 +
//                                           2
//     at the end         CheckLast        every chunk's places occur once                 reads 2
//
// Entries come from anywhere. They are in range, every bucket gets what it holds, and the last places of each
// chunk are distinct: the three together say that the array is a permutation. Whoever finds otherwise raises
// the fault, after which the kernels that follow do nothing; and no address depends on an entry unchecked,
// even if the array is changed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/device_block.hpp"
#include "engines/cuda/index_fault.hpp"

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
  /// Of a place within the region; the last bucket for what lies beyond.
  template <typename Entry>
  constexpr std::uint32_t bucket(Entry entry) const {
    const Entry high = entry >> bucket_bits;
    return high < buckets() ? static_cast<std::uint32_t>(high) : buckets() - 1;
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

/// Places, starts and remainders of a level, stable: in rounds of kRound entries, each warp ranks its own
/// stretch by matching, warps and rounds are summed, and the remainders leave in runs. kBits: at least
/// level.level_bits. Rest: 32 bits, or at the last level the 16 of the schedule's last pass.
///
///     value of an entry   bucket, remainder            slot of the round   runs of the round, bucket by
///     bucket place of the chunk = slot + what the bucket's run has of earlier rounds and other buckets
///     (`shift`) place of the bucket = place + offset of the run - its start
template <int kBits, typename Entry, typename Rest>
struct SpreadEntries {
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kThreads = kBits <= 9 ? 512 : 128;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kItems = sizeof(Entry) == sizeof(std::uint64_t) ? 8 : 16;
  static constexpr std::uint32_t kRound = kThreads * kItems;

  LevelShape level;
  const Entry* entries = nullptr;
  const std::uint32_t* offsets = nullptr;
  std::uint16_t* places = nullptr;
  std::uint16_t* starts = nullptr;
  Rest* rests = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return level.chunks(); }
  constexpr std::uint32_t shared_bytes() const {
    constexpr std::uint32_t kWord = sizeof(std::uint32_t);
    constexpr std::uint32_t kHalf = sizeof(std::uint16_t);
    constexpr std::uint32_t kExchange = kRound * sizeof(Entry);
    return kExchange + (4 * level.buckets() + kScanScratchWords) * kWord + kWarps * level.buckets() * kHalf;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    if (fault.raised()) return;
    const Shared shared(block.shared(), level.buckets());
    Entry value[kItems] = {};  // of the round: on their way while the round before is written
    load_round(block, 0, value);
    start_runs(block, shared);
    const std::uint32_t size = level.chunk_size(block.index());
    for (std::uint32_t first = 0; first < size; first += kRound) {
      spread_round(block, shared, first, size - first < kRound ? size - first : kRound, value);
    }
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      const std::uint32_t end = shared.to_bucket[b] + shared.filled[b];
      if (end != level.run_end(offsets, block.index(), b)) fault.raise(block);
    }
  }

 private:
  struct Shared {
    Entry* exchange;           // [kRound]
    std::uint32_t* filled;     // [buckets] place of the bucket's next entry
    std::uint32_t* to_bucket;  // [buckets] from a place of the chunk to one of the bucket, mod 2^32
    std::uint32_t* shift;      // [buckets] from a slot of the round to a place of the chunk, mod 2^32
    std::uint32_t* begin;      // [buckets] slot of the bucket's first entry of the round
    std::uint32_t* scratch;
    std::uint16_t* of_warp;  // [kWarps][buckets] entries so far; then slot of the warp's first

    constexpr Shared(std::byte* memory, std::uint32_t buckets)
        : exchange(reinterpret_cast<Entry*>(memory)),
          filled(reinterpret_cast<std::uint32_t*>(memory + kRound * sizeof(Entry))),
          to_bucket(filled + buckets),
          shift(to_bucket + buckets),
          begin(shift + buckets),
          scratch(begin + buckets),
          of_warp(reinterpret_cast<std::uint16_t*>(scratch + kScanScratchWords)) {}
  };

  template <Block B>
  constexpr void start_runs(B& block, const Shared& shared) const {
    const std::uint64_t chunk = block.index();
    const std::uint32_t* const own = offsets + chunk * level.buckets();
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      shared.filled[b] = level.run_end(offsets, chunk, b) - own[b];
    }
    exclusive_sums<kThreads>(block, shared.filled, level.buckets(), shared.scratch);
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      const std::uint32_t start = shared.filled[b];
      starts[chunk * level.buckets() + b] = static_cast<std::uint16_t>(start);
      shared.to_bucket[b] = own[b] - start;
    }
  }

  // Each warp takes a stretch of the round, in order.
  template <Block B>
  constexpr void load_round(B& block, std::uint32_t first, Entry (&value)[kItems]) const {
    const std::uint32_t stretch = block.thread() / kWarpLanes * kWarpLanes * kItems;
    const std::uint32_t size = level.chunk_size(block.index());
    const Entry* const from = entries + (block.index() << level.chunk_bits);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      const std::uint32_t i = first + stretch + k * kWarpLanes + lane_of(block);
      if (i < size) value[k] = from[i];
    }
  }

  template <Block B>
  constexpr void spread_round(B& block, const Shared& shared, std::uint32_t first, std::uint32_t size,
                              Entry (&value)[kItems]) const {
    const std::uint32_t warp = block.thread() / kWarpLanes;
    const std::uint32_t lane = lane_of(block);
    const std::uint32_t stretch = warp * kWarpLanes * kItems;
    std::uint16_t* const own = shared.of_warp + warp * level.buckets();
    std::uint32_t ranks[kItems / 2] = {};  // two of 16 bits: among the warp's entries of the bucket

    for (std::uint32_t b = lane; b < level.buckets(); b += kWarpLanes) own[b] = 0;
    block.warp_barrier();
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      const std::uint32_t i = stretch + k * kWarpLanes;
      if (i >= size) continue;  // all lanes of the warp alike
      const bool active = i + lane < size;
      const std::uint32_t lanes = size == kRound ? kAllLanes : block.ballot(active);
      const std::uint32_t b = level.bucket(value[k]);
      const std::uint32_t peers = lanes_with<kBits>(block, b, lanes);
      const std::uint32_t before = block.count_ones(peers & ((std::uint32_t{1} << lane) - 1));
      const std::uint32_t earlier = own[b];
      ranks[k / 2] |= (earlier + before) << 16 * (k % 2);
      block.warp_barrier();
      if (active && before == 0) own[b] = static_cast<std::uint16_t>(earlier + block.count_ones(peers));
      block.warp_barrier();
    }
    block.barrier();
    give_slots(block, shared);

    const std::uint64_t base = (block.index() << level.chunk_bits) + first;
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      const std::uint32_t i = stretch + k * kWarpLanes + lane;
      if (i >= size) continue;
      const std::uint32_t b = level.bucket(value[k]);
      const std::uint32_t slot = own[b] + (ranks[k / 2] >> 16 * (k % 2) & 0xffff);
      places[base + i] = static_cast<std::uint16_t>(slot + shared.shift[b]);
      shared.exchange[slot] = value[k];
    }
    block.barrier();
    load_round(block, first + kRound, value);
    write_round(block, shared, size);
  }

  // From entries of each warp and bucket to the slots where they begin.
  template <Block B>
  constexpr void give_slots(B& block, const Shared& shared) const {
    const std::uint32_t buckets = level.buckets();
    for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
      std::uint32_t sum = 0;
      for (std::uint32_t w = 0; w < kWarps; ++w) sum += shared.of_warp[w * buckets + b];
      shared.begin[b] = sum;
    }
    exclusive_sums<kThreads>(block, shared.begin, buckets, shared.scratch);
    for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
      std::uint32_t slot = shared.begin[b];
      shared.shift[b] = shared.filled[b] - slot;
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        const std::uint32_t entries_of_warp = shared.of_warp[w * buckets + b];
        shared.of_warp[w * buckets + b] = static_cast<std::uint16_t>(slot);
        slot += entries_of_warp;
      }
      shared.filled[b] = shared.shift[b] + slot;
    }
    block.barrier();
  }

  // The round's remainders, run by run. What is read here is written again only behind the next round's
  // barriers.
  template <Block B>
  constexpr void write_round(B& block, const Shared& shared, std::uint32_t size) const {
    constexpr std::uint32_t kBatch = 8;  // on their way at a time
    const std::uint64_t region = level.region_of(block.index());
    const Entry low = (Entry{1} << level.bucket_bits) - 1;
    for (std::uint32_t first = block.thread(); first < size; first += kBatch * kThreads) {
      Entry moved[kBatch] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kBatch; ++k) {
        if (first + k * kThreads < size) moved[k] = shared.exchange[first + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kBatch; ++k) {
        const std::uint32_t slot = first + k * kThreads;
        if (slot >= size) continue;
        const std::uint32_t b = level.bucket(moved[k]);
        const std::uint32_t in_bucket = slot + shared.shift[b] + shared.to_bucket[b];
        const std::uint64_t to = region + (std::uint64_t{b} << level.bucket_bits) + in_bucket;
        if (to < level.count) rests[to] = static_cast<Rest>(moved[k] & low);
      }
    }
  }
};

/// Of an array that is one chunk: the entries are the places.
template <typename Entry>
struct NarrowEntries {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 1;

  std::uint64_t count = 0;
  const Entry* entries = nullptr;
  std::uint64_t limit = 0;
  std::uint16_t* last = nullptr;
  Fault fault;

  constexpr std::uint64_t blocks() const { return (count + kThreads - 1) / kThreads; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t i = block.index() * kThreads + block.thread();
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
