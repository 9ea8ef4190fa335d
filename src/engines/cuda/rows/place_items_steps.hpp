// The last kernels of a routing by buckets that a block can count (partition_rows_steps.hpp): the places of
// items, and what no item goes to.
//
//     keys 2 0 2 1 0     buckets begin at 0 2 3     places 3 0 4 2 1
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/partition_rows_steps.hpp"
#include "faro/device/division.hpp"

namespace faro::cuda {

/// What no item goes to: -1 from each bucket's last item to the next one's first, and behind all.
template <typename Word>
struct PadPlaces {
  static constexpr std::uint32_t kThreads = PartitionGrid::kThreads;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint64_t kMostBlocks = 2112;

  std::uint32_t buckets = 0;
  const Word* totals = nullptr;
  BucketRule rule;
  const std::uint64_t* begins = nullptr;
  std::uint64_t most_places = 0;
  std::int64_t* inverse = nullptr;  // unless null
  std::int64_t* rows = nullptr;     // unless null

  /// A warp a bucket, and all for what is behind.
  constexpr std::uint64_t blocks() const {
    const std::uint64_t for_buckets = (std::uint64_t{buckets} * kWarpLanes + kThreads - 1) / kThreads;
    return for_buckets < kMostBlocks ? for_buckets : kMostBlocks;
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t threads = block.blocks() * kThreads;
    const std::uint64_t thread = block.index() * kThreads + block.thread();
    for (std::uint64_t b = thread / kWarpLanes; b < buckets; b += threads / kWarpLanes) {
      for (std::uint64_t at = begins[b] + rule.kept(totals[b]) + lane_of(block); at < begins[b + 1];
           at += kWarpLanes)
        pad(at);
    }
    for (std::uint64_t at = begins[buckets] + thread; at < most_places; at += threads) pad(at);
  }

 private:
  constexpr void pad(std::uint64_t at) const {
    if (inverse != nullptr) inverse[at] = -1;
    if (rows != nullptr) rows[at] = -1;
  }
};

/// For a routing: places of items, items of places, rows of places, and what no item goes to besides. Of few
/// buckets and chunks each block sums up the counts by itself, a launch less that waits for the one before.
template <int kBits, typename Word>
struct PlaceItems {
  static constexpr std::uint32_t kThreads = PartitionGrid::kThreads;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint32_t kItems = PartitionGrid::kItems;
  static constexpr bool kFollows = true;  // keys are on their way before what others counted is known

  PartitionGrid grid;
  KeyedEntries source;
  const Word* before = nullptr;           // [chunks][buckets]; summed up here, what chunks have themselves
  const std::uint64_t* begins = nullptr;  // [buckets + 1]; null: summed up here, by the four below
  BucketRule rule;
  std::uint64_t named = 0;          // of the buckets
  std::int64_t* offsets = nullptr;  // [named + 1], unless null
  std::int64_t* counts = nullptr;   // [named], unless null
  device::Division64 keys_per_row;
  std::int64_t* places = nullptr;   // [items], unless null
  std::int64_t* inverse = nullptr;  // [most places], unless null
  std::int64_t* rows = nullptr;     // [most places], unless null
  PadPlaces<Word> padding;
  bool pads = false;

  /// Whether blocks can sum up counts: those of at most so many chunks, all places being fewer than 2^32.
  static constexpr bool kSums = sizeof(Word) == 4 && 1U << kBits <= kThreads;
  static constexpr std::uint64_t kMostChunks = 64;

