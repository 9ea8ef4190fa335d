#include "plan/family_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "faro/permutation/strided.hpp"
#include "faro/problem/problem.hpp"

namespace faro::detail {
namespace {

using kernels::FamilyForm;
using kernels::kFamilyAxes;

constexpr const char* kPlanFamily = "plan a family";
constexpr const char* kRunFamily = "run a family";

void require_length(std::size_t length, std::size_t axes, const char* of, const char* operation) {
  if (length == axes) return;
  fail(ErrorCode::value, operation, std::to_string(length) + " " + of,
       std::to_string(axes) + ", one for each axis");
}

void require_order(const std::vector<int>& order) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t a = 0; a < sorted.size(); ++a) {
    if (sorted[a] == static_cast<int>(a)) continue;
    std::string text;
    for (const int axis : order) text += (text.empty() ? "" : " ") + std::to_string(axis);
    fail(ErrorCode::value, kPlanFamily, "the order " + text,
         "each of the " + std::to_string(order.size()) + " axes once");
  }
}

std::uint64_t most_elements(const FamilyMap& map) {
  std::uint64_t count = 1;
  for (const FamilyExtent& extent : map.extents) {
    const std::uint64_t most = std::max<std::uint64_t>(extent.most, 1);
    if (count > kMostFamilyElements / most) return kMostFamilyElements + 1;
    count *= most;
  }
  return count;
}

// The largest array of the family, as a view.
void check_largest(const FamilyPlan& plan) {
  const FamilyMap& map = plan.map;
  if (map.in_strides.empty() && map.out_strides.empty()) return;
  require_bounded(plan, kPlanFamily);
  Strided view;
  for (std::size_t a = 0; a < map.extents.size(); ++a) {
    const FamilyForm::Axis& axis = plan.form.axis[a];
    const auto bytes = static_cast<std::int64_t>(map.element_bytes);
    view.extents.push_back(axis.extent);
    view.in_strides.push_back(map.in_strides.empty() ? 0 : axis.in_stride / bytes);
    view.out_strides.push_back(axis.out_stride / bytes);
  }
  if (map.out_strides.empty()) view.out_strides = dense_strides(view.extents);
  const auto first_of = [&](const std::vector<std::int64_t>& strides) {
    std::uint64_t first = 0;
    for (std::size_t a = 0; a < strides.size(); ++a) {
      if (strides[a] >= 0 || view.extents[a] == 0) continue;
      std::uint64_t far = 0;
      if (__builtin_mul_overflow(std::uint64_t{0} - static_cast<std::uint64_t>(strides[a]),
                                 view.extents[a] - 1, &far) ||
          __builtin_add_overflow(first, far, &first))
        fail(ErrorCode::value, kPlanFamily, "strides that reach past 2^63 elements",
             "strides within an array");
    }
    return first;
  };
  view.in_offset = first_of(view.in_strides);
  view.out_offset = first_of(view.out_strides);
  check(view);
}

// Rows that stay are those of the fastest axes that are fixed and neither flipped nor rolled; whatever the
// others are, their strides are multiples of what the fixed extents make of them.
struct SureRows {
  std::uint64_t bytes = 0;
  std::uint64_t unit = 1;  // that divides them and all steps between them
};

SureRows sure_rows(const FamilyForm& form) {
  const auto bytes = static_cast<std::int64_t>(form.element_bytes);
  kernels::FamilyView view;
  FamilyForm smallest = form;
  for (int a = 0; a < form.axes; ++a)
    smallest.axis[a].extent = std::max<std::uint64_t>(form.axis[a].extent, 1);
  kernels::family_view(
      smallest, [](int) { return 1; }, 0, view);
  std::int64_t row = bytes;
  int kept = form.axes;
  for (; kept > 0; --kept) {
    const FamilyForm::Axis& axis = form.axis[kept - 1];
    const kernels::FamilyAxis& of = view.axis[kept - 1];
    if (axis.free >= 0 || axis.flipped || axis.shift != 0 || axis.extent == 0) break;
    if (axis.extent > 1 && (of.in != row || of.out != row)) break;
    row *= static_cast<std::int64_t>(axis.extent);
  }
  std::uint64_t bits = 16 | static_cast<std::uint64_t>(row);
  for (int a = 0; a < kept; ++a)
    bits |= static_cast<std::uint64_t>(view.axis[a].in) | static_cast<std::uint64_t>(view.axis[a].out);
  return {.bytes = static_cast<std::uint64_t>(row), .unit = bits & (~bits + 1)};
}

}  // namespace

