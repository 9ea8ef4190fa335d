// The kernels of a stable partition of items by key, for routing and for sums in a fixed order.
//
//     keys 2 0 2 1 0      CountDigits     a chunk's items of each bucket         2 0 2 | 1 0  -->  1 0 2 | 1 1 0
//                         SumColumns,     how many came before in the bucket,               -->  0 0 0 | 1 0 2
//                           ScanColumns     and how many there are                          -->  2 1 2
//                         BeginBuckets    where buckets begin, padded and capped            -->  0 2 3 5
//                         PlaceItems      where each item goes, and what is there
//                      or SpreadPairs     the items in that order, with their keys
//
// A block has a chunk of items, in rounds; each warp has a stretch of a round, and ranks it by matching, in
// order. So whatever the timing of blocks, the result is one. Keys with more buckets than a block can count
// are partitioned by their digits, the lowest first (SpreadPairs); what was dropped the first time, because
// its key names no bucket, is not there any more, so that how many there are is known on the device alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "faro/device/division.hpp"
#include "kernels/row_entries.hpp"
#include "plan/row_partition.hpp"

namespace faro::cuda {

/// How items are cut into chunks, and keys into digits.
struct PartitionGrid {
  std::uint64_t items = 0;   // at most
  std::uint32_t rounds = 1;  // of a chunk
  std::int32_t shift = 0;    // of the digit in a key
  std::int32_t bits = 8;     // of the digit
  /// How many items there are, unless null.
  const std::uint64_t* present = nullptr;
  std::uint32_t round_items = kRound;  // other ones for SpreadBins

  static constexpr std::uint32_t kThreads = faro::detail::kPartitionThreads;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kRound = faro::detail::kPartitionRound;
  static constexpr std::uint32_t kItems = kRound / kThreads;  // of a thread, in a round

  constexpr std::uint32_t buckets() const { return std::uint32_t{1} << bits; }
  constexpr std::uint64_t chunk_items() const { return std::uint64_t{rounds} * round_items; }
  constexpr std::uint64_t chunks() const { return (items + chunk_items() - 1) / chunk_items(); }
  constexpr std::uint64_t count() const { return present == nullptr ? items : *present; }
  constexpr std::uint32_t digit(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> shift) & (buckets() - 1);
  }
};

/// A key of 32 bits and an item in a word: the key, and above it the item.
inline constexpr std::uint64_t kNoPair = ~std::uint64_t{0};
constexpr std::uint64_t pair_of(std::uint32_t key, std::uint32_t item) {
  return std::uint64_t{item} << 32 | key;
}
constexpr std::uint32_t key_of_pair(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }
constexpr std::uint32_t item_of_pair(std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32); }

/// Items as a user's keys number them: item i has key i, or goes nowhere.
struct KeyedEntries {
  kernels::RowEntries entries;
  kernels::RowFaults* faults = nullptr;

  constexpr std::uint64_t item(std::uint64_t i) const { return i; }
  /// Keys of items first, first + step, …, kAbsentRow from `end` on.
  template <std::uint32_t kNumber>
  constexpr void load_keys(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                           std::uint64_t (&key)[kNumber]) const {
    entries.load_rows(first, step, end, key);
  }
};

/// The same with what lies there in place of the item's number: rows of at most a word.
template <typename Word>
struct KeyedValues {
  kernels::RowEntries entries;
  kernels::RowFaults* faults = nullptr;
  const std::byte* rows = nullptr;
  std::int32_t bytes = 4;  // of a row: 1, 2, 4 or 8, which it is aligned to

  constexpr Word item(std::uint64_t i) const {
    if (bytes == 1) return reinterpret_cast<const std::uint8_t*>(rows)[i];
    if (bytes == 2) return reinterpret_cast<const std::uint16_t*>(rows)[i];
    if (bytes == 4) return reinterpret_cast<const std::uint32_t*>(rows)[i];
    return static_cast<Word>(reinterpret_cast<const std::uint64_t*>(rows)[i]);
  }
  template <std::uint32_t kNumber>
  constexpr void load_keys(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                           std::uint64_t (&key)[kNumber]) const {
    entries.load_rows(first, step, end, key);
  }
  /// Pairs of the same, kNoPair of what goes nowhere.
  template <std::uint32_t kNumber>
  constexpr void load_pairs(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                            std::uint64_t (&pair)[kNumber]) const {
    load_keys(first, step, end, pair);
    if (bytes == 1) return join_values<std::uint8_t>(first, step, end, pair);
    if (bytes == 2) return join_values<std::uint16_t>(first, step, end, pair);
    join_values<std::uint32_t>(first, step, end, pair);
  }

