// The exchange of structs between memory and the registers of a warp: closed forms for every size of struct.
//
// W lanes want W neighbouring structs of S units each, lane u the units uS .. uS + S - 1. Read as they are
// wanted, they lie S apart and no access is coalesced; read in a row, they are in the wrong registers of the
// wrong lanes. Registers are rows and lanes columns, S = 4 and W = 8:
//
//     wanted                          read in a row                    read, rows shuffled by the address (1)
//     0  4  8 12 16 20 24 28          0  1  2  3  4  5  6  7           0  1  2  3  4  5  6  7
//     1  5  9 13 17 21 25 29          8  9 10 11 12 13 14 15           11 8  9 10 15 12 13 14
//     2  6 10 14 18 22 26 30          16 17 18 19 20 21 22 23          18 19 16 17 22 23 20 21
//     3  7 11 15 19 23 27 31          24 25 26 27 28 29 30 31          25 26 27 24 29 30 31 28
//
//     columns permuted (2)            owners u of those                rows shuffled (3): wanted
//     0  8 16 24  4 12 20 28          0 2 4 6 1 3 5 7                  0  4  8 12 16 20 24 28
//     25 1  9 17 29  5 13 21          6 0 2 4 7 1 3 5                  1  5  9 13 17 21 25 29
//     18 26 2 10 22 30  6 14          4 6 0 2 5 7 1 3                  2  6 10 14 18 22 26 30
//     11 19 27 3 15 23 31  7          2 4 6 0 3 5 7 1                  3  7 11 15 19 23 27 31
//
// After (2) row r has unit r of every struct, in some order of the structs. Code that stores the units row by
// row, or does the same to all of a row, does not need (3). (1) is part of an address and (2) moves a lane's
// own registers; only (3), S shuffles, moves anything from lane to lane. This is the row-column-row exchange.
// With c = gcd(S, W), a = S / c, b = W / c, and r = cp + q:
//
//     (1) lane t reads of row i the column      c (t div c) + ((t - i div a) mod c)
//     (2) register r comes from register        a ((t - q) mod c) + ((p - t div c) b^-1 mod a)
//         whose struct is                       u = b ((t - q) mod c) + ((t div c - p) a^-1 mod b)
//     (3) lane u takes register r of lane       uS + cp + ((u div b + q) mod c)          modulo W
//
// (2) is two rotations of registers by amounts that differ from lane to lane, each in steps of 1, 2, 4, ...
//
// The column-row-column exchange (C2R) reads rows as they are and needs a second move of registers instead:
//
//     (1) register k comes from register        g((t - k) mod S)
//         where g(d) is                         a (d mod c) + (-(d div c) b^-1 mod a)
//     (2) lane u takes register k of lane       uS + (k + u div b) mod S                 modulo W
//     (3) register r comes from register        (r - u div b) mod S
//
// For odd S the two are the same. Sources: Phothilimthana et al., Swizzle Inventor (2019), for S = 2, 3, 4,
// 5, 7; Catanzaro, Keller and Garland (2014) for C2R.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "faro/device/memory.hpp"

#if defined(__CUDACC__)
#define FARO_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define FARO_HOST_DEVICE inline
#endif

namespace faro::device::aos {

/// x with value * x = 1 modulo m; 0 for m = 1. Requires: coprime (unchecked).
constexpr std::uint32_t inverse_modulo(std::uint32_t value, std::uint32_t m) {
  for (std::uint32_t x = 0; x < m; ++x) {
    if (value % m * x % m == 1 % m) return x;
  }
  return 0;
}

/// Sizes that both exchanges share. Numbers of lanes are meant modulo the warp.
template <int units, int lanes>
struct ExchangeSizes {
  static_assert(units >= 1 && lanes >= 1 && (lanes & (lanes - 1)) == 0);

  static constexpr std::uint32_t S = units;
  static constexpr std::uint32_t W = lanes;
  static constexpr std::uint32_t c = std::gcd(S, W);  // a power of two, as W is
  static constexpr std::uint32_t a = S / c;
  static constexpr std::uint32_t b = W / c;
  static constexpr std::uint32_t a_inverse = inverse_modulo(a, b);
  static constexpr std::uint32_t b_inverse = inverse_modulo(b, a);
};

/// The index functions; Lane is std::uint32_t, or anything with its operators.
template <int units, int lanes>
struct RowColumnRow : ExchangeSizes<units, lanes> {
  using Sizes = ExchangeSizes<units, lanes>;
  using Sizes::S, Sizes::W, Sizes::c, Sizes::a, Sizes::b;

  /// (1): what lane t reads of row i.
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane column(Lane t, std::uint32_t i) {
    return (t & ~(c - 1)) | ((t - i / a) & (c - 1));
  }

  /// (2): by how much registers are rotated, along the coordinates x of c and y of a of register ax + y.
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane rotation_of_x(Lane t) {
    return t & (c - 1);
  }
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane rotation_of_y(Lane t) {
    return t / c * Sizes::b_inverse % a;
  }
  /// The rotated register that becomes register r: the part that is the same in every lane.
  static FARO_HOST_DEVICE constexpr std::uint32_t rotated(std::uint32_t r) {
    return a * ((c - r % c) % c) + r / c * Sizes::b_inverse % a;
  }

  /// Whose unit r lane t has after (2).
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane owner(Lane t, std::uint32_t r) {
    return ((t - r % c) & (c - 1)) * b + ((t / c - r / c) * Sizes::a_inverse & (b - 1));
  }

