// Strides of files' arrays: in Fortran order, and of axes that are taken apart. axis_map.hpp has the others.
#pragma once

#include <cstdint>
#include <vector>

namespace faro::detail {

/// The strides of a dense array whose first axis is the fastest; an extent of 0 counts as 1.
std::vector<std::int64_t> fortran_strides(const std::vector<std::uint64_t>& extents);

/// The strides of the finer axes that an array's are split into, in their order; at extent 1 anything.
///
///     6 x 4, strides 8 2      as 2 x 3 x 4      24 8 2
std::vector<std::int64_t> finer_strides(const std::vector<std::uint64_t>& extents,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::uint64_t>& finer);

}  // namespace faro::detail
