#include "engines/cuda/host/device_table.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "faro/engines/cuda.hpp"

namespace faro::cuda {
namespace {

using kernels::CompiledTile;
using kernels::kCompiledTileCount;
using kernels::kCompiledTiles;

constexpr std::uint64_t kKiB = 1024;

constexpr auto kListOrder = [] {
  std::array<std::uint8_t, kCompiledTileCount> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint8_t>(i);
  return order;
}();

// Measured on an H200 (9.0): 4 GiB arrays, the worst map of each width (docs/notes/cuda-experiments.md).
constexpr auto kOrder90 = kListOrder;
// No device of this kind was at hand: the order of 9.0, of which only what fits is taken.
constexpr auto kOrder80 = kOrder90;

constexpr DeviceSizes kSizes90{
    .segment_bytes_min = 256, .direct_bytes_max = 0, .small_bytes_max = 4096 * kKiB};
constexpr DeviceSizes kSizes80 = kSizes90;  // not measured

// As cuda::calibrate() measured them: bench/results/.
Calibration rates_of_h200() {
  return {.source = "an NVIDIA H200",
          .copy = {.fixed_us = 4.7, .gb_per_s = 4283},
          .vectors = {.fixed_us = 5.9, .gb_per_s = 4144},
          .tiles = {{{.fixed_us = 12.1, .gb_per_s = 3996},
                     {.fixed_us = 7.8, .gb_per_s = 3954},
                     {.fixed_us = 8.7, .gb_per_s = 4002},
                     {.fixed_us = 7.5, .gb_per_s = 4034},
                     {.fixed_us = 6.6, .gb_per_s = 4061}}},
          .shared_wavefronts_per_us = 132 * 1980.0};
}

// Shared memory a block: CUDA's programming guide, technical specifications by compute capability.
constexpr DeviceEntry kTable[] = {
    {8, 0, 163 * kKiB, kOrder80, kSizes80, nullptr},        // A100: not measured
    {8, 6, 99 * kKiB, kOrder80, kSizes80, nullptr},         // not measured
    {8, 7, 163 * kKiB, kOrder80, kSizes80, nullptr},        // not measured
    {8, 9, 99 * kKiB, kOrder80, kSizes80, nullptr},         // not measured
    {9, 0, 227 * kKiB, kOrder90, kSizes90, rates_of_h200},  // H200: measured
    {10, 0, 227 * kKiB, kOrder90, kSizes90, nullptr},       // not measured
    {12, 0, 99 * kKiB, kOrder90, kSizes90, nullptr},        // not measured
};

std::uint64_t tile_bytes(const CompiledTile& tile) {
  return static_cast<std::uint64_t>(tile.shape.tile_bytes());
}

std::uint64_t segment_bytes(const CompiledTile& tile) {
  return std::uint64_t{1} << (tile.shape.width_bits + tile.shape.segment_bits);
}

}  // namespace

std::span<const DeviceEntry> device_table() { return kTable; }

const DeviceEntry& device_entry(int major, int minor) {
  const auto capability = std::pair(major, minor);
  const auto above = std::find_if(std::begin(kTable), std::end(kTable), [&](const DeviceEntry& entry) {
    return std::pair(entry.major, entry.minor) > capability;
  });
  return above == std::begin(kTable) ? kTable[0] : *std::prev(above);
}

Target device_target(const DeviceEntry& entry, std::uint64_t shared_bytes_per_block) {
  Target target;
  target.engine = Engine::cuda;
  target.vector_bytes = entry.sizes.segment_bytes_min;
  target.direct_bytes_max = entry.sizes.direct_bytes_max;
  target.small_bytes_max = entry.sizes.small_bytes_max;
  target.page_bytes = 0;  // the order of the blocks does without: docs/notes/cuda-experiments.md
  target.page_entries = 0;
  target.banks = 32;
  if (entry.rates != nullptr) target.calibration = entry.rates();
  target.chunk_bytes_max = shared_bytes_per_block;
  target.segment_bytes_max = 0;
  target.tile_bytes_max = 0;
  for (const std::uint8_t index : entry.tiles) {
    const CompiledTile& tile = kCompiledTiles[index];
    if (tile_bytes(tile) > shared_bytes_per_block) continue;
    target.tiles.push_back(tile);
    target.segment_bytes_max = std::max(target.segment_bytes_max, segment_bytes(tile));
    target.tile_bytes_max = std::max(target.tile_bytes_max, tile_bytes(tile));
  }
  std::stable_partition(target.tiles.begin(), target.tiles.end(),
                        [](const CompiledTile& tile) { return tile.shape.vector_bits > 0; });
  return target;
}

Target target_of_capability(int major, int minor) {
  const DeviceEntry& entry = device_entry(major, minor);
  Target target = device_target(entry, entry.shared_bytes_per_block);
  const std::string capability = std::to_string(major) + "." + std::to_string(minor);
  target.name = "a device of compute capability " + capability;
  if (entry.major != major || entry.minor != minor) {
    target.name += ", planned for as " + std::to_string(entry.major) + "." + std::to_string(entry.minor);
  }
  return target;
}

}  // namespace faro::cuda
