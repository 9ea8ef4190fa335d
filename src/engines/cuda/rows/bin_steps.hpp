// Numbers that are added up by bins: the rows of the output are cut into bins of at most 1024, numbers go to
// their bins, and a warp adds up a bin's in shared memory.
//
//     rows of the output   0 1 2 3 | 4 5 6 7 | 8 9 a b        bins of 4
//     numbers for          9 1 4 8 2 0 9 5 1
//     by bin               1 2 0 1 | 4 5 | 9 8 9              in their order within it (SpreadBins)
//     a warp a bin         s[1] += x, s[2] += x, …            lanes of one row after each other (SumBins)
//
// Sorting by all bits of where they go would take twice as many passes, and leave a thread to add up what
// goes to a row. Each sum takes its numbers in the order of the input, so it has the CPU engine's bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/rows/partition_rows_steps.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"

namespace faro::cuda {

/// Pairs of keys and items in the order of a digit. In each round of a block's chunk the warps rank their
/// stretches, 32 items at a time, and the round leaves in runs through shared memory:
///
///     lanes' digits        5 2 5 7         add 1 to the warp's counters of 5, 2, 5 and 7, which tell what
///                                          was there: the item's rank, or, where the counter is then more
///                                          than one further, that some lanes hold the same digit
///     counters             [warps][digit]  two warps in a word's halves; summed up over the warps
template <typename Source>
struct SpreadBins {
  static constexpr std::uint32_t kThreads = faro::detail::kBinThreads;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kCounters = kWarps / 2;  // words of a digit
  static constexpr std::uint32_t kRound = faro::detail::kBinRound;
  static constexpr std::uint32_t kItems = kRound / kThreads;  // of a thread
  static constexpr std::uint32_t kHalfBits = 16;
  static_assert(kRound <= std::uint32_t{1} << kHalfBits);

  PartitionGrid grid;
  Source source;
  const std::uint32_t* before = nullptr;  // [chunks][buckets]
  const std::uint64_t* begins = nullptr;  // [buckets + 1]
  std::uint64_t* pairs = nullptr;

  constexpr std::uint64_t blocks() const { return grid.chunks(); }
  constexpr std::uint32_t shared_bytes() const {
    return kRound * 8 + 4 * (grid.buckets() * (kCounters + 3) + kScanScratchWords);
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint32_t buckets = grid.buckets();
    auto* const staged = reinterpret_cast<std::uint64_t*>(block.shared());  // [kRound]
    auto* const counters = reinterpret_cast<std::uint32_t*>(staged + kRound);
    std::uint32_t* const running = counters + std::uint64_t{kCounters} * buckets;  // places in the result
    std::uint32_t* const slots = running + buckets;                                // where digits begin
    std::uint32_t* const moved_by = slots + buckets;                               // from a slot to its place
    std::uint32_t* const scratch = moved_by + buckets;
    for (std::uint32_t b = block.thread(); b < buckets; b += kThreads)
      running[b] = static_cast<std::uint32_t>(begins[b]) + before[block.index() * buckets + b];
    const std::uint32_t warp = block.thread() / kWarpLanes;
    const std::uint32_t half = warp < kCounters ? 0 : kHalfBits;
    std::uint32_t* const own = counters + std::uint64_t{warp % kCounters} * buckets;
    const std::uint64_t all = grid.count();
    for (std::uint32_t round = 0; round < grid.rounds; ++round) {
      const std::uint64_t first = block.index() * grid.chunk_items() + std::uint64_t{round} * kRound;
      if (first >= all) return;
      const std::uint64_t from = first + std::uint64_t{warp} * kWarpLanes * kItems + lane_of(block);
      std::uint64_t pair[kItems] = {};
      source.load_pairs(from, kWarpLanes, all, pair);
      for (std::uint32_t b = block.thread(); b < kCounters * buckets; b += kThreads) counters[b] = 0;
      block.barrier();
      std::uint32_t ranks[kItems / 2] = {};  // within the warp's stretch, two a word
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k)
        ranks[k / 2] |= rank_in_warp(block, own, half, pair[k]) << (k % 2 * kHalfBits);
      block.barrier();
      for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
        const std::uint32_t number = sum_counters(counters + b, buckets);
        slots[b] = number;
        moved_by[b] = running[b];
        running[b] += number;
      }
      exclusive_sums<kThreads>(block, slots, buckets, scratch);
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k) {
        if (pair[k] == kNoPair) continue;
        const std::uint32_t digit = grid.digit(key_of_pair(pair[k]));
        const std::uint32_t rank = half_of(ranks[k / 2], k % 2 * kHalfBits) + half_of(own[digit], half);
        staged[slots[digit] + rank] = pair[k];
      }
      for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) moved_by[b] -= slots[b];
      block.barrier();
      // Pairs that go nowhere have no slot.
      const std::uint32_t there = running[buckets - 1] - moved_by[buckets - 1];
      for (std::uint32_t slot = block.thread(); slot < there; slot += kThreads) {
        const std::uint64_t staged_pair = staged[slot];
        pairs[moved_by[grid.digit(key_of_pair(staged_pair))] + slot] = staged_pair;
      }
      block.barrier();
    }
  }

 private:
  static constexpr std::uint32_t half_of(std::uint32_t word, std::uint32_t half) {
    return word >> half & ((std::uint32_t{1} << kHalfBits) - 1);
  }

  // How many of the warp's items before this one have its digit.
  template <Block B>
  constexpr std::uint32_t rank_in_warp(B& block, std::uint32_t* own, std::uint32_t half,
                                       std::uint64_t pair) const {
    const bool there = pair != kNoPair;
    const std::uint32_t digit = grid.digit(key_of_pair(pair));
    const std::uint32_t found =
        there ? half_of(block.fetch_add(own + digit, std::uint32_t{1} << half), half) : 0;
    block.warp_barrier();
    const std::uint32_t now = there ? half_of(block.read(own + digit), half) : 1;
    std::uint32_t rank = found;
    // The last of several lanes finds nothing wrong, but what it found counts them, in whatever order.
    if (block.ballot(now != found + 1) != 0) {
      const std::uint32_t peers = lanes_with<faro::detail::kBinDigitBits>(block, digit, block.ballot(there));
      const std::uint32_t below = (std::uint32_t{1} << lane_of(block)) - 1;
      rank = now - block.count_ones(peers) + block.count_ones(peers & below);
    }
    block.warp_barrier();
    return there ? rank : 0;
  }

  // Every warp's counter of a digit becomes those of the warps before it. How many there are.
  static constexpr std::uint32_t sum_counters(std::uint32_t* counter, std::uint32_t buckets) {
    std::uint32_t words[kCounters] = {};
    std::uint32_t lower = 0;
    FARO_UNROLL
    for (std::uint32_t w = 0; w < kCounters; ++w) {
      words[w] = counter[std::uint64_t{w} * buckets];
      lower += half_of(words[w], 0);
    }
    std::uint32_t sum = lower << kHalfBits;  // both halves: of lower warps, and of upper ones
    FARO_UNROLL
    for (std::uint32_t w = 0; w < kCounters; ++w) {
      counter[std::uint64_t{w} * buckets] = sum;
      sum += words[w];
    }
    return half_of(sum, kHalfBits);
  }
};

