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

/// Of all boxes of a pass. Lines are of 64 bytes.
struct AxesCounts {
  double lines = 0;       // that would hold what is moved
  double lines_read = 0;  // that runs of the input touch, each time that one does
  double lines_held = 0;  // the same, but no more than there are
  double lines_written = 0;
  double reads = 0;   // runs of the input; those less than a line apart are one
  double writes = 0;  // runs of the output
  double parts = 0;   // lines of the output that are written in parts, at the ends of runs
  double elements = 0;
  double boxes = 0;
  double groups = 0;  // of columns
  // What registers turn, in lines or registers; and elements that are moved one by one.
  double squares = 0;        // of 16 x 16 elements of 4 bytes
  double blocks = 0;         // of registers of several blocks of 16 bytes
  double small_squares = 0;  // registers of 16, 8 or 4 bytes
  double single = 0;         // elements

  // As parts of one:
  double far_rows = 0;              // how far rows are apart in the input, of a page
  double far_columns = 0;           // columns in the output
  double paged_runs = 0;            // runs of the output that begin in a page of their own
  double paged_elements = 0;        // elements of a run in the input, likewise
  double spread_runs = 0;           // runs of the output in a large page of their own
  double sets_of_columns = 0;       // columns of the output that are more than the ways of a first-level set
  double full_sets_of_columns = 0;  // more than twice as many
  double sets_of_box = 0;           // lines of the input's box
  double full_sets_of_box = 0;
  double sets_of_box_l2 = 0;
  double spilled = 0;     // of a box and the next, what the first level does not hold
  double gaps = 0;        // what lies between rows of the input, as a part of them
  double memory_in = 0;   // of both sides' bytes, what no cache holds
  double memory_out = 0;  // of the output's alone
  double cut_far = 0;     // what is fetched twice where runs are cut at lines within elements far apart
};

AxesCounts count_axes(const CpuAxes& axes);

/// By name, for tables.
struct NamedCount {
  std::string_view name;
  double AxesCounts::*value;
};
extern const std::array<NamedCount, 29> kAxesCounts;

}  // namespace faro::detail
