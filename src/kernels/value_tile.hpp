// Tiles of an affine map whose numbers change on their way: the tile kernel (kernels/affine_tile.hpp)
// over a memory that converts.
//
//     in    vectors of From  -->  [rounded]  -->  shared memory  -->  [widened, changed, rounded]  -->  out   vectors of To
//
// The tile has the narrower of the two types, where nothing is added: numbers are rounded as they are read,
// or widened as they are written. A vector of the other type is as many numbers in more bytes, so both sides
// have segments of the same numbers, and the narrower's are what memory likes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// One factor, or those along an axis of the output.
struct ValueTileFactor {
  ValueFactor one;
  const void* table = nullptr;  // the axis's, or null
  device::Division64 inner;     // numbers of the output from one index along the axis to the next
  device::Division64 extent;    // of the axis
};

/// What a launch works on, of every program and shape.
struct ValueTileArrays {
  AffineTileParams p;
  const void* in = nullptr;
  const void* addend = nullptr;  // lies as the output
  void* out = nullptr;
  ValueTileFactor scale;
  ValueTileFactor offset;
  ValueFactor beta;
};

/// The factors of numbers that follow one another in the output.
template <typename Computed, bool kAlongAxes>
class TileFactors {
 public:
  constexpr TileFactors(const ValueTileFactor& of, std::uint64_t number) : of_(of) {
    if constexpr (kAlongAxes) {
      if (of.table == nullptr) return;
      index_ = of.inner.divide(number);
      within_ = number;
      static_cast<void>(of.extent.divide(index_));
    }
  }
  constexpr Computed next() {
    if constexpr (kAlongAxes) {
      if (of_.table != nullptr) {
        const Computed factor = static_cast<const Computed*>(of_.table)[index_];
        if (++within_ == of_.inner.divisor()) {
          within_ = 0;
          if (++index_ == of_.extent.divisor()) index_ = 0;
        }
        return factor;
      }
    }
    return *reinterpret_cast<const Computed*>(of_.one.bytes);
  }

 private:
  const ValueTileFactor& of_;
  std::uint64_t index_ = 0;
  std::uint64_t within_ = 0;
};

/// The memory of a block: buffers hold numbers of From and To, the tile of Held.
template <typename Program, bool kRoundsFirst, bool kAlongAxes>
class ConvertingMemory {
  static_assert(!kRoundsFirst || !kAlongAxes);

 public:
  using From = typename Program::From;
  using To = typename Program::To;
  using Held = std::conditional_t<kRoundsFirst, To, From>;

  constexpr ConvertingMemory(const ValueTileArrays& arrays, std::byte* shared)
      : arrays_(arrays), shared_(shared) {}

  template <int bytes>
  constexpr device::Packet<bytes> load_global(int /*buffer*/, std::uint64_t offset) const {
    if constexpr (!kRoundsFirst) {
      return *reinterpret_cast<const device::Packet<bytes>*>(static_cast<const std::byte*>(arrays_.in) +
                                                             offset);
    } else {
      constexpr int kCount = bytes / static_cast<int>(sizeof(To));
      const auto numbers = *at<const Lanes<From, kCount>, From>(arrays_.in, offset);
      Lanes<To, kCount> rounded;
      Factors factors(arrays_, 0);
      FARO_UNROLL
      for (int i = 0; i < kCount; ++i)
        rounded.put(i, Program::rounded(factors.changed(Program::widened(numbers.get(i)))));
      return std::bit_cast<device::Packet<bytes>>(rounded);
    }
  }

