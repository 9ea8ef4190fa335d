// A plan of shards, ready to run: its local passes as executable plans, its workspace, and its agreement with
// the other ranks.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "disjoint.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "faro/shards.hpp"
#include "shard/device_shards.hpp"
#include "shard/local_pass.hpp"
#include "shard/methods.hpp"
#include "shard/rounds.hpp"
#include "shard/viewed_messages.hpp"

namespace faro {
namespace {

constexpr const char* kRunShards = "run shards";

struct Array {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

void check_part(const Array& array, std::uint64_t wanted, const char* role) {
  if (array.bytes != wanted) {
    fail(ErrorCode::value, kRunShards, fmt::format("an {} of {} bytes", role, array.bytes),
         fmt::format("{}, this rank's part", wanted));
  }
  if (array.data == nullptr && wanted > 0)
    fail(ErrorCode::value, kRunShards, fmt::format("a null {}", role), fmt::format("{} bytes", wanted));
}

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

// A round and its passes.
struct RunRound {
  detail::ShardRound round;
  detail::LocalPass packing;
  detail::LocalPass unpacking;
};

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

struct ShardedPlan::State {
  ShardPlan plan;
  std::shared_ptr<Communicator> communicator;
  ShardWays ways;
  PlanOptions local;
  std::optional<detail::LocalPass> packing;
  std::optional<detail::LocalPass> unpacking;
  std::optional<detail::Staging> to_send;
  std::optional<detail::Staging> received;
  std::optional<detail::StoredShards> stores;
  std::optional<detail::SlicedShards> slices;
  std::optional<detail::SlicedShards> stored_slices;  // beside `stores`
  std::vector<RunRound> rounds;                       // where there are several
  std::optional<cuda::SideStream> links;              // for messages of several arrays
  std::string no_stores;                              // why
  std::string reason;

  std::uint64_t number_of_rounds = 1;
  bool a_view_each = true;        // messages of all ranks, which slices need
  bool wants_two_passes = false;  // for slices between registered arrays
  bool crosses = true;            // any rank sends anything to another

  bool packs() const { return !plan.pack().is_nothing(); }
  bool unpacks() const { return !plan.unpack().is_nothing(); }
  // Without a packing what is sent would be written over while it is read.
  bool copies_to_send() const { return ways.in_place && !packs() && !unpacks(); }

  // What the ranks agree on first; then come their arrays for messages, and the rest.
  void choose() {
    no_stores = "its memory is the host's";
    if (local.engine == Engine::cuda) no_stores = choose_stores();
  }

  void prepare() {
    const std::uint64_t width = plan.problem().element_bytes;
    if (local.engine == Engine::cuda) choose_slices();
    if (number_of_rounds > 1) return prepare_rounds();
    if (stores) {
      reason = plan.stores().to_output
                   ? fmt::format("each segment of an output comes from one rank: {} it there ({})",
                                 stores->writers(), stores->kernel())
                   : fmt::format(
                         "segments of an output come from several ranks: kernels pack into the peers' "
                         "workspace ({}), and unpacking follows{}",
                         stores->kernel(),
                         stored_slices ? fmt::format(" in {} slices", stored_slices->slices()) : "");
    } else if (slices && slices->slices() > 1) {
      reason = fmt::format("{} slices a message{}, for {}", slices->slices(),
                           slices->keeps_directly() ? ", what stays in one pass" : "", no_stores);
    } else {
      reason = no_stores;
    }
    if (!stores) packing.emplace(plan.pack(), plan.in_elements(), width, local);
    if (!stores || !plan.stores().to_output)
      unpacking.emplace(plan.unpack(), plan.out_elements(), width, local);
    make_buffers(!stores, !stores || !plan.stores().to_output);
  }

  // Collective. The most that any rank needs.
  void agree_on_rounds() {
    if (ways.memory_bytes == 0) return;
    std::uint64_t mine = 1;
    detail::agree(*communicator, "make a plan of shards", [&] {
      if (local.engine == Engine::cuda)
        fail(ErrorCode::unsupported, "make a plan of shards", "memory_bytes on a GPU", "arrays of the host");
      mine = detail::rounds_within(plan, ways.memory_bytes);
      return std::to_string(ways.memory_bytes);
    });
    for (const std::string& theirs : communicator->all_gather(std::to_string(mine)))
      number_of_rounds = std::max<std::uint64_t>(number_of_rounds, std::stoull(theirs));
  }

