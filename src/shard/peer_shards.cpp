// Several GPUs in one process: a thread for each rank, for as long as a call takes.
#include <fmt/format.h>

#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "disjoint.hpp"
#include "faro/error.hpp"
#include "faro/shards.hpp"

namespace faro {
namespace {

// What a rank's thread threw first, in the order of ranks, is thrown here.
void on_peers(std::size_t ranks, const std::function<void(std::size_t rank)>& work) {
  std::vector<std::exception_ptr> thrown(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (...) {
        thrown[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace

std::vector<std::shared_ptr<Communicator>> nccl_communicators(const std::vector<int>& devices,
                                                              std::chrono::milliseconds time_limit) {
  constexpr const char* operation = "make communicators of NCCL";
  if (devices.empty()) fail(ErrorCode::value, operation, "no devices", "1 or more");
  std::set<int> seen;
  for (const int device : devices) {
    if (!seen.insert(device).second)
      fail(ErrorCode::value, operation, fmt::format("device {} twice", device), "a device for each rank",
           "peer_communicators() takes one several times");
  }
  const auto words = in_memory_communicators(static_cast<int>(devices.size()), time_limit);
  std::vector<std::shared_ptr<Communicator>> made(devices.size());
  on_peers(devices.size(), [&](std::size_t rank) {
    try {
      made[rank] = nccl_communicator(devices[rank], words[rank], time_limit);
    } catch (const std::exception& error) {
      words[rank]->abort(error.what());
      throw;
    }
  });
  return made;
}

struct PeerShards::State {
  std::vector<std::shared_ptr<Communicator>> communicators;
  std::vector<std::optional<ShardedPlan>> plans;
};

PeerShards::PeerShards(const ShardProblem& problem, const std::vector<int>& devices,
                       const PlanOptions& options, const ShardWays& ways)
    : PeerShards(over(peer_communicators(devices), problem, options, ways)) {}

PeerShards::PeerShards(std::unique_ptr<State> state) : state_(std::move(state)) {}

PeerShards PeerShards::over(std::vector<std::shared_ptr<Communicator>> communicators,
                            const ShardProblem& problem, const PlanOptions& options, const ShardWays& ways) {
  const std::size_t ranks = communicators.size();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Communicator* const each = communicators[rank].get();
    if (each != nullptr && each->rank() == static_cast<int>(rank) && each->ranks() == static_cast<int>(ranks))
      continue;
    fail(ErrorCode::value, "plan shards of peers",
         each == nullptr ? "no communicator" : fmt::format("rank {} of {}", each->rank(), each->ranks()),
         fmt::format("rank {} of {}", rank, ranks), "give the communicators of all ranks in their order");
  }
  if (ranks == 0) fail(ErrorCode::value, "plan shards of peers", "no communicators", "one for each rank");
  auto state = std::make_unique<State>();
  state->communicators = std::move(communicators);
  state->plans.resize(ranks);
  on_peers(ranks, [&](std::size_t rank) {
    ShardProblem mine = problem;
    mine.shards.ranks = static_cast<int>(ranks);
    mine.shards.rank = static_cast<int>(rank);
    try {
      state->plans[rank].emplace(ShardPlan(mine), state->communicators[rank], options, ways);
    } catch (const std::exception& error) {
      state->communicators[rank]->abort(error.what());  // where it is the only one
      throw;
    }
  });
  return PeerShards(std::move(state));
}

PeerShards::PeerShards(PeerShards&&) noexcept = default;
PeerShards& PeerShards::operator=(PeerShards&&) noexcept = default;
PeerShards::~PeerShards() = default;

int PeerShards::ranks() const { return static_cast<int>(state_->plans.size()); }

const ShardPlan& PeerShards::plan(int rank) const { return sharded(rank).plan(); }

const ShardedPlan& PeerShards::sharded(int rank) const {
  if (rank < 0 || rank >= ranks())
    fail(ErrorCode::value, "plan of a peer", fmt::format("rank {}", rank),
         fmt::format("0 to {}", ranks() - 1));
  return *state_->plans[static_cast<std::size_t>(rank)];
}

void PeerShards::run(std::span<const void* const> ins, std::span<void* const> outs,
                     std::span<const Stream> streams) {
  const std::size_t ranks = state_->plans.size();
  if (ins.size() != ranks || outs.size() != ranks || streams.size() != ranks) {
    fail(ErrorCode::value, "run shards",
         fmt::format("{} inputs, {} outputs and {} streams", ins.size(), outs.size(), streams.size()),
         fmt::format("{} of each, one for each device", ranks));
  }
  std::vector<detail::RunArray> inputs;
  std::vector<detail::RunArray> outputs;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const ShardPlan& plan = state_->plans[rank]->plan();
    inputs.push_back({"input", {ins[rank], plan.in_bytes()}});
    outputs.push_back({"output", {outs[rank], plan.out_bytes()}});
  }
  detail::check_disjoint("run shards", outputs, inputs);
  on_peers(ranks, [&](std::size_t rank) {
    ShardedPlan& plan = *state_->plans[rank];
    plan.run(ins[rank], plan.plan().in_bytes(), outs[rank], plan.plan().out_bytes(), streams[rank]);
  });
}

}  // namespace faro
