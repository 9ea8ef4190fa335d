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
#include <optional>
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

// One of the layouts that the adviser weighs, as a value: what layout/shared.hpp has for each kind at compile
// time, for sizes known at run time, and the code that a kernel's author pastes.
//
// An element (i, j) has the natural place x = i columns + j. A layout is one of
//
//     raw       x
//     padded    x + i pad
//     cute      x ^ ((x >> S) & ((2^B - 1) << M))                        CuTe's Swizzle<B,M,S>
//     xor       x ^ X high(x)                                            layout::Xor
//     rap       the place within its bank row of 128 bytes rotated by a sum of random permutations, one for
//               every digit of the row's number:
//
//         units of `unit_elements`, w = 128 bytes / unit; x = (bank row, position, element of the unit)
//         row number = d_0 + d_1 w + d_2 w^2 …        position' = (position + p0[d_0] + p1[d_1] + …) mod w
//
// With one digit that is Rap, with up to three Rap3P. A unit is the widest vector that must stay whole, and
// at least one 4-byte word. The row's number is i where rows are whole bank rows, else that of the bank row.

/// CuTe's Swizzle<B,M,S>, in elements: bits M .. M+B-1 change by bits M+S .. M+S+B-1.
struct CuteSwizzle {
  int bits = 0;   // B
  int base = 0;   // M
  int shift = 0;  // S >= B

  constexpr Index operator()(Index x) const {
    const Index field = ((Index{1} << bits) - 1) << base;
    return x ^ ((x >> shift) & field);
  }
  friend constexpr bool operator==(const CuteSwizzle&, const CuteSwizzle&) = default;
};

/// The random turns of one seed.
struct RapTurns {
  std::uint64_t seed = 0;
  Index unit_elements = 1;
  Index width = 1;                                    // units of a bank row
  bool by_row = true;                                 // the row's number is i; else the bank row's
  std::vector<std::vector<Index>> permutations = {};  // [digit, lowest first][value]

  /// The turn of a row.
  Index turn(Index row) const;
};

enum class PlacementKind { raw, cute, exclusive_or, padded, rap };

struct Placement {
  PlacementKind kind = PlacementKind::raw;
  SharedArray array = {};
  Index pad = 0;          // of `padded`, in elements
  CuteSwizzle cute = {};  // of `cute`
  Xor exclusive_or = {};  // of `exclusive_or`
  RapTurns turns = {};    // of `rap`

  /// Address of element (i, j) in elements. Law: one to one, below size().
  Index operator()(Index i, Index j) const;

  /// Elements of shared memory that are needed.
  Index size() const;

  /// "RAW", "Swizzle<3,3,3>", "XOR", "pad 1", "RAP", "3P".
  std::string name() const;

  /// A C++17 function for host and device with every number in it, `shared_index(i, j)`, and the constant
  /// `shared_elements`. Law: the function equals operator(). It needs no header; nvcc compiles it as it is,
  /// other compilers with `__host__` and `__device__` defined empty.
  std::string device_code() const;
};

/// The turns for vectors of `vector_elements`, drawn by `seed`, the highest digit first.
/// Law: for 4-byte elements and 32 columns, up to 32 rows make Rap<32>::random(seed), and more than 1024 make
/// Rap3P<32>::random(seed).
RapTurns random_turns(const SharedArray& array, Index vector_elements, std::uint64_t seed);

}  // namespace faro::layout
