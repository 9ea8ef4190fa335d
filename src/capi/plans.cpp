#include "capi/plans.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "capi/status.hpp"
#include "io/buffer.hpp"
#include "permutation/rows.hpp"
#include "permutation/text.hpp"
#include "plan/form_to_run.hpp"
#include "plan/prediction.hpp"

namespace faro::capi {
namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

constexpr const char* kPlanning = "plan";

std::uint64_t product(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
    if (count > Indexed::kMaxCount / extent)
      fail(ErrorCode::value, kPlanning, "an array of more than 2^40 elements", "at most 2^40");
    count *= extent;
  }
  return count;
}

Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<std::int64_t>(std::max<std::uint64_t>(shape[axis], 1));
  }
  return strides;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != stride) return false;
    stride *= static_cast<std::int64_t>(shape[axis]);
  }
  return true;
}

// The most negative reach of a view's side, at most 0.
std::int64_t lowest(const Shape& extents, const Strides& strides) {
  std::int64_t first = 0;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return first;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (strides[axis] >= 0) continue;
    std::int64_t reach = 0;
    const bool fits =
        extents[axis] <= Indexed::kMaxCount &&
        !__builtin_mul_overflow(strides[axis], static_cast<std::int64_t>(extents[axis] - 1), &reach) &&
        !__builtin_add_overflow(first, reach, &first);
    if (!fits)
      fail(ErrorCode::value, kPlanning, "strides that reach past 2^63 elements", "strides within an array");
  }
  return first;
}

Shape given_shape(int rank, const std::uint64_t* shape) {
  const std::size_t axes = checked_rank(kPlanning, rank);
  if (axes > 0) require_argument(shape, kPlanning, "shape");
  return {shape, shape + axes};
}

Strides given_strides(std::size_t axes, const std::int64_t* strides, const char* name) {
  if (axes > 0) require_argument(strides, kPlanning, name);
  return {strides, strides + axes};
}

// Array `of` and the strides of its axes, as the finer axes that a pattern takes it apart into.
Strides finer_strides(const Shape& of, const Strides& strides, const Shape& finer) {
  Strides made;
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < of.size(); ++axis) {
    // The finer axes whose product is this axis, the first the slowest; those of extent 1 go anywhere.
    const std::size_t begin = next;
    std::uint64_t reached = 1;
    while (next < finer.size() && reached < of[axis]) reached *= finer[next++];
    std::int64_t stride = strides[axis];
    Strides parts(next - begin);
    for (std::size_t k = next; k-- > begin;) {
      parts[k - begin] = stride;
      stride *= static_cast<std::int64_t>(finer[k]);
    }
    made.insert(made.end(), parts.begin(), parts.end());
  }
  made.resize(finer.size(), 0);  // axes of one element
  return made;
}

