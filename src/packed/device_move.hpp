// A permutation of packed elements as the kernels of a device take it (engines/cuda_packed.hpp).
#pragma once

#include "engines/cuda_packed.hpp"
#include "faro/packed.hpp"

namespace faro::packed {

/// Whether the arrays are dense and have whole bytes of elements, so that an affine map is one of them.
bool is_affine_array(const PackedProblem& problem);

/// What clears the pads that are to be zero, and moves nothing.
cuda::PackedMove pads_of(const PackedProblem& problem);

/// All but the arrays; what is neither axes nor an affine map by an index array, the host's still where the
/// permutation is the host's. Requires: a permutation in normal form.
/// Cost: of a permutation by a formula 12 bytes an element on the host.
cuda::PackedMove device_move(const PackedProblem& problem);

}  // namespace faro::packed
