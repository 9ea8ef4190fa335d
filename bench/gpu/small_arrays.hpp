// Arrays of 4 KiB to 1 MiB, where a launch is most of what a call costs: microseconds beside a copy of the
// same size.
#pragma once

#include "bench/gpu/arena.hpp"
#include "bench/gpu/options.hpp"
#include "bench/gpu/rows.hpp"

namespace faro::bench::gpu {

/// Calls in a row, in one graph, so that the gaps between launches are the same for all.
inline constexpr int kGraphCalls = 64;

/// Rows "faro", "cudaMemcpy" and "vector copy", each a graph of kGraphCalls calls that go round as many
/// arrays. Errors: ErrorCode::verification where a result is wrong.
Rows measure_small_arrays(const Options& options, std::uint64_t bytes, const Arena& arena);

}  // namespace faro::bench::gpu
