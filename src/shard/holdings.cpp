#include "shard/holdings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr int kMostMeshRanks = 1 << 20;

// Ranks of a mesh, at most kMostMeshRanks, with room for `first`.
int checked_ranks(const Mesh& mesh, const std::string& operation) {
  std::uint64_t ranks = 1;
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.ranks < 1 || axis.ranks > kMostMeshRanks) ranks = kMostMeshRanks + std::uint64_t{1};
    if (ranks <= kMostMeshRanks) ranks *= static_cast<std::uint64_t>(axis.ranks);
  }
  if (ranks > kMostMeshRanks || mesh.first < 0 || mesh.first > kMostMeshRanks) {
    fail(ErrorCode::value, operation, "the mesh " + to_text(mesh),
         fmt::format("axes of 1 rank or more, and 1 to {} ranks", kMostMeshRanks));
  }
  return static_cast<int>(ranks);
}

std::uint64_t product_of_extents(const std::vector<std::uint64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

std::uint64_t even_start(std::uint64_t extent, std::uint64_t places, std::uint64_t place) {
  return extent / places * place + std::min(place, extent % places);
}

std::optional<int> power_of_two(std::uint64_t number) {
  return std::has_single_bit(number) ? std::optional(std::countr_zero(number)) : std::nullopt;
}

}  // namespace

Holdings::Holdings(const Distribution& distribution, std::vector<std::uint64_t> shape, int ranks,
                   const std::string& role)
    : role_(role), shape_(std::move(shape)), first_(distribution.mesh.first) {
  if (shape_.empty()) shape_ = {1};
  mesh_ranks_ = checked_ranks(distribution.mesh, "distribute the " + role + "put");
  if (first_ > ranks - mesh_ranks_) {
    refuse(fmt::format("the mesh {}, of ranks {} to {}", to_text(distribution.mesh), first_,
                       first_ + mesh_ranks_ - 1),
           fmt::format("ranks below {}", ranks));
  }
  if (!distribution.boxes.empty()) {
    take_boxes(distribution);
    return;
  }
  cut_axes(distribution);
}

void Holdings::refuse(const std::string& got, const std::string& wanted) const {
  fail(ErrorCode::value, "distribute the " + role_ + "put", got, wanted);
}

void Holdings::cut_axes(const Distribution& distribution) {
  const Mesh& mesh = distribution.mesh;
  axes_.resize(shape_.size());
  std::vector<bool> taken(mesh.axes.size(), false);
  std::vector<bool> cut(shape_.size(), false);
  for (const CutAxis& asked : distribution.axes) {
    if (asked.axis < 0 || static_cast<std::size_t>(asked.axis) >= shape_.size() ||
        cut[static_cast<std::size_t>(asked.axis)]) {
      refuse(fmt::format("axis {}", asked.axis),
             fmt::format("different axes of 0 to {}, those of shape {}",
                         static_cast<std::int64_t>(shape_.size()) - 1, fmt::join(shape_, "x")));
    }
    cut[static_cast<std::size_t>(asked.axis)] = true;
    cut_axis(asked, mesh, taken);
  }
  int stride = mesh_ranks_;
  for (std::size_t m = 0; m < mesh.axes.size(); ++m) {
    stride /= mesh.axes[m].ranks;
    if (taken[m]) continue;
    free_.push_back({.ranks = static_cast<std::uint64_t>(mesh.axes[m].ranks), .stride = stride});
    is_replicated_ = is_replicated_ || mesh.axes[m].ranks > 1;
  }
}