// Axes of a strided array, brought to their order in a dense one.
CornerView view_of_axes(const NamedAxes& axes, const Strides& strides) {
  CornerView view;
  for (const int axis : axes.order) {
    view.extents.push_back(axes.shape[static_cast<std::size_t>(axis)]);
    view.in_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  view.out_strides = dense_strides(view.extents);
  return view;
}

// Everything of a strided array, brought together.
CornerView view_of_all(const Shape& shape, const Strides& strides) {
  return {.extents = shape, .in_strides = strides, .out_strides = dense_strides(shape)};
}

Shape out_shape_of(const faro::detail::NotedPermutation& read) {
  const ParsedPermutation& parsed = read.parsed;
  if (parsed.regrouped) return parsed.regrouped->after;
  if (parsed.axes) return parsed.axes->target_shape();
  if (read.shapes) return read.shapes->after;
  return {element_count(parsed.permutation)};
}

// Two axes or more are those that a text names, if it names any; extents of 1 say nothing.
void require_named_shape(const faro::detail::NotedPermutation& read, const Shape& shape) {
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
  fail(ErrorCode::value, kPlanning, "an array of shape " + text(shape),
       "shape " + text(named) + ", which the map takes", "an array of one axis may have any");
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

const faro_plan& of(const faro_plan* plan, const char* operation) {
  require_argument(plan, operation, "plan");
  return *plan;
}

const std::byte* at(const void* base, std::int64_t elements, std::uint64_t width) {
  return static_cast<const std::byte*>(base) + elements * static_cast<std::int64_t>(width);
}

void run_view(const ViewStep& step, std::uint64_t width, const void* in, void* out, Stream stream) {
  const StridedPlan& plan = step.plan.plan();
  if (plan.moved_bytes() == 0) return;
  require_argument(in, "run", "the input");
  require_argument(out, "run", "the output");
  auto* const target = const_cast<std::byte*>(at(out, step.view.out_corner + step.out_first, width));
  step.plan.run(at(in, step.view.in_corner + step.in_first, width), plan.in_elements(), target,
                plan.out_elements(), stream);
}

std::uint64_t moved_bytes(const faro_plan& plan) {
  std::uint64_t bytes = plan.map ? plan.map->plan.plan().array_bytes() : 0;
  for (const ViewStep& step : plan.views) bytes += step.plan.plan().moved_bytes();
  return bytes;
}

void run_plan(const faro_plan& plan, const void* in, void* out, Stream stream) {
  const Endable endable(moved_bytes(plan));
  if (plan.map && !plan.views.empty()) {
    // The strided array, collected; then the map.
    const std::uint64_t bytes = plan.map->plan.plan().array_bytes();
    if (bytes == 0) return;
    if (plan.map->plan.engine() == Engine::cuda) {
      fail(ErrorCode::unsupported, "run", "a map of an array with strides on a GPU", "a dense array",
           "make it dense first");
    }
    const io::Buffer collected(bytes);
    run_view(plan.views.front(), plan.element_bytes, in, collected.data(), stream);
    return plan.map->plan.run(collected.data(), out, bytes, stream);
  }
  if (plan.map) return plan.map->plan.run(in, out, plan.map->plan.plan().array_bytes(), stream);
  for (const ViewStep& step : plan.views) run_view(step, plan.element_bytes, in, out, stream);
}

// The boxes of a roll: along each rolled axis what stays before the end, and what goes round it.
std::vector<CornerView> rolled(const Shape& shape, const Strides& in_strides, const Strides& shifts) {
  const Strides out_strides = dense_strides(shape);
  std::vector<CornerView> boxes{{.extents = shape, .in_strides = in_strides, .out_strides = out_strides}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return {boxes.front()};
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    const std::int64_t shift = (shifts[axis] % extent + extent) % extent;
    if (shift == 0) continue;
    std::vector<CornerView> halves;
    for (const CornerView& box : boxes) {
      CornerView front = box;  // goes up by the shift
      front.extents[axis] = static_cast<std::uint64_t>(extent - shift);
      front.out_corner += shift * out_strides[axis];
      CornerView back = box;  // goes round
      back.extents[axis] = static_cast<std::uint64_t>(shift);
      back.in_corner += (extent - shift) * in_strides[axis];
      halves.push_back(std::move(front));
      halves.push_back(std::move(back));
    }
    boxes = std::move(halves);
  }
  return boxes;
}

// Sweeps of the CPU that no curve was measured for take a copy's time, over the share of its speed that they
// reach: affine maps 69 to 86%, views about half (bench/results).
constexpr double kShareOfMaps = 0.77;
constexpr double kShareOfViews = 0.5;

double swept_us(const Target& target, std::uint64_t bytes, double share) {
  constexpr std::uint64_t kWidth = 4;
  const auto curves = target.index_calibration ? target.index_calibration
                                               : calibration_for(target.name, built_in_cpu_calibration());
  const auto copy = curves->predict_us(IndexKernel::copy, kWidth, (bytes + kWidth - 1) / kWidth);
  return copy ? *copy / share : std::numeric_limits<double>::quiet_NaN();
}

// Microseconds of all passes; NaN where one is not known.
double predicted_us_of(const Plan& plan) {
  if (plan.passes().empty()) return 0;
  if (const IndexPlan* const index = plan.index_plan()) {
    if (index->chosen().predicted_us) return *index->chosen().predicted_us;
  }
  double sum = 0;
  for (std::size_t pass = 0; pass < plan.passes().size(); ++pass) {
    const auto microseconds = predict_us(plan, pass);
    if (!microseconds && plan.target().engine == Engine::cuda)
      return std::numeric_limits<double>::quiet_NaN();
    sum += microseconds ? *microseconds : swept_us(plan.target(), plan.array_bytes(), kShareOfMaps);
  }
  return sum;
}

CornerView turned(const CornerView& view) {
  return {.extents = view.extents,
          .in_strides = view.out_strides,
          .out_strides = view.in_strides,
          .in_corner = view.out_corner,
          .out_corner = view.in_corner};
}

faro_plan* inverse_of(const faro_plan& plan) {
  if (plan.map && !plan.views.empty()) {
    fail(ErrorCode::unsupported, "invert a plan", "a map of an array with strides", "a plan of a dense array",
         "the inverse writes a dense array");
  }
  if (plan.map) {
    Problem problem = plan.map->problem;
    problem.permutation = inverse(problem.permutation);
    return new_map_plan(problem, plan.options);
  }
  std::vector<CornerView> views;
  for (const ViewStep& step : plan.views) views.push_back(turned(step.view));
  return new_view_plan(views, plan.element_bytes, plan.options);
}

}  // namespace

ViewStep make_view_step(const CornerView& view, std::uint64_t element_bytes, const PlanOptions& options) {
  const std::int64_t in_first = lowest(view.extents, view.in_strides);
  const std::int64_t out_first = lowest(view.extents, view.out_strides);
  const Strided strided{.extents = view.extents,
                        .in_strides = view.in_strides,
                        .out_strides = view.out_strides,
                        .in_offset = static_cast<std::uint64_t>(-in_first),
                        .out_offset = static_cast<std::uint64_t>(-out_first)};
  return {.view = view,
          .plan = faro::plan(strided, element_bytes, options),
          .in_first = in_first,
          .out_first = out_first};
}

PlanOptions plan_options(const faro_options* options) {
  PlanOptions made;
  if (options == nullptr) return made;
  require_zeros(options->reserved, kPlanning);
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
  return made;
}

namespace {

// The kernels of affine maps take widths that are powers of two. Others take the map entry by entry, unless
// it is of another form, too.
Problem of_any_width(Problem problem) {
  const auto* const map = std::get_if<Affine>(&problem.permutation);
  const bool fits = map == nullptr || f2::is_power_of_two(problem.element_bytes) ||
                    problem.placement == Placement::in_place || problem.element_bytes > kMaxElementBytes ||
                    detail::form_of_any_width(*map);
  if (!fits) problem.permutation = as_index_array(*map);
  return problem;
}

}  // namespace

faro_plan* new_map_plan(const Problem& problem, const PlanOptions& options) {
  return new faro_plan{.element_bytes = problem.element_bytes,
                       .options = options,
                       .views = {},
                       .map = MapStep{.problem = problem, .plan = faro::plan(of_any_width(problem), options)},
                       .out_shape = {problem.batch * element_count(problem.permutation)}};
}

faro_plan* new_view_plan(const std::vector<CornerView>& views, std::uint64_t element_bytes,
                         const PlanOptions& options) {
  auto plan = std::make_unique<faro_plan>();
  plan->element_bytes = element_bytes;
  plan->options = options;
  for (const CornerView& view : views) plan->views.push_back(make_view_step(view, element_bytes, options));
  if (views.size() == 1) plan->out_shape = views.front().extents;
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
    require_argument(map, kPlanning, "map");
    require_argument(plan, kPlanning, "plan");
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
    require_argument(text, kPlanning, "text");
    require_argument(plan, kPlanning, "plan");
    const faro::PlanOptions planned = plan_options(options);
    const auto axes = given_shape(rank, shape);
    if (faro::is_strided_text(text)) {
      if (strides != nullptr) {
        faro::fail(faro::ErrorCode::value, kPlanning, "strides of an array and a strided view", "one of them",
                   "a view's strides say all");
      }
      faro::capi::require_single_view(options);
      const faro::Strided view = faro::parse_strided(text);
      faro::capi::CornerView corner{.extents = view.extents,
                                    .in_strides = view.in_strides,
                                    .out_strides = view.out_strides,
                                    .in_corner = static_cast<std::int64_t>(view.in_offset),
                                    .out_corner = static_cast<std::int64_t>(view.out_offset)};
      *plan = faro::capi::new_view_plan({corner}, element_bytes, planned);
      return;
    }
    faro::ParseOptions parse;
    if (!axes.empty()) parse.shape = axes;
    const faro::detail::NotedPermutation read = faro::detail::parse_with_notes(text, parse);
    const faro::ParsedPermutation& parsed = read.parsed;
    faro::capi::require_named_shape(read, axes);
    auto out_shape = faro::capi::out_shape_of(read);
    const bool has_gaps =
        strides != nullptr && !faro::capi::is_dense(axes, given_strides(axes.size(), strides, "strides"));
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
      const auto finer = faro::capi::finer_strides(axes, given, parsed.axes->shape);
      *plan =
          faro::capi::new_view_plan({faro::capi::view_of_axes(*parsed.axes, finer)}, element_bytes, planned);
    } else {
      auto made = std::unique_ptr<faro_plan>(faro::capi::new_map_plan(
          faro::capi::problem_of(parsed.permutation, element_bytes, options), planned));
      made->views.push_back(
          faro::capi::make_view_step(faro::capi::view_of_all(axes, given), element_bytes, planned));
      *plan = made.release();
    }
    (*plan)->out_shape = std::move(out_shape);
  });
}

