// GPUs of several processes, or of one, as ranks of a permutation of shards: by NCCL.
//
//     auto words = faro::mpi_communicator(MPI_COMM_WORLD);              // or threads of one process
//     auto communicator = faro::nccl_communicator(device, words);       // a rank for each process
//     faro::ShardedPlan plan(faro::ShardPlan(problem), communicator);
//     plan.run(device_in, in_bytes, device_out, out_bytes, stream);     // queued
//
// Arrays go by NCCL, in one group of sends and receives on the caller's stream; words, by which ranks agree
// and refuse together, by another communicator, so that no stream is waited for. libnccl is opened when the
// first communicator is made: a program needs neither its headers nor the library to be built.
#pragma once

#include <chrono>
#include <memory>

#include "faro/communicator.hpp"

// NCCL's own name; ncclComm_t points to it.
struct ncclComm;

namespace faro {

/// Over a communicator of NCCL's that the caller made, and keeps as long as this. `words` has the same ranks
/// in the same order (checked). Errors: ErrorCode::device where libnccl cannot be opened, or a call fails,
/// with NCCL's own text; ErrorCode::value for other ranks.
std::shared_ptr<Communicator> nccl_communicator(ncclComm* comm, std::shared_ptr<Communicator> words,
                                                std::chrono::milliseconds time_limit = kShardTimeLimit);

/// Makes one among the ranks of `words`, this rank's on `device`, and destroys it in the end. Collective.
/// Errors, on all ranks alike where `words` is not lost: as above. NCCL wants a device a rank.
///
/// What is queued waits on the device for ranks that do not come; wait() of either ends that after
/// `time_limit`: it then aborts NCCL's communicator, the caller's not, and is an error.
std::shared_ptr<Communicator> nccl_communicator(int device, std::shared_ptr<Communicator> words,
                                                std::chrono::milliseconds time_limit = kShardTimeLimit);

}  // namespace faro
