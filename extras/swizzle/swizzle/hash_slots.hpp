// Numbers of things by the things' hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace faro::swizzle::detail {

/// A well mixed hash of one number.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// A hash of what `hash` is of, and of `word`.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

/// Numbers by hash, open addressing. The numbers' owner says what is equal.
class HashSlots {
 public:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  /// The first number with `is_equal(number)`, or kEmpty.
  template <typename Equal>
  std::uint32_t find(std::uint64_t hash, const Equal& is_equal) const {
    if (slots_.empty()) return kEmpty;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == kEmpty || is_equal(slots_[slot])) return slots_[slot];
    }
  }
  /// Requires: no equal number is there (unchecked). `hash_of(number)` is asked when the table grows.
  template <typename HashOf>
  void insert(std::uint64_t hash, std::uint32_t number, const HashOf& hash_of) {
    if (2 * (count_ + 1) > slots_.size()) grow(hash_of);
    place(hash, number);
    ++count_;
  }
  void clear() {
    slots_.clear();
    count_ = 0;
  }

 private:
  void place(std::uint64_t hash, std::uint32_t number) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask;
    slots_[slot] = number;
  }
  template <typename HashOf>
  void grow(const HashOf& hash_of) {
    std::vector<std::uint32_t> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : 2 * old.size(), kEmpty);
    for (const std::uint32_t number : old) {
      if (number != kEmpty) place(hash_of(number), number);
    }
  }

  std::vector<std::uint32_t> slots_;
  std::size_t count_ = 0;
};

}  // namespace faro::swizzle::detail
