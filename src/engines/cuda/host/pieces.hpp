// A host array through a device in pieces: which bytes make a piece, and what the device does with them.
//
// Small arrays travel whole, some of a batch at a time, and a piece is one run of bytes. An array larger than
// a piece is cut by theorem 1 (docs/theory/one-pass.md), with the device's memory as the fast memory and host
// segments of 2^s elements as the segments:
//
//     host input                            device                           host output
//     2^r segments at                       one array of 2^(s + r)           2^r segments at
//     block_source(b) ^ source_row(j)  -->  elements, permuted by       -->  block_target(b) ^ target_row(j')
//                                           Tile::local
//
// The map on the device is affine and the same for every piece of a kind, so one plan serves them all, except
// that the low s bits of block_target(b) are XORed onto the target's column. That is Piece::target_shift:
//
//     piece out[pi(x) ^ target_shift] = piece in[x]          pi: the problem of the piece's kind
//
// A plan that moves whole runs of elements cannot shift inside a run. So pi's complement is the OR of all
// shifts, and target_shift the difference to the piece's own: every target_shift of a kind has its bits
// within the complement that the plan was made for. A run that such a plan leaves whole has no such bit, and
// a plan without any is a copy only if no piece is shifted.
//
// Example: reversing 4 bits in pieces of 4 elements. s = 1 and r = 1, so the four pieces are {0 1 8 9},
// {2 3 10 11}, … each of two segments of two elements, and each goes to two segments of the output.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/layout/tile.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cuda {

/// Host segments shorter than this are refused: gathering them costs more than it moves.
inline constexpr std::uint64_t kLeastSegmentBytes = 512;

/// From here on the length of a host segment hardly matters.
inline constexpr std::uint64_t kGoodSegmentBytes = 4096;

struct PieceLimits {
  std::uint64_t piece_bytes = 0;                     // at most
  std::uint64_t segment_bytes = kLeastSegmentBytes;  // at least, where an array is cut
};

/// Bytes of the smallest piece whose host segments have `segment_bytes`, or that holds a whole array.
std::uint64_t least_piece_bytes(const Problem& problem, std::uint64_t segment_bytes);

/// One piece. It has `rows` host segments on each side, of segment_bytes each.
struct Piece {
  std::size_t kind = 0;    // index to Pieces::kinds()
  std::uint64_t rows = 1;  // 2^r
  std::uint64_t segment_bytes = 0;
  std::uint64_t array_bytes = 0;   // before the piece's first array, in both host arrays
  std::uint64_t source_bytes = 0;  // of block_source, within that array
  std::uint64_t target_bytes = 0;  // of block_target without its low s bits
  f2::Word target_shift = 0;       // in elements

  std::uint64_t bytes() const { return rows * segment_bytes; }
};

class Pieces {
 public:
  /// Errors: ErrorCode::unsupported where the map's segments are too short for pieces of that size, naming
  /// the size that they need; ErrorCode::value as faro::plan.
  Pieces(const Problem& problem, const PieceLimits& limits);

  std::uint64_t count() const { return count_; }

  /// The problems that pieces are: the first is all pieces', or all but the last's, which then has the second
  /// (what is left of a batch). Empty for a batch of 0.
  const std::vector<Problem>& kinds() const { return kinds_; }

  /// Bytes of the largest piece.
  std::uint64_t piece_bytes() const { return piece_bytes_; }

  /// Contiguous bytes of the host arrays.
  std::uint64_t segment_bytes() const;

  /// Requires: index < count() (checked).
  Piece operator[](std::uint64_t index) const;

  /// Where row `row` of the piece begins in the host input, in bytes; in the piece it begins at
  /// row * segment_bytes. Requires: row < piece.rows (unchecked).
  std::uint64_t source_of_row(const Piece& piece, std::uint64_t row) const {
    return piece.array_bytes + (piece.source_bytes ^ tile_.source_row(row) << width_bits_);
  }
  /// The same in the host output.
  std::uint64_t target_of_row(const Piece& piece, std::uint64_t row) const {
    return piece.array_bytes + (piece.target_bytes ^ tile_.target_row(row) << width_bits_);
  }

 private:
  void take_whole_arrays(const Problem& problem, std::uint64_t piece_bytes);
  void cut_arrays(const Problem& problem, int segment_bits);

  int width_bits_ = 0;
  std::uint64_t array_bytes_ = 0;
  std::uint64_t arrays_per_piece_ = 0;  // 0: arrays are cut
  std::uint64_t count_ = 0;
  std::uint64_t piece_bytes_ = 0;
  layout::Tile tile_;    // of a cut array; without rows where arrays are whole
  f2::Word shifts_ = 0;  // the OR of all shifts
  std::vector<Problem> kinds_;
};

/// How much of a problem is on the device at a time.
struct StagingSizes {
  std::uint64_t piece_bytes = 0;  // at most
  int in_flight = 1;              // pieces; each has an array for its input and one for its output

  std::uint64_t device_bytes() const { return 2 * piece_bytes * static_cast<std::uint64_t>(in_flight); }
};

/// Chooses for `device_bytes` of device memory. `piece_bytes` 0: enough pieces that they overlap, with long
/// host segments; else at most so many.
/// Errors: ErrorCode::unsupported where even one piece with the shortest segments does not fit, naming what
/// it needs.
StagingSizes choose_sizes(const Problem& problem, std::uint64_t device_bytes, std::uint64_t piece_bytes = 0);

}  // namespace faro::cuda