 private:
  template <typename Value, std::uint32_t kNumber>
  constexpr void join_values(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                             std::uint64_t (&pair)[kNumber]) const {
    const auto* const values = reinterpret_cast<const Value*>(rows);
    Value value[kNumber] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      const std::uint64_t i = first + k * step;
      if (i < end) value[k] = values[i];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k)
      pair[k] = kernels::is_row(pair[k]) ? pair_of(static_cast<std::uint32_t>(pair[k]), value[k]) : kNoPair;
  }
};

/// Items that were partitioned before, with their keys.
template <typename Word>
struct KeyedPairs {
  const Word* keys = nullptr;
  const Word* items = nullptr;
  static constexpr kernels::RowFaults* faults = nullptr;

  constexpr std::uint64_t item(std::uint64_t i) const { return items[i]; }
  template <std::uint32_t kNumber>
  constexpr void load_keys(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                           std::uint64_t (&key)[kNumber]) const {
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      const std::uint64_t i = first + k * step;
      key[k] = i < end ? keys[i] : kernels::kAbsentRow;
    }
  }
};

/// The same in one array.
struct PackedPairs {
  const std::uint64_t* pairs = nullptr;
  static constexpr kernels::RowFaults* faults = nullptr;

  template <std::uint32_t kNumber>
  constexpr void load_pairs(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                            std::uint64_t (&pair)[kNumber]) const {
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      const std::uint64_t i = first + k * step;
      pair[k] = i < end ? pairs[i] : kNoPair;
    }
  }
  template <std::uint32_t kNumber>
  constexpr void load_keys(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                           std::uint64_t (&key)[kNumber]) const {
    load_pairs(first, step, end, key);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k)
      key[k] = key[k] == kNoPair ? kernels::kAbsentRow : key_of_pair(key[k]);
  }
};

/// counts[chunk][bucket], and whether every key is right.
template <typename Source, typename Word>
struct CountDigits {
  static constexpr std::uint32_t kThreads = PartitionGrid::kThreads;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kAhead = 4;  // keys on their way

  PartitionGrid grid;
  Source source;
  Word* counts = nullptr;

  constexpr std::uint64_t blocks() const { return grid.chunks(); }
  constexpr std::uint32_t shared_bytes() const { return 4 * grid.buckets(); }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const own = reinterpret_cast<std::uint32_t*>(block.shared());
    for (std::uint32_t b = block.thread(); b < grid.buckets(); b += kThreads) own[b] = 0;
    block.barrier();
    const std::uint64_t first = block.index() * grid.chunk_items();
    const std::uint64_t all = grid.count();
    const std::uint64_t end = first + grid.chunk_items() < all ? first + grid.chunk_items() : all;
    for (std::uint64_t i = first + block.thread(); i < end; i += std::uint64_t{kAhead} * kThreads) {
      std::uint64_t key[kAhead] = {};
      source.load_keys(i, kThreads, end, key);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (kernels::is_row(key[k])) {
          block.atomic_add(own + grid.digit(key[k]), 1U);
        } else if (key[k] == kernels::kWrongRow && source.faults != nullptr) {
          kernels::note_fault(block, &source.faults->out_of_range, i + std::uint64_t{k} * kThreads);
        }
      }
    }
    block.barrier();
    Word* const to = counts + block.index() * grid.buckets();
    for (std::uint32_t b = block.thread(); b < grid.buckets(); b += kThreads) to[b] = own[b];
  }
};

/// What a bucket takes of its items, and the places of that.
struct BucketRule {
  std::uint64_t capacity = ~std::uint64_t{0};
  device::Division64 multiple;

  constexpr std::uint64_t kept(std::uint64_t items) const { return items < capacity ? items : capacity; }
  constexpr std::uint64_t places(std::uint64_t items) const {
    return multiple.quotient(kept(items) + multiple.divisor() - 1) * multiple.divisor();
  }
};

/// Where buckets begin. One block, whatever their number; a power of two of them, of which `named` have a
/// name. The sums are kept in 64 bits. Counts of a few chunks it sums up itself, as ScanColumns does those of
/// many.
template <typename Word>
struct BeginBuckets {
  static constexpr std::uint32_t kThreads = 1024;
  static constexpr int kMinBlocks = 1;

  static constexpr std::uint64_t kMostChunks = 64;
  static constexpr std::uint32_t kAhead = 128 / sizeof(Word);  // counts on their way

  std::uint32_t buckets = 0;
  std::uint64_t named = 0;
  std::uint64_t chunks = 0;  // whose counts are summed up here
  Word* counted = nullptr;   // [chunks][buckets]
  Word* totals = nullptr;    // [buckets]
  BucketRule rule;
  std::uint64_t* begins = nullptr;   // [buckets + 1]
  std::uint64_t* present = nullptr;  // items that are in a bucket, unless null
  std::int64_t* offsets = nullptr;   // [named + 1], unless null
  std::int64_t* counts = nullptr;    // [named], unless null

