#include "file/in_place_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/layout/tile.hpp"
#include "faro/plan/plan.hpp"
#include "file/axes_steps.hpp"
#include "file/sweep.hpp"
#include "file/unit_steps.hpp"
#include "io/buffer.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

using SharedMaker = std::shared_ptr<const MoveMaker>;
using Passes = std::vector<std::unique_ptr<Steps>>;

constexpr std::uint64_t kThreeBuffers = 3;
constexpr double kRunThatPays = 32 << 10;  // runs of it cost twice what long ones do
constexpr int kMostBlockBits = 23;         // whose numbers take 32 MiB

// Arrays of a batch that fit: the tiles of a sweep, written where they were read.
class ArraySteps final : public Steps {
 public:
  ArraySteps(const Problem& problem, const Sweep& forward, const Sweep& back)
      : problem_(problem),
        forward_(forward),
        back_(back),
        tiles_(forward.state().tiles()),
        undo_(back.state().tiles()) {
    step_bytes = tiles_->tile_bytes;
    run_bytes = tiles_->read_run_bytes;
  }
  std::uint64_t count() const override { return tiles_->count(); }
  TileWork step(std::uint64_t number, bool is_undone) override {
    return (is_undone ? undo_ : tiles_)->tile(number);
  }
  const Problem& problem() const override { return problem_; }

 private:
  Problem problem_;
  Sweep forward_;  // whose states the tiles refer to
  Sweep back_;
  std::unique_ptr<Tiles> tiles_;
  std::unique_ptr<Tiles> undo_;
};

// A factor of an affine map: orbits of one or two tiles.
class AffineSteps final : public Steps {
 public:
  AffineSteps(const layout::InPlaceFactor& factor, int segment_bits, int capacity_bits,
              const Problem& problem, SharedMaker maker)
      : problem_{.permutation = factor.map, .element_bytes = problem.element_bytes, .batch = problem.batch},
        width_(problem.element_bytes),
        batch_(problem.batch),
        maker_(std::move(maker)) {
    const int orbit_bits = factor.orbit_tiles > 1 ? 1 : 0;
    found_ = layout::make_in_place_tile(factor, segment_bits, capacity_bits - segment_bits - orbit_bits);
    const layout::Tile& tile = found_.tile;
    FARO_CHECK(found_.orbit_tiles <= 2);
    if (tile.block_bits() > kMostBlockBits) {
      fail(ErrorCode::unsupported, "plan in place", fmt::format("2^{} tiles", tile.block_bits()),
           fmt::format("2^{} at most", kMostBlockBits), "more memory makes fewer");
    }
    const bool is_still = tile.local == f2::Matrix::identity(tile.tile_bits());
    for (f2::Word block = 0; block < f2::Word{1} << tile.block_bits(); ++block) {
      const f2::Word next = found_.next(block);
      const bool rests = next == block && is_still && tile.block_target(block) == tile.block_source(block);
      if (next >= block && !rests) heads_.push_back(static_cast<std::uint32_t>(block));
    }
    step_bytes = width_ << (tile.tile_bits() + (found_.orbit_tiles > 1 ? 1 : 0));
    run_bytes = width_ << tile.segment_bits;
  }

  std::uint64_t count() const override { return batch_ * heads_.size(); }
  const Problem& problem() const override { return problem_; }

  TileWork step(std::uint64_t number, bool is_undone) override {
    const layout::Tile& tile = found_.tile;
    const f2::Word first = heads_[number % heads_.size()];
    const f2::Word second = found_.next(first);
    const f2::Word columns = f2::low_mask(tile.segment_bits);
    const f2::Word target = tile.block_target(first);
    Rows in = rows_of(tile.source_rows, tile.block_source(first));
    Rows out = rows_of(tile.target_rows, target & ~columns);
    f2::Word low_difference = 0;
    if (second != first) {
      const f2::Word difference = target ^ tile.block_target(second);
      low_difference = difference & columns;
      add_vector(in, tile.block_source(first) ^ tile.block_source(second));
      add_vector(out, difference & ~columns);
    }
    in.begin = out.begin = (number / heads_.size() << tile.index_bits) * width_;
    TileWork work{.in = std::move(in), .out = std::move(out), .move = nullptr};
    work.move = moves({second != first, target & columns, low_difference, is_undone});
    if (is_undone) std::swap(work.in, work.out);
    return work;
  }

 private:
  struct Kind {
    bool is_pair;
    f2::Word low;             // of the first tile's target: XORed onto columns
    f2::Word low_difference;  // of the second's
    bool is_undone;
    auto operator<=>(const Kind&) const = default;
  };

  Rows rows_of(const std::vector<f2::Word>& vectors, f2::Word base) const {
    Rows rows{.count = std::uint64_t{1} << found_.tile.row_bits,
              .bytes = width_ << found_.tile.segment_bits,
              .begin = 0,
              .base = base,
              .vectors = vectors,
              .digits = {},
              .unit = width_};
    return rows;
  }

