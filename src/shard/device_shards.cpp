#include "shard/device_shards.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::detail {
namespace {

// The map of units: an element's bits stay below.
Affine of_units(const Affine& map, const ShardUnit& unit) {
  return direct_sum(Affine(unit.extended_bits), map);
}

bool is_aligned(const void* array, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(array) % bytes == 0;
}

bool is_own(const ShardMessage& message, int rank) { return message.peer == rank; }

int log2_of(std::uint64_t count) { return count == 0 ? 0 : static_cast<int>(std::bit_width(count)) - 1; }

}  // namespace

std::optional<ShardUnit> shard_unit(std::uint64_t element_bytes) {
  if (!std::has_single_bit(element_bytes)) return std::nullopt;
  constexpr int widest_bits = 4;
  const int bits = log2_of(element_bytes);
  return ShardUnit{.unit_bits = std::min(bits, widest_bits), .extended_bits = std::max(0, bits - widest_bits)};
}

// --- stores

std::optional<StoredShards> StoredShards::make(const ShardPlan& plan, int device) {
  const ShardStores& stores = plan.stores();
  const Target target = cuda::target(device);
  StoredShards made;
  if (stores.map) {
    const auto unit = shard_unit(plan.problem().element_bytes);
    if (!unit) return std::nullopt;
    const PartProblem part{.map = of_units(*stores.map, *unit),
                           .local_bits = log2_of(plan.in_elements()) + unit->extended_bits,
                           .rank = static_cast<f2::Word>(plan.problem().shards.rank),
                           .unit_bits = unit->unit_bits};
    const auto units = make_unit_part_pass(part);
    if (!units) return std::nullopt;
    made.units_.emplace(*units, device);
    if (const auto tiles = make_part_pass(part, target)) made.tiles_.emplace(*tiles, device);
    return made;
  }
  if (!stores.by_views) return std::nullopt;
  for (const ShardView& each : stores.views) {
    made.views_.push_back({.peer = each.peer,
                           .view = cuda::PeerView(StridedPlan(each.view, plan.problem().element_bytes, target)),
                           .side = cuda::SideStream(device)});
  }
  return made;
}

void StoredShards::run(const void* in, void* mine, PeerMemory& memory, Stream stream) {
  const std::vector<std::byte*> arrays = memory.open(mine, stream);
  if (units_) {
    const bool takes_tiles =
        tiles_ && is_aligned(in, tiles_->pass().vector_bytes) &&
        std::all_of(arrays.begin(), arrays.end(), [this](const std::byte* array) {
          return is_aligned(array, tiles_->pass().vector_bytes);
        });
    const cuda::PartExecutor& executor = takes_tiles ? *tiles_ : *units_;
    executor.run(in, arrays, {}, stream);
  }
  // Views of several peers at once: each has a link, or the memory of this device.
  for (View& each : views_) {
    std::byte* const to = arrays[static_cast<std::size_t>(each.peer)];
    if (views_.size() == 1) {
      each.view.run(in, to, stream);
      continue;
    }
    each.side.follow(stream);
    each.view.run(in, to, each.side.stream());
    each.side.mark(0);
  }
  if (views_.size() > 1) {
    for (View& each : views_) each.side.lead(stream, 0);
  }
  memory.close(stream);
}

std::string StoredShards::kernel() const {
  if (!units_) return "boxes";
  return tiles_ ? tiles_->pass().kernel : units_->pass().kernel;
}

// --- slices

SlicedShards::SlicedShards(const ShardPlan& plan, int device)
    : device_(device),
      rank_(plan.problem().shards.rank),
      packs_(!plan.pack().is_nothing()),
      unpacks_(!plan.unpack().is_nothing()),
      links_(device) {}

