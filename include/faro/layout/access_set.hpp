// The accesses of a kernel to an array in shared memory: the elements that the lanes of a warp name together.
//
// The array has `rows` x `columns` elements, numbered x = i columns + j. An *access* moves vectors of V
// consecutive elements, one a lane; G = columns / V vectors make a row. Thread n of the block takes, and warp
// after warp of 32 threads takes them all:
//
//     row(V)         the n-th vector, row by row           (n div G, n mod G)
//     column(V)      the n-th vector, column by column     (n mod rows, n div rows)
//     diagonal(V)    the n-th vector, diagonally           (n mod rows, (n mod rows + n div rows) mod G)
//     stride(K, V)   from each of the vectors 0 .. K-1, every K-th that follows
//     @FILE          what was recorded: a line a warp access, an element number a lane
//
// V is 1 where it is left out. A tile of 16-bit floats that ldmatrix reads, eight rows of 16 bytes at a time,
// is met by column(8); what writes it, 16 bytes a lane along the rows, is row(8).
//
//     4 x 4, 4 lanes    row        column     diagonal   stride(2)
//     lanes of warp 0   0 1 2 3    0 4 8 12   0 5 10 15  0 2 4 6
//              warp 1   4 5 6 7    1 5 9 13   1 6 11 12  8 10 12 14
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/layout/shared.hpp"

namespace faro::layout {

/// Shared memory that a block can have on any GPU up to now: 227 KiB.
inline constexpr std::uint64_t kMaxSharedBytes = std::uint64_t{227} * 1024;

/// The widest access of a lane.
inline constexpr std::uint64_t kMaxLaneBytes = 16;

struct SharedArray {
  Index rows = 0;
  Index columns = 0;
  Index element_bytes = 4;

  constexpr Index elements() const { return rows * columns; }
  constexpr std::uint64_t bytes() const { return std::uint64_t{elements()} * element_bytes; }

  friend constexpr bool operator==(const SharedArray&, const SharedArray&) = default;
};

/// Errors: ErrorCode::value for no rows or columns, elements other than 1, 2, 4, 8 or 16 bytes, and arrays of
/// more than kMaxSharedBytes.
SharedArray make_shared_array(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes);

struct AccessSet {
  /// In place of an element: the lane takes no part.
  static constexpr Index kIdle = ~Index{0};

  std::string text;                       // as parse_access reads it
  Index vector_elements = 1;              // V
  bool recorded = false;                  // from a trace: another run may differ
  std::vector<std::vector<Index>> warps;  // the first element of every lane's vector
};

/// Requires: an array by make_shared_array. Errors: ErrorCode::value where V is no power of two, does not
/// divide the columns or makes more than 16 bytes, and for a stride of 0 or past the array.
AccessSet row_access(const SharedArray& array, std::uint64_t vector_elements = 1);
AccessSet column_access(const SharedArray& array, std::uint64_t vector_elements = 1);
AccessSet diagonal_access(const SharedArray& array, std::uint64_t vector_elements = 1);
AccessSet stride_access(const SharedArray& array, std::uint64_t stride, std::uint64_t vector_elements = 1);

/// Reads `row(8)`, `stride(3)`, `@trace.txt` …
/// Errors: those above; ErrorCode::value for an unknown name, with the nearest known one, and for a trace
/// that names an element outside the array, with its line; those of machine::read_trace.
AccessSet parse_access(const SharedArray& array, std::string_view text);

/// "row(8),stride(3, 2)" -> "row(8)", "stride(3, 2)".
std::vector<std::string> split_accesses(std::string_view text);

}  // namespace faro::layout
