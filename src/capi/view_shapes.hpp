// Shapes and strides of the C interface's arrays, and the views that permutations of them are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "permutation/text.hpp"

namespace faro::capi {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

/// A view by the addresses of its index 0: strides may be negative.
struct CornerView {
  Shape extents;
  Strides in_strides;
  Strides out_strides;
  std::int64_t in_corner = 0;  // elements from the array's index 0 to the view's
  std::int64_t out_corner = 0;
};

/// Elements of an array. Errors: ErrorCode::value past 2^40.
std::uint64_t product(const Shape& shape);
Strides dense_strides(const Shape& shape);
bool is_dense(const Shape& shape, const Strides& strides);

/// The most negative reach of a view's side, in elements, at most 0. Errors: ErrorCode::value past 2^63.
std::int64_t lowest(const Shape& extents, const Strides& strides);

/// What a caller gave. Errors: ErrorCode::value for a null array of a rank above 0, and for ranks that there
/// are none of.
Shape given_shape(int rank, const std::uint64_t* shape);
Strides given_strides(std::size_t axes, const std::int64_t* strides, const char* name);

/// Array `of` and the strides of its axes, as the finer axes that a pattern takes it apart into.
Strides finer_strides(const Shape& of, const Strides& strides, const Shape& finer);

/// Axes of a strided array, brought to their order in a dense one.
CornerView view_of_axes(const NamedAxes& axes, const Strides& strides);
/// Everything of a strided array, brought together.
CornerView view_of_all(const Shape& shape, const Strides& strides);
/// The boxes of a roll: along each rolled axis what stays before the end, and what goes round it.
std::vector<CornerView> rolled(const Shape& shape, const Strides& in_strides, const Strides& shifts);
/// The other way.
CornerView turned(const CornerView& view);

}  // namespace faro::capi
