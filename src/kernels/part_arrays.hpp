// Several arrays that a kernel writes as one: places are numbered through all of them, and the upper bits say
// which array it is. They may lie on several devices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

/// Most arrays that a part is written to.
inline constexpr int kMostPartArrays = 64;

/// Where a place's bytes are: at array[place >> array_bytes_bits] + place, so array k itself begins at
/// array[k] + (k << array_bytes_bits).
struct PartArrays {
  std::byte* array[kMostPartArrays];
  std::int32_t array_bytes_bits;
};

/// Whether a tile kernel moves parts: 16-byte vectors, 256-byte segments.
constexpr bool moves_parts(const CompiledTile& tile) {
  constexpr int segment_bytes_bits = 8;
  return tile.shape.vector_bytes() == kMaxVectorBytes &&
         tile.shape.segment_bits + tile.shape.width_bits == segment_bytes_bits;
}

/// For the kernel on few multiprocessors: groups of a tile's threads in a block, and a block's shared memory,
/// which is more than half of a multiprocessor's.
constexpr int few_groups(const CompiledTile& tile) {
  constexpr int most_threads = 1024;
  constexpr int most_bytes = 200 << 10;
  const int by_threads = most_threads / tile.shape.threads();
  const int by_bytes = most_bytes / tile.shape.tile_bytes();
  return by_threads < by_bytes ? by_threads : by_bytes;
}
constexpr int few_shared_bytes(const CompiledTile& tile) {
  constexpr int least_bytes = 120 << 10;
  const int tiles = few_groups(tile) * tile.shape.tile_bytes();
  return tiles > least_bytes ? tiles : least_bytes;
}

}  // namespace faro::kernels
