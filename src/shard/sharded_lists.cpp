// Several arrays at once, as the weights of a model: the ranks meet once, stores of all go on at the same
// time, and messages go in groups.
#include <fmt/format.h>

#include <vector>

#include "disjoint.hpp"
#include "faro/error.hpp"
#include "shard/sharded_state.hpp"

namespace faro {

void ShardedPlan::run_all(std::span<const ShardedRun> runs, Stream stream) {
  if (runs.empty()) return;
  if (runs.front().plan == nullptr)
    fail(ErrorCode::value, detail::kRunShards, "a null plan", "one for each run");
  const std::shared_ptr<Communicator> communicator = runs.front().plan->state_->communicator;
  detail::agree(*communicator, detail::kRunShards, [&] {
    std::vector<detail::RunArray> inputs;
    std::vector<detail::RunArray> outputs;
    for (const ShardedRun& each : runs) {
      if (each.plan == nullptr || each.plan->state_->communicator != communicator)
        fail(ErrorCode::value, detail::kRunShards, "plans of several communicators", "those of one");
      if (each.plan->state_->ways.in_place)
        fail(ErrorCode::value, detail::kRunShards, "a plan in place among several", "plans of two arrays");
      detail::check_part({.data = each.in, .bytes = each.in_bytes}, each.plan->plan().in_bytes(), "input");
      detail::check_part({.data = each.out, .bytes = each.out_bytes}, each.plan->plan().out_bytes(),
                         "output");
      inputs.push_back({"input", {each.in, each.in_bytes}});
      outputs.push_back({"output", {each.out, each.out_bytes}});
    }
    detail::check_disjoint(detail::kRunShards, outputs, inputs);
    return fmt::format("{} arrays", runs.size());
  });
  std::vector<ShardedRun> stored;
  std::vector<ShardedRun> sent;
  try {
    for (const ShardedRun& each : runs) {
      const State& state = *each.plan->state_;
      const bool has_slices =
          state.stored_slices || !state.rounds.empty() || (state.slices && state.slices->slices() > 1);
      if (state.stores && !has_slices) {
        stored.push_back(each);
      } else if (state.local.engine == Engine::cuda && !has_slices && !state.plan.passes_on()) {
        sent.push_back(each);
      } else {
        each.plan->run_parts(each.in, each.out, stream);
      }
    }
    store_all(stored, stream);
    send_all(sent, stream);
  } catch (const std::exception& error) {
    communicator->abort(error.what());
    throw;
  }
}

// All are opened together, and no array waits for another's.
void ShardedPlan::store_all(std::span<const ShardedRun> runs, Stream stream) {
  if (runs.empty()) return;
  PeerMemory& memory = *runs.front().plan->state_->communicator->peer_memory();
  std::vector<void*> mine;
  for (const ShardedRun& each : runs) mine.push_back(each.plan->state_->stored_into(each.out));
  const std::vector<std::vector<std::byte*>> arrays = memory.open_all(mine, stream);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].plan->state_->stores->start(runs[i].in, arrays[i], stream);
  for (const ShardedRun& each : runs) each.plan->state_->stores->join(stream);
  memory.close(stream);
  for (const ShardedRun& each : runs) {
    const State& state = *each.plan->state_;
    if (!state.plan.stores().to_output)
      state.unpacking->run(state.received->data(), static_cast<std::byte*>(each.out), stream);
  }
}

// Messages of many arrays in groups: while one crosses the links, the next is packed, what ranks keep is
// moved, and the one before is unpacked, on multiprocessors that are not the links'.
void ShardedPlan::send_all(std::span<const ShardedRun> runs, Stream stream) {
  if (runs.empty()) return;
  constexpr std::uint64_t most_groups = 8;
  State& first = *runs.front().plan->state_;
  if (!first.links) {
    first.links.emplace(first.local.device);
    first.passes = detail::SlicedShards::beside_links(first.local.device, first.ways.link_multiprocessors);
  }
  // The same groups on all ranks: by the whole arrays.
  const auto weight = [](const ShardedRun& each) {
    const ShardProblem& problem = each.plan->plan().problem();
    return element_count(problem.permutation) * problem.element_bytes;
  };
  std::uint64_t total = 0;
  for (const ShardedRun& each : runs) total += weight(each);
  std::vector<std::span<const ShardedRun>> groups;
  std::uint64_t passed = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    passed += weight(runs[i]);
    if (i + 1 < runs.size() && passed < (groups.size() + 1) * (total / most_groups)) continue;
    groups.push_back(runs.subspan(begin, i + 1 - begin));
    begin = i + 1;
  }
  // Boxes of other ranks are packed and unpacked, those of this one go straight to the output.
  const auto views_of = [](const ShardedRun& each) -> const detail::SlicedShards* {
    const State& state = *each.plan->state_;
    return state.slices && state.slices->is_by_views() ? &*state.slices : nullptr;
  };
  const Stream beside = first.passes ? first.passes->stream() : stream;
  first.links->follow(stream);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const Stream packing = k == 0 ? stream : beside;
    for (const ShardedRun& each : groups[k]) {
      const detail::SlicedShards* const views = views_of(each);
      views != nullptr ? views->pack_slice(0, each.in, each.plan->state_->buffers(), packing)
                       : each.plan->pack(each.in, packing);
    }
    if (first.passes && k == 0) first.passes->follow(stream);
    first.links->follow(packing);
    first.communicator->begin_group();
    for (const ShardedRun& each : groups[k]) {
      const Stream links = first.links->stream();
      if (const detail::SlicedShards* const views = views_of(each); views != nullptr) {
        views->exchange_slice(0, each.in, each.out, each.plan->state_->buffers(), *first.communicator, links);
      } else {
        each.plan->exchange(each.in, each.out, links);
      }
    }
    first.communicator->end_group();
    first.links->mark(k);
  }
  for (const ShardedRun& each : runs) {
    if (const detail::SlicedShards* const views = views_of(each); views != nullptr)
      views->keep_views(each.in, each.out, beside);
  }
  // The last one is unpacked when the links have nothing more to do.
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const bool is_last = k + 1 == groups.size();
    if (first.passes && is_last) {
      first.passes->mark(0);
      first.passes->lead(stream, 0);
    }
    const Stream unpacking = is_last ? stream : beside;
    first.links->lead(unpacking, k);
    for (const ShardedRun& each : groups[k]) {
      const detail::SlicedShards* const views = views_of(each);
      views != nullptr ? views->unpack_slice(0, each.out, each.plan->state_->buffers(), unpacking)
                       : each.plan->unpack(each.out, unpacking);
    }
  }
}

}  // namespace faro
