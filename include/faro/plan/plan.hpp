// A plan: how a problem's permutation is carried out on a target, before anything is moved.
//
// Every affine map is one pass over memory (docs/theory/one-pass.md, theorem 1). What differs is how little a
// tile must hold, and the planner takes the cheapest kind that serves:
//
//     copy       the identity: read and write in order
//     segments   whole segments change places, nothing moves inside one
//     tile       whole segments in, a permutation inside the tile, whole segments out
//     direct     an array too small for tiles: element by element
//
// On a CPU the tile is as large as pays, and each pass says which threads share it out; on a GPU it is one of
// the compiled kernels' (Target::tiles), and each pass says how it is launched.
//
// A permutation that is not affine is planned by IndexPlan, one that is transposed in place by TransposePlan,
// both below: index_plan() or transpose_plan() then says by which method, and the passes are of other kinds
// (plan/pass.hpp). An index array is recognised first: what turns out to be affine is planned
// like any affine map, and recognition() tells how it was found out.
//
// A plan is immutable, holds no pointer to the caller's arrays, and may be used from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "faro/permutation/permutation.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/plan/pass.hpp"
#include "faro/plan/target.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro {

// A problem is what a user asks for: a permutation, the width of the elements, the number of arrays, and
// where the result goes.

enum class Placement { out_of_place, in_place };

namespace detail {
/// No permutation's value: a shift that is not below its count.
inline Permutation no_permutation() { return Cyclic{.count = 0, .shift = 1, .reversed = true}; }
inline bool is_no_permutation(const Permutation& permutation) {
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  return cyclic != nullptr && cyclic->count == 0 && cyclic->shift != 0;
}
}  // namespace detail

/// `batch` arrays follow one another in memory, each of element_count(permutation) elements of element_bytes
/// bytes, and each is permuted alike: out[b][pi(x)] = in[b][x].
struct Problem {
  /// Has to be said: what stands here before is no permutation, and is refused.
  Permutation permutation = detail::no_permutation();
  /// Bytes of an element, 1 to 4096, which have to be said; of an affine map a power of two, unless it is a
  /// roll, a flip or a permutation of axes too. In place rolls, flips and equal axes take any number.
  std::uint64_t element_bytes = 0;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  Placement placement = Placement::out_of_place;
};

/// Largest n of a problem.
inline constexpr int kMaxProblemBits = 40;
inline constexpr std::uint64_t kMaxElementBytes = 4096;

/// Bytes of all arrays together. Errors: ErrorCode::value past 2^62.
std::uint64_t total_bytes(const Problem& problem);

// The plan of a permutation that is not affine: the candidates, the predicted time of each, and the one that
// is chosen.
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

/// One way to carry it out.
struct IndexCandidate {
  IndexMethod method = IndexMethod::direct;
  std::optional<schedule::PartitionShape> shape = {};  // method partition
  int passes = 1;
  std::uint64_t bytes_moved = 0;  // of one array: read and written, schedule included
  std::uint64_t schedule_bytes = 0;
  std::uint64_t workspace_bytes = 0;  // what the executor's will be
  /// Of all arrays of the batch, by the measured curves: what the ways of an index array are compared by
  /// before any has a schedule. Of the way that is taken predict_us() tells the time. Nothing where there is
  /// no choice, or no curve.
  std::optional<double> curve_us = {};
  std::optional<double> schedule_us = {};  // to make the schedule, once
  std::string why_not = {};                // empty: could be taken
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
  /// `recognition` of problem.permutation where that is an Indexed: findings for explain(), runs,
  /// displacement. Errors: ErrorCode::value for an element width outside 1..4096 or a size past 2^62;
  /// ErrorCode::unsupported for a chosen method that does not apply, and for in place.
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
  const IndexCalibration& calibration() const;

  std::uint64_t array_bytes() const;  // of input, and of output, all of the batch
  /// To lend while running, what the executor asks for: on a GPU one array's worth, or nothing; on a CPU a
  /// part for each thread, and room for the arrays between passes.
  std::uint64_t workspace_bytes() const { return chosen().workspace_bytes; }

  std::string explain() const;
  std::string explain_json() const;

 private:
  Problem problem_;
  Target target_;
  Recognition recognition_;
  std::vector<IndexCandidate> candidates_;
  std::size_t chosen_ = 0;
  std::uint64_t repeats_ = 0;
  std::uint64_t unit_bytes_ = 1;
};

