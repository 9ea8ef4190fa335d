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

#include <cstdint>
#include <numeric>

#include "faro/device/unroll.hpp"

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
