// The plan of an index array: the candidates, the predicted time of each, and the one that is chosen. Other
// permutations that are not affine have one way, cyclic to axes below, which Plan takes itself.
//
//     method        passes              when
//     cyclic        1                   a roll or a flip
//     modular       1                   a multiplication modulo the count
//     computed      1                   a computed map
//     axes          1                   a permutation of axes, tiled; flipped and rolled ones in boxes
//     direct        1                   small arrays, wide elements, whatever caches hold
//     window        1                   everything moves less than a tile's margin
//     runs          1                   long runs
//     partition     1 + levels          all else (schedule/index_schedule.hpp)
//     row_column    3                   rows, columns, rows by edge colouring; on request
//     row_column_5  5                   as published: row, transpose, row, transpose, row; on request
//
// Times come from a target's IndexCalibration, curves measured at several sizes and widths (`faro tune`); the
// planner takes the least, with that of making the schedule where a plan is run a few times only. An
// IndexPlan moves nothing and holds no schedule: engines make that (engines/cpu.hpp, faro/engines/cuda.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/problem/pass.hpp"
#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro {

namespace detail {
struct SolvedPasses;
}  // namespace detail

enum class IndexMethod {
  cyclic,
  modular,
  computed,
  axes,
  direct,
  window,
  runs,
  partition,
  row_column,
  row_column_5
};
const char* name(IndexMethod method) noexcept;

/// One way to carry a permutation out.
struct IndexCandidate {
  IndexMethod method = IndexMethod::direct;
  std::optional<schedule::PartitionShape> shape = {};  // method partition
  int passes = 1;
  std::uint64_t bytes_moved = 0;  // of one array: read and written, schedule included
  std::uint64_t schedule_bytes = 0;
  std::uint64_t workspace_bytes = 0;  // what the executor's will be
  /// The time of all arrays of the batch, by the measured curves: what the ways of an index array are
  /// compared by before any has a schedule. The time of the way that is taken predict_us() tells. Nothing
  /// where there is no choice, or no curve.
  std::optional<double> curve_us = {};
  std::optional<double> schedule_us = {};  // to make the schedule, once
  std::string why_not = {};                // empty: could be taken
  /// The passes that this was worked out from, where it took them; null once a plan is made.
  std::shared_ptr<const detail::SolvedPasses> solved = {};
};

/// "partition, chunks of 2^14 elements, levels of 8 and 8 bits": the method and its sizes.
std::string to_text(const IndexCandidate& candidate);

/// "direct", …. Errors: ErrorCode::value with the nearest name.
IndexMethod parse_index_method(const std::string& text);

/// What the planner is to choose by, or a method (and shape) to take rather than the fastest. Sizes without a
/// method ask for a partition.
struct IndexChoice {
  std::optional<IndexMethod> method = {};
  std::optional<int> chunk_bits = {};
  std::vector<int> level_bits = {};
  /// The schedule is there already: the method is taken where it can be run, even where it does not pay.
  bool scheduled = false;
  /// How often the plan will be run; 0: so often that the time to make its schedule does not count.
  std::uint64_t repeats = 0;

  /// Whether no method is asked for.
  bool empty() const { return !method && !chunk_bits && level_bits.empty(); }
};

class IndexPlan {
 public:
  /// Requires: an Indexed, out of place (checked). `recognition` is of it: findings for explain(), runs,
  /// displacement. Errors: ErrorCode::value for an element width outside 1..4096 or a size past 2^62;
  /// ErrorCode::unsupported for a chosen method that does not apply.
  IndexPlan(Problem problem, Target target, Recognition recognition, const IndexChoice& choice = {});

  const Problem& problem() const { return problem_; }
  const Target& target() const { return target_; }
  const Recognition& recognition() const { return recognition_; }

  /// Elements are moved as element_units() units of unit_bytes(), the widest power of two up to 16 that
  /// divides the width.
  std::uint64_t unit_bytes() const { return unit_bytes_; }
  std::uint64_t element_units() const { return problem_.element_bytes / unit_bytes_; }
  std::uint64_t count() const { return element_count(problem_.permutation); }
  /// IndexChoice::repeats.
  std::uint64_t repeats() const { return repeats_; }

  const std::vector<IndexCandidate>& candidates() const { return candidates_; }
  const IndexCandidate& chosen() const { return candidates_[chosen_]; }
  /// Whose curves the predictions rest on: the target's, or those built in for its engine.
  const IndexCalibration& calibration() const { return curves_of(target_); }

  std::uint64_t array_bytes() const;  // of input, and of output, all of the batch
  /// To lend while running, what the executor asks for: on a GPU one array's worth, or nothing; on a CPU a
  /// part for each thread, and room for the arrays between passes.
  std::uint64_t workspace_bytes() const { return chosen().workspace_bytes; }

  /// In the order in which an engine runs them; none where nothing is moved.
  const std::vector<Pass>& passes() const { return passes_; }

 private:
  Problem problem_;
  Target target_;
  Recognition recognition_;
  std::vector<IndexCandidate> candidates_;
  std::size_t chosen_ = 0;
  std::vector<Pass> passes_;
  std::uint64_t repeats_ = 0;
  std::uint64_t unit_bytes_ = 1;
};

}  // namespace faro
