// The tile of a GPU's pass over axes that has no box, as drawings tell of it: what a block reads, how that
// lies in shared memory, and what it writes.
//
//     kernel               a tile                                    in shared memory
//     axes plane           part of some rows, all of 128 bytes on    rows of the input, their vectors
//     exchanged axes turned          the same                                  lines of the output axes lines
//     the same, of wider elements               rows of the input axes skinny, lines   few rows or columns, a
//     stretch of the     the stretch as it is: of the output where rows
//                          others                                    are few, else of the input
//     axes rows            rows that stay whole                      nothing: a vector a thread, in registers
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tell/box_facts.hpp"

namespace faro::detail {

struct TileFacts {
  /// Its axes and the part of each that a tile has; a tile is read and written by runs as a box is.
  BoxFacts box;
  std::uint64_t rows = 1;  // of the input that a tile has a part of; of rows that stay whole: all along the
  std::uint64_t columns = 1;  // output's fastest axis. In units of a row
  bool rows_stay = false;
  /// From row to row and from column to column, in both arrays; nothing where a side of the tile is of
  /// several axes.
  struct Steps {
    std::int64_t in_bytes = 0;
    std::int64_t out_bytes = 0;
  };
  std::optional<Steps> row_step = std::nullopt;
  std::optional<Steps> column_step = std::nullopt;
  bool holds_lines = false;  // shared memory has lines of the output one below another, not rows of the input
  /// The byte of shared memory that holds the unit; nothing where it is not used.
  std::function<std::uint64_t(std::uint64_t row, std::uint64_t column)> address = nullptr;
};

/// Facts of the kernel for aligned arrays; nothing for passes with a box and for all other kernels.
std::optional<TileFacts> tile_facts(const Pass& pass);

}  // namespace faro::detail
