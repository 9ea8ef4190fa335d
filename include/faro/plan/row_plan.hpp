// How rows are moved: the one decision between the entries and the engine.
//
//     way         rows                         what a thread does
//     runs        long, or long runs of them   copies each run whole, an equal share of the bytes
//     blocks      short                        reads a block of entries, fetches its rows ahead, moves them
//     ranges      short, added                 adds those that go to its range of the output
//     buckets     short, added by many         parts the rows by where they go, then serves one cache-full
//                 threads                      of the output after the other
//     columns     long, added                  adds an equal part of every row
//     in order    few, or many arrays          adds the rows of whole arrays, one after another
//
// On a GPU, where the entries lie on the device and are read by every run:
//
//     vectors     of any width                 moves two vectors of 16 bytes, or as many narrower ones
//     bytes       of odd widths or addresses   writes 16 aligned bytes, joined from where the row lies
//     staged      short, of many short arrays  writes words of arrays that lie in shared memory
//     bins        added, numbers of up to 4    adds up what goes to a bin of rows, in shared memory
//                 bytes, one a row
//     sorted      others, added                adds up what goes to one row, when all are in that order
//
// Whatever the way, Add adds to an element in the order of the input's rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/permutation/take.hpp"
#include "faro/problem/target.hpp"

namespace faro {

enum class RowWay { runs, blocks, ranges, buckets, columns, in_order, vectors, bytes, staged, bins, sorted };
/// "runs", "blocks", …, "in order", "vectors", "bytes", "staged", "bins", "sorted".
const char* name(RowWay way) noexcept;

/// Kernels of a GPU that carry out moves of rows (kernels/row_move.hpp and its neighbours), and the
/// steps of a partition by a digit and of sums (engines/cuda/rows/).
enum class RowKernel { mark, move_vectors, move_bytes, move_elements, take_vectors, staged, partition, sum };

/// When entries in the host's memory are checked: before anything is moved, or by the sweep that moves, which
/// reads them only once and may have written rows when it comes to one that is wrong.
enum class EntryCheck { before, meanwhile };

/// One launch, or the few of one step: which kernel, how it is launched, what it moves at least.
struct RowPass {
  RowKernel kernel = RowKernel::move_vectors;
  int vector_bytes = 16;
  std::uint64_t slice_bytes = 0;  // of rows that are taken part by part; 0: whole
  std::uint64_t arrays = 1;       // of RowKernel::move_elements and staged: those that are moved at once
  std::uint64_t chunks = 1;       // and pieces of the entries that a block goes through
  std::uint64_t blocks = 0;
  int threads = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::string text;  // what it does
};

/// What a launch is asked for besides the plan.
struct RowLaunch {
  std::uint64_t addresses = 0;  // of all arrays, ORed
  std::uint64_t arrays = 1;     // that go by the same entries
  bool staged = true;           // whether short arrays may go by way of shared memory
};

class RowPlan {
 public:
  /// Checks the entries, those on the host, and decides. Errors: those of check_rows; ErrorCode::value for
  /// rows of 0 bytes, a fill that does not divide a row, a row that is no whole number of numbers, sums that
  /// the numbers do not know, arrays past 2^62 bytes; ErrorCode::unsupported for a move that the engine has
  /// no kernel for.
  /// `check`: `meanwhile` serves elements that are taken and seldom follow each other; others are checked
  /// before all the same.
  RowPlan(RowMove move, RowLayout layout, const Target& target, EntryCheck check = EntryCheck::before);

  /// The same for rows of another width. Errors: as above, but that the entries are not read again.
  RowPlan with_rows_of(std::uint64_t row_bytes) const;
  /// The same for as many entries elsewhere, which are not read.
  RowPlan with_entries_at(const void* entries) const;
  /// Of `count` of the entries, `first` and on, which are not read again: of engine cpu, for one array.
  RowPlan of_part(std::uint64_t first, std::uint64_t count, int threads) const;

  const RowMove& move() const { return move_; }
  const RowLayout& layout() const { return layout_; }
  const Target& target() const { return target_; }
  /// An estimate for entries that are checked meanwhile.
  const RowCensus& census() const { return census_; }
  EntryCheck check() const { return check_; }

  RowWay way() const { return way_; }
  /// Why, in one line.
  const std::string& reason() const { return reason_; }
  /// Whether what is written goes past the caches.
  bool streamed() const { return streamed_; }
  /// For way buckets: rows of the output in one bucket.
  std::uint64_t bucket_rows() const { return bucket_rows_; }

  std::uint64_t in_bytes() const;
  std::uint64_t out_bytes() const;
  /// For way buckets: rows that are parted at a time, enough of them for each bucket.
  std::uint64_t wave_rows() const;

  /// Beside the arrays, while it runs.
  std::uint64_t workspace_bytes() const;

  /// For engine cuda: the launches that move such arrays, in their order. None where nothing is moved.
  std::vector<RowPass> passes(const RowLaunch& launch = {}) const;
  /// The last of passes(launch) but for its text, which takes longer to write than a launch. Requires: engine
  /// cuda, a Take or Put, something to move (unchecked).
  RowPass moving_pass(const RowLaunch& launch) const;

  /// The plan in lines.
  std::string explain() const;

 private:
  void decide();
  void decide_on_gpu();
  std::vector<RowPass> added_passes(const RowLaunch& launch) const;
  std::string moving_text(const RowPass& pass) const;
  RowMove move_;
  RowLayout layout_;
  Target target_;
  RowCensus census_;
  EntryCheck check_ = EntryCheck::before;
  RowWay way_ = RowWay::blocks;
  std::string reason_;
  bool streamed_ = false;
  std::uint64_t bucket_rows_ = 0;
  std::uint64_t slice_bytes_ = 0;
};

}  // namespace faro
