// What could carry out a permutation that is not affine: every way that applies, what it moves, and what it
// is predicted to take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/plan/index_plan.hpp"

namespace faro::detail {

/// What a candidate is worked out from.
struct IndexWork {
  const Problem& problem;
  const Target& target;
  const Recognition& recognition;
  const IndexCalibration& calibration;
  std::uint64_t repeats = 0;  // IndexChoice::repeats

  std::uint64_t count() const { return element_count(problem.permutation); }
  std::uint64_t width() const { return problem.element_bytes; }
  std::uint64_t array_bytes() const { return count() * width(); }
  /// Of the index array; scatter for a form that has none.
  Direction direction() const;
  int index_bytes() const;  // 0 for a form that has none
  bool is_checked() const;  // Indexed::is_checked
  /// Whether a GPU turns a scatter's array round when it plans: a sector that is read in part is cheaper than
  /// one that is written in part, but for one run turning costs more than it saves.
  bool turns_scatter() const;
};

/// All of them, those that do not apply with the reason in why_not. The first is the one that is taken where
/// nothing else is predicted to be faster. Never empty.
std::vector<IndexCandidate> index_candidates(const IndexWork& work);

/// The one that is asked for. Errors: ErrorCode::unsupported where it does not apply; ErrorCode::value for
/// sizes that no schedule can have, or for sizes with a method that has none.
IndexCandidate asked_candidate(const IndexWork& work, const IndexChoice& choice);

/// log2 of the elements of a chunk that the target likes best for elements of this width.
int preferred_chunk_bits(const Target& target, std::uint64_t element_bytes);

}  // namespace faro::detail
