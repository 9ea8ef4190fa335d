// What the ways of moving rows share: the plan's numbers at hand, and entries that come in blocks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/team.hpp"
#include "faro/plan/row_plan.hpp"
#include "permutation/index_rows.hpp"

namespace faro::cpu {

using detail::kNoRow;

/// Rows that lie within so much memory are in the caches, or on their way there.
inline constexpr std::uint64_t kNearBytes = std::uint64_t{256} << 10;

struct RowWork {
  RowWork(const RowPlan& of, const std::byte* source, std::byte* target)
      : plan(of),
        reader(of.move()),
        in(source),
        out(target),
        count(row_numbers(of.move()).count),
        rows(numbered_rows(of.move())),
        row_bytes(of.layout().row_bytes),
        outer(of.layout().outer),
        threads(std::max(of.target().threads, 1)) {
    if (!std::holds_alternative<Add>(of.move())) join_arrays();
  }

  /// Threads for so many bytes: a few of them are moved sooner than a thread is woken; a row takes as long as
  /// some bytes.
  int threads_for(std::uint64_t bytes) const {
    constexpr std::uint64_t kThreadBytes = 1 << 19;
    constexpr std::uint64_t kLeastBytes = 16;
    const std::uint64_t most = std::max(bytes, kLeastBytes * moved_rows()) / kThreadBytes + 1;
    return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), most));
  }

  const RowPlan& plan;
  detail::RowReader reader;
  const std::byte* in;
  std::byte* out;
  /// Each array's, or of several that are moved as one: their entries after each other.
  std::uint64_t count;  // entries
  std::uint64_t rows;   // that they number
  std::uint64_t row_bytes;
  std::uint64_t outer;  // arrays
  int threads;
  std::vector<std::uint64_t> joined;  // the entries of several arrays; empty: an array by itself
  /// Set where an entry names no row that there is.
  mutable std::atomic<bool> wrong{false};

  std::uint64_t moved_rows() const { return plan.layout().outer * row_numbers(plan.move()).count; }

 private:
  // To begin with an array takes as long as a dozen rows, so that arrays of few entries are moved as fewer
  // with more. Of the last one some may not be there: nothing is moved of it past moved_rows().
  void join_arrays() {
    constexpr std::uint64_t kEntries = 1024;
    const std::uint64_t arrays = count == 0 ? 0 : std::min(kEntries / count, outer);
    if (arrays < 2) return;
    joined.resize(arrays * count);
    if (!reader.read(0, count, joined.data())) wrong.store(true, std::memory_order_relaxed);
    for (std::uint64_t i = count; i < joined.size(); ++i)
      joined[i] = joined[i - count] == kNoRow ? kNoRow : joined[i - count] + rows;
    count *= arrays;
    rows *= arrays;
    outer = (outer + arrays - 1) / arrays;
  }
};

/// Calls work(begin, end) on equal shares of the bytes; they begin at multiples of 4 KiB.
template <typename Work>
void share_out_bytes(std::uint64_t bytes, int threads, const Work& work) {
  constexpr std::uint64_t kShareBytes = 4096;
  share_out((bytes + kShareBytes - 1) / kShareBytes, threads, [&](std::uint64_t begin, std::uint64_t end) {
    work(begin * kShareBytes, std::min(end * kShareBytes, bytes));
  });
}

/// The entries of one thread, in blocks; those of small arrays are read once for all.
class EntryBlocks {
 public:
  static constexpr std::uint64_t kBlock = 1024;
  static constexpr std::uint64_t kAhead =
      kMostElementsAhead;  // entries that follow a block, to fetch their rows

  explicit EntryBlocks(const RowWork& work) : work_(work) {}

  struct Block {
    const std::uint64_t* rows = nullptr;  // `size`, and `ahead` more
    std::uint64_t size = 0;
    std::uint64_t ahead = 0;
  };

  /// Entries from `first` on, at most `most` of them and kBlock, none past `last`.
  Block read(std::uint64_t first, std::uint64_t last, std::uint64_t most = kBlock) {
    const std::uint64_t size = std::min({last - first, most, kBlock});
    const std::uint64_t ahead = std::min(work_.count - first - size, kAhead);
    if (!work_.joined.empty()) {
      end_ = work_.count;
      return {.rows = work_.joined.data() + first, .size = size, .ahead = ahead};
    }
    if (first < begin_ || first + size + ahead > end_) {
      begin_ = first;
      end_ = std::min(first + kBlock + kAhead, work_.count);
      if (!work_.reader.read(begin_, end_ - begin_, rows_.data()))
        work_.wrong.store(true, std::memory_order_relaxed);
    }
    return {.rows = rows_.data() + (first - begin_), .size = size, .ahead = ahead};
  }

  /// Neighbours from `first` on, or entries that name no row: at least one, as far as the block goes that was
  /// read last.
  struct Run {
    std::uint64_t row = 0;
    std::uint64_t length = 0;
    std::uint64_t next = kNoRow;  // the row behind it, where that is known
  };
  /// Requires: first < last (unchecked).
  Run run(std::uint64_t first, std::uint64_t last) {
    if (first < begin_ || first >= end_) static_cast<void>(read(first, last));
    const std::uint64_t* const rows =
        (work_.joined.empty() ? rows_.data() : work_.joined.data()) + (first - begin_);
    const std::uint64_t known = std::min(end_, last) - first;
    Run run{.row = rows[0], .length = 1};
    while (run.length < known && rows[run.length] == (run.row == kNoRow ? kNoRow : run.row + run.length))
      ++run.length;
    if (run.length < known) run.next = rows[run.length];
    return run;
  }

 private:
  const RowWork& work_;
  std::array<std::uint64_t, kBlock + kAhead> rows_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

/// Contributions of a wave, those to one bucket of the output after each other and in the order they came in.
class PartedRows {
 public:
  /// `narrow`: rows of at most 8 bytes, which are kept themselves; of others their position is kept.
  explicit PartedRows(const RowWork& work);

  /// Parts entries first .. last - 1 of array `array`. Requires: at most RowPlan::wave_rows().
  void part(std::uint64_t array, std::uint64_t first, std::uint64_t last);

  std::uint64_t buckets() const { return buckets_; }
  std::uint64_t begin(std::uint64_t bucket) const { return begins_[bucket]; }
  std::uint64_t end(std::uint64_t bucket) const { return begins_[bucket + 1]; }
  /// The output's row.
  std::uint64_t row(std::uint64_t bucket, std::uint64_t at) const {
    return bucket * work_.plan.bucket_rows() + rows_[at];
  }
  /// The row's bytes, in a narrow one's place or in the input.
  const std::byte* bytes(std::uint64_t at) const {
    return narrow_ ? reinterpret_cast<const std::byte*>(&what_[at])
                   : work_.in + (array_ * work_.count + what_[at]) * work_.row_bytes;
  }

 private:
  template <typename Narrow>
  void place(Narrow narrow, std::uint64_t first, std::uint64_t last, std::uint64_t* next);
  const RowWork& work_;
  bool narrow_;
  int bucket_bits_;
  std::uint64_t buckets_;
  std::uint64_t array_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> next_;  // for each thread and bucket
  std::vector<std::uint32_t> rows_;  // within the bucket
  std::vector<std::uint64_t> what_;
};

void run_take(const RowWork& work);
void run_put(const RowWork& work);
void run_add(const RowWork& work);

}  // namespace faro::cpu
