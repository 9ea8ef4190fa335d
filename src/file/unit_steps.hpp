// Axes in place that change the shape, where parts of rows stay whole.
//
//     2 x 6, order 1 0     a b c d e f      units of 2, as 2 x (3 x 2)     ab cd ef
//                          g h i j k l                                     gh ij kl
//     first pass           squares of 2 x 2 are transposed                 ag ci ek
//                                                                          bh dj fl
//     second and third     units change places                             ag bh ci dj ek fl
//
// A unit is as long as the greatest common divisor of the axis that is the fastest before and the one that is
// the fastest after; where the last axis stays, it is a unit. Any permutation of units is the product of two
// in which they change places in pairs: of a cycle c0 -> c1 -> …, first ci with c(-i), then ci with c(1-i).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "faro/permutation/axes.hpp"
#include "file/axes_steps.hpp"
#include "file/steps.hpp"

namespace faro::file {

/// What axes do: to parts of rows, and then to units.
struct SquaresAndUnits {
  NamedAxes squares;  // none where the last axis stays
  NamedAxes units;
  std::uint64_t elements = 1;  // of a unit
};

SquaresAndUnits squares_and_units(const Axes& axes);

/// At most three passes in place; nothing where `memory_bytes` has no room for the numbers of so many units,
/// 64 bytes each, or for two units three times.
/// Cost: some 100 ns a unit.
std::optional<std::vector<std::unique_ptr<Steps>>> passes_of_units(
    const Axes& axes, const Problem& problem, std::uint64_t memory_bytes,
    const std::shared_ptr<const MoveMaker>& maker);

}  // namespace faro::file
