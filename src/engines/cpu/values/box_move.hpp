// Boxes of a value plan on a CPU: where they are, how large those at the ends are, and one side of them
// brought to or from a dense box in a core's cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engines/cpu.hpp"
#include "plan/value_plan.hpp"
#include "rounding.hpp"

namespace faro::cpu {

using BoxExtents = std::vector<std::uint64_t>;

inline std::uint64_t count_of(const BoxExtents& extents) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : extents) count *= extent;
  return count;
}

/// Steps through extents, the last axis fastest, from `at` 0: false after the last.
inline bool step(BoxExtents& at, const BoxExtents& extents, std::size_t axes) {
  for (std::size_t i = axes; i-- > 0;) {
    if (++at[i] < extents[i]) return true;
    at[i] = 0;
  }
  return false;
}

inline void advance(detail::ValueStrides& place, const detail::ValueStrides& stride, std::int64_t times) {
  place.in += times * stride.in;
  place.out += times * stride.out;
  place.addend += times * stride.addend;
  place.scale += times * stride.scale;
  place.offset += times * stride.offset;
}

/// All boxes of a plan.
class BoxGrid {
 public:
  explicit BoxGrid(const detail::ValuePlan& plan) : plan_(&plan) {
    for (std::size_t i = 0; i < plan.axes.size(); ++i)
      boxes_.push_back(detail::ceil_div(plan.axes[i].extent, plan.box[i]));
  }

  std::uint64_t count() const { return count_of(boxes_); }
  BoxExtents at(std::uint64_t number) const {
    BoxExtents at(boxes_.size());
    for (std::size_t i = at.size(); i-- > 0; number /= boxes_[i]) at[i] = number % boxes_[i];
    return at;
  }
  BoxExtents extents_at(const BoxExtents& at) const {
    BoxExtents extents = plan_->box;
    for (std::size_t i = 0; i < at.size(); ++i)
      extents[i] = std::min(plan_->box[i], plan_->axes[i].extent - at[i] * plan_->box[i]);
    return extents;
  }
  detail::ValueStrides corner_at(const BoxExtents& at) const {
    detail::ValueStrides corner = plan_->first;
    for (std::size_t i = 0; i < at.size(); ++i)
      advance(corner, plan_->axes[i].strides, static_cast<std::int64_t>(at[i] * plan_->box[i]));
    return corner;
  }

  /// Calls call(extents) of every combination of whole extents and those that are cut off at an end.
  template <typename Call>
  void for_each_kind(const Call& call) const {
    BoxExtents kinds(boxes_.size());
    for (std::size_t i = 0; i < kinds.size(); ++i)
      kinds[i] = plan_->axes[i].extent % plan_->box[i] == 0 ? 1 : 2;
    BoxExtents kind(boxes_.size(), 0);
    do {
      BoxExtents at(boxes_.size(), 0);
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = kind[i] == 0 ? 0 : boxes_[i] - 1;
      call(extents_at(at));
    } while (step(kind, kinds, kinds.size()));
  }

 private:
  const detail::ValuePlan* plan_;
  BoxExtents boxes_;  // how many along each axis
};

/// One side of boxes of some extents.
class BoxMove {
 public:
  BoxMove(const detail::ValuePlan& plan, const BoxExtents& extents, std::int64_t detail::ValueStrides::*side,
          std::uint64_t width, bool to_box, const Target& target)
      : executor_(Plan({.element_bytes = width, .view = view_of(plan, extents, side, to_box)}, target)),
        lowest_bytes_(lowest(plan, extents, side) * static_cast<std::int64_t>(width)) {}

  std::uint64_t workspace_bytes() const { return executor_.workspace_bytes(); }
  void collect(const std::byte* corner, std::byte* box, std::byte* workspace) const {
    executor_.run(corner + lowest_bytes_, box, workspace_of(workspace));
  }
  void spread(const std::byte* box, std::byte* corner, std::byte* workspace) const {
    executor_.run(box, corner + lowest_bytes_, workspace_of(workspace));
  }

 private:
  std::byte* workspace_of(std::byte* workspace) const { return workspace_bytes() == 0 ? nullptr : workspace; }

  // The lowest element, seen from the box's index 0: not above 0.
  static std::int64_t lowest(const detail::ValuePlan& plan, const BoxExtents& extents,
                             std::int64_t detail::ValueStrides::*side) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::int64_t reach = static_cast<std::int64_t>(extents[i] - 1) * (plan.axes[i].strides.*side);
      place += std::min<std::int64_t>(reach, 0);
    }
    return place;
  }

  static Strided view_of(const detail::ValuePlan& plan, const BoxExtents& extents,
                         std::int64_t detail::ValueStrides::*side, bool to_box) {
    std::vector<std::int64_t> strides(extents.size());
    std::vector<std::int64_t> dense(extents.size());
    std::int64_t next = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
      strides[i] = plan.axes[i].strides.*side;
      dense[i] = std::exchange(next, next * static_cast<std::int64_t>(extents[i]));
    }
    const auto first = static_cast<std::uint64_t>(-lowest(plan, extents, side));
    if (to_box) return {.extents = extents, .in_strides = strides, .out_strides = dense, .in_offset = first};
    return {.extents = extents, .in_strides = dense, .out_strides = strides, .out_offset = first};
  }

  Executor executor_;
  std::int64_t lowest_bytes_;
};

}  // namespace faro::cpu