  void prepare_rounds() {
    const std::uint64_t width = plan.problem().element_bytes;
    std::uint64_t sent = 0;
    std::uint64_t heard = 0;
    rounds.reserve(number_of_rounds);
    for (std::uint64_t k = 0; k < number_of_rounds; ++k) {
      detail::ShardRound round = detail::round_of(plan, {.round = k, .rounds = number_of_rounds});
      detail::LocalPass pack(round.pack, plan.in_elements(), width, local);
      detail::LocalPass unpack(round.unpack, plan.out_elements(), width, local);
      sent = std::max(sent, round.packed_bytes);
      heard = std::max(heard, round.received_bytes);
      rounds.push_back(
          {.round = std::move(round), .packing = std::move(pack), .unpacking = std::move(unpack)});
    }
    to_send.emplace(sent, local.engine, local.device);
    received.emplace(heard, local.engine, local.device);
    reason = fmt::format("{} rounds, for {} bytes of memory at most beside the parts", number_of_rounds,
                         ways.memory_bytes);
  }

  void run_rounds(const void* in, void* out, Stream stream) {
    for (const RunRound& each : rounds) {
      each.packing.run(static_cast<const std::byte*>(in), to_send->data(), stream);
      void* const to = plan.unpack().is_nothing() ? out : received->data();
      communicator->exchange(packs() ? to_send->data() : in, each.round.sends, to, each.round.receives,
                             stream);
      if (plan.passes_on())
        communicator->exchange(to, each.round.passed_on.sends, to, each.round.passed_on.receives, stream);
      each.unpacking.run(received->data(), static_cast<std::byte*>(out), stream);
    }
  }

  // Collective. Kernels that store at nobody wait for nobody.
  void agree_on_crossing() {
    if (!stores) return;
    const std::vector<std::string> all =
        communicator->all_gather(plan.sent_bytes() > 0 ? "crosses" : "stays");
    crosses = std::any_of(all.begin(), all.end(), [](const std::string& each) { return each == "crosses"; });
  }

  // Collective, for messages of a device: what slices need, and what is packed and unpacked for their sake.
  void agree_on_messages() {
    if (local.engine != Engine::cuda || stores) return;
    agree_on_views();
    std::optional<ShardPlan> direct;
    if (wants_two_passes) {
      ShardProblem problem = plan.problem();
      problem.slices_even_by_two_passes = true;
      direct = std::exchange(plan, ShardPlan(problem));
    }
    take_message_arrays();
    if (!direct || to_send) return;
    plan = *std::move(direct);  // buffers of NCCL's between would cost what the slices save
  }

  // Slices are of views that are a message each: where a rank has boxes in one message, none has slices. Long
  // messages take longer than passes over the part, which slices hide behind them; and between arrays that
  // NCCL knows they are faster.
  void agree_on_views() {
    const bool is_affine = plan.method() == ShardMethod::affine;
    const auto has_views = [&] {
      return is_affine || (has_a_view_each(plan, detail::MessageSide::packed) &&
                           has_a_view_each(plan, detail::MessageSide::unpacked));
    };
    std::uint64_t longest = 0;
    for (const ShardMessage& each : plan.sends()) {
      if (each.peer != plan.problem().shards.rank) longest = std::max(longest, each.bytes);
    }
    for (const std::string& theirs :
         communicator->all_gather(has_views() ? std::to_string(longest) : "boxes")) {
      a_view_each = a_view_each && theirs != "boxes";
      if (a_view_each) longest = std::max<std::uint64_t>(longest, std::stoull(theirs));
    }
    const bool is_cut = is_affine || (plan.stores().by_views && !ways.in_place);
    wants_two_passes = a_view_each && is_cut && ways.slice_bits != 0 &&
                       longest >> (is_affine ? kEightSlicesFromBits : kEightSlicesFromBits - 1) != 0;
  }

  // Collective. What is packed and unpacked goes from workspace to workspace.
  void take_message_arrays() {
    const bool between = packs() && unpacks();
    MessageArrays arrays =
        communicator->message_arrays(between ? plan.in_bytes() : 0, between ? plan.out_bytes() : 0);
    if (arrays.to_send == nullptr || arrays.received == nullptr) return;
    to_send.emplace(plan.in_bytes(), std::move(arrays.to_send));
    received.emplace(plan.out_bytes(), std::move(arrays.received));
  }

  void make_buffers(bool sends, bool receives) {
    const std::uint64_t sent = copies_to_send() ? plan.in_bytes() : plan.packed_bytes();
    if (sends && !to_send) to_send.emplace(sent, local.engine, local.device);
    if (receives && !received) received.emplace(unpacks() ? plan.out_bytes() : 0, local.engine, local.device);
  }

