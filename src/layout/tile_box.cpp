#include "layout/tile_box.hpp"

#include "faro/error.hpp"

namespace faro::layout {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// Coordinates of places of one side: e_0 .. e_{p-1} and the rows' basis, which say where in a box, and above
// them the boxes' basis.
class BoxFrame {
 public:
  BoxFrame(int bits, int row_bits, const BoxRows& of) : in_box_(row_bits + static_cast<int>(of.rows.size())) {
    Matrix frame = Matrix::zero(bits, bits);
    int next = 0;
    for (; next < row_bits; ++next) frame.set_column(next, f2::unit(next));
    for (const Word row : of.rows) frame.set_column(next++, row);
    for (const Word box : of.boxes) frame.set_column(next++, box);
    const auto inverse = frame.inverse();
    FARO_CHECK(next == bits && inverse.has_value());
    coordinates_ = *inverse;
  }

  Word place(Word x) const { return coordinates_ * x & f2::low_mask(in_box_); }
  Word box(Word x) const { return coordinates_ * x >> in_box_; }

 private:
  int in_box_;
  Matrix coordinates_;
};

// The rows of one side: of a space that holds whole rows, and of the blocks past the first box's.
BoxRows rows_of(const Subspace& space, int row_bits, const std::vector<Word>& blocks, int first_block) {
  const Word above = ~f2::low_mask(row_bits);
  BoxRows made;
  Subspace rows(space.ambient_dimension());
  for (const Word v : space.basis()) rows.insert(v & above);
  made.rows.assign(rows.basis().begin(), rows.basis().end());
  for (auto block = blocks.begin() + first_block; block != blocks.end(); ++block)
    made.boxes.push_back(*block & above);
  return made;
}

}  // namespace

int tile_box_bits(const Affine& map, int row_bits) { return row_bits + map.rank_gamma(row_bits); }

TileBox make_tile_box(const Affine& map, const TileBoxOptions& options) {
  const int n = map.bits();
  const int p = options.row_bits;
  FARO_CHECK(n < f2::kMaxDimension && options.segment_bits <= p && p <= n);
  const Subspace row = Subspace::low(n, p);
  const Subspace space = f2::sum(row, f2::image(map.inverse_matrix(), row));
  TileBox box;
  box.tile = make_tile(map, {.segment_bits = options.segment_bits, .near_bits = p});
  Tile& tile = box.tile;
  box.row_bits = p;
  box.tile_bits = space.dimension() - tile.tile_bits();
  box.source = rows_of(space, p, tile.block_sources, box.tile_bits);
  box.target = rows_of(f2::image(map.matrix(), space), p, tile.block_targets, box.tile_bits);
  const BoxFrame targets(n, p, box.target);
  box.target.first = f2::combine(box.target.boxes.data(), targets.box(tile.complement));

  const bool by_target = options.side == BoxSide::target;
  const BoxFrame frame = by_target ? targets : BoxFrame(n, p, box.source);
  for (Word& word : by_target ? tile.target_rows : tile.source_rows) word = frame.place(word);
  for (Word& word : by_target ? tile.block_targets : tile.block_sources) word = frame.place(word);
  if (by_target) tile.complement = frame.place(tile.complement);
  return box;
}

}  // namespace faro::layout
