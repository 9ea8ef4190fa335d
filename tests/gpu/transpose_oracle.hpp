// The oracle of transpositions in place on a GPU: an array is drawn by a formula of the place, transposed,
// and held to the formula of the place where each element was. Host-only C++: the kernels are in
// transpose_oracle.cu.
#pragma once

#include <cstdint>

#include "faro/plan/plan.hpp"
#include "faro/stream.hpp"

namespace faro::testing {

/// Queues: byte k of element x of all arrays becomes byte k of a hash of x and the seed.
void draw(void* array, const Rectangle& rectangle, std::uint64_t seed, Stream stream);

/// Elements that are not where the transposition puts them. Waits for the stream.
std::uint64_t misplaced_elements(const void* array, const Rectangle& rectangle, std::uint64_t seed,
                                 Stream stream);

}  // namespace faro::testing