  // For the passes by themselves.
  void make_passes() {
    const std::uint64_t width = plan.problem().element_bytes;
    if (!packing) packing.emplace(plan.pack(), plan.in_elements(), width, local);
    if (!unpacking) unpacking.emplace(plan.unpack(), plan.out_elements(), width, local);
    make_buffers(true, true);
  }

  // What run() writes to first, by stores.
  void* stored_into(void* out) const { return plan.stores().to_output ? out : received->data(); }

 private:
  static constexpr int kEightSlicesFromBits = 27;  // 128 MiB

  // Why it is not by stores.
  std::string choose_stores() {
    std::string why;
    if (!ways.stores) {
      why = "stores were not asked for";
    } else if (communicator->peer_memory() == nullptr) {
      why = fmt::format("by {} no kernel reaches the peers' memory", communicator->name());
    } else if (!plan.stores().is_possible()) {
      why = "an index array has no kernel that stores at peers";
    } else if (ways.in_place && plan.stores().to_output) {
      why = "in place, outputs are read while they would be written";
    } else {
      stores = detail::StoredShards::make(plan, local.device);
      why = "elements of this width have no kernel that stores at peers";
    }
    return why;
  }

  // Short slices cost more to start than they let overlap. How many there are, and what is left to the links:
  // docs/notes/shard-experiments.md.
  void choose_slices() {
    // The same on all ranks: a mean message of uneven slabs.
    std::uint64_t message = 0;
    for (const ShardMessage& each : plan.sends()) message = std::max(message, each.bytes);
    if (plan.stores().by_views) {
      const auto ranks = static_cast<std::uint64_t>(plan.problem().shards.ranks);
      message = element_count(plan.problem().permutation) * plan.problem().element_bytes / ranks / ranks;
    }
    const int message_bits = static_cast<int>(std::bit_width(message)) - 1;
    detail::SlicedShards::Choice choice{.slice_bits = ways.slice_bits,
                                        .link_multiprocessors = ways.link_multiprocessors,
                                        .in_place = ways.in_place,
                                        .stored = stores.has_value()};
    if (stores) {
      // 2 slices from 32 MiB on, 4 from 128 MiB, 8 from 512 MiB.
      if (ways.slice_bits < 0) choice.slice_bits = std::clamp((message_bits - 23) / 2, 0, 3);
      if (choice.slice_bits > 0 && !plan.stores().to_output)
        stored_slices = detail::SlicedShards::make(plan, local.device, choice);
      return;
    }
    if (plan.passes_on() || !a_view_each) return;
    // In place, what a slice receives must not be what another is packed from.
    if (ways.in_place && !(packs() && unpacks())) return;
    // Between registered arrays NCCL goes by no buffers of its own, and leaves the passes more of the memory.
    const bool registered = to_send && to_send->is_given();
    if (ways.slice_bits < 0) {
      constexpr int two_from_bits = 24;  // 16 MiB
      choice.short_ends = registered && message_bits >= kEightSlicesFromBits;
      choice.slice_bits = choice.short_ends ? 3 : message_bits >= two_from_bits ? 1 : 0;
    }
    choice.registered = registered;
    slices = detail::SlicedShards::make(plan, local.device, choice);
  }
};

ShardedPlan::ShardedPlan(ShardPlan plan, std::shared_ptr<Communicator> communicator,
                         const PlanOptions& options, const ShardWays& ways)
    : state_(std::make_unique<State>(State{.plan = std::move(plan),
                                           .communicator = std::move(communicator),
                                           .ways = ways,
                                           .local = options,
                                           .packing = {},
                                           .unpacking = {},
                                           .to_send = {},
                                           .received = {},
                                           .stores = {},
                                           .slices = {},
                                           .stored_slices = {},
                                           .rounds = {},
                                           .links = {},
                                           .no_stores = {},
                                           .reason = {},
                                           .number_of_rounds = 1,
                                           .a_view_each = true,
                                           .wants_two_passes = false,
                                           .crosses = true})) {
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
  state.agree_on_rounds();
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
        in, out, {.to_send = state.to_send->data(), .received = state.received->data()}, *state.communicator,
        stream, [&] { pack(in, stream); }, [&] { unpack(out, stream); });
    return;
  }
  if (!state.rounds.empty()) return state.run_rounds(in, out, stream);
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
  const std::vector<std::string> told = detail::agree_and_tell(*state_->communicator, kRunShards, [&] {
    const Array input{.data = in, .bytes = in_bytes};
    const Array output{.data = out, .bytes = out_bytes};
    if (state_->ways.in_place) {
      fail(ErrorCode::value, kRunShards, "two arrays for a plan in place", "one",
           "make the plan without ShardWays::in_place");
    }
    check_part(input, plan.in_bytes(), "input");
    check_part(output, plan.out_bytes(), "output");
    detail::check_disjoint(kRunShards, detail::RunArray{"output", {out, out_bytes}},
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

void ShardedPlan::run_all(std::span<const ShardedRun> runs, Stream stream) {
  if (runs.empty()) return;
  if (runs.front().plan == nullptr) fail(ErrorCode::value, kRunShards, "a null plan", "one for each run");
  const std::shared_ptr<Communicator> communicator = runs.front().plan->state_->communicator;
  detail::agree(*communicator, kRunShards, [&] {
    std::vector<detail::RunArray> inputs;
    std::vector<detail::RunArray> outputs;
    for (const ShardedRun& each : runs) {
      if (each.plan == nullptr || each.plan->state_->communicator != communicator)
        fail(ErrorCode::value, kRunShards, "plans of several communicators", "those of one");
      if (each.plan->state_->ways.in_place)
        fail(ErrorCode::value, kRunShards, "a plan in place among several", "plans of two arrays");
      check_part({.data = each.in, .bytes = each.in_bytes}, each.plan->plan().in_bytes(), "input");
      check_part({.data = each.out, .bytes = each.out_bytes}, each.plan->plan().out_bytes(), "output");
      inputs.push_back({"input", {each.in, each.in_bytes}});
      outputs.push_back({"output", {each.out, each.out_bytes}});
    }
    detail::check_disjoint(kRunShards, outputs, inputs);
    return fmt::format("{} arrays", runs.size());
  });
  std::vector<ShardedRun> stored;
  std::vector<ShardedRun> sent;
  try {
    for (const ShardedRun& each : runs) {
      const State& state = *each.plan->state_;
      const bool has_slices = state.stored_slices || (state.slices && state.slices->slices() > 1);
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

// Messages of many arrays in groups: while one crosses the links, the next is packed.
void ShardedPlan::send_all(std::span<const ShardedRun> runs, Stream stream) {
  if (runs.empty()) return;
  constexpr std::uint64_t most_groups = 8;
  State& first = *runs.front().plan->state_;
  if (!first.links) first.links.emplace(first.local.device);
  // The same groups on all ranks: by the whole arrays.
  const auto weight = [](const ShardedRun& each) {
    const ShardProblem& problem = each.plan->plan().problem();
    return element_count(problem.permutation) * problem.element_bytes;
  };
  std::uint64_t total = 0;
  for (const ShardedRun& each : runs) total += weight(each);
  std::vector<std::size_t> ends;
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    passed += weight(runs[i]);
    if (i + 1 == runs.size() || passed >= (ends.size() + 1) * (total / most_groups)) ends.push_back(i + 1);
  }
  first.links->follow(stream);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const std::span<const ShardedRun> group = runs.subspan(begin, ends[k] - begin);
    for (const ShardedRun& each : group) each.plan->pack(each.in, stream);
    first.links->follow(stream);
    first.communicator->begin_group();
    for (const ShardedRun& each : group) {
      each.plan->exchange(each.in, each.out, first.links->stream());
    }
    first.communicator->end_group();
    first.links->mark(k);
    begin = ends[k];
  }
  begin = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    first.links->lead(stream, k);
    for (const ShardedRun& each : runs.subspan(begin, ends[k] - begin)) each.plan->unpack(each.out, stream);
    begin = ends[k];
  }
}

void ShardedPlan::run(void* data, std::uint64_t bytes, Stream stream) {
  detail::agree(*state_->communicator, kRunShards, [&] {
    if (!state_->ways.in_place) {
      fail(ErrorCode::value, kRunShards, "one array for a plan of two", "two arrays",
           "make the plan with ShardWays::in_place");
    }
    check_part({.data = data, .bytes = bytes}, state_->plan.in_bytes(), "array");
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
  for (const auto& [what, pass] :
       {std::pair("pack", &state_->packing), std::pair("unpack", &state_->unpacking)}) {
    const std::string local = *pass ? (*pass)->explain() : "";
    if (!local.empty()) text += fmt::format("\n{}, a plan of the rank's own part:\n{}", what, local);
  }
  return text;
}

}  // namespace faro
