// What a pass over boxes does, counted: what its predicted time is made of (axes_cost.cpp).
//
//     axes(100 100 100; 2 0 1)      boxes of 64 x 65       lines that runs of both sides touch, and parts of
//                                                          lines; squares that registers turn; rows and
//                                                          columns that share sets of a cache, or pages
//
// Boxes at the ends of axes are shorter, and are counted as they are. What lies where is taken from the first
// box, for arrays that begin at a line.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "plan/cpu/cpu_pass.hpp"

namespace faro::detail {

/// Counts of all boxes of a pass. Lines are of 64 bytes.
struct AxesCounts {
  double lines = 0;           // that would hold what is moved
  double lines_held = 0;      // of the input that runs touch, at most all that there are
  double lines_written = 0;   // of the output that runs touch
  double read_beyond = 0;     // lines of the input that are touched, beyond `lines`
  double written_beyond = 0;  // likewise
  double gap_lines = 0;       // between rows of the input, up to as many as are moved
  double reads = 0;           // runs of the input; those less than a line apart are one
  double far_reads = 0;       // of those, past what the last level holds
  double writes = 0;          // runs of the output
  double paged_writes = 0;    // of those, each in a page of its own
  double parts = 0;           // lines of the output that are written in parts, at the ends of runs
  double far_parts = 0;       // of those, past what the last level holds
  double spread_parts = 0;    // of those, each in a large page of its own
  double groups = 0;          // of columns; planes
  // What registers turn: lines of squares of 16 x 16 elements of 4 bytes; lines of registers of several
  // blocks of 16 bytes, by the width of elements; registers of 16, 8 or 4 bytes. And elements one by one.
  double squares = 0;
  double blocks_1 = 0;
  double blocks_2 = 0;
  double blocks_4 = 0;
  double blocks_8 = 0;
  double blocks_16 = 0;
  double small_squares = 0;
  double single = 0;
  // Elements that are gathered: each from a place of its own, a few steps alike, of widths of no register.
  double placed = 0;
  double stepped = 0;
  double odd_placed = 0;
  double odd_lines = 0;  // of elements that are no whole lines
  // Lines by where they lie: those that are more than the ways of their set in the first level, more than
  // twice as many, in the second level; of boxes that the first level does not hold; past the last level.
  double columns_in_sets = 0;
  double columns_in_full_sets = 0;
  double box_in_sets = 0;
  double box_in_full_sets = 0;
  double box_in_sets_2 = 0;
  double spilled = 0;
  double far_in = 0;
  double far_out = 0;
  double paged_rows = 0;     // by how far rows are apart in the input, up to a page
  double paged_columns = 0;  // columns in the output
  double cut_elements = 0;   // that are read in two turns, since runs are cut within them
};

AxesCounts count_axes(const CpuAxes& axes);

/// Whether elements that are gathered go in vectors of registers.
bool gathers_in_vectors(const CpuAxes& axes);

/// All of them by name.
struct NamedCount {
  std::string_view name;
  double AxesCounts::*value;
  bool misses = false;  // the first level's: what it costs depends on the level that holds the arrays
};
extern const std::array<NamedCount, 37> kAxesCounts;

}  // namespace faro::detail
