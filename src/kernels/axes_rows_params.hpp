// Parameters of axes_rows.hpp, made on the host.
#pragma once

#include <cstdint>

#include "kernels/axes_rows.hpp"
#include "layout/unit_axes.hpp"

namespace faro::kernels {

/// Whether rows that stay whole are long enough to be moved as they are, both sides by the sector.
bool axes_rows_suit(const layout::UnitAxes& axes, int unit_bytes);

/// Requires: axes of which the fastest stays, or none at all (checked). `in_skew`, `out_skew`: how far the
/// arrays begin past an address that is aligned to 16. Errors: ErrorCode::unsupported past 2^62 bytes.
AxesRowsParams make_axes_rows_params(const layout::UnitAxes& axes, int unit_bytes, std::uint32_t in_skew,
                                     std::uint32_t out_skew);

}  // namespace faro::kernels
