// Rows added up as a queue of kernels: items in the order of where they go, then their sums.
//
//     rows of at most a word, one array     the numbers themselves travel with the keys
//     others                                the items' numbers travel, and each sum fetches its rows
//
// Numbers of at most 4 bytes have other kernels, for bins (bin_steps.hpp); the partition says which.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/rows/bin_steps.hpp"
#include "engines/cuda/rows/partition_queue.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

struct AddWork {
  kernels::RowEntries entries;
  kernels::RowFaults* faults = nullptr;
  RowLayout layout;
  Number number = Number::f32;
  Sums sums = Sums::usual;
  const void* in = nullptr;
  void* out = nullptr;
};

/// What is added, in the order of where it goes.
struct AddedItems {
  PairWords keys;
  PairWords items;                         // the rows' numbers, or
  bool carried = false;                    // the numbers that are added
  const std::uint64_t* present = nullptr;  // null: as many as there are entries
};

namespace detail {

template <typename Sum, int kEach, typename Queue>
void sum_by(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  using Stored = typename Sum::Stored;
  SumRows<Sum, kEach> kernel;
  kernel.keys = sorted.keys;
  kernel.items = sorted.items;
  kernel.present = sorted.present;
  kernel.pairs = device::Division64(work.entries.count);
  kernel.vectors = device::Division64(work.layout.row_bytes / (sizeof(Stored) * kEach));
  kernel.outer = work.layout.outer;
  kernel.in_rows = work.entries.count;
  kernel.out_rows = work.entries.rows;
  kernel.in = sorted.carried ? nullptr : static_cast<const std::byte*>(work.in);
  kernel.out = static_cast<std::byte*>(work.out);
  queue.run(kernel);
}

template <typename Sum, typename Queue>
void sum_of(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  constexpr int kOfVector = 16 / static_cast<int>(sizeof(typename Sum::Stored));
  if (!sorted.carried && goes_by_vectors(work.layout.row_bytes, work.in, work.out))
    return sum_by<Sum, kOfVector>(queue, work, sorted);
  sum_by<Sum, 1>(queue, work, sorted);
}

/// Calls body.operator()<Sum>() for how these are added.
template <typename Short, typename Body>
void with_short_sum(Sums sums, const Body& body) {
  if (sums == Sums::fp64) return body.template operator()<kernels::WideSum<Short, double>>();
  if (sums == Sums::compensated) return body.template operator()<kernels::CompensatedSum<Short, float>>();
  body.template operator()<kernels::WideSum<Short, float>>();
}

template <typename Body>
void with_sum(Number number, Sums sums, const Body& body) {
  switch (number) {
    // Sums that wrap are the same of signed and of unsigned numbers.
    case Number::i8:
    case Number::u8:
      return body.template operator()<kernels::OwnSum<std::uint8_t>>();
    case Number::i16:
    case Number::u16:
      return body.template operator()<kernels::OwnSum<std::uint16_t>>();
    case Number::i32:
    case Number::u32:
      return body.template operator()<kernels::OwnSum<std::uint32_t>>();
    case Number::i64:
    case Number::u64:
      return body.template operator()<kernels::OwnSum<std::uint64_t>>();
    case Number::f16:
      return with_short_sum<kernels::Half>(sums, body);
    case Number::bf16:
      return with_short_sum<kernels::BrainHalf>(sums, body);
    case Number::f32:
      if (sums == Sums::fp64) return body.template operator()<kernels::WideSum<float, double>>();
      if (sums == Sums::compensated) return body.template operator()<kernels::CompensatedSum<float, float>>();
      return body.template operator()<kernels::OwnSum<float>>();
    case Number::f64:
      if (sums == Sums::compensated)
        return body.template operator()<kernels::CompensatedSum<double, double>>();
      return body.template operator()<kernels::OwnSum<double>>();
    default:
      FARO_CHECK(is_summed(number));
  }
}

template <typename Queue>
void sum_items(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  with_sum(work.number, work.sums, [&]<typename Sum>() { sum_of<Sum>(queue, work, sorted); });
}

// Digit by digit above the bins' bits, then a warp a bin.
template <typename Queue>
void add_by_bins(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition,
                 const AddWork& work) {
  PartitionSteps<Queue, std::uint32_t> steps(queue, partition);
  std::uint64_t* pairs[2] = {};
  for (std::uint64_t*& each : pairs) each = queue.template buffer<std::uint64_t>(partition.items).data();
  std::int32_t shift = partition.bin_bits;
  std::size_t to = 0;
  const auto pass = [&](int bits, const auto& source, bool first) {
    const PartitionGrid grid = steps.grid(shift, bits, first ? nullptr : steps.present());
    steps.count(grid, source);
    auto begin = steps.begin_buckets(grid);
    if (first) begin.present = steps.present();
    queue.run(begin);
    SpreadBins<std::remove_cvref_t<decltype(source)>> spread;
    spread.grid = grid;
    spread.source = source;
    spread.before = steps.before();
    spread.begins = steps.begins();
    spread.pairs = pairs[to];
    queue.run(spread);
    shift += bits;
    to = 1 - to;
  };
  for (const int bits : partition.digits) {
    if (shift != partition.bin_bits) {
      PackedPairs source;
      source.pairs = pairs[1 - to];
      pass(bits, source, false);
      continue;
    }
    KeyedValues<std::uint32_t> source;
    source.entries = work.entries;
    source.faults = work.faults;
    source.rows = static_cast<const std::byte*>(work.in);
    source.bytes = static_cast<std::int32_t>(work.layout.row_bytes);
    pass(bits, source, true);
  }
  with_sum(work.number, work.sums, [&]<typename Sum>() {
    if constexpr (sizeof(typename Sum::Stored) <= sizeof(std::uint32_t)) {
      SumBins<Sum> kernel;
      kernel.pairs = pairs[1 - to];
      kernel.present = steps.present();
      kernel.bin_bits = partition.bin_bits;
      kernel.out_rows = work.entries.rows;
      kernel.out = static_cast<std::byte*>(work.out);
      queue.run(kernel);
    }
  });
}

template <typename Word>
AddedItems added_items(const SortedItems<Word>& sorted, bool carried) {
  constexpr std::int32_t kWide = sizeof(Word) == 8 ? 1 : 0;
  return {.keys = {.words = sorted.keys, .wide = kWide},
          .items = {.words = sorted.items, .wide = kWide},
          .carried = carried,
          .present = sorted.present};
}

template <typename Word, typename Queue>
void add_items(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition,
               const AddWork& work) {
  PartitionSteps<Queue, Word> steps(queue, partition);
  const std::uint64_t width = work.layout.row_bytes;
  if (width == bytes_of(work.number) && width <= sizeof(Word) && work.layout.outer == 1) {
    KeyedValues<Word> source;
    source.entries = work.entries;
    source.faults = work.faults;
    source.rows = static_cast<const std::byte*>(work.in);
    source.bytes = static_cast<std::int32_t>(width);
    return sum_items(queue, work, added_items(sort_items(queue, steps, partition, source), true));
  }
  KeyedEntries source;
  source.entries = work.entries;
  source.faults = work.faults;
  sum_items(queue, work, added_items(sort_items(queue, steps, partition, source), false));
}

}  // namespace detail

/// Requires: arrays aligned to a number; bins for numbers of at most 4 bytes alone, one a row; a workspace of
/// table_bytes() and four pairs_bytes().
template <typename Queue>
void add_rows(Queue& queue, const faro::detail::RowPartition& partition, const AddWork& work,
              std::byte* workspace) {
  if (work.entries.count == 0 || work.entries.rows == 0 || work.layout.outer == 0) return;
  WorkspaceQueue<Queue> lent(queue, workspace, partition.table_bytes() + 4 * partition.pairs_bytes());
  if (partition.binned()) return detail::add_by_bins(lent, partition, work);
  if (partition.wide) return detail::add_items<std::uint64_t>(lent, partition, work);
  detail::add_items<std::uint32_t>(lent, partition, work);
}

}  // namespace faro::cuda
