// The covers of l_shape() by how long a run has to be.
#pragma once

#include <array>

#include "faro/permutation/modular.hpp"

namespace faro::detail {

/// As l_shape(), whose runs gain nothing beyond 512 elements; here beyond `long_run`.
std::array<ModularRectangle, 2> l_shape_for_runs(const Modular& map, double long_run);

}  // namespace faro::detail