// The transposition of any m x n array in place: the plan of it.
//
// A rows x columns array, row-major, becomes its transpose, columns x rows, in the same memory, by three
// sweeps, or fewer (docs/theory/transposition.md; kernels/c2r_index.hpp has the equations): rotate columns,
// shuffle rows, shuffle columns. Which of C2R and R2C is taken follows the shape: the sweeps' rows are the
// longer side. Narrow arrays (the shorter side below 32) take a path of their own that fuses the column
// operations.
//
// Two axes of equal extents that change places, others between them, are square transpositions, one for each
// index of the axes between:
//
//     axes(2 5 3 5 7; 0 3 2 1 4)      2 arrays of 3 squares of 5 x 5 elements of 7
//
// Powers of two go through affine passes and never come here.

/// `arrays` arrays of rows x columns elements, row-major, one after another. With `between`, which only
/// squares have, a row holds the rows of so many squares side by side, and each is transposed.
struct Rectangle {
  std::uint64_t arrays = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t between = 1;

  std::uint64_t count() const { return rows * between * columns; }  // of one array
  std::uint64_t bytes() const { return arrays * count() * element_bytes; }
  bool is_square() const { return rows == columns; }
};

/// The rectangle that a problem's permutation transposes: an Axes of two axes that change places, or of three
/// of which the first stays (arrays) or the last stays (a wider element, to 16 bytes; of squares, any), two
/// equal axes that change places across others, or Affine of the first kinds; none where it is something
/// else.
std::optional<Rectangle> as_transposition(const Problem& problem);

enum class TransposeMethod { rows_in_memory, narrow };  // general; the shorter side below 32
const char* name(TransposeMethod method) noexcept;

/// One sweep over the arrays, in words: "rotate columns", "shuffle rows", ….
struct TransposeSweep {
  std::string what;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

class TransposePlan {
 public:
  /// Errors: ErrorCode::unsupported for a permutation that is no transposition, or elements wider than 16
  /// bytes but in squares (any width 1..16 works); ErrorCode::value past 2^62 bytes.
  TransposePlan(const Problem& problem, Target target);

  const Rectangle& rectangle() const { return rectangle_; }
  const Target& target() const { return target_; }
  bool r2c() const { return r2c_; }  // else C2R
  TransposeMethod method() const { return method_; }
  const std::vector<TransposeSweep>& sweeps() const { return sweeps_; }

  /// To lend while running: at most max(rows, columns) elements a worker, for `workers()` of them; 0 where
  /// rows fit the fast memory.
  std::uint64_t workspace_bytes() const { return workspace_bytes_; }
  std::uint64_t workers() const { return workers_; }
  /// The widest power of two up to 16 that divides the width of the problem's elements.
  std::uint64_t unit_bytes() const { return unit_bytes_; }

  std::string explain() const;
  std::string explain_json() const;

 private:
  Rectangle rectangle_;
  Target target_;
  bool r2c_ = false;
  TransposeMethod method_ = TransposeMethod::rows_in_memory;
  std::vector<TransposeSweep> sweeps_;
  std::uint64_t workspace_bytes_ = 0;
  std::uint64_t workers_ = 0;
  std::uint64_t unit_bytes_ = 1;
};

/// Longest segment of a pass of kind segments. Those pass through no tile; shorter ones are shared out among
/// threads.
inline constexpr std::uint64_t kWholeSegmentBytesMax = std::uint64_t{64} << 10;

class Plan {
 public:
  /// Plans `problem` for `target`; an index array of the host is recognised. Errors: see faro::plan;
  /// ErrorCode::value for an index array on a device, whose recognition has to be given. Cost: O(n^3) word
  /// operations, under 1 ms at n = 34; of an index array, some sweeps.
  Plan(const Problem& problem, Target target);
  /// The same for an index array whose recognition is known, or of a method that is asked for. Requires:
  /// `recognition` is of problem.permutation (unchecked). Errors: also those of IndexPlan.
  Plan(const Problem& problem, Target target, Recognition recognition, const IndexChoice& choice = {});

  /// The problem as it is carried out: where an index array was recognised as another form, that form is its
  /// permutation; where one has blocks that are alike, a block is, with as many arrays and as wide elements
  /// more.
  const Problem& problem() const { return problem_; }
  /// As it was given.
  const Problem& given() const { return given_; }
  /// How much smaller the one is than the other: 1 of both, as a rule.
  Blocks blocks() const;
  /// Elements that a last pass brings elsewhere than the problem's permutation has them.
  const std::vector<Exception>& exceptions() const { return exceptions_; }
  const Target& target() const { return target_; }

  /// Of a transposition in place that is not affine; null for all others.
  const TransposePlan* transpose_plan() const { return transpose_plan_.get(); }

  /// Of a permutation that is not affine, or is not carried out as such; null for all others.
  const IndexPlan* index_plan() const { return index_plan_.get(); }
  /// What the index array turned out to be; null where none was given.
  const Recognition* recognition() const { return recognition_.get(); }

