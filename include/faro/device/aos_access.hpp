// Structs between an array and a warp's registers: the accesses around the exchanges, for anything that is a
// warp (aos_registers.hpp). Kernel authors call aos.hpp.
//
// All accesses of a warp are to S rows of W consecutive units. Row i of a contiguous access begins at unit iW
// of the warp's first struct; that of a gathered one is the same row of the wanted structs laid end to end:
//
//     S = 3, W = 8    lane      0   1   2   3   4   5   6   7
//     row 0           struct    0   0   0   1   1   1   2   2      two or three lanes side by side read
//     row 1           struct    2   3   3   3   4   4   4   5      neighbouring units of one struct
//     row 2           struct    5   5   6   6   6   7   7   7
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/aos_registers.hpp"

namespace faro::device::aos {

/// What to do with a struct's words: units of 4, 8 or 16 bytes, so many.
template <int unit_bytes, int unit_count, Method exchange>
struct Shape {
  static constexpr int bytes = unit_bytes;
  static constexpr int units = unit_count;
  static constexpr Method method = exchange;
};

/// Rows as they are read: of the warp's structs the first `structs`, zeros after them.
template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE auto read_rows(const Warp& warp, const std::byte* first, const Lane& structs) {
  constexpr auto lanes = static_cast<std::uint32_t>(Warp::kLanes);
  const auto t = warp.lane();
  Registers<Warp, Shape::bytes, Shape::units> registers;
  FARO_UNROLL
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Shape::units); ++i) {
    const auto column = Exchange<Shape::method>::template column<Warp, Shape::units>(t, i);
    if constexpr (whole) {
      registers.unit[i] = warp.template load<Shape::bytes>(first, column, i * lanes, true);
    } else {
      const auto wanted = column + i * lanes < structs * static_cast<std::uint32_t>(Shape::units);
      registers.unit[i] = warp.template load<Shape::bytes>(first, column, i * lanes, wanted);
    }
  }
  return registers;
}

template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE void write_rows(const Warp& warp, std::byte* first, const Lane& structs,
                                   const Registers<Warp, Shape::bytes, Shape::units>& registers) {
  constexpr auto lanes = static_cast<std::uint32_t>(Warp::kLanes);
  const auto t = warp.lane();
  FARO_UNROLL
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Shape::units); ++i) {
    const auto column = Exchange<Shape::method>::template column<Warp, Shape::units>(t, i);
    if constexpr (whole) {
      warp.template store<Shape::bytes>(first, column, i * lanes, registers.unit[i], true);
    } else {
      const auto wanted = column + i * lanes < structs * static_cast<std::uint32_t>(Shape::units);
      warp.template store<Shape::bytes>(first, column, i * lanes, registers.unit[i], wanted);
    }
  }
}

/// Lane u's own struct, u of those at `first`.
/// Cost: S loads, the exchange.
template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE auto load_rows(const Warp& warp, const std::byte* first, const Lane& structs) {
  auto registers = read_rows<Shape, whole>(warp, first, structs);
  if constexpr (Shape::units > 1) Exchange<Shape::method>::collect(warp, registers);
  return registers;
}

template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE void store_rows(const Warp& warp, std::byte* first, const Lane& structs,
                                   Registers<Warp, Shape::bytes, Shape::units> registers) {
  if constexpr (Shape::units > 1) Exchange<Shape::method>::spread(warp, registers);
  write_rows<Shape, whole>(warp, first, structs, registers);
}

/// The unit that lane t reads of row i among gathered structs, and whether it is wanted.
template <typename Address, typename Wanted>
struct GatheredUnit {
  Address unit;
  Wanted wanted;
};

/// `wanted`: a bit a lane. Requires: called by all lanes.   Cost: a shuffle, of 8-byte indices two.
template <typename Shape, typename Warp, typename Index, typename Mask>
FARO_DEVICE_INLINE auto gathered_unit(const Warp& warp, const Index& index, const Mask& wanted,
                                      std::uint32_t i) {
  constexpr auto units = static_cast<std::uint32_t>(Shape::units);
  const auto column = Exchange<Shape::method>::template column<Warp, Shape::units>(warp.lane(), i);
  const auto unit = column + i * static_cast<std::uint32_t>(Warp::kLanes);
  const auto owner = unit / units;
  const auto address = warp.widen(warp.shuffle(index, owner)) * std::uint64_t{units} + unit % units;
  const auto is_wanted = (wanted >> owner & 1U) != 0U;
  return GatheredUnit<decltype(address), decltype(is_wanted)>{address, is_wanted};
}

/// Lane u's struct array[index], zeros where the bit of the lane is not set.
/// Cost: S loads, as many shuffles of indices, the exchange.
template <typename Shape, typename Warp, typename Index, typename Mask>
FARO_DEVICE_INLINE auto gather_rows(const Warp& warp, const std::byte* array, const Index& index,
                                    const Mask& wanted) {
  Registers<Warp, Shape::bytes, Shape::units> registers;
  FARO_UNROLL
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Shape::units); ++i) {
    const auto from = gathered_unit<Shape>(warp, index, wanted, i);
    registers.unit[i] = warp.template load<Shape::bytes>(array, from.unit, 0, from.wanted);
  }
  if constexpr (Shape::units > 1) Exchange<Shape::method>::collect(warp, registers);
  return registers;
}

template <typename Shape, typename Warp, typename Index, typename Mask>
FARO_DEVICE_INLINE void scatter_rows(const Warp& warp, std::byte* array, const Index& index,
                                     const Mask& wanted,
                                     Registers<Warp, Shape::bytes, Shape::units> registers) {
  if constexpr (Shape::units > 1) Exchange<Shape::method>::spread(warp, registers);
  FARO_UNROLL
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Shape::units); ++i) {
    const auto to = gathered_unit<Shape>(warp, index, wanted, i);
    warp.template store<Shape::bytes>(array, to.unit, 0, registers.unit[i], to.wanted);
  }
}

