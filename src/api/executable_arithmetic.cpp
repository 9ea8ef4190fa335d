// Plans with arithmetic, of views and permutations, together with the engine that runs them; those of rows:
// executable_row_arithmetic.cpp.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/arithmetic_state.hpp"
#include "api/array_checks.hpp"
#include "api/planning.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/values/moved_sweep.hpp"
#include "engines/cpu/values/value_sweep.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_values.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "permutation/axis_map.hpp"
#include "plan/moved_values.hpp"
#include "plan/value_plan.hpp"

namespace faro {
namespace {

// One array as the view has it: from index 0 on, strides in bytes.
struct Side {
  std::vector<std::int64_t> stride_bytes;
  std::int64_t first = 0;  // elements
  std::uint64_t width = 1;

  Side(const std::vector<std::int64_t>& strides, std::int64_t at, std::uint64_t bytes)
      : stride_bytes(strides), first(at), width(bytes) {
    for (std::int64_t& stride : stride_bytes) stride *= static_cast<std::int64_t>(width);
  }

  detail::LaidArray at(const void* array, const std::vector<std::uint64_t>& extents) const {
    const auto* const begin = static_cast<const std::byte*>(array);
    return {begin + first * static_cast<std::int64_t>(width), width, extents, stride_bytes};
  }
};

}  // namespace

namespace {

struct ViewState final : ExecutableArithmetic::State {
  Strided view;
  detail::ValuePlan plan;
  std::variant<cpu::ValueSweep, cuda::ValueExecutor> engine;
  Side in;
  Side out;
  Side addend;

  ViewState(const Strided& of, const detail::ValuePlan& made,
            std::variant<cpu::ValueSweep, cuda::ValueExecutor> runs, int where)
      : view(of),
        plan(made),
        engine(std::move(runs)),
        in(view.in_strides, static_cast<std::int64_t>(view.in_offset), bytes_of(plan.arithmetic.from)),
        out(view.out_strides, static_cast<std::int64_t>(view.out_offset), bytes_of(plan.arithmetic.to)),
        addend({}, 0, 1) {
    in_count = in_elements(view);
    out_count = out_elements(view);
    on_device = std::holds_alternative<cuda::ValueExecutor>(engine);
    device = where;
    if (plan.arithmetic.addend) set_addend(*plan.arithmetic.addend);
  }

  void set_addend(const Addend& of) {
    adds = true;
    const bool as_output = of.strides.empty();
    addend = Side(as_output ? view.out_strides : of.strides,
                  static_cast<std::int64_t>(as_output ? view.out_offset : of.first), bytes_of(of.number));
    // As a view reads it.
    Strided reads = view;
    reads.in_strides = of.strides;
    reads.in_offset = of.first;
    addend_count = as_output ? out_count : in_elements(reads);
  }

  std::uint64_t moved_bytes() const override { return plan.read_bytes() + plan.written_bytes(); }
  std::string explain() const override {
    const auto* const executor = std::get_if<cuda::ValueExecutor>(&engine);
    return executor != nullptr ? executor->explain() : plan.explain();
  }

  const Arithmetic& changes() const override { return plan.arithmetic; }
  std::vector<const detail::ValuePlan*> views() const override { return {&plan}; }

  void check(const void* from, const void* added, const void* target, const void* /*by*/) const override {
    if (plan.count == 0) return;
    const auto& extents = view.extents;
    const detail::LaidArray to = out.at(target, extents);
    constexpr const char* kOutOfPlace = "numbers are changed out of place";
    detail::check_disjoint("run", detail::RunArray{"output", to}, {{"input", in.at(from, extents)}},
                           kOutOfPlace);
    if (!adds) return;
    const detail::LaidArray other = addend.at(added, extents);
    const bool accumulates =
        other.address == to.address && addend.width == out.width && addend.stride_bytes == out.stride_bytes;
    if (!accumulates)
      detail::check_disjoint("run", detail::RunArray{"output", to}, {{"added array", other}},
                             detail::kAsOutput);
  }

  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    if (plan.count == 0) return;
    if (const auto* const executor = std::get_if<cuda::ValueExecutor>(&engine))
      return executor->run(arrays.in, arrays.addend, arrays.out, stream);
    std::get<cpu::ValueSweep>(engine).run(arrays.in, arrays.addend, arrays.out);
  }
};

struct MovedState final : detail::DenseState {
  detail::MovedValues plan;
  cpu::MovedSweep sweep;