/// Sums of pairs that are in the order of their bins: a warp has a bin.
template <typename Sum>
struct SumBins {
  using Stored = typename Sum::Stored;
  using Vector = NumberVector<Stored, 1>;
  static constexpr std::uint32_t kThreads = 128;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kAhead = 8;      // of a lane, and as many again on their way
  static constexpr std::uint32_t kTogether = 4;   // whose marks are looked at before any is added
  static constexpr std::uint32_t kMostTurns = 4;  // lanes of one row that add after each other

  const std::uint64_t* pairs = nullptr;
  const std::uint64_t* present = nullptr;  // how many there are
  std::int32_t bin_bits = 0;
  std::uint64_t out_rows = 0;
  std::byte* out = nullptr;

  constexpr std::uint32_t bin_rows() const { return std::uint32_t{1} << bin_bits; }
  constexpr std::uint64_t bins() const { return (out_rows + bin_rows() - 1) >> bin_bits; }
  constexpr std::uint64_t blocks() const { return (bins() + kWarps - 1) / kWarps; }
  constexpr std::uint32_t shared_bytes() const {
    constexpr auto kSumBytes = static_cast<std::uint32_t>(sizeof(Sum));
    return kWarps * bin_rows() * (kSumBytes + 1);
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint32_t warp = block.thread() / kWarpLanes;
    const std::uint32_t lane = lane_of(block);
    const std::uint64_t bin = block.index() * kWarps + warp;
    if (bin >= bins()) return;
    const Own own{.sums = reinterpret_cast<Sum*>(block.shared()) + std::uint64_t{warp} * bin_rows(),
                  .touched = reinterpret_cast<std::uint8_t*>(reinterpret_cast<Sum*>(block.shared()) +
                                                             std::uint64_t{kWarps} * bin_rows()) +
                             std::uint64_t{warp} * bin_rows()};
    const std::uint64_t first_row = bin << bin_bits;
    for (std::uint32_t r = lane; r < bin_rows(); r += kWarpLanes) {
      own.touched[r] = 0;
      if (first_row + r < out_rows) own.sums[r].start(Vector::load(out, first_row + r).number[0]);
    }
    const std::uint64_t all = *present;
    std::uint64_t at = first_of_bin(block, bin, all) + lane;
    block.warp_barrier();
    Some next = load(at, all);
    for (;;) {
      const Some some = next;
      at += std::uint64_t{kAhead} * kWarpLanes;
      next = load(at, all);
      if (!add(block, own, some, bin)) break;
    }
    block.warp_barrier();
    for (std::uint32_t r = lane; r < bin_rows(); r += kWarpLanes) {
      if (own.touched[r] == 0) continue;
      const Vector result{own.sums[r].result()};
      result.store(out, first_row + r);
    }
  }

