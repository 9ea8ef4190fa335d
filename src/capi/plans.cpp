#include "capi/plans.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/array_checks.hpp"
#include "capi/status.hpp"
#include "io/buffer.hpp"
#include "permutation/rows.hpp"
#include "permutation/strides.hpp"
#include "permutation/text.hpp"
#include "plan/form_to_run.hpp"

namespace faro::capi {
namespace {

constexpr const char* kPlanning = "plan";

using faro::detail::AxisMap;

Shape out_shape_of(const faro::detail::NotedPermutation& read) {
  const ParsedPermutation& parsed = read.parsed;
  if (parsed.regrouped) return parsed.regrouped->after;
  if (parsed.axes) return parsed.axes->target_shape();
  if (read.shapes) return read.shapes->after;
  return {element_count(parsed.permutation)};
}

Problem problem_of(Permutation permutation, std::uint64_t element_bytes, const faro_options* options) {
  Problem problem{.permutation = std::move(permutation), .element_bytes = element_bytes};
  if (options == nullptr) return problem;
  if (options->batch > 0) problem.batch = options->batch;
  if (options->in_place != 0) problem.placement = Placement::in_place;
  return problem;
}

void require_single_view(const faro_options* options) {
  if (options == nullptr) return;
  if (options->batch > 1)
    fail(ErrorCode::value, kPlanning, "a batch of strided views", "one", "a batch is an axis of the view");
  if (options->in_place != 0) {
    fail(ErrorCode::unsupported, kPlanning, "a strided view in place", "two arrays",
         "permutations of dense arrays can be in place");
  }
}

const std::byte* at(const void* base, std::int64_t elements, std::uint64_t width) {
  return static_cast<const std::byte*>(base) + elements * static_cast<std::int64_t>(width);
}

void run_view(const Step& step, std::uint64_t width, const void* in, void* out, Stream stream) {
  const Plan& plan = step.plan.plan();
  if (plan.array_bytes() == 0) return;
  require_argument("run", {{in, "the input"}, {out, "the output"}});
  auto* const target = const_cast<std::byte*>(at(out, step.out_first, width));
  step.plan.run(at(in, step.in_first, width), plan.in_bytes() / width, target, plan.out_bytes() / width,
                stream);
}

// From the first byte to the last of several arrays.
struct Reach {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;

