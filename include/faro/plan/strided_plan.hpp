// The plan of a strided view: a Plan where the view is a permutation, else one pass of boxes.
//
//     strided(3 4; 4 1; 1 3)                  axes(3 4; 1 0): the plan of that
//     strided(1024 1024; 1 1024; 1024 1)      powers of two: the plan of an affine map
//     strided(3 4; -4 1; 4 1; 8 0)            boxes; a flip is a negative stride of the input
//
// Either engine takes every view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "faro/permutation/strided.hpp"
#include "faro/plan/plan.hpp"

namespace faro {

class StridedPlan {
 public:
  /// Errors: those of check(view); ErrorCode::value for an element width outside 1..4096, and for sizes past
  /// 2^62 bytes; ErrorCode::unsupported with engine cuda for a view that reaches past 2^47 bytes; those of
  /// Plan.
  StridedPlan(const Strided& view, std::uint64_t element_bytes, Target target);

  const Strided& view() const { return view_; }          // as it was given
  Strided normal() const { return normal_form(view_); }  // as it is run
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
