// What ranks say to each other: one interface over the engines that carry it.
//
//     std::vector<std::shared_ptr<Communicator>> ranks = in_memory_communicators(4);   // threads as ranks
//     std::shared_ptr<Communicator> rank = mpi_communicator(MPI_COMM_WORLD);           // faro/mpi.hpp
//
// A rank is a thread, a process or a GPU that has a part of an array. All that a permutation of shards
// needs of them is an exchange of messages whose sizes both sides know, and a word from everybody to
// everybody, by which an error on one rank becomes an error on all instead of a wait without end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faro/problem/target.hpp"
#include "faro/stream.hpp"

namespace faro {

/// Bytes that go to a rank, or come from one: `offset_bytes` into the array that is sent, or received into.
struct ShardMessage {
  int peer = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const ShardMessage&, const ShardMessage&) = default;
};

/// Memory of a device that messages leave from, and memory that they arrive in, without a copy between.
struct MessageArrays {
  std::shared_ptr<std::byte> to_send;
  std::shared_ptr<std::byte> received;
};

/// Ranks on devices whose kernels can write into each other's memory. Calls are collective, as the
/// communicator's. Arrays have to be memory of cudaMalloc.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;

  /// Where the arrays of all ranks begin: for each of `mine`, of which there are as many on all ranks, by
  /// rank. What is queued on `stream` from now on may write to them. Errors: as Communicator::exchange().
  virtual std::vector<std::vector<std::byte*>> open_all(std::span<void* const> mine, Stream stream) = 0;
  std::vector<std::byte*> open(void* mine, Stream stream) { return open_all({&mine, 1}, stream).front(); }
  /// What open_all() would ask the others, for whoever tells them something anyway: after told(), with what
  /// all said, by rank, the next open_all(), of the same arrays, asks nobody.
  virtual std::string told_of(std::span<void* const> /*mine*/) { return {}; }
  virtual void told(const std::vector<std::string>& /*all*/) {}
  /// What is queued on `stream` from now on finds all in `mine` that others wrote.
  virtual void close(Stream stream) = 0;
};

/// One rank's end of the connections among all. Calls are collective: every rank makes the same ones in the
/// same order, from one thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int ranks() const = 0;
  virtual int rank() const = 0;
  /// "threads", "MPI", "NCCL".
  virtual std::string name() const = 0;
  /// Whose memory it sends from and receives into: cpu, of the host; cuda, of a device.
  virtual Engine memory() const = 0;
  /// With memory() cuda: the device's ordinal.
  virtual int device() const { return 0; }

  /// Sends and receives. Law: the k-th message to rank d in rank s's `sends` arrives as the k-th from s in
  /// d's `receives`. Requires: the two have equal sizes (checked where the engine tells); `sends` lie within
  /// the array at `from`, `receives` within that at `to` without overlap (unchecked); the two arrays do not
  /// overlap (unchecked). Messages to oneself are copied. Returns when `to` is complete and `from` may be
  /// written again, or with memory() cuda when that is queued on `stream`. Errors: ErrorCode::device where a
  /// rank gave up or did not come in time.   Cost: of links, each byte once.
  virtual void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                        std::span<const ShardMessage> receives, Stream stream) = 0;

  /// Exchanges between the two may go together, those of an earlier one not before those of a later one. What
  /// they receive is there behind end_group(), on the streams that they were given.
  virtual void begin_group() {}
  virtual void end_group() {}

  /// The same ranks for arrays of the host: this one, where they are; null where there is none. What is
  /// planned together, as an index array in parts, goes by it.
  virtual Communicator* host() { return memory() == Engine::cpu ? this : nullptr; }

  /// Where kernels can write into the memory of all other ranks; null: they cannot. The same for all ranks.
  virtual PeerMemory* peer_memory() { return nullptr; }

  /// Arrays of so many bytes that exchange() moves messages between faster than between others, where all
  /// ranks get both; otherwise two nulls. exchange() wants both, or neither. Collective.
  virtual MessageArrays message_arrays(std::uint64_t /*send_bytes*/, std::uint64_t /*receive_bytes*/) {
    return {};
  }

  /// Waits until what was queued on `stream` is done. Errors: ErrorCode::device where a rank was lost
  /// meanwhile, or nothing happened within the time limit: then what is queued is given up, on this rank. The
  /// base waits for nothing: exchange() of host arrays has waited.
  virtual void wait(Stream /*stream*/) {}

  /// What every rank said, by rank. Errors: as exchange(). Cost: the links' latency; for words, not arrays.
  virtual std::vector<std::string> all_gather(const std::string& mine) = 0;

  /// Tells the other ranks not to wait for this one any more: their next or present call is an error with
  /// this text. For failures after which a rank makes no more calls.
  virtual void abort(const std::string& why) noexcept = 0;
};

/// How long a rank waits for another one, of the same process or machine, before it gives up.
inline constexpr std::chrono::milliseconds kShardTimeLimit = std::chrono::minutes(5);

/// Threads as ranks: the communicators of ranks 0 .. ranks - 1, each for a thread of its own. Messages are
/// copied from where they are to where they go. Errors: ErrorCode::value for less than one rank.
std::vector<std::shared_ptr<Communicator>> in_memory_communicators(
    int ranks, std::chrono::milliseconds time_limit = kShardTimeLimit);

/// Arrays of device `device` by a communicator of the host's arrays, as MPI's: messages go through pinned
/// memory of the host, and exchange() returns when they have arrived. Errors: ErrorCode::value for no
/// communicator, or one that is of devices already; ErrorCode::device without that device.
std::shared_ptr<Communicator> staged_communicator(std::shared_ptr<Communicator> host, int device);

namespace detail {

/// Runs `work`, which may throw, on every rank; where it does on any, all throw what the first of them did,
/// with its number; and where the texts that it returns differ. Collective.
void agree(Communicator& communicator, const std::string& operation,
           const std::function<std::string()>& work);

/// The same, with a text of each rank's own: those of all, by rank.
struct Said {
  std::string alike;
  std::string own;
};
std::vector<std::string> agree_and_tell(Communicator& communicator, const std::string& operation,
                                        const std::function<Said()>& work);

}  // namespace detail
}  // namespace faro

// NCCL's own name; ncclComm_t points to it.
struct ncclComm;

namespace faro {

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
