#include "store/axis_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"

namespace faro::store {

std::optional<AxisChoice> axis_choice_of(const Permutation& permutation, const Shape& shape) {
  if (std::holds_alternative<Indexed>(permutation) || volume(shape) != element_count(permutation))
    return std::nullopt;
  if (is_empty(shape)) return std::nullopt;
  const std::size_t rank = shape.size();
  const Strides in_strides = dense_strides(shape, c_order(rank));
  // Where a step along each axis leads from the array's corner: the slowest of the result leads farthest.
  std::vector<std::pair<std::int64_t, std::size_t>> steps;
  const auto corner = static_cast<std::int64_t>(faro::apply(permutation, 0));
  AxisChoice choice{.from = {}, .flipped = {}};
  for (std::size_t a = 0; a < rank; ++a) {
    const auto next = static_cast<std::uint64_t>(in_strides[a]);
    const std::int64_t step =
        shape[a] == 1 ? in_strides[a] : static_cast<std::int64_t>(faro::apply(permutation, next)) - corner;
    steps.emplace_back(step, a);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return std::llabs(a.first) > std::llabs(b.first); });
  Strided view;
  for (const auto& [step, axis] : steps) {
    choice.from.push_back(axis);
    choice.flipped.push_back(step < 0);
    view.extents.push_back(shape[axis]);
    view.in_strides.push_back(step < 0 ? -in_strides[axis] : in_strides[axis]);
    if (step < 0) view.in_offset += (shape[axis] - 1) * static_cast<std::uint64_t>(in_strides[axis]);
  }
  view.out_strides = dense_strides(view.extents, c_order(rank));
  const auto found = as_permutation(view);
  if (!found || faro::normal_form(*found) != faro::normal_form(permutation)) return std::nullopt;
  return choice;
}

AxisChoice axis_choice_of(const std::vector<int>& axes, std::size_t rank, const std::string& operation) {
  if (axes.empty()) return AxisChoice::identity(rank);
  AxisChoice choice = AxisChoice::identity(axes.size());
  std::vector<bool> seen(rank, false);
  bool is_permutation = axes.size() == rank;
  for (std::size_t a = 0; a < axes.size() && is_permutation; ++a) {
    const std::int64_t axis = axes[a] < 0 ? axes[a] + static_cast<std::int64_t>(rank) : axes[a];
    is_permutation =
        axis >= 0 && axis < static_cast<std::int64_t>(rank) && !seen[static_cast<std::size_t>(axis)];
    if (!is_permutation) break;
    choice.from[a] = static_cast<std::size_t>(axis);
    seen[choice.from[a]] = true;
  }
  if (is_permutation) return choice;
  fail(ErrorCode::value, operation, fmt::format("axes ({})", fmt::join(axes, " ")),
       fmt::format("a permutation of the array's {} axes", rank));
}

}  // namespace faro::store
