// Several GPUs in one process: a thread for each rank, for as long as a call takes.
#include <fmt/format.h>

#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "faro/error.hpp"
#include "faro/shards.hpp"

namespace faro {
namespace {

// What a rank's thread threw first, in the order of ranks, is thrown here.
void on_peers(const std::vector<std::shared_ptr<Communicator>>& communicators,
              const std::function<void(std::size_t rank)>& work) {
  std::vector<std::exception_ptr> thrown(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
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

struct PeerShards::State {
  std::vector<int> devices;
  std::vector<std::shared_ptr<Communicator>> communicators;
  std::vector<std::optional<ShardedPlan>> plans;
};

PeerShards::PeerShards(const ShardProblem& problem, const std::vector<int>& devices,
                       const PlanOptions& options, const ShardWays& ways)
    : state_(std::make_unique<State>()) {
  state_->devices = devices;
  state_->communicators = peer_communicators(devices);
  state_->plans.resize(devices.size());
  on_peers(state_->communicators, [&](std::size_t rank) {
    ShardProblem mine = problem;
    mine.shards.ranks = static_cast<int>(devices.size());
    mine.shards.rank = static_cast<int>(rank);
    try {
      state_->plans[rank].emplace(ShardPlan(mine), state_->communicators[rank], options, ways);
    } catch (const std::exception& error) {
      state_->communicators[rank]->abort(error.what());  // where it is the only one
      throw;
    }
  });
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
  on_peers(state_->communicators, [&](std::size_t rank) {
    ShardedPlan& plan = *state_->plans[rank];
    plan.run(ins[rank], plan.plan().in_bytes(), outs[rank], plan.plan().out_bytes(), streams[rank]);
  });
}

}  // namespace faro