  void add_vector(Rows& rows, f2::Word vector) const {
    rows.vectors.push_back(vector);
    rows.count *= 2;
  }

  // Inside a step's buffer: the tile's local map, of a pair with one more bit that says which tile.
  SharedMove moves(const Kind& kind) {
    SharedMove& found = moves_[kind];
    if (found != nullptr) return found;
    const layout::Tile& tile = found_.tile;
    const int bits = tile.tile_bits();
    std::vector<f2::Word> columns;
    columns.reserve(static_cast<std::size_t>(bits) + 1);
    for (int j = 0; j < bits; ++j) columns.push_back(tile.local.column(j));
    if (kind.is_pair) columns.push_back(f2::Word{1} << bits | kind.low_difference);
    const int all = static_cast<int>(columns.size());
    const Affine map(f2::Matrix::from_columns(all, columns), kind.low);
    SharedMove made =
        maker_->make({.permutation = kind.is_undone ? map.inverse() : map, .element_bytes = width_});
    if (moves_.size() > kMostMoves) moves_.clear();
    return moves_[kind] = std::move(made);
  }

  Problem problem_;
  std::uint64_t width_;
  std::uint64_t batch_;
  SharedMaker maker_;
  layout::InPlaceTile found_;
  std::vector<std::uint32_t> heads_;  // the first block of each orbit in which anything moves
  std::map<Kind, SharedMove> moves_;
};

// y = shift - x mod N: the first shift + 1 elements reversed, and the others. A step takes a block from
// either end, and reverses both as one.
class ReversalSteps final : public Steps {
 public:
  ReversalSteps(std::uint64_t shift, const Problem& problem, std::uint64_t budget_bytes, SharedMaker maker)
      : problem_{.permutation =
                     Cyclic{.count = element_count(problem.permutation), .shift = shift, .reversed = true},
                 .element_bytes = problem.element_bytes,
                 .batch = problem.batch},
        width_(problem.element_bytes),
        count_(element_count(problem.permutation)),
        batch_(problem.batch),
        maker_(std::move(maker)),
        block_(budget_bytes / width_ / 2) {
    FARO_CHECK(block_ > 0);
    add({.begin = 0, .length = shift + 1, .steps = 0});
    add({.begin = shift + 1, .length = count_ - shift - 1, .steps = 0});
    step_bytes = 2 * block_ * width_;
    run_bytes = block_ * width_;
  }

  std::uint64_t count() const override { return batch_ * steps_of_array_; }
  const Problem& problem() const override { return problem_; }

  TileWork step(std::uint64_t number, bool) override {
    const std::uint64_t array = number / steps_of_array_;
    std::uint64_t i = number % steps_of_array_;
    std::size_t which = 0;
    for (; i >= stretches_[which].steps; ++which) i -= stretches_[which].steps;
    const Stretch& stretch = stretches_[which];
    const std::uint64_t from = i * block_;
    const std::uint64_t left = stretch.length - 2 * from;
    const std::uint64_t low = array * count_ + stretch.begin + from;
    const std::uint64_t elements = std::min(left, 2 * block_);
    Rows rows;
    rows.count = 1;
    rows.bytes = elements * width_;
    rows.begin = low * width_;
    if (left > 2 * block_) {
      const std::uint64_t high = low + left - block_;
      rows.ranges = {{.at = 0, .offset = low * width_, .bytes = block_ * width_},
                     {.at = block_ * width_, .offset = high * width_, .bytes = block_ * width_}};
    }
    SharedMove& move = moves_[elements];
    if (move == nullptr) move = maker_->make({.permutation = maps::flip(elements), .element_bytes = width_});
    return {.in = rows, .out = rows, .move = move};
  }

 private:
  struct Stretch {
    std::uint64_t begin;
    std::uint64_t length;
    std::uint64_t steps;
  };

  void add(Stretch stretch) {
    if (stretch.length < 2) return;
    stretch.steps = (stretch.length + 2 * block_ - 1) / (2 * block_);
    steps_of_array_ += stretch.steps;
    stretches_.push_back(stretch);
  }

  Problem problem_;
  std::uint64_t width_;
  std::uint64_t count_;
  std::uint64_t batch_;
  SharedMaker maker_;
  std::uint64_t block_;  // elements from either end
  std::vector<Stretch> stretches_;
  std::uint64_t steps_of_array_ = 0;
  std::map<std::uint64_t, SharedMove>
      moves_;  // by elements: at most one for each stretch's end, and whole steps
};

struct Choice {
  std::vector<layout::InPlaceFactor> factors;
  int segment_bits = 0;
};

