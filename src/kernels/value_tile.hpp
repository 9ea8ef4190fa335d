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

#include "kernels/affine_tile.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_factors.hpp"

namespace faro::kernels {

/// What a launch works on, of every program and shape.
struct ValueTileArrays {
  AffineTileParams p;
  const void* in = nullptr;
  const void* addend = nullptr;  // lies as the output
  void* out = nullptr;
  PlacedFactors factors;
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
      PlacedProgram<Program, false> program(arrays_.factors, 0);
      FARO_UNROLL
      for (int i = 0; i < kCount; ++i) rounded.put(i, program.changed(numbers.get(i), {}));
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
      PlacedProgram<Program, kAlongAxes> program(arrays_.factors, offset / sizeof(Held));
      FARO_UNROLL
      for (int i = 0; i < kCount; ++i) results.put(i, program.changed(numbers.get(i), others.get(i)));
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