  constexpr std::uint64_t blocks() const { return grid.chunks(); }
  constexpr std::uint32_t shared_bytes() const {
    const std::uint32_t own = begins != nullptr ? 0 : 8 * (grid.buckets() + 1) + 4 * grid.buckets();
    return grid.buckets() * (16 + 4 * PartitionGrid::kWarps) + own + 4 * kScanScratchWords;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto* const running = reinterpret_cast<std::uint64_t*>(block.shared());
    std::uint64_t* const base = running + grid.buckets();
    auto* const next = reinterpret_cast<std::uint32_t*>(base + grid.buckets());
    std::uint32_t* const scratch = next + std::uint64_t{PartitionGrid::kWarps} * grid.buckets();
    std::uint64_t first = block.index() * grid.chunk_items();
    std::uint64_t key[kItems] = {};
    source.load_keys(RankRound<kBits>::first_of(block, first), kWarpLanes, grid.items, key);
    if constexpr (requires { block.follow(); }) block.follow();
    const std::uint64_t* starts = begins;
    PadPlaces<Word> pad = padding;
    if constexpr (kSums) {
      if (begins == nullptr) {
        auto* const own = reinterpret_cast<std::uint64_t*>(scratch + kScanScratchWords);
        sum_chunks(block, running, own, scratch);
        starts = pad.begins = own;
        pad.totals = reinterpret_cast<const Word*>(own + grid.buckets() + 1);
      }
    }
    for (std::uint32_t b = block.thread(); begins != nullptr && b < grid.buckets(); b += kThreads)
      running[b] = before[block.index() * grid.buckets() + b];
    block.barrier();
    for (std::uint32_t round = 0; round < grid.rounds && first < grid.items; ++round) {
      const std::uint64_t own = RankRound<kBits>::first_of(block, first);
      std::uint32_t digit[kItems] = {};
      std::uint32_t rank[kItems] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k)
        digit[k] = kernels::is_row(key[k]) ? static_cast<std::uint32_t>(key[k]) : RankRound<kBits>::kNone;
      RankRound<kBits>::give(block, grid.buckets(), next, running, digit, rank,
                             [&](std::uint32_t b, std::uint64_t ran, std::uint32_t) { base[b] = ran; });
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k) {
        const std::uint64_t i = own + static_cast<std::uint64_t>(k) * kWarpLanes;
        if (i < grid.items)
          place(starts, i, digit[k], digit[k] == RankRound<kBits>::kNone ? 0 : base[digit[k]] + rank[k]);
      }
      block.barrier();
      first += PartitionGrid::kRound;
      if (round + 1 < grid.rounds)
        source.load_keys(RankRound<kBits>::first_of(block, first), kWarpLanes, grid.items, key);
    }
    if (pads) pad(block);
  }

 private:
  // running: items of the chunks before. own: where buckets begin, and behind that what each has in all. The
  // first block tells of them. Ends with a barrier.
  template <Block B>
  constexpr void sum_chunks(B& block, std::uint64_t* running, std::uint64_t* own,
                            std::uint32_t* scratch) const {
    const std::uint32_t buckets = grid.buckets();
    auto* const totals = reinterpret_cast<Word*>(own + buckets + 1);
    const std::uint32_t b = block.thread();  // a thread a bucket
    constexpr std::uint32_t kAhead = 16;     // counts on their way
    Word all = 0;
    for (std::uint64_t chunk = 0; b < buckets && chunk < blocks(); chunk += kAhead) {
      Word count[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (chunk + k < blocks()) count[k] = before[(chunk + k) * buckets + b];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kAhead; ++k) {
        if (chunk + k == block.index()) running[b] = all;
        all += count[k];
      }
    }
    if (b < buckets) own[b] = rule.places(all);
    if (b < buckets) totals[b] = all;
    if (b == 0) own[buckets] = 0;
    exclusive_sums<kThreads>(block, own, buckets + 1, scratch);
    if (block.index() > 0) return;
    for (std::uint32_t at = b; at <= named; at += kThreads) {
      if (offsets != nullptr) offsets[at] = static_cast<std::int64_t>(own[at]);
      if (counts != nullptr && at < named) counts[at] = static_cast<std::int64_t>(rule.kept(totals[at]));
    }
  }

  constexpr void place(const std::uint64_t* starts, std::uint64_t item, std::uint32_t digit,
                       std::uint64_t rank) const {
    const bool kept = digit != RankRound<kBits>::kNone && rank < rule.capacity;
    const std::uint64_t at = kept ? starts[digit] + rank : 0;
    if (places != nullptr) places[item] = kept ? static_cast<std::int64_t>(at) : -1;
    if (!kept) return;
    if (inverse != nullptr) inverse[at] = static_cast<std::int64_t>(item);
    if (rows != nullptr) rows[at] = static_cast<std::int64_t>(keys_per_row.quotient(item));
  }
};

}  // namespace faro::cuda
