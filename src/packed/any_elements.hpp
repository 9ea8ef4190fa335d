// Any permutation of elements of any number of bits, one by one: where each element of the output comes from
// is worked out or looked up, some thousands at a time, so that they are gathered into a run that is stored
// as such.
#pragma once

#include <cstddef>

#include "faro/packed.hpp"

namespace faro::packed {

/// The permutation from the output back to the input, in a form that moves can be read off in order.
/// Errors: ErrorCode::value for an index array on a device.
Permutation sources(const Permutation& permutation);

/// `back`: sources(problem.permutation).
void move_any(const PackedProblem& problem, const Permutation& back, const std::byte* in, std::byte* out,
              int threads);

}  // namespace faro::packed
