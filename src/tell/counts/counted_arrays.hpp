// What the threads of a kernel value have in place of kernels/block_array.hpp where its accesses are counted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/machine/counting_memory.hpp"

namespace faro::detail {

/// An array of units.
template <typename T>
struct CountedElements {
  machine::CountingMemory& memory;
  int buffer = device::kInput;
  std::uint64_t first = 0;  // of its array

  T get(std::uint64_t i) const { return memory.load_global<sizeof(T)>(buffer, (first + i) * sizeof(T)); }
  void put(std::uint64_t i, const T& value) const {
    memory.store_global<sizeof(T)>(buffer, (first + i) * sizeof(T), value);
  }
  void skip() const { memory.idle(); }
};

/// In shared memory; what has several words is moved word by word.
template <typename T>
struct CountedShares {
  static constexpr std::size_t kWord = alignof(T);
  static constexpr std::size_t kWords = sizeof(T) / kWord;
  using Word = device::Packet<static_cast<int>(kWord)>;
  struct Words {
    Word word[kWords];
  };

  machine::CountingMemory& memory;
  std::uint32_t begin = 0;  // bytes

  T get(std::uint64_t i) const {
    Words words{};
    for (std::size_t w = 0; w < kWords; ++w) words.word[w] = memory.load_shared<kWord>(address(i, w));
    return std::bit_cast<T>(words);
  }
  void put(std::uint64_t i, const T& value) const {
    const auto words = std::bit_cast<Words>(value);
    for (std::size_t w = 0; w < kWords; ++w) memory.store_shared<kWord>(address(i, w), words.word[w]);
  }
  void skip() const {
    for (std::size_t w = 0; w < kWords; ++w) memory.idle();
  }
  std::uint32_t address(std::uint64_t i, std::size_t word) const {
    return begin + static_cast<std::uint32_t>(i * sizeof(T) + word * kWord);
  }
};

}  // namespace faro::detail
