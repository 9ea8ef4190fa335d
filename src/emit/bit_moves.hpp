// A linear function of an index's bits as few instructions: bits that move equally far move together.
//
//     y = A x, one entry (i, j) of A a bit: y bit i takes x bit j, i - j places up
//
//          j  3 2 1 0
//     i 0   [ . . 1 . ]        entries of one diagonal are one *move*:  (x & mask) << shift
//       1   [ . 1 . . ]            (x & 0x6) >> 1
//       2   [ . . . 1 ]            (x & 0x1) << 2
//       3   [ 1 . . . ]             x & 0x8
//
// A permutation of bits has an entry a column, and as many moves as it has different distances. A dense
// matrix has up to 2 n - 1 diagonals; its heavy columns cost less as *selects*, x & bit ? column : 0, one a
// column. merge() takes the cheapest split of columns into those two.
// Source: Bouverot-Dupuis and Sheeran, appendix A, where neighbouring bits are merged; here all of a
// diagonal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "faro/f2/matrix.hpp"

namespace faro::emit {

struct Move {
  f2::Word mask = 0;  // of the source
  int shift = 0;      // up; down where negative
};

struct Select {
  f2::Word bit = 0;  // of the source
  f2::Word value = 0;
};

struct BitMoves {
  int bits = 0;  // of the source; those above are zero
  std::vector<Move> moves;
  std::vector<Select> selects;

  f2::Word operator()(f2::Word x) const;

  /// Instructions of a GPU, which masks and XORs in one: a shift and that, or a test and an XOR.
  int operations() const;
};

/// Law: the result applied to x is f2::combine(columns, x).
BitMoves merge(std::span<const f2::Word> columns);

/// The same, a move an entry: what merging is measured against.
BitMoves one_by_one(std::span<const f2::Word> columns);

/// The terms of the XOR, such as "(x & 0x6u) >> 1"; `suffix` is "u" or "ull". None: zero.
std::vector<std::string> terms(const BitMoves& moves, const std::string& variable, const std::string& suffix);

/// "0x6u".
std::string hex(f2::Word value, const std::string& suffix);

}  // namespace faro::emit