  MovedState(const detail::MovedValues& made, const Target& one_thread)
      : plan(made), sweep(plan, one_thread) {
    set_counts(plan.arithmetic, plan.numbers(), plan.numbers());
    in_place = std::holds_alternative<detail::ValuesInPlace>(plan.way);
  }
  std::uint64_t moved_bytes() const override { return plan.read_bytes() + plan.written_bytes(); }
  std::string explain() const override { return plan.explain(); }
  void run(const cpu::ValueArrays& arrays, Stream /*stream*/) const override { sweep.run(arrays); }
};

// Axes, rolls and flips by engine cuda, each part a view.
struct DeviceViewsState final : detail::DenseState {
  detail::MovedValues plan;
  std::vector<cuda::ValueExecutor> parts;

  DeviceViewsState(const detail::MovedValues& made, int where) : plan(made) {
    device = where;
    for (const detail::ValuePlan& part : std::get<detail::ViewsOfValues>(plan.way).parts)
      parts.emplace_back(part, device);
    set_counts(plan.arithmetic, plan.numbers(), plan.numbers());
    on_device = true;
  }
  std::uint64_t moved_bytes() const override { return plan.read_bytes() + plan.written_bytes(); }
  std::vector<const detail::ValuePlan*> views() const override {
    std::vector<const detail::ValuePlan*> plans;
    for (const detail::ValuePlan& part : std::get<detail::ViewsOfValues>(plan.way).parts)
      plans.push_back(&part);
    return plans;
  }
  std::string explain() const override {
    std::string text;
    for (const cuda::ValueExecutor& part : parts) text += part.explain();
    return text;
  }
  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    for (const cuda::ValueExecutor& part : parts) part.run(arrays.in, arrays.addend, arrays.out, stream);
  }
};

// Another affine map by engine cuda, tile by tile.
struct DeviceTilesState final : detail::DenseState {
  detail::ValueTilePlan plan;
  cuda::ValueTileExecutor tiles;

  DeviceTilesState(const detail::ValueTilePlan& made, int where) : plan(made), tiles(plan, where) {
    device = where;
    set_counts(plan.arithmetic, plan.count(), plan.count());
    on_device = true;
  }
  std::uint64_t moved_bytes() const override { return plan.read_bytes() + plan.written_bytes(); }
  std::string explain() const override { return tiles.explain(); }
  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    tiles.run(arrays.in, arrays.addend, arrays.out, stream);
  }
};

// Whether numbers are rounded before they are moved: to what is narrower, and factors are the same for all.
bool rounds_first(const Arithmetic& of) {
  return bytes_of(of.to) < bytes_of(of.from) && !of.addend && !detail::along_axes(of);
}

// By engine cuda: what is no view is moved by a plan of its own, in the narrower type, and changed in a sweep
// before or behind it.
//
//     f32 to bf16    in --changed--> scratch --moved--> out        u8 to f32    in --moved--> scratch --changed--> out
struct DeviceSweepsState final : detail::DenseState {
  bool first;  // changed, then moved
  ExecutablePlan mover;
  cuda::ValueExecutor changer;
  std::uint64_t scratch_bytes;

