// The sweeps of recognition over an index array on a device: is it this candidate, and how local is it?
//
//     MismatchAffine     y = A x ^ c, its columns split     x = tile | item | thread
//                                                           y = y(tile) ^ y(item) ^ y(thread)
//     MismatchCyclic     an addition an entry
//     MismatchAxes       an odometer: from x to x + step, axis by axis with carries, nothing divided
//     MeasureLocality    runs counted, the largest displacement
//
// Each stops early: a difference that any thread has found ends all blocks at their next look.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_entries.hpp"
#include "faro/permutation/axes.hpp"

namespace faro::cuda {

inline constexpr std::uint64_t kSweepItems = 16;  // entries a thread between two looks at what others found
inline constexpr std::uint32_t kSweepItemBits = 4;
inline constexpr std::uint32_t kSweepLoads = 8;  // of them on their way at a time
inline constexpr std::uint32_t kSweepThreadBits = 8;
using RecogniseSweep = GridSweep<kSweepItems>;
inline constexpr std::uint64_t kSweepTile = RecogniseSweep::kThreads * kSweepItems;
static_assert(RecogniseSweep::kThreads == 1U << kSweepThreadBits && kSweepItems == 1U << kSweepItemBits);

struct MismatchAffine : RecogniseSweep {
  static constexpr int kMostBits = 40;

  EntryView entries;
  std::uint64_t column[kMostBits] = {};  // images of e_0 .. e_{n-1}; zeros beyond
  std::uint64_t complement = 0;
  std::int32_t index_bits = 0;
  std::uint64_t* found = nullptr;  // kNowhere at first

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  constexpr std::uint64_t image(std::uint64_t x, std::int32_t from_bit, std::int32_t to_bit) const {
    std::uint64_t y = 0;
    for (std::int32_t j = from_bit; j < to_bit; ++j) {
      y ^= column[j] & (std::uint64_t{0} - (x >> j & 1));
    }
    return y;
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint32_t thread = block.thread();
    const std::uint64_t of_thread = complement ^ image(thread, 0, kSweepThreadBits);
    for (std::uint64_t base = block.index() * kSweepTile; base < entries.count;
         base += block.blocks() * kSweepTile) {
      if (block.read(found) != kNowhere) return;
      const std::uint64_t y = of_thread ^ image(base, kSweepThreadBits + kSweepItemBits, index_bits);
      std::uint64_t wrong = kNowhere;
      FARO_UNROLL
      for (std::uint64_t begin = 0; begin < kSweepItems; begin += kSweepLoads) {
        std::uint64_t entry[kSweepLoads];
        entries.load(base + (begin << kSweepThreadBits) + thread, kThreads, entry);
        FARO_UNROLL
        for (std::uint64_t k = 0; k < kSweepLoads; ++k) {
          const std::uint64_t item = (begin + k) << kSweepThreadBits;
          const std::uint64_t of_item = image(item, kSweepThreadBits, kSweepThreadBits + kSweepItemBits);
          const std::uint64_t x = base + item + thread;
          if (x < entries.count && entry[k] != (y ^ of_item)) wrong = wrong < x ? wrong : x;
        }
      }
      if (wrong != kNowhere) block.atomic_min(found, wrong);
    }
  }
};

struct MismatchCyclic : RecogniseSweep {
  EntryView entries;
  Cyclic candidate;
  std::uint64_t* found = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t base = block.index() * kSweepTile; base < entries.count;
         base += block.blocks() * kSweepTile) {
      if (block.read(found) != kNowhere) return;
      std::uint64_t wrong = kNowhere;
      for (std::uint64_t begin = 0; begin < kSweepItems; begin += kSweepLoads) {
        const std::uint64_t first = base + (begin << kSweepThreadBits) + block.thread();
        std::uint64_t entry[kSweepLoads];
        entries.load(first, kThreads, entry);
        FARO_UNROLL
        for (std::uint64_t k = 0; k < kSweepLoads; ++k) {
          const std::uint64_t x = first + k * kThreads;
          if (x < entries.count && entry[k] != candidate(x)) wrong = wrong < x ? wrong : x;
        }
      }
      if (wrong != kNowhere) block.atomic_min(found, wrong);
    }
  }
};

/// kAxes: at least the number of axes; the others have an extent that no digit reaches.
template <int kAxes>
struct MismatchAxes : RecogniseSweep {
  static constexpr std::uint32_t kLoads = kAxes <= 8 ? kSweepLoads : 1;  // registers are few

