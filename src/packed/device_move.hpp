// A permutation of packed elements as the kernels of a device take it (engines/cuda_packed.hpp).
#pragma once

#include "engines/cuda_packed.hpp"
#include "faro/packed.hpp"

namespace faro::packed {

/// Whether the arrays are dense and have whole bytes of elements, so that an affine map is one of them.
bool is_affine_array(const PackedProblem& problem);

/// All but the arrays. Requires: a permutation in normal form.
/// Errors: ErrorCode::unsupported for other elements than of 1, 2 or 4 bits, and for what is neither axes nor
/// an affine map.
cuda::PackedMove device_move(const PackedProblem& problem);

}  // namespace faro::packed
