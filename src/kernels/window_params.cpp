#include "kernels/window_params.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::kernels {
namespace {

constexpr std::uint32_t kMostSharedBytes = 96 << 10;  // two blocks a multiprocessor
constexpr std::uint32_t kUsualWindowBytes = 16 << 10;
constexpr std::uint32_t kTileMultiple = 16;

std::uint64_t width_of(const WindowShape& shape) {
  return std::uint64_t{shape.unit_bytes} * shape.element_units;
}

// Shared memory of a tile of so many elements.
std::uint64_t shared_bytes(const WindowShape& shape, std::uint64_t tile) {
  if (shape.backwards) return tile * width_of(shape);
  return (tile + 2 * std::uint64_t{shape.window}) * width_of(shape) + 2 * std::uint64_t{kMovedBytes};
}

// The usual tile, doubled until margins are a quarter of it or shared memory is full.
std::uint64_t tile_elements(const WindowShape& shape) {
  const std::uint64_t usual = kUsualWindowBytes / width_of(shape);
  std::uint64_t tile = std::max<std::uint64_t>(usual / kTileMultiple, 1) * kTileMultiple;
  while (8 * std::uint64_t{shape.window} > tile && tile < shape.count &&
         shared_bytes(shape, 2 * tile) <= kMostSharedBytes) {
    tile *= 2;
  }
  return tile;
}

}  // namespace

bool window_fits(const WindowShape& shape) {
  const std::uint64_t tile = tile_elements(shape);
  const std::uint64_t margins = std::min<std::uint64_t>(2 * std::uint64_t{shape.window}, shape.count);
  return shared_bytes(shape, tile) <= kMostSharedBytes && margins <= tile;
}

WindowParams make_window_params(const WindowShape& shape) {
  FARO_CHECK(shape.count > 0 && shape.batch > 0 && shape.unit_bytes > 0 && shape.element_units > 0);
  const std::uint64_t width = width_of(shape);
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (most / width / shape.count < shape.batch) {
    fail(ErrorCode::unsupported, "move within a window", "more than 2^62 bytes", "at most 2^62 bytes",
         "split the batch");
  }
  const std::uint64_t tile = tile_elements(shape);
  const std::uint64_t tiles = (shape.count + tile - 1) / tile;
  return {.in = {.begin = 0, .end = shape.count * shape.batch * width},
          .out_skew = 0,
          .count = shape.count,
          .tiles = device::Division64(tiles),
          .element = device::Division32(shape.element_units),
          .tile = static_cast<std::uint32_t>(tile),
          .window = shape.window,
          .first_block = 0,
          .blocks = tiles * shape.batch,
          .shared_bytes = window_fits(shape) ? static_cast<std::uint32_t>(shared_bytes(shape, tile)) : 0};
}

bool window_has_vectors(const WindowShape& shape) {
  return shape.element_units == 1 && shape.count * shape.unit_bytes % kMovedBytes == 0;
}

}  // namespace faro::kernels