  /// Out of place: at most one main pass, then one `direct` pass for the arrays of a batch that do not fill a
  /// folded group. In place: the passes of layout::factor_in_place over the folded arrays, one after another
  /// on the same memory, then those of the arrays that are left. With an index_plan() or a transpose_plan()
  /// its passes, in the order in which an engine runs them. Empty where nothing moves: for a batch of 0, no
  /// elements, and the identity in place.
  const std::vector<Pass>& passes() const { return passes_; }

  std::uint64_t unit_bytes() const { return unit_bytes_; }
  int unit_bits_per_element() const { return unit_bits_per_element_; }
  int folded_batch_bits() const { return folded_batch_bits_; }

  /// Bytes of the input, and of the output.
  std::uint64_t array_bytes() const { return array_bytes_; }

  /// Bytes of device or host memory the caller must lend while running.
  std::uint64_t workspace_bytes() const {
    if (transpose_plan_) return transpose_plan_->workspace_bytes();
    return index_plan_ ? index_plan_->workspace_bytes() : 0;
  }

  /// The plan in words, several lines.
  std::string explain() const;
  /// The same as a JSON object (docs/guide/json.md, "explain").
  std::string explain_json() const;
  /// A drawing: the index bits by role, and the tile with its banks before and after the swizzle. Errors:
  /// ErrorCode::unsupported for a plan with an index_plan().
  std::string svg() const;

 private:
  void plan_affine();
  void add_patch();
  void plan_index(Recognition recognition, const IndexChoice& choice);

  Problem given_;
  Problem problem_;
  Target target_;
  std::vector<Exception> exceptions_;
  std::shared_ptr<const TransposePlan> transpose_plan_;
  std::shared_ptr<const IndexPlan> index_plan_;
  std::shared_ptr<const Recognition> recognition_;
  std::vector<Pass> passes_;
  std::uint64_t unit_bytes_ = 1;
  int unit_bits_per_element_ = 0;
  int folded_batch_bits_ = 0;
  std::uint64_t array_bytes_ = 0;
};

/// Microseconds that a run of the plan is predicted to take: all its passes together, as explain() tells
/// them. Nothing where that of one is not known. It holds for arrays from 256 MiB on; smaller ones may be
/// faster. Cost: counting the passes, up to some hundred milliseconds. Source: docs/guide/prediction.md.
std::optional<double> predict_us(const Plan& plan);

// The plan of a strided view: a Plan where the view is a permutation, else one pass of boxes.
//
//     strided(3 4; 4 1; 1 3)                  axes(3 4; 1 0): the plan of that
//     strided(1024 1024; 1 1024; 1024 1)      powers of two: the plan of an affine map
//     strided(3 4; -4 1; 4 1; 8 0)            boxes; a flip is a negative stride of the input
//
// Either engine takes every view.

class StridedPlan {
 public:
  /// Errors: those of check(view); ErrorCode::value for an element width outside 1..4096, and for sizes past
  /// 2^62 bytes; ErrorCode::unsupported with engine cuda for a view that reaches past 2^47 bytes; those of
  /// Plan.
  StridedPlan(const Strided& view, std::uint64_t element_bytes, Target target);

  const Strided& view() const { return view_; }      // as it was given
  const Strided& normal() const { return normal_; }  // as it is run
  std::uint64_t element_bytes() const { return element_bytes_; }
  const Target& target() const { return target_; }

  /// Of the permutation that the view is; null for all others.
  const Plan* permutation_plan() const { return permutation_.get(); }
  /// One, or none where nothing is moved; those of permutation_plan() where there is one.
  const std::vector<Pass>& passes() const { return permutation_ ? permutation_->passes() : passes_; }

  /// Elements that the arrays must have at least.
  std::uint64_t in_elements() const { return in_elements_; }
  std::uint64_t out_elements() const { return out_elements_; }
  std::uint64_t moved_bytes() const { return moved_bytes_; }  // read, and as many written

  std::string explain() const;
  std::string explain_json() const;
  /// The box and how it goes from one side to the other, as an SVG.
  std::string svg() const;

 private:
  Strided view_;
  Strided normal_;
  std::uint64_t element_bytes_ = 0;
  Target target_;
  std::uint64_t in_elements_ = 0;
  std::uint64_t out_elements_ = 0;
  std::uint64_t moved_bytes_ = 0;
  std::shared_ptr<const Plan> permutation_;
  std::vector<Pass> passes_;
};

/// As that of a Plan; 0 where nothing is moved.
std::optional<double> predict_us(const StridedPlan& plan);

}  // namespace faro