void Holdings::cut_axis(const CutAxis& asked, const Mesh& mesh, std::vector<bool>& taken) {
  Cut& cut = axes_[static_cast<std::size_t>(asked.axis)];
  const std::uint64_t extent = shape_[static_cast<std::size_t>(asked.axis)];
  for (const int m : asked.over) {
    if (m < 0 || static_cast<std::size_t>(m) >= mesh.axes.size() || taken[static_cast<std::size_t>(m)]) {
      refuse(fmt::format("axis {} over mesh axis {}", asked.axis, m),
             fmt::format("axes of the mesh {}, each over one array axis", to_text(mesh)));
    }
    taken[static_cast<std::size_t>(m)] = true;
    int stride = 1;
    for (std::size_t behind = static_cast<std::size_t>(m) + 1; behind < mesh.axes.size(); ++behind)
      stride *= mesh.axes[behind].ranks;
    const auto ranks = static_cast<std::uint64_t>(mesh.axes[static_cast<std::size_t>(m)].ranks);
    cut.over.push_back({.ranks = ranks, .stride = stride});
    cut.places *= ranks;
  }
  cut.block = asked.block;
  if (asked.extents.empty()) return;
  if (asked.block != 0) refuse(fmt::format("axis {} in blocks and in extents", asked.axis), "one of them");
  if (asked.extents.size() != cut.places) {
    refuse(fmt::format("{} extents of axis {}", asked.extents.size(), asked.axis),
           fmt::format("{}, one for each slab", cut.places));
  }
  cut.starts.reserve(asked.extents.size() + 1);
  cut.starts.push_back(0);
  for (const std::uint64_t each : asked.extents) {
    if (each > extent - cut.starts.back()) break;
    cut.starts.push_back(cut.starts.back() + each);
  }
  if (cut.starts.size() != cut.places + 1 || cut.starts.back() != extent) {
    refuse(fmt::format("slabs of {}", fmt::join(asked.extents, " ")),
           fmt::format("extents whose sum is {}, that of axis {}", extent, asked.axis));
  }
}

void Holdings::take_boxes(const Distribution& distribution) {
  if (!distribution.axes.empty()) refuse("cuts of axes and boxes", "either");
  std::map<std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>, std::vector<int>> distinct;
  for (const RankBox& box : distribution.boxes) {
    bool fits = box.begin.size() == shape_.size() && box.end.size() == shape_.size();
    for (std::size_t a = 0; fits && a < shape_.size(); ++a)
      fits = box.begin[a] <= box.end[a] && box.end[a] <= shape_[a];
    if (box.rank < 0 || box.rank >= mesh_ranks_ || !fits) {
      refuse(fmt::format("for rank {} the box from {} to {}", box.rank, fmt::join(box.begin, " "),
                         fmt::join(box.end, " ")),
             fmt::format("a box within {}, for one of {} ranks", fmt::join(shape_, "x"), mesh_ranks_));
    }
    distinct[{box.begin, box.end}].push_back(box.rank + first_);
  }
  for (auto& [box, ranks] : distinct) {
    std::sort(ranks.begin(), ranks.end());
    is_replicated_ = is_replicated_ || (ranks.size() > 1 && box.first != box.second);
    for (const int rank : ranks) box_of_rank_.emplace_back(rank, boxes_.size());
    boxes_.push_back({.begin = box.first, .end = box.second, .ranks = ranks});
  }
  std::sort(box_of_rank_.begin(), box_of_rank_.end());
  for (std::size_t i = 1; i < box_of_rank_.size(); ++i) {
    if (box_of_rank_[i].first == box_of_rank_[i - 1].first)
      refuse(fmt::format("two boxes for rank {}", box_of_rank_[i].first - first_), "one at most");
  }
  check_boxes();
}

// Boxes that share nothing, and are as much as the array, are all of it. In the order in which they begin
// along an axis, one has to be compared with those alone that begin there before it ends: by the axis along
// which they begin at most places.
void Holdings::check_boxes() const {
  std::size_t axis = 0;
  std::size_t most = 0;
  for (std::size_t a = 0; a < shape_.size(); ++a) {
    std::set<std::uint64_t> begins;
    for (const Box& box : boxes_) begins.insert(box.begin[a]);
    if (begins.size() > most) axis = a;
    most = std::max(most, begins.size());
  }
  std::vector<const Box*> sorted;
  sorted.reserve(boxes_.size());
  for (const Box& box : boxes_) sorted.push_back(&box);
  std::sort(sorted.begin(), sorted.end(),
            [axis](const Box* a, const Box* b) { return a->begin[axis] < b->begin[axis]; });
  const auto meet = [this](const Box& a, const Box& b) {
    for (std::size_t k = 0; k < shape_.size(); ++k) {
      if (std::max(a.begin[k], b.begin[k]) >= std::min(a.end[k], b.end[k])) return false;
    }
    return true;
  };
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    elements += part_elements({i});  // in any order
    for (std::size_t k = i + 1; k < sorted.size() && sorted[k]->begin[axis] < sorted[i]->end[axis]; ++k) {
      if (!meet(*sorted[i], *sorted[k])) continue;
      refuse(fmt::format("boxes of ranks {} and {} that share elements but differ",
                         sorted[i]->ranks[0] - first_, sorted[k]->ranks[0] - first_),
             "boxes that are the same or share nothing");
    }
  }
  if (elements != product_of_extents(shape_)) {
    refuse(fmt::format("boxes of {} elements", elements),
           fmt::format("all {} of shape {}", product_of_extents(shape_), fmt::join(shape_, "x")));
  }
}

