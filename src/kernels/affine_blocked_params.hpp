// Parameters of the register-blocked kernel (affine_tile_blocked.hpp), made on the host.
#pragma once

#include <cstdint>

#include "kernels/affine_tile_blocked.hpp"
#include "kernels/affine_tile_params.hpp"

namespace faro::kernels {

/// Whether the blocked kernel of `shape` can move `tile`: it fits the tile kernel, its elements are of 1 or 2
/// bytes, and enough of a vector's components leave their sector or stay within their word.
bool fits_blocked(const layout::Tile& tile, const AffineTileShape& shape,
                  const machine::MemoryGeometry& geometry = {});

/// The layout of the tile in shared memory: congestion 1 in both phases, for every map that fits.
layout::Xor make_blocked_layout(const layout::Tile& tile, const AffineTileShape& shape,
                                const machine::MemoryGeometry& geometry = {});

/// Errors: ErrorCode::unsupported where it does not fit, and as make_affine_tile_params.   Cost: a few
/// microseconds.
AffineBlockedParams make_affine_blocked_params(const layout::Tile& tile, const AffineTileShape& shape,
                                               std::uint64_t batch,
                                               const machine::MemoryGeometry& geometry = {});

}  // namespace faro::kernels
