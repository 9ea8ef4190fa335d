// Permutations of axes whose fastest axis stays: rows change places whole.
//
//     axes(2 3 4; 1 0 2)     in    row 00 row 01 row 02 row 10 row 11 row 12       of 4 elements
//                            out   row 00 row 10 row 01 row 11 row 02 row 12
//
// A thread moves one vector of output (moved_vector.hpp), and finds its row by dividing: of the rows' number
// in the output, each of the output's axes takes a digit, and every digit has a stride in the input. There
// are fewer than 2^31 rows.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kAxesRowsThreads = 256;
inline constexpr int kMostAxes = 42;  // of 2^40 elements, a batch's axis and an element's units included

struct AxesRowsParams {
  struct Axis {
    device::Division32 extent;
    std::uint64_t in_stride;  // bytes
  };
  ArrayBytes in;
  ArrayBytes out;
  device::Division64 row_bytes;
  Axis axis[kMostAxes];  // of the output, fastest first, without the row's own
  std::int32_t axes;
  std::uint64_t first_vector;  // of this launch

  constexpr std::uint64_t vectors() const { return (out.end + (kMovedBytes - 1)) / kMovedBytes; }
};
static_assert(sizeof(AxesRowsParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Where byte y of the output is read.
constexpr MovedPiece axes_rows_piece(const AxesRowsParams& p, std::uint64_t y) {
  std::uint64_t within = y - p.out.begin;
  auto row = static_cast<std::uint32_t>(p.row_bytes.divide(within));
  std::uint64_t at = p.in.begin + within;
  FARO_NO_UNROLL
  for (int a = 0; a < p.axes; ++a) {
    std::uint32_t digit = row;
    row = p.axis[a].extent.divide(digit);
    at += digit * p.axis[a].in_stride;
  }
  return {.at = at, .bytes = p.row_bytes.divisor() - within};
}

/// The whole kernel. Requires: thread < kAxesRowsThreads; vectors past the last are left out.
template <int unit_bytes, device::Memory Memory>
constexpr void move_axes_rows(Memory& memory, const AxesRowsParams& params, std::uint64_t block,
                              std::uint32_t thread) {
  const std::uint64_t vector = params.first_vector + block * kAxesRowsThreads + thread;
  if (vector >= params.vectors()) return;
  const auto piece_of = [&params](std::uint64_t y) { return axes_rows_piece(params, y); };
  move_output_vector<unit_bytes, false>(memory, params.in, params.out, vector * kMovedBytes, piece_of);
}

}  // namespace faro::kernels
