#include <algorithm>
#include <utility>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "shard/device_shards.hpp"
#include "shard/shard_units.hpp"
#include "shard/viewed_messages.hpp"

namespace faro::detail {
namespace {

bool is_own(const ShardMessage& message, int rank) { return message.peer == rank; }

}  // namespace

std::vector<SliceGroup> slice_groups(int slice_bits, bool short_ends) {
  constexpr int eighth_bits = 3;
  if (short_ends && slice_bits >= eighth_bits) {
    const std::uint64_t eighth = std::uint64_t{1} << (slice_bits - eighth_bits);
    return {{0, eighth}, {eighth, 3 * eighth}, {4 * eighth, 3 * eighth}, {7 * eighth, eighth}};
  }
  std::vector<SliceGroup> equal;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << slice_bits; ++first) equal.push_back({first, 1});
  return equal;
}

SlicedShards::SlicedShards(const ShardPlan& plan, int device)
    : device_(device),
      rank_(plan.problem().shards.rank),
      packs_(!plan.pack().is_nothing()),
      unpacks_(!plan.unpack().is_nothing()),
      links_(device),
      signals_(device) {}

std::optional<SlicedShards> SlicedShards::make(const ShardPlan& plan, int device, const Choice& choice) {
  const bool has_passes = !plan.pack().is_nothing() || !plan.unpack().is_nothing();
  if (choice.stored && (choice.in_place || plan.unpack().is_nothing() || plan.stores().by_views))
    return std::nullopt;
  const bool by_views = plan.stores().by_views && !choice.in_place;
  if (!has_passes && !by_views) {
    // A copy by the driver takes all multiprocessors, and kernels of the links wait for its end.
    Choice one = choice;
    one.slice_bits = 0;
    SlicedShards made(plan, device);
    if (!choice.in_place && plan.places() && shard_unit(plan.problem().element_bytes) &&
        made.make_passes(plan, one, true))
      return made;
    SlicedShards copying(plan, device);
    copying.cut(plan, 1, {{}});
    return copying;
  }
  if (by_views) {
    SlicedShards made(plan, device);
    // Ranks whose arrays are registered all pack and unpack; others may differ in that, and in slices then.
    Choice each = choice;
    if (!choice.registered) each.slice_bits = 0;
    made.make_views(plan, each);
    return made;
  }
  if (!plan.places() || !shard_unit(plan.problem().element_bytes)) return std::nullopt;
  for (const bool directly : {true, false}) {
    if (directly && choice.in_place) continue;
    Choice each = choice;
    each.slice_bits = std::min(choice.slice_bits, plan.slice_bits());
    for (; each.slice_bits >= (directly ? 0 : 1); --each.slice_bits) {
      SlicedShards made(plan, device);
      if (made.make_passes(plan, each, directly)) return made;
    }
  }
  return std::nullopt;
}

std::optional<SlicedShards::Pass> SlicedShards::make_pass(const PartProblem& problem, int few) const {
  const auto pass = make_part_pass(problem, cuda::target(device_));
  if (!pass) return std::nullopt;
  return Pass{.on_all = cuda::PartExecutor(*pass, device_),
              .beside_links = cuda::PartExecutor(*pass, device_, few)};
}

namespace {

// How many multiprocessors the passes take that go on while the links work; 0: all.
struct SharedOut {
  int packing = 0;
  int others = 0;
};
SharedOut shared_out(const SlicedShards::Choice& choice, int multiprocessors) {
  // A few are left for kernels by which streams of other processes are waited for.
  constexpr int for_signals = 4;
  const int wanted = choice.stored       ? multiprocessors * 11 / 20
                     : choice.registered ? multiprocessors * 2 / 5
                                         : multiprocessors * 13 / 20;
  const int links = choice.link_multiprocessors < 0 ? wanted : choice.link_multiprocessors;
  if (links == 0) return {};
  if (choice.stored) return {.packing = links, .others = std::max(1, multiprocessors - links - for_signals)};
  const int few = std::max(1, multiprocessors - links);
  return {.packing = few, .others = few};
}

}  // namespace

// Functionals on places of the part, a number's bits: of `matrix` x from bit `first` on. Widened to units.
struct NumberedBy {
  const Affine& of;
  int first = 0;
  int count = 0;
};
namespace {
void add_slices(PartProblem& part, const NumberedBy& by, int extended_bits) {
  for (int i = by.first; i < by.first + by.count; ++i) {
    f2::Word mask = 0;
    for (int j = 0; j < by.of.bits(); ++j) {
      if (f2::bit(by.of.matrix().column(j), i)) mask |= f2::unit(j);
    }
    part.slice_masks.push_back(mask << extended_bits);
    part.slice_sources.push_back(by.of.inverse_matrix().column(i) << extended_bits);
  }
}

const Affine* affine_of(const ShardPass& pass) {
  return pass.permutation ? std::get_if<Affine>(&*pass.permutation) : nullptr;
}
}  // namespace

