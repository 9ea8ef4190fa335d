// A permutation of any number of elements that is computed, not stored: a Feistel network on the next power
// of two, repeated until the result is in range.
//
//     x = high | low      high ^= hash(low)   low ^= hash(high)   high ^= …      kRounds times,
//                                                                                then again while x >= count
//
// Each round undoes itself, so the network is a permutation of 2^bits; following a cycle of it until it is
// back in range is one of `count`. Fewer than two trials on the mean. Good enough for tests and benchmarks,
// and no more: of the count! permutations it reaches 2^64.
//
// Source: cycle walking, Black and Rogaway, "Ciphers with arbitrary finite domains" (2002).
#pragma once

#include <cstdint>

namespace faro::cuda {

struct FeistelPermutation {
  static constexpr int kRounds = 8;

  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  std::int32_t low_bits = 0;
  std::int32_t high_bits = 0;

  /// Requires: count at most 2^63 (unchecked).
  static constexpr FeistelPermutation of(std::uint64_t count, std::uint64_t seed) {
    std::int32_t bits = 0;
    while (std::uint64_t{1} << bits < count) ++bits;
    return {.count = count, .seed = seed, .low_bits = bits / 2, .high_bits = bits - bits / 2};
  }

  /// Requires: x < count (unchecked).
  constexpr std::uint64_t operator()(std::uint64_t x) const {
    do {
      x = network(x);
    } while (x >= count);
    return x;
  }

 private:
  constexpr std::uint64_t network(std::uint64_t x) const {
    const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1;
    const std::uint64_t high_mask = (std::uint64_t{1} << high_bits) - 1;
    std::uint64_t low = x & low_mask;
    std::uint64_t high = x >> low_bits;
    for (int round = 0; round < kRounds; round += 2) {
      high ^= hash(low, round) & high_mask;
      low ^= hash(high, round + 1) & low_mask;
    }
    return high << low_bits | low;
  }

  // SplitMix64's finaliser, of a half, the seed and the round.
  constexpr std::uint64_t hash(std::uint64_t half, int round) const {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
    std::uint64_t z = (half + 1) * kStep ^ (seed + static_cast<std::uint64_t>(round) * kStep);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
};

}  // namespace faro::cuda
