#include "file/tiles.hpp"

#include <algorithm>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

using detail::ceil_div;

constexpr std::uint64_t kManyTiles = 16;  // so that reading, permuting and writing overlap

// Whole arrays of a batch.
class ArrayTiles final : public Tiles {
 public:
  ArrayTiles(const Problem& problem, const TileBudget& budget)
      : problem_(problem),
        moves_(budget.moves),
        array_bytes_(problem.element_bytes * element_count(problem.permutation)) {
    FARO_CHECK(array_bytes_ > 0 && array_bytes_ <= budget.tile_bytes);
    const std::uint64_t wanted = std::min(budget.tile_bytes, std::max(array_bytes_, budget.enough_bytes));
    group_ = std::min(problem.batch, wanted / array_bytes_);
    tile_bytes = group_ * array_bytes_;
    read_run_bytes = tile_bytes;
    write_run_bytes = tile_bytes;
  }

  std::uint64_t count() const override { return ceil_div(problem_.batch, group_); }

  TileWork tile(std::uint64_t number) override {
    const std::uint64_t first = number * group_;
    const std::uint64_t arrays = std::min(group_, problem_.batch - first);
    SharedMove& move = arrays == group_ ? whole_ : rest_;
    if (move == nullptr) move = moves_->make(part(arrays));
    const Rows rows = one_row(first * array_bytes_, arrays * array_bytes_);
    return {.in = rows, .out = rows, .move = move};
  }

  TilePlan plan() const override { return moves_->explain(part(group_)); }

 private:
  Problem part(std::uint64_t arrays) const {
    Problem part = problem_;
    part.batch = arrays;
    return part;
  }

  Problem problem_;
  std::shared_ptr<const MoveMaker> moves_;
  std::uint64_t array_bytes_;
  std::uint64_t group_ = 1;
  SharedMove whole_;
  SharedMove rest_;
};

}  // namespace

std::uint64_t long_run_bytes(const Options& options, std::uint64_t all_bytes) {
  constexpr std::uint64_t kUsualSegment = std::uint64_t{128} << 10;
  constexpr std::uint64_t kSegments = 32;
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{32} << 20;
  const std::uint64_t segment = options.segment_bytes != 0 ? options.segment_bytes : kUsualSegment;
  const std::uint64_t asked = std::clamp(segment, kLeast / kSegments, kMost / kSegments) * kSegments;
  return std::min(asked, std::max(kUsualSegment * kSegments, all_bytes / kManyTiles));
}

std::uint64_t enough_tile_bytes(std::uint64_t all_bytes) {
  constexpr std::uint64_t kLeast = std::uint64_t{4} << 20;
  constexpr std::uint64_t kMost = std::uint64_t{32} << 20;  // slices of a MiB, four for each of eight threads
  return std::clamp(all_bytes / kManyTiles, kLeast, kMost);
}

std::unique_ptr<Tiles> tiles_of_arrays(const Problem& problem, const TileBudget& budget) {
  return std::make_unique<ArrayTiles>(problem, budget);
}

}  // namespace faro::file
