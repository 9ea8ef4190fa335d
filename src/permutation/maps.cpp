#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/split_mix.hpp"

namespace faro::maps {
namespace {

using detail::SplitMix64;
using f2::Matrix;
using f2::Word;

constexpr int kMaxBits = f2::kMaxDimension;
void require_bits(const char* map, int n) {
  if (n < 0 || n > kMaxBits) fail(ErrorCode::value, map, "n = " + std::to_string(n), "n in 0..64");
}

void require_mask(const char* map, int n, Word mask) {
  if ((mask & ~f2::low_mask(n)) != 0) {
    fail(ErrorCode::value, map, "a mask with bit " + std::to_string(f2::leading_bit(mask)) + " set",
         "bits below n = " + std::to_string(n));
  }
}

// Bit i goes to bit to(i), which must be a bijection of 0..n-1: callers below know it is.
template <typename To>
Affine of_bits(int n, To to) {
  Matrix a = Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) a.set_column(i, f2::unit(to(i)));
  return Affine(a, 0);
}

// Fisher and Yates, from the top. The bias of `mod` is below 2^-57 and the same everywhere.
Matrix random_bit_permutation(int n, SplitMix64& random) {
  std::array<int, kMaxBits> to{};
  std::iota(to.begin(), to.end(), 0);
  for (int i = n - 1; i > 0; --i) {
    const auto j = static_cast<std::size_t>(random.next() % static_cast<std::uint64_t>(i + 1));
    std::swap(to[static_cast<std::size_t>(i)], to[j]);
  }
  Matrix a = Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) a.set_column(i, f2::unit(to[static_cast<std::size_t>(i)]));
  return a;
}

}  // namespace

Affine identity(int n) {
  require_bits("identity", n);
  return Affine(n);
}

Affine bit_reversal(int n) {
  require_bits("bit_reversal", n);
  return of_bits(n, [n](int i) { return n - 1 - i; });
}

Affine reverse(int n) {
  require_bits("reverse", n);
  return Affine(Matrix::identity(n), f2::low_mask(n));
}

Affine xor_mask(int n, Word mask) {
  require_bits("xor", n);
  require_mask("xor", n, mask);
  return Affine(Matrix::identity(n), mask);
}

Affine rotate_bits(int n, std::int64_t k) {
  require_bits("rotate_bits", n);
  if (n == 0) return Affine(0);
  const int shift = static_cast<int>((k % n + n) % n);
  return of_bits(n, [n, shift](int i) { return (i + shift) % n; });
}

Affine shuffle(int n) {
  require_bits("shuffle", n);
  return rotate_bits(n, 1);
}

Affine swap_bits(int n, int i, int j) {
  require_bits("swap_bits", n);
  for (const int position : {i, j}) {
    if (position < 0 || position >= n) {
      fail(ErrorCode::value, "swap_bits", "bit " + std::to_string(position),
           n == 0 ? "n above 0" : "a bit in 0.." + std::to_string(n - 1));
    }
  }
  return of_bits(n, [i, j](int k) { return k == i ? j : k == j ? i : k; });
}

Affine permute_bits(std::span<const int> to) {
  if (to.size() > static_cast<std::size_t>(kMaxBits)) {
    fail(ErrorCode::value, "bits", std::to_string(to.size()) + " positions", "at most 64");
  }
  const int n = static_cast<int>(to.size());
  Word taken = 0;
  for (const int position : to) {
    if (position < 0 || position >= n) {
      fail(ErrorCode::value, "bits", "position " + std::to_string(position),
           "each of 0.." + std::to_string(n - 1) + " exactly once");
    }
    if (f2::bit(taken, position)) {
      fail(ErrorCode::value, "bits", "position " + std::to_string(position) + " twice",
           "each of 0.." + std::to_string(n - 1) + " exactly once");
    }
    taken |= f2::unit(position);
  }
  return of_bits(n, [to](int i) { return to[static_cast<std::size_t>(i)]; });
}

Affine gray(int n) {
  require_bits("gray", n);
  Matrix a = Matrix::identity(n);
  for (int j = 1; j < n; ++j) a.set_column(j, f2::unit(j) | f2::unit(j - 1));
  return Affine(a, 0);
}

Affine sequency_of_dyadic(int n) {
  require_bits("sequency", n);
  return gray(n).inverse();
}

Affine sequency(int n) { return compose(sequency_of_dyadic(n), bit_reversal(n)); }

Affine transpose(std::uint64_t rows, std::uint64_t columns) {
  const auto sizes = std::to_string(rows) + " x " + std::to_string(columns);
  if (rows == 0 || columns == 0) fail(ErrorCode::value, "transpose", sizes, "sizes of at least 1");
  if (!f2::is_power_of_two(rows) || !f2::is_power_of_two(columns)) {
    fail(ErrorCode::unsupported, "transpose", sizes, "powers of two", "maps::transpose_any takes every size");
  }
  const int row_bits = f2::trailing_bit(rows);
  const int n = row_bits + f2::trailing_bit(columns);
  if (n > kMaxBits) fail(ErrorCode::value, "transpose", sizes, "at most 2^64 elements");
  // x = (row, column) with the column in the low bits; (column, row) is x rotated up by the bits of a row
  // number.
  return rotate_bits(n, row_bits);
}

Affine morton(int d, int b) {
  if (d < 1 || d > kMaxBits) fail(ErrorCode::value, "morton", "d = " + std::to_string(d), "d in 1..64");
  if (b < 0 || b > kMaxBits) fail(ErrorCode::value, "morton", "b = " + std::to_string(b), "b in 0..64");
  const int n = d * b;
  if (n > kMaxBits) fail(ErrorCode::value, "morton", "d b = " + std::to_string(n) + " bits", "at most 64");
  // Counted from the fastest axis, axis number f = d - 1 - a owns bits f b .. f b + b - 1 of the row-major
  // index.
  return of_bits(n, [d, b](int i) { return (i % b) * d + i / b; });
}

Affine parm(int n, Word mask) {
  require_bits("parm", n);
  require_mask("parm", n, mask);
  if (mask == 0)
    fail(ErrorCode::value, "parm", "a mask of zero", "at least one bit set",
         "parm divides by the parity of x & mask");
  const int low = f2::trailing_bit(mask);
  Matrix a = Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) {
    const Word kept = j < low ? f2::unit(j) : j > low ? f2::unit(j - 1) : 0;
    a.set_column(j, kept | (f2::bit(mask, j) ? f2::unit(n - 1) : 0));
  }
  return Affine(a, 0);
}

Affine random_bp(int n, std::uint64_t seed) {
  require_bits("random_bp", n);
  SplitMix64 random(seed);
  return Affine(random_bit_permutation(n, random), 0);
}

Affine random_bpc(int n, std::uint64_t seed) {
  require_bits("random_bpc", n);
  SplitMix64 random(seed);
  const Matrix a = random_bit_permutation(n, random);
  return Affine(a, random.next() & f2::low_mask(n));
}

Affine random_bmmc(int n, std::uint64_t seed) {
  require_bits("random_bmmc", n);
  SplitMix64 random(seed);
  // A column that depends on those before is drawn again, which makes every invertible matrix equally likely.
  f2::Subspace drawn(n);
  Matrix a = Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) {
    Word column = random.next() & f2::low_mask(n);
    while (!drawn.insert(column)) column = random.next() & f2::low_mask(n);
    a.set_column(j, column);
  }
  return Affine(a, random.next() & f2::low_mask(n));
}

}  // namespace faro::maps