std::vector<std::size_t> Holdings::axes_of(std::size_t dial) const {
  if (!is_boxes()) return {dial};
  std::vector<std::size_t> all(shape_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::optional<Cell> Holdings::cell_of(int rank) const {
  if (is_boxes()) {
    const auto at =
        std::lower_bound(box_of_rank_.begin(), box_of_rank_.end(), std::pair(rank, std::size_t{0}));
    if (at == box_of_rank_.end() || at->first != rank) return std::nullopt;
    return Cell{at->second};
  }
  if (rank < first_ || rank >= first_ + mesh_ranks_) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(rank - first_);
  Cell cell;
  cell.reserve(axes_.size());
  for (const Cut& cut : axes_) {
    std::uint64_t place = 0;
    for (const Cut::Digit& digit : cut.over)
      place = place * digit.ranks + number / static_cast<std::uint64_t>(digit.stride) % digit.ranks;
    cell.push_back(place);
  }
  return cell;
}

std::uint64_t Holdings::slab_start(std::size_t axis, std::uint64_t place) const {
  const Cut& cut = axes_[axis];
  return cut.starts.empty() ? even_start(shape_[axis], cut.places, place) : cut.starts[place];
}

std::vector<LocalRuns> Holdings::runs(std::size_t axis, std::uint64_t place) const {
  std::vector<LocalRuns> made;
  const auto add = [&made](std::uint64_t begin, std::uint64_t length, std::uint64_t count = 1,
                           std::uint64_t stride = 0, std::uint64_t local = 0) {
    if (length == 0 || count == 0) return;
    made.push_back({.begin = begin,
                    .length = length,
                    .count = count,
                    .stride = stride,
                    .local = static_cast<std::int64_t>(local),
                    .step = 1,
                    .local_stride = count == 1 ? 0 : static_cast<std::int64_t>(length)});
  };
  if (is_boxes()) {
    const Box& box = boxes_[place];
    add(box.begin[axis], box.end[axis] - box.begin[axis]);
    return made;
  }
  const Cut& cut = axes_[axis];
  const std::uint64_t extent = shape_[axis];
  if (cut.block == 0) {
    const std::uint64_t begin = slab_start(axis, place);
    add(begin, slab_start(axis, place + 1) - begin);
    return made;
  }
  // Blocks place, place + places, ...; the array's last one may be short.
  const std::uint64_t whole = extent / cut.block;
  const std::uint64_t full = whole > place ? (whole - place - 1) / cut.places + 1 : 0;
  if (full > 0) add(place * cut.block, cut.block, full, full == 1 ? 0 : cut.block * cut.places);
  if (whole % cut.places == place) add(whole * cut.block, extent % cut.block, 1, 0, full * cut.block);
  return made;
}

std::vector<std::uint64_t> Holdings::part_shape(const Cell& cell) const {
  std::vector<std::uint64_t> made;
  made.reserve(shape_.size());
  for (std::size_t a = 0; a < shape_.size(); ++a) {
    std::uint64_t extent = 0;
    for (const LocalRuns& each : runs(a, place_along(cell, a))) extent += each.length * each.count;
    made.push_back(extent);
  }
  return made;
}

std::uint64_t Holdings::part_elements(const Cell& cell) const { return product_of_extents(part_shape(cell)); }

std::uint64_t Holdings::copies(const Cell& cell) const {
  if (is_boxes()) return boxes_[cell[0]].ranks.size();
  std::uint64_t count = 1;
  for (const Cut::Digit& digit : free_) count *= digit.ranks;
  return count;
}

int Holdings::copy(const Cell& cell, std::uint64_t i) const {
  if (is_boxes()) return boxes_[cell[0]].ranks[i];
  int rank = first_;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    std::uint64_t place = cell[a];
    for (auto digit = axes_[a].over.rbegin(); digit != axes_[a].over.rend(); ++digit) {
      rank += static_cast<int>(place % digit->ranks) * digit->stride;
      place /= digit->ranks;
    }
  }
  for (auto digit = free_.rbegin(); digit != free_.rend(); ++digit) {
    rank += static_cast<int>(i % digit->ranks) * digit->stride;
    i /= digit->ranks;
  }
  return rank;
}

Holdings::Copies Holdings::copies_among(const Cell& cell, int first, int end) const {
  // Strides of mesh axes descend, so that copies ascend.
  const std::uint64_t all = copies(cell);
  const auto first_from = [&](int rank) {
    std::uint64_t low = 0;
    std::uint64_t high = all;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (copy(cell, middle) < rank) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {.first = first_from(first), .end = first_from(end)};
}

std::uint64_t Holdings::place_of(std::size_t axis, std::uint64_t x) const {
  const Cut& cut = axes_[axis];
  if (cut.block != 0) return x / cut.block % cut.places;
  if (!cut.starts.empty()) {
    // The last that begins there: those before it are empty.
    return static_cast<std::uint64_t>(std::upper_bound(cut.starts.begin(), cut.starts.end(), x) -
                                      cut.starts.begin()) -
           1;
  }
  const std::uint64_t less = shape_[axis] / cut.places;
  const std::uint64_t longer = shape_[axis] % cut.places;
  return x < longer * (less + 1) ? x / (less + 1) : longer + (x - longer * (less + 1)) / less;
}

std::vector<std::uint64_t> Holdings::met(std::size_t dial,
                                         const std::vector<std::vector<LocalRuns>>& wanted) const {
  std::vector<std::uint64_t> places;
  if (is_boxes()) {
    const auto meets = [&](std::size_t axis, const Box& box) {
      return std::any_of(wanted[axis].begin(), wanted[axis].end(), [&](const LocalRuns& runs) {
        return runs.begin < box.end[axis] && runs.start(runs.count - 1) + runs.length > box.begin[axis];
      });
    };
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      bool all = true;
      for (std::size_t a = 0; all && a < shape_.size(); ++a) all = meets(a, boxes_[i]);
      if (all) places.push_back(i);
    }
    return places;
  }
  const Cut& cut = axes_[dial];
  const auto add_range = [&](std::uint64_t begin, std::uint64_t last) {  // of places of the axis
    if (cut.block == 0) {
      for (std::uint64_t p = place_of(dial, begin); p <= place_of(dial, last); ++p) places.push_back(p);
      return;
    }
    const std::uint64_t blocks = std::min(last / cut.block - begin / cut.block + 1, cut.places);
    for (std::uint64_t i = 0; i < blocks; ++i) places.push_back((begin / cut.block + i) % cut.places);
  };
  // Runs that repeat more often than there are places meet few new ones: places are sorted out in between.
  const auto sort_out = [&places] {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  };
  for (const LocalRuns& runs : wanted[0]) {
    for (std::uint64_t k = 0; k < runs.count; ++k) {
      add_range(runs.start(k), runs.start(k) + runs.length - 1);
      if (places.size() <= 2 * cut.places) continue;
      sort_out();
      if (places.size() == cut.places) return places;
    }
  }
  sort_out();
  return places;
}

Holdings::Place Holdings::place(std::uint64_t x) const {
  std::vector<std::uint64_t> at(shape_.size());
  for (std::size_t a = shape_.size(); a-- > 0;) {
    at[a] = x % shape_[a];
    x /= shape_[a];
  }
  Cell cell;
  if (is_boxes()) {
    for (std::size_t i = 0; i < boxes_.size() && cell.empty(); ++i) {
      bool inside = true;
      for (std::size_t a = 0; inside && a < at.size(); ++a)
        inside = at[a] >= boxes_[i].begin[a] && at[a] < boxes_[i].end[a];
      if (inside) cell = {i};
    }
    FARO_CHECK(!cell.empty());
  } else {
    for (std::size_t a = 0; a < at.size(); ++a) cell.push_back(place_of(a, at[a]));
  }
  std::uint64_t element = 0;
  for (std::size_t a = 0; a < at.size(); ++a) {
    std::uint64_t local = 0;
    std::uint64_t extent = 0;
    for (const LocalRuns& each : runs(a, place_along(cell, a))) {
      extent += each.length * each.count;
      if (at[a] < each.begin) continue;
      const std::uint64_t k =
          each.count == 1 ? 0 : std::min(each.count - 1, (at[a] - each.begin) / each.stride);
      if (at[a] - each.start(k) < each.length)
        local = static_cast<std::uint64_t>(each.local_start(k)) + at[a] - each.start(k);
    }
    element = element * extent + local;
  }
  return {.rank = copy(cell, 0), .element = element};
}

std::uint64_t Holdings::index(const Cell& cell, std::uint64_t element) const {
  const std::vector<std::uint64_t> extents = part_shape(cell);
  std::vector<std::uint64_t> local(extents.size());
  for (std::size_t a = extents.size(); a-- > 0;) {
    local[a] = element % extents[a];
    element /= extents[a];
  }
  std::uint64_t x = 0;
  for (std::size_t a = 0; a < local.size(); ++a) {
    std::uint64_t at = 0;
    for (const LocalRuns& each : runs(a, place_along(cell, a))) {
      const auto first = static_cast<std::uint64_t>(each.local);
      if (local[a] < first || local[a] - first >= each.length * each.count) continue;
      at = each.start((local[a] - first) / each.length) + (local[a] - first) % each.length;
    }
    x = x * shape_[a] + at;
  }
  return x;
}

std::optional<std::vector<int>> Holdings::bits(int ranks) const {
  if (is_boxes() || is_replicated_ || first_ != 0 || ranks != mesh_ranks_) return std::nullopt;
  const auto rank_bits = power_of_two(static_cast<std::uint64_t>(ranks));
  if (!rank_bits) return std::nullopt;
  std::vector<int> bits(static_cast<std::size_t>(*rank_bits));
  std::uint64_t inner = 1;
  for (std::size_t a = shape_.size(); a-- > 0;) {
    const Cut& cut = axes_[a];
    if (!power_of_two(shape_[a])) return std::nullopt;
    if (cut.places > 1) {
      const std::uint64_t block = cut.block == 0 ? shape_[a] / cut.places : cut.block;
      if (!cut.starts.empty() || !power_of_two(block) || block * cut.places > shape_[a]) return std::nullopt;
      int bit = std::countr_zero(inner) + std::countr_zero(block);
      for (auto digit = cut.over.rbegin(); digit != cut.over.rend(); ++digit) {
        const auto of_rank =
            static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(digit->stride)));
        const auto digit_bits = static_cast<std::size_t>(std::countr_zero(digit->ranks));
        for (std::size_t i = 0; i < digit_bits; ++i) bits[of_rank + i] = bit++;
      }
    }
    inner *= shape_[a];
  }
  return bits;
}

}  // namespace faro::detail

