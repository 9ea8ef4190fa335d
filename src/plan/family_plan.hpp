// A family of arrays (faro/family.hpp) as its calls need it: what is the same for all, checked once, and a
// call's view, which takes arithmetic and no search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "faro/problem/family_map.hpp"
#include "kernels/family_box.hpp"
#include "permutation/axis_map.hpp"

namespace faro::detail {

struct FamilyPlan {
  FamilyMap map;  // order and shifts complete
  kernels::FamilyForm form;
  std::vector<std::size_t> free;  // axes
  /// Bytes that divide rows, strides and elements of any call that gives no strides of its own.
  std::uint64_t sure_unit = 1;
  /// Elements of the largest array; kMostFamilyElements and one where there may be more.
  std::uint64_t most_elements = 0;
};
inline constexpr std::uint64_t kMostFamilyElements = std::uint64_t{1} << 40;

/// Errors: ErrorCode::unsupported where the largest array has more than kMostFamilyElements.
void require_bounded(const FamilyPlan& plan, const char* operation);

/// Errors: those of faro::ShapeFamily.
FamilyPlan plan_family(const FamilyMap& map);

/// Bytes of rows that stay whole in any call that gives no strides of its own.
std::uint64_t sure_row_bytes(const FamilyPlan& plan);

/// FamilyForm::wanted of such units, which a block on the device need not look for. Cost: that of a call.
std::uint32_t largest_wanted(const FamilyPlan& plan, int unit_bytes);

/// One call of a family, its extents and strides checked. Errors: those of ShapeFamily::run().
class FamilyCall {
 public:
  FamilyCall(const FamilyPlan& plan, std::span<const std::uint64_t> extents, const FamilyStrides& strides);

  const FamilyPlan& plan() const { return plan_; }
  std::uint64_t extent(std::size_t axis) const {
    const kernels::FamilyForm::Axis& of = form().axis[axis];
    return of.free < 0 ? of.extent : extents_[static_cast<std::size_t>(of.free)];
  }
  std::uint64_t count() const { return count_; }  // elements
  std::uint64_t moved_bytes() const { return count_ * plan_.map.element_bytes; }
  /// Bytes from the lowest element to behind the highest; 0 without elements.
  std::uint64_t in_bytes() const { return reach(&kernels::FamilyAxis::in); }
  std::uint64_t out_bytes() const { return reach(&kernels::FamilyAxis::out); }
  bool is_dense() const { return form().dense_in && form().dense_out; }
  /// All axes, none of them normal.
  kernels::FamilyView view(std::uint32_t part = 0) const;

  /// Calls use(view) for each part that has elements, in normal form.
  template <typename Use>
  void for_each_part(const Use& use) const {
    for (std::uint32_t part = 0; count_ > 0 && part < form().parts(); ++part) {
      kernels::FamilyView of = view(part);
      kernels::normalise(of);
      if (of.axes != 1 || of.axis[0].extent != 0) use(of);
    }
  }

 private:
  const kernels::FamilyForm& form() const { return own_strides_ ? own_ : plan_.form; }
  std::uint64_t reach(std::int64_t kernels::FamilyAxis::*stride) const;

  const FamilyPlan& plan_;
  std::span<const std::uint64_t> extents_;
  bool own_strides_ = false;
  kernels::FamilyForm own_;
  std::uint64_t count_ = 1;
};

/// A part in normal form, in units of so many bytes, which divide all of it.
AxisMap axis_map(const kernels::FamilyView& view, std::uint64_t unit_bytes);

}  // namespace faro::detail
