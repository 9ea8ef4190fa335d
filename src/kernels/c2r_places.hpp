// Where the elements of an array are while it is transposed in place (kernels/c2r_index.hpp has the steps).
//
// Two ideas save all sweeps but two.
//
// *The rotation is never carried out.* Rotated row i is the diagonal of panels that starts in row i: panel p
// of it lies in row (i + p) mod m. Rows are shuffled where they lie, and the column shuffle, which may take
// any element of a column, looks for row r of column j in row (r + j div b) mod m:
//
//     m = 4, c = 3 panels      0 0 | 3 3 | 2 2        row 0 in its three places
//                              1 1 | 0 0 | 3 3
//                              2 2 | 1 1 | 0 0
//                              3 3 | 2 2 | 1 1
//
// *A sweep moves along.* Out of place there are good kernels for long rows and long columns; in place there
// are too, if a few rows go to the scratch, the next few go where those were, and so on. Afterwards row r is
// where r - K was and the first K are in the scratch, which the sweep that follows takes as it is. A sweep
// that precedes leaves them the other way round: row r where r + K was, the last K in the scratch. The same
// with columns:
//
//     rows     0 1 2 3 4 5 | scratch . .            K = 2
//              2 3 4 5 . . | 0 1                    moved down: the sweep that has gone before
//              . . 0 1 2 3 | 4 5                    moved up: the sweep that is to come
//
// Diagonals are of places: whatever has moved to column u of the array lies u div b rows below; in the
// scratch row i is row i. So a row's places, read and written, are always its own.
//
// All offsets are in elements, of arrays that follow one another.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"
#include "faro/device/unroll.hpp"

namespace faro::kernels {

/// The buffers of these kernels. The array is read and written in place: one memory, two numbers.
inline constexpr int kC2rIn = device::kInput;
inline constexpr int kC2rOut = device::kOutput;
inline constexpr int kC2rScratchIn = 2;
inline constexpr int kC2rScratchOut = 3;
inline constexpr int kC2rRowsIn = 4;  // whole rows on their way (c2r_long_rows.hpp)
inline constexpr int kC2rRowsOut = 5;

/// Where rows, or columns, of these numbers are: begin .. end - 1 in the scratch, x at x - begin; all others
/// where x + shift would be. Default: all at home.
struct C2rHeld {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int64_t shift = 0;

  constexpr bool in_scratch(std::uint64_t x) const { return x >= begin && x < end; }
  /// In the scratch, or among the array's.
  constexpr std::uint64_t place(std::uint64_t x) const {
    return in_scratch(x) ? x - begin : x + static_cast<std::uint64_t>(shift);
  }
};

/// `moved` of `count` are in the scratch. Requires: 0 <= moved <= count.
constexpr C2rHeld moved_down(std::uint64_t moved) { return {0, moved, -static_cast<std::int64_t>(moved)}; }
constexpr C2rHeld moved_up(std::uint64_t moved, std::uint64_t count) {
  return {count - moved, count, static_cast<std::int64_t>(moved)};
}

/// One element's place in the buffers.
struct C2rPlace {
  std::uint64_t element = 0;
  bool scratch = false;

  constexpr int source() const { return scratch ? kC2rScratchIn : kC2rIn; }
  constexpr int target() const { return scratch ? kC2rScratchOut : kC2rOut; }
};

/// Shared memory skips a word in every 33, so that strides of powers of two meet all banks.
constexpr std::uint32_t c2r_padded(std::uint32_t slot) { return slot + slot / 32; }

/// x + y mod m. Requires: x < m, y <= m.
constexpr std::uint64_t c2r_wrapped(std::uint64_t sum, std::uint64_t m) { return sum < m ? sum : sum - m; }

/// A batch of accesses is in flight before the first is used.
inline constexpr std::uint32_t kC2rBatch = 8;

}  // namespace faro::kernels
