// Rows added up as a queue of kernels: items in the order of where they go, then their sums.
//
//     rows of at most a word, one array     the numbers themselves travel with the keys
//     others                                the items' numbers travel, and each sum fetches its rows
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/rows/partition_queue.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "engines/cuda/rows/row_queue.hpp"
#include "engines/cuda/rows/sum_rows_step.hpp"

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

template <typename Short, typename Queue>
void sum_short_floats(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  if (work.sums == Sums::fp64) return sum_of<kernels::WideSum<Short, double>>(queue, work, sorted);
  if (work.sums == Sums::compensated)
    return sum_of<kernels::CompensatedSum<Short, float>>(queue, work, sorted);
  sum_of<kernels::WideSum<Short, float>>(queue, work, sorted);
}

template <typename Queue>
void sum_items(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  switch (work.number) {
    // Sums that wrap are the same of signed and of unsigned numbers.
    case Number::i8:
    case Number::u8:
      return sum_of<kernels::OwnSum<std::uint8_t>>(queue, work, sorted);
    case Number::i16:
    case Number::u16:
      return sum_of<kernels::OwnSum<std::uint16_t>>(queue, work, sorted);
    case Number::i32:
    case Number::u32:
      return sum_of<kernels::OwnSum<std::uint32_t>>(queue, work, sorted);
    case Number::i64:
    case Number::u64:
      return sum_of<kernels::OwnSum<std::uint64_t>>(queue, work, sorted);
    case Number::f16:
      return sum_short_floats<kernels::Half>(queue, work, sorted);
    case Number::bf16:
      return sum_short_floats<kernels::BrainHalf>(queue, work, sorted);
    case Number::f32:
      if (work.sums == Sums::fp64) return sum_of<kernels::WideSum<float, double>>(queue, work, sorted);
      if (work.sums == Sums::compensated)
        return sum_of<kernels::CompensatedSum<float, float>>(queue, work, sorted);
      return sum_of<kernels::OwnSum<float>>(queue, work, sorted);
    case Number::f64:
      if (work.sums == Sums::compensated)
        return sum_of<kernels::CompensatedSum<double, double>>(queue, work, sorted);
      return sum_of<kernels::OwnSum<double>>(queue, work, sorted);
  }
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

/// The sums alone, of items that are in their order.
template <typename Queue>
void add_in_order(Queue& queue, const AddWork& work, const AddedItems& sorted) {
  detail::sum_items(queue, work, sorted);
}

/// Requires: arrays aligned to a number; a workspace of table_bytes() and four pairs_bytes().
template <typename Queue>
void add_rows(Queue& queue, const faro::detail::RowPartition& partition, const AddWork& work,
              std::byte* workspace) {
  if (work.entries.count == 0 || work.entries.rows == 0 || work.layout.outer == 0) return;
  WorkspaceQueue<Queue> lent(queue, workspace, partition.table_bytes() + 4 * partition.pairs_bytes());
  if (partition.wide) return detail::add_items<std::uint64_t>(lent, partition, work);
  detail::add_items<std::uint32_t>(lent, partition, work);
}

}  // namespace faro::cuda
