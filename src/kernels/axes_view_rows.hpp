// Rows of a strided view: the fastest axis is the same on both sides, forwards or backwards in the input, and
// rows change places whole.
//
//     in    . . a b c d . .       rows of 4, 8 apart         out   d c b a . .       rows of 4, 6 apart,
//           . . e f g h . .                                        h g f e . .       backwards
//
// A thread moves some accesses of one row, a block's width apart, and finds its row by dividing. Where rows
// are backwards, units of a vector change places in registers. Unlike axes_rows.hpp, nothing straddles rows:
// their begins are aligned to the accesses.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kViewRowsThreads = 256;

/// What the kernel is compiled for.
struct ViewRowsShape {
  int access_bytes = 16;
  int reversed_bytes = 0;  // of the units that change places in a vector; 0: none do

  /// Accesses of a thread: narrow ones are several, so that enough bytes are under way.
  constexpr int spread() const { return access_bytes == 16 ? 1 : access_bytes == 8 ? 2 : 4; }
  friend constexpr bool operator==(const ViewRowsShape&, const ViewRowsShape&) = default;
};
inline constexpr ViewRowsShape kViewRowsShapes[] = {{1, 0},  {2, 0},  {4, 0},  {8, 0}, {16, 0},
                                                    {16, 1}, {16, 2}, {16, 4}, {16, 8}};

struct ViewRowsParams {
  struct Axis {
    device::Division32 extent;
    std::int64_t in_stride;  // bytes
    std::int64_t out_stride;
  };
  device::Division64 lanes;  // of a row
  std::uint64_t accesses;    // of a row
  std::int64_t in_step;      // bytes from access to access, below 0 backwards
  std::uint64_t in_first;    // of the first row's first access
  std::uint64_t out_first;
  std::uint64_t rows;    // fewer than 2^31
  Axis axis[kMostAxes];  // of the rows, the output's fastest first
  std::int32_t axes;
  std::uint64_t first_vector;  // thread of this launch

  /// Threads that have a part.
  constexpr std::uint64_t vectors() const { return rows * lanes.divisor(); }
};
static_assert(sizeof(ViewRowsParams) <= 4096, "kernel parameters are at most 4 KiB");

/// The whole kernel. Requires: thread < kViewRowsThreads; threads past the last are left out.
template <ViewRowsShape shape, device::Memory Memory>
constexpr void move_view_rows(Memory& memory, const ViewRowsParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  constexpr int bytes = shape.access_bytes;
  constexpr int spread = shape.spread();
  std::uint64_t lane = p.first_vector + block * kViewRowsThreads + thread;
  if (lane >= p.vectors()) return;
  auto row = static_cast<std::uint32_t>(p.lanes.divide(lane));
  std::uint64_t from = p.in_first + lane * static_cast<std::uint64_t>(p.in_step);
  std::uint64_t to = p.out_first + lane * bytes;
  FARO_NO_UNROLL
  for (int a = 0; a < p.axes; ++a) {
    std::uint32_t digit = row;
    row = p.axis[a].extent.divide(digit);
    from += digit * static_cast<std::uint64_t>(p.axis[a].in_stride);
    to += digit * static_cast<std::uint64_t>(p.axis[a].out_stride);
  }
  device::Packet<bytes> moved[spread] = {};
  const std::uint64_t apart = p.lanes.divisor();
  FARO_UNROLL
  for (int k = 0; k < spread; ++k) {
    const std::uint64_t further = static_cast<std::uint64_t>(k) * apart;
    if (lane + further < p.accesses) {
      moved[k] = memory.template load_global<bytes>(device::kInput,
                                                    from + further * static_cast<std::uint64_t>(p.in_step));
    } else {
      device::idle(memory);
    }
  }
  FARO_UNROLL
  for (int k = 0; k < spread; ++k) {
    const std::uint64_t further = static_cast<std::uint64_t>(k) * apart;
    if (lane + further < p.accesses) {
      if constexpr (shape.reversed_bytes > 0) moved[k] = reverse_units<shape.reversed_bytes>(moved[k]);
      memory.template store_global<bytes>(device::kOutput, to + further * bytes, moved[k]);
    } else {
      device::idle(memory);
    }
  }
}

}  // namespace faro::kernels
