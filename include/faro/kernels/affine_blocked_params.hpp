// Parameters of the register-blocked kernel (affine_tile_blocked.hpp), made on the host.
#pragma once

#include <cstdint>

#include "faro/kernels/affine_tile_blocked.hpp"
#include "faro/kernels/affine_tile_params.hpp"

namespace faro::kernels {

/// Whether the blocked kernel of `shape` can move `tile`: it fits the tile kernel, its elements are of 1 or 2
/// bytes, the elements of a word are bound for different vectors, and lanes still run along the output's
/// sectors.
bool fits_blocked(const layout::Tile& tile, const AffineTileShape& shape,
                  const machine::MemoryGeometry& geometry = {});

/// Source places that one hardware phase touches: writing input vectors, and reading words.
SharedPhases blocked_phases(const layout::Tile& tile, const AffineTileShape& shape,
                            const machine::MemoryGeometry& geometry = {});

/// Errors: ErrorCode::unsupported where it does not fit, and as make_affine_tile_params.   Cost: a few
/// microseconds.
AffineBlockedParams make_affine_blocked_params(const layout::Tile& tile, const AffineTileShape& shape,
                                               std::uint64_t batch,
                                               const machine::MemoryGeometry& geometry = {});

}  // namespace faro::kernels
