// The memory of kernels that move elements (faro/device/memory.hpp), where elements are numbers that change
// on their way: the same kernel, over a memory that converts what it reads or what it writes.
//
//     rounds first    in   vectors of From  -->  changed, rounded  -->  To     the kernel moves To
//     else            From  -->  changed, rounded  -->  vectors of To   out    the kernel moves From
//
// Offsets count in bytes of what the kernel moves, Held. A vector of it is as many numbers of the other type,
// in more bytes or fewer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"
#include "kernels/number_lanes.hpp"
#include "kernels/number_program.hpp"
#include "kernels/value_factors.hpp"

namespace faro::kernels {

/// What a launch works on, of every program and kernel.
struct ConvertedArrays {
  const void* in = nullptr;
  const void* addend = nullptr;  // lies as the output
  void* out = nullptr;
  PlacedFactors factors;
  std::uint64_t first = 0;  // the place of out[0] in the array whose axes the factors follow
};

/// Bytes of numbers of `held` bytes that are 16 of those of `other`, where these are wider, else 16.
constexpr int vector_beside(std::size_t held, std::size_t other) {
  return static_cast<int>(other > held ? 16 / other * held : 16);
}

/// Of a block. `kAlongAxes`: factors may differ along an axis. `kAddendAligned`: to as many numbers as the
/// kernel writes at once.
template <typename Program, bool kRoundsFirst, bool kAlongAxes, bool kAddendAligned>
class ConvertingMemory {
  static_assert(!kRoundsFirst || !kAlongAxes);

 public:
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = typename Program::Addend;
  using Held = std::conditional_t<kRoundsFirst, To, From>;
  /// Bytes of Held that a kernel may as well move at once, where the other type is wider: 16 of that.
  static constexpr int kLoadedVector = kRoundsFirst ? vector_beside(sizeof(Held), sizeof(From)) : 16;
  static constexpr int kStoredVector = kRoundsFirst ? 16 : vector_beside(sizeof(Held), sizeof(To));

  /// `tables`: the buffers after the input and the output, or null.
  constexpr ConvertingMemory(const ConvertedArrays& arrays, std::byte* shared,
                             const std::byte* const* tables = nullptr)
      : arrays_(arrays), shared_(shared), tables_(tables) {}

  template <int bytes>
  constexpr device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    if (buffer != device::kInput) return plain<bytes>(tables_[buffer - device::kOutput - 1], offset);
    if constexpr (bytes < sizeof(Held)) {  // which only tables have
      return plain<bytes>(arrays_.in, offset);
    } else {
      return made<bytes>(fetch<bytes>(offset));
    }
  }

  /// The input as it is, and what the kernel has of it: apart, so that all that a thread fetches is on its
  /// way before any of it is converted.
  template <int bytes>
  constexpr auto fetch(std::uint64_t offset) const {
    if constexpr (kRoundsFirst) {
      constexpr int kCount = bytes / static_cast<int>(sizeof(To));
      return *at<const Lanes<From, kCount>, From>(arrays_.in, offset);
    } else {
      return plain<bytes>(arrays_.in, offset);
    }
  }
  template <int bytes, typename Fetched>
  constexpr device::Packet<bytes> made(const Fetched& fetched) const {
    if constexpr (kRoundsFirst) {
      constexpr int kCount = bytes / static_cast<int>(sizeof(To));
      Lanes<To, kCount> rounded;
      PlacedProgram<Program, false> program(arrays_.factors, 0);
      FARO_UNROLL
      for (int i = 0; i < kCount; ++i) rounded.put(i, program.changed(fetched.get(i), {}));
      return std::bit_cast<device::Packet<bytes>>(rounded);
    } else {
      return fetched;
    }
  }

