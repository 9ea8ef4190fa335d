// What the tests of rows on a GPU share: arrays between guard zones, entries and numbers that are drawn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/rows.hpp"
#include "gpu/gpu_support.hpp"
#include "row_numbers_support.hpp"

namespace faro::testing::gpu_rows {

using Bytes = std::vector<std::byte>;

/// What `call` is refused with; empty where it is not.
inline std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline Bytes random_bytes(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  std::uint64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, 8);
  }
  for (; i < size; ++i) bytes[i] = static_cast<std::byte>(random());
  return bytes;
}

/// An array on the device, `offset` bytes past an aligned address, between guard zones.
class Placed {
 public:
  explicit Placed(const Bytes& bytes, std::uint64_t offset = 0)
      : size_(bytes.size()), offset_(kGuard + offset), array_(size_ + offset_ + kGuard) {
    set(bytes);
  }
  void set(const Bytes& bytes) {
    Bytes all(array_.size(), kGuardByte);
    std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(offset_));
    array_.upload(all.data());
  }
  std::byte* data() const { return array_.data() + offset_; }
  std::span<std::byte> span() const { return {data(), size_}; }
  Bytes get() const {
    Bytes all(array_.size());
    array_.download(all.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool guard = i < offset_ || i >= offset_ + size_;
      if (!guard || all[i] == kGuardByte) continue;
      ADD_FAILURE() << "guard zone, byte " << i;
      break;
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
  }

 private:
  static constexpr std::uint64_t kGuard = 256;
  static constexpr std::byte kGuardByte{0xa5};
  std::uint64_t size_;
  std::uint64_t offset_;
  cuda::DeviceArray array_;
};

/// Entries of any type, as bytes that an array has.
struct Entries {
  IndexType type{.bytes = 4, .is_signed = true};
  std::vector<std::int64_t> values;

  Bytes bytes() const {
    const auto width = static_cast<std::size_t>(type.bytes);
    Bytes all(values.size() * width);
    for (std::size_t k = 0; k < values.size(); ++k) std::memcpy(all.data() + k * width, &values[k], width);
    return all;
  }
};

/// Entries of `rows`, distinct where asked, of which a part `absent` is -1.
inline Entries drawn(std::uint64_t count, std::uint64_t rows, IndexType type, bool distinct, double absent,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> free(distinct ? rows : 0);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), random);
  Entries made{.type = type, .values = std::vector<std::int64_t>(count)};
  for (std::int64_t& value : made.values) {
    const bool none = type.is_signed &&
                      (std::uniform_real_distribution<>(0, 1)(random) < absent || (distinct && free.empty()));
    if (none) {
      value = -1;
    } else if (distinct) {
      value = free.back();
      free.pop_back();
    } else {
      value = static_cast<std::int64_t>(random() % rows);
    }
  }
  return made;
}

/// Numbers whose sums round, of every type: any bits of integers, small numbers of the others.
inline Bytes random_numbers(Number number, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes made(count * bytes_of(number));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random();
    const std::uint64_t bits =
        bits_of(number, static_cast<float>(static_cast<std::int64_t>(drawn)) * 0x1p-62F, drawn);
    std::memcpy(made.data() + i * bytes_of(number), &bits, bytes_of(number));
  }
  return made;
}

}  // namespace faro::testing::gpu_rows
