// Parameters of the kernel for affine maps of packed elements (packed_affine.hpp), made on the host.
#pragma once

#include <cstdint>

#include "faro/layout/tile.hpp"
#include "faro/machine/access_counts.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/packed_affine.hpp"

namespace faro::kernels {

/// Whether arrays of the map are large enough for a tile, and not too large; by squares, moreover, whether
/// words of one sector exchange no bits.
bool fits(const Affine& map, const PackedAffineShape& shape);

/// The tile of elements.
layout::Tile make_packed_tile(const Affine& map, const PackedAffineShape& shape);

/// Errors: ErrorCode::unsupported for a map that does not fit, and as make_affine_tile_params().
/// Cost: O(m^3) word operations, some ten microseconds.
PackedAffineParams make_packed_affine_params(const Affine& map, const PackedAffineShape& shape,
                                             std::uint64_t batch,
                                             const machine::MemoryGeometry& geometry = {});

/// Lanes that wait for one bank while words are read for the exchange, and while they are written back, or
/// written by load_squares: 1, but where no layout that was tried parts all banks. Loads and stores of the
/// tile have 1.
struct ExchangeCongestion {
  int loads = 1;
  int stores = 1;
};
ExchangeCongestion predicted_exchange_congestion(const PackedAffineParams& params,
                                                 const PackedAffineShape& shape,
                                                 const machine::MemoryGeometry& geometry = {});

}  // namespace faro::kernels
