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
// Other permutations have a way() of their own: axes, rolls, multiplications and computed maps one each,
// index arrays the fastest of several, which index_plan() has; one that is transposed in place has a
// transpose_plan(). Their passes are of other kinds
// (faro/problem/pass.hpp). An index array is recognised first: what turns out to be affine is planned
// like any affine map, and recognition() tells how it was found out. So is a strided view: one that is a
// permutation of a dense array is planned as that, any other is one pass of boxes.
//
//     strided(3 4; 4 1; 1 3)                  axes(3 4; 1 0): the plan of that
//     strided(1024 1024; 1 1024; 1024 1)      powers of two: the plan of an affine map
//     strided(3 4; -4 1; 4 1; 8 0)            boxes; a flip is a negative stride of the input
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
#include "faro/plan/index_plan.hpp"
#include "faro/plan/transpose_plan.hpp"
#include "faro/problem/pass.hpp"
#include "faro/problem/problem.hpp"
#include "faro/problem/target.hpp"

namespace faro {

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
  /// permutation; where one has blocks that are equal, a block is, with as many arrays and as wide elements
  /// more. A view that is a permutation is that, any other is in its normal form.
  const Problem& problem() const { return problem_; }
  /// As it was given.
  const Problem& given() const { return given_; }
  /// How much smaller the one is than the other: 1 of both, as a rule.
  Blocks blocks() const;
  /// Elements that a last pass brings elsewhere than the problem's permutation has them.
  const std::vector<Exception>& exceptions() const { return exceptions_; }
  const Target& target() const { return target_; }

  /// The plan of a transposition in place that is not affine; null for all others.
  const TransposePlan* transpose_plan() const { return transpose_plan_.get(); }

  /// The plan of an index array that is carried out as one; null for all others.
  const IndexPlan* index_plan() const { return index_plan_.get(); }
  /// The way of a permutation that is not affine, or is not carried out as such, out of place; null for all
  /// others. Without an index_plan() there was no other.
  const IndexCandidate* way() const { return index_plan_ ? &index_plan_->chosen() : way_.get(); }
  /// What the index array turned out to be; null where none was given.
  const Recognition* recognition() const { return recognition_.get(); }

  /// Out of place: at most one main pass, then one `direct` pass for the arrays of a batch that do not fill a
  /// folded group. In place: the passes of layout::factor_in_place over the folded arrays, one after another
  /// on the same memory, then those of the arrays that are left. With a way() or a transpose_plan()
  /// its passes, in the order in which an engine runs them. Empty where nothing moves: for a batch of 0, no
  /// elements, and the identity in place.
  const std::vector<Pass>& passes() const { return passes_; }

  std::uint64_t unit_bytes() const { return unit_bytes_; }
  int unit_bits_per_element() const { return unit_bits_per_element_; }
  int folded_batch_bits() const { return folded_batch_bits_; }

  /// Bytes that are read, and as many written: those of the input and of the output, but for a view's.
  std::uint64_t array_bytes() const { return array_bytes_; }
  /// Bytes that the arrays must have; of a view at least, up to the last element that its strides reach.
  std::uint64_t in_bytes() const { return given_.view ? in_bytes_ : array_bytes_; }
  std::uint64_t out_bytes() const { return given_.view ? out_bytes_ : array_bytes_; }

  /// Bytes of device or host memory the caller must lend while running.
  std::uint64_t workspace_bytes() const {
    if (transpose_plan_) return transpose_plan_->workspace_bytes();
    return way() == nullptr ? 0 : way()->workspace_bytes;
  }

  /// The plan in words, several lines.
  std::string explain() const;
  /// The same as a JSON object (docs/guide/json.md, "explain").
  std::string explain_json() const;
  /// A drawing: the index bits by role, and the tile with its banks before and after the swizzle. Errors:
  /// ErrorCode::unsupported for a plan with an index_plan(), and others without a drawing.
  std::string svg() const;

 private:
  void plan_in_its_form();
  void plan_affine();
  void plan_view();
  void add_patch();
  void plan_in_place(const IndexChoice& choice);
  void plan_other(Recognition recognition, const IndexChoice& choice);

  Problem given_;
  Problem problem_;
  Target target_;
  std::vector<Exception> exceptions_;
  std::shared_ptr<const TransposePlan> transpose_plan_;
  std::shared_ptr<const IndexPlan> index_plan_;
  std::shared_ptr<const IndexCandidate> way_;  // where there is one alone
  std::shared_ptr<const Recognition> recognition_;
  std::vector<Pass> passes_;
  std::uint64_t unit_bytes_ = 1;
  int unit_bits_per_element_ = 0;
  int folded_batch_bits_ = 0;
  std::uint64_t array_bytes_ = 0;
  std::uint64_t in_bytes_ = 0;  // of a view
  std::uint64_t out_bytes_ = 0;
};

/// Microseconds that a run of the plan is predicted to take: all its passes together, as explain() tells
/// them. Nothing where that of one is not known. It holds for arrays from 256 MiB on; smaller ones may be
/// faster. Cost: counting the passes, up to some hundred milliseconds. Source: docs/guide/prediction.md.
std::optional<double> predict_us(const Plan& plan);

}  // namespace faro
