// Shards within shards, written: what a file's shard holds is coded here, level by level.
//
//     file    | shard within            | shard within            | … | index |
//             | chunk | chunk | … index |
//     offsets of an index count from the begin of its own shard
//
// A sink stores the elements of a shard within at once; which of its chunks are there, and where, is known
// when they are coded, so that none of it waits in memory.
#pragma once

#include <memory>

#include "store/zarr_chunks.hpp"

namespace faro::store {

/// What is written to it is the elements of a chunk of the outermost level, in C order and the array's byte
/// order, and goes to `files`, a shard_files() of the same form, coded as `chunks` says. Read back likewise.
/// Requires: two levels at least.
std::shared_ptr<ChunkStore> shards_within(ShardForm form, ChunkForm chunks,
                                          std::shared_ptr<ChunkStore> files);

}  // namespace faro::store
