// How large boxes of a view with arithmetic are (value_boxes.hpp). A box grows along the axes that are the
// fastest of each side until runs of both are what memory likes; so at most one axis a side is cut, the last
// of its run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kernels/value_arrays.hpp"
#include "plan/value_plan.hpp"

namespace faro::detail {

/// Alignments of arrays in bytes, powers of two; 16 and more are alike.
struct ValueAlignment {
  std::uint64_t in = 16;
  std::uint64_t out = 16;
  std::uint64_t addend = 16;
};

inline constexpr std::uint64_t kValueVectorBytes = 16;
inline constexpr std::uint64_t kValueHeldBytes = 34 << 10;  // of shared memory, for a box

/// So many steps of all strides.
inline kernels::ValuePlace place_of(const ValueStrides& s, std::int64_t times) {
  return {.in = s.in * times,
          .out = s.out * times,
          .addend = s.addend * times,
          .scale = s.scale * times,
          .offset = s.offset * times};
}

inline std::uint64_t stride_magnitude(std::int64_t x) { return static_cast<std::uint64_t>(std::abs(x)); }

/// Axes of a side whose numbers lie together, the fastest first.
std::vector<std::size_t> lying_together(const std::vector<ValueAxis>& axes,
                                        std::int64_t ValueStrides::*stride);

/// What boxes are chosen by.
struct ValueBoxSides {
  const std::vector<ValueAxis>& axes;
  const std::vector<std::size_t>& in_order;  // axes, the fastest first
  const std::vector<std::size_t>& out_order;
  std::uint64_t in_bytes = 1;  // of a number
  std::uint64_t out_bytes = 1;
  std::uint64_t addend_bytes = 0;  // none
  std::uint64_t held_bytes = 1;    // in shared memory
  bool aligned = false;            // copies of runs that begin anywhere
};

/// Of what stays in registers, along axes that both sides have: of at most so many numbers, or columns.
std::vector<std::uint64_t> box_of_runs(const std::vector<ValueAxis>& axes,
                                       const std::vector<std::size_t>& common, std::uint64_t most);
/// Of what goes by way of shared memory: runs of both sides as long as the other.
std::vector<std::uint64_t> box_of_sides(const ValueBoxSides& of);
/// The same of boxes that are copied to shared memory, with what is added, six a multiprocessor: of those
/// whose runs are about as long as one or the other, the one that takes least.
std::vector<std::uint64_t> box_of_copies(const ValueBoxSides& of);

}  // namespace faro::detail
