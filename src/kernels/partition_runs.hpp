// The runs of a chunk, between shared memory and their buckets: the other half of the kernels of
// kernels/partition.hpp.
//
// A run is copied by a group of 2^lane_bits lanes whose accesses begin at lines of the array of runs (or at
// the group's own width, if that is less), so that no access touches more lines than it must:
//
//     lines of 4        | . . r r | r r r r | r . . .       lanes 0-3   step 0: - - r r
//     (groups of 4)                                                     step 1: r r r r     step 2: r - - -
//
// Where runs begin and lead (starts, offsets) is fetched into shared memory together with the chunk, so the
// stores wait for nothing but shared memory; a lane has several of them in flight. The groups of a warp make
// as many steps as their own runs need, and meet again before the next runs.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/partition.hpp"
#include "kernels/partition_params.hpp"

namespace faro::kernels {

/// Starts and offsets of the chunk's runs into shared memory, and after the starts the chunk's size.
template <device::Memory Memory>
constexpr void load_descriptors(Memory& memory, const PartitionParams& p, std::uint64_t block,
                                std::uint32_t thread, std::uint32_t threads) {
  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t row = chunk.number * p.buckets;
  const std::uint32_t pairs = p.buckets / 2;  // of starts; a level has two buckets or more
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < p.buckets; first += threads) {
    const std::uint32_t i = first + thread;
    if (i < p.buckets) {
      detail::copy_to_shared<4>(memory, kOffsets, 4 * (row + i), p.offsets_at + 4 * i);
    } else {
      detail::idle_times(memory, 2);
    }
    if (i < pairs) {
      detail::copy_to_shared<4>(memory, kStarts, 2 * row + 4 * std::uint64_t{i}, p.starts_at + 4 * i);
    } else {
      detail::idle_times(memory, 2);
    }
  }
  if (thread == 0) {
    memory.template store_shared<2>(p.starts_at + 2 * p.buckets,
                                    device::Packet<2>{static_cast<std::uint16_t>(chunk.size)});
  }
}

namespace detail {

/// A run as one lane of its group sees it. Its own units are number `lane - skew` + k lanes, for those of k
/// for which that is less than `length`, as an unsigned number.
struct RunLane {
  std::uint32_t first;   // unit of the lane at step 0; before the run it wraps
  std::uint32_t length;  // units
  std::uint32_t end;     // steps go up to here, in units; 0 for an empty run
  std::uint32_t shared;  // address of unit `first`, modulo 2^32
  std::uint64_t global;  // offset of unit `first`, modulo 2^64
};

template <int bytes, bool single, int lane_bits, device::Memory Memory>
constexpr RunLane run_lane(Memory& memory, const PartitionParams& p, std::uint64_t region,
                           std::uint32_t bucket, std::uint32_t lane) {
  constexpr std::uint32_t line_units = kLineBytes / bytes;
  constexpr std::uint32_t aligned_to = line_units < 1U << lane_bits ? line_units : 1U << lane_bits;
  const std::uint32_t units = single ? 1 : p.units;
  const std::uint32_t start = memory.template load_shared<2>(p.starts_at + 2 * bucket).unit[0];
  const std::uint32_t next = memory.template load_shared<2>(p.starts_at + 2 * bucket + 2).unit[0];
  const std::uint32_t offset = memory.template load_shared<4>(p.offsets_at + 4 * bucket).unit[0];
  const std::uint64_t run = (region + (std::uint64_t{bucket} << p.bucket_bits) + offset) * units;
  const std::uint32_t skew = (static_cast<std::uint32_t>(run) + p.run_skew) % aligned_to;
  const std::uint32_t length = (next - start) * units;
  return {.first = lane - skew,
          .length = length,
          .end = length == 0 ? 0 : length + skew,
          .shared = (start * units + lane - skew) * bytes,
          .global = (run + lane - skew) * bytes};
}

/// All runs of the chunk, between shared memory and their buckets: `outwards` writes them, else reads them.
template <int bytes, bool single, int lane_bits, bool outwards, device::Memory Memory>
constexpr void move_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                         std::uint32_t threads) {
  constexpr std::uint32_t lanes = 1U << lane_bits;
  constexpr std::uint32_t stride = lanes * bytes;
  constexpr std::uint32_t batch = lane_bits == 5 ? 3 : 4;  // a run of two lines or less at a time
  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t region = chunk.array + (chunk.first >> p.region_bits << p.region_bits);
  const std::uint32_t lane = thread % lanes;

  FARO_NO_UNROLL
  for (std::uint32_t bucket = thread / lanes; bucket < p.buckets; bucket += threads / lanes) {
    RunLane run = run_lane<bytes, single, lane_bits>(memory, p, region, bucket, lane);
    FARO_NO_UNROLL
    for (std::uint32_t step = 0; step < run.end; step += batch * lanes) {
      device::Packet<bytes> data[batch];
      FARO_UNROLL
      for (std::uint32_t k = 0; k < batch; ++k) {
        if (run.first + k * lanes >= run.length) {
          device::idle(memory);
          // Branches of other instances look alike to clang-tidy 14. NOLINTNEXTLINE(bugprone-branch-clone)
        } else if constexpr (outwards) {
          data[k] = memory.template load_shared<bytes>(run.shared + k * stride);
        } else if constexpr (copies_behind<bytes, Memory>) {
          copy_to_shared<bytes>(memory, device::kInput, run.global + std::uint64_t{k} * stride,
                                run.shared + k * stride);
        } else {
          data[k] =
              memory.template load_global<bytes>(device::kInput, run.global + std::uint64_t{k} * stride);
        }
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < batch; ++k) {
        if constexpr (!outwards && copies_behind<bytes, Memory>) continue;
        if (run.first + k * lanes >= run.length) {
          device::idle(memory);
        } else if constexpr (outwards) {
          memory.template store_global<bytes>(device::kOutput, run.global + std::uint64_t{k} * stride,
                                              data[k]);
        } else {
          memory.template store_shared<bytes>(run.shared + k * stride, data[k]);
        }
      }
      run.first += batch * lanes;
      run.shared += batch * stride;
      run.global += std::uint64_t{batch} * stride;
    }
    device::converge(memory);
  }
}

}  // namespace detail

/// Requires: load_placed() and load_descriptors() before a barrier.
template <int bytes, bool single, int lane_bits, device::Memory Memory>
constexpr void store_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                          std::uint32_t threads) {
  detail::move_runs<bytes, single, lane_bits, true>(memory, p, block, thread, threads);
}

/// Requires: load_descriptors() before a barrier; where copies arrive later, wait() before the next one.
template <int bytes, bool single, int lane_bits, device::Memory Memory>
constexpr void load_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                         std::uint32_t threads) {
  detail::move_runs<bytes, single, lane_bits, false>(memory, p, block, thread, threads);
}

}  // namespace faro::kernels
