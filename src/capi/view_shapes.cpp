#include "capi/view_shapes.hpp"

#include <algorithm>
#include <utility>

#include "capi/status.hpp"
#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"

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

Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<std::int64_t>(std::max<std::uint64_t>(shape[axis], 1));
  }
  return strides;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != stride) return false;
    stride *= static_cast<std::int64_t>(shape[axis]);
  }
  return true;
}

std::int64_t lowest(const Shape& extents, const Strides& strides) {
  std::int64_t first = 0;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return first;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (strides[axis] >= 0) continue;
    std::int64_t reach = 0;
    const bool fits =
        extents[axis] <= Indexed::kMaxCount &&
        !__builtin_mul_overflow(strides[axis], static_cast<std::int64_t>(extents[axis] - 1), &reach) &&
        !__builtin_add_overflow(first, reach, &first);
    if (!fits)
      fail(ErrorCode::value, kShaping, "strides that reach past 2^63 elements", "strides within an array");
  }
  return first;
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

Strides finer_strides(const Shape& of, const Strides& strides, const Shape& finer) {
  Strides made;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < of.size(); ++axis) {
    // The finer axes whose product is this axis, the first the slowest; those of extent 1 go anywhere.
    const std::size_t begin = next;
    std::uint64_t reached = 1;
    while (next < finer.size() && reached < of[axis]) reached *= finer[next++];
    std::int64_t stride = strides[axis];
    Strides parts(next - begin);
    for (std::size_t k = next; k-- > begin;) {
      parts[k - begin] = stride;
      stride *= static_cast<std::int64_t>(finer[k]);
    }
    made.insert(made.end(), parts.begin(), parts.end());
  }
  made.resize(finer.size(), 0);  // axes of one element
  return made;
}

CornerView view_of_axes(const NamedAxes& axes, const Strides& strides) {
  CornerView view;
  for (const int axis : axes.order) {
    view.extents.push_back(axes.shape[static_cast<std::size_t>(axis)]);
    view.in_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  view.out_strides = dense_strides(view.extents);
  return view;
}

CornerView view_of_all(const Shape& shape, const Strides& strides) {
  return {.extents = shape, .in_strides = strides, .out_strides = dense_strides(shape)};
}

std::vector<CornerView> rolled(const Shape& shape, const Strides& in_strides, const Strides& shifts) {
  const Strides out_strides = dense_strides(shape);
  std::vector<CornerView> boxes{{.extents = shape, .in_strides = in_strides, .out_strides = out_strides}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return {boxes.front()};
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    const std::int64_t shift = (shifts[axis] % extent + extent) % extent;
    if (shift == 0) continue;
    std::vector<CornerView> halves;
    for (const CornerView& box : boxes) {
      CornerView front = box;  // goes up by the shift
      front.extents[axis] = static_cast<std::uint64_t>(extent - shift);
      front.out_corner += shift * out_strides[axis];
      CornerView back = box;  // goes round
      back.extents[axis] = static_cast<std::uint64_t>(shift);
      back.in_corner += (extent - shift) * in_strides[axis];
      halves.push_back(std::move(front));
      halves.push_back(std::move(back));
    }
    boxes = std::move(halves);
  }
  return boxes;
}

CornerView turned(const CornerView& view) {
  return {.extents = view.extents,
          .in_strides = view.out_strides,
          .out_strides = view.in_strides,
          .in_corner = view.out_corner,
          .out_corner = view.in_corner};
}

}  // namespace faro::capi
