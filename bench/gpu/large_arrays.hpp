// Arrays beyond every cache: what share of cudaMemcpy's speed faro reaches.
#pragma once

#include "bench/gpu/arena.hpp"
#include "bench/gpu/options.hpp"
#include "bench/gpu/rows.hpp"

namespace faro::bench::gpu {

/// For each width all maps of `options`, then some that need no tile, on arrays of `bytes`: verified element
/// by element, then timed in turns. A sample of arrays below 1 GiB is up to 16 calls in a row, each on arrays
/// of its own. Errors: ErrorCode::verification where a result is wrong.
Rows measure_large_arrays(const Options& options, std::uint64_t bytes, const Arena& arena);

}  // namespace faro::bench::gpu
