#include "file/npy_problem.hpp"

#include <algorithm>
#include <utility>

#include "permutation/rows.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

using Shape = std::vector<std::uint64_t>;

}  // namespace

FileProblem viewed(const io::NpyHeader& header, const Strided& view, Shape result_shape) {
  const std::uint64_t units = widening_for(header.item_bytes, kMaxElementBytes);
  FileProblem made;
  made.problem = {.element_bytes = header.item_bytes / units, .view = widened(view, units)};
  made.shape = header.shape;
  made.result_shape = std::move(result_shape);
  made.elements = count_text(element_count(view), "element") + " of " + size_text(header.item_bytes);
  return made;
}

std::optional<NamedAxes> axes_moved(const Permutation& permutation, const Shape& array) {
  const bool rests =
      std::any_of(array.begin(), array.end(), [](std::uint64_t extent) { return extent <= 1; });
  if (array.size() < 2 || rests || std::holds_alternative<Indexed>(permutation)) return std::nullopt;
  if (faro::apply(permutation, 0) != 0) return std::nullopt;
  // Each axis by where a step along it leads: the slowest of the result leads farthest.
  std::vector<std::pair<std::uint64_t, int>> steps;
  std::uint64_t stride = 1;
  for (std::size_t axis = array.size(); axis-- > 0;) {
    steps.emplace_back(faro::apply(permutation, stride), static_cast<int>(axis));
    stride *= array[axis];
  }
  std::sort(steps.rbegin(), steps.rend());
  NamedAxes axes{.shape = array, .order = {}};
  for (const auto& [step, axis] : steps) axes.order.push_back(axis);
  if (normal_form(Axes(axes.shape, axes.order)) != normal_form(permutation)) return std::nullopt;
  return axes;
}

bool is_flip(const Permutation& permutation) {
  if (const auto* const cyclic = std::get_if<Cyclic>(&permutation))
    return cyclic->reversed && cyclic->shift + 1 == cyclic->count;
  const auto* const map = std::get_if<Affine>(&permutation);
  return map != nullptr && *map == affine_form(maps::flip(element_count(permutation)));
}

faro::detail::NotedPermutation FileProblem::read() const {
  return {.parsed = {.permutation = problem.permutation, .axes = axes, .regrouped = regrouped},
          .shapes = shapes};
}

std::vector<std::uint64_t> FileProblem::array_shape() const { return axes_of_part(cut.extents, *part); }

std::vector<std::uint64_t> FileProblem::with_array(const std::vector<std::uint64_t>& array) const {
  Shape result = with_part(cut.extents, *part, array);
  const auto join_at = [&](std::size_t axis) {
    result[axis - 1] *= result[axis];
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  };
  if (cut.is_element_cut) join_at(result.size() - (cut.extents.size() - part->end_axis));
  if (cut.is_batch_cut) join_at(part->first_axis);
  return result;
}

std::vector<std::uint64_t> FileProblem::shape_after(const Plan& plan) const {
  if (result_shape) return *result_shape;
  if (!part) return shape;
  if (regrouped) return with_array(regrouped->after);
  const Shape array = array_shape();
  if (shapes) return shapes->before == array ? with_array(shapes->after) : shape;
  std::optional<NamedAxes> moved;
  if (axes && axes->shape == array) moved = axes;
  const bool is_whole = plan.blocks() == Blocks{} && plan.exceptions().empty();
  if (!axes) moved = axes_moved((is_whole ? plan.problem() : plan.given()).permutation, array);
  if (!moved) return shape;
  return with_array(moved->target_shape());
}

}  // namespace faro::file
