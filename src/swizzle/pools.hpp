// Sums that share terms: which they are, and whether they leave nothing to spare.
#pragma once

#include <vector>

#include "faro/swizzle/choices.hpp"
#include "faro/swizzle/value.hpp"

namespace faro::swizzle::detail {

/// The sums of one lane (of one warp and block), put into pools by shared terms: two slots with the same
/// sorted nodes are one supplier, and sums that have a supplier in common are in one pool. Numbers the
/// suppliers and says which pools are tight. `Slot::supplier` of the argument is ignored.
/// Requires: terms sorted; SumSite::wanted is a sum of the site's accumulation (a site that wants anything
/// else cannot be met, and makes its pool loose).
std::vector<Pool> make_pools(std::vector<SumSite> sums_of_lane, const ValueTable& values);

}  // namespace faro::swizzle::detail