faro_status faro_plan_view(const faro_view* view, uint64_t element_bytes, const faro_options* options,
                           faro_plan** plan) {
  return guarded([&] {
    require_argument(view, kPlanning, "view");
    require_argument(plan, kPlanning, "plan");
    faro::capi::require_single_view(options);
    faro::capi::CornerView corner;
    corner.extents = given_shape(view->rank, view->extents);
    corner.in_strides = given_strides(corner.extents.size(), view->in_strides, "in_strides");
    corner.out_strides = given_strides(corner.extents.size(), view->out_strides, "out_strides");
    corner.in_corner = view->in_corner;
    corner.out_corner = view->out_corner;
    *plan = faro::capi::new_view_plan({corner}, element_bytes, plan_options(options));
  });
}

faro_status faro_plan_roll(int rank, const uint64_t* shape, const int64_t* in_strides, const int64_t* shifts,
                           uint64_t element_bytes, const faro_options* options, faro_plan** plan) {
  return guarded([&] {
    require_argument(plan, kPlanning, "plan");
    faro::capi::require_single_view(options);
    auto axes = given_shape(rank, shape);
    static_cast<void>(faro::capi::product(axes));
    const auto views = faro::capi::rolled(axes, given_strides(axes.size(), in_strides, "in_strides"),
                                          given_strides(axes.size(), shifts, "shifts"));
    *plan = faro::capi::new_view_plan(views, element_bytes, plan_options(options));
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
    if (workspace == nullptr || !ready.map || !ready.views.empty())
      return faro::capi::run_plan(ready, in, out, queue);
    const faro::ExecutablePlan& map = ready.map->plan;
    const faro::capi::Endable endable(map.plan().array_bytes());
    map.run(in, out, map.plan().array_bytes(), {.data = workspace, .bytes = workspace_bytes}, queue);
  });
}

