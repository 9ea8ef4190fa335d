// Chunks whose shared memory is laid out by random rotations: the rival of places without bank conflicts.
#pragma once

#include <cstdint>

#include "faro/layout/shared.hpp"
#include "faro/stream.hpp"
#include "kernels/partition_params.hpp"

namespace faro::bench::gpu {

/// The tables of one level, in device memory.
struct LevelTables {
  const void* places = nullptr;
  const void* starts = nullptr;
  const void* offsets = nullptr;
};

/// The shift of each of 32 rows of banks, a permutation of 0..31, as layout::Rap has them.
using RowShifts = layout::Shifts<32>;

/// Queues one level forwards, elements of 4 bytes, as the engine's own kernel but for the layout: the word at
/// place 32 i + j of a chunk lies in bank (j + shift[i mod 32]) mod 32. Requires: `params` as for the
/// engine's kernel of 512 threads and 32 lanes a run, arrays aligned to 128 bytes. Errors: ErrorCode::device.
void queue_rotated_level(const kernels::PartitionParams& params, const LevelTables& tables,
                         const RowShifts& shifts, const void* in, void* out, Stream stream);

}  // namespace faro::bench::gpu