  /// (3): the lane that has unit r of lane u's struct.
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane holder(Lane u, std::uint32_t r) {
    return u * S + (r - r % c) + ((u / b + r % c) & (c - 1));
  }
};

template <int units, int lanes>
struct ColumnRowColumn : ExchangeSizes<units, lanes> {
  using Sizes = ExchangeSizes<units, lanes>;
  using Sizes::S, Sizes::W, Sizes::c, Sizes::a, Sizes::b;

  /// (1): after a rotation of registers g(0), g(1), ... by t mod S.
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane first_rotation(Lane t) {
    return t % S;
  }
  static FARO_HOST_DEVICE constexpr std::uint32_t g(std::uint32_t d) {
    return a * (d % c) + (a - d / c % a) * Sizes::b_inverse % a;
  }

  /// (2): the lane whose register lane u takes into register k; and the reverse, the lane that takes register
  /// k of lane t.
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane holder(Lane u, std::uint32_t k) {
    return u * S + (u / b + k) % S;
  }
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane taker(Lane t, std::uint32_t k) {
    const Lane x = (t - k) & (c - 1);
    return x * b + ((t / c - (x + k) % S / c) * Sizes::a_inverse & (b - 1));
  }

  /// (3)
  template <typename Lane>
  static FARO_HOST_DEVICE constexpr Lane second_rotation(Lane u) {
    return u / b;
  }
};

}  // namespace faro::device::aos

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
// On a GPU (CudaWarp, aos_access.hpp) Each<V> is V, the lane's own; in tests it is an array over all lanes
// and counts its accesses. All indices of registers below are constants once the loops are unrolled: no
// register array ever needs an address.
//
// Rotation by an amount that differs from lane to lane, of three registers:
//
//     amount            0        1        2
//                     A B C    A B C    A B C
//     by 1 if bit 0   A B C    B C A    A B C
//     by 2 if bit 1   A B C    B C A    C A B

#if defined(__CUDACC__)
#define FARO_DEVICE_INLINE __device__ __forceinline__
#else
#define FARO_DEVICE_INLINE inline
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
FARO_DEVICE_INLINE void rotate(const Warp& warp, Registers<Warp, bytes, units>& registers,
                               const Lane& amount) {
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
FARO_DEVICE_INLINE void rename(Registers<Warp, bytes, units>& registers, const Source& source) {
  Registers<Warp, bytes, units> moved;
  FARO_UNROLL
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(units); ++r)
    moved.unit[r] = registers.unit[source(r)];
  registers = moved;
}

/// Every lane takes register r of the lane from(r).   Cost: a shuffle a word.
template <typename Warp, int bytes, int units, typename From>
FARO_DEVICE_INLINE void shuffle_rows(const Warp& warp, Registers<Warp, bytes, units>& registers,
                                     const From& from) {
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
  static FARO_DEVICE_INLINE Lane column(const Lane& t, std::uint32_t i) {
    return RowColumnRow<units, Warp::kLanes>::column(t, i);
  }

  /// Up to the last step: unit r of the struct of lane owner(t, r).
  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void sort_units(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using Rcr = RowColumnRow<units, Warp::kLanes>;
    const auto t = warp.lane();
    rotate<Turn::backward, Rcr::a, 1, Rcr::a>(warp, registers, Rcr::rotation_of_y(t));
    rotate<Turn::forward, Rcr::c, Rcr::a, Rcr::c>(warp, registers, Rcr::rotation_of_x(t));
    rename(registers, [](std::uint32_t r) { return Rcr::rotated(r); });
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void unsort_units(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using Rcr = RowColumnRow<units, Warp::kLanes>;
    const auto t = warp.lane();
    rename(registers, [](std::uint32_t r) {
      return Rcr::c * (r % Rcr::a * Rcr::b % Rcr::a) + (Rcr::c - r / Rcr::a) % Rcr::c;
    });
    rotate<Turn::backward, Rcr::c, Rcr::a, Rcr::c>(warp, registers, Rcr::rotation_of_x(t));
    rotate<Turn::forward, Rcr::a, 1, Rcr::a>(warp, registers, Rcr::rotation_of_y(t));
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void collect(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    sort_units(warp, registers);
    const auto u = warp.lane();
    shuffle_rows(warp, registers,
                 [&](std::uint32_t r) { return RowColumnRow<units, Warp::kLanes>::holder(u, r); });
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void spread(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    const auto t = warp.lane();
    shuffle_rows(warp, registers,
                 [&](std::uint32_t r) { return RowColumnRow<units, Warp::kLanes>::owner(t, r); });
    unsort_units(warp, registers);
  }
};

template <>
struct Exchange<Method::column_row_column> {
  template <typename Warp, int units, typename Lane>
  static FARO_DEVICE_INLINE Lane column(const Lane& t, std::uint32_t /*i: rows are read as they are*/) {
    return t;
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void collect(const Warp& warp, Registers<Warp, bytes, units>& registers) {
    using C2r = ColumnRowColumn<units, Warp::kLanes>;
    const auto t = warp.lane();
    rename(registers, [](std::uint32_t d) { return C2r::g(d); });
    rotate<Turn::forward, C2r::S, 1, C2r::S>(warp, registers, C2r::first_rotation(t));
    rename(registers, [](std::uint32_t k) { return (C2r::S - k) % C2r::S; });
    shuffle_rows(warp, registers, [&](std::uint32_t k) { return C2r::holder(t, k); });
    rotate<Turn::backward, C2r::S, 1, C2r::c>(warp, registers, C2r::second_rotation(t));
  }

  template <typename Warp, int bytes, int units>
  static FARO_DEVICE_INLINE void spread(const Warp& warp, Registers<Warp, bytes, units>& registers) {
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
