// The moves of the exchanges: registers within lanes, and rows between them, for anything that is a warp.
//
// A *warp* has kLanes lanes and
//
//     Each<V>                       a value of type V in every lane, with V's operators
//     lane()                        0, 1, .. kLanes - 1
//     select(condition, a, b)       a where the condition holds, else b
//     shuffle(value, lane)          the value of that lane, modulo kLanes
//     load<bytes>(base, unit, more, wanted), store<bytes>(.., value)
//                                   a packet at base + (unit + more) * bytes, zeros where it is not wanted
//
// On a GPU (CudaWarp, aos_warp.hpp) Each<V> is V, the lane's own; in tests it is an array over all lanes and
// counts its accesses. All indices of registers below are constants once the loops are unrolled: no register
// array ever needs an address.
//
// Rotation by an amount that differs from lane to lane, of three registers:
//
//     amount            0        1        2
//                     A B C    A B C    A B C
//     by 1 if bit 0   A B C    B C A    A B C
//     by 2 if bit 1   A B C    B C A    C A B
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/aos_exchange.hpp"
#include "faro/device/packet.hpp"

#if defined(__CUDACC__)
#define FARO_DEVICE __device__ __forceinline__
#else
#define FARO_DEVICE inline
#endif

namespace faro::device::aos {

/// How registers and lanes change places. For odd numbers of units both are the same.
enum class Method { row_column_row, column_row_column };

/// One struct, or any `units` units, in the registers of each lane.
template <typename Warp, int bytes, int units>
struct Registers {
  typename Warp::template Each<Packet<bytes>> unit[units];
};

enum class Turn { forward, backward };

/// Registers are extent x stride: coordinate x becomes (x + amount) mod extent's (backward: x - amount).
/// Requires: amount < limit (unchecked).   Cost: log2(limit) selects a register, rounded up.
template <Turn turn, std::uint32_t extent, std::uint32_t stride, std::uint32_t limit, typename Warp,
          int bytes, int units, typename Lane>
FARO_DEVICE void rotate(const Warp& warp, Registers<Warp, bytes, units>& registers, const Lane& amount) {
  constexpr auto count = static_cast<std::uint32_t>(units);
  FARO_UNROLL
  for (std::uint32_t step = 1; step < limit; step *= 2) {
    const auto is_set = (amount & step) != 0U;
    const std::uint32_t by = turn == Turn::forward ? step % extent : extent - step % extent;
    Registers<Warp, bytes, units> moved;
    FARO_UNROLL
    for (std::uint32_t r = 0; r < count; ++r) {
      const std::uint32_t x = r / stride % extent;
      moved.unit[r] =
          warp.select(is_set, registers.unit[r - x * stride + (x + by) % extent * stride], registers.unit[r]);
    }
    registers = moved;
  }
}

/// to.unit[r] = from.unit[source(r)], the same in every lane: a renaming.
template <typename Warp, int bytes, int units, typename Source>
FARO_DEVICE void rename(Registers<Warp, bytes, units>& registers, const Source& source) {
  Registers<Warp, bytes, units> moved;
  FARO_UNROLL
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(units); ++r)
    moved.unit[r] = registers.unit[source(r)];
  registers = moved;
}

/// Every lane takes register r of the lane from(r).   Cost: a shuffle a word.
template <typename Warp, int bytes, int units, typename From>
FARO_DEVICE void shuffle_rows(const Warp& warp, Registers<Warp, bytes, units>& registers, const From& from) {
  FARO_UNROLL
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(units); ++r) {
    registers.unit[r] = warp.shuffle(registers.unit[r], from(r));
  }
}

// Each exchange has, for registers as they were read, the column to read in row i; collect() makes them the
// lanes' own structs, spread() undoes that before a store.

template <Method method>
struct Exchange;

template <>
struct Exchange<Method::row_column_row> {
  template <typename Warp, int units, typename Lane>
  static FARO_DEVICE Lane column(const Lane& t, std::uint32_t i) {
    return RowColumnRow<units, Warp::kLanes>::column(t, i);
  }

  /// Up to the last step: unit r of the struct of lane owner(t, r).
  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void sort_units(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using Rcr = RowColumnRow<units, Warp::kLanes>;
    const auto t = warp.lane();
    rotate<Turn::backward, Rcr::a, 1, Rcr::a>(warp, registers, Rcr::rotation_of_y(t));
    rotate<Turn::forward, Rcr::c, Rcr::a, Rcr::c>(warp, registers, Rcr::rotation_of_x(t));
    rename(registers, [](std::uint32_t r) { return Rcr::rotated(r); });
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void unsort_units(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using Rcr = RowColumnRow<units, Warp::kLanes>;
    const auto t = warp.lane();
    rename(registers, [](std::uint32_t r) {
      return Rcr::c * (r % Rcr::a * Rcr::b % Rcr::a) + (Rcr::c - r / Rcr::a) % Rcr::c;
    });
    rotate<Turn::backward, Rcr::c, Rcr::a, Rcr::c>(warp, registers, Rcr::rotation_of_x(t));
    rotate<Turn::forward, Rcr::a, 1, Rcr::a>(warp, registers, Rcr::rotation_of_y(t));
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void collect(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    sort_units(warp, registers);
    const auto u = warp.lane();
    shuffle_rows(warp, registers,
                 [&](std::uint32_t r) { return RowColumnRow<units, Warp::kLanes>::holder(u, r); });
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void spread(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    const auto t = warp.lane();
    shuffle_rows(warp, registers,
                 [&](std::uint32_t r) { return RowColumnRow<units, Warp::kLanes>::owner(t, r); });
    unsort_units(warp, registers);
  }
};

template <>
struct Exchange<Method::column_row_column> {
  template <typename Warp, int units, typename Lane>
  static FARO_DEVICE Lane column(const Lane& t, std::uint32_t /*i: rows are read as they are*/) {
    return t;
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void collect(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using C2r = ColumnRowColumn<units, Warp::kLanes>;
    const auto t = warp.lane();
    rename(registers, [](std::uint32_t d) { return C2r::g(d); });
    rotate<Turn::forward, C2r::S, 1, C2r::S>(warp, registers, C2r::first_rotation(t));
    rename(registers, [](std::uint32_t k) { return (C2r::S - k) % C2r::S; });
    shuffle_rows(warp, registers, [&](std::uint32_t k) { return C2r::holder(t, k); });
    rotate<Turn::backward, C2r::S, 1, C2r::c>(warp, registers, C2r::second_rotation(t));
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE void spread(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using C2r = ColumnRowColumn<units, Warp::kLanes>;
    const auto t = warp.lane();
    rotate<Turn::forward, C2r::S, 1, C2r::c>(warp, registers, C2r::second_rotation(t));
    shuffle_rows(warp, registers, [&](std::uint32_t k) { return C2r::taker(t, k); });
    rename(registers, [](std::uint32_t e) { return (C2r::S - e) % C2r::S; });
    rotate<Turn::backward, C2r::S, 1, C2r::S>(warp, registers, C2r::first_rotation(t));
    Registers<Warp, bytes, units> read;
    FARO_UNROLL
    for (std::uint32_t d = 0; d < C2r::S; ++d) read.unit[C2r::g(d)] = registers.unit[d];
    registers = read;
  }
};

}  // namespace faro::device::aos
