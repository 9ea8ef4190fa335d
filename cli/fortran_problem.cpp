#include "cli/fortran_problem.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace faro::cli {
namespace {

using Shape = std::vector<std::uint64_t>;

// Axes in their new order, those that one axis of the result joins together; of extent 1 anywhere.
std::vector<std::vector<int>> joined_axes(const NamedAxes& axes, const Shape& result) {
  std::vector<std::vector<int>> groups;
  std::size_t next = 0;
  for (const std::uint64_t extent : result) {
    groups.emplace_back();
    for (std::uint64_t joined = 1; joined < extent && next < axes.order.size(); ++next) {
      groups.back().push_back(axes.order[next]);
      joined *= axes.shape[static_cast<std::size_t>(axes.order[next])];
    }
  }
  for (; next < axes.order.size(); ++next) {
    if (groups.empty()) groups.emplace_back();
    groups.back().push_back(axes.order[next]);
  }
  return groups;
}

// The axes of a file in Fortran order put into C order. `parts` are the file's, some of them taken apart: the
// parts of an axis stay together, its axes go from the last to the first. Nothing where they are others.
std::optional<NamedAxes> from_fortran(const Shape& shape, const Shape& parts) {
  std::vector<std::size_t> ends;  // of each axis's parts
  std::size_t part = 0;
  for (const std::uint64_t extent : shape) {
    std::uint64_t product = 1;
    while (product != extent && part < parts.size()) product *= parts[part++];
    if (product != extent) return std::nullopt;
    ends.push_back(part);
  }
  for (; part < parts.size(); ++part)
    if (parts[part] != 1) return std::nullopt;
  if (ends.empty()) return std::nullopt;
  ends.back() = parts.size();
  NamedAxes turned{.shape = {}, .order = std::vector<int>(parts.size())};
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    for (std::size_t p = axis == 0 ? 0 : ends[axis - 1]; p < ends[axis]; ++p) {
      turned.order[p] = static_cast<int>(turned.shape.size());
      turned.shape.push_back(parts[p]);
    }
  }
  return turned;
}

}  // namespace

std::optional<Permutation> on_fortran_data(const io::NpyHeader& header, const FileProblem& asked) {
  const bool is_whole = asked.problem.batch == 1 && asked.problem.element_bytes == header.item_bytes;
  if (!is_whole) return std::nullopt;
  if (asked.axes) {
    const auto turned = from_fortran(header.shape, asked.axes->shape);
    if (!turned) return std::nullopt;
    const NamedAxes both = asked.axes->after(*turned);
    return Axes(both.shape, both.order);
  }
  const auto turned = from_fortran(header.shape, header.shape);
  if (!turned) return std::nullopt;
  const auto before = affine_form(Axes(turned->shape, turned->order));
  const auto map = affine_form(asked.problem.permutation);
  if (before && map) return compose(*map, *before);
  return std::nullopt;
}

std::optional<Problem> within_fortran_data(const io::NpyHeader& header, const FileProblem& asked) {
  if (!asked.part || asked.problem.batch == 0) return std::nullopt;
  const auto [first, end] = *asked.part;
  const Shape& shape = header.shape;
  // From the first axis on: what is an element, the array from its last axis to its first, the batch.
  Problem made = asked.problem;
  made.element_bytes = product(shape, 0, first) * header.item_bytes;
  made.batch = product(shape, end, shape.size());
  if (made.element_bytes > kMaxElementBytes && !std::holds_alternative<Affine>(made.permutation))
    return std::nullopt;
  const Shape array = axes_of_part(shape, *asked.part);
  if (product(array, 0, array.size()) != element_count(asked.problem.permutation)) return std::nullopt;
  const auto is_long = [](std::uint64_t extent) { return extent != 1; };
  if (std::count_if(array.begin(), array.end(), is_long) <= 1) return made;
  const Permutation form = normal_form(asked.problem.permutation);
  const auto* const cyclic = std::get_if<Cyclic>(&form);
  const bool is_flip = cyclic != nullptr && cyclic->reversed && cyclic->shift + 1 == cyclic->count;
  const auto map = affine_form(form);
  if (is_flip || (map && *map == affine_form(maps::flip(element_count(form))))) return made;
  std::vector<int> order(array.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const auto turned = affine_form(Axes(array, order));
  if (!map || !turned) return std::nullopt;
  made.permutation = compose(*turned, compose(*map, turned->inverse()));
  return made;
}

FileProblem in_fortran_order(const PermuteOptions& options, const io::NpyHeader& header, FileProblem made) {
  const auto fail_order = [&](const std::string& got) {
    fail(ErrorCode::unsupported, permuting(options), "--order F with " + got,
         "that option with a permutation of axes",
         "written in C order first, `axes(0 1 ...)` with --order F then changes its order");
  };
  if (!made.part || made.cut.is_batch_cut || made.cut.is_element_cut) fail_order("an axis cut in two");
  if (made.shapes) fail_order(options.label());
  const Shape array = made.array_shape();
  NamedAxes moved{.shape = array, .order = std::vector<int>(array.size())};
  std::iota(moved.order.begin(), moved.order.end(), 0);
  if (made.axes && (made.regrouped || made.axes->shape == array)) {
    moved = *made.axes;
  } else if (const auto found = axes_moved(made.problem.permutation, array)) {
    moved = *found;
  } else if (!std::holds_alternative<Axes>(made.problem.permutation) ||
             !std::get<Axes>(made.problem.permutation).is_identity()) {
    const auto form = normal_form(made.problem.permutation);
    const auto* const map = std::get_if<Affine>(&form);
    if (map == nullptr || !map->is_identity()) fail_order(options.label());
  }
  const Shape result = made.regrouped ? made.regrouped->after : moved.target_shape();
  // The axes of the whole file, those before and behind the array's in their places.
  const auto first = static_cast<std::ptrdiff_t>(made.part->first_axis);
  const auto end = static_cast<std::ptrdiff_t>(made.part->end_axis);
  Shape whole(made.shape.begin(), made.shape.begin() + first);
  std::vector<std::vector<int>> groups(made.part->first_axis);
  for (int axis = 0; axis < static_cast<int>(first); ++axis) groups[static_cast<std::size_t>(axis)] = {axis};
  for (std::vector<int>& group : joined_axes(moved, result)) {
    for (int& axis : group) axis += static_cast<int>(first);
    groups.push_back(std::move(group));
  }
  whole.insert(whole.end(), moved.shape.begin(), moved.shape.end());
  for (auto extent = made.shape.begin() + end; extent != made.shape.end(); ++extent) {
    groups.push_back({static_cast<int>(whole.size())});
    whole.push_back(*extent);
  }
  made.result_shape = with_part(made.shape, *made.part, result);
  if (std::find(whole.begin(), whole.end(), 0) != whole.end()) return made;
  std::vector<int> order;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group)
    order.insert(order.end(), group->begin(), group->end());
  made.problem.permutation = Axes(whole, order);
  made.problem.element_bytes = header.item_bytes;
  made.problem.batch = 1;
  made.axes = NamedAxes{.shape = std::move(whole), .order = std::move(order)};
  return made;
}
}  // namespace faro::cli
