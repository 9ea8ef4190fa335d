// The sweeps for maps whose images are worked out entry by entry: is an index array this map, where is it
// not, and what are the two after one another?
//
//     MismatchImage       an entry that differs from the map's image
//     CollectMismatches   where all of them are, up to a few thousand
//     ChainImage          P[f(i)] or f(P[i])
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_entries.hpp"
#include "engines/cuda/index/index_recognise_steps.hpp"
#include "faro/device/division.hpp"
#include "kernels/modular_tile.hpp"

namespace faro::cuda {

/// factor x + shift, modulo a count.
struct ModularImage {
  kernels::RingWalk walk;  // of the factor
  device::Division64 ring;
  std::uint64_t shift = 0;

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t place = walk.at(x, ring) + shift;
    ring.divide(place);
    return place;
  }
};

struct AffineImage {
  std::uint64_t column[MismatchAffine::kMostBits] = {};
  std::uint64_t complement = 0;
  std::int32_t bits = 0;

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t y = complement;
    for (std::int32_t j = 0; j < bits; ++j) y ^= column[j] & (std::uint64_t{0} - (x >> j & 1));
    return y;
  }
};

struct CyclicAxesImage {
  static constexpr int kMostAxes = 40;  // of 2^40 elements, each of two at least

  device::Division64 extent[kMostAxes];  // the fastest axis first
  std::uint64_t shift[kMostAxes] = {};
  std::uint64_t stride[kMostAxes] = {};
  std::int32_t reversed[kMostAxes] = {};
  std::int32_t axes = 0;

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    std::uint64_t y = 0;
    for (std::int32_t a = 0; a < axes; ++a) {
      const std::uint64_t rest = extent[a].divide(x);  // x is the digit now
      const std::uint64_t count = extent[a].divisor();
      const std::uint64_t moved = reversed[a] != 0 ? shift[a] + (x > shift[a] ? count : 0) - x : shift[a] + x;
      y += (moved >= count ? moved - count : moved) * stride[a];
      x = rest;
    }
    return y;
  }
};

template <typename Image>
struct MismatchImage : RecogniseSweep {
  EntryView entries;
  Image image;
  std::uint64_t* found = nullptr;  // kNowhere at first

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t base = block.index() * kSweepTile; base < entries.count;
         base += block.blocks() * kSweepTile) {
      if (block.read(found) != kNowhere) return;
      std::uint64_t wrong = kNowhere;
      for (std::uint64_t k = 0; k < kSweepItems; ++k) {
        const std::uint64_t x = base + k * kThreads + block.thread();
        if (x < entries.count && entries[x] != image(x)) wrong = wrong < x ? wrong : x;
      }
      if (wrong != kNowhere) block.atomic_min(found, wrong);
    }
  }
};

/// Adds to *number, and writes positions in any order, until they are more than `most`.
template <typename Image>
struct CollectMismatches : RecogniseSweep {
  EntryView entries;
  Image image;
  std::uint32_t most = 0;
  std::uint64_t* positions = nullptr;  // [most]
  std::uint32_t* number = nullptr;     // 0 at first

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t base = block.index() * kSweepTile; base < entries.count;
         base += block.blocks() * kSweepTile) {
      if (block.read(number) > most) return;
      for (std::uint64_t k = 0; k < kSweepItems; ++k) {
        const std::uint64_t x = base + k * kThreads + block.thread();
        if (x >= entries.count || entries[x] == image(x)) continue;
        const std::uint32_t at = block.fetch_add(number, 1U);
        if (at < most) positions[at] = x;
      }
    }
  }
};

/// An index array and a map after one another: out[i] = image(P[i]), or with image_first out[i] =
/// P[image(i)], of which the loads are at random.
template <typename Word, typename Image>
struct ChainImage : GridSweep<> {
  EntryView entries;
  Image image;
  std::int32_t image_first = 0;
  Word* out = nullptr;  // [count]

  constexpr std::uint64_t blocks() const { return blocks_for(entries.count); }

  template <Block B>
  constexpr void operator()(B& block) const {
    for (std::uint64_t i = first(block); i < entries.count; i += step(block))
      out[i] = static_cast<Word>(image_first != 0 ? entries[image(i)] : image(entries[i]));
  }
};

}  // namespace faro::cuda
