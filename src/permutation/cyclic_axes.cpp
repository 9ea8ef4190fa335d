#include "permutation/cyclic_axes.hpp"

#include <cstddef>

namespace faro::detail {
namespace {

// Consecutive places of an axis that go to consecutive ones, up or down.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  std::uint64_t target = 0;  // of the first
  std::int64_t step = 1;
};

std::vector<Part> parts_of(const Cyclic& move) {
  // Where the image goes round the end.
  const std::uint64_t cut = move.reversed ? move.shift + 1 : move.count - move.shift;
  const std::int64_t step = move.reversed ? -1 : 1;
  std::vector<Part> parts{{.begin = 0, .length = cut, .target = move(0), .step = step}};
  if (cut < move.count)
    parts.push_back({.begin = cut, .length = move.count - cut, .target = move(cut), .step = step});
  return parts;
}

}  // namespace

std::uint64_t number_of_views(const CyclicAxes& axes) {
  std::uint64_t number = 1;
  for (const Cyclic& move : axes.moves()) number *= parts_of(move).size();
  return number;
}

std::vector<Strided> views_of(const CyclicAxes& axes, std::uint64_t batch) {
  const auto count = static_cast<std::int64_t>(axes.count());
  std::vector<Strided> views{{.extents = {batch}, .in_strides = {count}, .out_strides = {count}}};
  std::uint64_t in_stride = axes.count();
  for (std::size_t axis = 0; axis < axes.shape().size(); ++axis) {
    in_stride /= axes.shape()[axis];
    const std::uint64_t out_stride = axes.target_strides()[axis];
    std::vector<Strided> finer;
    for (const Strided& view : views) {
      for (const Part& part : parts_of(axes.moves()[axis])) {
        Strided each = view;
        each.extents.push_back(part.length);
        each.in_strides.push_back(static_cast<std::int64_t>(in_stride));
        each.out_strides.push_back(part.step * static_cast<std::int64_t>(out_stride));
        each.in_offset += part.begin * in_stride;
        each.out_offset += part.target * out_stride;
        finer.push_back(std::move(each));
      }
    }
    views = std::move(finer);
  }
  return views;
}

}  // namespace faro::detail
