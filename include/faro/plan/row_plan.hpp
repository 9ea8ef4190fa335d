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
// Whatever the way, Add adds to an element in the order of the input's rows.
#pragma once

#include <cstdint>
#include <string>

#include "faro/permutation/take.hpp"
#include "faro/plan/target.hpp"

namespace faro {

enum class RowWay { runs, blocks, ranges, buckets, columns, in_order };
/// "runs", "blocks", …, "in order".
const char* name(RowWay way) noexcept;

class RowPlan {
 public:
  /// Checks the entries and decides. Errors: those of check_rows; ErrorCode::value for rows of 0 bytes, a
  /// fill that does not divide a row, a row that is no whole number of numbers, sums that the numbers do not
  /// know, arrays past 2^62 bytes; ErrorCode::unsupported for another engine than the CPU's.
  RowPlan(RowMove move, RowLayout layout, const Target& target);

  /// The same for rows of another width. Errors: as above, but that the entries are not read again.
  RowPlan with_rows_of(std::uint64_t row_bytes) const;

  const RowMove& move() const { return move_; }
  const RowLayout& layout() const { return layout_; }
  const Target& target() const { return target_; }
  const RowCensus& census() const { return census_; }

  RowWay way() const { return way_; }
  /// Why, in one line.
  const std::string& reason() const { return reason_; }
  /// Whether what is written goes past the caches.
  bool streamed() const { return streamed_; }
  /// Of way buckets: rows of the output in one bucket.
  std::uint64_t bucket_rows() const { return bucket_rows_; }

  std::uint64_t in_bytes() const;
  std::uint64_t out_bytes() const;
  /// Of way buckets: rows that are parted at a time, enough of them for each bucket.
  std::uint64_t wave_rows() const;

  /// Beside the arrays, while it runs.
  std::uint64_t workspace_bytes() const;

  /// The plan in lines.
  std::string explain() const;

 private:
  void decide();
  RowMove move_;
  RowLayout layout_;
  Target target_;
  RowCensus census_;
  RowWay way_ = RowWay::blocks;
  std::string reason_;
  bool streamed_ = false;
  std::uint64_t bucket_rows_ = 0;
};

}  // namespace faro
