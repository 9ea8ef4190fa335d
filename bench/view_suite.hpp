// Views that axes_bench and gpu_axes_bench measure, each beside the same shape without gaps, flips and
// repeats.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/axes_suites.hpp"
#include "faro/permutation/strided.hpp"

namespace faro::bench {

struct ViewCase {
  std::string what;  // "flipped along the input's fastest axis"
  Strided view;
  AxesShape plain;
};

/// Flipped, sliced, padded and repeated inputs, padded outputs; of a copy, a transposition and shapes of more
/// axes, each with elements of all `widths`, in bytes; and of many small arrays.
std::vector<ViewCase> view_cases(const std::vector<std::uint64_t>& widths);

}  // namespace faro::bench
