// The table of GPUs: its entries are sane, every capability finds one, and what does not fit is left out.
// Sanitized: never, the same few lines, tables or texts.
#include "engines/cuda/host/device_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "faro/engines/cuda.hpp"

namespace faro::cuda {
namespace device_table_test {

using kernels::CompiledTile;

TEST(DeviceTable, EntriesAscendAndNameEachKernelAtMostOnce) {
  std::pair<int, int> last{0, 0};
  for (const DeviceEntry& entry : device_table()) {
    const std::pair capability{entry.major, entry.minor};
    EXPECT_LT(last, capability);
    last = capability;
    const std::set<std::uint8_t> once(entry.tiles.begin(), entry.tiles.end());
    EXPECT_EQ(once.size(), entry.tiles.size());
    EXPECT_LT(*once.rbegin(), kernels::kCompiledTileCount);
    EXPECT_GE(entry.sizes.segment_bytes_min, 16U) << "the vectors that whole segments are moved by";
  }
}

// So that every map of every large array has a tile, aligned or not.
TEST(DeviceTable, EveryWidthHasKernelsForEveryMap) {
  for (const DeviceEntry& entry : device_table()) {
    const Target target = target_of_capability(entry.major, entry.minor);
    for (int width_bits = 0; width_bits <= 4; ++width_bits) {
      const auto any = [&](auto condition) {
        return std::any_of(target.tiles.begin(), target.tiles.end(), [&](const CompiledTile& kernel) {
          const kernels::AffineTileShape& shape = kernel.shape;
          return shape.width_bits == width_bits && !kernel.blocked && shape.row_bits >= shape.segment_bits &&
                 condition(shape);
        });
      };
      SCOPED_TRACE(target.name + ", " + std::to_string(1 << width_bits) + "-byte units");
      EXPECT_TRUE(any([](const auto& shape) { return shape.vector_bytes() == 16; }));
      EXPECT_TRUE(any([](const auto& shape) { return shape.vector_bits == 0; }));
    }
    EXPECT_TRUE(std::is_partitioned(target.tiles.begin(), target.tiles.end(),
                                    [](const CompiledTile& kernel) { return kernel.shape.vector_bits > 0; }));
  }
}

TEST(DeviceTable, UnknownCapabilitiesTakeTheNearestLowerEntry) {
  const auto found = [](int major, int minor) {
    const DeviceEntry& entry = device_entry(major, minor);
    return std::pair(entry.major, entry.minor);
  };
  for (const DeviceEntry& entry : device_table()) {
    EXPECT_EQ(found(entry.major, entry.minor), std::pair(entry.major, entry.minor));
  }
  EXPECT_EQ(found(7, 5), std::pair(8, 0));
  EXPECT_EQ(found(8, 1), std::pair(8, 0));
  EXPECT_EQ(found(9, 1), std::pair(9, 0));
  const DeviceEntry& newest = device_table().back();
  EXPECT_EQ(found(99, 0), std::pair(newest.major, newest.minor));
  EXPECT_EQ(target_of_capability(8, 1).name, "a device of compute capability 8.1, planned for as 8.0");
}

TEST(DeviceTable, TilesThatDoNotFitAreLeftOut) {
  const DeviceEntry& entry = device_entry(9, 0);
  std::size_t most = entry.tiles.size();
  for (const std::uint64_t shared : {65536U, 32768U, 16384U, 0U}) {
    const Target target = device_target(entry, shared);
    EXPECT_LE(target.tiles.size(), most);
    most = target.tiles.size();
    EXPECT_LE(target.tile_bytes_max, shared);
    for (const CompiledTile& kernel : target.tiles) {
      EXPECT_LE(static_cast<std::uint64_t>(kernel.shape.tile_bytes()), shared);
    }
  }
  EXPECT_EQ(most, 0U);
}

}  // namespace device_table_test
}  // namespace faro::cuda
