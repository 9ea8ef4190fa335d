// SplitMix64: the generator behind every seeded permutation, the same on every machine. Its k-th number can
// be had without those before, so that many threads draw from one seed.
//
// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014; the constants are
// Vigna's.
#pragma once

#include <cstdint>

namespace faro::detail {

class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += kStep;
    return mixed(state_);
  }

  /// The number that the k-th call of next() gives, k from 0.
  static constexpr std::uint64_t at(std::uint64_t seed, std::uint64_t k) {
    return mixed(seed + (k + 1) * kStep);
  }

  /// The generator's finisher: each bit of z changes half of those of the result.
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

  std::uint64_t state_;
};

}  // namespace faro::detail
