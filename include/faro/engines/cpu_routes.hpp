// Rows sent to buckets and brought back, and segments taken, by a CPU at once: what
// faro/permutation/route.hpp describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "faro/permutation/route.hpp"

namespace faro {

/// Errors: ErrorCode::value naming the first key that is no bucket; also for 0 keys a row, a multiple of 0,
/// keys that are no whole number of rows, more than 2^40 keys, buckets or places, or too little memory.
/// Cost:   two sweeps of the keys.
Route route(const RowNumbers& keys, const RouteOptions& options);

/// out[places[t k + j]] = in[t], k being keys_per_row; items without a place are left out.
/// Errors: ErrorCode::value for a place past `rows` or of two items, sizes that do not fit, or arrays that
///         overlap; nothing is written then.
void dispatch(const Dispatch& of, std::uint64_t row_bytes, std::span<const std::byte> in,
              std::span<std::byte> out, int threads = 0);

/// out[t] = sum over j of weights[t k + j] in[places[t k + j]], items without a place left out. Each product
/// is rounded to the type of the sums, and added in the order of j; the sum is rounded once.
/// Errors: ErrorCode::value for a place past `rows`, numbers or sums of other types, sizes that do not fit,
///         or arrays that overlap; nothing is written then.
void combine(const Combine& of, std::uint64_t row_bytes, std::span<const std::byte> in,
             std::span<std::byte> out, int threads = 0);

/// The offsets of segments from[0], from[1], … one after another. Errors: ErrorCode::value for offsets that
/// go down, and for a segment that there is none of.
std::vector<std::uint64_t> taken_offsets(const Segments& segments, const RowNumbers& from);

/// Writes these segments, each whole: out segment i is in segment from[i]. Errors: also ErrorCode::value for
/// arrays of other sizes (the input holds at least offsets.back() elements), and such that overlap.
void take_segments(const Segments& segments, const RowNumbers& from, std::span<const std::byte> in,
                   std::span<std::byte> out, int threads = 0);

}  // namespace faro