  DeviceSweepsState(const Problem& problem, const Arithmetic& of, std::uint64_t numbers,
                    const PlanOptions& options)
      : first(rounds_first(of)),
        mover(faro::plan(of_width(problem, bytes_of(first ? of.to : of.from)), options)),
        changer(detail::make_value_plan(detail::in_order(of, numbers), of, cpu::target(1)), options.device),
        scratch_bytes(
            problem.placement == Placement::in_place ? 0 : numbers * bytes_of(first ? of.to : of.from)) {
    device = cuda::ordinal_of(options.device);
    set_counts(of, numbers, numbers);
    in_place = problem.placement == Placement::in_place;
    on_device = true;
  }

  static Problem of_width(Problem problem, std::uint64_t bytes) {
    problem.element_bytes = bytes;
    return problem;
  }

  std::uint64_t moved_bytes() const override {
    return in_count * bytes_of(arithmetic.from) + out_count * bytes_of(arithmetic.to) + 2 * scratch_bytes;
  }
  std::string explain() const override {
    return "two sweeps      " +
           std::string(first ? "numbers are changed, then moved" : "numbers are moved, then changed") +
           (in_place ? ", in place"
                     : ", by way of " + std::to_string(scratch_bytes) + " bytes of the device") +
           "\n" + changer.explain() + mover.explain();
  }

  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    if (out_count == 0) return;
    if (in_place) {
      mover.run(arrays.out, out_count * bytes_of(arithmetic.to), stream);
      return changer.run(arrays.out, arrays.addend, arrays.out, stream);
    }
    const cuda::StreamMemory scratch(scratch_bytes, device, stream);
    if (first) {
      changer.run(arrays.in, nullptr, scratch.data(), stream);
      mover.run(scratch.data(), arrays.out, scratch_bytes, stream);
    } else {
      mover.run(arrays.in, scratch.data(), scratch_bytes, stream);
      changer.run(scratch.data(), arrays.addend, arrays.out, stream);
    }
  }
};

// A permutation that is neither a view nor affine by engine cuda: one of its passes changes numbers.
struct DevicePassesState final : detail::DenseState {
  cuda::ValuePassExecutor passes;

  DevicePassesState(const Arithmetic& of, std::uint64_t numbers, const detail::Decision& decided)
      : passes(decided.plan, decided.schedule.get(), of, rounds_first(of)) {
    device = decided.plan.target().device;
    set_counts(of, numbers, numbers);
    on_device = true;
  }
  std::uint64_t moved_bytes() const override { return passes.moved_bytes(); }
  std::string explain() const override { return passes.explain(); }
  void run(const cpu::ValueArrays& arrays, Stream stream) const override {
    passes.run(arrays.in, arrays.addend, arrays.out, stream);
  }
};

std::unique_ptr<ExecutableArithmetic::State> make_device_state(const Problem& problem,
                                                               const Arithmetic& arithmetic,
                                                               const PlanOptions& options);

// An index array, as itself or as what it turns out to be, or a map that is worked out; null where none of
// its passes can change numbers on their way.
std::unique_ptr<ExecutableArithmetic::State> make_passes_state(const Problem& problem,
                                                               const Arithmetic& arithmetic,
                                                               const PlanOptions& options) {
  if (!cuda::nvrtc_status().available) return nullptr;  // which kernels of sweeps may do without
  const bool first = rounds_first(arithmetic);
  Problem moved = problem;
  moved.element_bytes = bytes_of(first ? arithmetic.to : arithmetic.from);
  const detail::Decision decided = detail::decide(moved, options);
  const Problem& planned = decided.plan.problem();
  const bool turned_out = std::holds_alternative<Indexed>(problem.permutation) &&
                          !std::holds_alternative<Indexed>(planned.permutation);
  if (turned_out) {
    // Exceptions are another pass, and numbers that stay together no numbers of their own.
    if (!decided.plan.exceptions().empty() || planned.element_bytes != moved.element_bytes) return nullptr;
    PlanOptions same_device = options;
    same_device.device = decided.plan.target().device;
    Problem known = problem;
    known.permutation = planned.permutation;
    known.batch = planned.batch;
    return make_device_state(known, arithmetic, same_device);
  }
  if (!cuda::ValuePassExecutor::takes(decided.plan, first)) return nullptr;
  const std::uint64_t numbers = element_count(problem.permutation) * problem.batch;
  return std::make_unique<DevicePassesState>(arithmetic, numbers, decided);
}

