#include "file/fortran_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "permutation/axis_map.hpp"
#include "permutation/rows.hpp"
#include "permutation/strides.hpp"
#include "plan/form_to_run.hpp"

namespace faro::file {
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

// Strides of parts of axes, in items: each axis of `shape` is one or several of `parts`, and lies in `order`.
std::vector<std::int64_t> strides_of(const Shape& shape, const Shape& parts, io::MemoryOrder order) {
  const bool is_fortran = order == io::MemoryOrder::fortran;
  return faro::detail::finer_strides(
      shape, is_fortran ? faro::detail::fortran_strides(shape) : faro::detail::dense_strides(shape), parts);
}

bool is_taken(const Affine& map, std::uint64_t item_bytes, Widths widths) {
  if (widths == Widths::any) return true;
  return item_bytes <= kMaxElementBytes &&
         (std::has_single_bit(item_bytes) || faro::detail::form_of_any_width(map).has_value());
}

// An affine map of a whole file whose result has extents of powers of two: the turn into Fortran order is one
// as well.
std::optional<FileProblem> affine_in_fortran_order(const io::NpyHeader& header, FileProblem made,
                                                   Widths widths) {
  const bool is_whole = made.problem.batch == 1 && made.problem.element_bytes == header.item_bytes;
  if (!is_whole) return std::nullopt;
  const auto map = affine_form(made.problem.permutation);
  const auto turn = affine_form(into_fortran_order(made.shape, header.item_bytes).permutation);
  if (!map || !turn || turn->bits() != map->bits()) return std::nullopt;
  const Affine both = compose(*turn, *map);
  if (!is_taken(both, header.item_bytes, widths)) return std::nullopt;
  made.problem.permutation = both;
  made.axes.reset();
  made.result_shape = made.shape;
  return made;
}

// Items that are wider than elements may be, as smaller ones that move together.
Problem of_wide_items(const Axes& axes, std::uint64_t item_bytes) {
  const std::uint64_t units = widening_for(item_bytes, kMaxElementBytes);
  return {.permutation = widened(Permutation(axes), units), .element_bytes = item_bytes / units};
}

}  // namespace

std::optional<Permutation> on_fortran_data(const io::NpyHeader& header, const FileProblem& asked,
                                           Widths widths) {
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
  if (!before || !map) return std::nullopt;
  const Affine both = compose(*map, *before);
  return is_taken(both, header.item_bytes, widths) ? std::optional<Permutation>(both) : std::nullopt;
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
  if (is_flip(form)) return made;
  const auto map = affine_form(form);
  std::vector<int> order(array.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const auto turned = affine_form(Axes(array, order));
  if (!map || !turned) return std::nullopt;
  made.permutation = compose(*turned, compose(*map, turned->inverse()));
  return made;
}

std::optional<FileProblem> in_fortran_order(const io::NpyHeader& header, FileProblem made, Widths widths) {
  if (made.is_flip) return std::nullopt;
  const bool is_cut = !made.part || made.cut.is_batch_cut || made.cut.is_element_cut;
  if (is_cut || made.shapes) return std::nullopt;
  const Shape array = made.array_shape();
  NamedAxes moved{.shape = array, .order = std::vector<int>(array.size())};
  std::iota(moved.order.begin(), moved.order.end(), 0);
  if (made.axes && (made.regrouped || made.axes->shape == array)) {
    moved = *made.axes;
  } else if (const auto found = axes_moved(made.problem.permutation, array)) {
    moved = *found;
  } else if (!std::holds_alternative<Axes>(made.problem.permutation) ||
             !std::get<Axes>(made.problem.permutation).is_identity()) {
    const auto map = affine_form(made.problem.permutation);
    if (!map || !map->is_identity()) return affine_in_fortran_order(header, std::move(made), widths);
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
  made.problem = of_wide_items(Axes(whole, order), header.item_bytes);
  made.axes = NamedAxes{.shape = std::move(whole), .order = std::move(order)};
  return made;
}

std::optional<FileProblem> flipped_view(const io::NpyHeader& header, const FileProblem& asked,
                                        io::MemoryOrder order) {
  if (!asked.is_flip || !asked.part) return std::nullopt;
  const Shape& parts = asked.cut.extents;
  const io::MemoryOrder of_input = header.fortran_order ? io::MemoryOrder::fortran : io::MemoryOrder::c;
  Strided view{.extents = parts,
               .in_strides = strides_of(header.shape, parts, of_input),
               .out_strides = strides_of(header.shape, parts, order)};
  const bool is_empty = product(parts, 0, parts.size()) == 0;
  for (std::size_t part = asked.part->first_axis; part < asked.part->end_axis && !is_empty; ++part) {
    std::int64_t& step = view.in_strides[part];
    view.in_offset += (parts[part] - 1) * static_cast<std::uint64_t>(step);
    step = -step;
  }
  return viewed(header, view, header.shape);
}

Problem into_fortran_order(const Shape& shape, std::uint64_t item_bytes) {
  if (product(shape, 0, shape.size()) == 0) return of_wide_items(Axes({0}, {0}), item_bytes);
  std::vector<int> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return of_wide_items(Axes(shape, order), item_bytes);
}

}  // namespace faro::file
