// C2R and R2C: the index equations of the transposition in place, of any m x n.
//
// An m x n array, row-major, is its transpose once element l of the memory is what was at [l mod m][l div m].
// C2R does that by permuting within columns and within rows only, so that one row or column of scratch is
// enough. With c = gcd(m, n), a = m / c, b = n / c:
//
//     rotate columns      new[i][j]       = old[(i + j div b) mod m][j]          nothing to do where c = 1
//     shuffle rows        new[i][d_i(j)]  = old[i][j]      d_i(j) = ((i + j div b) mod m + j m) mod n
//     shuffle columns     new[i][j]       = old[s_j(i)][j] s_j(i) = (j + i n - i div a) mod m
//
//     m = 3, n = 4, c = 1:    0 1  2  3          0 3 2  1           0 4 8  1
//                             4 5  6  7  --d-->  5 4 7  6  --s-->   5 9 2  6
//                             8 9 10 11         10 9 8 11          10 3 7 11
//
// which, read in rows of three, is the transpose: 0 4 8 | 1 5 9 | 2 6 10 | 3 7 11.
//
// Why rows can be shuffled at all: within row i, i + j m mod n has period b in j, so c elements would meet in
// one place; the rotation gives each of the c *panels* of b columns another row, and so another remainder.
//
// R2C is the inverse: the same three steps inverted, in the opposite order. On an array whose labels m and n
// have changed places it is the transposition as well, so an engine may choose which side is the columns'.
//
// The column shuffle is a permutation q of whole rows followed by a rotation of column j by j:
//
//     s_j(i) = (q(i) + j) mod m           q(i) = (i n - i div a) mod m
//
// and d_i has a short form by panel: j = p b + k gives d_i(j) = ((i + p) mod m + k m) mod n.
//
// All of it is constexpr, for kernels too; divisions are products (device/division.hpp).
// Source: Catanzaro, Keller and Garland, A decomposition for in-place matrix transposition, PPoPP 2014.
#pragma once

#include <cstdint>
#include <numeric>

#include "faro/device/division.hpp"