  void add(const std::byte* first, std::uint64_t bytes) {
    begin = end == nullptr ? first : std::min(begin, first);
    end = std::max(end, first + bytes);
  }
  faro::detail::LaidArray all() const { return {begin, static_cast<std::uint64_t>(end - begin)}; }
};

std::uint64_t moved_bytes(const faro_plan& plan) {
  std::uint64_t bytes = 0;
  for (const Step& step : plan.steps) bytes += step.bytes();
  return bytes;
}

// What views that are not empty read and write, from where an array has its index 0.
std::vector<faro::detail::SidesOfView> sides_of(const faro_plan& plan, const void* in, const void* out) {
  std::vector<faro::detail::SidesOfView> sides;
  sides.reserve(plan.views().size());
  for (const Step& step : plan.views()) {
    if (step.bytes() == 0) continue;
    sides.emplace_back(*step.problem.view, plan.element_bytes, at(in, step.in_first, plan.element_bytes),
                       at(out, step.out_first, plan.element_bytes));
  }
  return sides;
}

// Whether what all views read lies apart from what they write: their first and last bytes tell most often.
void check_steps_disjoint(const faro_plan& plan, const void* in, void* out) {
  if (in == nullptr || out == nullptr) return;  // refused where it is run
  Reach reads;
  Reach writes;
  for (const Step& step : plan.views()) {
    const std::uint64_t width = plan.element_bytes;
    const Plan& of = step.plan.plan();
    if (of.array_bytes() == 0) continue;
    reads.add(at(in, step.in_first, width), of.in_bytes());
    writes.add(at(out, step.out_first, width), of.out_bytes());
  }
  const Step* const map = plan.map();
  if (map != nullptr) writes.add(static_cast<const std::byte*>(out), map->bytes());
  if (!faro::detail::share_bytes(reads.all(), writes.all())) return;
  const auto sides = sides_of(plan, in, out);
  std::vector<faro::detail::RunArray> inputs;
  std::vector<faro::detail::RunArray> outputs;
  for (const faro::detail::SidesOfView& side : sides) {
    inputs.push_back({"input", side.in()});
    if (map == nullptr) outputs.push_back({"output", side.out()});
  }
  if (map != nullptr) outputs.push_back({"output", {out, map->bytes()}});
  faro::detail::check_disjoint("run", outputs, inputs);
}

// Several views write side by side, wherever the output lies.
void check_writes_apart(const faro_plan& plan) {
  if (plan.views().size() < 2) return;
  constexpr std::byte origin{};
  const auto sides = sides_of(plan, &origin, &origin);
  std::vector<faro::detail::RunArray> outputs;
  outputs.reserve(sides.size());
  for (const faro::detail::SidesOfView& side : sides) outputs.push_back({"output", side.out()});
  faro::detail::check_disjoint(kPlanning, outputs, {});
}

void run_plan(const faro_plan& plan, const void* in, void* out, Stream stream) {
  const Endable endable(moved_bytes(plan));
  if (plan.steps.size() > 1) check_steps_disjoint(plan, in, out);
  const Step* const map = plan.map();
  if (map == nullptr) {
    for (const Step& step : plan.steps) run_view(step, plan.element_bytes, in, out, stream);
    return;
  }
  const std::uint64_t bytes = map->bytes();
  if (plan.steps.size() == 1) return map->plan.run(in, out, bytes, stream);
  // The strided array, collected; then the map.
  if (bytes == 0) return;
  if (map->plan.engine() == Engine::cuda) {
    fail(ErrorCode::unsupported, "run", "a map of an array with strides on a GPU", "a dense array",
         "make it dense first");
  }
  const io::Buffer collected(bytes);
  run_view(plan.steps.front(), plan.element_bytes, in, collected.data(), stream);
  map->plan.run(collected.data(), out, bytes, stream);
}

faro_plan* inverse_of(const faro_plan& plan) {
  const Step* const map = plan.map();
  if (map != nullptr && plan.steps.size() > 1) {
    fail(ErrorCode::unsupported, "invert a plan", "a map of an array with strides", "a plan of a dense array",
         "the inverse writes a dense array");
  }
  if (map != nullptr) {
    Problem problem = map->problem;
    problem.permutation = inverse(problem.permutation);
    return new_map_plan(problem, plan.options);
  }
  std::vector<AxisMap> views;
  for (const Step& step : plan.steps) views.push_back(faro::detail::inverse(step.view()));
  return new_view_plan(views, plan.element_bytes, plan.options);
}

}  // namespace

void require_named_shape(const faro::detail::NotedPermutation& read, const Shape& shape,
                         const char* operation) {
  const ParsedPermutation& parsed = read.parsed;
  if (shape.size() < 2 || parsed.regrouped || !(parsed.axes || read.shapes)) return;
  const Shape& named = parsed.axes ? parsed.axes->shape : read.shapes->before;
  const auto extents = [](Shape of) {
    std::erase(of, 1);
    return of;
  };
  if (extents(named) == extents(shape)) return;
  const auto text = [](const Shape& of) {
    std::string shown;
    for (const std::uint64_t extent : of) shown += (shown.empty() ? "" : "x") + std::to_string(extent);
    return shown;
  };
  fail(ErrorCode::value, operation, "an array of shape " + text(shape),
       "shape " + text(named) + ", which the map takes", "an array of one axis may have any");
}

const faro_plan& of(const faro_plan* plan, const char* operation) {
  require_argument(plan, operation, "plan");
  return *plan;
}

Step make_view_step(const AxisMap& view, std::uint64_t element_bytes, const PlanOptions& options) {
  AxisMap inside = view;  // arrays that begin with the lowest elements
  inside.in_first = -faro::detail::lowest(view.axes, &faro::detail::StridedAxis::in);
  inside.out_first = -faro::detail::lowest(view.axes, &faro::detail::StridedAxis::out);
  const Problem problem{.element_bytes = element_bytes, .view = faro::detail::as_strided(inside)};
  return {.problem = problem,
          .plan = faro::plan(problem, options),
          .in_first = view.in_first - inside.in_first,
          .out_first = view.out_first - inside.out_first};
}

AxisMap Step::view() const {
  AxisMap view = faro::detail::axis_map(*problem.view);
  view.in_first += in_first;
  view.out_first += out_first;
  return view;
}

PlanOptions plan_options(const faro_options* options) {
  PlanOptions made;
  if (options == nullptr) return made;
  require_zeros(options->reserved, kPlanning);
  if (options->memory_bytes != 0) {
    fail(ErrorCode::value, kPlanning, "memory_bytes of " + std::to_string(options->memory_bytes), "0",
         "plans over ranks alone take a bound of memory");
  }
  switch (options->engine) {
    case FARO_AUTO:
      made.engine = Engine::automatic;
      break;
    case FARO_CPU:
      made.engine = Engine::cpu;
      break;
    case FARO_CUDA:
      made.engine = Engine::cuda;
      break;
    default:
      fail(ErrorCode::value, kPlanning, "engine " + std::to_string(static_cast<int>(options->engine)),
           "FARO_AUTO, FARO_CPU or FARO_CUDA");
  }
  made.threads = options->threads;
  if (options->device != 0) made.device = options->device - 1;
  made.index_choice.repeats = options->repeats;
  made.measure = options->measure != 0;
  return made;
}

Problem of_any_width(Problem problem) {
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  const bool fits = map == nullptr || f2::is_power_of_two(problem.element_bytes) ||
                    problem.placement == Placement::in_place || problem.element_bytes > kMaxElementBytes ||
                    detail::form_of_any_width(*map);
  if (!fits) problem.permutation = as_index_array(*map);
  return problem;
}

faro_plan* new_map_plan(const Problem& problem, const PlanOptions& options) {
  auto plan = std::make_unique<faro_plan>();
  plan->element_bytes = problem.element_bytes;
  plan->options = options;
  plan->steps.push_back({.problem = problem, .plan = faro::plan(of_any_width(problem), options)});
  plan->out_shape = {problem.batch * element_count(problem)};
  return plan.release();
}

faro_plan* new_view_plan(const std::vector<AxisMap>& views, std::uint64_t element_bytes,
                         const PlanOptions& options) {
  auto plan = std::make_unique<faro_plan>();
  plan->element_bytes = element_bytes;
  plan->options = options;
  for (const AxisMap& view : views) plan->steps.push_back(make_view_step(view, element_bytes, options));
  check_writes_apart(*plan);
  if (views.size() == 1) plan->out_shape = faro::detail::as_strided(views.front()).extents;
  return plan.release();
}

}  // namespace faro::capi

