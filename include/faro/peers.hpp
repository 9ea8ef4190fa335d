// Several GPUs of one process as ranks of a permutation of shards.
//
//     faro::PeerShards peers({.permutation = faro::maps::transpose(32768, 32768), .element_bytes = 4}, {0,
//     1}); peers.run(ins, outs, streams);          // an input, an output and a stream for each GPU
//
// One thread a GPU queues what it does; streams wait for each other's events, and the host for nothing. Where
// the GPUs reach each other's memory kernels write straight into it, over the links between them: arrays have
// to be memory of cudaMalloc then. Else packed messages are copied. The same device may be given several
// times.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "faro/communicator.hpp"
#include "faro/shards.hpp"
#include "faro/stream.hpp"

namespace faro {

/// A communicator for each of these devices, by ordinal, each for a thread of its own. Messages are copied
/// between the devices' memories, over the links between them where they can reach each other, else through
/// the host. Errors: ErrorCode::device without CUDA or for a device that is not there; ErrorCode::value for
/// no devices.
std::vector<std::shared_ptr<Communicator>> peer_communicators(
    const std::vector<int>& devices, std::chrono::milliseconds time_limit = kShardTimeLimit);

/// The plans of all ranks, one on each device, and the threads that queue them.
class PeerShards {
 public:
  /// problem.shards.ranks and .rank are not looked at: there are as many as devices. Errors: those of
  /// ShardedPlan and of peer_communicators().
  PeerShards(const ShardProblem& problem, const std::vector<int>& devices, const PlanOptions& options = {},
             const ShardWays& ways = {});
  PeerShards(PeerShards&&) noexcept;
  PeerShards& operator=(PeerShards&&) noexcept;
  ~PeerShards();

  /// out[pi(x)] = in[x]: an input, an output and a stream for each device, of plan(rank).in_bytes() and
  /// plan(rank).out_bytes(). Queues everything and returns; later work on each stream comes behind it.
  /// Requires: arrays of the rank's device (checked by the local passes), which do not overlap. Errors:
  /// ErrorCode::value for other than one of each for each device, and for null pointers, before anything is
  /// queued; ErrorCode::device for a failed call.
  void run(std::span<const void* const> ins, std::span<void* const> outs, std::span<const Stream> streams);

  int ranks() const;
  const ShardPlan& plan(int rank) const;
  /// The rank's plan with its engine. Errors: ErrorCode::value for a rank that is not there.
  const ShardedPlan& sharded(int rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro
