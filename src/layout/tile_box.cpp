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
  BoxFrame(int bits, const TileBox& box) : in_box_(box.box_bits()) {
    Matrix frame = Matrix::zero(bits, bits);
    int next = 0;
    for (; next < box.row_bits; ++next) frame.set_column(next, f2::unit(next));
    for (const Word row : box.rows) frame.set_column(next++, row);
    for (const Word number : box.boxes) frame.set_column(next++, number);
    const auto inverse = frame.inverse();
    FARO_CHECK(next == bits && inverse.has_value());
    coordinates_ = *inverse;
  }

  Word place(Word x) const { return coordinates_ * x & f2::low_mask(in_box_); }
  Word number(Word x) const { return in_box_ == f2::kMaxDimension ? 0 : coordinates_ * x >> in_box_; }

 private:
  int in_box_;
  Matrix coordinates_;
};

Subspace box_space(const Affine& map, int row_bits) {
  const Subspace row = Subspace::low(map.bits(), row_bits);
  return f2::sum(row, f2::image(map.inverse_matrix(), row));
}

}  // namespace

int tile_box_bits(const Affine& map, int row_bits) { return row_bits + map.rank_gamma(row_bits); }

TileBox make_tile_box(const Affine& map, const TileBoxOptions& options) {
  const int n = map.bits();
  FARO_CHECK(options.segment_bits <= options.row_bits && options.row_bits <= n);
  const bool by_target = options.side == BoxSide::target;
  const Subspace space = box_space(map, options.row_bits);
  TileBox box;
  box.tile = make_tile(map, {.segment_bits = options.segment_bits, .near_bits = options.row_bits});
  Tile& tile = box.tile;
  box.row_bits = options.row_bits;
  box.tile_bits = space.dimension() - tile.tile_bits();
  const Word above = ~f2::low_mask(options.row_bits);
  Subspace rows(n);
  for (const Word v : space.basis()) rows.insert((by_target ? map.matrix() * v : v) & above);
  box.rows.assign(rows.basis().begin(), rows.basis().end());
  std::vector<Word>& blocks = by_target ? tile.block_targets : tile.block_sources;
  for (std::size_t i = static_cast<std::size_t>(box.tile_bits); i < blocks.size(); ++i)
    box.boxes.push_back(blocks[i] & above);

  const BoxFrame frame(n, box);
  for (Word& word : by_target ? tile.target_rows : tile.source_rows) word = frame.place(word);
  for (Word& word : blocks) word = frame.place(word);
  if (by_target) {
    box.first = f2::combine(box.boxes.data(), frame.number(tile.complement));
    tile.complement = frame.place(tile.complement);
  }
  return box;
}

}  // namespace faro::layout