std::unique_ptr<ExecutableArithmetic::State> make_device_state(const Problem& problem,
                                                               const Arithmetic& arithmetic,
                                                               const PlanOptions& options) {
  if (const auto views = detail::make_moved_views(problem, arithmetic, cpu::target(1)))
    return std::make_unique<DeviceViewsState>(*views, options.device);
  const auto* const affine = std::get_if<Affine>(&problem.permutation);
  if (affine != nullptr && problem.placement == Placement::out_of_place) {
    if (const auto tiles = detail::make_value_tile_plan(*affine, problem.batch, arithmetic))
      return std::make_unique<DeviceTilesState>(*tiles, options.device);
  }
  if (problem.placement == Placement::out_of_place) {
    if (auto passes = make_passes_state(problem, arithmetic, options)) return passes;
  }
  const std::uint64_t numbers = element_count(problem.permutation) * problem.batch;
  return std::make_unique<DeviceSweepsState>(problem, arithmetic, numbers, options);
}

}  // namespace

ExecutableArithmetic::ExecutableArithmetic(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutableArithmetic::ExecutableArithmetic(ExecutableArithmetic&&) noexcept = default;
ExecutableArithmetic& ExecutableArithmetic::operator=(ExecutableArithmetic&&) noexcept = default;
ExecutableArithmetic::~ExecutableArithmetic() = default;

const ExecutableArithmetic::State& ExecutableArithmetic::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a plan", "one that was moved from", "the plan that it was moved to");
}

std::uint64_t ExecutableArithmetic::in_count() const { return state().in_count; }
std::uint64_t ExecutableArithmetic::out_count() const { return state().out_count; }
std::uint64_t ExecutableArithmetic::addend_count() const { return state().addend_count; }
std::uint64_t ExecutableArithmetic::moved_bytes() const { return state().moved_bytes(); }
std::string ExecutableArithmetic::explain() const { return state().explain(); }

namespace {

void check_number_arrays(const ExecutableArithmetic::State& of, const NumberArray& in, const NumberArray& out,
                         const NumberArray& addend, const void* by = nullptr) {
  if (!of.adds && addend.data != nullptr)
    fail(ErrorCode::value, "run", "an array to add", "none", "plan with an addend");
  const auto require = [](const char* what, const NumberArray& array, std::uint64_t wanted) {
    if (array.count < wanted) {
      fail(ErrorCode::value, "run", std::string(what) + " of " + std::to_string(array.count) + " numbers",
           "at least " + std::to_string(wanted) + ", which the strides reach");
    }
    if (wanted > 0 && array.data == nullptr)
      fail(ErrorCode::value, "run", std::string(what) + " that is null", "an array");
  };
  require("an input", in, of.in_count);
  require("an output", out, of.out_count);
  if (of.adds) require("an added array", addend, of.addend_count);
  of.check(in.data, addend.data, out.data, by);
}

cpu::ValueArrays bytes_of_arrays(const void* in, const void* addend, void* out) {
  return {.in = static_cast<const std::byte*>(in),
          .addend = static_cast<const std::byte*>(addend),
          .out = static_cast<std::byte*>(out)};
}

}  // namespace

void ExecutableArithmetic::run(const NumberArray& in, void* out, std::uint64_t out_count,
                               const NumberArray& addend, Stream stream) const {
  const State& of = state();
  check_number_arrays(of, in, {out, out_count}, addend);
  if (!of.on_device) detail::check_on_host(in.data, out, "copy it to the host, or plan for engine cuda");
  of.run(bytes_of_arrays(in.data, addend.data, out), stream);
}

