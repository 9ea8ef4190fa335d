// The step of a partition schedule (index_partition_steps.hpp) that moves entries to where the next level
// finds them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_fault.hpp"
#include "engines/cuda/index/index_partition_steps.hpp"
#include "engines/cuda/kernels/device_block.hpp"

namespace faro::cuda {

/// Places, starts and remainders of a level, stable: in rounds of kRound entries, each warp ranks its own
/// stretch by matching, warps and rounds are summed, and the remainders leave in runs. kBits: at least
/// level.level_bits. Rest: 32 bits, or at the last level the 16 of the schedule's last pass.
///
///     a warp counts its stretch         shared.next[warp][b] = entries of bucket b
///     sums over warps and buckets       shared.next[warp][b] = slot | place << 16 of the warp's next entry
///     it ranks its stretch, in order    slot and place of every entry; next moves on
///
/// Slots number a round's entries bucket by bucket, places the chunk's; base[b] + slot is where in the region
/// the entry goes.
template <int kBits, typename Entry, typename Rest, int kThreadsOf = kBits <= 9 ? 512 : 128,
          int kItemsOf = sizeof(Entry) == sizeof(std::uint64_t) ? 8 : 16,
          int kMinBlocksOf = kBits <= 9 ? 3 : 2>
struct SpreadEntries {
  static constexpr int kMinBlocks = kMinBlocksOf;
  static constexpr std::uint32_t kThreads = kThreadsOf;
  static constexpr std::uint32_t kWarps = kThreads / kWarpLanes;
  static constexpr std::uint32_t kItems = kItemsOf;
  static constexpr std::uint32_t kRound = kThreads * kItems;
  static_assert(kRound <= 0x10000, "slots have 16 bits");
  // Where registers are few, buckets are worked out again rather than kept over a barrier. That takes a
  // bucket_bits of which the compiler does not know that it is the same.
  static constexpr bool kFewRegisters = kMinBlocks * kThreads > 1024;

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
    constexpr std::uint32_t kEntry = sizeof(Entry);
    return (kRound + 2 * level.buckets()) * kEntry +
           ((1 + kWarps) * level.buckets() + kScanScratchWords + 1) * kWord;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    Entry value[kItems] = {};  // of the round: on their way while the round before is written
    load_round(block, 0, value);
    if (fault.raised()) return;
    const Shared shared(block.shared(), level.buckets());
    start_runs(block, shared);
    const std::uint32_t size = level.chunk_size(block.index());
    std::uint16_t* place = places + (block.index() << level.chunk_bits) + first_of_lane(block);
    std::uint32_t first = 0;
    for (; size - first >= kRound; first += kRound) {
      spread_round<true>(block, shared, first, kRound, place, value);
      place += kRound;
    }
    if (first < size) spread_round<false>(block, shared, first, size - first, place, value);
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      const auto end = static_cast<std::uint32_t>(shared.to[b] - (Entry{b} << level.bucket_bits));
      if (end != level.run_end(offsets, block.index(), b)) fault.raise(block);
    }
  }

 private:
  static constexpr std::uint32_t kSlotAndPlace = 0x10001;  // one more of each

  struct Shared {
    Entry* exchange;        // [kRound]
    Entry* to;              // [buckets] where in the region the bucket's next entry goes
    Entry* base;            // [buckets] from a slot of the round to there
    std::uint32_t* filled;  // [buckets] place of the bucket's next entry
    std::uint32_t* scratch;
    std::uint32_t* bucket_bits;
    std::uint32_t* next;  // [kWarps][buckets]

    constexpr Shared(std::byte* memory, std::uint32_t buckets)
        : exchange(reinterpret_cast<Entry*>(memory)),
          to(exchange + kRound),
          base(to + buckets),
          filled(reinterpret_cast<std::uint32_t*>(base + buckets)),
          scratch(filled + buckets),
          bucket_bits(scratch + kScanScratchWords),
          next(bucket_bits + 1) {}
  };

  template <Block B>
  constexpr void start_runs(B& block, const Shared& shared) const {
    const std::uint64_t chunk = block.index();
    const std::uint32_t* const own = offsets + chunk * level.buckets();
    if (block.thread() == 0) *shared.bucket_bits = static_cast<std::uint32_t>(level.bucket_bits);
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      shared.filled[b] = level.run_end(offsets, chunk, b) - own[b];
      shared.to[b] = (Entry{b} << level.bucket_bits) + own[b];
    }
    exclusive_sums<kThreads>(block, shared.filled, level.buckets(), shared.scratch);
    for (std::uint32_t b = block.thread(); b < level.buckets(); b += kThreads) {
      starts[chunk * level.buckets() + b] = static_cast<std::uint16_t>(shared.filled[b]);
    }
  }

  // Each warp takes a stretch of the round, in order.
  template <Block B>
  static constexpr std::uint32_t first_of_lane(B& block) {
    return block.thread() / kWarpLanes * kWarpLanes * kItems + lane_of(block);
  }

  template <Block B>
  constexpr void load_round(B& block, std::uint32_t first, Entry (&value)[kItems]) const {
    const std::uint32_t size = level.chunk_size(block.index());
    if (first >= size) return;
    const std::uint32_t own = first + first_of_lane(block);
    const Entry* const from = entries + (block.index() << level.chunk_bits) + own;
    if (size - first >= kRound) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kItems; ++k) value[k] = from[std::size_t{k} * kWarpLanes];
      return;
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      if (own + k * kWarpLanes < size) value[k] = from[std::size_t{k} * kWarpLanes];
    }
  }

  template <bool kFull, Block B>
  constexpr void spread_round(B& block, const Shared& shared, std::uint32_t first, std::uint32_t size,
                              std::uint16_t* place, Entry (&value)[kItems]) const {
    const std::uint32_t lane = lane_of(block);
    const std::uint32_t stretch = first_of_lane(block);
    const std::uint32_t buckets = level.buckets();
    std::uint32_t* const next = shared.next + block.thread() / kWarpLanes * buckets;

    for (std::uint32_t b = lane; b < buckets; b += kWarpLanes) next[b] = 0;
    block.warp_barrier();
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      if (kFull || stretch + k * kWarpLanes < size) block.atomic_add(next + level.bucket(value[k]), 1U);
    }
    give_slots(block, shared);

    const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
    LevelShape again = level;
    if constexpr (kFewRegisters) again.bucket_bits = static_cast<std::int32_t>(*shared.bucket_bits);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kItems; ++k) {
      const bool active = kFull || stretch + k * kWarpLanes < size;
      const std::uint32_t lanes = kFull ? kAllLanes : block.ballot(active);
      const std::uint32_t b = again.bucket(value[k]);
      const std::uint32_t peers = lanes_with<kBits>(block, b, lanes);
      const std::uint32_t own = next[b] + block.count_ones(peers & below) * kSlotAndPlace;
      block.warp_barrier();
      if (active) {
        if (peers >> lane == 1) next[b] = own + kSlotAndPlace;  // the last of its bucket
        place[std::size_t{k} * kWarpLanes] = static_cast<std::uint16_t>(own >> 16);
        shared.exchange[own & 0xffff] = value[k];
      }
      block.warp_barrier();
    }
    block.barrier();
    load_round(block, first + kRound, value);
    write_round<kFull>(block, shared, size);
  }

  // From entries of each warp and bucket to the slots and places where they begin. Begins and ends with a
  // barrier.
  template <Block B>
  constexpr void give_slots(B& block, const Shared& shared) const {
    if constexpr ((std::uint32_t{1} << kBits) <= kThreads) {
      give_slots_at_once(block, shared);
    } else {
      const std::uint32_t buckets = level.buckets();
      block.barrier();
      for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
        shared.base[b] = entries_of(shared, b);
      }
      exclusive_sums<kThreads>(block, shared.base, buckets, shared.scratch);
      for (std::uint32_t b = block.thread(); b < buckets; b += kThreads) {
        give_slots_of(shared, b, static_cast<std::uint32_t>(shared.base[b]));
      }
      block.barrier();
    }
  }

  // A thread a bucket.
  template <Block B>
  constexpr void give_slots_at_once(B& block, const Shared& shared) const {
    const std::uint32_t b = block.thread();
    const std::uint32_t warp = b / kWarpLanes;
    const bool busy = warp * kWarpLanes < level.buckets();  // all lanes of the warp alike
    std::uint32_t own = 0;
    std::uint32_t upto = 0;  // of the warp's lanes up to this one
    block.barrier();
    if (busy) {
      if (b < level.buckets()) own = entries_of(shared, b);
      upto = own;
      FARO_UNROLL
      for (std::uint32_t step = 1; step < kWarpLanes; step *= 2) {
        const std::uint32_t lower = block.shuffle_up(upto, step);
        if (lane_of(block) >= step) upto += lower;
      }
      if (lane_of(block) == kWarpLanes - 1) shared.scratch[warp] = upto;
    }
    block.barrier();
    if (b < level.buckets()) {
      std::uint32_t slot = upto - own;
      FARO_UNROLL
      for (std::uint32_t w = 0; w < (1U << kBits) / kWarpLanes; ++w) {
        if (w < warp) slot += shared.scratch[w];
      }
      give_slots_of(shared, b, slot);
    }
    block.barrier();
  }

  constexpr std::uint32_t entries_of(const Shared& shared, std::uint32_t b) const {
    std::uint32_t sum = 0;
    FARO_UNROLL
    for (std::uint32_t w = 0; w < kWarps; ++w) sum += shared.next[w * level.buckets() + b];
    return sum;
  }

  constexpr void give_slots_of(const Shared& shared, std::uint32_t b, std::uint32_t slot) const {
    const std::uint32_t filled = shared.filled[b];
    const Entry base = shared.to[b] - slot;
    const std::uint32_t begin = slot;
    FARO_UNROLL
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      const std::uint32_t entries_of_warp = shared.next[w * level.buckets() + b];
      shared.next[w * level.buckets() + b] = (slot & 0xffff) | (filled + slot - begin) << 16;
      slot += entries_of_warp;
    }
    shared.base[b] = base;
    shared.to[b] = base + slot;
    shared.filled[b] = filled + slot - begin;
  }

  // The round's remainders, run by run. What is read here is written again only behind the next round's
  // barriers.
  template <bool kFull, Block B>
  constexpr void write_round(B& block, const Shared& shared, std::uint32_t size) const {
    constexpr std::uint32_t kBatch = kItems < 4 ? kItems : 4;  // on their way at a time
    static_assert(kItems % kBatch == 0);
    const std::uint64_t region = level.region_of(block.index());
    const std::uint64_t left = level.count - region - 1;
    const auto last = static_cast<Entry>(left < ~Entry{0} ? left : ~Entry{0});
    const Entry low = (Entry{1} << level.bucket_bits) - 1;
    Rest* const to_region = rests + region;
    FARO_UNROLL
    for (std::uint32_t batch = 0; batch < kItems; batch += kBatch) {
      Entry moved[kBatch] = {};
      Entry to[kBatch] = {};
      const std::uint32_t first = block.thread() + batch * kThreads;
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kBatch; ++k) {
        if (kFull || first + k * kThreads < size) moved[k] = shared.exchange[first + k * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kBatch; ++k) {
        to[k] = shared.base[level.bucket(moved[k])] + (first + k * kThreads);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kBatch; ++k) {
        if (!kFull && first + k * kThreads >= size) continue;
        if (to[k] <= last) to_region[to[k]] = static_cast<Rest>(moved[k] & low);
      }
    }
  }
};

}  // namespace faro::cuda
