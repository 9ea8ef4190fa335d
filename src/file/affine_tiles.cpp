// Tiles of affine maps: cosets of S + A^-1 S, whose runs are as long as the disk's rates make them worth.
#include <bit>
#include <map>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "file/tiles.hpp"

namespace faro::file {
namespace {

class AffineTiles final : public Tiles {
 public:
  AffineTiles(const Problem& problem, const TileBudget& budget)
      : map_(std::get<Affine>(problem.permutation)),
        width_(problem.element_bytes),
        batch_(problem.batch),
        maker_(budget.moves) {
    const std::uint64_t elements = budget.tile_bytes / width_;
    FARO_CHECK(elements > 0);
    const Runs runs = choose_runs(static_cast<int>(std::bit_width(elements)) - 1, budget);
    const int segment_bits = std::min(runs.read_bits, runs.write_bits);
    // The longer side's run is several segments.
    std::vector<f2::Word> directions;
    for (int i = segment_bits; i < runs.read_bits; ++i) directions.push_back(f2::unit(i));
    for (int i = segment_bits; i < runs.write_bits; ++i)
      directions.push_back(map_.inverse_matrix().column(i));
    layout_ = layout::make_tile(map_, {.segment_bits = segment_bits, .directions = std::move(directions)});
    write_bits_ = run_bits(layout_.target_rows);
    tile_bytes = width_ << layout_.tile_bits();
    read_run_bytes = width_ << run_bits(layout_.source_rows);
    write_run_bytes = width_ << write_bits_;
    placement = budget.placement;
  }

  std::uint64_t count() const override { return batch_ << layout_.block_bits(); }

  TileWork tile(std::uint64_t number) override {
    const std::uint64_t block = number & f2::low_mask(layout_.block_bits());
    const std::uint64_t array = number >> layout_.block_bits();
    const std::uint64_t begin = (array << map_.bits()) * width_;
    // A run's rows are the first of a tile, so that its bits are a place's: it is written in ascending order.
    const f2::Word column_mask = f2::low_mask(write_bits_);
    const f2::Word target = layout_.block_target(block);
    TileWork work{.in = rows_of(layout_.source_rows, layout_.block_source(block)),
                  .out = rows_of(layout_.target_rows, target & ~column_mask),
                  .move = move(target & column_mask)};
    work.in.begin = begin;
    work.out.begin = begin;
    return work;
  }

  TilePlan plan() const override { return maker_->explain(local(0)); }

 private:
  struct Runs {
    int read_bits = 0;
    int write_bits = 0;
  };

  // The runs that the disk reads and writes fastest of those whose tile fits; of equals the smallest tile
  // that is large enough.
  Runs choose_runs(int capacity_bits, const TileBudget& budget) const {
    constexpr int kMostDifference = 3;
    constexpr double kLess = 1 - 1e-9;
    const int most = std::min(capacity_bits, map_.bits());
    Runs best;
    int best_bits = 0;
    double least = budget.cost(width_, width_);
    const int enough_bits = static_cast<int>(std::bit_width(budget.enough_bytes / width_)) - 1;
    const auto is_better = [&](int bits) {
      return best_bits < enough_bits ? bits > best_bits : bits >= enough_bits && bits < best_bits;
    };
    for (int read_bits = 0; read_bits <= most; ++read_bits) {
      const int last = std::min(most, read_bits + kMostDifference);
      for (int write_bits = std::max(0, read_bits - kMostDifference); write_bits <= last; ++write_bits) {
        const f2::Subspace source = f2::Subspace::low(map_.bits(), read_bits);
        const f2::Subspace target = f2::Subspace::low(map_.bits(), write_bits);
        const int bits = f2::sum(source, f2::image(map_.inverse_matrix(), target)).dimension();
        if (bits > capacity_bits) break;
        const double cost = budget.cost(width_ << read_bits, width_ << write_bits);
        if (cost * kLess > least || (cost > least * kLess && !is_better(bits))) continue;
        best = {.read_bits = read_bits, .write_bits = write_bits};
        best_bits = bits;
        least = cost;
      }
    }
    return best;
  }

  Rows rows_of(const std::vector<f2::Word>& vectors, f2::Word base) const {
    Rows rows{.count = std::uint64_t{1} << layout_.row_bits,
              .bytes = width_ << layout_.segment_bits,
              .begin = 0,
              .base = base,
              .vectors = vectors,
              .digits = {},
              .unit = width_};
    return rows;
  }

  // Segments that follow one another, as far as the first rows do.
  int run_bits(const std::vector<f2::Word>& vectors) const {
    int bits = layout_.segment_bits;
    for (const f2::Word vector : vectors) {
      if (vector != f2::unit(bits)) break;
      ++bits;
    }
    return bits;
  }

  // The map within a tile, with `column` XORed onto the places in the target's runs.
  SharedMove move(f2::Word column) {
    const auto found = moves_.find(column);
    if (found != moves_.end()) return found->second;
    if (moves_.size() >= kMostMoves) moves_.clear();
    return moves_.emplace(column, maker_->make(local(column))).first->second;
  }

  Problem local(f2::Word column) const {
    return {.permutation = Affine(layout_.local, column), .element_bytes = width_, .placement = placement};
  }

  Affine map_;
  std::uint64_t width_;
  std::uint64_t batch_;
  std::shared_ptr<const MoveMaker> maker_;
  layout::Tile layout_;
  int write_bits_ = 0;  // of a run of the output
  std::map<f2::Word, SharedMove> moves_;
};

}  // namespace

std::unique_ptr<Tiles> tiles_of_affine(const Problem& problem, const TileBudget& budget) {
  return std::make_unique<AffineTiles>(problem, budget);
}

}  // namespace faro::file
