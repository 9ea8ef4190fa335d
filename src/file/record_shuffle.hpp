// A random permutation of any number of records, computed from a seed: no table, so that files of any size
// are shuffled, and the same on every machine, for every budget of memory and number of threads.
//
//     x  =  left * b + right          left below a, right below b; a, b near sqrt(count), a b >= count
//
//     rounds in turns                 left  = left  + f_0(right) mod a
//                                     right = right + f_1(left)  mod b      and so on, six of them
//
// Such a ladder of rounds (Luby and Rackoff; Black and Rogaway for numbers that are no powers of two)
// permutes the a b pairs for any f. One that is not below the count, fewer than one of b, takes the rounds
// again, which permutes the count. Each f is a hash of 32 bits keyed by two words of the seed's, brought
// below a or b by the high half of a product: all of it multiplications of 32 bits, which vectors do side by
// side.
//
// Up to 4096 records are drawn by Fisher and Yates' shuffle, so that few records take every order that 64
// bits of seed can tell apart. The permutation is a fixed function of count and seed: files and tests depend
// on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace faro::file {

/// What the rounds know.
struct ShuffleRounds {
  static constexpr std::size_t kRounds = 6;
  struct Keys {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
  };

  std::uint64_t count = 0;
  std::uint32_t lefts = 1;   // a
  std::uint32_t rights = 1;  // b
  std::array<Keys, kRounds> keys{};

  /// f of a round: below `limit`.
  static std::uint32_t below(std::uint32_t half, Keys keys, std::uint32_t limit) {
    std::uint32_t h = half + keys.first;
    h = (h ^ h >> 16) * 0x7feb352d;
    h = ((h ^ h >> 15) ^ keys.second) * 0x846ca68b;
    return static_cast<std::uint32_t>(std::uint64_t{h} * limit >> 32);
  }

  /// All rounds once, of a pair.
  std::uint64_t forward(std::uint32_t left, std::uint32_t right) const {
    for (std::size_t round = 0; round < kRounds; round += 2) {
      left += below(right, keys[round], lefts);
      left = std::min(left, left - lefts);
      right += below(left, keys[round + 1], rights);
      right = std::min(right, right - rights);
    }
    return std::uint64_t{left} * rights + right;
  }
  std::uint64_t backward(std::uint32_t left, std::uint32_t right) const {
    for (std::size_t round = kRounds; round > 0; round -= 2) {
      right -= below(left, keys[round - 1], rights);
      right = std::min(right, right + rights);
      left -= below(right, keys[round - 2], lefts);
      left = std::min(left, left + lefts);
    }
    return std::uint64_t{left} * rights + right;
  }
  std::uint64_t forward(std::uint64_t x) const {
    return forward(static_cast<std::uint32_t>(x / rights), static_cast<std::uint32_t>(x % rights));
  }
  std::uint64_t backward(std::uint64_t y) const {
    return backward(static_cast<std::uint32_t>(y / rights), static_cast<std::uint32_t>(y % rights));
  }
};

/// to[i] = forward(first + i), or with `inverse` backward(first + i), by vectors. Returns false where all are
/// below the count; true where some may not be. Requires: first + to.size() <= a b (unchecked).
bool shuffle_in_rounds(const ShuffleRounds& rounds, std::uint64_t first, bool inverse,
                       std::span<std::uint64_t> to);

class RecordShuffle {
 public:
  /// Requires: count <= 2^62 (checked).
  RecordShuffle(std::uint64_t count, std::uint64_t seed);

  std::uint64_t count() const { return rounds_.count; }
  std::uint64_t seed() const { return seed_; }

  /// Where record x goes. Requires: x < count() (unchecked).
  std::uint64_t operator()(std::uint64_t x) const {
    if (!to_.empty()) return to_[x];
    do {
      x = rounds_.forward(x);
    } while (x >= count());
    return x;
  }

  /// Law: inverse((*this)(x)) == x.
  std::uint64_t inverse(std::uint64_t y) const {
    if (!from_.empty()) return from_[y];
    do {
      y = rounds_.backward(y);
    } while (y >= count());
    return y;
  }

  /// to[i] = (*this)(first + i), or with `inverse` inverse(first + i): some times as fast as one by one.
  void fill(std::uint64_t first, bool inverse, std::span<std::uint64_t> to) const;

 private:
  ShuffleRounds rounds_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> to_;  // of few records
  std::vector<std::uint32_t> from_;
};

}  // namespace faro::file
