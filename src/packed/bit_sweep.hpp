// Axes in bits, and what the sweeps over them have in common: where units lie, and the arrays.
//
// A sweep is numbered steps that may be taken in any order, each by one thread with a buffer of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/packed.hpp"
#include "permutation/axis_map.hpp"

namespace faro::packed {

inline constexpr std::uint64_t kLineBytes = 64;
inline constexpr std::uint64_t kLineBits = 8 * kLineBytes;

/// Whether elements are those of which a byte has some.
constexpr bool packs_bytes(std::uint32_t element_bits) {
  return element_bits == 1 || element_bits == 2 || element_bits == 4;
}

/// Axes without shifts, strides and beginnings in bits.
struct BitAxes {
  std::uint32_t element_bits = 1;
  BitOrder in_order = BitOrder::low_first;
  BitOrder out_order = BitOrder::low_first;
  std::vector<detail::AxisMap> parts = {};  // in normal form, that together move all
};

// Where the n-th of the units that some axes number lies, on both sides.
struct Place {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
inline Place place_of(std::uint64_t number, const std::vector<detail::StridedAxis>& axes, Place first) {
  for (const detail::StridedAxis& axis : axes) {
    const auto j = static_cast<std::int64_t>(number % axis.extent);
    number /= axis.extent;
    first.in += j * axis.in;
    first.out += j * axis.out;
  }
  return first;
}

struct Arrays {
  const std::byte* in;
  std::byte* out;
  bool streamed;
};

// Axes whose units of so many bits lie end to end in the output: as many as there are, from axis `first` on.
inline std::size_t end_to_end(const std::vector<detail::StridedAxis>& axes, std::size_t first,
                              std::uint64_t bits) {
  std::size_t next = first;
  for (; next < axes.size() && axes[next].out == static_cast<std::int64_t>(bits); ++next)
    bits *= axes[next].extent;
  return next;
}

}  // namespace faro::packed
