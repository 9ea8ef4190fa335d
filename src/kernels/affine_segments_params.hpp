// Parameters of the kernel without a tile (affine_segments.hpp), made on the host.
#pragma once

#include <cstdint>

#include "faro/permutation/affine.hpp"
#include "kernels/affine_segments.hpp"

namespace faro::kernels {

/// Whether the low `bits` bits of every index stay as they are, so that segments of 2^bits elements change
/// places whole. Law: holds for fewer bits, too.
bool keeps_low_bits(const Affine& map, int bits);

/// For vectors of 2^vector_bits elements of `map`.
/// Errors: ErrorCode::unsupported where the map moves elements inside a vector, an array has more than 2^48
/// vectors, or all have more than 2^63 elements; ErrorCode::value for a batch of 0.   Cost: O(n) word
/// operations.
AffineSegmentsParams make_affine_segments_params(const Affine& map, int vector_bits, std::uint64_t batch);

}  // namespace faro::kernels
