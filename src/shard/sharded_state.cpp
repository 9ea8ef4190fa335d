// Which way a plan of shards goes, and what it has to make for it: the ranks agree on what all of them take.
#include "shard/sharded_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "shard/methods.hpp"
#include "shard/viewed_messages.hpp"

namespace faro {
namespace {

constexpr const char* kMakeShards = "make a plan of shards";

}  // namespace

void ShardedPlan::State::choose() {
  no_stores = "its memory is the host's";
  if (local.engine == Engine::cuda) no_stores = choose_stores();
}

void ShardedPlan::State::prepare() {
  const std::uint64_t width = plan.problem().element_bytes;
  if (number_of_rounds > 1) return prepare_rounds();
  if (local.engine == Engine::cuda) choose_slices();
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

// Rounds are as many as any rank needs. Kernels that store into outputs need none, for nothing waits in
// memory.
void ShardedPlan::State::agree_on_memory() {
  if (ways.memory_bytes == 0) return;
  std::uint64_t mine = 1;
  detail::agree(*communicator, kMakeShards, [&] {
    if (!stores) mine = detail::rounds_within(plan, ways.memory_bytes);
    return std::to_string(ways.memory_bytes);
  });
  const bool fits = plan.in_bytes() + plan.out_bytes() <= ways.memory_bytes;
  for (const std::string& theirs :
       communicator->all_gather(fmt::format("{}{}", mine, fits ? "" : " rounds"))) {
    number_of_rounds = std::max<std::uint64_t>(number_of_rounds, std::stoull(theirs));
    may_register = may_register && !theirs.ends_with("rounds");
  }
}

void ShardedPlan::State::prepare_rounds() {
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
    rounds.push_back({.round = std::move(round), .packing = std::move(pack), .unpacking = std::move(unpack)});
  }
  to_send.emplace(sent, local.engine, local.device);
  received.emplace(heard, local.engine, local.device);
  reason = fmt::format("{} rounds, for {} bytes of memory at most beside the parts", number_of_rounds,
                       ways.memory_bytes);
}

void ShardedPlan::State::run_rounds(const void* in, void* out, Stream stream) {
  for (const RunRound& each : rounds) {
    each.packing.run(static_cast<const std::byte*>(in), to_send->data(), stream);
    void* const to = plan.unpack().is_nothing() ? out : received->data();
    communicator->exchange(packs() ? to_send->data() : in, each.round.sends, to, each.round.receives, stream);
    if (plan.passes_on())
      communicator->exchange(to, each.round.passed_on.sends, to, each.round.passed_on.receives, stream);
    each.unpacking.run(received->data(), static_cast<std::byte*>(out), stream);
  }
}

// Collective. Kernels that store at nobody wait for nobody.
void ShardedPlan::State::agree_on_crossing() {
  if (!stores) return;
  const std::vector<std::string> all = communicator->all_gather(plan.sent_bytes() > 0 ? "crosses" : "stays");
  crosses = std::any_of(all.begin(), all.end(), [](const std::string& each) { return each == "crosses"; });
}

// Collective, for messages of a device: what slices need, and what is packed and unpacked for their sake.
void ShardedPlan::State::agree_on_messages() {
  if (local.engine != Engine::cuda || stores || number_of_rounds > 1) return;
  agree_on_views();
  if (!may_register) return;
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
void ShardedPlan::State::agree_on_views() {
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
void ShardedPlan::State::take_message_arrays() {
  const bool between = packs() && unpacks();
  MessageArrays arrays =
      communicator->message_arrays(between ? plan.in_bytes() : 0, between ? plan.out_bytes() : 0);
  if (arrays.to_send == nullptr || arrays.received == nullptr) return;
  to_send.emplace(plan.in_bytes(), std::move(arrays.to_send));
  received.emplace(plan.out_bytes(), std::move(arrays.received));
}

void ShardedPlan::State::make_buffers(bool sends, bool receives) {
  const std::uint64_t sent = copies_to_send() ? plan.in_bytes() : plan.packed_bytes();
  if (sends && !to_send) to_send.emplace(sent, local.engine, local.device);
  if (receives && !received) received.emplace(unpacks() ? plan.out_bytes() : 0, local.engine, local.device);
}

void ShardedPlan::State::make_passes() {
  const std::uint64_t width = plan.problem().element_bytes;
  if (!packing) packing.emplace(plan.pack(), plan.in_elements(), width, local);
  if (!unpacking) unpacking.emplace(plan.unpack(), plan.out_elements(), width, local);
  make_buffers(true, true);
}

// Why it is not by stores.
std::string ShardedPlan::State::choose_stores() {
  std::string why;
  if (!ways.stores) {
    why = "stores were not asked for";
  } else if (communicator->peer_memory() == nullptr) {
    why = fmt::format("by {} no kernel reaches the peers' memory", communicator->name());
  } else if (!plan.stores().is_possible()) {
    why = "an index array has no kernel that stores at peers";
  } else if (ways.in_place && plan.stores().to_output) {
    why = "in place, outputs are read while they would be written";
  } else if (ways.memory_bytes != 0 && !plan.stores().to_output && plan.out_bytes() > ways.memory_bytes) {
    why = "memory_bytes do not hold what kernels would store at a peer";
  } else {
    const std::uint64_t most = ways.memory_bytes == 0 ? ~std::uint64_t{0} : ways.memory_bytes;
    stores = detail::StoredShards::make(plan, local.device, most);
    why = "elements of this width have no kernel that stores at peers";
  }
  return why;
}

// Short slices cost more to start than they let overlap. How many there are, and what is left to the links:
// docs/notes/shard-experiments.md.
void ShardedPlan::State::choose_slices() {
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

}  // namespace faro
