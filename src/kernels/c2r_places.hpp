// The places of an array's elements between the sweeps of the transposition in place (kernels/c2r_index.hpp
// has the steps). Two ideas leave two sweeps of three.
//
// *The rotation is never carried out.* Rotated row i is the diagonal of panels that starts in row i: panel p
// of it lies in row (i + p) mod m. Rows are shuffled on these diagonals, and the column shuffle, which may
// read any element of a column, reads row r of column j from row (r + j div b) mod m:
//
//     m = 4, c = 3 panels      0 0 | 3 3 | 2 2        row 0 in its three places
//                              1 1 | 0 0 | 3 3
//                              2 2 | 1 1 | 0 0
//                              3 3 | 2 2 | 1 1
//
// *A sweep displaces rows.* The kernels for long rows and long columns work out of place. They serve in place
// as well if K rows are written to the scratch, the next K rows to where those were, and so on. Afterwards
// row r is where r - K was and the first K rows are in the scratch; the next sweep reads them from there. If
// the sweep before has displaced rows in the other direction, row r is where r + K was and the last K are in
// the scratch. Columns are displaced in the same way:
//
//     rows     0 1 2 3 4 5 | scratch . .            K = 2
//              2 3 4 5 . . | 0 1                    moved down: by the sweep before
//              . . 0 1 2 3 | 4 5                    moved up: for the sweep after
//
// Diagonals are those of places: an element that has moved to column u of the array lies u div b rows below;
// in the scratch row i is row i. So no two rows ever share a place, read or written.
//
// All offsets are in elements, of arrays that follow one another.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

/// The buffers of these kernels. The array is read and written in place: one memory, two numbers.
inline constexpr int kC2rIn = device::kInput;
inline constexpr int kC2rOut = device::kOutput;
inline constexpr int kC2rScratchIn = 2;
inline constexpr int kC2rScratchOut = 3;
inline constexpr int kC2rRowsIn = 4;  // whole rows on their way (c2r_huge_rows.hpp)
inline constexpr int kC2rRowsOut = 5;

/// The places of rows, or of columns: those with numbers begin .. end - 1 are in the scratch, x at x - begin;
/// every other x is where x + shift would be. By default none has moved.
struct C2rHeld {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int64_t shift = 0;

  constexpr bool in_scratch(std::uint64_t x) const { return x >= begin && x < end; }
  /// The number of its place in the scratch, or in the array.
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

/// Accesses that are in flight before the first is used.
inline constexpr std::uint32_t kC2rBatch = 8;

}  // namespace faro::kernels
