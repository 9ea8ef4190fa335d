#include <algorithm>
#include <utility>

#include "faro/engines/cuda.hpp"
#include "shard/device_shards.hpp"
#include "shard/mesh_method.hpp"
#include "shard/methods.hpp"
#include "shard/shard_units.hpp"

namespace faro::detail {
namespace {
// Copy engines take a row of some KiB as fast as a long one; slices are long enough to fill a link.
std::optional<RowCopies> rows_over_links(const Strided& view, std::uint64_t width, std::size_t peers) {
  constexpr std::uint64_t least_row_bytes = 4 << 10;
  constexpr std::uint64_t slice_bytes = 16 << 20;
  // Slices of all peers together: each is a kernel, a copy and their events, which the host has to queue in
  // time.
  const std::uint64_t most_slices = std::max<std::uint64_t>(2, 16 / std::max<std::size_t>(1, peers));
  constexpr std::uint64_t unit_bytes = 256;
  constexpr std::uint64_t most_pitch_bytes = (std::uint64_t{1} << 31) - 1;  // of cudaMemcpy2D
  const std::uint64_t bytes = element_count(view) * width;
  const RowChoice choice{.slices = std::clamp<std::uint64_t>(bytes / slice_bytes, 1, most_slices),
                         .least_run = (least_row_bytes + width - 1) / width,
                         .unit = width < unit_bytes && unit_bytes % width == 0 ? unit_bytes / width : 1};
  if (bytes < slice_bytes) return std::nullopt;
  std::optional<RowCopies> made = row_copies(view, choice);
  if (made && std::any_of(made->slices.begin(), made->slices.end(), [&](const RowCopies::Slice& slice) {
        return slice.rows > 1 && std::max(slice.from_pitch, slice.to_pitch) * width > most_pitch_bytes;
      }))
    return std::nullopt;
  return made;
}
std::size_t count_of_peers(const std::vector<ShardView>& views, int self) {
  return static_cast<std::size_t>(
      std::count_if(views.begin(), views.end(), [self](const ShardView& each) { return each.peer != self; }));
}

// The views of a map of bits whose axes are cut: where all over links are long rows as they are on both
// sides, which copy engines carry at more of a link's rate than kernels store.
std::optional<std::vector<ShardView>> views_of_long_rows(const ShardPlan& plan) {
  if (!plan.stores().map || !plan.stores().to_output) return std::nullopt;
  const auto redistribution = redistribution_of(plan.problem());
  if (!redistribution) return std::nullopt;
  const int self = plan.problem().shards.rank;
  std::vector<ShardView> views = mesh_passing(*redistribution, self).views;
  const std::size_t peers = count_of_peers(views, self);
  const bool all = std::all_of(views.begin(), views.end(), [&](const ShardView& each) {
    if (each.peer == self) return true;
    const auto rows = rows_over_links(each.view, plan.problem().element_bytes, peers);
    return rows && rows->workspace_elements == 0;
  });
  if (!all || peers == 0) return std::nullopt;
  return views;
}
}  // namespace

std::optional<StoredShards> StoredShards::make(const ShardPlan& plan, int device, std::uint64_t most_bytes) {
  const ShardStores& stores = plan.stores();
  const Target target = cuda::target(device);
  StoredShards made;
  const std::optional<std::vector<ShardView>> long_rows = views_of_long_rows(plan);
  if (stores.map && !long_rows) {
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
  if (!stores.by_views && !long_rows) return std::nullopt;
  const std::vector<ShardView>& views = long_rows ? *long_rows : stores.views;
  // Those over links come first: they take longest, and leave room for the one that stays.
  const int self = plan.problem().shards.rank;
  const std::uint64_t width = plan.problem().element_bytes;
  made.device_ = device;
  made.width_ = width;
  const std::vector<ShardView> by_turns =
      next_rank_first(std::span<const ShardView>(views), self, plan.problem().shards.ranks);
  std::uint64_t workspace_elements = 0;
  const std::size_t peers = count_of_peers(views, self);
  for (const bool over_links : {true, false}) {
    for (const ShardView& each : by_turns) {
      if ((each.peer != self) != over_links) continue;
      if (std::optional<RowCopies> rows =
              over_links ? rows_over_links(each.view, width, peers) : std::nullopt;
          rows && (workspace_elements + rows->workspace_elements) * width <= most_bytes) {
        Copied copied{.peer = each.peer,
                      .packing = {},
                      .rows = std::move(rows->slices),
                      .first = workspace_elements,
                      .side = cuda::SideStream(device)};
        for (const RowCopies::Slice& slice : copied.rows) {
          if (rows->workspace_elements == 0) break;
          copied.packing.emplace_back(Plan({.element_bytes = width, .view = slice.packing}, target),
                                      cuda::ViewShare::beside_copies);
        }
        workspace_elements += rows->workspace_elements;
        made.copied_.push_back(std::move(copied));
        continue;
      }
      const Plan view({.element_bytes = width, .view = each.view}, target);
      const cuda::ViewShare share = over_links             ? cuda::ViewShare::over_links
                                    : made.copied_.empty() ? cuda::ViewShare::all
                                                           : cuda::ViewShare::beside_copies;
      made.views_.push_back(
          {.peer = each.peer, .view = cuda::PeerView(view, share), .side = cuda::SideStream(device)});
    }
  }
  if (workspace_elements > 0) made.workspace_.emplace(workspace_elements * width, device);
  return made;
}

void StoredShards::run(const void* in, void* mine, PeerMemory& memory, Stream stream, std::size_t slices) {
  start(in, memory.open(mine, stream), stream);
  join(stream);
  for (std::size_t k = 0; k < slices; ++k) memory.close(stream);
}

void StoredShards::start(const void* in, const std::vector<std::byte*>& arrays, Stream stream) {
  if (units_) {
    const bool takes_tiles = tiles_ && is_aligned_to(in, tiles_->pass().vector_bytes) &&
                             std::all_of(arrays.begin(), arrays.end(), [this](const std::byte* array) {
                               return is_aligned_to(array, tiles_->pass().vector_bytes);
                             });
    const cuda::PartExecutor& executor = takes_tiles ? *tiles_ : *units_;
    executor.run(in, arrays, {}, stream);
  }
  start_views(in, arrays, stream);
}

void StoredShards::start_views(const void* in, const std::vector<std::byte*>& arrays, Stream stream) {
  // A slice of each peer by turns, so that all links are busy soon.
  std::size_t most = 0;
  for (const Copied& each : copied_) most = std::max(most, each.rows.size());
  for (std::size_t k = 0; k < most; ++k) {
    for (Copied& each : copied_) {
      if (k >= each.rows.size()) continue;
      const RowCopies::Slice& slice = each.rows[k];
      const auto* from = static_cast<const std::byte*>(in);
      if (!each.packing.empty()) {
        std::byte* const packed = workspace_->data() + each.first * width_;
        each.packing[k].run(in, packed, stream);
        from = packed;
      }
      each.side.follow(stream);
      cuda::copy_rows_between(from + slice.from * width_,
                              arrays[static_cast<std::size_t>(each.peer)] + slice.to * width_,
                              {.from_pitch_bytes = slice.from_pitch * width_,
                               .to_pitch_bytes = slice.to_pitch * width_,
                               .row_bytes = slice.run * width_,
                               .rows = slice.rows},
                              device_, each.side.stream());
      each.side.mark(0);
    }
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
}

void StoredShards::join(Stream stream) {
  if (views_.size() > 1) {
    for (View& each : views_) each.side.lead(stream, 0);
  }
  for (Copied& each : copied_) each.side.lead(stream, 0);
}

const char* StoredShards::writers() const {
  if (workspace_) return "kernels pack rows, and copy engines write";
  return copied_.empty() ? "kernels write" : "copy engines write";
}

std::string StoredShards::kernel() const {
  if (!copied_.empty()) return "boxes, copied by rows";
  if (!units_) return "boxes";
  return tiles_ ? tiles_->pass().kernel : units_->pass().kernel;
}

}  // namespace faro::detail