faro_status faro_plan_run_in_place(const faro_plan* plan, void* data, void* stream) {
  return guarded([&] {
    const faro_plan& ready = of(plan, "run");
    if (!ready.map || !ready.views.empty()) {
      faro::fail(faro::ErrorCode::value, "run", "one array for a view", "two arrays, faro_plan_run",
                 "permutations of dense arrays can be in place");
    }
    const faro::ExecutablePlan& map = ready.map->plan;
    map.run(data, map.plan().array_bytes(), faro::Stream(static_cast<CUstream_st*>(stream)));
  });
}

faro_status faro_plan_inverse(const faro_plan* plan, faro_plan** inverse) {
  return guarded([&] {
    require_argument(inverse, "invert a plan", "inverse");
    *inverse = faro::capi::inverse_of(of(plan, "invert a plan"));
  });
}

faro_status faro_plan_facts(const faro_plan* plan, int* on_gpu, int* in_place) {
  return guarded([&] {
    constexpr const char* kDoing = "tell of a plan";
    const faro_plan& made = of(plan, kDoing);
    require_argument(on_gpu, kDoing, "on_gpu");
    require_argument(in_place, kDoing, "in_place");
    const faro::Engine engine = made.map ? made.map->plan.engine() : made.views.front().plan.engine();
    *on_gpu = engine == faro::Engine::cuda ? 1 : 0;
    *in_place = made.map && made.map->problem.placement == faro::Placement::in_place ? 1 : 0;
  });
}