std::uint64_t sure_row_bytes(const FamilyPlan& plan) { return sure_rows(plan.form).bytes; }

void require_bounded(const FamilyPlan& plan, const char* operation) {
  if (plan.most_elements <= kMostFamilyElements) return;
  fail(ErrorCode::unsupported, operation, "arrays of more than 2^40 elements at most", "at most 2^40",
       "say what free extents are at most");
}

FamilyPlan plan_family(const FamilyMap& map) {
  FamilyPlan plan{.map = map, .form = {}, .free = {}};
  const std::size_t axes = map.extents.size();
  if (axes > kFamilyAxes)
    fail(ErrorCode::value, kPlanFamily, std::to_string(axes) + " axes",
         "at most " + std::to_string(kFamilyAxes), "join axes that stay neighbours");
  if (map.element_bytes == 0 || map.element_bytes > kMaxElementBytes)
    fail(ErrorCode::value, kPlanFamily, "elements of " + std::to_string(map.element_bytes) + " bytes",
         "1 to " + std::to_string(kMaxElementBytes));
  if (plan.map.order.empty()) {
    plan.map.order.resize(axes);
    std::iota(plan.map.order.begin(), plan.map.order.end(), 0);
  }
  require_length(plan.map.order.size(), axes, "axes of the order", kPlanFamily);
  require_order(plan.map.order);
  if (plan.map.shifts.empty()) plan.map.shifts.resize(axes);
  require_length(plan.map.shifts.size(), axes, "shifts", kPlanFamily);
  if (!map.in_strides.empty())
    require_length(map.in_strides.size(), axes, "strides of the input", kPlanFamily);
  if (!map.out_strides.empty())
    require_length(map.out_strides.size(), axes, "strides of the output", kPlanFamily);

  FamilyForm& form = plan.form;
  form.axes = static_cast<std::int32_t>(axes);
  form.element_bytes = map.element_bytes;
  form.dense_in = map.in_strides.empty();
  form.dense_out = map.out_strides.empty();
  const auto stride_bytes = [&](std::int64_t stride) {
    std::int64_t bytes = 0;
    constexpr std::int64_t most = std::int64_t{1} << 56;
    if (__builtin_mul_overflow(stride, static_cast<std::int64_t>(map.element_bytes), &bytes) ||
        bytes > most || bytes < -most)
      fail(ErrorCode::value, kPlanFamily, "a stride of " + std::to_string(stride) + " elements",
           "less than 2^56 bytes");
    return bytes;
  };
  for (std::size_t a = 0; a < axes; ++a) {
    FamilyForm::Axis& axis = form.axis[a];
    axis.extent = map.extents[a].most;
    if (map.extents[a].is_free) {
      axis.free = form.extents++;
      plan.free.push_back(a);
    }
    constexpr std::int64_t most_shift = std::int64_t{1} << 62;
    axis.shift = plan.map.shifts[a];
    if (axis.shift >= most_shift || axis.shift <= -most_shift)
      fail(ErrorCode::value, kPlanFamily, "a shift of " + std::to_string(axis.shift), "less than 2^62");
    if (axis.shift != 0) ++form.rolled;
    form.order[a] = plan.map.order[a];
    if (!form.dense_in) axis.in_stride = stride_bytes(map.in_strides[a]);
    if (!form.dense_out) form.axis[plan.map.order[a]].out_stride = stride_bytes(map.out_strides[a]);
  }
  for (const int a : map.flipped) {
    if (a < 0 || a >= form.axes)
      fail(ErrorCode::value, kPlanFamily, "axis " + std::to_string(a) + " flipped",
           "axes 0 to " + std::to_string(form.axes - 1));
    if (form.axis[a].flipped)
      fail(ErrorCode::value, kPlanFamily, "axis " + std::to_string(a) + " flipped twice", "each axis once");
    form.axis[a].flipped = true;
  }
  plan.most_elements = most_elements(map);
  if (plan.free.empty()) require_bounded(plan, kPlanFamily);
  check_largest(plan);
  plan.sure_unit = sure_rows(form).unit;
  return plan;
}

