#include "plan/form_to_run.hpp"

#include <utility>
#include <vector>

namespace faro::detail {
namespace {

// Bits that change places are axes of two elements, the highest bit the slowest axis; the normal form joins
// those that stay neighbours.
std::optional<Permutation> as_axes(const Affine& map) {
  if (map.complement() != 0) return std::nullopt;
  const auto n = static_cast<std::size_t>(map.bits());
  std::vector<int> order(n);
  for (std::size_t bit = 0; bit < n; ++bit) {
    const f2::Word target = map.matrix().column(static_cast<int>(bit));
    if (!f2::is_power_of_two(target)) return std::nullopt;
    order[n - 1 - static_cast<std::size_t>(f2::trailing_bit(target))] = static_cast<int>(n - 1 - bit);
  }
  return Axes(std::vector<std::uint64_t>(n, 2), order);
}

}  // namespace

std::optional<Permutation> form_of_any_width(const Affine& map) {
  constexpr int kMostBits = 40;  // of Indexed::kMaxCount, which bounds the other forms
  if (map.bits() > kMostBits) return std::nullopt;
  const std::uint64_t count = std::uint64_t{1} << map.bits();
  for (const bool reversed : {false, true}) {
    const Cyclic cyclic{.count = count, .shift = map(0), .reversed = reversed};
    if (affine_form(cyclic) == map) return cyclic;
  }
  return as_axes(map);
}

Problem in_form_to_run(Problem problem) {
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  if (map == nullptr || f2::is_power_of_two(problem.element_bytes)) return problem;
  if (auto form = form_of_any_width(*map)) problem.permutation = *std::move(form);
  return problem;
}

Permutation form_to_run(const Problem& problem, const Recognition& recognition) {
  const auto* const map = std::get_if<Affine>(&recognition.permutation);
  if (map == nullptr || f2::is_power_of_two(problem.element_bytes)) return recognition.permutation;
  // Many short axes cost more than an array's own ways, of which the planner takes the fastest.
  constexpr std::size_t kMostAxes = 4;
  auto form = form_of_any_width(*map);
  const auto* const axes = form ? std::get_if<Axes>(&*form) : nullptr;
  if (!form || (axes != nullptr && axes->shape().size() > kMostAxes)) return problem.permutation;
  return *std::move(form);
}

}  // namespace faro::detail