namespace faro {

std::vector<std::uint64_t> RankPart::shape() const {
  std::vector<std::uint64_t> made;
  made.reserve(axes.size());
  for (const std::vector<AxisRuns>& axis : axes) {
    std::uint64_t extent = 0;
    for (const AxisRuns& runs : axis) extent += runs.length * runs.count;
    made.push_back(extent);
  }
  return made;
}

std::uint64_t RankPart::elements() const { return detail::product_of_extents(shape()); }

RankPart part_of(const Distribution& distribution, const std::vector<std::uint64_t>& shape, int rank) {
  const detail::Holdings holdings(distribution, shape, detail::kMostMeshRanks * 2, "in");
  RankPart part;
  part.axes.resize(holdings.shape().size());
  const std::optional<detail::Cell> cell = holdings.cell_of(rank);
  if (!cell) return part;
  for (std::size_t dial = 0; dial < holdings.dials(); ++dial) {
    for (const std::size_t axis : holdings.axes_of(dial)) {
      for (const detail::LocalRuns& runs : holdings.runs(axis, (*cell)[dial])) {
        part.axes[axis].push_back(
            {.begin = runs.begin, .length = runs.length, .count = runs.count, .stride = runs.stride});
      }
    }
  }
  return part;
}

}  // namespace faro
