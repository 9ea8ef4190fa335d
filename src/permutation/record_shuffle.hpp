// A random permutation of any number of records, computed from a seed: no table, so that files of any size
// are shuffled, and the same on every machine, for every budget of memory and number of threads.
//
//     index of b bits      left | right      rounds in turns:   left ^= f(right),  right ^= f(left)
//
// Such a ladder of rounds (Luby and Rackoff) permutes 2^b indices for any f. Of 2^b >= count it is applied
// until it gives an index below the count, less than twice on the mean, which permutes the count. Up to 4096
// records are drawn by Fisher and Yates' shuffle, so that few records take every order that 64 bits of seed
// can tell apart. The permutation is a fixed function of count and seed: files and tests depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace faro {

class RecordShuffle {
 public:
  RecordShuffle(std::uint64_t count, std::uint64_t seed);

  std::uint64_t count() const { return count_; }
  std::uint64_t seed() const { return seed_; }

  /// Where record x goes. Requires: x < count() (unchecked).
  std::uint64_t operator()(std::uint64_t x) const {
    if (!to_.empty()) return to_[x];
    do {
      for (std::size_t round = 0; round < kRounds; ++round) x = turned(x, round);
    } while (x >= count_);
    return x;
  }

  /// Law: inverse((*this)(x)) == x.
  std::uint64_t inverse(std::uint64_t y) const {
    if (!from_.empty()) return from_[y];
    do {
      for (std::size_t round = kRounds; round-- > 0;) y = turned(y, round);
    } while (y >= count_);
    return y;
  }

 private:
  static constexpr std::size_t kRounds = 10;

  // One half changed by a function of the other: its own inverse.
  std::uint64_t turned(std::uint64_t x, std::size_t round) const {
    const std::uint64_t right = x & right_mask_;
    const std::uint64_t left = x >> right_bits_;
    const bool is_even = round % 2 == 0;
    std::uint64_t h = ((is_even ? right : left) + keys_[round]) * 0x9e3779b97f4a7c15;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
    h ^= h >> 32;
    return is_even ? x ^ (h & left_mask_) << right_bits_ : x ^ (h & right_mask_);
  }

  std::uint64_t count_;
  std::uint64_t seed_;
  int right_bits_ = 0;
  std::uint64_t right_mask_ = 0;
  std::uint64_t left_mask_ = 0;
  std::array<std::uint64_t, kRounds> keys_{};
  std::vector<std::uint32_t> to_;  // of few records
  std::vector<std::uint32_t> from_;
};

}  // namespace faro