bool SlicedShards::make_passes(const ShardPlan& plan, const Choice& choice, bool directly) {
  const ShardUnit unit = *shard_unit(plan.problem().element_bytes);
  const int m = log2_of(plan.in_elements());
  const int rho = plan.rho().value_or(0);
  const int w_bits = m - rho;
  const int k = choice.slice_bits;
  const Affine identity(m);
  const Affine* const packing = affine_of(plan.pack());
  const Affine* const unpacking = affine_of(plan.unpack());
  FARO_CHECK((packing != nullptr) == packs_ && (unpacking != nullptr) == unpacks_);
  const Affine& pack = packs_ ? *packing : identity;
  const Affine& map = plan.arrivals() ? *plan.arrivals() : *plan.places();
  const auto own_of = [this](const std::vector<ShardMessage>& messages) -> std::optional<std::uint64_t> {
    for (const ShardMessage& each : messages) {
      if (is_own(each, rank_)) return each.offset_bytes / each.bytes;
    }
    return std::nullopt;
  };
  const auto part_of = [&](const Affine& places, f2::Word rank) {
    return PartProblem{.map = of_units(places, unit),
                       .local_bits = m + unit.extended_bits,
                       .rank = rank,
                       .unit_bits = unit.unit_bits};
  };
  // Groups of slices are fewer runs where a message's slices have neighbouring numbers.
  const auto number_slices = [&](PartProblem& part, const Affine& by) {
    if (choice.short_ends) add_slices(part, {by, w_bits - k, k}, unit.extended_bits);
    if (directly) add_slices(part, {by, w_bits, rho}, unit.extended_bits);
    if (!choice.short_ends) add_slices(part, {by, w_bits - k, k}, unit.extended_bits);
  };
  const auto tell_numbers = [&](Pass& pass) {
    pass.by_message = choice.short_ends;
    pass.slice_bits = k;
    pass.message_bits = directly ? rho : 0;
  };
  const SharedOut few = shared_out(choice, cuda::target(device_).multiprocessors);
  if (packs_ || choice.stored) {
    PartProblem part = part_of(map, static_cast<f2::Word>(rank_));
    number_slices(part, pack);
    pack_ = make_pass(part, few.packing);
    if (!pack_) return false;
    tell_numbers(*pack_);
    if (directly) pack_->left_out = own_of(plan.sends());
  }
  if (unpacks_) {
    PartProblem part = part_of(*unpacking, 0);
    number_slices(part, identity);
    unpack_ = make_pass(part, few.others);
    if (!unpack_) return false;
    tell_numbers(*unpack_);
    if (directly) unpack_->left_out = own_of(plan.receives());
  }
  if (directly) {
    PartProblem part = part_of(*plan.places(), static_cast<f2::Word>(rank_));
    add_slices(part, {pack, w_bits, rho}, unit.extended_bits);
    std::optional<Pass> own = make_pass(part, few.others);
    if (!own) return false;
    const auto number = own_of(plan.sends());
    if (number) {
      own_message_ = *number;
      own_pass_ = std::move(own->beside_links);
    }
  }
  slice_moved_by_ = pack.complement() >> (w_bits - k) & f2::low_mask(k);
  find_slots(plan, map, pack);
  cut(plan, std::uint64_t{1} << k, slice_groups(k, choice.short_ends));
  return true;
}
void SlicedShards::make_views(const ShardPlan& plan, const Choice& choice) {
  by_views_ = true;
  const Target target = cuda::target(device_);
  const std::uint64_t width = plan.problem().element_bytes;
  groups_ = slice_groups(choice.slice_bits, choice.short_ends);
  // While the links work, their kernels have multiprocessors of their own; or where a device cannot be parted
  // a block of a view's is on each: then NCCL's, which come first, find room.
  const bool is_beside = groups_.size() > 1 && choice.link_multiprocessors != 0;
  if (is_beside) passes_ = beside_links(device_, choice.link_multiprocessors);
  const cuda::ViewShare share = is_beside && !passes_ ? cuda::ViewShare::beside_copies : cuda::ViewShare::all;
  const auto cut = [&](MessageSide side, std::vector<std::vector<cuda::PeerView>>& views,
                       std::vector<std::vector<ShardMessage>>& messages, bool has_views) {
    FARO_CHECK(has_views || groups_.size() == 1);
    const std::vector<ViewedMessage> whole = viewed_messages(plan, side);
    for (const SliceGroup& group : groups_) {
      views.emplace_back();
      messages.emplace_back();
      const bool is_alone =
          group.first == (side == MessageSide::packed ? groups_.front() : groups_.back()).first;
      for (const ViewedMessage& each : whole) {
        const ViewedMessage part = has_views ? part_of(each, group, choice.slice_bits, width) : each;
        if (part.message.bytes == 0) continue;
        messages.back().push_back(part.message);
        if (has_views && part.moves)
          views.back().emplace_back(Plan({.element_bytes = width, .view = part.view}, target),
                                    is_alone ? cuda::ViewShare::all : share);
      }
    }
  };
  cut(MessageSide::packed, pack_views_, sends_, packs_);
  cut(MessageSide::unpacked, unpack_views_, receives_, unpacks_);
  for (const ShardView& each : plan.stores().views) {
    if (each.peer == rank_)
      own_views_.emplace_back(Plan({.element_bytes = width, .view = each.view}, target), share);
  }
}

