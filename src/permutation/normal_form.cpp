// The normal form: what a permutation is, whatever the form that it was given in.
#include <optional>
#include <utility>

#include "faro/permutation/permutation.hpp"
#include "permutation/cyclic_axes.hpp"

namespace faro {
namespace {

// The map that has the same images of 0 and of the unit vectors, if it is one.
template <typename Function>
std::optional<Affine> probed(int n, const Function& f) {
  const f2::Word complement = f(0);
  f2::Matrix matrix = f2::Matrix::zero(n, n);
  for (int j = 0; j < n; ++j) matrix.set_column(j, f(f2::unit(j)) ^ complement);
  if (!matrix.inverse()) return std::nullopt;
  return Affine(matrix, complement);
}

std::optional<Affine> affine_of(const Affine& map) { return map; }

std::optional<Affine> affine_of(const Cyclic& map) {
  if (!f2::is_power_of_two(map.count)) return std::nullopt;
  // shift - x is ~x + shift + 1. An addition modulo 2^n is affine where it touches only the two highest bits:
  // x + 1 modulo 4 is.
  const std::uint64_t added = map.reversed ? map.shift + 1 : map.shift;
  if (map.count > 4 && added % (map.count / 4) != 0) return std::nullopt;
  return probed(f2::trailing_bit(map.count), map);
}

// An odd number other than 1 and -1 carries between bits, but for half the count more, which is the highest
// bit alone.
std::optional<Affine> affine_of(const Modular& map) {
  if (!f2::is_power_of_two(map.count)) return std::nullopt;
  if (map.count > 4) {
    const std::uint64_t factor = map.factor % (map.count / 2);
    if (factor != 1 && factor != map.count / 2 - 1) return std::nullopt;
    const std::uint64_t added = factor == 1 ? map.shift : map.shift + 1;
    if (added % (map.count / 4) != 0) return std::nullopt;
  }
  return probed(f2::trailing_bit(map.count), map);
}

std::optional<Affine> affine_of(const CyclicAxes& map) {
  for (std::size_t axis = 0; axis < map.shape().size(); ++axis) {
    if (!affine_of(map.moves()[axis])) return std::nullopt;
  }
  return probed(f2::trailing_bit(map.count()), map);
}

std::optional<Affine> affine_of(const Axes& map) {
  for (const std::uint64_t extent : map.shape()) {
    if (!f2::is_power_of_two(extent)) return std::nullopt;
  }
  return probed(f2::trailing_bit(map.count()), map);
}

// What is affine of them has that form from the start.
std::optional<Affine> affine_of(const Computed&) { return std::nullopt; }

std::optional<Affine> affine_of(const Indexed&) { return std::nullopt; }  // its entries would have to be read

}  // namespace

Permutation detail::simplest_form(const CyclicAxes& axes) {
  if (axes.shape().size() == 1) return axes.moves().front();
  if (axes.count() == 0 || axes.shape().empty())
    return Cyclic{.count = axes.count(), .shift = 0, .reversed = false};
  if (axes.is_axes()) return Axes(axes.shape(), axes.order());
  return axes;
}

std::optional<Affine> affine_form(const Permutation& permutation) {
  return std::visit([](const auto& form) { return affine_of(form); }, permutation);
}

Permutation normal_form(const Permutation& permutation, int threads) {
  const auto* const indexed = std::get_if<Indexed>(&permutation);
  if (indexed != nullptr) {
    if (!indexed->on_host()) return permutation;
    Recognition found = recognise(*indexed, threads);
    const bool in_part = found.family == Family::blocks || found.family == Family::exceptions;
    if (in_part) return permutation;
    return std::move(found.permutation);
  }
  if (const auto map = affine_form(permutation)) return *map;
  if (const auto* const modular = std::get_if<Modular>(&permutation)) {
    const std::uint64_t count = modular->count;
    const bool reversed = modular->factor == count - 1 && count > 2;
    if (reversed || modular->factor == 1 % count)
      return Cyclic{.count = count, .shift = modular->shift, .reversed = reversed};
    return permutation;
  }
  if (const auto* const moved = std::get_if<CyclicAxes>(&permutation)) return detail::simplest_form(*moved);
  const auto* const axes = std::get_if<Axes>(&permutation);
  if (axes != nullptr && axes->is_identity()) {
    return Cyclic{.count = axes->count(), .shift = 0, .reversed = false};
  }
  // A flip of nothing moves nothing.
  if (element_count(permutation) == 0) return Cyclic{.count = 0, .shift = 0, .reversed = false};
  return permutation;
}

}  // namespace faro
