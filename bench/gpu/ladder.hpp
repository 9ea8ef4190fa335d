// The published ladder of kernels, and ours, as `faro emit` writes them: what share of cudaMemcpy's speed
// each rung reaches.
#pragma once

#include "bench/gpu/arena.hpp"
#include "bench/gpu/options.hpp"
#include "bench/gpu/rows.hpp"

namespace faro::bench::gpu {

/// For each width, bit reversal, a transpose and random BP, BPC and BMMC maps on arrays of `bytes`: every
/// rung that can do the map is compiled by NVRTC, verified element by element and timed in turns with faro's
/// own plan and cudaMemcpy. A random BMMC is no tiled map: "tile x 2" and "banks x 2" run the paper's two
/// factors one after the other. Errors: ErrorCode::verification where a result is wrong; ErrorCode::device
/// without NVRTC.
Rows measure_ladder(const Options& options, std::uint64_t bytes, const Arena& arena);

/// Markdown: a line for each width, family and rung.
std::string ladder_table(const Rows& rows);

}  // namespace faro::bench::gpu
