#include "faro/kernels/affine_blocked_params.hpp"

#include <algorithm>
#include <vector>

#include "faro/error.hpp"

namespace faro::kernels {
namespace {

using f2::Subspace;
using f2::Word;

// Target places of the vectors that one thread owns: its components, and where the elements of a word are
// bound for.
Subspace owned_by_thread(const layout::Tile& tile, const AffineTileShape& shape) {
  Subspace owned = Subspace::low(tile.tile_bits(), shape.vector_bits);
  for (int q = 0; q < word_element_bits(shape); ++q) owned.insert(tile.local.column(q));
  return owned;
}

// Directions of (iteration, thread) bits in target places: the lowest unit vectors that are not a thread's
// own.
std::vector<Word> thread_directions(const layout::Tile& tile, const AffineTileShape& shape) {
  const Subspace rest = f2::complement(owned_by_thread(tile, shape));
  return {rest.basis().begin(), rest.basis().end()};
}

// Where a target place whose block is at zero lies in the output, in elements.
std::uint64_t target_of_place(const layout::Tile& tile, Word place) {
  return tile.target_row(place >> tile.segment_bits) | (place & f2::low_mask(tile.segment_bits));
}

}  // namespace

bool fits_blocked(const layout::Tile& tile, const AffineTileShape& shape,
                  const machine::MemoryGeometry& geometry) {
  if (!fits(tile, shape) || !is_valid_blocked(shape)) return false;
  Subspace owned = owned_by_thread(tile, shape);
  if (owned.dimension() < shape.vector_bits + word_element_bits(shape)) return false;
  // Vectors that share a sector must be neighbouring lanes', so that a warp's store covers the sector.
  const int sector_bits = machine::log2_exact(geometry.sector_bytes) - shape.width_bits;
  for (int i = shape.vector_bits; i < std::min(sector_bits, shape.segment_bits); ++i) {
    if (!owned.insert(f2::unit(i))) return false;
  }
  return true;
}

SharedPhases blocked_phases(const layout::Tile& tile, const AffineTileShape& shape,
                            const machine::MemoryGeometry& geometry) {
  SharedPhases phases = shared_phases(tile, shape, geometry);
  const int lane_bits = machine::log2_exact(geometry.lanes_per_phase(geometry.bank_bytes));
  const auto inverse = tile.local.inverse();
  FARO_CHECK(inverse.has_value());
  phases.read = Subspace(tile.tile_bits());
  const std::vector<Word> directions = thread_directions(tile, shape);
  const auto lanes = std::min(
      {static_cast<std::size_t>(lane_bits), static_cast<std::size_t>(shape.thread_bits), directions.size()});
  for (std::size_t j = 0; j < lanes; ++j) phases.read.insert(*inverse * directions[j]);
  for (int q = 0; q < word_element_bits(shape); ++q)
    phases.read.insert(f2::unit(q));  // a lane reads whole words
  return phases;
}

AffineBlockedParams make_affine_blocked_params(const layout::Tile& tile, const AffineTileShape& shape,
                                               std::uint64_t batch, const machine::MemoryGeometry& geometry) {
  if (!fits_blocked(tile, shape, geometry)) {
    throw Error({ErrorCode::unsupported, "fit the register-blocked tile kernel",
                 "a tile or a map that it cannot block",
                 "1- or 2-byte elements whose words' elements leave their vectors",
                 "use the plain tile kernel"});
  }
  SharedPhases phases = blocked_phases(tile, shape, geometry);
  const layout::Xor layout = layout::make_xor(
      {tile.tile_bits(), shape.width_bits, std::move(phases.write), std::move(phases.read), geometry});

  AffineBlockedParams params{};
  params.tile = make_affine_tile_params(tile, shape, batch, layout);
  const auto read_from = [&](Word place) { return f2::combine(params.tile.read_address, place); };
  const std::vector<Word> directions = thread_directions(tile, shape);
  for (std::size_t j = 0; j < directions.size(); ++j) {
    params.thread_target[j] = target_of_place(tile, directions[j]);
    params.thread_read[j] = read_from(directions[j]);
  }
  for (int q = 0; q < word_element_bits(shape); ++q) {
    const Word bound_for = tile.local.column(q);
    params.group_shift[q] = static_cast<std::uint32_t>(bound_for & f2::low_mask(shape.vector_bits));
    params.group_target[q] = target_of_place(tile, bound_for & ~f2::low_mask(shape.vector_bits));
  }
  return params;
}

}  // namespace faro::kernels
