// The runs of a chunk, between shared memory and their buckets: the other half of the kernels of
// kernels/partition.hpp.
//
// A run is copied by a group of 2^lane_bits lanes whose first store begins a sector of the output, so that
// only a run's ends touch sectors in part:
//
//     sectors of 4      | . . r r | r r r r | r . . .       lanes 0-3   step 0: - - r r
//     (groups of 4)                                                     step 1: r r r r     step 2: r - - -
//
// Where runs begin and lead (starts, offsets) is fetched into shared memory together with the chunk, so the
// stores wait for nothing but shared memory; a lane has several of them in flight. Within a warp all groups
// make as many steps as the longest run of the warp needs: lanes past their own run sit out.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"
#include "faro/device/unroll.hpp"
#include "faro/kernels/partition.hpp"
#include "faro/kernels/partition_params.hpp"

namespace faro::kernels {

/// Starts and offsets of the chunk's runs into shared memory.
template <device::Memory Memory>
constexpr void load_descriptors(Memory& memory, const PartitionParams& p, std::uint64_t block,
                                std::uint32_t thread, std::uint32_t threads) {
  const std::uint64_t row = chunk_of(p, block).number * p.buckets;
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
}

namespace detail {

/// All runs of the chunk, between shared memory and their buckets: `outwards` writes them, else reads them.
template <int bytes, bool single, int lane_bits, bool outwards, device::Memory Memory>
constexpr void move_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                         std::uint32_t threads) {
  constexpr std::uint32_t lanes = 1U << lane_bits;
  constexpr std::uint32_t groups = kWarpLanes / lanes;  // of a warp, one bucket each
  constexpr std::uint32_t sector_units = kSectorBytes / bytes;
  constexpr int batch = outwards ? 4 : (bytes <= 8 ? 8 : 4);

  const Chunk chunk = chunk_of(p, block);
  const std::uint64_t region = chunk.array + (chunk.first >> p.region_bits << p.region_bits);
  const std::uint32_t lane = thread & (lanes - 1);
  const std::uint32_t group = (thread & (kWarpLanes - 1)) >> lane_bits;
  const std::uint32_t units = single ? 1 : p.units;

  FARO_NO_UNROLL
  for (std::uint32_t b0 = thread / kWarpLanes * groups; b0 < p.buckets; b0 += threads / kWarpLanes * groups) {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t longest = 0;
    std::uint32_t last = memory.template load_shared<2>(p.starts_at + 2 * b0).unit[0];
    FARO_UNROLL
    for (std::uint32_t g = 0; g < groups; ++g) {
      std::uint32_t next = last;
      if (b0 + g + 1 < p.buckets) {
        next = memory.template load_shared<2>(p.starts_at + 2 * (b0 + g + 1)).unit[0];
      } else if (b0 + g + 1 == p.buckets) {
        next = chunk.size;
      }
      if (g == group) {
        start = last;
        end = next;
      }
      longest = next - last > longest ? next - last : longest;
      last = next;
    }
    const std::uint32_t bucket = b0 + group < p.buckets ? b0 + group : p.buckets - 1;
    const std::uint32_t offset = memory.template load_shared<4>(p.offsets_at + 4 * bucket).unit[0];
    const std::uint64_t run = (region + (std::uint64_t{bucket} << p.bucket_bits) + offset) * units;
    const std::uint32_t skew = (static_cast<std::uint32_t>(run) + p.run_skew) % sector_units;
    const std::uint32_t length = (end - start) * units;
    // The skew of the other groups is not known: as if it were the largest.
    const std::uint32_t steps_end = longest * units + (groups == 1 ? skew : sector_units - 1);
    FARO_NO_UNROLL
    for (std::uint32_t step = 0; step < steps_end && longest > 0; step += batch * lanes) {
      device::Packet<bytes> data[batch] = {};
      FARO_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::uint32_t i = step + static_cast<std::uint32_t>(k) * lanes + lane - skew;  // may wrap
        if (i >= length) {
          device::idle(memory);
        } else if constexpr (outwards) {
          data[k] = memory.template load_shared<bytes>((start * units + i) * bytes);
        } else {
          data[k] = memory.template load_global<bytes>(device::kInput, (run + i) * bytes);
        }
      }
      FARO_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::uint32_t i = step + static_cast<std::uint32_t>(k) * lanes + lane - skew;
        if (i >= length) {
          device::idle(memory);
        } else if constexpr (outwards) {
          memory.template store_global<bytes>(device::kOutput, (run + i) * bytes, data[k]);
        } else {
          memory.template store_shared<bytes>((start * units + i) * bytes, data[k]);
        }
      }
    }
  }
}

}  // namespace detail

/// Requires: load_placed() and load_descriptors() before a barrier.
template <int bytes, bool single, int lane_bits, device::Memory Memory>
constexpr void store_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                          std::uint32_t threads) {
  detail::move_runs<bytes, single, lane_bits, true>(memory, p, block, thread, threads);
}

/// Requires: load_descriptors() before a barrier.
template <int bytes, bool single, int lane_bits, device::Memory Memory>
constexpr void load_runs(Memory& memory, const PartitionParams& p, std::uint64_t block, std::uint32_t thread,
                         std::uint32_t threads) {
  detail::move_runs<bytes, single, lane_bits, false>(memory, p, block, thread, threads);
}

}  // namespace faro::kernels
