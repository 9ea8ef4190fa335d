#include "layout/strided_box.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "rounding.hpp"

namespace faro::layout {
namespace {

std::size_t place_of(int axis) { return static_cast<std::size_t>(axis); }

}  // namespace

std::uint32_t BoxWalk::slots() const {
  const std::uint64_t access = static_cast<std::uint64_t>(vector) * static_cast<unsigned>(spread) * pieces;
  return static_cast<std::uint32_t>(
      faro::detail::round_up(faro::detail::ceil_div(std::uint64_t{units} + lead, access), pairs));
}

std::uint64_t StridedBox::boxes() const {
  std::uint64_t count = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    count *= faro::detail::ceil_div(axes[a].extent, std::uint64_t{extent[a]});
  }
  return count;
}

std::uint64_t StridedBox::units() const {
  return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1},
                         [](std::uint64_t product, std::uint32_t e) { return product * e; });
}

bool StridedBox::cut(int axis) const { return extent[place_of(axis)] < axes[place_of(axis)].extent; }

std::uint32_t StridedBox::halo_words() const {
  if (halo == 0) return 0;
  std::uint32_t most = 0;  // of a row's place
  for (std::uint32_t h = 0; h < halo_rows; ++h) {
    std::uint32_t number = h;
    std::uint32_t place = 0;
    for (const int axis : in.rest) {
      for (const BoxPart& part : parts_of(axis)) {
        place += number % part.extent * part.place;
        number /= part.extent;
      }
    }
    most = std::max(most, place);
  }
  const auto vector = static_cast<std::uint32_t>(in.vector);
  return (most + in.units + 4 * vector) / vector * vector;
}

std::uint32_t StridedBox::grain() const { return static_cast<std::uint32_t>(in.vector / words); }

std::vector<BoxPart> StridedBox::parts_of(int axis) const {
  std::vector<BoxPart> result;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(result),
               [axis](const BoxPart& part) { return part.axis == axis; });
  if (axes[place_of(axis)].in == 0 && extent[place_of(axis)] > 1)
    result.push_back({.axis = axis, .extent = extent[place_of(axis)]});
  std::sort(result.begin(), result.end(), [](const BoxPart& a, const BoxPart& b) { return a.step < b.step; });
  return result;
}

}  // namespace faro::layout
