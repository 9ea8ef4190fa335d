// What the kernels in place that exchange chunks and tiles take, made on the host.
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/permutation.hpp"
#include "kernels/cyclic_in_place.hpp"
#include "kernels/squares_in_place.hpp"

namespace faro::kernels {

/// Arrays one after another, each of move.count elements of so many bytes.
struct CyclicArrays {
  Cyclic move;
  std::uint64_t arrays = 1;
  std::uint64_t element_bytes = 4;

  std::uint64_t array_bytes() const { return move.count * element_bytes; }
};

/// What becomes of the elements of a move in units of so many bytes.
MovedElements moved_elements(const CyclicArrays& arrays, std::uint64_t unit_bytes);

/// Requires: move.reversed, move.count >= 2 (checked).
ReversalParams make_reversal_params(const CyclicArrays& arrays);
/// Blocks of all arrays; 0 where no element changes its place.
std::uint64_t reversal_blocks(const ReversalParams& params, std::uint64_t arrays);

/// Nothing where an array does not fit `shared_bytes` of a block, or is a flip that is better moved by
/// chunks.
std::optional<CyclicWholeParams> make_cyclic_whole_params(const CyclicArrays& arrays,
                                                          std::uint64_t shared_bytes);
std::uint64_t whole_blocks(const CyclicWholeParams& params);

/// arrays x side x between x side elements: the two sides change places.
struct SquareAxes {
  std::uint64_t side = 0;
  std::uint64_t between = 1;
  std::uint64_t element_bytes = 4;
};

/// `tile`: elements of a tile's side; 0: as is usual. Requires: side >= 2, between >= 1 (checked).
SquaresParams make_squares_params(const SquareAxes& axes, std::uint64_t tile = 0);

}  // namespace faro::kernels