  template <int bytes>
  constexpr void store_global(int /*buffer*/, std::uint64_t offset,
                              const device::Packet<bytes>& packet) const {
    if constexpr (kRoundsFirst) {
      *reinterpret_cast<device::Packet<bytes>*>(static_cast<std::byte*>(arrays_.out) + offset) = packet;
    } else {
      constexpr int kCount = bytes / static_cast<int>(sizeof(From));
      using Addend = typename Program::Addend;
      const auto numbers = std::bit_cast<Lanes<From, kCount>>(packet);
      Lanes<Addend, kCount> others;
      if constexpr (Program::kHasAddend)
        others = *at<const Lanes<Addend, kCount>, Addend>(arrays_.addend, offset);
      Lanes<To, kCount> results;
      Factors factors(arrays_, offset / sizeof(Held));
      FARO_UNROLL
      for (int i = 0; i < kCount; ++i) {
        Computed x = factors.changed(Program::widened(numbers.get(i)));
        if constexpr (Program::kHasAddend)
          x = sum(x, product(Program::widened_addend(others.get(i)),
                             *reinterpret_cast<const Computed*>(arrays_.beta.bytes)));
        results.put(i, Program::rounded(x));
      }
      *at<Lanes<To, kCount>, To>(arrays_.out, offset) = results;
    }
  }

  template <int bytes>
  constexpr device::Packet<bytes> load_shared(std::uint32_t address) const {
    return *reinterpret_cast<const device::Packet<bytes>*>(shared_ + address);
  }
  template <int bytes>
  constexpr void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    *reinterpret_cast<device::Packet<bytes>*>(shared_ + address) = packet;
  }

 private:
  using Computed = typename Program::Computed;

  struct Factors {
    TileFactors<Computed, kAlongAxes && Program::kHasScale> scale;
    TileFactors<Computed, kAlongAxes && Program::kHasOffset> offset;

    constexpr Factors(const ValueTileArrays& of, std::uint64_t number)
        : scale(of.scale, number), offset(of.offset, number) {}
    constexpr Computed changed(Computed x) {
      if constexpr (Program::kHasScale) x = product(x, scale.next());
      if constexpr (Program::kHasOffset) x = sum(x, offset.next());
      return x;
    }
  };
  // Numbers of another type, as many as `offset` counts in bytes of Held.
  template <typename Vector, typename Number, typename Array>
  static constexpr Vector* at(Array* array, std::uint64_t offset) {
    using Byte = std::conditional_t<std::is_same_v<Array, void>, std::byte, const std::byte>;
    return reinterpret_cast<Vector*>(static_cast<Byte*>(array) + offset / sizeof(Held) * sizeof(Number));
  }

  const ValueTileArrays& arrays_;
  std::byte* shared_;
};

/// A shape's numbers, but for the width, which is that of what the tile holds. `kAlongAxes`: factors may
/// differ along an axis.
template <typename Program, bool kRoundsFirst, int kSegmentBits, int kRowBits, int kVectorBits,
          int kThreadBits, bool kAlongAxes = false>
struct MoveValueTiles : ValueTileArrays {
  using Converting = ConvertingMemory<Program, kRoundsFirst, kAlongAxes>;
  using Held = typename Converting::Held;
  static constexpr int kWidthBits = sizeof(Held) == 1   ? 0
                                    : sizeof(Held) == 2 ? 1
                                    : sizeof(Held) == 4 ? 2
                                    : sizeof(Held) == 8 ? 3
                                                        : 4;
  static constexpr AffineTileShape kShape{.width_bits = kWidthBits,
                                          .segment_bits = kSegmentBits,
                                          .row_bits = kRowBits,
                                          .vector_bits = kVectorBits,
                                          .thread_bits = kThreadBits};
  static_assert(is_valid(kShape));
  static constexpr std::uint32_t kThreads = kShape.threads();
  // While some blocks wait for their loads, others store.
  static constexpr std::uint32_t kWantedThreads = 1280;  // of a multiprocessor
  static constexpr int kMinBlocks = kThreads < kWantedThreads ? int{kWantedThreads / kThreads} : 1;

  constexpr std::uint64_t blocks() const { return p.blocks(); }
  constexpr std::uint32_t shared_bytes() const { return kShape.tile_bytes(); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    Converting memory(*this, block.shared());
    load_tile<kShape>(memory, p, block.index(), block.thread());
    block.barrier();
    store_tile<kShape>(memory, p, block.index(), block.thread());
  }
};

}  // namespace faro::kernels