std::optional<SlicedShards> SlicedShards::make(const ShardPlan& plan, int device, int slice_bits,
                                               int link_multiprocessors) {
  // Without passes one slice is enough: what a rank keeps is copied meanwhile.
  if (plan.pack().is_nothing() && plan.unpack().is_nothing()) {
    SlicedShards made(plan, device);
    made.cut(plan, 1);
    return made;
  }
  const int most = std::min(slice_bits, plan.slice_bits());
  const auto unit = shard_unit(plan.problem().element_bytes);
  if (!plan.places() || !unit || most < 1) return std::nullopt;
  const Target target = cuda::target(device);
  const int own = link_multiprocessors == 0 ? 0 : std::max(1, target.multiprocessors - link_multiprocessors);
  const int m = log2_of(plan.in_elements());
  const int w_bits = m - plan.rho().value_or(0);
  const auto extended = static_cast<unsigned>(unit->extended_bits);
  const auto self = static_cast<f2::Word>(plan.problem().shards.rank);
  const Affine& map = plan.arrivals() ? *plan.arrivals() : *plan.places();
  const Affine identity(m);
  const auto* const packing = plan.pack().permutation ? std::get_if<Affine>(&*plan.pack().permutation) : nullptr;
  const auto* const unpacking =
      plan.unpack().permutation ? std::get_if<Affine>(&*plan.unpack().permutation) : nullptr;
  FARO_CHECK((packing != nullptr) == !plan.pack().is_nothing());
  FARO_CHECK((unpacking != nullptr) == !plan.unpack().is_nothing());
  const Affine& pack = packing != nullptr ? *packing : identity;

  for (int k = most; k >= 1; --k) {
    std::optional<PartPass> pack_pass;
    std::optional<PartPass> unpack_pass;
    if (packing != nullptr) {
      PartProblem part{.map = of_units(map, *unit),
                       .local_bits = m + unit->extended_bits,
                       .rank = self,
                       .unit_bits = unit->unit_bits};
      for (int i = w_bits - k; i < w_bits; ++i) {
        f2::Word mask = 0;
        for (int j = 0; j < m; ++j) {
          if (f2::bit(pack.matrix().column(j), i)) mask |= f2::unit(j);
        }
        part.slice_masks.push_back(mask << extended);
        part.slice_sources.push_back(pack.inverse_matrix().column(i) << extended);
      }
      pack_pass = make_part_pass(part, target);
      if (!pack_pass) continue;
    }
    if (unpacking != nullptr) {
      PartProblem part{.map = of_units(*unpacking, *unit),
                       .local_bits = m + unit->extended_bits,
                       .rank = 0,
                       .unit_bits = unit->unit_bits};
      for (int i = w_bits - k; i < w_bits; ++i) {
        part.slice_masks.push_back(f2::unit(i) << extended);
        part.slice_sources.push_back(f2::unit(i) << extended);
      }
      unpack_pass = make_part_pass(part, target);
      if (!unpack_pass) continue;
    }
    SlicedShards made(plan, device);
    if (pack_pass) made.pack_.emplace(*pack_pass, device, own);
    if (unpack_pass) made.unpack_.emplace(*unpack_pass, device, own);
    made.slice_moved_by_ = pack.complement() >> (w_bits - k) & f2::low_mask(k);
    // Which slot of the receiver's a message has, as its first element tells.
    made.sent_at_.assign(static_cast<std::size_t>(plan.problem().shards.ranks), 0);
    const Affine back = pack.inverse();
    for (std::size_t at = 0; at < plan.sends().size(); ++at) {
      const ShardMessage& message = plan.sends()[at];
      const f2::Word first = static_cast<f2::Word>(at) << w_bits;
      const f2::Word place = map(back(first) | self << m);
      FARO_CHECK(static_cast<int>(place >> m) == message.peer);
      const f2::Word slot = (place & f2::low_mask(m)) >> w_bits;
      made.sent_at_[static_cast<std::size_t>(message.peer)] =
          (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(slot)) *
          static_cast<std::int64_t>(message.bytes);
    }
    made.cut(plan, std::uint64_t{1} << k);
    return made;
  }
  return std::nullopt;
}

void SlicedShards::cut(const ShardPlan& plan, std::uint64_t slices) {
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    const auto part = [&](const std::vector<ShardMessage>& messages) {
      std::vector<ShardMessage> parts;
      for (const ShardMessage& each : messages) {
        if (is_own(each, rank_)) continue;
        const std::uint64_t bytes = each.bytes / slices;
        parts.push_back(
            {.peer = each.peer, .offset_bytes = each.offset_bytes + slice * bytes, .bytes = bytes});
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

bool SlicedShards::takes(const void* array) const { return is_aligned(array, 16); }

std::vector<std::byte*> SlicedShards::pack_arrays(std::byte* to_send, std::byte* target) const {
  std::vector<std::byte*> arrays;
  for (std::size_t rank = 0; rank < sent_at_.size(); ++rank) {
    const auto begin = reinterpret_cast<std::uintptr_t>(to_send) + static_cast<std::uintptr_t>(sent_at_[rank]);
    arrays.push_back(static_cast<int>(rank) == rank_
                         ? target
                         : reinterpret_cast<std::byte*>(begin));  // NOLINT(performance-no-int-to-ptr)
  }
  return arrays;
}

void SlicedShards::keep_own(const std::byte* from, std::byte* to, Stream stream) const {
  for (std::size_t i = 0; i < own_sends_.size(); ++i) {
    cuda::copy_between(from + own_sends_[i].offset_bytes, to + own_receives_[i].offset_bytes,
                       own_sends_[i].bytes, device_, stream);
  }
}

}  // namespace faro::detail
