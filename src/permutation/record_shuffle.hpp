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

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
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

  /// x[i] = (*this)(x[i]), or with `inverse` inverse(x[i]): a round at a time over many of them, which do not
  /// wait for one another, in half the time.
  void apply(std::span<std::uint64_t> x, bool inverse) const {
    for (std::size_t begin = 0; begin < x.size(); begin += kTogether) {
      const std::span<std::uint64_t> part = x.subspan(begin, std::min(kTogether, x.size() - begin));
      if (to_.empty()) {
        apply_rounds(part, inverse);
      } else {
        for (std::uint64_t& each : part) each = inverse ? from_[each] : to_[each];
      }
    }
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
  static constexpr std::size_t kTogether = 256;

  std::uint64_t turned(std::uint64_t x, std::size_t round) const {
    return round % 2 == 0 ? turned_left(x, keys_[round]) : turned_right(x, keys_[round]);
  }

  void apply_rounds(std::span<std::uint64_t> x, bool inverse) const {
    std::array<std::uint64_t, kTogether> again;  // those that are not below the count yet
    std::array<std::uint16_t, kTogether> from;
    std::size_t left = 0;
    all_rounds(x, inverse);
    for (std::size_t i = 0; i < x.size(); ++i) {
      again[left] = x[i];
      from[left] = static_cast<std::uint16_t>(i);
      left += x[i] >= count_ ? 1 : 0;
    }
    while (left > 0) {
      all_rounds(std::span(again).first(left), inverse);
      std::size_t still = 0;
      for (std::size_t i = 0; i < left; ++i) {
        const std::uint64_t value = again[i];
        x[from[i]] = value;
        again[still] = value;
        from[still] = from[i];
        still += value >= count_ ? 1 : 0;
      }
      left = still;
    }
  }

  void all_rounds(std::span<std::uint64_t> x, bool inverse) const {
    for (std::size_t i = 0; i < kRounds; ++i) {
      const std::size_t round = inverse ? kRounds - 1 - i : i;
      if (round % 2 == 0) {
        for (std::uint64_t& each : x) each = turned_left(each, keys_[round]);
      } else {
        for (std::uint64_t& each : x) each = turned_right(each, keys_[round]);
      }
    }
  }

  // One half changed by a function of the other: its own inverse.
  static std::uint64_t mixed(std::uint64_t half, std::uint64_t key) {
    std::uint64_t h = (half + key) * 0x9e3779b97f4a7c15;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
    return h ^ h >> 32;
  }
  std::uint64_t turned_left(std::uint64_t x, std::uint64_t key) const {
    return x ^ (mixed(x & right_mask_, key) & left_mask_) << right_bits_;
  }
  std::uint64_t turned_right(std::uint64_t x, std::uint64_t key) const {
    return x ^ (mixed(x >> right_bits_, key) & right_mask_);
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
