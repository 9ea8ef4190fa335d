// What is known of each kind of GPU: the sizes that a plan for it needs, and which of the compiled tile
// kernels it runs best.
//
//     capability   shared memory a block   tiles, best first            sizes
//        8.0              163 KiB          of the 8.0 order             segments from 256 bytes ...
//        8.6               99 KiB          the same, what fits
//        9.0              227 KiB          of the 9.0 order
//        ...
//
// The table is data. A device that is not in it is taken for the nearest lower one that is. Host only, and
// built without CUDA too, so that plans for any device can be made and explained anywhere.
// docs/notes/cuda-experiments.md tells how the orders were measured.
#pragma once

#include <cstdint>
#include <span>

#include "faro/problem/target.hpp"

namespace faro::cuda {

/// Sizes of a plan's target that do not depend on the kernels.
struct DeviceSizes {
  std::uint64_t segment_bytes_min;  // whole segments from this length on are moved without a tile
  std::uint64_t direct_bytes_max;   // data up to this is moved element by element, all arrays together
  std::uint64_t small_bytes_max;    // data up to this takes the smallest tiles, likewise
};

struct DeviceEntry {
  int major;
  int minor;
  std::uint64_t shared_bytes_per_block;  // with opt-in
  std::span<const std::uint8_t> tiles;   // of kernels::kCompiledTiles, by index, best first
  DeviceSizes sizes;
  Calibration (*rates)();  // of a device of this kind; null where none was measured
};

/// All entries, by capability, lowest first.
std::span<const DeviceEntry> device_table();

/// The entry of a capability: its own, else the nearest lower one's, else the lowest.
const DeviceEntry& device_entry(int major, int minor);

/// The target of a device with this much shared memory a block: its entry's tiles as far as they fit,
/// those for unaligned arrays (vector_bits 0) behind all others. Name, ordinal and multiprocessors are the
/// caller's to fill in.
Target device_target(const DeviceEntry& entry, std::uint64_t shared_bytes_per_block);

}  // namespace faro::cuda