std::optional<cuda::SideStream> SlicedShards::beside_links(int device, int link_multiprocessors) {
  const int all = cuda::target(device).multiprocessors;
  const int links = link_multiprocessors < 0 ? all * 9 / 20 : link_multiprocessors;
  return links == 0 ? std::nullopt : cuda::SideStream::on_few(device, std::max(1, all - links));
}

void SlicedShards::pack_slice(std::size_t k, const void* in, const Buffers& buffers, Stream stream) const {
  for (const cuda::PeerView& view : pack_views_[k]) view.run(in, buffers.to_send, stream);
}

void SlicedShards::exchange_slice(std::size_t k, const void* in, void* out, const Buffers& buffers,
                                  Communicator& communicator, Stream stream) const {
  communicator.exchange(packs_ ? buffers.to_send : in, sends_[k], unpacks_ ? buffers.received : out,
                        receives_[k], stream);
}

void SlicedShards::keep_views(const void* in, void* out, Stream stream) const {
  for (const cuda::PeerView& view : own_views_) view.run(in, out, stream);
}

void SlicedShards::unpack_slice(std::size_t k, void* out, const Buffers& buffers, Stream stream) const {
  for (const cuda::PeerView& view : unpack_views_[k]) view.run(buffers.received, out, stream);
}

void SlicedShards::run_views(const void* in, void* out, const Buffers& buffers, Communicator& communicator,
                             Stream stream) {
  // The first slice is packed, and the last unpacked, while the links have nothing to do.
  const Stream beside = passes_ ? passes_->stream() : stream;
  links_.follow(stream);
  for (std::size_t k = 0; k < slices(); ++k) {
    const Stream packing = k == 0 ? stream : beside;
    pack_slice(k, in, buffers, packing);
    if (passes_ && k == 0) passes_->follow(stream);
    if (packs_) links_.follow(packing);
    exchange_slice(k, in, out, buffers, communicator, links_.stream());
    links_.mark(k);
  }
  keep_views(in, out, beside);
  for (std::size_t k = 0; k < slices(); ++k) {
    const bool is_last = k + 1 == slices();
    if (passes_ && is_last) {
      passes_->mark(0);
      passes_->lead(stream, 0);
    }
    const Stream unpacking = is_last ? stream : beside;
    links_.lead(unpacking, k);
    unpack_slice(k, out, buffers, unpacking);
  }
}

void SlicedShards::run_stored(const void* in, void* out, std::byte* received, PeerMemory& memory,
                              Stream stream) {
  const std::vector<std::byte*> arrays = memory.open(received, stream);
  links_.follow(stream);
  for (std::size_t k = 0; k < slices(); ++k) {
    pack_group(in, arrays, groups_[k], true, links_.stream());
    // The next slice is stored while the others' stores of this one are waited for.
    signals_.follow(links_.stream());
    memory.close(signals_.stream());
    signals_.mark(k);
  }
  if (own_pass_) keep_own(in, nullptr, out, nullptr, stream);
  for (std::size_t k = 0; k < slices(); ++k) {
    signals_.lead(stream, k);
    run_slices(*unpack_, received, {static_cast<std::byte*>(out)}, groups_[k], k + 1 < slices(), stream);
  }
}

// Which slot of the receiver's a message has, as its first element tells.
void SlicedShards::find_slots(const ShardPlan& plan, const Affine& map, const Affine& pack) {
  const int m = pack.bits();
  const int w_bits = m - plan.rho().value_or(0);
  const auto self = static_cast<f2::Word>(rank_);
  sent_at_.assign(static_cast<std::size_t>(plan.problem().shards.ranks), 0);
  const Affine back = pack.inverse();
  for (std::size_t at = 0; at < plan.sends().size(); ++at) {
    const ShardMessage& message = plan.sends()[at];
    const f2::Word first = static_cast<f2::Word>(at) << w_bits;
    const f2::Word place = map(back(first) | self << m);
    FARO_CHECK(static_cast<int>(place >> m) == message.peer);
    const f2::Word slot = (place & f2::low_mask(m)) >> w_bits;
    sent_at_[static_cast<std::size_t>(message.peer)] =
        (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(slot)) *
        static_cast<std::int64_t>(message.bytes);
  }
}

