#include "engines/cpu/transpose_square.hpp"

#include <algorithm>
#include <cstring>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kSquareStageBytes = 8192;
constexpr std::uint64_t kTileRowBytes = 128;

struct Square {
  std::byte* data;
  std::uint64_t side;
  std::uint64_t element_bytes;
  std::uint64_t tile;  // elements

  std::uint64_t row_bytes() const { return side * element_bytes; }
  std::uint64_t tiles() const { return (side + tile - 1) / tile; }
  std::uint64_t extent(std::uint64_t number) const { return std::min(tile, side - number * tile); }
  std::byte* at(std::uint64_t row, std::uint64_t column) const {
    return data + (row * tile * side + column * tile) * element_bytes;
  }
};

// Tile (row, column) and its mirror image, or itself.
void exchange(const Square& square, std::uint64_t row, std::uint64_t column) {
  alignas(64) std::byte stage[kSquareStageBytes];
  const std::uint64_t bytes = square.element_bytes;
  const std::uint64_t rows = square.extent(row);
  const std::uint64_t columns = square.extent(column);
  std::byte* const tile = square.at(row, column);
  std::byte* const mirror = square.at(column, row);
  const std::uint64_t stride = square.row_bytes();
  transpose_plane(bytes, {tile, stride}, rows, columns, {stage, rows * bytes});
  if (row != column) transpose_plane(bytes, {mirror, stride}, columns, rows, {tile, stride});
  for (std::uint64_t r = 0; r < columns; ++r)
    std::memcpy(mirror + r * stride, stage + r * rows * bytes, rows * bytes);
}

void fetch_tile(const Square& square, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t bytes = square.extent(column) * square.element_bytes;
  for (std::uint64_t r = 0; r < square.extent(row); ++r) {
    const std::byte* const line = square.at(row, column) + r * square.row_bytes();
    __builtin_prefetch(line, 1, 2);
    __builtin_prefetch(line + bytes / 2, 1, 2);
    __builtin_prefetch(line + bytes - 1, 1, 2);
  }
}

}  // namespace

void transpose_square(std::byte* data, std::uint64_t side, std::uint64_t element_bytes, int threads) {
  Square square{.data = data, .side = side, .element_bytes = element_bytes, .tile = 1};
  square.tile = std::max<std::uint64_t>(1, kTileRowBytes / element_bytes);
  while (square.tile * square.tile * element_bytes > kSquareStageBytes) square.tile /= 2;
  const std::uint64_t tiles = square.tiles();
  // Row k of tiles and row tiles - 1 - k together have as many pairs as any other two.
  share_out((tiles + 1) / 2, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto do_row = [&](std::uint64_t row) {
      for (std::uint64_t column = row; column < tiles; ++column) {
        if (column + 1 < tiles) {
          fetch_tile(square, row, column + 1);
          fetch_tile(square, column + 1, row);
        }
        exchange(square, row, column);
      }
    };
    for (std::uint64_t k = begin; k < end; ++k) {
      do_row(k);
      if (tiles - 1 - k != k) do_row(tiles - 1 - k);
    }
  });
}

}  // namespace faro::cpu
