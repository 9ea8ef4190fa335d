// A stable partition as a queue of kernels (partition_rows_steps.hpp), in a workspace of a fixed size;
// nothing of it waits for the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/cuda/index/index_work.hpp"
#include "engines/cuda/rows/partition_rows_steps.hpp"
#include "faro/error.hpp"
#include "plan/row_partition.hpp"

namespace faro::cuda {

/// A queue that takes memory from a workspace, one array after another, as index work takes a device's.
template <typename Queue>
class WorkspaceQueue {
 public:
  WorkspaceQueue(Queue& queue, std::byte* workspace, std::uint64_t bytes)
      : queue_(queue), next_(workspace), end_(workspace + bytes) {}

  template <typename T>
  class Buffer {
   public:
    explicit Buffer(T* data = nullptr) : data_(data) {}
    T* data() const { return data_; }

   private:
    T* data_;
  };

  template <typename T>
  Buffer<T> buffer(std::uint64_t count) {
    const std::uint64_t words = faro::detail::round_up(count, faro::detail::RowPartition::kAlignedWords);
    std::byte* const begin = next_;
    next_ += words * sizeof(T);
    FARO_CHECK(next_ <= end_);
    return Buffer<T>(reinterpret_cast<T*>(begin));
  }
  template <typename Kernel>
  void run(const Kernel& kernel) {
    queue_.run(kernel);
  }
  void fill(void* to, int byte, std::uint64_t bytes) { queue_.fill(to, byte, bytes); }

 private:
  Queue& queue_;
  std::byte* next_;
  std::byte* end_;
};

/// What the steps of one digit share.
template <typename Queue, typename Word>
class PartitionSteps {
 public:
  template <typename T>
  using Buffer = typename WorkspaceQueue<Queue>::template Buffer<T>;

  /// Takes partition.table_bytes() of the workspace.
  PartitionSteps(WorkspaceQueue<Queue>& queue, const faro::detail::RowPartition& partition)
      : queue_(queue), partition_(partition) {
    const std::uint64_t columns = std::uint64_t{1} << partition.most_bits();
    begins_ = queue.template buffer<std::uint64_t>(columns + 2);
    totals_ = queue.template buffer<Word>(columns);
    tables_.push_back(queue.template buffer<Word>(partition.chunks * columns));
    for (std::uint64_t rows = partition.chunks; rows > faro::detail::RowPartition::kTileRows;) {
      rows = faro::detail::ceil_div(rows, faro::detail::RowPartition::kTileRows);
      tables_.push_back(queue.template buffer<Word>(rows * columns));
    }
  }

  PartitionGrid grid(std::int32_t shift, std::int32_t bits, const std::uint64_t* present) const {
    PartitionGrid made;
    made.items = partition_.items;
    made.rounds = partition_.rounds;
    made.shift = shift;
    made.bits = bits;
    made.present = present;
    made.round_items = partition_.round_items;
    return made;
  }

  /// Fills before() and totals() for this digit, of few chunks when buckets begin. `only_counts`: before()
  /// has the counts of each chunk.
  template <typename Source>
  void count(const PartitionGrid& grid, const Source& source, bool only_counts = false) {
    if (partition_.chunks == 0) return queue_.fill(totals_.data(), 0, grid.buckets() * sizeof(Word));
    CountDigits<Source, Word> kernel;
    kernel.grid = grid;
    kernel.source = source;
    kernel.counts = tables_.front().data();
    queue_.run(kernel);
    if (only_counts || sums_with_buckets()) return;
    Columns columns{.rows = partition_.chunks, .column_bits = grid.bits, .region_bits = 0};
    while (columns.rows > std::uint64_t{1} << columns.region_bits) ++columns.region_bits;
    scan(columns, 0, totals_.data());
  }

