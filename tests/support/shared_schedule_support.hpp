// Permutations that the conflict-free schedules are tested with, and arrays to permute.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "drawn.hpp"

namespace faro::testing {

using List = std::vector<std::uint32_t>;

struct NamedList {
  std::string name;
  List list;
};

inline List identity_list(std::uint32_t n) {
  List list(n);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

inline List random_list(std::uint32_t n, std::uint64_t seed) {
  List list = identity_list(n);
  std::mt19937_64 random(seed);
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

/// P(i w + j) = j n/w + i. Requires: w divides n.
inline List transpose_list(std::uint32_t n, std::uint32_t w) {
  List list(n);
  for (std::uint32_t i = 0; i < n / w; ++i) {
    for (std::uint32_t j = 0; j < w; ++j) list[i * w + j] = j * (n / w) + i;
  }
  return list;
}

/// Index bits rotated left by one. Requires: n a power of two.
inline List shuffle_list(std::uint32_t n) {
  List list(n);
  for (std::uint32_t i = 0; i < n; ++i) list[i] = (2 * i) % n + 2 * i / n;
  return list;
}

inline List bit_reversal_list(std::uint32_t n) {
  List list(n);
  const int bits = std::countr_zero(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (int b = 0; b < bits; ++b) list[i] |= (i >> b & 1) << (bits - 1 - b);
  }
  return list;
}

/// What consecutive elements want is one bank, until all of that bank is given away: w turns wherever n is at
/// least w^2. Any n.
inline List adversarial_list(std::uint32_t n, std::uint32_t w) {
  List list = identity_list(n);
  std::stable_sort(list.begin(), list.end(), [w](std::uint32_t a, std::uint32_t b) { return a % w < b % w; });
  std::rotate(list.begin(), list.begin() + n / 3, list.end());
  return list;
}

/// Bank b's elements all stay in a bank, b + 1, but for a random half of the rows: edges are parallel to many
/// others. Requires: w divides n.
inline List parallel_list(std::uint32_t n, std::uint32_t w, std::uint64_t seed) {
  List list(n);
  const List rows = random_list(n / w, seed);
  for (std::uint32_t i = 0; i < n; ++i) list[i] = rows[i / w] * w + (i + 1) % w;
  std::mt19937_64 random(seed);
  std::shuffle(list.begin(), list.begin() + n / 2, random);
  return list;
}

/// Requires: n a power of two, w one that divides it.
inline std::vector<NamedList> named_lists(std::uint32_t n, std::uint32_t w) {
  List reversal = identity_list(n);
  std::reverse(reversal.begin(), reversal.end());
  return {{"identity", identity_list(n)},         {"random", random_list(n, 7)},
          {"transpose", transpose_list(n, w)},    {"shuffle", shuffle_list(n)},
          {"bit reversal", bit_reversal_list(n)}, {"adversarial", adversarial_list(n, w)},
          {"parallel", parallel_list(n, w, 3)},   {"reversal", reversal}};
}

using Bytes = std::vector<std::byte>;

using test::random_bytes;

/// out[k n + P(i)] = in[k n + i].
inline Bytes permuted(const Bytes& in, const List& permutation, std::size_t element_bytes) {
  Bytes out(in.size());
  const std::size_t elements = in.size() / element_bytes;
  const std::size_t n = permutation.size();
  for (std::size_t e = 0; e < elements; ++e) {
    std::memcpy(&out[(e - e % n + permutation[e % n]) * element_bytes], &in[e * element_bytes],
                element_bytes);
  }
  return out;
}

inline std::span<const std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  return std::as_bytes(std::span(words));
}

}  // namespace faro::testing
