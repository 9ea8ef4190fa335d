// What a pass on a CPU moves between memory and the caches, in lines of 64 bytes. A loop reads and writes
// runs, bytes that lie together and are moved one after another: rows of a box, segments of a tile, pieces of
// a strip. What a loop holds in the caches (a box, a tile, a chunk, a row) it reads and writes once, so
//
//     lines = sum over the runs of the lines that a run touches          arrays aligned to 64 bytes
//
//     run     bytes 48 .. 143      . . . x | x x x x | x x . .           3 lines, where 96 bytes need 2
//
// All runs are counted where they are few, and else one of each of 2^16 parts, for all of it, by a fixed
// seed. Elements that are moved by an index array are counted by its entries, where it is at hand; else the
// count is a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/plan/plan.hpp"

namespace faro::detail {

struct SideLines {
  std::uint64_t runs = 0;
  std::uint64_t lines = 0;
};

struct LineCounts {
  SideLines read;
  SideLines written;
  std::uint64_t tables = 0;  // lines of the tables, which are read in order
  std::string counted = {};  // "all runs", "65536 runs of each side, one of each of as many parts"
  bool bounded = false;      // at most so many: what the index array says is not at hand
};

/// Counts a pass that a CPU runs; nothing for others. `array`: the plan's index array, null where there is
/// none. Cost: up to some milliseconds.
std::optional<LineCounts> count_lines(const Pass& pass, const Indexed* array);

/// Counts a pass of a plan.
std::optional<LineCounts> count_lines(const Plan& plan, std::size_t pass);

/// "reads 40287 of 64 bytes in 23 runs, 1.05 times the least; writes 40300 in 161 runs, …", for a reader.
std::string lines_text(const LineCounts& counts, std::uint64_t bytes_read, std::uint64_t bytes_written);
/// Lines of a side, in times the least that `bytes` need.
double lines_over_least(const SideLines& side, std::uint64_t bytes);

}  // namespace faro::detail
