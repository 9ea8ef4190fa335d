// The command as one of several processes: `mpirun -n 4 faro … --shards`. Without mpirun it is the only rank.
//
// An error is the same on all ranks; rank 0 tells it, the others end with its status and say nothing.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/permute_options.hpp"
#include "cli/report.hpp"
#include "faro/shards.hpp"

namespace faro::cli {

/// Ends the command without a word: rank 0 has said what there is to say.
struct Told {
  int exit_status = 1;
};

/// Starts MPI where a launcher started this process, and calls `work` with its communicator. `verb` is for
/// messages; of launched ranks rank 0 tells an error itself, `as_json` as report_error() has it, and all
/// throw Told. Errors: ErrorCode::unsupported for a launched process of a build without MPI.
using RankWork = std::function<void(const std::shared_ptr<Communicator>& communicator)>;
void with_ranks(const std::string& verb, bool as_json, const RankWork& work);

/// For --devices, whose devices are all one process's. Errors: ErrorCode::unsupported where a launcher of MPI
/// started several, as with_ranks() tells it.
void require_one_process(const std::string& verb, bool as_json);

/// Tells of an error that came before with_ranks(), as an option's: by MPI where a launcher started this
/// process with --shards, so that of what all ranks refuse alike rank 0 tells once, and those that do not
/// refuse it hear of it. Returns the exit status.
int report_before_ranks(const Error& error, std::span<const std::string> arguments, bool as_json);

/// The problem of rank 0, cut as the options say; without, by blocks where the map is affine and both are
/// powers of two, else by axis 0. Batches are the slowest axis, or the top bits. Errors:
/// ErrorCode::unsupported for other batches.
struct AskedShards {
  faro::detail::NotedPermutation read;  // the axes that cuts count
  Problem problem;
  int ranks = 1;
};
ShardProblem shard_problem(const AskedShards& asked, const CutOptions& cuts);

/// `faro permute SPEC IN.npy OUT.npy --shards`: each rank reads its part of the file, and writes its own.
void permute_shards(const PermuteOptions& options);

/// The same of files that are stores of any chunks, or one for each rank: names with {rank} in them.
void permute_shard_stores(const PermuteOptions& options);

/// `faro shuffle IN.npy OUT.npy --seed SEED --shards`: no rank has an index array of all records.
void shuffle_shards(const PermuteOptions& options, std::uint64_t seed);

/// `faro permute SPEC IN.npy OUT.npy --engine cuda --devices 0,1`: the array spread over several GPUs of this
/// machine.
void permute_devices(const PermuteOptions& options);

/// `faro bench SPEC --shards`.
struct BenchedShards {
  std::string spec;
  faro::detail::NotedPermutation read;
  Problem problem;
  CutOptions cuts;
  DeviceOptions devices;
  int threads = 0;
  bool json = false;
};
void bench_shards(const BenchedShards& asked);

/// What is told of a run of `permute` by several ranks.
struct RanksTold {
  std::string elements;   // "2^20 elements of 4 bytes"
  std::string ranks;      // "4 ranks", "2 GPUs"
  std::string by;         // "by MPI"; empty without
  const ShardPlan& plan;  // of one rank
  std::uint64_t bytes = 0;
  double milliseconds = 0;
  double total_ms = 0;  // with reading and writing
};
/// JSON, behind what `facts` gives; or one line, of at most 80 columns as long as the name of its method
/// leaves room.
void tell_ranks(const PermuteOptions& options, const RanksTold& told, const std::function<Json()>& facts);

/// What the JSON of such a run begins with.
struct PermutedArray {
  const std::string& spec;  // canonical
  const std::vector<std::uint64_t>& shape;
  std::uint64_t elements = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;
};
Json ranks_json(const PermuteOptions& options, const PermutedArray& array, const Communicator& communicator,
                const ShardedPlan* sharded = nullptr);

/// Errors: ErrorCode::usage and value for options that do not name one .npy file and another.
void require_two_files(const PermuteOptions& options);

/// A run by which every rank takes its part of a file to its part of another: what one cannot do, none does.
class RankedRun {
 public:
  RankedRun(const RankedRun&) = delete;
  RankedRun& operator=(const RankedRun&) = delete;

 protected:
  using Moment = std::chrono::steady_clock::time_point;

  RankedRun(const PermuteOptions& options, std::shared_ptr<Communicator> communicator, std::string operation)
      : options_(options), communicator_(std::move(communicator)), operation_(std::move(operation)) {}
  virtual ~RankedRun() = default;

  /// Takes away what was made of the output.
  virtual void discard() = 0;

  /// Collective. Errors: those of `work` on any rank, alike on all.
  void together(const std::function<void()>& work) const;
  /// The same on the output, which is of no use where that fails on any rank.
  void finishing(const std::function<void()>& work);
  /// The most milliseconds that a rank took. Collective.
  double slowest(double milliseconds) const;

  int rank() const { return communicator_->rank(); }
  int ranks() const { return communicator_->ranks(); }
  void tell(const std::string& elements, const ShardPlan& plan, std::uint64_t bytes, double milliseconds,
            Moment start, const std::function<Json()>& facts) const;

  const PermuteOptions& options_;
  std::shared_ptr<Communicator> communicator_;
  std::string operation_;
};

}  // namespace faro::cli
