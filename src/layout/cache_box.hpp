// The box of a strided view on a CPU: what a thread moves by way of its caches at a time.
//
//     axes, fastest of the output first: an extent, a stride in the input, a stride in the output, in bytes
//
//     axes(100 100 100; 2 0 1)      input's run     along axis 2      box 1 x 64 x 64: read as 64 runs of 64,
//                                   output's run    along axis 1      written as 64 runs of 64 the other way
//
// It is the box of strided_box.hpp, product of a run along the input's fastest axes and one along the
// output's, with a cache's sizes: whole lines on both sides where an axis is cut, and no banks. Only the
// slowest axis of a run is cut, so whatever is left at an end of the array is a prefix of all tables.
//
// Bytes that lie side by side on both sides are one element, of any width; long ones need no box.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/strided_box.hpp"

namespace faro::layout {

struct CacheBox {
  std::vector<StridedAxis> axes;      // strides in bytes, those of the output above 0 and ascending
  std::uint64_t element_bytes = 1;    // that lie side by side on both sides
  std::vector<std::uint64_t> extent;  // of the box, by axis; of long elements none
  std::vector<std::size_t> in_order;  // axes by the input's strides, fastest first; those of stride 0 last

  /// Whether elements are moved by themselves.
  bool is_of_long_elements() const;
  /// Elements of the box; 0 without one.
  std::uint64_t elements() const;
  /// How many boxes there are.
  std::uint64_t count() const;

  /// The axes of the input's run, and of the output's, fastest first: those of which the box has more than
  /// one, as far as all before the last are whole.
  std::vector<std::size_t> in_run() const;
  std::vector<std::size_t> out_run() const;
  /// How many axes of a run lie together in memory, forwards or, in the input, backwards.
  std::size_t in_contiguous() const;
  std::size_t out_contiguous() const;
};

/// What a box may be: of a cache as it stands here, of a file's tile in memory with other sizes.
struct CacheBoxLimits {
  std::uint64_t most_bytes = std::uint64_t{64} << 10;    // of a box
  std::uint64_t line_bytes = 64;                         // a cut axis has whole ones, where that costs little
  std::uint64_t long_bytes = 512;                        // an element of so many needs no box
  std::uint64_t most_element_bytes = ~std::uint64_t{0};  // beyond, what lies side by side stays an axis
  double growth = 2;                                     // from one run that is tried to the next
  double out_over_in = 1;                                // how much longer the output's run is wanted
  std::uint64_t out_line_bytes = 0;  // whole ones of the output in a cut axis, of a run of eight or more
  // Where these are known, runs of about so many bytes, instead of the longest that `most_bytes` holds.
  std::uint64_t in_run_bytes = 0;
  std::uint64_t out_run_bytes = 0;
};

/// The longest runs whose box the limits allow. `axes` have strides in elements of `element_bytes`, and are
/// in normal form (normal_axes()).
CacheBox choose_cache_box(const std::vector<StridedAxis>& axes, std::uint64_t element_bytes,
                          const CacheBoxLimits& limits = {});

}  // namespace faro::layout