// The segments that cost least: fewer passes, or longer runs.
Choice choose(const Affine& map, std::uint64_t width, int capacity_bits, std::uint64_t longest_run) {
  std::optional<Choice> best;
  double least = 0;
  for (int s = std::min(capacity_bits, map.bits()); s >= 0; --s) {
    const auto run = static_cast<double>(width << s);
    if ((width << s) > longest_run && s > 0) continue;
    std::vector<layout::InPlaceFactor> factors;
    try {
      factors = layout::factor_in_place(
          map, {.segment_bits = s, .capacity_bits = capacity_bits, .max_orbit_tiles = 2});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      continue;  // of segments as long no tile fits
    }
    const double cost = static_cast<double>(factors.size()) * (1 + kRunThatPays / run);
    if (best && cost >= least) continue;
    best = Choice{.factors = std::move(factors), .segment_bits = s};
    least = cost;
  }
  if (!best) {
    fail(ErrorCode::value, "plan in place", fmt::format("memory for tiles of 2^{} elements", capacity_bits),
         "for tiles of 2 elements");
  }
  return *std::move(best);
}

Passes passes_of_cyclic(const Cyclic& map, const Problem& problem, std::uint64_t budget,
                        const SharedMaker& maker) {
  Passes passes;
  if (map.count < 2 || (!map.reversed && map.shift == 0)) return passes;
  const auto add = [&](std::uint64_t shift) {
    passes.push_back(std::make_unique<ReversalSteps>(shift, problem, budget, maker));
  };
  if (map.reversed) {
    add(map.shift);
  } else {
    add(map.count - 1);  // all, and then (shift - 1) - (N - 1 - x)
    add(map.shift - 1);
  }
  return passes;
}

}  // namespace

std::vector<std::unique_ptr<Steps>> in_place_passes(const Problem& problem, const Options& options) {
  Problem forward = problem;
  forward.placement = Placement::out_of_place;
  if (std::holds_alternative<Indexed>(forward.permutation))
    forward.permutation = normal_form(forward.permutation, options.threads);
  const std::uint64_t bytes = total_bytes(forward);
  if (bytes == 0) return {};
  const std::uint64_t memory = options.memory_bytes != 0 ? options.memory_bytes : default_memory_bytes();
  const std::uint64_t budget = memory / kThreeBuffers;
  const std::uint64_t width = forward.element_bytes;
  if (budget < 2 * width) {
    fail(ErrorCode::value, "plan in place", "memory of " + size_text(memory),
         "for six elements of " + size_text(width));
  }
  Passes passes;
  const auto maker = std::make_shared<const MoveMaker>(options);
  const auto* const axes = std::get_if<Axes>(&forward.permutation);
  const auto* const affine = std::get_if<Affine>(&forward.permutation);
  if ((axes != nullptr && axes->is_identity()) || (affine != nullptr && affine->is_identity())) return {};
  forward = in_small_arrays(forward, budget);
  const bool fits = bytes / forward.batch <= budget;
  if (!fits) {
    if (const auto* const cyclic = std::get_if<Cyclic>(&forward.permutation))
      return passes_of_cyclic(*cyclic, forward, budget, maker);
    const auto map = affine_form(forward.permutation);
    const Permutation normal = map ? normal_form(forward.permutation, options.threads) : forward.permutation;
    const auto* const cyclic_form = std::get_if<Cyclic>(&normal);
    if (cyclic_form != nullptr && !std::has_single_bit(width))
      return passes_of_cyclic(*cyclic_form, forward, budget, maker);
    if (map) {
      const int capacity = static_cast<int>(std::bit_width(budget / width)) - 1;
      const Choice choice = choose(*map, width, capacity, long_run_bytes(options, bytes));
      for (const layout::InPlaceFactor& factor : choice.factors) {
        passes.push_back(
            std::make_unique<AffineSteps>(factor, choice.segment_bits, capacity, forward, maker));
      }
      return passes;
    }
    if (const auto* const moved = std::get_if<Axes>(&forward.permutation)) {
      if (const auto kept = kept_axes(*moved)) return passes_of_axes(*kept, forward, budget, maker);
      if (auto units = passes_of_units(*moved, forward, memory, maker)) return *std::move(units);
    }
    const std::uint64_t array_bytes = bytes / forward.batch;
    fail(
        ErrorCode::unsupported, "plan " + to_text(forward.permutation) + " in place",
        "arrays of " + size_text(array_bytes) + " and memory of " + size_text(memory),
        "an affine map, axes that keep the shape or long parts of rows, a roll, a flip, or `--memory` for "
        "three such arrays, " +
            size_text(kThreeBuffers * array_bytes),
        "from one file to another it needs no more memory, but room for the other file, " + size_text(bytes));
  }
  Problem back = forward;
  back.permutation = inverse(forward.permutation);
  passes.push_back(std::make_unique<ArraySteps>(forward, Sweep(forward, options), Sweep(back, options)));
  return passes;
}

}  // namespace faro::file
