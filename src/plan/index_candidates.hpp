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
  /// The direction of the index array; scatter for a form that has none.
  Direction direction() const;
  int index_bytes() const;  // 0 for a form that has none
  bool is_checked() const;  // Indexed::is_checked
  /// Whether a GPU turns a scatter's array round when it plans: a sector that is read in part is cheaper than
  /// one that is written in part, but for one run turning costs more than it saves.
  bool turns_scatter() const;
};
/// What a plan was chosen by. It refers to the plan.
inline IndexWork work_about(const IndexPlan& plan) {
  return {.problem = plan.problem(),
          .target = plan.target(),
          .recognition = plan.recognition(),
          .calibration = plan.calibration(),
          .repeats = plan.repeats()};
}

/// Errors: ErrorCode::value for an element width outside 1..4096 and a size past 2^62.
void check_width(const Problem& problem);

/// The way of a permutation that is neither affine nor an index array. Errors: ErrorCode::unsupported where
/// another is asked for.
IndexCandidate only_candidate(const IndexWork& work, const IndexChoice& choice);

/// The candidates of an index array: all of them, those that do not apply with the reason in why_not. The
/// first is the one that is taken where nothing else is predicted to be faster. Never empty.
std::vector<IndexCandidate> index_candidates(const IndexWork& work);

/// The one that is asked for of an index array. Errors: ErrorCode::unsupported where it does not apply;
/// ErrorCode::value for sizes that no schedule can have, or for sizes with a method that has none.
IndexCandidate asked_candidate(const IndexWork& work, const IndexChoice& choice);

/// The passes of a candidate, in the order in which an engine runs them.
std::vector<Pass> passes_of(const IndexWork& work, const IndexCandidate& chosen);

// --- what the ways have in common

/// Bytes of a schedule's place of an element, in one pass.
inline constexpr std::uint64_t kPlaceBytes = 2;

inline bool on_gpu(const Target& target) { return target.engine == Engine::cuda; }

/// Microseconds of all arrays, each kernel streaming through them in order.
std::optional<double> streaming_us(const IndexWork& work, IndexKernel kernel, int chunk_bits = 0,
                                   int run_bits = 0);
/// The time of a sweep of the index array: a part of making a schedule, once, whatever the batch.
std::optional<double> index_pass_us(const IndexWork& work, IndexKernel kernel, int chunk_bits = 0);
/// The same time over and over; nothing of nothing.
std::optional<double> times(std::optional<double> us, double factor);
/// With the workspace that its executor will ask for.
IndexCandidate with_workspace(const IndexWork& work, IndexCandidate made);

/// For an index array: partitions of the sizes that suit the target, or of those asked for. Errors:
/// ErrorCode::value for sizes that no schedule can have.
std::vector<IndexCandidate> partition_candidates(const IndexWork& work);
IndexCandidate asked_partition(const IndexWork& work, const IndexChoice& choice);

}  // namespace faro::detail