using faro::capi::given_away;
using faro::capi::given_shape;
using faro::capi::given_strides;
using faro::capi::guarded;
using faro::capi::kPlanning;
using faro::capi::of;
using faro::capi::plan_options;
using faro::capi::require_argument;

faro_status faro_plan_map(const faro_map* map, uint64_t element_bytes, const faro_options* options,
                          faro_plan** plan) {
  return guarded([&] {
    require_argument(kPlanning, {{map, "map"}, {plan, "plan"}});
    *plan = faro::capi::new_map_plan(faro::capi::problem_of(map->permutation, element_bytes, options),
                                     plan_options(options));
  });
}

faro_status faro_plan_text(const char* text, int rank, const uint64_t* shape, uint64_t element_bytes,
                           const faro_options* options, faro_plan** plan) {
  return faro_plan_array(text, rank, shape, nullptr, element_bytes, options, plan);
}

faro_status faro_plan_array(const char* text, int rank, const uint64_t* shape, const int64_t* strides,
                            uint64_t element_bytes, const faro_options* options, faro_plan** plan) {
  return guarded([&] {
    require_argument(kPlanning, {{text, "text"}, {plan, "plan"}});
    const faro::PlanOptions planned = plan_options(options);
    const auto axes = given_shape(rank, shape);
    if (faro::is_strided_text(text)) {
      if (strides != nullptr) {
        faro::fail(faro::ErrorCode::value, kPlanning, "strides of an array and a strided view", "one of them",
                   "a view's strides say all");
      }
      faro::capi::require_single_view(options);
      const faro::Strided view = faro::parse_strided(text);
      const std::uint64_t elements = faro::capi::product(axes);
      if (!axes.empty() && elements < faro::in_elements(view)) {
        faro::fail(faro::ErrorCode::value, kPlanning, "an array of " + std::to_string(elements) + " elements",
                   "at least " + std::to_string(faro::in_elements(view)) + ", which the strides of " +
                       faro::to_text(view) + " reach");
      }
      *plan = faro::capi::new_view_plan({faro::detail::axis_map(view)}, element_bytes, planned);
      (*plan)->out_shape = faro::detail::result_shape(view);
      return;
    }
    faro::ParseOptions parse;
    if (!axes.empty()) parse.shape = axes;
    const faro::detail::NotedPermutation read = faro::detail::parse_with_notes(text, parse);
    const faro::ParsedPermutation& parsed = read.parsed;
    faro::capi::require_named_shape(read, axes, faro::capi::kPlanning);
    auto out_shape = faro::capi::out_shape_of(read);
    const bool has_gaps =
        strides != nullptr && !faro::detail::is_dense(axes, given_strides(axes.size(), strides, "strides"));
    if (!has_gaps) {
      *plan = faro::capi::new_map_plan(faro::capi::problem_of(parsed.permutation, element_bytes, options),
                                       planned);
      if (options == nullptr || options->batch <= 1) (*plan)->out_shape = std::move(out_shape);
      return;
    }
    faro::capi::require_single_view(options);
    if (faro::capi::product(axes) != faro::element_count(parsed.permutation)) {
      faro::fail(faro::ErrorCode::value, kPlanning,
                 "an array of " + std::to_string(faro::capi::product(axes)) + " elements",
                 std::to_string(faro::element_count(parsed.permutation)) + ", as the map has");
    }
    const faro::capi::Strides given = given_strides(axes.size(), strides, "strides");
    const bool is_of_axes = parsed.axes && (parsed.regrouped || parsed.axes->shape == axes);
    if (is_of_axes) {
      const auto finer = faro::detail::finer_strides(axes, given, parsed.axes->shape);
      const auto moved = faro::detail::permuted(parsed.axes->shape, finer, parsed.axes->order);
      *plan = faro::capi::new_view_plan({moved}, element_bytes, planned);
    } else {
      auto made = std::unique_ptr<faro_plan>(faro::capi::new_map_plan(
          faro::capi::problem_of(parsed.permutation, element_bytes, options), planned));
      made->steps.insert(made->steps.begin(), faro::capi::make_view_step(faro::detail::packed(axes, given),
                                                                         element_bytes, planned));
      *plan = made.release();
    }
    (*plan)->out_shape = std::move(out_shape);
  });
}