void ExecutableArithmetic::run_by(const void* entries, const NumberArray& in, void* out,
                                  std::uint64_t out_count, const NumberArray& addend, Stream stream) const {
  const State& of = state();
  check_number_arrays(of, in, {out, out_count}, addend, entries);
  if (!of.on_device) detail::check_on_host(in.data, out, "copy it to the host, or plan for engine cuda");
  of.run_by(entries, bytes_of_arrays(in.data, addend.data, out), stream);
}

void ExecutableArithmetic::check(Stream stream) const { state().check_entries(stream); }

void ExecutableArithmetic::run_staged(const NumberArray& in, void* out, std::uint64_t out_count,
                                      const NumberArray& addend, const cuda::StagingOptions& options) const {
  const State& of = state();
  if (!of.on_device) return run(in, out, out_count, addend);
  check_number_arrays(of, in, {out, out_count}, addend);
  detail::check_on_host(in.data, out, "use run(), which takes arrays of the device");
  if (of.out_count == 0 || of.in_count == 0) return;
  const auto views = of.views();
  for (const detail::ValuePlan* const view : views) {
    const cpu::ValueArrays host = bytes_of_arrays(in.data, addend.data, out);
    cuda::run_staged_values(*view, {.in = host.in, .addend = host.addend, .out = host.out}, options,
                            of.device);
  }
  if (!views.empty()) return;
  const Arithmetic& changes = of.changes();
  const std::uint64_t out_bytes = of.out_count * bytes_of(changes.to);
  cuda::DeviceArray target(out_bytes, of.device);
  const bool accumulates = of.adds && addend.data == out;
  if (of.in_place || of.keeps || accumulates) target.upload(out);
  std::optional<cuda::DeviceArray> source;
  std::optional<cuda::DeviceArray> other;
  const auto uploaded = [&](const void* from, std::uint64_t bytes, std::optional<cuda::DeviceArray>& to) {
    to.emplace(bytes, of.device).upload(from);
    return to->data();
  };
  const std::byte* const from =
      of.in_place ? target.data() : uploaded(in.data, of.in_count * bytes_of(changes.from), source);
  const std::byte* added = accumulates ? target.data() : nullptr;
  if (of.adds && !accumulates)
    added = uploaded(addend.data, of.addend_count * bytes_of(changes.addend->number), other);
  of.run({.in = from, .addend = added, .out = target.data()}, {});
  target.download(out);
}

ExecutableArithmetic plan(const Strided& view, const Arithmetic& arithmetic, const PlanOptions& options) {
  const Target machine = cpu::target(options.threads);
  detail::ValuePlan made = detail::make_value_plan(view, arithmetic, machine);
  if (options.engine == Engine::cuda)
    return ExecutableArithmetic(
        std::make_unique<ViewState>(view, made, cuda::ValueExecutor(made, options.device), options.device));
  made = detail::on_cpu(std::move(made), machine);
  return ExecutableArithmetic(
      std::make_unique<ViewState>(view, made, cpu::ValueSweep(made, cpu::target(1)), options.device));
}

ExecutableArithmetic plan(const Problem& problem, const Arithmetic& arithmetic, const PlanOptions& options) {
  if (options.engine == Engine::cuda)
    return ExecutableArithmetic(make_device_state(problem, arithmetic, options));
  Target machine = cpu::target(options.threads);
  if (!detail::is_no_permutation(problem.permutation)) {
    const std::uint64_t bytes = element_count(problem.permutation) * bytes_of(arithmetic.to);
    cpu::plan_by_curves(machine, bytes);
  }
  return ExecutableArithmetic(std::make_unique<MovedState>(
      detail::make_moved_values(problem, arithmetic, machine, options.index_choice), cpu::target(1)));
}

ExecutableArithmetic plan(const Permutation& permutation, const Arithmetic& arithmetic,
                          const PlanOptions& options) {
  return plan(Problem{.permutation = permutation, .element_bytes = bytes_of(arithmetic.from)}, arithmetic,
              options);
}

}  // namespace faro
