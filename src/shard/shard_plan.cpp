// A problem in shards becomes a plan: what is wrong with it, which method takes it, what that costs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "plan/gpu/part_pass.hpp"
#include "shard/mesh_method.hpp"
#include "shard/methods.hpp"
#include "shard/spread.hpp"

namespace faro {
namespace {

using detail::Spread;

constexpr const char* kPlanShards = "plan shards";

std::uint64_t product_of(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

void check_ranks(const Shards& shards) {
  if (shards.ranks < 1 || shards.ranks > kMaxShardRanks) {
    fail(ErrorCode::value, kPlanShards, fmt::format("{} ranks", shards.ranks),
         fmt::format("1 to {}", kMaxShardRanks));
  }
  if (shards.island < 0) {
    fail(ErrorCode::value, kPlanShards, fmt::format("islands of {} ranks", shards.island),
         "1 or more ranks, or 0 where all links are alike");
  }
  if (shards.rank < 0 || shards.rank >= shards.ranks) {
    fail(ErrorCode::value, kPlanShards, fmt::format("rank {}", shards.rank),
         fmt::format("0 to {}", shards.ranks - 1));
  }
}

void check_width(std::uint64_t element_bytes) {
  if (element_bytes >= 1 && element_bytes <= kMaxElementBytes) return;
  fail(ErrorCode::value, kPlanShards, fmt::format("elements of {} bytes", element_bytes),
       fmt::format("1 to {}", kMaxElementBytes), "elements are as wide as what moves together");
}

// The axes are those of the permutation, or there are none.
void check_axes(const ShardProblem& problem) {
  const std::uint64_t count = element_count(problem.permutation);
  for (const std::vector<std::uint64_t>& shape : {problem.in_shape(), problem.out_shape()}) {
    if (!problem.shapes || product_of(shape) == count) continue;
    fail(ErrorCode::value, kPlanShards, fmt::format("shape {}", fmt::join(shape, "x")),
         fmt::format("a shape of {} elements, as the permutation has", count));
  }
  if (!problem.axes) return;
  const std::vector<std::uint64_t>& shape = problem.axes->shape;
  // Arrays of no elements are all permuted alike.
  const bool is_empty = std::find(shape.begin(), shape.end(), 0U) != shape.end();
  std::vector<int> sorted = problem.axes->order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> each(shape.size());
  std::iota(each.begin(), each.end(), 0);
  if (is_empty && element_count(problem.permutation) == 0 && sorted == each) return;
  const Permutation by_axes = Axes(problem.axes->shape, problem.axes->order);
  if (normal_form(by_axes) == normal_form(problem.permutation)) return;
  fail(ErrorCode::value, kPlanShards,
       fmt::format("axes {} in the order {}, with {}", fmt::join(problem.axes->shape, "x"),
                   fmt::join(problem.axes->order, " "), to_text(problem.permutation)),
       "axes that say the same as the permutation", "leave them out to cut its elements as one axis");
}

std::uint64_t sum_of_others(const std::vector<ShardMessage>& messages, int self) {
  std::uint64_t sum = 0;
  for (const ShardMessage& message : messages) {
    if (message.peer != self) sum += message.bytes;
  }
  return sum;
}

std::map<int, std::uint64_t> bytes_by_peer(std::initializer_list<const std::vector<ShardMessage>*> lists,
                                           int self) {
  std::map<int, std::uint64_t> bytes;
  for (const std::vector<ShardMessage>* const messages : lists) {
    for (const ShardMessage& message : *messages) {
      if (message.peer != self) bytes[message.peer] += message.bytes;
    }
  }
  return bytes;
}

using Cuts = detail::SlabsOfAxes;

Cuts cuts_of(const ShardProblem& problem, std::uint64_t count) {
  const Shards& shards = problem.shards;
  Cuts cuts{.in = Spread(shards.in, problem.in_shape(), shards.ranks, "in"),
            .out = Spread(shards.out, problem.out_shape(), shards.ranks, "out")};
  if (count > 0 && count > (std::uint64_t{1} << 62) / problem.element_bytes) {
    fail(ErrorCode::value, kPlanShards, fmt::format("{} elements of {} bytes", count, problem.element_bytes),
         "at most 2^62 bytes");
  }
  return cuts;
}

// log2 of the elements that memory likes to have together.
int bits_of_segment(std::uint64_t element_bytes) {
  constexpr int segment_bytes_bits = 8;
  return std::max(0, segment_bytes_bits - (static_cast<int>(std::bit_width(element_bytes)) - 1));
}

// In one pass where each segment of an output comes from one rank; to where it is unpacked else.
ShardStores stores_of(const detail::ShardPassing& made, int local_bits, int segment_bits) {
  const bool in_one = !made.arrivals || detail::keeps_segments_local(*made.places, local_bits,
                                                                     std::min(segment_bits, local_bits));
  return {.map = in_one ? made.places : made.arrivals, .views = {}, .by_views = false, .to_output = in_one};
}

}  // namespace

const char* name(ShardMethod method) noexcept {
  static constexpr const char* kNames[] = {"affine", "slabs", "mesh", "blocks", "indices"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ShardMethod::indices) + 1);
  return kNames[static_cast<std::size_t>(method)];
}

std::vector<std::uint64_t> ShardProblem::in_shape() const {
  if (shapes) return shapes->before;
  return axes ? axes->shape : std::vector<std::uint64_t>{element_count(permutation)};
}
std::vector<std::uint64_t> ShardProblem::out_shape() const {
  if (shapes) return shapes->after;
  return axes ? axes->target_shape() : std::vector<std::uint64_t>{element_count(permutation)};
}

ShardPlan::ShardPlan(const ShardProblem& problem) : problem_(problem) {
  if (detail::is_no_permutation(problem.permutation))
    fail(ErrorCode::value, kPlanShards, "a problem without a permutation", "ShardProblem::permutation");
  check_ranks(problem.shards);
  check_width(problem.element_bytes);
  check_axes(problem);
  const std::uint64_t count = element_count(problem.permutation);
  const Cuts cuts = cuts_of(problem, count);
  const int rank = problem.shards.rank;
  in_elements_ = cuts.in.elements(rank);
  out_elements_ = cuts.out.elements(rank);
  const auto affine = count > 1 ? affine_form(normal_form(problem.permutation)) : std::nullopt;
  detail::ShardPassing made;
  if (affine && cuts.in.bits() && cuts.out.bits()) {
    method_ = ShardMethod::affine;
    reason_ = "an affine map, and both cuts are by index bits";
    const int segment_bits = bits_of_segment(problem.element_bytes);
    made = detail::affine_passing(
        *affine, {.in = *cuts.in.bits(), .out = *cuts.out.bits()}, rank,
        {.segment_bits = segment_bits, .even_by_two_passes = problem.slices_even_by_two_passes});
    const int local_bits = affine->bits() - static_cast<int>(cuts.in.bits()->size());
    stores_ = stores_of(made, local_bits, segment_bits);
  } else if (const Permutation form = normal_form(problem.permutation);
             !problem.axes && std::holds_alternative<Cyclic>(form) && cuts.in.is_blocks() &&
             cuts.out.is_blocks()) {
    method_ = ShardMethod::blocks;
    reason_ = "a roll or a flip between blocks";
    made = detail::block_passing(std::get<Cyclic>(form), cuts.in, cuts.out, rank);
  } else if (const auto redistribution = detail::redistribution_of(problem)) {
    const bool between_slabs = cuts.in.is_slabs() && cuts.out.is_slabs();
    method_ = between_slabs ? ShardMethod::slabs : ShardMethod::mesh;
    reason_ = between_slabs ? "a permutation of axes between slabs" : "a permutation of axes over a mesh";
    made = detail::mesh_passing(*redistribution, rank);
    passes_on_ = redistribution->island > 1 && redistribution->out.is_replicated();
  } else {
    method_ = ShardMethod::indices;
    reason_ = affine && !(cuts.in.bits() && cuts.out.bits()) ? "the cuts are not by index bits"
                                                             : "no form that is known between these cuts";
    made = detail::index_passing(problem.permutation, cuts.in, cuts.out,
                                 {.rank = rank, .island = std::max(1, problem.shards.island)});
    passes_on_ = problem.shards.island > 1 && cuts.out.is_replicated();
  }
  pack_ = std::move(made.pack);
  unpack_ = std::move(made.unpack);
  sends_ = detail::counted_in_bytes(std::move(made.sends), problem.element_bytes);
  receives_ = detail::counted_in_bytes(std::move(made.receives), problem.element_bytes);
  passed_on_ = {
      .sends = detail::counted_in_bytes(std::move(made.passed_on.sends), problem.element_bytes),
      .receives = detail::counted_in_bytes(std::move(made.passed_on.receives), problem.element_bytes)};
  rho_ = made.rho;
  if (method_ != ShardMethod::affine && method_ != ShardMethod::indices && !passes_on_)
    stores_ = {.map = {}, .views = std::move(made.views), .by_views = true, .to_output = true};
  places_ = made.places;
  arrivals_ = made.arrivals;
  slice_bits_ = made.slice_bits;
}

ShardPlan::ShardPlan(const ShardProblem& problem, std::uint64_t count, std::span<const std::uint64_t> mine,
                     Direction direction, Communicator& communicator)
    : problem_(problem), method_(ShardMethod::indices), reason_("an index array that lies in parts") {
  std::optional<Cuts> cuts;
  detail::agree(communicator, kPlanShards, [&] {
    check_ranks(problem.shards);
    check_width(problem.element_bytes);
    if (communicator.host() == nullptr) {
      fail(ErrorCode::unsupported, kPlanShards, "an index array in parts by " + communicator.name(),
           "a communicator that has one of the host's memory");
    }
    problem_.permutation = Cyclic{.count = count};
    cuts = cuts_of(problem_, count);
    if (cuts->in.is_replicated() || cuts->out.is_replicated()) {
      fail(ErrorCode::unsupported, kPlanShards, "a replicated array under an index array in parts",
           "cuts over every axis of the mesh", "give the whole index array to each rank");
    }
    return fmt::format("{} elements of {} bytes", count, problem.element_bytes);
  });
  in_elements_ = cuts->in.elements(problem.shards.rank);
  out_elements_ = cuts->out.elements(problem.shards.rank);
  detail::ShardPassing made = detail::part_passing({.entries = mine, .direction = direction}, cuts->in,
                                                   cuts->out, *communicator.host());
  pack_ = std::move(made.pack);
  unpack_ = std::move(made.unpack);
  sends_ = detail::counted_in_bytes(std::move(made.sends), problem.element_bytes);
  receives_ = detail::counted_in_bytes(std::move(made.receives), problem.element_bytes);
}

std::uint64_t ShardPlan::ranks_met() const {
  return bytes_by_peer({&sends_, &passed_on_.sends}, problem_.shards.rank).size();
}

std::uint64_t ShardPlan::rounds() const {
  const auto heard = bytes_by_peer({&receives_, &passed_on_.receives}, problem_.shards.rank);
  return std::max(ranks_met(), std::uint64_t{heard.size()});
}

std::uint64_t ShardPlan::most_link_bytes() const {
  std::uint64_t most = 0;
  const auto count = [&](const std::vector<ShardMessage>& messages,
                         const std::vector<ShardMessage>& passed_on) {
    for (const auto& [peer, bytes] : bytes_by_peer({&messages, &passed_on}, problem_.shards.rank))
      most = std::max(most, bytes);
  };
  count(sends_, passed_on_.sends);
  count(receives_, passed_on_.receives);
  return most;
}

std::uint64_t ShardPlan::sent_bytes() const {
  return sum_of_others(sends_, problem_.shards.rank) + sum_of_others(passed_on_.sends, problem_.shards.rank);
}
std::uint64_t ShardPlan::received_bytes() const {
  return sum_of_others(receives_, problem_.shards.rank) +
         sum_of_others(passed_on_.receives, problem_.shards.rank);
}

std::uint64_t ShardPlan::packed_bytes() const {
  if (pack_.is_nothing()) return 0;
  if (pack_.permutation) return in_bytes();
  std::uint64_t end = 0;
  for (const ShardMessage& message : sends_) end = std::max(end, message.offset_bytes + message.bytes);
  return end;
}

std::uint64_t ShardPlan::workspace_bytes() const {
  return packed_bytes() + (unpack_.is_nothing() ? 0 : out_bytes());
}

double ShardPlan::predicted_seconds(const ShardRates& rates) const {
  constexpr double kGiga = 1e9;
  const auto pass = [&](const ShardPass& each, std::uint64_t bytes) {
    return each.is_nothing() ? 0 : 2 * static_cast<double>(bytes) / (rates.copy_gb_per_s * kGiga);
  };
  const auto link = static_cast<double>(std::max(sent_bytes(), received_bytes()));
  return pass(pack_, packed_bytes()) + pass(unpack_, out_bytes()) + link / (rates.link_gb_per_s * kGiga) +
         static_cast<double>(ranks_met()) * rates.message_us * 1e-6;
}

}  // namespace faro
