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

namespace detail {

template <typename Sum, int kEach, typename Word, typename Queue>
void sum_by(WorkspaceQueue<Queue>& queue, const AddWork& work, const SortedItems<Word>& sorted,
            bool carried) {
  using Stored = typename Sum::Stored;
  SumRows<Sum, kEach> kernel;
  kernel.keys = {.words = sorted.keys, .wide = sizeof(Word) == 8 ? 1 : 0};
  kernel.items = {.words = sorted.items, .wide = kernel.keys.wide};
  kernel.present = sorted.present;
  kernel.pairs = device::Division64(work.entries.count);
  kernel.vectors = device::Division64(work.layout.row_bytes / (sizeof(Stored) * kEach));
  kernel.outer = work.layout.outer;
  kernel.in_rows = work.entries.count;
  kernel.out_rows = work.entries.rows;
  kernel.in = carried ? nullptr : static_cast<const std::byte*>(work.in);
  kernel.out = static_cast<std::byte*>(work.out);
  queue.run(kernel);
}

template <typename Sum, typename Word, typename Queue>
void sum_of(WorkspaceQueue<Queue>& queue, const AddWork& work, const SortedItems<Word>& sorted,
            bool carried) {
  constexpr int kOfVector = 16 / static_cast<int>(sizeof(typename Sum::Stored));
  if (!carried && goes_by_vectors(work.layout.row_bytes, work.in, work.out))
    return sum_by<Sum, kOfVector>(queue, work, sorted, carried);
  sum_by<Sum, 1>(queue, work, sorted, carried);
}

template <typename Short, typename Word, typename Queue>
void sum_short_floats(WorkspaceQueue<Queue>& queue, const AddWork& work, const SortedItems<Word>& sorted,
                      bool carried) {
  if (work.sums == Sums::fp64) return sum_of<kernels::WideSum<Short, double>>(queue, work, sorted, carried);
  if (work.sums == Sums::compensated)
    return sum_of<kernels::CompensatedSum<Short, float>>(queue, work, sorted, carried);
  sum_of<kernels::WideSum<Short, float>>(queue, work, sorted, carried);
}

template <typename Word, typename Queue>
void sum_items(WorkspaceQueue<Queue>& queue, const AddWork& work, const SortedItems<Word>& sorted,
               bool carried) {
  switch (work.number) {
    // Sums that wrap are the same of signed and of unsigned numbers.
    case Number::i8:
    case Number::u8:
      return sum_of<kernels::OwnSum<std::uint8_t>>(queue, work, sorted, carried);
    case Number::i16:
    case Number::u16:
      return sum_of<kernels::OwnSum<std::uint16_t>>(queue, work, sorted, carried);
    case Number::i32:
    case Number::u32:
      return sum_of<kernels::OwnSum<std::uint32_t>>(queue, work, sorted, carried);
    case Number::i64:
    case Number::u64:
      return sum_of<kernels::OwnSum<std::uint64_t>>(queue, work, sorted, carried);
    case Number::f16:
      return sum_short_floats<kernels::Half>(queue, work, sorted, carried);
    case Number::bf16:
      return sum_short_floats<kernels::BrainHalf>(queue, work, sorted, carried);
    case Number::f32:
      if (work.sums == Sums::fp64)
        return sum_of<kernels::WideSum<float, double>>(queue, work, sorted, carried);
      if (work.sums == Sums::compensated)
        return sum_of<kernels::CompensatedSum<float, float>>(queue, work, sorted, carried);
      return sum_of<kernels::OwnSum<float>>(queue, work, sorted, carried);
    case Number::f64:
      if (work.sums == Sums::compensated)
        return sum_of<kernels::CompensatedSum<double, double>>(queue, work, sorted, carried);
      return sum_of<kernels::OwnSum<double>>(queue, work, sorted, carried);
  }
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
    return sum_items(queue, work, sort_items(queue, steps, partition, source), true);
  }
  KeyedEntries source;
  source.entries = work.entries;
  source.faults = work.faults;
  sum_items(queue, work, sort_items(queue, steps, partition, source), false);
}

}  // namespace detail

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
