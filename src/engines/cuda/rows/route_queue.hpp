// A routing and a combination as queues of kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/rows/dispatch_queue.hpp"
#include "engines/cuda/rows/partition_queue.hpp"
#include "engines/cuda/rows/place_items_steps.hpp"
#include "engines/cuda/rows/route_few_step.hpp"
#include "engines/cuda/rows/route_many_steps.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"
#include "faro/permutation/route.hpp"

namespace faro::cuda {

/// What a routing is asked for, in the numbers of its kernels.
struct RouteWork {
  kernels::RowEntries keys;
  kernels::RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  std::uint64_t multiple = 1;
  std::uint64_t capacity = ~std::uint64_t{0};
  std::uint64_t most_places = 0;
};

namespace detail {

template <int kBits, typename Word, typename Queue>
void route_items_of(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition,
                    const RouteWork& work, const DeviceRoute& to) {
  using Place = PlaceItems<kBits, Word>;
  PartitionSteps<Queue, Word> steps(queue, partition);
  const PartitionGrid grid = steps.grid(0, partition.digits.front(), nullptr);
  KeyedEntries source;
  source.entries = work.keys;
  source.faults = work.faults;
  const BucketRule rule{.capacity = work.capacity, .multiple = device::Division64(work.multiple)};
  Place place;
  place.grid = grid;
  place.source = source;
  place.before = steps.before();
  place.rule = rule;
  place.named = work.keys.rows;
  place.offsets = to.offsets;
  place.counts = to.counts;
  place.keys_per_row = device::Division64(work.keys_per_row);
  place.places = to.places;
  place.inverse = to.inverse;
  place.rows = to.rows;
  PadPlaces<Word>& pad = place.padding;
  pad.buckets = grid.buckets();
  pad.totals = steps.totals();
  pad.rule = rule;
  pad.begins = steps.begins();
  pad.most_places = work.most_places;
  pad.inverse = to.inverse;
  pad.rows = to.rows;
  const bool pads = to.inverse != nullptr || to.rows != nullptr;
  // The blocks that place items pad as well, unless there is much more of that.
  constexpr std::uint64_t kMostOfItem = 8;
  const bool apart = partition.chunks == 0 || work.most_places / kMostOfItem > work.keys.count;
  place.pads = pads && !apart;
  const bool is_summed = Place::kSums && partition.chunks > 0 && partition.chunks <= Place::kMostChunks &&
                         work.most_places >> 32 == 0 && !(pads && apart);
  steps.count(grid, source, is_summed);
  if (!is_summed) {
    auto begin = steps.begin_buckets(grid);
    begin.named = work.keys.rows;
    begin.rule = rule;
    begin.offsets = to.offsets;
    begin.counts = to.counts;
    queue.run(begin);
    place.begins = steps.begins();
    if (pads && apart) queue.run(pad);
  }
  queue.run(place);
}

template <typename Word, typename Queue>
void route_items(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition,
                 const RouteWork& work, const DeviceRoute& to) {
  constexpr int kFewBits = 8;
  if (partition.digits.front() <= kFewBits) return route_items_of<kFewBits, Word>(queue, partition, work, to);
  route_items_of<faro::detail::kRouteBits, Word>(queue, partition, work, to);
}

// Words of the sums of `rows` numbers, and of the sums of their tiles.
inline std::uint64_t scan_words(std::uint64_t rows) {
  std::uint64_t words = 0;
  for (;; rows = faro::detail::ceil_div(rows, faro::detail::RowPartition::kTileRows)) {
    words += faro::detail::round_up(rows, faro::detail::RowPartition::kAlignedWords);
    if (rows <= faro::detail::RowPartition::kTileRows) return words;
  }
}

// Each number becomes the sum of those before it.
template <typename Queue>
void scan_sizes(WorkspaceQueue<Queue>& queue, const Columns& columns, std::uint64_t* sizes) {
  ScanColumns<std::uint64_t> scan;
  scan.columns = columns;
  scan.values = sizes;
  if (!columns.is_flat()) {
    const auto carries = queue.template buffer<std::uint64_t>(columns.tiles());
    SumColumns<std::uint64_t> sum;
    sum.columns = columns;
    sum.values = sizes;
    sum.sums = carries.data();
    queue.run(sum);
    scan_sizes(queue, columns.of_tiles(), carries.data());
    scan.carries = carries.data();
  }
  queue.run(scan);
}

template <typename Word, typename Queue>
void route_sorted_items(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition,
                        const RouteWork& work, const DeviceRoute& to) {
  const std::uint64_t buckets = work.keys.rows;
  const auto begins = queue.template buffer<Word>(buckets + 1);
  PartitionSteps<Queue, Word> steps(queue, partition);
  KeyedEntries source;
  source.entries = work.keys;
  source.faults = work.faults;
  constexpr int kAbsentByte = 0xff;
  constexpr std::uint64_t kPlaceBytes = sizeof(std::int64_t);
  if (to.places != nullptr) queue.fill(to.places, kAbsentByte, work.keys.count * kPlaceBytes);
  if (to.inverse != nullptr) queue.fill(to.inverse, kAbsentByte, work.most_places * kPlaceBytes);
  if (to.rows != nullptr) queue.fill(to.rows, kAbsentByte, work.most_places * kPlaceBytes);
  const SortedItems<Word> sorted = sort_items(queue, steps, partition, source);
  const BucketRule rule{.capacity = work.capacity, .multiple = device::Division64(work.multiple)};
  BeginKeys<Word> begin;
  begin.keys = sorted.keys;
  begin.present = sorted.present;
  begin.buckets = buckets;
  begin.begins = begins.data();
  queue.run(begin);
  const auto sizes = queue.template buffer<std::uint64_t>(buckets + 1);
  SizeBuckets<Word> size;
  size.begins = begins.data();
  size.buckets = buckets;
  size.rule = rule;
  size.sizes = sizes.data();
  size.counts = to.counts;
  queue.run(size);
  Columns columns{.rows = buckets + 1, .column_bits = 0, .region_bits = 0};
  while (columns.rows > std::uint64_t{1} << columns.region_bits) ++columns.region_bits;
  scan_sizes(queue, columns, sizes.data());
  PlaceSorted<Word> place;
  place.keys = sorted.keys;
  place.items = sorted.items;
  place.count = work.keys.count;
  place.present = sorted.present;
  place.buckets = buckets;
  place.begins = begins.data();
  place.starts = sizes.data();
  place.rule = rule;
  place.keys_per_row = device::Division64(work.keys_per_row);
  place.places = to.places;
  place.inverse = to.inverse;
  place.rows = to.rows;
  place.offsets = to.offsets;
  queue.run(place);
}

}  // namespace detail

/// How the keys of a routing are partitioned: at once where a block can count all buckets, else by digits.
inline faro::detail::RowPartition route_partition(std::uint64_t keys, std::uint64_t buckets) {
  const bool few = buckets <= std::uint64_t{1} << faro::detail::kRouteBits;
  return faro::detail::row_partition(keys, buckets,
                                     few ? faro::detail::kRouteBits : faro::detail::kPartitionDigitBits);
}

inline std::uint64_t route_workspace_bytes(const faro::detail::RowPartition& partition) {
  if (partition.digits.size() == 1) return partition.table_bytes();
  const std::uint64_t begins =
      faro::detail::round_up(partition.buckets + 1, faro::detail::RowPartition::kAlignedWords);
  return partition.table_bytes() + 4 * partition.pairs_bytes() + begins * partition.word_bytes() +
         detail::scan_words(partition.buckets + 1) * sizeof(std::uint64_t);
}

/// Requires: a partition and a workspace as above.
template <typename Queue>
void route_items(Queue& queue, const faro::detail::RowPartition& partition, const RouteWork& work,
                 const DeviceRoute& to, std::byte* workspace) {
  WorkspaceQueue<Queue> lent(queue, workspace, route_workspace_bytes(partition));
  const bool at_once = partition.digits.size() == 1;
  if (partition.wide) {
    at_once ? detail::route_items<std::uint64_t>(lent, partition, work, to)
            : detail::route_sorted_items<std::uint64_t>(lent, partition, work, to);
  } else {
    at_once ? detail::route_items<std::uint32_t>(lent, partition, work, to)
            : detail::route_sorted_items<std::uint32_t>(lent, partition, work, to);
  }
}

/// Whether one launch does all of it.
inline bool routes_few(const RouteWork& work) {
  constexpr std::uint64_t kMostFewPlaces = std::uint64_t{1} << 31;
  return work.keys.count <= kMostFewKeys && work.keys.rows <= kMostFewBuckets &&
         work.most_places < kMostFewPlaces;
}

/// Requires: routes_few(work).
template <typename Queue>
void route_few(Queue& queue, const RouteWork& work, const DeviceRoute& to, const SentRows& sent) {
  const auto by = [&]<int kBytes>() {
    RouteFew<kBytes> kernel;
    kernel.keys = work.keys;
    kernel.faults = work.faults;
    if (work.keys.count > 0) kernel.keys_per_row = static_cast<std::uint32_t>(work.keys_per_row);
    kernel.rule = {.capacity = work.capacity, .multiple = device::Division64(work.multiple)};
    kernel.most_places = work.most_places;
    kernel.to = to;
    if constexpr (kBytes > 0) kernel.vectors = device::Division64(sent.row_bytes / kBytes);
    kernel.share = kernel.shared_out();
    kernel.in = static_cast<const std::byte*>(sent.in);
    kernel.out = static_cast<std::byte*>(sent.out);
    queue.run(kernel);
  };
  const std::uint64_t all =
      sent.row_bytes | reinterpret_cast<std::uintptr_t>(sent.in) | reinterpret_cast<std::uintptr_t>(sent.out);
  if (sent.row_bytes == 0) return by.template operator()<0>();
  if (all % 16 == 0) return by.template operator()<16>();
  if (all % 4 == 0) return by.template operator()<4>();
  by.template operator()<1>();
}

/// The same of any number, in one launch of few keys, else in four and more. Requires: for those places and
/// rows that are wanted, and a workspace.
template <typename Queue>
void route_and_send(Queue& queue, const faro::detail::RowPartition& partition, const RouteWork& work,
                    const DeviceRoute& to, const SentRows& sent, std::byte* workspace) {
  if (routes_few(work)) return route_few(queue, work, to, sent);
  route_items(queue, partition, work, to, workspace);
  if (sent.row_bytes == 0) return;
  const auto list = [](const std::int64_t* data, std::uint64_t count, std::uint64_t rows) {
    return kernels::RowEntries{.data = data,
                               .count = count,
                               .rows = rows,
                               .marker = ~std::uint64_t{0},
                               .bytes = 8,
                               .is_signed = 1,
                               .has_marker = 1};
  };
  dispatch_rows(queue, {.places = list(to.places, work.keys.count, work.most_places),
                        .taken = list(to.rows, work.most_places, work.keys.count / work.keys_per_row),
                        .faults = work.faults,
                        .keys_per_row = work.keys_per_row,
                        .row_bytes = sent.row_bytes,
                        .in = sent.in,
                        .out = sent.out});
}

/// Whether rows and addresses are whole vectors of 16 bytes.
inline bool goes_by_vectors(std::uint64_t row_bytes, const void* in, const void* out) {
  constexpr std::uint64_t kVectorBytes = 16;
  return (row_bytes | reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) %
             kVectorBytes ==
         0;
}

struct CombineWork {
  kernels::RowEntries places;
  kernels::RowFaults* faults = nullptr;
  std::uint64_t keys_per_row = 1;
  const float* weights = nullptr;
  std::uint64_t row_bytes = 0;
  const void* in = nullptr;
  void* out = nullptr;
};

namespace detail {

template <typename T, typename Real, int kEach, typename Queue>
void combine_by(Queue& queue, const CombineWork& work) {
  CombineRows<T, Real, kEach> kernel;
  kernel.places = work.places;
  kernel.faults = work.faults;
  kernel.keys_per_row = work.keys_per_row;
  kernel.weights = work.weights;
  kernel.parts =
      kernels::RowParts<CombineRows<T, Real, kEach>::kThreads>(work.row_bytes / (sizeof(T) * kEach));
  kernel.in = static_cast<const std::byte*>(work.in);
  kernel.out = static_cast<std::byte*>(work.out);
  queue.run(kernel);
}

template <typename T, typename Real, typename Queue>
void combine_of(Queue& queue, const CombineWork& work) {
  constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));
  if (goes_by_vectors(work.row_bytes, work.in, work.out)) return combine_by<T, Real, kOfVector>(queue, work);
  combine_by<T, Real, 1>(queue, work);
}

}  // namespace detail

/// Requires: numbers and sums that faro::combine takes; arrays aligned to a number.
template <typename Queue>
void combine_rows(Queue& queue, Number number, Sums sums, const CombineWork& work) {
  if (work.places.count == 0 || work.row_bytes == 0) return;
  const bool wide = sums == Sums::fp64;
  switch (number) {
    case Number::f16:
      return wide ? detail::combine_of<kernels::Half, double>(queue, work)
                  : detail::combine_of<kernels::Half, float>(queue, work);
    case Number::bf16:
      return wide ? detail::combine_of<kernels::BrainHalf, double>(queue, work)
                  : detail::combine_of<kernels::BrainHalf, float>(queue, work);
    case Number::f32:
      return wide ? detail::combine_of<float, double>(queue, work)
                  : detail::combine_of<float, float>(queue, work);
    default:
      return detail::combine_of<double, double>(queue, work);
  }
}

}  // namespace faro::cuda
