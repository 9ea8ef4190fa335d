#include <algorithm>

#include "contains.hpp"
#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "tell/figure.hpp"

namespace faro {
namespace {

using detail::contains;
using f2::Word;

// The bits of `value`, in ascending order, to these positions.
Word scattered(const std::vector<int>& positions, Word value) {
  Word result = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (f2::bit(value, static_cast<int>(i))) result |= f2::unit(positions[i]);
  }
  return result;
}

std::vector<int> without(const std::vector<int>& bits, const std::vector<int>& left_out) {
  std::vector<int> result;
  for (const int bit : bits) {
    if (!contains(left_out, bit)) result.push_back(bit);
  }
  return result;
}

// The tile's bits move together, downwards.
Word compacted(const PublishedTile& tile, Word x) {
  Word result = 0;
  int to = 0;
  const int n =
      static_cast<int>(tile.columns.size() + tile.rows.size() - tile.overlap.size() + tile.blocks.size());
  for (int bit = 0; bit < n; ++bit) {
    if (contains(tile.blocks, bit)) continue;
    if (f2::bit(x, bit)) result |= f2::unit(to);
    ++to;
  }
  return result;
}

}  // namespace

int published_tile_bits(int n) { return std::max(1, std::min(5, n / 2)); }

PublishedTile published_tile(const Affine& map, int tile_bits, int iteration_bits) {
  const int n = map.bits();
  if (tile_bits < 1 || tile_bits > n) {
    fail(ErrorCode::value, "make a published tile", "t = " + std::to_string(tile_bits),
         "t in 1.." + std::to_string(n));
  }
  if (map.classify(tile_bits) == AffineClass::bmmc) {
    fail(ErrorCode::unsupported, "make a published tile of " + to_text(Permutation(map)),
         "a matrix that is not tiled for t = " + std::to_string(tile_bits),
         "t columns with zeros below row t, their upper block invertible",
         "figure 8 shows its two tiled factors");
  }
  PublishedTile tile;
  tile.tile_bits = tile_bits;
  for (int bit = 0; bit < n; ++bit) {
    const bool column = bit < tile_bits;
    const bool row = (map.matrix().column(bit) & ~f2::low_mask(tile_bits)) == 0;
    if (column) tile.columns.push_back(bit);
    if (row) tile.rows.push_back(bit);
    if (column && row) tile.overlap.push_back(bit);
    if (!column && !row) tile.blocks.push_back(bit);
  }
  tile.iteration_bits = std::min(iteration_bits, static_cast<int>(tile.blocks.size()));
  return tile;
}

Word stitch_col(const PublishedTile& tile, Word col, Word block, Word row) {
  return scattered(tile.columns, col) | scattered(tile.blocks, block) |
         scattered(without(tile.rows, tile.overlap), row);
}

Word stitch_row(const PublishedTile& tile, Word col, Word block, Word row) {
  return scattered(tile.rows, row) | scattered(tile.blocks, block) |
         scattered(without(tile.columns, tile.overlap), col);
}

Word stitch_tile_col(const PublishedTile& tile, Word col, Word row) {
  return compacted(tile, stitch_col(tile, col, 0, row));
}

Word stitch_tile_row(const PublishedTile& tile, Word col, Word row) {
  return compacted(tile, stitch_row(tile, col, 0, row));
}

}  // namespace faro
