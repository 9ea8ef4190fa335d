// Parameters of the kernels that permute axes, made on the host.
#pragma once

#include <cstdint>

#include "kernels/axes_rows.hpp"
#include "kernels/axes_tile.hpp"
#include "layout/axes_tile.hpp"

namespace faro::kernels {

/// Requires: a tile of choose_axes_tile() for kAxesTileThreads, whose shared_bytes() are then at most
/// kAxesTileSharedBytes (checked). Errors: ErrorCode::unsupported past 2^62 units.
AxesTileParams make_axes_tile_params(const layout::AxesTile& tile);

/// What a block has without asking for more.
inline constexpr std::uint32_t kAxesTileSharedBytes = 48 << 10;

/// Whether rows that stay whole are long enough to be moved as they are, both sides by the sector.
bool axes_rows_suit(const layout::UnitAxes& axes, int unit_bytes);

/// Requires: axes of which the fastest stays, or none at all (checked). `in_skew`, `out_skew`: how far the
/// arrays begin past an address that is aligned to 16. Errors: as make_axes_tile_params.
AxesRowsParams make_axes_rows_params(const layout::UnitAxes& axes, int unit_bytes, std::uint32_t in_skew,
                                     std::uint32_t out_skew);

}  // namespace faro::kernels
