// The choice of a strided box (strided_box.hpp): which axes are cut and how far. It is found by trying a few
// hundred boxes, each priced in a microsecond by the sectors that its runs touch, how short they are, and
// what lanes and boxes are left idle.
#pragma once

#include <vector>

#include "layout/strided_box.hpp"

namespace faro::layout {

/// All boxes that were tried, without places in shared memory, the cheapest first.
std::vector<StridedBox> box_candidates(const std::vector<StridedAxis>& axes, int unit_bytes,
                                       const BoxLimits& limits = {});

/// The best box. Requires: axes in normal form, or turned by read_forwards(), at least one, 1, 2, 4, 8 or 16
/// bytes a unit (checked). Cost: some hundred microseconds.
StridedBox choose_box(const std::vector<StridedAxis>& axes, int unit_bytes, const BoxLimits& limits = {});

}  // namespace faro::layout