  constexpr std::uint64_t blocks() const { return 1; }
  constexpr std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(std::uint64_t{kThreads + 1} * 2 * sizeof(std::uint64_t));
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const places_of = reinterpret_cast<std::uint64_t*>(block.shared());  // [kThreads + 1]
    std::uint64_t* const items_of = places_of + kThreads + 1;
    const std::uint32_t each = (buckets + kThreads - 1) / kThreads;
    const std::uint32_t begin = block.thread() * each < buckets ? block.thread() * each : buckets;
    const std::uint32_t end = begin + each < buckets ? begin + each : buckets;
    std::uint64_t places = 0;
    std::uint64_t items = 0;
    for (std::uint32_t b = begin; b < end; ++b) {
      if (chunks > 0) sum_chunks(b);
      places += rule.places(totals[b]);
      items += rule.kept(totals[b]);
    }
    places_of[block.thread()] = places;
    items_of[block.thread()] = items;
    block.barrier();
    // Sums of those up to a thread, in steps of 1, 2, 4, …
    for (std::uint32_t step = 1; step < kThreads; step *= 2) {
      const bool adds = block.thread() >= step;
      const std::uint64_t more_places = adds ? places_of[block.thread() - step] : 0;
      const std::uint64_t more_items = adds ? items_of[block.thread() - step] : 0;
      block.barrier();
      places_of[block.thread()] += more_places;
      items_of[block.thread()] += more_items;
      block.barrier();
    }
    std::uint64_t at = places_of[block.thread()] - places;
    for (std::uint32_t b = begin; b < end; ++b) {
      begins[b] = at;
      if (b < named && offsets != nullptr) offsets[b] = static_cast<std::int64_t>(at);
      if (b < named && counts != nullptr) counts[b] = static_cast<std::int64_t>(rule.kept(totals[b]));
      at += rule.places(totals[b]);
    }
    if (block.thread() != kThreads - 1) return;
    begins[buckets] = at;
    if (offsets != nullptr) offsets[named] = static_cast<std::int64_t>(at);
    if (present != nullptr) *present = items_of[kThreads - 1];
  }

 private:
  // Counts of chunks become those of the chunks before.
  constexpr void sum_chunks(std::uint32_t b) const {
    Word sum = 0;
    for (std::uint64_t first = 0; first < chunks; first += kAhead) {
      Word count[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k < chunks) count[k] = counted[(first + k) * buckets + b];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (first + k < chunks) counted[(first + k) * buckets + b] = sum;
        sum += count[k];
      }
    }
    totals[b] = sum;
  }
};

/// The ranks of a round's items within their buckets, in order. `next`: [kWarps][buckets] of shared memory.
///
///     every warp counts its stretch     next[w][b] = items of bucket b
///     a thread a bucket                 next[w][b] = running[b] + those of warps below; running[b] moves on
///     every warp ranks its stretch      32 items at a time; next[w][b] moves on
template <int kBits>
struct RankRound {
  static constexpr std::uint32_t kItems = PartitionGrid::kItems;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Items of a thread lie a warp apart. `digit`: kNone of what is not there. `rank`: within the bucket, from
  /// running[b] on. Begins with a barrier; `running` may be read after the next one.
  template <Block B, typename Word, typename Started>
  static constexpr void give(B& block, std::uint32_t buckets, std::uint32_t* all_next, Word* running,
                             const std::uint32_t (&digit)[kItems], std::uint32_t (&rank)[kItems],
                             const Started& started) {
    constexpr std::uint32_t kThreads = PartitionGrid::kThreads;
    constexpr std::uint32_t kWarps = PartitionGrid::kWarps;
    const std::uint32_t lane = lane_of(block);
    std::uint32_t* const next = all_next + block.thread() / kWarpLanes * buckets;
    for (std::uint32_t b = lane; b < buckets; b += kWarpLanes) next[b] = 0;
    block.warp_barrier();
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      if (digit[k] != kNone) block.atomic_add(next + digit[k], 1U);
    }
    block.barrier();
    for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
      std::uint32_t sum = 0;
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        const std::uint32_t items = all_next[w * buckets + b];
        all_next[w * buckets + b] = sum;
        sum += items;
      }
      started(b, running[b], sum);
      running[b] += static_cast<Word>(sum);
    }
    block.barrier();
    const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      const bool active = digit[k] != kNone;
      const std::uint32_t lanes = block.ballot(active);
      const std::uint32_t peers = lanes_with<kBits>(block, active ? digit[k] : 0, lanes);
      const std::uint32_t own = active ? next[digit[k]] : 0;
      block.warp_barrier();
      rank[k] = own + block.count_ones(peers & below);
      if (active && peers >> lane == 1) next[digit[k]] = rank[k] + 1;  // the last of its bucket
      block.warp_barrier();
    }
  }

  /// Where the round that begins at `first` begins for this thread.
  template <Block B>
  static constexpr std::uint64_t first_of(B& block, std::uint64_t first) {
    return first + block.thread() / kWarpLanes * kWarpLanes * kItems + lane_of(block);
  }
};

