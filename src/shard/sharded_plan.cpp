// A plan of shards, ready to run: its local passes as executable plans, its workspace, and its agreement with
// the other ranks.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "disjoint.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/shards.hpp"
#include "shard/methods.hpp"
#include "shard/sharded_state.hpp"

namespace faro {
namespace {

// What all ranks have to have in common.
std::string digest_of(const ShardPlan& plan) {
  const ShardProblem& problem = plan.problem();
  std::string text = fmt::format("{} in {} ranks, elements of {} bytes, {}", to_text(problem.permutation),
                                 problem.shards.ranks, problem.element_bytes, name(plan.method()));
  if (const auto* const indexed = std::get_if<Indexed>(&problem.permutation); indexed != nullptr)
    text += fmt::format(", indices {:016x}", schedule::fingerprint(*indexed));
  const auto add = [&text](const char* what, const ShardCut& cut) {
    text += what;
    if (const auto* const bits = std::get_if<ShardBits>(&cut)) {
      for (const int bit : bits->bits) text += fmt::format(" bit {}", bit);
      return;
    }
    if (const auto* const distribution = std::get_if<Distribution>(&cut)) {
      text += " " + to_text(*distribution);
      return;
    }
    text += fmt::format(" axis {}", std::get<ShardAxis>(cut).axis);
    for (const std::uint64_t extent : std::get<ShardAxis>(cut).extents) text += fmt::format(" {}", extent);
  };
  add(", in by", problem.shards.in);
  add(", out by", problem.shards.out);
  if (problem.shards.island != 0) text += fmt::format(", islands of {}", problem.shards.island);
  return text;
}

void check_ways(const ShardPlan& plan, const ShardWays& ways) {
  if (ways.slice_bits < -1 || ways.slice_bits > detail::kMostSliceBits) {
    fail(ErrorCode::value, "make a plan of shards", fmt::format("slice_bits of {}", ways.slice_bits),
         fmt::format("0 to {}, or -1 for a choice", detail::kMostSliceBits));
  }
  if (ways.link_multiprocessors < -1) {
    fail(ErrorCode::value, "make a plan of shards",
         fmt::format("{} multiprocessors for the links", ways.link_multiprocessors),
         "0 or more, or -1 for a choice");
  }
  if (ways.in_place && ways.memory_bytes != 0) {
    fail(ErrorCode::unsupported, "make a plan of shards", "memory_bytes in place", "two arrays");
  }
  if (ways.in_place && plan.in_elements() != plan.out_elements()) {
    fail(ErrorCode::value, "make a plan of shards",
         fmt::format("{} elements in and {} out, in place", plan.in_elements(), plan.out_elements()),
         "parts of one size on every rank", "give two arrays");
  }
}

void check_place(const ShardPlan& plan, const Communicator& communicator, const PlanOptions& options) {
  const Shards& shards = plan.problem().shards;
  if (shards.ranks != communicator.ranks() || shards.rank != communicator.rank()) {
    fail(ErrorCode::value, "make a plan of shards",
         fmt::format("the plan of rank {} of {}", shards.rank, shards.ranks),
         fmt::format("that of rank {} of {}", communicator.rank(), communicator.ranks()));
  }
  if (options.engine != Engine::automatic && options.engine != communicator.memory()) {
    fail(ErrorCode::value, "make a plan of shards", fmt::format("engine {}", name(options.engine)),
         fmt::format("{}, whose memory {} takes", name(communicator.memory()), communicator.name()));
  }
}

}  // namespace

namespace detail {
void check_part(const GivenPart& part, std::uint64_t wanted, const char* role) {
  if (part.bytes != wanted) {
    fail(ErrorCode::value, kRunShards, fmt::format("an {} of {} bytes", role, part.bytes),
         fmt::format("{}, this rank's part", wanted));
  }
  if (part.data == nullptr && wanted > 0)
    fail(ErrorCode::value, kRunShards, fmt::format("a null {}", role), fmt::format("{} bytes", wanted));
}
}  // namespace detail

ShardedPlan::ShardedPlan(ShardPlan plan, std::shared_ptr<Communicator> communicator,
                         const PlanOptions& options, const ShardWays& ways)
    : state_(std::make_unique<State>(State{.plan = std::move(plan),
                                           .communicator = std::move(communicator),
                                           .ways = ways,
                                           .local = options})) {
  State& state = *state_;
  if (state.communicator == nullptr)
    fail(ErrorCode::value, "make a plan of shards", "no communicator", "one for each rank");
  detail::agree(*state.communicator, "make a plan of shards", [&] {
    check_place(state.plan, *state.communicator, options);
    check_ways(state.plan, ways);
    state.local.engine = state.communicator->memory();
    if (state.local.engine == Engine::cuda) state.local.device = state.communicator->device();
    state.choose();
    return fmt::format("{}, by {}, in {}", digest_of(state.plan), state.stores ? "stores" : "messages",
                       ways.in_place ? "place" : "two arrays");
  });
  state.agree_on_memory();
  state.agree_on_crossing();
  state.agree_on_messages();
  detail::agree(*state.communicator, "make a plan of shards", [&] {
    state.prepare();
    return fmt::format("{} slices", state.slices          ? state.slices->slices()
                                    : state.stored_slices ? state.stored_slices->slices()
                                                          : 1);
  });
}

ShardedPlan::ShardedPlan(ShardedPlan&&) noexcept = default;
ShardedPlan& ShardedPlan::operator=(ShardedPlan&&) noexcept = default;
ShardedPlan::~ShardedPlan() = default;

const ShardPlan& ShardedPlan::plan() const { return state_->plan; }
Communicator& ShardedPlan::communicator() const { return *state_->communicator; }
const std::string& ShardedPlan::backend_reason() const { return state_->reason; }

std::uint64_t ShardedPlan::rounds() const { return state_->number_of_rounds; }

const char* ShardedPlan::backend() const {
  const bool cuts = state_->slices && state_->slices->slices() > 1;
  return state_->stores ? "stores" : cuts ? "slices" : "messages";
}

std::uint64_t ShardedPlan::workspace_bytes() const {
  const auto bytes = [](const std::optional<detail::Staging>& staging) {
    return staging ? staging->bytes() : 0;
  };
  return bytes(state_->to_send) + bytes(state_->received) +
         (state_->stores ? state_->stores->workspace_bytes() : 0);
}

void ShardedPlan::pack(const void* in, Stream stream) {
  state_->make_passes();
  state_->packing->run(static_cast<const std::byte*>(in), state_->to_send->data(), stream);
}

void ShardedPlan::exchange(const void* in, void* out, Stream stream) {
  state_->make_passes();
  const ShardPlan& plan = state_->plan;
  const void* const from = state_->to_send->bytes() == 0 ? in : state_->to_send->data();
  void* const to = plan.unpack().is_nothing() ? out : state_->received->data();
  state_->communicator->exchange(from, plan.sends(), to, plan.receives(), stream);
  if (!plan.passes_on()) return;
  state_->communicator->exchange(to, plan.passed_on().sends, to, plan.passed_on().receives, stream);
}

void ShardedPlan::unpack(void* out, Stream stream) {
  state_->make_passes();
  state_->unpacking->run(state_->received->data(), static_cast<std::byte*>(out), stream);
}

void ShardedPlan::run_parts(const void* in, void* out, Stream stream) {
  State& state = *state_;
  if (!state.rounds.empty()) return state.run_rounds(in, out, stream);
  if (state.stores) {
    PeerMemory& memory = *state.communicator->peer_memory();
    if (!state.crosses) {
      std::vector<std::byte*> arrays(static_cast<std::size_t>(state.communicator->ranks()), nullptr);
      arrays[static_cast<std::size_t>(state.communicator->rank())] =
          static_cast<std::byte*>(state.stored_into(out));
      state.stores->start(in, arrays, stream);
      state.stores->join(stream);
    } else if (state.stored_slices && state.stored_slices->takes(in, out)) {
      return state.stored_slices->run_stored(in, out, state.received->data(), memory, stream);
    } else {
      state.stores->run(in, state.stored_into(out), memory, stream,
                        state.stored_slices ? state.stored_slices->slices() : 1);
    }
    if (!state.plan.stores().to_output) {
      state.unpacking->run(state.received->data(), static_cast<std::byte*>(out), stream);
    }
    return;
  }
  if (state.slices) {
    state.slices->run(
        in, out, state.buffers(), *state.communicator, stream, [&] { pack(in, stream); },
        [&] { unpack(out, stream); });
    return;
  }
  if (state.copies_to_send()) {
    if (state.local.engine == Engine::cuda) {
      cuda::copy_between(in, state.to_send->data(), state.plan.in_bytes(), state.local.device, stream);
    } else if (state.plan.in_bytes() > 0) {
      std::memcpy(state.to_send->data(), in, state.plan.in_bytes());
    }
  }
  pack(in, stream);
  exchange(in, out, stream);
  unpack(out, stream);
}

void ShardedPlan::run(const void* in, std::uint64_t in_bytes, void* out, std::uint64_t out_bytes,
                      Stream stream) {
  const ShardPlan& plan = state_->plan;
  PeerMemory* const memory =
      state_->stores && state_->crosses ? state_->communicator->peer_memory() : nullptr;
  const std::vector<std::string> told =
      detail::agree_and_tell(*state_->communicator, detail::kRunShards, [&] {
        const detail::GivenPart input{.data = in, .bytes = in_bytes};
        const detail::GivenPart output{.data = out, .bytes = out_bytes};
        if (state_->ways.in_place) {
          fail(ErrorCode::value, detail::kRunShards, "two arrays for a plan in place", "one",
               "make the plan without ShardWays::in_place");
        }
        detail::check_part(input, plan.in_bytes(), "input");
        detail::check_part(output, plan.out_bytes(), "output");
        detail::check_disjoint(detail::kRunShards, detail::RunArray{"output", {out, out_bytes}},
                               {{"input", {in, in_bytes}}});
        void* const stored = memory != nullptr ? state_->stored_into(out) : nullptr;
        return detail::Said{.alike = {},
                            .own = memory != nullptr ? memory->told_of({&stored, 1}) : std::string()};
      });
  if (memory != nullptr) memory->told(told);
  try {
    run_parts(in, out, stream);
  } catch (const std::exception& error) {
    state_->communicator->abort(error.what());
    throw;
  }
}

void ShardedPlan::run(void* data, std::uint64_t bytes, Stream stream) {
  detail::agree(*state_->communicator, detail::kRunShards, [&] {
    if (!state_->ways.in_place) {
      fail(ErrorCode::value, detail::kRunShards, "one array for a plan of two", "two arrays",
           "make the plan with ShardWays::in_place");
    }
    detail::check_part({.data = data, .bytes = bytes}, state_->plan.in_bytes(), "array");
    return std::string();
  });
  try {
    run_parts(data, data, stream);
  } catch (const std::exception& error) {
    state_->communicator->abort(error.what());
    throw;
  }
}

void ShardedPlan::wait(Stream stream) { state_->communicator->wait(stream); }

std::string ShardedPlan::explain() const {
  std::string text = state_->plan.explain();
  text += fmt::format("{:<14}{}, as {}: {}\n", "exchange by", state_->communicator->name(), backend(),
                      backend_reason());
  text += fmt::format("{:<14}{} bytes beside the parts\n", "memory", workspace_bytes());
  for (const auto& [what, pass] :
       {std::pair("pack", &state_->packing), std::pair("unpack", &state_->unpacking)}) {
    const std::string local = *pass ? (*pass)->explain() : "";
    if (!local.empty()) text += fmt::format("\n{}, a plan of the rank's own part:\n{}", what, local);
  }
  return text;
}

}  // namespace faro
