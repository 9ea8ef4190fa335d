// Passes of a partition schedule without shared memory, a unit a thread: for chunks that no multiprocessor
// holds, as where a schedule that was saved for narrow elements is run on wide ones. The result is right, but
// slow: the accesses on the side of the runs or places are scattered.
//
//     a level    element i of chunk k <--> region + (b << bucket_bits) + offsets[b] + places[i] - starts[b]
//     last pass  element i of chunk k <--> place last[i] of the chunk
//
// Bucket b of a place is looked up in the chunk's starts: the last that is not past the place.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_params.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kInGlobalThreads = 256;

/// Blocks of an array.
constexpr std::uint64_t in_global_blocks(const PartitionParams& p) {
  return (p.count * p.units + (kInGlobalThreads - 1)) / kInGlobalThreads;
}

namespace detail {

/// Where place `place` of a chunk lies after the level, in elements of the array.
template <device::Memory Memory>
constexpr std::uint64_t behind_level(Memory& memory, const PartitionParams& p, std::uint64_t chunk,
                                     std::uint32_t place) {
  const std::uint64_t row = chunk * p.buckets;
  std::uint32_t bucket = 0;
  std::uint32_t start = 0;
  for (std::uint32_t step = p.buckets / 2; step > 0; step /= 2) {
    const std::uint32_t here = memory.template load_global<2>(kStarts, 2 * (row + bucket + step)).unit[0];
    if (here > place) continue;
    bucket += step;
    start = here;
  }
  const std::uint32_t offset = memory.template load_global<4>(kOffsets, 4 * (row + bucket)).unit[0];
  const std::uint64_t region = chunk << p.chunk_bits >> p.region_bits << p.region_bits;
  return region + (std::uint64_t{bucket} << p.bucket_bits) + offset + (place - start);
}

}  // namespace detail

/// `level`: a level's pass, else the last one's. `forwards`: spread and place, else collect and pick.
/// Input and output differ. Block b of array a is number a in_global_blocks() + b.
template <int bytes, bool level, bool forwards, device::Memory Memory>
constexpr void move_in_global(Memory& memory, const PartitionParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  const std::uint64_t blocks = in_global_blocks(p);
  const std::uint64_t array = block / blocks;
  const std::uint64_t unit = (block - array * blocks) * kInGlobalThreads + thread;
  if (unit >= p.count * p.units) return;
  const std::uint64_t element = unit / p.units;
  const std::uint32_t place = memory.template load_global<2>(kPlaces, 2 * element).unit[0];
  const std::uint64_t chunk = element / p.chunk_elements;
  std::uint64_t other = chunk * p.chunk_elements + place;
  if constexpr (level) other = detail::behind_level(memory, p, chunk, place);
  const std::uint64_t base = array * p.count * p.units;
  const std::uint64_t here = base + unit;
  const std::uint64_t there = base + other * p.units + (unit - element * p.units);
  const auto data = memory.template load_global<bytes>(device::kInput, (forwards ? here : there) * bytes);
  memory.template store_global<bytes>(device::kOutput, (forwards ? there : here) * bytes, data);
}

}  // namespace faro::kernels