std::uint32_t largest_wanted(const FamilyPlan& plan, int unit_bytes) {
  kernels::FamilyForm form = plan.form;
  for (int a = 0; a < form.axes; ++a) form.axis[a].free = -1;
  kernels::FamilyView view;
  FARO_CHECK(kernels::family_view(
      form, [](int) { return std::int64_t{0}; }, 0, view));
  kernels::normalise(view);
  kernels::cut_into_units(view, form.element_bytes, static_cast<std::uint64_t>(unit_bytes));
  return kernels::make_family_box(view, unit_bytes, 0, 0).wanted;
}

FamilyCall::FamilyCall(const FamilyPlan& plan, std::span<const std::uint64_t> extents,
                       const FamilyStrides& strides)
    : plan_(plan), extents_(extents) {
  if (extents.size() != plan.free.size()) {
    fail(ErrorCode::value, kRunFamily, std::to_string(extents.size()) + " extents",
         std::to_string(plan.free.size()) + ", those that are free");
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::uint64_t most = plan.form.axis[plan.free[i]].extent;
    if (extents[i] <= most) continue;
    fail(ErrorCode::value, kRunFamily,
         "an extent of " + std::to_string(extents[i]) + " for axis " + std::to_string(plan.free[i]),
         "at most " + std::to_string(most), "make the family for larger arrays");
  }
  if (!strides.in.empty() || !strides.out.empty()) {
    own_strides_ = true;
    own_ = plan.form;
    const auto axes = static_cast<std::size_t>(own_.axes);
    const auto bytes = static_cast<std::int64_t>(own_.element_bytes);
    constexpr std::int64_t most = std::int64_t{1} << 56;
    const auto check_strides = [&](std::span<const std::int64_t> given, const char* of) {
      require_length(given.size(), axes, of, kRunFamily);
      for (const std::int64_t stride : given) {
        if (stride < most / bytes && stride > -most / bytes) continue;
        fail(ErrorCode::value, kRunFamily, "a stride of " + std::to_string(stride) + " elements",
             "less than 2^56 bytes");
      }
    };
    if (!strides.in.empty()) {
      check_strides(strides.in, "strides of the input");
      own_.dense_in = false;
      for (std::size_t a = 0; a < axes; ++a) own_.axis[a].in_stride = strides.in[a] * bytes;
    }
    if (!strides.out.empty()) {
      check_strides(strides.out, "strides of the output");
      own_.dense_out = false;
      for (std::size_t a = 0; a < axes; ++a) own_.axis[own_.order[a]].out_stride = strides.out[a] * bytes;
    }
  }
  bool fits = true;
  bool is_empty = false;
  for (std::size_t a = 0; a < static_cast<std::size_t>(plan.form.axes); ++a) {
    fits = fits && !__builtin_mul_overflow(count_, std::max<std::uint64_t>(extent(a), 1), &count_);
    is_empty = is_empty || extent(a) == 0;
  }
  if (!fits || count_ > kMostFamilyElements)
    fail(ErrorCode::unsupported, kRunFamily, "an array of more than 2^40 elements", "at most 2^40");
  if (is_empty) count_ = 0;
}

kernels::FamilyView FamilyCall::view(std::uint32_t part) const {
  kernels::FamilyView made;
  const bool fits = kernels::family_view(
      form(), [&](int i) { return static_cast<std::int64_t>(extents_[static_cast<std::size_t>(i)]); }, part,
      made);
  FARO_CHECK(fits);
  return made;
}

std::uint64_t FamilyCall::reach(std::int64_t kernels::FamilyAxis::*stride) const {
  if (count_ == 0) return 0;
  const kernels::FamilyView all = view();
  std::uint64_t bytes = plan_.map.element_bytes;
  for (std::size_t a = 0; a < static_cast<std::size_t>(all.axes); ++a) {
    const std::int64_t step = all.axis[a].*stride;
    bytes += static_cast<std::uint64_t>(step < 0 ? -step : step) * (extent(a) - 1);
  }
  return bytes;
}

AxisMap axis_map(const kernels::FamilyView& view, std::uint64_t unit_bytes) {
  const auto unit = static_cast<std::int64_t>(unit_bytes);
  AxisMap map{.in_first = view.in_first / unit, .out_first = view.out_first / unit, .unit = unit_bytes};
  map.axes.reserve(static_cast<std::size_t>(view.axes));
  for (int a = 0; a < view.axes; ++a)
    map.axes.push_back(
        {.extent = view.axis[a].extent, .in = view.axis[a].in / unit, .out = view.axis[a].out / unit});
  return map;
}

}  // namespace faro::detail
