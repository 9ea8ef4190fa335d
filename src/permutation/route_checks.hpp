// What may be wrong with a routing or a combination, whichever engine carries it out: everything but the
// entries and the sizes of the arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "disjoint.hpp"
#include "faro/permutation/route.hpp"

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

/// Where numbers lie.
inline LaidArray laid(const RowNumbers& numbers) {
  return {numbers.data, numbers.count * static_cast<std::uint64_t>(numbers.type.bytes)};
}

/// Errors: ErrorCode::value for an output that overlaps what a run reads, or another one of its outputs.
void check_disjoint(const Combine& of, std::span<const std::byte> in, std::span<const std::byte> out);
void check_disjoint(const Dispatch& of, std::span<const std::byte> in, std::span<const std::byte> out);
void check_disjoint(const RowNumbers& keys, const RouteOptions& options, const DeviceRoute& to);

}  // namespace faro::detail