faro_status faro_plan_out_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    uint64_t sum = 0;
    for (const auto& step : made.views) sum += step.plan.plan().moved_bytes();
    *bytes = made.map ? made.map->plan.plan().array_bytes() : sum;
  });
}

faro_status faro_plan_out_shape(const faro_plan* plan, int* rank, uint64_t* shape) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(rank, "tell of a plan", "rank");
    require_argument(shape, "tell of a plan", "shape");
    std::copy(made.out_shape.begin(), made.out_shape.end(), shape);
    *rank = static_cast<int>(made.out_shape.size());
  });
}

faro_status faro_plan_workspace_bytes(const faro_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    const faro_plan& made = of(plan, "tell of a plan");
    require_argument(bytes, "tell of a plan", "bytes");
    uint64_t most = 0;
    for (const auto& step : made.views) most = std::max(most, step.plan.workspace_bytes());
    if (made.map) {
      most = std::max(most, made.map->plan.workspace_bytes());
      if (!made.views.empty()) most += made.map->plan.plan().array_bytes();
    }
    *bytes = most;
  });
}

faro_status faro_plan_explain(const faro_plan* plan, char** text) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(text, "explain a plan", "text");
    std::string words;
    for (const auto& step : made.views) words += step.plan.explain();
    if (made.map) words += made.map->plan.explain();
    *text = given_away(words);
  });
}

faro_status faro_plan_explain_json(const faro_plan* plan, char** json) {
  return guarded([&] {
    const faro_plan& made = of(plan, "explain a plan");
    require_argument(json, "explain a plan", "json");
    using Json = nlohmann::ordered_json;
    Json steps = Json::array();
    for (const auto& step : made.views) steps.push_back(Json::parse(step.plan.plan().explain_json()));
    if (made.map) steps.push_back(Json::parse(made.map->plan.plan().explain_json()));
    const Json told = steps.size() == 1 ? steps.front() : Json{{"steps", steps}};
    *json = given_away(told.dump(2, ' ', false, Json::error_handler_t::replace));
  });
}

faro_status faro_plan_svg(const faro_plan* plan, char** svg) {
  return guarded([&] {
    const faro_plan& made = of(plan, "draw a plan");
    require_argument(svg, "draw a plan", "svg");
    const faro::Plan* drawn = made.map ? &made.map->plan.plan() : nullptr;
    if (drawn == nullptr && made.views.size() == 1) drawn = made.views.front().plan.plan().permutation_plan();
    if (drawn == nullptr) {
      faro::fail(faro::ErrorCode::unsupported, "draw a plan", "a plan of strided views",
                 "a plan of a permutation");
    }
    *svg = given_away(drawn->svg());
  });
}

faro_status faro_plan_predicted_us(const faro_plan* plan, double* microseconds) {
  return guarded([&] {
    const faro_plan& made = of(plan, "predict a plan");
    require_argument(microseconds, "predict a plan", "microseconds");
    double sum = made.map ? faro::capi::predicted_us_of(made.map->plan.plan()) : 0;
    for (const auto& step : made.views) {
      const faro::StridedPlan& view = step.plan.plan();
      if (view.moved_bytes() == 0) continue;
      if (view.permutation_plan() != nullptr) {
        sum += faro::capi::predicted_us_of(*view.permutation_plan());
      } else if (view.target().engine == faro::Engine::cuda) {
        sum += std::numeric_limits<double>::quiet_NaN();
      } else {
        sum += faro::capi::swept_us(view.target(), view.moved_bytes(), faro::capi::kShareOfViews);
      }
    }
    *microseconds = sum;
  });
}