 private:
  struct Own {
    Sum* sums;
    std::uint8_t* touched;  // by which lane last, and one; 0: by none
  };
  struct Some {
    std::uint64_t pair[kAhead];
  };

  constexpr Some load(std::uint64_t at, std::uint64_t all) const {
    Some made = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kAhead; ++k) {
      const std::uint64_t i = at + std::uint64_t{k} * kWarpLanes;
      made.pair[k] = i < all ? pairs[i] : kNoPair;
    }
    return made;
  }

  // Where the first pair of a bin, or of one after it, is: the lanes look at 32 places at a time.
  template <Block B>
  constexpr std::uint64_t first_of_bin(B& block, std::uint64_t bin, std::uint64_t all) const {
    std::uint64_t low = 0;  // all before are of bins before
    std::uint64_t high = all;
    while (low < high) {
      const std::uint64_t step = (high - low + kWarpLanes - 1) / kWarpLanes;
      const std::uint64_t probe = low + lane_of(block) * step;
      const bool before = probe < high && key_of_pair(pairs[probe]) >> bin_bits < bin;
      const std::uint32_t number = block.count_ones(block.ballot(before));
      if (number == 0) return low;
      const std::uint64_t next = low + number * step;
      low += (number - 1) * step + 1;
      high = next < high ? next : high;
    }
    return low;
  }

  // Adds those of the bin. Whether there may be more of it.
  template <Block B>
  constexpr bool add(B& block, const Own& own, const Some& some, std::uint64_t bin) const {
    const auto mark = static_cast<std::uint8_t>(lane_of(block) + 1);
    bool all = true;
    FARO_UNROLL
    for (std::uint32_t first = 0; first < kAhead; first += kTogether) {
      // Every lane marks its row. Where each finds its own mark, they add at once.
      std::uint32_t lost[kTogether] = {};  // lanes that meet another
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        const std::uint64_t pair = some.pair[first + k];
        const bool here = is_of(pair, bin);
        if (here) own.touched[row_of(pair)] = mark;
        block.warp_barrier();
        lost[k] = block.ballot(here && own.touched[row_of(pair)] != mark);
        all = all && here;
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        const std::uint64_t pair = some.pair[first + k];
        const bool here = is_of(pair, bin);
        if (lost[k] == 0) {
          if (here) own.sums[row_of(pair)].add(number_of_bits<Stored>(item_of_pair(pair)));
        } else {
          add_in_turn(block, own, row_of(pair), item_of_pair(pair), here, lost[k]);
        }
        block.warp_barrier();
      }
    }
    return block.ballot(all) == kAllLanes;
  }
  constexpr std::uint32_t row_of(std::uint64_t pair) const { return key_of_pair(pair) & (bin_rows() - 1); }
  constexpr bool is_of(std::uint64_t pair, std::uint64_t bin) const {
    return pair != kNoPair && key_of_pair(pair) >> bin_bits == bin;
  }

  // Lanes that add to one row are asked for a row at a time.
  template <Block B>
  constexpr void add_in_turn(B& block, const Own& own, std::uint32_t row, std::uint32_t bits, bool here,
                             std::uint32_t lost) const {
    const std::uint32_t below = (std::uint32_t{1} << lane_of(block)) - 1;
    std::uint32_t turn = 0;  // lanes before that add to the same row
    std::uint32_t turns = 1;
    while (lost != 0) {
      const std::uint32_t first = block.count_ones((lost & (~lost + 1)) - 1);
      const bool mine = block.shuffle(row, first) == row && here;
      const std::uint32_t peers = block.ballot(mine);
      const std::uint32_t number = block.count_ones(peers);
      if (mine) turn = block.count_ones(peers & below);
      if (number > turns) turns = number;
      lost &= ~peers;
    }
    if (turns > kMostTurns)
      return add_one_by_one(block, own, block.ballot(here), row, bits, here && turn == 0);
    for (std::uint32_t now = 0; now < turns; ++now) {
      if (here && turn == now) own.sums[row].add(number_of_bits<Stored>(bits));
      block.warp_barrier();
    }
  }

  // Every lane's number, to the first lane with its row, which keeps the sum.
  template <Block B>
  constexpr void add_one_by_one(B& block, const Own& own, std::uint32_t lanes, std::uint32_t row,
                                std::uint32_t bits, bool keeps) const {
    Sum sum = {};
    if (keeps) sum = own.sums[row];
    FARO_UNROLL
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      const std::uint32_t other = block.shuffle(row, lane);
      const std::uint32_t number = block.shuffle(bits, lane);
      if (keeps && other == row && (lanes >> lane & 1) != 0) sum.add(number_of_bits<Stored>(number));
    }
    if (keeps) own.sums[row] = sum;
    block.warp_barrier();
  }
};

}  // namespace faro::cuda
