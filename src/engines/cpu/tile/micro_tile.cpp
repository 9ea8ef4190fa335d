#include "engines/cpu/tile/micro_tile.hpp"

#include "faro/error.hpp"

namespace faro::cpu {
namespace {

using f2::Matrix;
using f2::Word;

Matrix solve_columns(const Matrix& q, const Matrix& right) {
  Matrix solution = Matrix::zero(q.columns(), right.columns());
  for (int k = 0; k < right.columns(); ++k) {
    const auto column = q.solve(right.column(k));
    FARO_CHECK(column.has_value());
    solution.set_column(k, *column);
  }
  return solution;
}

}  // namespace

MicroTile make_micro_tile(const layout::Tile& tile, int lane_bits, MicroOrder order) {
  FARO_CHECK(lane_bits <= tile.segment_bits);
  const Affine map(tile.local, 0);
  const int v = lane_bits;
  const layout::Tile vectors = layout::make_tile(map, {.segment_bits = v});
  const int q = vectors.row_bits;

  MicroTile micro;
  micro.lane_bits = v;
  micro.exchange_bits = q;
  for (Word j = 0; j < f2::unit(q); ++j) {
    micro.source_vectors.push_back(vectors.source_row(j));
    micro.target_vectors.push_back(vectors.target_row(j));
  }

  // The blocks of the inverse map's tile are ordered by where they read, which is where this one writes.
  const layout::Tile backwards =
      layout::make_tile(map.inverse(), {.segment_bits = v, .near_bits = tile.tile_bits()});
  for (Word block = 0; block < f2::unit(vectors.block_bits()); ++block) {
    const Word source = order == MicroOrder::source ? vectors.block_source(block)
                                                    : backwards.block_target(block) & ~f2::low_mask(v);
    micro.source_blocks.push_back(source);
    micro.target_blocks.push_back(map(source));
  }

  const Matrix u = vectors.local.block(0, 0, v, v);
  const Matrix r = vectors.local.block(0, v, v, q);
  const Matrix exchange = vectors.local.block(v, 0, q, v);
  const Matrix p = vectors.local.block(v, v, q, q);
  micro.exchange = exchange;
  micro.first_lanes = solve_columns(exchange, p + Matrix::identity(q));
  const Matrix k = r + u * micro.first_lanes;
  const auto inverse = (u + k * exchange).inverse();
  FARO_CHECK(inverse.has_value());
  micro.last_lanes_inverse = *inverse;
  micro.last_lanes_offset = *inverse * k;
  return micro;
}

}  // namespace faro::cpu