/// The items and their keys in the order of a digit. They leave in runs, through shared memory.
template <int kBits, typename Source, typename Word>
struct SpreadPairs {
  static constexpr std::uint32_t kThreads = PartitionGrid::kThreads;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint32_t kItems = PartitionGrid::kItems;
  static constexpr std::uint32_t kRound = PartitionGrid::kRound;

  PartitionGrid grid;
  Source source;
  const Word* before = nullptr;           // [chunks][buckets]
  const std::uint64_t* begins = nullptr;  // [buckets + 1]
  Word* keys = nullptr;
  Word* items = nullptr;

  constexpr std::uint64_t blocks() const { return grid.chunks(); }
  constexpr std::uint32_t shared_bytes() const {
    constexpr std::uint32_t kWord = sizeof(Word);
    return grid.buckets() * (16 + 4 * (PartitionGrid::kWarps + 1)) + kRound * 2 * kWord +
           kScanScratchWords * 4;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint32_t buckets = grid.buckets();
    auto* const running = reinterpret_cast<std::uint64_t*>(block.shared());  // places in the result
    std::uint64_t* const from_slot = running + buckets;                      // a round's slot to there
    auto* const kept_keys = reinterpret_cast<Word*>(from_slot + buckets);
    Word* const kept_items = kept_keys + kRound;
    auto* const slots = reinterpret_cast<std::uint32_t*>(kept_items + kRound);  // where buckets begin
    std::uint32_t* const next = slots + buckets;
    std::uint32_t* const scratch = next + std::uint64_t{PartitionGrid::kWarps} * buckets;
    for (std::uint32_t b = block.thread(); b < buckets; b += kThreads)
      running[b] = begins[b] + before[block.index() * buckets + b];
    block.barrier();
    const std::uint64_t all = grid.count();
    for (std::uint32_t round = 0; round < grid.rounds; ++round) {
      const std::uint64_t first = block.index() * grid.chunk_items() + std::uint64_t{round} * kRound;
      if (first >= all) return;
      const std::uint64_t own = RankRound<kBits>::first_of(block, first);
      Word key[kItems] = {};
      Word item[kItems] = {};
      std::uint32_t digit[kItems] = {};
      std::uint32_t rank[kItems] = {};
      std::uint64_t of[kItems] = {};
      source.load_keys(own, kWarpLanes, all, of);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k) {
        const std::uint64_t i = own + static_cast<std::uint64_t>(k) * kWarpLanes;
        const bool there = kernels::is_row(of[k]);
        key[k] = static_cast<Word>(of[k]);
        item[k] = there ? static_cast<Word>(source.item(i)) : 0;
        digit[k] = there ? grid.digit(of[k]) : RankRound<kBits>::kNone;
      }
      RankRound<kBits>::give(block, buckets, next, running, digit, rank,
                             [&](std::uint32_t b, std::uint64_t ran, std::uint32_t number) {
                               from_slot[b] = ran;
                               slots[b] = number;
                             });
      exclusive_sums<kThreads>(block, slots, buckets, scratch);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k) {
        if (digit[k] == RankRound<kBits>::kNone) continue;
        const std::uint32_t slot = slots[digit[k]] + rank[k];
        kept_keys[slot] = key[k];
        kept_items[slot] = item[k];
      }
      block.barrier();
      const std::uint64_t left = all - first;
      const std::uint32_t most = left < kRound ? static_cast<std::uint32_t>(left) : kRound;
      // Items that go nowhere have no slot: the last bucket's end says how many there are.
      const std::uint32_t last = buckets - 1;
      const auto moved = static_cast<std::uint32_t>(slots[last] + (running[last] - from_slot[last]));
      for (std::uint32_t slot = block.thread(); slot < (moved < most ? moved : most); slot += kThreads) {
        const std::uint32_t b = grid.digit(kept_keys[slot]);
        const std::uint64_t to = from_slot[b] + (slot - slots[b]);
        keys[to] = kept_keys[slot];
        items[to] = kept_items[slot];
      }
      block.barrier();
    }
  }
};

}  // namespace faro::cuda
