// A permutation of packed elements as axes whose strides are bits, and the sweep that moves them.
//
// Strides of elements become strides of bits by the layouts: a step inside a row is so many elements, a step
// of whole rows so many pitches. Then rows, bytes and words are no more than numbers (axis_map.hpp), and the
// fastest axis of each side says what is to be done:
//
//     the same axis of both      runs of bits are copied, at any offset
//     the same one backwards     runs are turned round
//     one of each                a matrix is transposed: rows of the input, columns that are rows of the output
//
// Transposing goes by tiles that the second-level cache holds twice. P rows, P elements in a byte, are made
// rows of bytes (squares.hpp), these are transposed as bytes, and what was a column lies in order:
//
//     1024 rows of 1024 bits  ->  128 rows of 1024 bytes  ->  1024 rows of 128 bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "faro/packed.hpp"
#include "packed/bit_sweep.hpp"

namespace faro::packed {

/// The axes that a problem is; nothing for permutations that are none, and where axes go across rows.
std::optional<BitAxes> bit_axes(const PackedProblem& problem);

/// Elements that one step moves, a run or a matrix, on the mean. 1 where an axis is fast on neither side.
std::uint64_t elements_at_once(const BitAxes& axes);

/// Whether one axis is the fastest of both sides: runs, and no matrices.
bool has_runs(const BitAxes& axes);

/// Requires: elements_at_once() > 1, or elements of 1, 2 or 4 bits (unchecked).
void move_axes(const BitAxes& axes, const std::byte* in, std::byte* out, bool streamed, int threads);

}  // namespace faro::packed
