#include "permutation/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kFarthestUnit = std::uint64_t{1} << 56;

// Entries target(i) of a scatter.
template <typename Word, typename Target>
Indexed scatter_to(std::uint64_t count, const Target& target) {
  std::vector<Word> entries(count);
  detail::for_each_index(count, [&](std::uint64_t i) { entries[i] = static_cast<Word>(target(i)); });
  return {std::move(entries), Direction::scatter};
}

template <typename Target>
Indexed scatter_to(std::uint64_t count, const Target& target) {
  constexpr std::uint64_t kMostNarrowCount = std::uint64_t{1} << 32;
  const bool is_wide = count > kMostNarrowCount;
  detail::require_memory("index array", std::to_string(count) + " entries", count * (is_wide ? 8 : 4));
  return is_wide ? scatter_to<std::uint64_t>(count, target) : scatter_to<std::uint32_t>(count, target);
}

std::uint64_t widened_count(const Permutation& permutation, std::uint64_t units) {
  const std::uint64_t count = element_count(permutation);
  if (units == 0 || (count != 0 && units > Indexed::kMaxCount / count)) {
    fail(ErrorCode::value, "widen a permutation",
         std::to_string(count) + " elements of " + std::to_string(units) + " units",
         "at least one unit, and at most 2^40 in all");
  }
  return count * units;
}

// The forms that stay what they are; nothing where an index array is needed.
std::optional<Permutation> widened_form(const Permutation& permutation, std::uint64_t units) {
  if (element_count(permutation) == 0) return permutation;
  const auto map = affine_form(permutation);
  if (map && f2::is_power_of_two(units)) return direct_sum(Affine(f2::trailing_bit(units)), *map);
  const auto axes = detail::axis_map(permutation);
  if (axes) return detail::simplest_form(CyclicAxes(detail::unfolded(*axes, units)));
  return std::nullopt;
}

}  // namespace

Permutation widened(const Permutation& permutation, std::uint64_t units) {
  const std::uint64_t count = widened_count(permutation, units);
  if (units == 1) return permutation;
  if (auto form = widened_form(permutation, units)) return *std::move(form);
  if (const auto* const indexed = std::get_if<Indexed>(&permutation)) {
    const std::string label = indexed->label();
    static_cast<void>(indexed->entries32());  // refuses an array on a device
    Indexed made =
        scatter_to(count, [&](std::uint64_t x) { return indexed->entry(x / units) * units + x % units; });
    // The entries of a gather say where elements come from.
    if (indexed->direction() == Direction::gather) made = made.inverse();
    return made.labelled(label);
  }
  return scatter_to(count,
                    [&](std::uint64_t x) { return apply(permutation, x / units) * units + x % units; });
}

Strided widened(const Strided& view, std::uint64_t units) {
  if (units == 1) return view;
  // In the normal form no stride goes past what is reached, and there are at most 40 axes.
  Strided wide = normal_form(view);
  if (std::max(in_elements(wide), out_elements(wide)) > kFarthestUnit / units) {
    fail(ErrorCode::value, "strided", to_text(view) + " of elements of " + std::to_string(units) + " units",
         "both sides to end before unit 2^56");
  }
  const auto scale = static_cast<std::int64_t>(units);
  for (auto* const strides : {&wide.in_strides, &wide.out_strides}) {
    for (std::int64_t& stride : *strides) stride *= scale;
    strides->push_back(1);
  }
  wide.extents.push_back(units);
  wide.in_offset *= units;
  wide.out_offset *= units;
  return wide;
}

std::uint64_t widening_for(std::uint64_t bytes, std::uint64_t most) {
  std::uint64_t units = (bytes + most - 1) / most;
  while (bytes % units != 0) ++units;
  return units;
}

Indexed as_index_array(const Affine& map) {
  const std::uint64_t count = widened_count(map, 1);
  return scatter_to(count, [&](std::uint64_t x) { return map(x); });
}

}  // namespace faro
