// MPI's processes as ranks of a permutation of shards. Needs a faro built with FARO_MPI, and its library
// faro::mpi.
//
//     MPI_Init(nullptr, nullptr);
//     auto communicator = faro::mpi_communicator(MPI_COMM_WORLD);
//     faro::ShardedPlan plan(faro::ShardPlan(problem), communicator);
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>

#include "faro/communicator.hpp"

namespace faro {

/// A communicator of host arrays over a copy of `comm` (MPI_Comm_dup), which is freed with it, or left to
/// MPI_Finalize where that came first. Messages are sent and received without blocking, all at once, in
/// pieces of 1 GiB at most. `time_limit` is for a rank that waits and hears nothing; a process that ends
/// ends all, as MPI has it. abort() is MPI_Abort() with status 1, after a line on standard error.
/// Collective. Requires: MPI_Init was called (checked). Errors: ErrorCode::device for a call that failed.
std::shared_ptr<Communicator> mpi_communicator(MPI_Comm comm,
                                               std::chrono::milliseconds time_limit = kShardTimeLimit);

/// The ranks of both groups of an intercommunicator, as a trainer's and an inference engine's: those that say
/// `first` are ranks 0 and following, in their group's order, the others come behind. A distribution over
/// either is a mesh that begins there. Collective over both. Errors: those of mpi_communicator();
/// ErrorCode::value for a communicator of one group.
enum class GroupOrder { first, second };
std::shared_ptr<Communicator> mpi_intercommunicator(MPI_Comm comm, GroupOrder order,
                                                    std::chrono::milliseconds time_limit = kShardTimeLimit);

/// A communicator of arrays of device `device`: handed to MPI as they are where it says that it takes them
/// (MPIX_Query_cuda_support, or `takes_device_arrays` of who knows better), staged through the host else.
/// exchange() waits for the stream, and returns when all has arrived. Errors: also ErrorCode::device without
/// that device.
std::shared_ptr<Communicator> mpi_device_communicator(MPI_Comm comm, int device,
                                                      bool takes_device_arrays = false,
                                                      std::chrono::milliseconds time_limit = kShardTimeLimit);

}  // namespace faro
