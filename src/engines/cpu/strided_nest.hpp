// Places along some axes, those of two arrays at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::cpu {

/// Axes with a stride on either side, in bytes, the first the fastest.
struct StridedNest {
  static constexpr std::size_t kMostAxes = 48;  // extents of at least 2, counts to 2^40

  std::size_t axes = 0;
  // Only what is used is set: for all of it compilers take a string instruction, which takes longer than a
  // small array.
  std::uint64_t extents[kMostAxes];
  std::int64_t in[kMostAxes];
  std::int64_t out[kMostAxes];

  StridedNest() {}  // NOLINT(modernize-use-equals-default): = default would set all to 0 in StridedNest{}

  void add(std::uint64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    if (extent == 1) return;
    extents[axes] = extent;
    in[axes] = in_stride;
    out[axes] = out_stride;
    ++axes;
  }
};

}  // namespace faro::cpu
