// Small arrays, which have to be permuted in about the time of a copy.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/axes_suites.hpp"

namespace faro::bench {

/// Squares, short rows, cubes and high ranks with elements of 1 to 16 bytes, from 256 bytes to 8 MiB.
std::vector<AxesShape> small_axes();

/// So many shapes of 2 to 5 axes in drawn orders, of 0.1 to 1 MiB, with elements of 1, 2, 4 and some other
/// widths: a quarter with extents that are multiples of 4 and 16, a quarter even, the others any.
/// Law: the same seed gives the same shapes.
std::vector<AxesShape> drawn_small_axes(int number, std::uint64_t seed);

}  // namespace faro::bench
