// Shapes and strides of the C interface's arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/faro.h"
#include "faro/permutation/strided.hpp"
#include "permutation/text.hpp"

namespace faro::capi {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

/// Elements of an array. Errors: ErrorCode::value past 2^40.
std::uint64_t product(const Shape& shape);

/// What a caller gave. Errors: ErrorCode::value for a null array of a rank above 0, and for ranks that there
/// are none of.
Shape given_shape(int rank, const std::uint64_t* shape);
Strides given_strides(std::size_t axes, const std::int64_t* strides, const char* name);

/// How far below index 0 such strides reach: at most 0.
std::int64_t lowest(const Shape& extents, const Strides& strides);

/// A view that begins with the lowest elements that it reaches; its offsets are how far these lie before the
/// caller's corners.
Strided given_view(const faro_view& view);

}  // namespace faro::capi
