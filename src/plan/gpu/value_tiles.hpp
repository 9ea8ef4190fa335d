// An affine map with arithmetic as tiles of a GPU (kernels/value_tile.hpp): their shape, and what the numbers
// of the tile are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/arithmetic.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "faro/permutation/affine.hpp"
#include "plan/gpu/value_boxes.hpp"

namespace faro::detail {

/// Whether factors differ along an axis of the output.
bool along_axes(const Arithmetic& of);

/// Numbers of the output from one index along an axis of arithmetic.shape to the next.
std::uint64_t numbers_of_step(const Arithmetic& of, std::size_t axis);

/// An affine map of `arrays` arrays, one after another, which together have the shape of the arithmetic.
struct ValueTilePlan {
  Affine map;
  std::uint64_t arrays = 1;
  Arithmetic arithmetic;

  std::uint64_t count() const { return arrays << map.bits(); }
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;
};

/// Nothing for arrays of which no tile has two segments: those are few.
std::optional<ValueTilePlan> make_value_tile_plan(const Affine& map, std::uint64_t arrays,
                                                  const Arithmetic& arithmetic);

struct ValueTiles {
  kernels::AffineTileShape shape;  // of what the tile holds
  bool rounds_first = false;       // numbers are rounded before they come to shared memory
  kernels::AffineTileParams params;

  std::string explain() const;
};

/// For arrays of some alignment.
ValueTiles make_value_tiles(const ValueTilePlan& plan, const ValueAlignment& alignment = {});

}  // namespace faro::detail
