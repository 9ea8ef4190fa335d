// Sums that hold what is written against what was read, without a second array.
//
//     read       sum of h(pi(x), in[x])     over all x: places worked out by the obvious loop
//     written    sum of h(y, out[y])        over all ranges that are handed to the disk
//     of a view  sum of h(y, in[f(y)])       over all y of the output's rows, f worked out from the strides
//     covered    sum of g(end) - g(begin)   over the same ranges: g(N) - g(0) where each place is in one
//
// Where numbers are changed (number_tiles.hpp), what is read is changed by the obvious steps before h, and a
// NaN has the same bits in all sums.
//
// h and g are keyed by a random number of each run. The last sum holds only where the ranges, all of which
// go forward, lead from 0 to N without a gap or an overlap; then the first two are equal only where every
// out[pi(x)] = in[x], but for a chance of about 2^-60. What the disk makes of what it is handed is not
// looked at. The sums do not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"
#include "file/number_tiles.hpp"
#include "file/tiles.hpp"
#include "number_oracle.hpp"

namespace faro::file {

/// Fills in where elements first, first + 1, … of all arrays go. By any thread.
using Destinations = std::function<void(std::uint64_t first, std::span<std::uint64_t> places)>;

/// A problem's destinations, by the obvious loop. Keeps a reference to it.
Destinations destinations_of(const Problem& problem);

/// A view's sources: fills in where elements first, first + 1, … of the output come from, each
/// of which some index reaches.
using Sources = std::function<void(std::uint64_t first, std::span<std::uint64_t> elements)>;

/// By the view's strides alone. Nothing where those of the output interleave so much that thousands of
/// indices might have to be tried for an element. Keeps a copy of the view.
std::optional<Sources> sources_of(const Strided& view);

/// The same of a gather's index array of the host, which says it. Nothing for others. Keeps a reference.
std::optional<Sources> gather_sources_of(const Problem& problem);

class Checksums {
 public:
  /// `what` is named in errors. `threads` as detail::thread_count() takes them.
  Checksums(Destinations destinations, std::uint64_t element_bytes, std::string what, int threads);

  /// By sources, instead: elements may be read for many places, or none, and the output have gaps.
  Checksums(Sources sources, bool has_gaps, std::uint64_t element_bytes, std::string what, int threads);

  /// What is written are these numbers changed. Before anything is added.
  void change(std::shared_ptr<const ChangedNumbers> numbers);

  /// A tile's rows as they were read, one behind the other. Where there are sources its rows of the output
  /// say what they are read for.
  void add_read(const TileWork& work, const std::byte* buffer) {
    sources_ ? add_read_for(work, buffer) : add_read_from(work, buffer);
  }
  /// Rows as they will be written.
  void add_written(const Rows& rows, const std::byte* buffer);
  /// g(end) - g(begin), for add_covered().
  std::uint64_t covered(std::uint64_t begin, std::uint64_t bytes) const;
  /// The sum of all rows.
  std::uint64_t covered(const Rows& rows) const;
  void add_covered(std::uint64_t sum) { covered_ += sum; }

  /// Errors: ErrorCode::verification.
  void require_equal(std::uint64_t total_bytes) const;

  /// The same in the middle of a run, of tiles that are written where they were read, or in order: all that
  /// was read is to be written, and of add_covered() nothing is left. Errors: ErrorCode::verification.
  void require_alike() const;

 private:
  void add_read_from(const TileWork& work, const std::byte* buffer);
  void add_read_for(const TileWork& work, const std::byte* buffer);
  std::uint64_t added_element_bytes() const;
  // The hash of an element that is written, and of one that is read for a place of the output.
  std::uint64_t hash_written(std::uint64_t place, const std::byte* element) const;
  std::uint64_t hash_read(std::uint64_t place, const std::byte* element, const std::byte* added) const;
  template <typename Fill>
  std::uint64_t hash_numbers(std::uint64_t place, const Fill& fill) const;
  std::uint64_t hash(std::uint64_t place, std::uint64_t at, const std::byte* data, std::uint64_t bytes) const;

  Destinations destinations_;
  Sources sources_;  // instead
  bool has_gaps_ = false;
  std::uint64_t in_bytes_;   // of an element
  std::uint64_t out_bytes_;  // likewise
  std::shared_ptr<const ChangedNumbers> numbers_;
  std::optional<NumberOracle> oracle_;
  std::string what_;
  int threads_;
  std::uint64_t key_[2];
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t covered_ = 0;
};

/// The sum of bytes, for a journal. Not keyed.
std::uint64_t checksum(std::span<const std::byte> bytes, int threads);

}  // namespace faro::file