faro_status faro_plan_view(const faro_view* view, uint64_t element_bytes, const faro_options* options,
                           faro_plan** plan) {
  return guarded([&] {
    require_argument(kPlanning, {{view, "view"}, {plan, "plan"}});
    faro::capi::require_single_view(options);
    faro::Strided lists{
        .extents = given_shape(view->rank, view->extents), .in_strides = {}, .out_strides = {}};
    lists.in_strides = given_strides(lists.extents.size(), view->in_strides, "in_strides");
    lists.out_strides = given_strides(lists.extents.size(), view->out_strides, "out_strides");
    faro::detail::AxisMap given = faro::detail::axis_map(lists);
    given.in_first = view->in_corner;
    given.out_first = view->out_corner;
    *plan = faro::capi::new_view_plan({given}, element_bytes, plan_options(options));
  });
}

faro_status faro_plan_roll(int rank, const uint64_t* shape, const int64_t* in_strides, const int64_t* shifts,
                           uint64_t element_bytes, const faro_options* options, faro_plan** plan) {
  return guarded([&] {
    require_argument(plan, kPlanning, "plan");
    faro::capi::require_single_view(options);
    auto axes = given_shape(rank, shape);
    static_cast<void>(faro::capi::product(axes));
    auto rolled = faro::detail::packed(axes, given_strides(axes.size(), in_strides, "in_strides"));
    const auto by = given_strides(axes.size(), shifts, "shifts");
    for (std::size_t a = 0; a < axes.size() && faro::capi::product(axes) > 0; ++a)
      rolled.axes[a].shift = faro::maps::roll(axes[a], by[a]).shift;
    *plan = faro::capi::new_view_plan(faro::detail::unrolled(rolled), element_bytes, plan_options(options));
    (*plan)->out_shape = std::move(axes);
  });
}

void faro_plan_destroy(faro_plan* plan) { delete plan; }

faro_status faro_plan_run(const faro_plan* plan, const void* in, void* out, void* stream) {
  return guarded([&] {
    faro::capi::run_plan(of(plan, "run"), in, out, faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_plan_run_in_workspace(const faro_plan* plan, const void* in, void* out, void* workspace,
                                       uint64_t workspace_bytes, void* stream) {
  return guarded([&] {
    const faro_plan& ready = of(plan, "run");
    const faro::Stream queue(static_cast<CUstream_st*>(stream));
    const faro::capi::Step* const map = ready.map();
    if (workspace == nullptr || map == nullptr || ready.steps.size() > 1)
      return faro::capi::run_plan(ready, in, out, queue);
    const faro::capi::Endable endable(map->bytes());
    map->plan.run(in, out, map->bytes(), {.data = workspace, .bytes = workspace_bytes}, queue);
  });
}

faro_status faro_plan_run_in_place(const faro_plan* plan, void* data, void* stream) {
  return guarded([&] {
    const faro_plan& ready = of(plan, "run");
    const faro::capi::Step* const map = ready.map();
    if (map == nullptr || ready.steps.size() > 1) {
      faro::fail(faro::ErrorCode::value, "run", "one array for a view", "two arrays, faro_plan_run",
                 "permutations of dense arrays can be in place");
    }
    map->plan.run(data, map->bytes(), faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_plan_inverse(const faro_plan* plan, faro_plan** inverse) {
  return guarded([&] {
    require_argument(inverse, "invert a plan", "inverse");
    *inverse = faro::capi::inverse_of(of(plan, "invert a plan"));
  });
}
