// Units of any width that lie apart, moved through the caches: what is as wide as an element, or as a row
// that lies together on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/strided_nest.hpp"

namespace faro::cpu {

/// to[b] = from[a] of `bytes` each, for all places of the nest.   Any alignment. One call for all of them: a
/// small array is done in less time than a call for each would take. Meanwhile rows are `fetched`, where
/// units are moved row by row of the output, unless null.
void copy_units(const std::byte* from, std::byte* to, std::uint64_t bytes, const StridedNest& nest,
                RowTraffic* fetched = nullptr);

}  // namespace faro::cpu
