// What may be wrong with a routing or a combination, whichever engine carries it out: everything but the
// entries and the arrays.
#pragma once

#include <cstdint>

#include "faro/rows.hpp"

namespace faro::detail {

/// Most keys, buckets and places of a routing.
inline constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 40;

/// Errors: ErrorCode::value, as faro::route says.
void require_route(const RowNumbers& keys, const RouteOptions& options);

/// Places that a routing of so many keys needs at most, whatever the keys. Errors: ErrorCode::value for more
/// than 2^40.
std::uint64_t most_places(std::uint64_t keys, const RouteOptions& options);

/// Errors: ErrorCode::value, as faro::combine says.
void require_combine(const Combine& of, std::uint64_t row_bytes);

/// Errors: ErrorCode::value, as faro::dispatch says.
void require_dispatch(const Dispatch& of, std::uint64_t row_bytes);

}  // namespace faro::detail