  EntryView entries;
  std::uint64_t extent[kAxes] = {};  // of the input, the fastest first
  std::uint64_t stride[kAxes] = {};  // of the output, in elements
  std::uint64_t step[kAxes] = {};    // digits of the threads of the whole grid
  std::uint64_t* found = nullptr;

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  /// Fills in `step`. Requires: all the rest.
  constexpr void set_step() {
    std::uint64_t left = blocks() * kThreads;
    for (int a = 0; a < kAxes; ++a) {
      step[a] = left % extent[a];
      left /= extent[a];
    }
  }

  template <Block B>
  constexpr void operator()(B& block) const {
    std::uint64_t digit[kAxes] = {};
    std::uint64_t y = 0;
    std::uint64_t stepped = 0;  // what the digits of `step` add to y
    std::uint64_t left = first(block);
    FARO_UNROLL
    for (int a = 0; a < kAxes; ++a) {
      digit[a] = left % extent[a];
      left /= extent[a];
      y += digit[a] * stride[a];
      stepped += step[a] * stride[a];
    }
    std::uint64_t x = first(block);
    while (x < entries.count) {
      if (block.read(found) != kNowhere) return;
      std::uint64_t wrong = kNowhere;
      std::uint64_t entry[kLoads];
      entries.load(x, RecogniseSweep::step(block), entry);
      FARO_UNROLL
      for (std::uint64_t k = 0; k < kLoads; ++k) {
        if (x < entries.count && entry[k] != y) wrong = wrong < x ? wrong : x;
        x += RecogniseSweep::step(block);
        y += stepped;
        bool carry = false;
        FARO_UNROLL
        for (int a = 0; a < kAxes; ++a) {
          digit[a] += step[a] + (carry ? 1 : 0);
          y += carry ? stride[a] : 0;
          carry = digit[a] >= extent[a];
          digit[a] -= carry ? extent[a] : 0;
          y -= carry ? extent[a] * stride[a] : 0;
        }
      }
      if (wrong != kNowhere) block.atomic_min(found, wrong);
    }
  }
};

/// Adds to *runs and raises *displacement until both are past the given bounds, or the array is done.
struct MeasureLocality : RecogniseSweep {
  EntryView entries;
  std::uint64_t max_runs = 0;
  std::uint64_t max_displacement = 0;
  std::uint64_t* runs = nullptr;  // zeros at first
  std::uint64_t* displacement = nullptr;

  struct Shared {
    std::uint64_t displacement;
    std::uint32_t runs;
    std::uint32_t hopeless;
  };

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }
  constexpr std::uint32_t shared_bytes() const { return sizeof(Shared); }

  template <Block B>
  constexpr void operator()(B& block) const {
    auto& shared = *reinterpret_cast<Shared*>(block.shared());
    const bool leads = block.thread() == 0;
    for (std::uint64_t base = block.index() * kSweepTile; base < entries.count;
         base += block.blocks() * kSweepTile) {
      if (leads) {
        const bool hopeless = block.read(runs) > max_runs && block.read(displacement) > max_displacement;
        shared = {.displacement = 0, .runs = 0, .hopeless = hopeless ? 1U : 0U};
      }
      block.barrier();
      if (shared.hopeless != 0) return;
      std::uint32_t heads = 0;
      std::uint64_t farthest = 0;
      for (std::uint64_t begin = 0; begin < kSweepItems; begin += kSweepLoads) {
        const std::uint64_t first = base + (begin << kSweepThreadBits) + block.thread();
        std::uint64_t entry[kSweepLoads];
        std::uint64_t before[kSweepLoads];
        entries.load(first, kThreads, entry);
        entries.load(first - 1, kThreads, before);  // of x = 0 nothing is loaded
        FARO_UNROLL
        for (std::uint64_t k = 0; k < kSweepLoads; ++k) {
          const std::uint64_t x = first + k * kThreads;
          if (x >= entries.count) continue;
          const std::uint64_t moved = entry[k] > x ? entry[k] - x : x - entry[k];
          farthest = farthest > moved ? farthest : moved;
          heads += x == 0 || entry[k] != before[k] + 1 ? 1 : 0;
        }
      }
      if (heads != 0) block.atomic_add(&shared.runs, heads);
      if (farthest != 0) block.atomic_max(&shared.displacement, farthest);
      block.barrier();
      if (leads) {
        if (shared.runs != 0) block.atomic_add(runs, std::uint64_t{shared.runs});
        if (shared.displacement > block.read(displacement)) {
          block.atomic_max(displacement, shared.displacement);
        }
      }
      block.barrier();
    }
  }
};

}  // namespace faro::cuda
