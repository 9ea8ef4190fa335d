#include "cli/rank_owners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/report.hpp"
#include "faro/error.hpp"
#include "rounding.hpp"
#include "shard/mesh_method.hpp"
#include "shard/part_runs.hpp"

namespace faro::cli {
namespace {

constexpr const char* kRank = "{rank}";

}  // namespace

bool is_for_each_rank(const std::string& name) { return name.find(kRank) != std::string::npos; }

std::string name_of_rank(std::string name, int rank) {
  for (std::size_t at = 0; (at = name.find(kRank, at)) != std::string::npos;)
    name.replace(at, std::string(kRank).size(), std::to_string(rank));
  return name;
}

Owners owners_of(const OwnedAxes& axes, int ranks) {
  const bool is_alike = axes.items == 1 && axes.counted == axes.shape;
  Owners owners;
  if (is_alike) {
    const Shape cells = store::cells_of(axes.shape, axes.unit);
    owners.axis = static_cast<std::size_t>(std::max_element(cells.begin(), cells.end()) - cells.begin());
  }
  // Places of the store's axis, and elements of the plan, begin together at multiples of `step` items.
  const std::uint64_t extent = axes.shape.empty() ? 1 : axes.shape[owners.axis];
  const std::uint64_t all = store::volume(axes.shape);
  const std::uint64_t place = is_alike ? 1 : all / std::max<std::uint64_t>(extent, 1);
  const std::uint64_t counted_extent = axes.counted.empty() ? 1 : axes.counted[owners.axis];
  const std::uint64_t counted = is_alike ? 1 : all / std::max<std::uint64_t>(counted_extent, 1);
  const std::uint64_t unit = axes.shape.empty() ? 1 : axes.unit[owners.axis];
  const std::uint64_t step =
      std::lcm(std::max<std::uint64_t>(unit * place, 1), std::max<std::uint64_t>(counted, 1));
  const std::uint64_t end = is_alike ? extent : all;
  const std::uint64_t steps = detail::ceil_div(end, step);
  owners.cut.axis = static_cast<int>(owners.axis);
  std::uint64_t begin = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto next = static_cast<std::uint64_t>(r) + 1;
    const std::uint64_t to = std::min(end, steps * next / static_cast<std::uint64_t>(ranks) * step);
    owners.extents.push_back(place == 0 ? 0 : (to - begin) / place);
    owners.cut.extents.push_back(counted == 0 ? 0 : (to - begin) / counted);
    begin = to;
  }
  return owners;
}

Box box_of(const Owners& owners, const Shape& shape, int rank) {
  Box box{.origin = Shape(shape.size(), 0), .extents = shape};
  if (shape.empty()) return box;
  const auto before = owners.extents.begin() + rank;
  box.origin[owners.axis] = std::accumulate(owners.extents.begin(), before, std::uint64_t{0});
  box.extents[owners.axis] = owners.extents[static_cast<std::size_t>(rank)];
  return box;
}

Shape whole_shape(const ShardCut& cut, const std::vector<Shape>& parts, const std::string& operation) {
  const auto ranks = static_cast<int>(parts.size());
  const std::size_t axes = parts.front().size();
  for (const Shape& part : parts) {
    if (part.size() != axes)
      fail(ErrorCode::value, operation, fmt::format("files of {} and of {} axes", axes, part.size()),
           "parts of one array");
  }
  Shape whole(axes, 0);
  const auto made = detail::as_distribution(cut, ranks);
  if (made) {
    const Mesh& mesh = made->mesh;
    for (const RankBox& box : made->boxes) {
      for (std::size_t a = 0; a < axes && a < box.end.size(); ++a) whole[a] = std::max(whole[a], box.end[a]);
    }
    // Along the mesh axes that cut it an axis is the sum of its parts; all others are at place 0.
    std::vector<int> strides(mesh.axes.size(), 1);
    for (std::size_t m = mesh.axes.size(); m-- > 1;) strides[m - 1] = strides[m] * mesh.axes[m].ranks;
    for (std::size_t a = 0; a < axes && made->boxes.empty(); ++a) {
      std::vector<int> places{mesh.first};
      for (const CutAxis& axis : made->axes) {
        if (axis.axis != static_cast<int>(a)) continue;
        for (const int over : axis.over) {
          const auto m = static_cast<std::size_t>(over);
          if (m >= mesh.axes.size()) continue;  // refused by who reads the cut
          std::vector<int> next;
          for (const int at : places) {
            for (int k = 0; k < mesh.axes[m].ranks; ++k) next.push_back(at + k * strides[m]);
          }
          places = next;
        }
      }
      for (const int at : places) whole[a] += at < ranks ? parts[static_cast<std::size_t>(at)][a] : 0;
    }
  }
  for (int r = 0; r < ranks; ++r) {
    const Shape& part = parts[static_cast<std::size_t>(r)];
    const RankPart wanted = detail::part_of_cut(cut, whole, ranks, r);
    if (wanted.shape() == part || (wanted.elements() == 0 && store::is_empty(part))) continue;
    fail(ErrorCode::value, operation, fmt::format("a file of shape {} of rank {}", shape_text(part), r),
         fmt::format("{}, what --from gives it of an array of {}", shape_text(wanted.shape()),
                     shape_text(whole)));
  }
  return whole;
}

}  // namespace faro::cli