void SlicedShards::run_slices(const Pass& pass, const void* in, const std::vector<std::byte*>& arrays,
                              const SliceGroup& slices, bool beside_links, Stream stream) const {
  const cuda::PartExecutor& executor = beside_links ? pass.beside_links : pass.on_all;
  const auto run = [&](std::uint64_t from, std::uint64_t to) {
    if (from < to) executor.run(in, arrays, {.first = from, .count = to - from}, stream);
  };
  const std::uint64_t end = slices.first + slices.count;
  if (pass.by_message) {
    for (std::uint64_t m = 0; m < std::uint64_t{1} << pass.message_bits; ++m) {
      if (m != pass.left_out) run((m << pass.slice_bits) + slices.first, (m << pass.slice_bits) + end);
    }
    return;
  }
  std::uint64_t next = slices.first << pass.message_bits;
  for (std::uint64_t slice = slices.first; pass.left_out && slice < end; ++slice) {
    const std::uint64_t own = (slice << pass.message_bits) + *pass.left_out;
    run(next, own);
    next = own + 1;
  }
  run(next, end << pass.message_bits);
}

// A slice of the message need not have its number among those of the packing.
void SlicedShards::pack_group(const void* in, const std::vector<std::byte*>& arrays, const SliceGroup& group,
                              bool beside_links, Stream stream) const {
  if (slice_moved_by_ == 0 || groups_.size() == 1)
    return run_slices(*pack_, in, arrays, group, beside_links, stream);
  for (std::uint64_t slice = group.first; slice < group.first + group.count; ++slice)
    run_slices(*pack_, in, arrays, {.first = slice ^ slice_moved_by_}, beside_links, stream);
}

void SlicedShards::cut(const ShardPlan& plan, std::uint64_t slices, std::vector<SliceGroup> groups) {
  groups_ = std::move(groups);
  for (const SliceGroup& group : groups_) {
    const auto part = [&](const std::vector<ShardMessage>& messages) {
      std::vector<ShardMessage> parts;
      for (const ShardMessage& each : messages) {
        if (is_own(each, rank_)) continue;
        const std::uint64_t bytes = each.bytes / slices;
        parts.push_back({.peer = each.peer,
                         .offset_bytes = each.offset_bytes + group.first * bytes,
                         .bytes = group.count * bytes});
      }
      return parts;
    };
    sends_.push_back(part(plan.sends()));
    receives_.push_back(part(plan.receives()));
  }
  for (const ShardMessage& each : plan.sends()) {
    if (is_own(each, rank_)) own_sends_.push_back(each);
  }
  for (const ShardMessage& each : plan.receives()) {
    if (is_own(each, rank_)) own_receives_.push_back(each);
  }
  FARO_CHECK(own_sends_.size() == own_receives_.size());
}

bool SlicedShards::takes(const void* in, const void* out) const {
  constexpr std::uint64_t vector_bytes = 16;
  return is_aligned_to(in, vector_bytes) && is_aligned_to(out, vector_bytes);
}

std::vector<std::byte*> SlicedShards::pack_arrays(std::byte* to_send, std::byte* target) const {
  std::vector<std::byte*> arrays;
  for (std::size_t rank = 0; rank < sent_at_.size(); ++rank) {
    const auto begin =
        reinterpret_cast<std::uintptr_t>(to_send) + static_cast<std::uintptr_t>(sent_at_[rank]);
    arrays.push_back(static_cast<int>(rank) == rank_
                         ? target
                         : reinterpret_cast<std::byte*>(begin));  // NOLINT(performance-no-int-to-ptr)
  }
  return arrays;
}

void SlicedShards::copy_own(const std::byte* from, std::byte* to, Stream stream) const {
  for (std::size_t i = 0; i < own_sends_.size(); ++i) {
    cuda::copy_between(from + own_sends_[i].offset_bytes, to + own_receives_[i].offset_bytes,
                       own_sends_[i].bytes, device_, stream);
  }
}

// While the links work.
void SlicedShards::keep_own(const void* in, const std::byte* from, void* out, std::byte* to,
                            Stream stream) const {
  if (!own_pass_) return copy_own(from, to, stream);
  std::vector<std::byte*> arrays(sent_at_.size(), nullptr);
  arrays[static_cast<std::size_t>(rank_)] = static_cast<std::byte*>(out);
  own_pass_->run(in, arrays, {.first = own_message_, .count = 1}, stream);
}

}  // namespace faro::detail
