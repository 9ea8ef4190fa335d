#include "permutation/cyclic_axes.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::detail {

std::optional<AxisMap> axis_map(const Permutation& permutation) {
  if (const auto* const axes = std::get_if<Axes>(&permutation)) return axes->map();
  if (const auto* const axes = std::get_if<CyclicAxes>(&permutation)) return axes->map();
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  if (cyclic == nullptr) return std::nullopt;
  return CyclicAxes({cyclic->count}, {0}, {*cyclic}).map();
}

std::uint64_t number_of_parts(const CyclicAxes& axes) {
  const std::vector<StridedAxis> all = normal_form(axes.map()).axes;
  return std::uint64_t{1} << std::count_if(all.begin(), all.end(),
                                           [](const StridedAxis& axis) { return axis.shift != 0; });
}

std::vector<AxisMap> unrolled_parts(const Permutation& permutation, std::uint64_t batch) {
  std::optional<AxisMap> map = axis_map(permutation);
  FARO_CHECK(map);
  const auto count = static_cast<std::int64_t>(element_count(permutation));
  map->axes.insert(map->axes.begin(), {.extent = batch, .in = count, .out = count});
  return unrolled(normal_form(*std::move(map)));
}

std::vector<Strided> views_of(const Permutation& permutation, std::uint64_t batch) {
  std::vector<Strided> views;
  for (const AxisMap& part : unrolled_parts(permutation, batch)) views.push_back(as_strided(part));
  return views;
}

}  // namespace faro::detail
