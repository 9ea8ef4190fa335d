#include "faro/layout/tile.hpp"

#include <algorithm>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::layout {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// A basis of `space` modulo the low s bits: the echelon basis of the vectors with those bits cleared.
Subspace rows_above(const Subspace& space, int s) {
  Subspace rows(space.ambient_dimension());
  for (const Word b : space.basis()) rows.insert(b & ~f2::low_mask(s));
  return rows;
}

std::vector<Word> as_vector(const Subspace& space) { return {space.basis().begin(), space.basis().end()}; }

// Directions that complete `tile` to the whole space, nearest first: they become the block bits, low to high.
std::vector<Word> block_directions(const Affine& map, const Subspace& tile, const TileOptions& options) {
  const int n = map.bits();
  Subspace grown = tile;
  std::vector<Word> directions;
  // A direction may be moved within the tile. By source, it gets the lowest source; by target, it keeps its
  // target, the unit vector, but for the segment.
  const bool by_target = options.order == BlockOrder::target;
  const auto take = [&](Word v) {
    const Word rest = by_target ? v & ~f2::low_mask(options.segment_bits) : tile.reduce(v);
    if (grown.insert(rest)) directions.push_back(rest);
  };
  const int near = std::min(options.near_bits, n);
  for (int i = options.segment_bits; i < near; ++i) take(f2::unit(i));
  for (int i = options.segment_bits; i < near; ++i) take(map.inverse_matrix().column(i));
  for (int i = options.segment_bits; i < n; ++i)
    take(by_target ? map.inverse_matrix().column(i) : f2::unit(i));
  return directions;
}

}  // namespace

Tile make_tile(const Affine& map, const TileOptions& options) {
  const int n = map.bits();
  const int s = options.segment_bits;
  FARO_CHECK(s >= 0 && s <= n);
  const Subspace segment = Subspace::low(n, s);
  Subspace space = f2::sum(segment, f2::image(map.inverse_matrix(), segment));
  for (const Word v : options.directions) space.insert(v);
  for (int i = s; i < n && space.dimension() < s + options.min_row_bits; ++i) space.insert(f2::unit(i));

  const Subspace sources = rows_above(space, s);
  const Subspace targets = rows_above(f2::image(map.matrix(), space), s);
  FARO_CHECK(sources.dimension() == targets.dimension() && sources.dimension() + s == space.dimension());

  Tile tile;
  tile.index_bits = n;
  tile.segment_bits = s;
  tile.row_bits = sources.dimension();
  tile.source_rows = as_vector(sources);
  tile.target_rows = as_vector(targets);
  tile.block_sources = block_directions(map, space, options);
  for (const Word v : tile.block_sources) tile.block_targets.push_back(map.matrix() * v);
  tile.complement = map.complement();

  tile.local = Matrix::zero(tile.tile_bits(), tile.tile_bits());
  const auto place_of = [&](Word y) {
    const Word row = targets.coordinates(y & ~f2::low_mask(s));
    return (y & f2::low_mask(s)) | (row == 0 ? 0 : row << s);
  };
  for (int i = 0; i < s; ++i) tile.local.set_column(i, place_of(map.matrix().column(i)));
  for (int j = 0; j < tile.row_bits; ++j) {
    tile.local.set_column(s + j, place_of(map.matrix() * tile.source_rows[static_cast<std::size_t>(j)]));
  }
  return tile;
}

}  // namespace faro::layout
