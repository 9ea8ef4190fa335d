// Affine maps in place: what share of cudaMemcpy's speed they reach, by map and width.
#pragma once

#include <string>

#include "bench/gpu/arena.hpp"
#include "bench/gpu/options.hpp"
#include "bench/gpu/rows.hpp"

namespace faro::bench::gpu {

/// For each width maps that take one pass (bit reversal, the square transpose, swaps, reversal, gates), then
/// the random ones of `options`, on arrays of `bytes`: verified element by element, then timed in turns with
/// a cudaMemcpy of the array. Errors: ErrorCode::verification where a result is wrong.
Rows measure_in_place(const Options& options, std::uint64_t bytes, const Arena& arena);

/// Markdown: a line a map, then the worst and the median of each width and number of passes. A share counts
/// the bytes once read and once written, however many passes there are.
std::string in_place_table(const Rows& rows);

}  // namespace faro::bench::gpu