  template <int bytes>
  constexpr void store_global(int /*buffer*/, std::uint64_t offset,
                              const device::Packet<bytes>& packet) const {
    if constexpr (kRoundsFirst) {
      *reinterpret_cast<device::Packet<bytes>*>(static_cast<std::byte*>(arrays_.out) + offset) = packet;
    } else {
      constexpr int kCount = bytes / static_cast<int>(sizeof(From));
      const auto numbers = std::bit_cast<Lanes<From, kCount>>(packet);
      Lanes<Addend, kCount> others;
      if constexpr (Program::kHasAddend) {
        const auto* const added = at<const Addend, Addend>(arrays_.addend, offset);
        constexpr std::uintptr_t kVector = alignof(Lanes<Addend, kCount>);
        if (kAddendAligned || reinterpret_cast<std::uintptr_t>(added) % kVector == 0) {
          others = Lanes<Addend, kCount>::ahead(added);
        } else {
          FARO_UNROLL
          for (int i = 0; i < kCount; ++i) others.put(i, Lanes<Addend, 1>::ahead(added + i).get(0));
        }
      }
      Lanes<To, kCount> results;
      PlacedProgram<Program, kAlongAxes> program(arrays_.factors, arrays_.first + offset / sizeof(Held));
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
  template <int bytes>
  static constexpr device::Packet<bytes> plain(const void* array, std::uint64_t offset) {
    return *reinterpret_cast<const device::Packet<bytes>*>(static_cast<const std::byte*>(array) + offset);
  }
  // Numbers of another type, as many as `offset` counts in bytes of Held.
  template <typename Vector, typename Number, typename Array>
  static constexpr Vector* at(Array* array, std::uint64_t offset) {
    using Byte = std::conditional_t<std::is_same_v<Array, void>, std::byte, const std::byte>;
    return reinterpret_cast<Vector*>(static_cast<Byte*>(array) + offset / sizeof(Held) * sizeof(Number));
  }

  const ConvertedArrays& arrays_;
  std::byte* shared_;
  const std::byte* const* tables_;
};

/// Packets of such a memory as kernels that are given arrays have them (block_array.hpp).
template <typename Memory, int bytes>
struct ConvertedArray {
  const Memory& memory;
  std::uint64_t first = 0;

  constexpr device::Packet<bytes> get(std::uint64_t i) const {
    return memory.template load_global<bytes>(device::kInput, (first + i) * bytes);
  }
  constexpr auto fetch(std::uint64_t i) const { return memory.template fetch<bytes>((first + i) * bytes); }
  template <typename Fetched>
  constexpr device::Packet<bytes> made(const Fetched& fetched) const {
    return memory.template made<bytes>(fetched);
  }
  constexpr void put(std::uint64_t i, const device::Packet<bytes>& packet) const {
    memory.template store_global<bytes>(device::kOutput, (first + i) * bytes, packet);
  }
  constexpr void skip() const {}
  constexpr ConvertedArray from(std::uint64_t later) const { return {memory, first + later}; }
};

/// What a launch of a changed map works on.
template <typename Map>
struct ChangedMapArrays : ConvertedArrays {
  Map map;  // its own arrays are not used
};

/// A kernel of a map, of tiles or of parts, whose numbers change as it reads or as it writes them.
template <typename Program, bool kRoundsFirst, bool kAlongAxes, typename Map>
struct MoveChangedMap : ChangedMapArrays<Map> {
  static constexpr std::uint32_t kThreads = Map::kThreads;
  static constexpr int kMinBlocks = Map::kMinBlocks;

  constexpr std::uint64_t blocks() const { return this->map.blocks(); }
  constexpr std::uint32_t shared_bytes() const { return this->map.shared_bytes(); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    using Memory = ConvertingMemory<Program, kRoundsFirst, kAlongAxes, false>;
    using Array = ConvertedArray<Memory, static_cast<int>(sizeof(typename Map::Element))>;
    const Memory memory(*this, block.shared());
    this->map.move(block, Array{memory}, Array{memory});
  }
};

}  // namespace faro::kernels