namespace faro::kernels {

/// The numbers of one shape. Requires of all functions below: rows i < m, columns j < n (unchecked).
struct C2rShape {
  std::uint64_t m = 1;          // rows, the length of a column
  std::uint64_t n = 1;          // columns, the length of a row
  std::uint64_t a = 1;          // m / c
  std::uint64_t b = 1;          // n / c, the columns of a panel
  std::uint64_t c = 1;          // gcd(m, n), the panels
  std::uint64_t a_inverse = 0;  // a a_inverse = 1 mod b
  std::uint64_t b_inverse = 0;  // b b_inverse = 1 mod a
  device::Division64 by_m;
  device::Division64 by_n;
  device::Division64 by_a;
  device::Division64 by_b;
  device::Division64 by_c;
};

namespace detail {

/// x mod the divisor.
constexpr std::uint64_t remainder(const device::Division64& by, std::uint64_t x) {
  by.divide(x);
  return x;
}

/// x y mod the divisor. Requires: x, y < divisor <= 2^41.
constexpr std::uint64_t multiply(const device::Division64& by, std::uint64_t x, std::uint64_t y) {
  constexpr int half = 20;
  if (by.divisor() <= std::uint64_t{1} << 31) return remainder(by, x * y);
  const std::uint64_t high = remainder(by, x * (y >> half));
  return remainder(by, (high << half) + x * (y & ((std::uint64_t{1} << half) - 1)));
}

/// x + y and x - y mod the divisor. Requires: x, y < divisor.
constexpr std::uint64_t add(std::uint64_t divisor, std::uint64_t x, std::uint64_t y) {
  return x + y < divisor ? x + y : x + y - divisor;
}
constexpr std::uint64_t subtract(std::uint64_t divisor, std::uint64_t x, std::uint64_t y) {
  return x >= y ? x - y : x + divisor - y;
}

/// y with x y = 1 mod `modulus`; 0 for modulus 1. Requires: coprime, below 2^62.
constexpr std::uint64_t inverse(std::uint64_t x, std::uint64_t modulus) {
  auto remainder0 = static_cast<std::int64_t>(modulus);
  auto remainder1 = static_cast<std::int64_t>(x % modulus);
  std::int64_t factor0 = 0;
  std::int64_t factor1 = 1;
  while (remainder1 != 0) {
    const std::int64_t quotient = remainder0 / remainder1;
    const std::int64_t remainder2 = remainder0 - quotient * remainder1;
    const std::int64_t factor2 = factor0 - quotient * factor1;
    remainder0 = remainder1;
    remainder1 = remainder2;
    factor0 = factor1;
    factor1 = factor2;
  }
  if (modulus == 1) return 0;
  return static_cast<std::uint64_t>(factor0 < 0 ? factor0 + static_cast<std::int64_t>(modulus) : factor0);
}

}  // namespace detail

/// Requires: 1 <= m, n; m n < 2^62; m, n <= 2^41 (unchecked).
constexpr C2rShape make_c2r_shape(std::uint64_t m, std::uint64_t n) {
  C2rShape s;
  s.m = m;
  s.n = n;
  s.c = std::gcd(m, n);
  s.a = m / s.c;
  s.b = n / s.c;
  s.a_inverse = detail::inverse(s.a, s.b);
  s.b_inverse = detail::inverse(s.b, s.a);
  s.by_m = device::Division64(m);
  s.by_n = device::Division64(n);
  s.by_a = device::Division64(s.a);
  s.by_b = device::Division64(s.b);
  s.by_c = device::Division64(s.c);
  return s;
}

/// The panel of column j, which is the rotation's amount: j div b.
constexpr std::uint64_t c2r_panel(const C2rShape& s, std::uint64_t j) { return s.by_b.quotient(j); }

/// The row that C2R's rotation reads: new[i][j] = old[rotated_row(i, j)][j].
constexpr std::uint64_t rotated_row(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  return detail::add(s.m, i, detail::remainder(s.by_m, c2r_panel(s, j)));
}
/// R2C's. Law: unrotated_row(rotated_row(i, j), j) = i.
constexpr std::uint64_t unrotated_row(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  return detail::subtract(s.m, i, detail::remainder(s.by_m, c2r_panel(s, j)));
}

/// Where C2R's row shuffle puts column j of row i; what R2C's reads: d_i(j).
/// Law: d_i is a permutation of the columns, for every i (theorem 3).
constexpr std::uint64_t shuffled_column(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  return detail::remainder(s.by_n, rotated_row(s, i, j) + j * s.m);
}
/// What C2R's row shuffle reads for column j of row i. Law: the inverse of shuffled_column.
constexpr std::uint64_t unshuffled_column(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  const std::uint64_t in_panel = detail::remainder(s.by_c, j);
  const bool wrapped = i + s.c > s.m + in_panel;
  std::uint64_t f = j + i * (s.n - 1) + (wrapped ? s.m : 0);
  const std::uint64_t quotient = s.by_c.divide(f);
  return detail::multiply(s.by_b, detail::remainder(s.by_b, quotient), s.a_inverse) + f * s.b;
}

/// The row factor of the column shuffle: q(i).
constexpr std::uint64_t ordered_row(const C2rShape& s, std::uint64_t i) {
  return detail::remainder(s.by_m, i * s.n - s.by_a.quotient(i));
}
/// Law: the inverse of ordered_row.
constexpr std::uint64_t unordered_row(const C2rShape& s, std::uint64_t i) {
  std::uint64_t in_group = i + s.c - 1;
  const std::uint64_t group = s.by_c.divide(in_group);
  const std::uint64_t step = s.c - 1 - in_group;  // -i mod c
  return detail::multiply(s.by_a, detail::remainder(s.by_a, group), s.b_inverse) + step * s.a;
}

/// The row that C2R's column shuffle reads: new[i][j] = old[column_source(i, j)][j]; where R2C's writes.
/// Law: s_j(i) = (q(i) + j) mod m.
constexpr std::uint64_t column_source(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  return detail::remainder(s.by_m, j + i * s.n - s.by_a.quotient(i));
}
/// The row that R2C's column shuffle reads. Law: the inverse of column_source in i.
constexpr std::uint64_t column_target(const C2rShape& s, std::uint64_t i, std::uint64_t j) {
  return unordered_row(s, detail::subtract(s.m, i, detail::remainder(s.by_m, j)));
}

/// The element that C2R as a whole reads, from element l = i n + j: [l mod m][l div m] as its place in
/// memory.
constexpr std::uint64_t c2r_source(const C2rShape& s, std::uint64_t l) {
  const std::uint64_t column = s.by_m.divide(l);
  return l * s.n + column;
}
/// R2C's. Law: the inverse of c2r_source.
constexpr std::uint64_t r2c_source(const C2rShape& s, std::uint64_t l) {
  const std::uint64_t column = s.by_n.divide(l);
  return l * s.m + column;
}

}  // namespace faro::kernels
