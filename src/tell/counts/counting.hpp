// What the passes of a GPU do to its memories, counted: the kernels' own phases run on the counting memory
// (faro/machine/counting_memory.hpp), for arrays that are aligned to 128 bytes.
//
// Blocks of an affine pass are alike, and one stands for all (tell/prediction.hpp). Blocks that permute axes,
// roll, sweep or follow orbits are not: tiles at the ends are short, rows begin anywhere. So all blocks are
// counted where they are few, and else a stratified sample:
//
//     blocks    0 | 1 ........ | ........ | ... | ........ n - 2 | n - 1
//     counted   x |     x      |   x      |     |        x       |   x          one of each part, for all of it
//
// The sample is drawn by a fixed seed, so counts of a plan are always the same. Counts of a sample are scaled
// to the bytes that are written, which are known.
//
// Passes that follow an index array's schedule touch what its tables say (pass_tables.hpp): those of the
// array, where it is at hand, or such that nothing can cost more, and then the counts are a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faro/machine/access_counts.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "tell/counts/block_phases.hpp"

namespace faro::detail {

struct Counted {
  machine::AccessCounts counts;  // of all blocks, as if each part were as its sample
  std::uint64_t blocks = 0;      // that were run
  std::uint64_t of = 0;          // that there are

  bool all() const { return blocks == of; }
};

/// "all 12 blocks", "258 of 5247 blocks: the first, the last and one of each of 256 parts between".
std::string to_text(const Counted& counted);

/// What a pass is to be counted for.
struct CountedArrays {
  std::uint64_t arrays = 1;
  std::uint64_t array_bytes = 0;              // of the longer side
  std::optional<std::uint64_t> written = {};  // bytes, of views: of each array, where it is not all
};

/// Which blocks are run.
enum class CountedBlocks { sampled, all };

/// Counts passes of axes, cyclic, modular, computed, in-place orbits and sweeps; with tables those of index
/// arrays; nothing for other passes. Cost: some milliseconds a block.
std::optional<Counted> count_blocks(const GpuPass& pass, const CountedArrays& arrays,
                                    const machine::MemoryGeometry& geometry, const PassTables& tables = {},
                                    CountedBlocks which = CountedBlocks::sampled);

/// Counts exceptions to a map, every warp of all arrays; nothing for other passes.
std::optional<machine::AccessCounts> count_patch(const Pass& pass, const machine::MemoryGeometry& geometry);

}  // namespace faro::detail
