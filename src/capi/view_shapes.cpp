#include "capi/view_shapes.hpp"

#include "capi/status.hpp"
#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"
#include "permutation/axis_map.hpp"

namespace faro::capi {
namespace {

constexpr const char* kShaping = "plan";

}  // namespace

std::uint64_t product(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
    if (count > Indexed::kMaxCount / extent)
      fail(ErrorCode::value, kShaping, "an array of more than 2^40 elements", "at most 2^40");
    count *= extent;
  }
  return count;
}

Shape given_shape(int rank, const std::uint64_t* shape) {
  const std::size_t axes = checked_rank(kShaping, rank);
  if (axes > 0) require_argument(shape, kShaping, "shape");
  return {shape, shape + axes};
}

Strides given_strides(std::size_t axes, const std::int64_t* strides, const char* name) {
  if (axes > 0) require_argument(strides, kShaping, name);
  return {strides, strides + axes};
}

std::int64_t lowest(const Shape& extents, const Strides& strides) {
  std::vector<faro::detail::StridedAxis> axes;
  for (std::size_t i = 0; i < extents.size(); ++i)
    axes.push_back({.extent = extents[i], .in = strides[i], .out = 0});
  return faro::detail::lowest(axes, &faro::detail::StridedAxis::in);
}

Strided given_view(const faro_view& view) {
  Strided made;
  made.extents = given_shape(view.rank, view.extents);
  made.in_strides = given_strides(made.extents.size(), view.in_strides, "in_strides");
  made.out_strides = given_strides(made.extents.size(), view.out_strides, "out_strides");
  made.in_offset = static_cast<std::uint64_t>(-lowest(made.extents, made.in_strides));
  made.out_offset = static_cast<std::uint64_t>(-lowest(made.extents, made.out_strides));
  return made;
}

}  // namespace faro::capi
