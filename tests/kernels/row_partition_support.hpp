// What the tests of the kernels that route, sort and add rows share.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "engines/cuda/rows/add_queue.hpp"
#include "faro/rows.hpp"
#include "row_numbers_support.hpp"

namespace faro::testing {

template <typename T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

inline kernels::RowEntries entries_of_values(const std::vector<std::int32_t>& values, std::uint64_t rows) {
  return cuda::entries_of(Add{.to = RowNumbers(std::span(values)), .rows = rows});
}

inline std::vector<std::int32_t> random_keys(std::uint64_t count, std::uint64_t buckets, double absent,
                                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> keys(count);
  for (std::int32_t& key : keys) {
    const bool none = std::uniform_real_distribution<>(0, 1)(random) < absent;
    key = none ? -1 : static_cast<std::int32_t>(random() % buckets);
  }
  return keys;
}

// Numbers whose sums round: of floating-point types a normal distribution and -0, of integers any bits.
inline std::vector<std::byte> random_numbers(Number number, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> made(count * bytes_of(number));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random();
    const std::uint64_t bits = bits_of(number, i % 8 == 5 ? -0.0F : normal(random), drawn);
    std::memcpy(made.data() + i * bytes_of(number), &bits, bytes_of(number));
  }
  return made;
}

}  // namespace faro::testing
