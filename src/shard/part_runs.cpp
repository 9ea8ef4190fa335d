#include "shard/part_runs.hpp"

#include "faro/error.hpp"
#include "shard/mesh_method.hpp"

namespace faro::detail {
namespace {

Distribution distribution_of(const ShardCut& cut, int ranks) {
  std::optional<Distribution> made = as_distribution(cut, ranks);
  if (!made) fail(ErrorCode::unsupported, "find a rank's part", "a cut by bits", "slabs, or a distribution");
  return *std::move(made);
}

// Axes from here on are held whole: their places lie together.
std::size_t first_whole_axis(const RankPart& part, const std::vector<std::uint64_t>& shape) {
  const std::vector<std::uint64_t> held = part.shape();
  std::size_t axis = held.size();
  while (axis > 0 && held[axis - 1] == shape[axis - 1]) --axis;
  return axis;
}

class RunsOfPart {
 public:
  RunsOfPart(const RankPart& part, const std::vector<std::uint64_t>& shape,
             const std::function<void(const PartRun&)>& use)
      : part_(part), shape_(shape), whole_(first_whole_axis(part, shape)), use_(use) {
    for (std::size_t a = whole_; a < shape.size(); ++a) together_ *= shape[a];
  }

  void along(std::size_t axis, std::uint64_t index) {
    if (whole_ == 0) return give(0, together_);
    for (const AxisRuns& runs : part_.axes[axis]) {
      for (std::uint64_t k = 0; k < runs.count; ++k) {
        const std::uint64_t begin = index * shape_[axis] + runs.begin + k * runs.stride;
        if (axis + 1 == whole_) {
          give(begin * together_, runs.length * together_);
          continue;
        }
        for (std::uint64_t i = 0; i < runs.length; ++i) along(axis + 1, begin + i);
      }
    }
  }

 private:
  void give(std::uint64_t index, std::uint64_t length) {
    use_({.index = index, .element = element_, .length = length});
    element_ += length;
  }

  const RankPart& part_;
  const std::vector<std::uint64_t>& shape_;
  std::size_t whole_;
  const std::function<void(const PartRun&)>& use_;
  std::uint64_t together_ = 1;
  std::uint64_t element_ = 0;
};

}  // namespace

void for_runs(const RankPart& part, const std::vector<std::uint64_t>& shape,
              const std::function<void(const PartRun&)>& use) {
  if (part.elements() > 0) RunsOfPart(part, shape, use).along(0, 0);
}

RankPart part_of_cut(const ShardCut& cut, const std::vector<std::uint64_t>& shape, int ranks, int rank) {
  return part_of(distribution_of(cut, ranks), shape, rank);
}

bool is_first_copy(const ShardCut& cut, const std::vector<std::uint64_t>& shape, int ranks, int rank) {
  const Holdings holdings(distribution_of(cut, ranks), shape, ranks, "out");
  const std::optional<Cell> cell = holdings.cell_of(rank);
  return cell && holdings.copy(*cell, 0) == rank;
}

}  // namespace faro::detail
