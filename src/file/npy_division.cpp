#include "file/npy_division.hpp"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "size_text.hpp"

namespace faro::file {
namespace {

using Shape = std::vector<std::uint64_t>;

// The first axes of `shape`, in the order of `begin` .. `end`, whose product is `wanted`: how many they are,
// and what is left of `wanted` that divides the next. Nothing where it ends at no place of the shape.
struct Boundary {
  std::size_t axes = 0;
  std::uint64_t rest = 1;
};
template <typename Iterator>
std::optional<Boundary> boundary(Iterator begin, Iterator end, std::uint64_t wanted) {
  Boundary found{.axes = 0, .rest = wanted};
  while (begin != end && found.rest > 1 && *begin != 0 && found.rest % *begin == 0) {
    found.rest /= *begin++;
    ++found.axes;
  }
  const bool is_place = found.rest == 1 || (begin != end && *begin % found.rest == 0);
  return is_place ? std::optional(found) : std::nullopt;
}

}  // namespace

CutShape cut_shape(const Shape& shape, std::uint64_t batch, std::uint64_t group) {
  CutShape cut{.extents = shape};
  if (batch == 0 || group == 0) return cut;
  const auto batches = boundary(shape.begin(), shape.end(), batch);
  if (batches && batches->rest > 1) {
    const auto axis = cut.extents.begin() + static_cast<std::ptrdiff_t>(batches->axes);
    *axis /= batches->rest;
    cut.extents.insert(axis, batches->rest);
    cut.is_batch_cut = true;
  }
  const auto elements = boundary(cut.extents.rbegin(), cut.extents.rend(), group);
  if (elements && elements->rest > 1) {
    const auto axis = cut.extents.end() - static_cast<std::ptrdiff_t>(elements->axes) - 1;
    *axis /= elements->rest;
    cut.extents.insert(axis + 1, elements->rest);
    cut.is_element_cut = true;
  }
  return cut;
}

Division along(const Shape& shape, std::size_t first, std::size_t end) {
  return {.batch = product(shape, 0, first),
          .elements = product(shape, first, end),
          .group = product(shape, end, shape.size()),
          .cut = {.extents = shape},
          .part = AxesPart{.first_axis = first, .end_axis = end},
          .axis = end - first == 1 ? std::optional(first) : std::nullopt};
}

std::string Division::elements_text(std::uint64_t item_bytes, const std::vector<std::uint64_t>& shape) const {
  const std::string of = " of " + size_text(group * item_bytes);
  const std::string along_axis = axis && *axis > 0 ? fmt::format(" along axis {}", *axis) : std::string();
  const bool is_rows = axis == std::size_t{0} && shape.size() > 1;
  return faro::count_text(elements) + (is_rows ? " row" : " element") + (elements == 1 ? "" : "s") + of +
         along_axis;
}

std::vector<std::uint64_t> Division::array_shape() const {
  return part ? axes_of_part(cut.extents, *part) : std::vector<std::uint64_t>{elements};
}

std::uint64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{1},
                         std::multiplies<>());
}

Shape axes_of_part(const Shape& shape, const AxesPart& part) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis),
          shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis)};
}

Shape with_part(const Shape& shape, const AxesPart& part, const Shape& other) {
  Shape result(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(part.first_axis));
  result.insert(result.end(), other.begin(), other.end());
  result.insert(result.end(), shape.begin() + static_cast<std::ptrdiff_t>(part.end_axis), shape.end());
  return result;
}

std::vector<AxesPart> parts_of(const Shape& shape, std::uint64_t batch, std::uint64_t group) {
  std::vector<AxesPart> parts;
  for (std::size_t first = 0; first <= shape.size(); ++first) {
    if (product(shape, 0, first) != batch) continue;
    for (std::size_t end = shape.size() + 1; end-- > first;) {
      if (product(shape, end, shape.size()) == group) parts.push_back({.first_axis = first, .end_axis = end});
    }
  }
  return parts;
}

}  // namespace faro::file