/// Plane k of the structs' word k; `planes` is where the word 0 of the warp's first struct goes, the planes
/// are `stride` words apart. No shuffle.   Cost: S loads, a store a word, the selects of one column.
template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE void rows_to_planes(const Warp& warp, const std::byte* first, std::byte* planes,
                                       std::uint64_t stride, const Lane& structs) {
  static_assert(Shape::method == Method::row_column_row);
  constexpr std::uint32_t words = Shape::bytes / 4;
  auto registers = read_rows<Shape, whole>(warp, first, structs);
  Exchange<Method::row_column_row>::sort_units(warp, registers);
  FARO_UNROLL
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(Shape::units); ++r) {
    const auto owner = RowColumnRow<Shape::units, Warp::kLanes>::owner(warp.lane(), r);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < words; ++k) {
      std::byte* const plane = planes + (r * words + k) * stride * 4;
      warp.template store<4>(plane, owner, 0, warp.word(registers.unit[r], k), owner < structs);
    }
  }
}

template <typename Shape, bool whole, typename Warp, typename Lane>
FARO_DEVICE_INLINE void planes_to_rows(const Warp& warp, const std::byte* planes, std::byte* first,
                                       std::uint64_t stride, const Lane& structs) {
  static_assert(Shape::method == Method::row_column_row);
  constexpr std::uint32_t words = Shape::bytes / 4;
  Registers<Warp, Shape::bytes, Shape::units> registers;
  FARO_UNROLL
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(Shape::units); ++r) {
    const auto owner = RowColumnRow<Shape::units, Warp::kLanes>::owner(warp.lane(), r);
    FARO_UNROLL
    for (std::uint32_t k = 0; k < words; ++k) {
      const std::byte* const plane = planes + (r * words + k) * stride * 4;
      warp.set_word(registers.unit[r], k, warp.template load<4>(plane, owner, 0, owner < structs));
    }
  }
  Exchange<Method::row_column_row>::unsort_units(warp, registers);
  write_rows<Shape, whole>(warp, first, structs, registers);
}

}  // namespace faro::device::aos

// The warp of a GPU, as the exchanges see it (aos_registers.hpp). Empty but for CUDA compilers; no CUDA
// header is needed.

#if defined(__CUDACC__)

namespace faro::device::aos {

template <int bytes>
struct MachineWord;
template <>
struct MachineWord<4> {
  using Type = unsigned int;
};
template <>
struct MachineWord<8> {
  using Type = uint2;
};
template <>
struct MachineWord<16> {
  using Type = uint4;
};

/// All 32 lanes, converged. Memory is any that a pointer reaches.
struct CudaWarp {
  static constexpr int kLanes = 32;
  template <typename V>
  using Each = V;

  FARO_DEVICE_INLINE std::uint32_t lane() const {
    std::uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    __builtin_assume(lane < 32);
    return lane;
  }

  template <int bytes>
  FARO_DEVICE_INLINE Packet<bytes> select(bool condition, const Packet<bytes>& a,
                                          const Packet<bytes>& b) const {
    Packet<bytes> selected;
    FARO_UNROLL
    for (int k = 0; k < Packet<bytes>::kUnits; ++k) {
      const std::uint32_t of_a = a.unit[k];
      const std::uint32_t of_b = b.unit[k];
      selected.unit[k] = condition ? of_a : of_b;
    }
    return selected;
  }

  FARO_DEVICE_INLINE std::uint32_t shuffle(std::uint32_t value, std::uint32_t lane) const {
    return __shfl_sync(0xffff'ffffU, value, static_cast<int>(lane));
  }
  FARO_DEVICE_INLINE std::uint64_t shuffle(std::uint64_t value, std::uint32_t lane) const {
    return __shfl_sync(0xffff'ffffU, static_cast<unsigned long long>(value), static_cast<int>(lane));
  }
  template <int bytes>
  FARO_DEVICE_INLINE Packet<bytes> shuffle(const Packet<bytes>& value, std::uint32_t lane) const {
    Packet<bytes> taken;
    FARO_UNROLL
    for (int k = 0; k < Packet<bytes>::kUnits; ++k) taken.unit[k] = shuffle(value.unit[k], lane);
    return taken;
  }

  FARO_DEVICE_INLINE std::uint64_t widen(std::uint64_t value) const { return value; }

  template <int bytes>
  FARO_DEVICE_INLINE Packet<4> word(const Packet<bytes>& packet, std::uint32_t k) const {
    return {{packet.unit[k]}};
  }
  template <int bytes>
  FARO_DEVICE_INLINE void set_word(Packet<bytes>& packet, std::uint32_t k, const Packet<4>& value) const {
    packet.unit[k] = value.unit[0];
  }

  template <int bytes, typename Unit>
  FARO_DEVICE_INLINE Packet<bytes> load(const std::byte* base, Unit unit, std::uint32_t more,
                                        bool wanted) const {
    using Word = typename MachineWord<bytes>::Type;
    Word word{};
    if (wanted) word = reinterpret_cast<const Word*>(base)[std::uint64_t{unit} + more];
    return __builtin_bit_cast(Packet<bytes>, word);
  }
  template <int bytes, typename Unit>
  FARO_DEVICE_INLINE void store(std::byte* base, Unit unit, std::uint32_t more, const Packet<bytes>& value,
                                bool wanted) const {
    using Word = typename MachineWord<bytes>::Type;
    if (wanted) reinterpret_cast<Word*>(base)[std::uint64_t{unit} + more] = __builtin_bit_cast(Word, value);
  }
};

}  // namespace faro::device::aos

#endif
