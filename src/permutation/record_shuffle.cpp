#include "permutation/record_shuffle.hpp"

#include <bit>
#include <numeric>
#include <utility>

namespace faro {
namespace {

constexpr std::uint64_t kFewRecords = 4096;

// SplitMix64.
std::uint64_t next_key(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace

RecordShuffle::RecordShuffle(std::uint64_t count, std::uint64_t seed) : count_(count), seed_(seed) {
  std::uint64_t state = seed;
  for (std::uint64_t& key : keys_) key = next_key(state);
  if (count == 0) return;
  if (count <= kFewRecords) {
    to_.resize(count);
    std::iota(to_.begin(), to_.end(), 0U);
    for (std::uint64_t i = count; i-- > 1;) {
      // Below i + 1, without the bias of a remainder.
      const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % (i + 1);
      std::uint64_t drawn = next_key(state);
      while (drawn >= limit) drawn = next_key(state);
      std::swap(to_[i], to_[drawn % (i + 1)]);
    }
    from_.resize(count);
    for (std::uint32_t x = 0; x < count; ++x) from_[to_[x]] = x;
    return;
  }
  const auto bits = static_cast<int>(std::bit_width(count - 1));
  right_bits_ = bits / 2;
  right_mask_ = (std::uint64_t{1} << right_bits_) - 1;
  left_mask_ = (std::uint64_t{1} << (bits - right_bits_)) - 1;
}

}  // namespace faro
