#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::schedule {
namespace {

constexpr int kMaxBucketBits = 31;  // an offset may be the bucket's size, and has 32 bits

void check_level(const PartitionShape& shape, int level) {
  const int bits = shape.level_bits[static_cast<std::size_t>(level)];
  if (bits < 1 || bits > kMaxLevelBits) {
    fail(ErrorCode::value, "shape a partition",
         std::to_string(bits) + " bits at level " + std::to_string(level),
         "1 to " + std::to_string(kMaxLevelBits));
  }
}

}  // namespace

std::uint64_t PartitionShape::chunk_size(std::uint64_t chunk) const {
  return std::min(chunk_elements(), count - (chunk << chunk_bits));
}

int PartitionShape::region_bits(int level) const {
  return std::accumulate(level_bits.begin() + level, level_bits.end(), chunk_bits);
}

std::uint64_t PartitionShape::bytes() const {
  std::uint64_t total = sizeof(std::uint16_t) * count;
  for (int level = 0; level < levels(); ++level) {
    total += sizeof(std::uint16_t) * count;
    total += (sizeof(std::uint16_t) + sizeof(std::uint32_t)) * chunks() * buckets(level);
  }
  return total;
}

void check_shape(const PartitionShape& shape) {
  if (shape.count > Indexed::kMaxCount) {
    fail(ErrorCode::value, "shape a partition", std::to_string(shape.count) + " elements",
         "at most " + std::to_string(Indexed::kMaxCount));
  }
  const int most_chunk_bits = shape.level_bits.empty() ? kMaxSoleChunkBits : kMaxChunkBits;
  if (shape.chunk_bits < 1 || shape.chunk_bits > most_chunk_bits) {
    fail(ErrorCode::value, "shape a partition", "chunks of 2^" + std::to_string(shape.chunk_bits),
         "2^1 to 2^" + std::to_string(most_chunk_bits));
  }
  // From the last level up, so that no sum of bits grows past what is checked.
  int bits = shape.chunk_bits;
  for (int level = shape.levels() - 1; level >= 0; --level) {
    check_level(shape, level);
    if (bits > kMaxBucketBits) {
      fail(ErrorCode::value, "shape a partition",
           "buckets of 2^" + std::to_string(bits) + " places at level " + std::to_string(level),
           "at most 2^" + std::to_string(kMaxBucketBits));
    }
    bits += shape.level_bits[static_cast<std::size_t>(level)];
  }
  if (shape.count > std::uint64_t{1} << bits) {
    fail(ErrorCode::value, "shape a partition",
         std::to_string(shape.count) + " elements in chunks and levels that reach 2^" + std::to_string(bits),
         "more levels or larger ones");
  }
}

std::vector<int> even_levels(std::uint64_t count, int chunk_bits, int most_bits) {
  if (most_bits < 1 || most_bits > kMaxLevelBits) {
    fail(ErrorCode::value, "shape a partition", "levels of at most " + std::to_string(most_bits) + " bits",
         "1 to " + std::to_string(kMaxLevelBits));
  }
  const int index_bits = count < 2 ? 0 : static_cast<int>(std::bit_width(count - 1));
  const int bits = std::max(0, index_bits - chunk_bits);
  const int levels = (bits + most_bits - 1) / most_bits;
  std::vector<int> result(static_cast<std::size_t>(levels));
  for (int level = 0; level < levels; ++level) {
    result[static_cast<std::size_t>(level)] = bits / levels + (level < bits % levels ? 1 : 0);
  }
  return result;
}

}  // namespace faro::schedule
