#include "faro/plan/strided_plan.hpp"

#include <fmt/format.h>

#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/form_to_run.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostStridedBytes = std::uint64_t{1} << 62;

void check_strided_width(const Strided& view, std::uint64_t element_bytes) {
  if (element_bytes == 0 || element_bytes > kMaxElementBytes) {
    fail(ErrorCode::value, "plan", fmt::format("elements of {} bytes", element_bytes),
         fmt::format("1 to {} bytes", kMaxElementBytes));
  }
  if (std::max(in_elements(view), out_elements(view)) > kMostStridedBytes / element_bytes) {
    fail(ErrorCode::value, "plan", fmt::format("{} on elements of {} bytes", to_text(view), element_bytes),
         "arrays of at most 2^62 bytes");
  }
}

// Kernels of affine maps take widths that are powers of two: a flip of one axis of two elements is no roll,
// flip or permutation of axes of the whole, and is moved in boxes where elements have, say, 3 bytes.
bool takes_width(const Permutation& permutation, std::uint64_t element_bytes) {
  const auto* const map = std::get_if<Affine>(&permutation);
  return map == nullptr || f2::is_power_of_two(element_bytes) || detail::form_of_any_width(*map);
}

// Axes of which some are flipped go as views. On a CPU boxes are faster than the tiles of an affine map where
// the caches hold neither array, and most of all where the output begins between lines; on a GPU, those of
// narrow elements whose rows stay, or are read backwards (docs/notes/axes-experiments.md).
bool goes_by_boxes(const StridedPlan& plan, const detail::AxisMap& normal, const Permutation& permutation) {
  if (std::holds_alternative<CyclicAxes>(permutation)) return true;
  constexpr std::size_t kMostAxes = 16;
  const std::size_t axes = normal.axes.size();
  // Halves that are flipped each.
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  if (cyclic != nullptr && cyclic->reversed && axes > 1) return true;
  if (axes < 2 || axes > kMostAxes || !std::holds_alternative<Affine>(permutation)) return false;
  if (plan.target().engine == Engine::cuda) {
    if (plan.target().tile) return false;
    constexpr std::uint64_t large_bytes = 4 << 20;
    constexpr std::uint64_t row_bytes = 128;
    const detail::StridedAxis& row = normal.axes.front();
    const bool forwards = row.in == 1;
    if (!forwards && row.in != -1) return false;
    return plan.element_bytes() <= (forwards ? 1 : 2) && plan.moved_bytes() >= large_bytes &&
           row.extent * plan.element_bytes() >= row_bytes;
  }
  return plan.target().engine == Engine::cpu && plan.moved_bytes() > plan.target().streaming_bytes;
}

}  // namespace

StridedPlan::StridedPlan(const Strided& view, std::uint64_t element_bytes, Target target)
    : view_(view), element_bytes_(element_bytes), target_(std::move(target)) {
  check(view_);
  check_strided_width(view_, element_bytes_);
  in_elements_ = faro::in_elements(view_);
  out_elements_ = faro::out_elements(view_);
  moved_bytes_ = element_count(view_) * element_bytes_;
  const detail::AxisMap normal = detail::normal_form(detail::axis_map(view_));
  if (const auto permutation = detail::as_permutation(normal); permutation &&
                                                               takes_width(*permutation, element_bytes_) &&
                                                               !goes_by_boxes(*this, normal, *permutation)) {
    permutation_ = std::make_shared<const Plan>(
        Problem{.permutation = *permutation, .element_bytes = element_bytes_}, target_);
    return;
  }
  if (target_.engine == Engine::cuda) {
    if (moved_bytes_ > 0) passes_.push_back(detail::pass_of_view(normal, element_bytes_));
    return;
  }
  passes_.push_back(detail::cpu_pass_of(normal, element_bytes_, target_));
}

}  // namespace faro
