// Transposing a small matrix that lies in the first-level cache, by registers, and what a thread has under
// way meanwhile: runs of the matrix before it on their way to the output, rows of the one after it on theirs
// from memory.
//
//     rows of the next box ---fetched---> caches
//     rows of this one     ---turned in registers, a line of each row at a time---> stage
//     the stage before     ---whole lines, past the caches---> output
//
// Memory is busy all the time so: a thread that reads, then turns, then writes takes the sum of the three.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engines/cpu/element_width.hpp"
#include "engines/cpu/run_traffic.hpp"
#include "engines/cpu/strided_nest.hpp"
#include "plan/cpu/cpu_workspace.hpp"
#include "plan/cpu/transpose_workers.hpp"

namespace faro::cpu {

/// A matrix in memory: its rows are `stride_bytes` apart, its elements side by side.
struct PlaneIn {
  const std::byte* data = nullptr;
  std::uint64_t stride_bytes = 0;
};
struct PlaneOut {
  std::byte* data = nullptr;
  std::uint64_t stride_bytes = 0;
};

/// A matrix whose rows begin anywhere, and its transpose likewise: rows[r] bytes from `data`.
struct PlaneRows {
  const std::byte* data = nullptr;
  const std::int64_t* rows = nullptr;
  std::uint64_t count = 0;
};
struct PlaneColumns {
  std::byte* data = nullptr;
  const std::int64_t* columns = nullptr;
  std::uint64_t count = 0;
};

using faro::detail::transposes_in_registers;

/// How rows are fetched into the caches.
struct RowFetch {
  double lines_a_line = 1;    // for each that is transposed
  bool second_level = false;  // into that cache instead of the first
};

/// Rows that are fetched into the caches, some lines at a time.
class RowTraffic {
 public:
  RowTraffic() = default;
  RowTraffic(const std::byte* from, const std::int64_t* rows, std::uint64_t count, std::uint64_t row_bytes,
             const RowFetch& how)
      : from_(from),
        rows_(rows),
        left_(count),
        row_bytes_(row_bytes),
        share_(static_cast<std::uint64_t>(how.lines_a_line * kWhole) + 1),
        second_level_(how.second_level) {}

  /// While so many lines are transposed.
  void fetch(std::uint64_t lines) {
    credit_ += lines * share_;
    fetch_lines(credit_ / kWhole);
    credit_ %= kWhole;
  }
  void fetch_rest() { fetch_lines(~std::uint64_t{0}); }

 private:
  static constexpr std::uint64_t kWhole = 256;

  void fetch_lines(std::uint64_t lines) {
    for (;;) {
      const std::uint64_t count = std::min(lines, lines_);
      if (second_level_) {
        for (std::uint64_t line = 0; line < count; ++line, at_ += kLineBytes) __builtin_prefetch(at_, 0, 2);
      } else {
        for (std::uint64_t line = 0; line < count; ++line, at_ += kLineBytes) __builtin_prefetch(at_);
      }
      lines_ -= count;
      lines -= count;
      if (lines == 0 || left_ == 0) return;
      --left_;
      at_ = from_ + *rows_++;
      const std::uint64_t past = reinterpret_cast<std::uintptr_t>(at_) % kLineBytes;
      lines_ = (past + row_bytes_ + kLineBytes - 1) / kLineBytes;
    }
  }

  const std::byte* from_ = nullptr;
  const std::int64_t* rows_ = nullptr;
  std::uint64_t left_ = 0;  // rows
  std::uint64_t row_bytes_ = 0;
  std::uint64_t share_ = 0;
  bool second_level_ = false;
  std::uint64_t credit_ = 0;
  const std::byte* at_ = nullptr;  // of the row that is under way
  std::uint64_t lines_ = 0;        // of it, still to be fetched
};

struct Traffic {
  RunTraffic runs;
  RowTraffic rows;
};

/// The arrays that this thread moves next, `bytes` each, dense: fetched line by line while others are
/// transposed. None: no bytes.
struct NextArrays {
  const std::byte* in = nullptr;
  const std::byte* out = nullptr;
  std::uint64_t bytes = 0;
};

/// to[c][r] = from[r][c].   Any alignment.
void transpose_plane(std::uint64_t element_bytes, const PlaneIn& from, std::uint64_t rows,
                     std::uint64_t columns, const PlaneOut& to);

/// The same of rows and columns that begin anywhere, for as many planes of one shape as the nest has places:
/// small ones are done in less time than a call for each takes. Requires: detail::is_turned_width().
void transpose_planes(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                      const StridedNest& planes, const NextArrays& next = {});

/// The same of one plane, and meanwhile as much of the traffic as that is long.
void transpose_runs(std::uint64_t element_bytes, const PlaneRows& from, const PlaneColumns& to,
                    Traffic& traffic);

/// Begins to write traffic's runs, `count` of `bytes` each; its tables are kept until they are finished.
/// Requires: none under way.
void start_runs(RunTraffic& traffic, std::uint64_t count, std::uint64_t bytes);
void finish_runs(RunTraffic& traffic);

}  // namespace faro::cpu
