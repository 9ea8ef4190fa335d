// The tile of a permutation of axes: a box of indices that is long in the input and long in the output.
//
//     axes(100 3 50 7; 2 0 3 1)     input      100   3 [ 20 of 50   7 ]      runs of 140 units
//                                   output      50 [ 8 of 100   7   3 ]      runs of 168 units
//
//     tile       here 8 x 3 x 20 x 7: along its fastest axes each side has a stretch of 64 bytes at least,
//                as a rule of 128 and more
//     run        consecutive units, of the input or of the output: what a few lanes move together, 128 bytes
//     rows       all other digits of the tile: where runs begin
//
// A thin array (1000000 x 3) makes no thin tile: an axis that is exhausted hands on to the next slower one,
// so the run of the input is 3 x 42. In shared memory every axis of the tile has a stride of its own, all
// products with one pad or two, and the pads are those of the fewest bank conflicts, found by counting.
//
// A unit is 1 to 16 bytes. An element of several units is one more axis, the fastest, that stays; arrays of a
// batch are another, the slowest. Both engines can use it: the sizes are the machine's.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/permutation/axes.hpp"

namespace faro::layout {

/// An array's axes in units, slowest first, and the output's order of them; no axis of 1, none that stay
/// neighbours.
struct UnitAxes {
  std::vector<std::uint64_t> shape;
  std::vector<int> order;

  std::uint64_t count() const;
  /// Of the input's axes, in the input and in the output.
  std::vector<std::uint64_t> in_strides() const;
  std::vector<std::uint64_t> out_strides() const;
};

/// The axes with `batch` arrays and elements of `element_units`, in normal form.
UnitAxes unit_axes(const Axes& axes, std::uint64_t element_units, std::uint64_t batch);

struct AxesTileLimits {
  std::uint32_t run_bytes = 128;        // of one row of lanes
  std::uint32_t least_bytes = 8 << 10;  // of a tile, where the array has as many
  std::uint32_t most_bytes = 16 << 10;  // unless a row of each side needs more
  std::uint32_t threads = 256;          // of a block
  bool vectors = true;                  // whether accesses may be wider than a unit
};

/// A digit of an index within the tile.
struct TileDigit {
  std::uint32_t extent = 1;
  int axis = 0;
  std::uint32_t step = 1;    // of the axis's coordinate
  std::uint32_t shared = 0;  // stride in shared memory, in units
};

/// One side of a tile: the input's, or the output's.
struct TileSide {
  int vector_units = 1;  // a lane moves 16 bytes, 4 bytes or a unit at once; runs begin and end at multiples
  std::vector<TileDigit> run;   // fastest first: consecutive units
  std::vector<TileDigit> rows;  // in the order in which groups of lanes take them

  std::uint32_t run_units() const;
  std::uint32_t row_count() const;
};

struct AxesTile {
  UnitAxes axes;
  int unit_bytes = 4;
  std::vector<std::uint64_t> extent;  // of the tile, by the input's axes
  TileSide in;
  TileSide out;
  std::uint32_t shared_units = 0;  // with pads

  /// Tiles of the whole array; those at its ends may be short.
  std::uint64_t tiles() const;
};

/// Requires: a permutation that is not the identity, 1, 2, 4, 8 or 16 bytes a unit (checked).
/// Law: every unit is in one tile; in it, in one run of each side.   Cost: some milliseconds,
/// most of it counting bank conflicts; of forty axes tens.
AxesTile choose_axes_tile(const UnitAxes& axes, int unit_bytes, const AxesTileLimits& limits = {});

}  // namespace faro::layout
