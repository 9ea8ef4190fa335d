// How a strided view is planned: as the permutation that it is, where it is one and that is no slower, else
// in one pass of boxes. Either engine takes every view.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/form_to_run.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostStridedBytes = std::uint64_t{1} << 62;

// Kernels of affine maps take widths that are powers of two: a flip of one axis of two elements is no roll,
// flip or permutation of axes of the whole, and is moved in boxes where elements have, say, 3 bytes.
bool takes_width(const Permutation& permutation, std::uint64_t element_bytes) {
  const auto* const map = std::get_if<Affine>(&permutation);
  return map == nullptr || f2::is_power_of_two(element_bytes) || detail::form_of_any_width(*map);
}

// Axes of which some are flipped go as views. On a CPU boxes are faster than the tiles of an affine map where
// the caches hold neither array, and most of all where the output begins between lines; on a GPU, those of
// narrow elements whose rows stay, or are read backwards (docs/notes/axes-experiments.md).
bool goes_by_boxes(const Plan& plan, const detail::AxisMap& normal, const Permutation& permutation) {
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
    const std::uint64_t element_bytes = plan.given().element_bytes;
    const detail::StridedAxis& row = normal.axes.front();
    const bool forwards = row.in == 1;
    if (!forwards && row.in != -1) return false;
    return element_bytes <= (forwards ? 1 : 2) && plan.array_bytes() >= large_bytes &&
           row.extent * element_bytes >= row_bytes;
  }
  return plan.target().engine == Engine::cpu && plan.array_bytes() > plan.target().streaming_bytes;
}

}  // namespace

namespace detail {

void check_view_problem(const Problem& problem) {
  check(*problem.view);
  if (!detail::is_no_permutation(problem.permutation)) {
    fail(ErrorCode::value, "plan", "a permutation and a strided view", "one of them",
         "a view's strides say all");
  }
  if (problem.batch != 1)
    fail(ErrorCode::value, "plan", "a batch of strided views", "one", "a batch is an axis of the view");
  if (problem.placement == Placement::in_place) {
    fail(ErrorCode::unsupported, "plan", "a strided view in place", "two arrays",
         "permutations of dense arrays can be in place");
  }
  if (problem.element_bytes == 0 || problem.element_bytes > kMaxElementBytes) {
    fail(ErrorCode::value, "plan", fmt::format("elements of {} bytes", problem.element_bytes),
         fmt::format("1 to {} bytes", kMaxElementBytes));
  }
  const std::uint64_t reached = std::max(in_elements(*problem.view), out_elements(*problem.view));
  if (reached > kMostStridedBytes / problem.element_bytes) {
    fail(ErrorCode::value, "plan",
         fmt::format("{} on elements of {} bytes", to_text(*problem.view), problem.element_bytes),
         "arrays of at most 2^62 bytes");
  }
}

}  // namespace detail

void Plan::plan_view() {
  detail::check_view_problem(given_);
  const std::uint64_t element_bytes = given_.element_bytes;
  in_bytes_ = in_elements(*given_.view) * element_bytes;
  out_bytes_ = out_elements(*given_.view) * element_bytes;
  array_bytes_ = total_bytes(given_);
  const detail::AxisMap normal = detail::normal_form(detail::axis_map(*given_.view));
  if (auto permutation = detail::as_permutation(normal); permutation &&
                                                         takes_width(*permutation, element_bytes) &&
                                                         !goes_by_boxes(*this, normal, *permutation)) {
    problem_.view.reset();
    problem_.permutation = *std::move(permutation);
    return plan_in_its_form();
  }
  problem_.view = normal_form(*given_.view);
  if (target_.engine != Engine::cuda) {
    passes_ = {detail::cpu_pass_of(normal, element_bytes, target_)};
  } else if (array_bytes_ > 0) {
    passes_ = {detail::pass_of_view(normal, element_bytes, std::max(in_bytes_, out_bytes_))};
  }
}

}  // namespace faro
