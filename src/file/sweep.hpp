// What a sweep holds between planning and running.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file/number_tiles.hpp"
#include "file/tiles.hpp"

namespace faro::file {

struct Sweep::State {
  std::string text;                // of the permutation or the view, for errors and journals
  std::optional<Problem> problem;  // as it was given; nothing for a view
  Problem to_run;                  // in the form that tiles are made of, elements as wide as they are moved
  std::vector<Strided> views;      // instead, where tiles are boxes
  std::shared_ptr<const ChangedNumbers> numbers;  // null: none are changed
  std::uint64_t element_bytes = 0;                // of the input
  std::uint64_t in_bytes = 0;                     // that the input must have
  std::uint64_t out_bytes = 0;                    // of the output
  TileBudget budget;
  bool whole_arrays = false;
  Facts facts;

  std::uint64_t written_bytes() const { return numbers != nullptr ? facts.written_bytes : facts.moved_bytes; }
  /// Read and written.
  std::uint64_t told_bytes() const { return facts.moved_bytes + facts.added_bytes + written_bytes(); }
  std::unique_ptr<Tiles> tiles() const;
};

/// Sums that hold what the sweep reads against what it writes. Keeps references to it. Errors:
/// ErrorCode::unsupported for views that interleave too much.
Checksums checksums_of(const Sweep::State& sweep, int threads);

/// The same problem as more and smaller arrays, of at most `most_bytes`, where nothing moves from one to
/// another: leading axes and upper index bits that stay are a batch. As it is where that leaves none so
/// small. Law: permute_naively() does the same.
Problem in_small_arrays(const Problem& problem, std::uint64_t most_bytes);

}  // namespace faro::file