  BeginBuckets<Word> begin_buckets(const PartitionGrid& grid) const {
    BeginBuckets<Word> kernel;
    kernel.buckets = grid.buckets();
    kernel.named = grid.buckets();
    if (sums_with_buckets()) {
      kernel.chunks = partition_.chunks;
      kernel.counted = tables_.front().data();
    }
    kernel.totals = totals_.data();
    kernel.begins = begins_.data();
    return kernel;
  }

  const Word* before() const { return tables_.front().data(); }
  const Word* totals() const { return totals_.data(); }
  const std::uint64_t* begins() const { return begins_.data(); }
  /// A word of the device for the number of items.
  std::uint64_t* present() const { return begins_.data() + (std::uint64_t{1} << partition_.most_bits()) + 1; }

 private:
  bool sums_with_buckets() const {
    return partition_.chunks > 0 && partition_.chunks <= BeginBuckets<Word>::kMostChunks;
  }
  // As scan_columns of index work, in memory that is there already.
  void scan(const Columns& columns, std::size_t level, Word* totals) {
    Word* const values = tables_[level].data();
    ScanColumns<Word> scanning;
    scanning.columns = columns;
    scanning.values = values;
    if (columns.is_flat()) {
      scanning.totals = totals;
      queue_.run(scanning);
      return;
    }
    Word* const carries = tables_[level + 1].data();
    SumColumns<Word> sum;
    sum.columns = columns;
    sum.values = values;
    sum.sums = carries;
    queue_.run(sum);
    scan(columns.of_tiles(), level + 1, totals);
    scanning.carries = carries;
    queue_.run(scanning);
  }

  WorkspaceQueue<Queue>& queue_;
  const faro::detail::RowPartition& partition_;
  Buffer<std::uint64_t> begins_;
  Buffer<Word> totals_;
  std::vector<Buffer<Word>> tables_;
};

/// Items in the order of their keys.
template <typename Word>
struct SortedItems {
  const Word* keys = nullptr;
  const Word* items = nullptr;
  const std::uint64_t* present = nullptr;  // how many there are, on the device
};

/// Digit by digit. `first`: KeyedEntries or KeyedValues<Word>. Takes two arrays of keys and two of items.
template <typename Queue, typename Word, typename First>
SortedItems<Word> sort_items(WorkspaceQueue<Queue>& queue, PartitionSteps<Queue, Word>& steps,
                             const faro::detail::RowPartition& partition, const First& first) {
  struct Pairs {
    Word* keys;
    Word* items;
  };
  Pairs pairs[2] = {};
  for (Pairs& each : pairs) {
    each = {.keys = queue.template buffer<Word>(partition.items).data(),
            .items = queue.template buffer<Word>(partition.items).data()};
  }
  const auto pass = [&](const PartitionGrid& grid, const auto& source, const Pairs& to, bool counts_items) {
    steps.count(grid, source);
    auto begin = steps.begin_buckets(grid);
    if (counts_items) begin.present = steps.present();
    queue.run(begin);
    using Source = std::remove_cvref_t<decltype(source)>;
    SpreadPairs<faro::detail::kPartitionDigitBits, Source, Word> spread;
    spread.grid = grid;
    spread.source = source;
    spread.before = steps.before();
    spread.begins = steps.begins();
    spread.keys = to.keys;
    spread.items = to.items;
    queue.run(spread);
  };
  std::int32_t shift = 0;
  std::size_t to = 0;
  for (const int bits : partition.digits) {
    if (shift == 0) {
      pass(steps.grid(shift, bits, nullptr), first, pairs[to], true);
    } else {
      KeyedPairs<Word> source;
      source.keys = pairs[1 - to].keys;
      source.items = pairs[1 - to].items;
      pass(steps.grid(shift, bits, steps.present()), source, pairs[to], false);
    }
    shift += bits;
    to = 1 - to;
  }
  return {.keys = pairs[1 - to].keys, .items = pairs[1 - to].items, .present = steps.present()};
}

}  // namespace faro::cuda
