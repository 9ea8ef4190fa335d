#include "api/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "api/plan_cache.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda_index.hpp"
#include "engines/cuda_measure.hpp"
#include "plan/form_to_run.hpp"
#include "threads.hpp"

namespace faro::detail {
namespace {

using schedule::IndexSchedule;

void check_options(const PlanOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(ErrorCode::value, "plan", std::to_string(options.threads) + " threads",
         "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
  }
  const bool on_gpu = options.engine == Engine::cuda;
  if (!on_gpu && options.device != cuda::kCurrentDevice) {
    fail(ErrorCode::value, "plan",
         "device " + std::to_string(options.device) + " for engine " + name(options.engine),
         "a device with engine cuda only");
  }
  if (!on_gpu && options.calibrate) {
    fail(ErrorCode::value, "plan", std::string("calibration for engine ") + name(options.engine),
         "calibration with engine cuda only");
  }
  if (!options.tile) return;
  if (!on_gpu) {
    fail(ErrorCode::value, "plan", std::string("a tile kernel for engine ") + name(options.engine),
         "a tile kernel with engine cuda only");
  }
  if (std::find(std::begin(kernels::kCompiledTiles), std::end(kernels::kCompiledTiles), *options.tile) ==
      std::end(kernels::kCompiledTiles)) {
    fail(ErrorCode::value, "plan", "a tile kernel that is not compiled",
         "an entry of faro::kernels::kCompiledTiles");
  }
}

void check_problem(const Problem& problem) {
  if (is_no_permutation(problem.permutation)) {
    fail(ErrorCode::value, "plan", "a problem without a permutation", "Problem::permutation",
         "faro::maps has them by name, faro::parse_permutation by their text");
  }
  if (problem.element_bytes != 0) return;
  fail(ErrorCode::value, "plan", "elements of 0 bytes",
       "Problem::element_bytes, 1 to " + std::to_string(kMaxElementBytes), "there is no width by default");
}

void check_index_options(const Problem& problem, const PlanOptions& options) {
  if (options.index_schedule && !options.index_choice.empty()) {
    fail(ErrorCode::value, "plan", "a schedule and a method", "one of them", "a schedule has its method");
  }
  if (!options.index_schedule) return;
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed == nullptr) {
    fail(ErrorCode::value, "plan", "a schedule for " + to_text(problem.permutation),
         "a schedule for an index array", "other permutations need none");
  }
  const Blocks& blocks = options.index_schedule->blocks;
  const std::uint64_t count = options.index_schedule->count * blocks.repeats * blocks.together;
  if (count != indexed->count() || (blocks != Blocks{} && !indexed->on_host())) {
    fail(ErrorCode::value, "plan", fmt::format("a schedule of {} elements", count),
         fmt::format("one of the index array's {}", indexed->count()),
         "it was made from another index array");
  }
  schedule::check_schedule(*options.index_schedule, options.threads);
  if (!indexed->on_host()) return;
  const auto block = schedule::scheduled_block(*indexed, blocks);
  if (!block) {
    fail(ErrorCode::value, "plan",
         fmt::format("a schedule of {} blocks of elements of which {} stay together", blocks.repeats,
                     blocks.together),
         "one of this index array, which has no such blocks", "it was made from another index array");
  }
  const std::uint64_t wanted = schedule::fingerprint(*block);
  if (options.index_schedule->fingerprint != wanted) {
    fail(ErrorCode::value, "plan",
         fmt::format("a schedule of an index array with fingerprint {:#018x}",
                     options.index_schedule->fingerprint),
         fmt::format("one of this index array, {:#018x}", wanted), "it was made from another index array");
  }
  // A fingerprint can be copied, entries cannot be without being the same.
  if (const auto i = schedule::first_difference(*options.index_schedule, *block, options.threads)) {
    fail(ErrorCode::verification, "plan", fmt::format("a schedule that moves element {} elsewhere", *i),
         "a schedule of this index array, whose fingerprint it has", "make the schedule anew");
  }
}

const char* reason_for(Engine asked, Engine taken) {
  if (asked != Engine::automatic) return "asked for";
  if (taken == Engine::cuda) return "the index array is in a GPU's memory";
  return "arrays of the host, permuted where they are";
}

// The options with an engine for an index array on a device, and that device.
PlanOptions resolved(const Problem& problem, const PlanOptions& options) {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed == nullptr || indexed->on_host()) return options;
  const int device = indexed->device().value_or(0);
  if (options.engine == Engine::cpu) {
    fail(ErrorCode::value, "plan",
         fmt::format("an index array in the memory of device {} for engine cpu", device),
         "an index array of the host", "cuda::to_host() fetches it; engine cuda takes it as it is");
  }
  PlanOptions made = options;
  made.engine = Engine::cuda;
  if (made.device == cuda::kCurrentDevice) made.device = device;
  if (made.device != device) {
    fail(ErrorCode::value, "plan",
         fmt::format("an index array in the memory of device {} for device {}", device, made.device),
         "an index array of the host, or of the plan's device");
  }
  return made;
}

// Which predictions a plan may rest on.
struct Predictions {
  bool of_tiles = false;
  bool of_index_arrays = false;
};

Target make_target(const PlanOptions& options) {
  const bool on_gpu = options.engine == Engine::cuda;
  Target target = on_gpu ? cuda::target(options.device) : cpu::target(options.threads);
  if (on_gpu) target.tile = options.tile;
  return target;
}

Target with_predictions(Target target, const PlanOptions& options, Predictions predictions) {
  const bool on_gpu = options.engine == Engine::cuda;
  if (predictions.of_tiles && options.calibrate) target.calibration = cuda::calibrate(target.device);
  if (predictions.of_index_arrays) {
    target.index_calibration =
        calibration_for(target.name, on_gpu ? built_in_gpu_calibration() : built_in_cpu_calibration());
  }
  return target;
}

struct Description {
  IndexChoice choice;
  Recognition recognition;
};

// A schedule as the planner would have chosen it. Nothing has been tried, so there are no findings.
Description describe(const IndexSchedule& schedule, const Indexed& indexed) {
  Description made{.choice = {}, .recognition = {}};
  made.recognition.permutation = indexed;
  if (const auto* const window = std::get_if<schedule::WindowSchedule>(&schedule.what)) {
    made.choice.method = IndexMethod::window;
    made.recognition.displacement = window->window;
  } else if (const auto* const runs = std::get_if<schedule::RunsSchedule>(&schedule.what)) {
    made.choice.method = IndexMethod::runs;
    made.recognition.runs = runs->target.size();
  } else if (const auto* const partition = std::get_if<schedule::PartitionSchedule>(&schedule.what)) {
    made.choice.method = IndexMethod::partition;
    made.choice.chunk_bits = partition->shape.chunk_bits;
    made.choice.level_bits = partition->shape.level_bits;
  } else if (std::holds_alternative<schedule::RowColumnSchedule>(schedule.what)) {
    made.choice.method = IndexMethod::row_column;
  } else {
    made.choice.method = IndexMethod::direct;
  }
  made.choice.scheduled = true;
  if (schedule.blocks != Blocks{}) {
    made.recognition.family = Family::blocks;
    made.recognition.blocks = schedule.blocks;
  }
  return made;
}

PlanCache& plan_cache() {
  static PlanCache cache;
  return cache;
}

ViewCache& view_cache() {
  static ViewCache cache;
  return cache;
}

template <typename Key>
void set_machine(Key& key, const PlanOptions& options) {
  key.engine = options.engine == Engine::cuda ? Engine::cuda : Engine::cpu;
  if (key.engine == Engine::cuda) {
    key.device = cuda::target(options.device).device;
  } else {
    key.threads = options.threads > 0 ? options.threads : thread_count();
  }
}

// What a plan that nothing was chosen for depends on; nothing where something was.
std::optional<PlanKey> key_of(const Problem& problem, const PlanOptions& options) {
  if (!options.index_choice.empty() || options.calibrate || options.tile) return std::nullopt;
  PlanKey key{.problem = problem};
  set_machine(key, options);
  return key;
}

Recognition recognise_where_it_is(const Indexed& indexed, int threads) {
  return indexed.on_host() ? recognise(indexed, threads) : cuda::recognise(indexed);
}

}  // namespace

Decision decide(const Problem& problem, const PlanOptions& asked) {
  check_problem(problem);
  const PlanOptions options = resolved(problem, asked);
  check_options(options);
  check_index_options(problem, options);
  const char* const reason = reason_for(asked.engine, options.engine);
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed == nullptr) {
    const std::optional<PlanKey> key = key_of(problem, options);
    if (key) {
      if (std::optional<Plan> kept = plan_cache().find(*key)) return {*std::move(kept), reason, nullptr};
    }
    Target target = make_target(options);
    const bool chosen = !options.index_choice.empty();
    const bool affine = !chosen && f2::is_power_of_two(problem.element_bytes) &&
                        std::holds_alternative<Affine>(in_form_to_run(problem, target).permutation);
    target = with_predictions(std::move(target), options, {.of_tiles = affine, .of_index_arrays = !affine});
    if (!chosen) {
      Plan made(problem, std::move(target));
      if (key) plan_cache().keep(*key, made);
      return {std::move(made), reason, nullptr};
    }
    Recognition as_given;
    as_given.permutation = problem.permutation;
    return {Plan(problem, std::move(target), std::move(as_given), options.index_choice), reason, nullptr};
  }
  if (const auto given = options.index_schedule) {
    Description description = describe(*given, *indexed);
    Plan made(problem,
              with_predictions(make_target(options), options, {.of_tiles = false, .of_index_arrays = true}),
              std::move(description.recognition), description.choice);
    if (given->applied == indexed->direction()) return {std::move(made), reason, given};
    return {std::move(made), reason, std::make_shared<const IndexSchedule>(given->inverse())};
  }
  if (options.engine == Engine::cuda) static_cast<void>(cuda::target(options.device));  // before the sweeps
  Recognition recognition = recognise_where_it_is(*indexed, options.threads);
  const bool affine = std::holds_alternative<Affine>(recognition.permutation) && options.index_choice.empty();
  Target target =
      with_predictions(make_target(options), options, {.of_tiles = affine, .of_index_arrays = true});
  return {Plan(problem, std::move(target), std::move(recognition), options.index_choice), reason, nullptr};
}

StridedPlan decide_view(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options) {
  check_options(options);
  if (!options.index_choice.empty() || options.index_schedule != nullptr || options.calibrate) {
    fail(ErrorCode::value, "plan", "a method, a schedule or calibration for a strided view", "none of them",
         "views have one way");
  }
  const auto make = [&] {
    PlanOptions resolved = options;
    if (resolved.engine == Engine::automatic) resolved.engine = Engine::cpu;
    return StridedPlan(
        view, element_bytes,
        with_predictions(make_target(resolved), resolved, {.of_tiles = false, .of_index_arrays = true}));
  };
  if (options.tile) return make();
  ViewKey key{.view = view, .element_bytes = element_bytes};
  set_machine(key, options);
  if (std::optional<StridedPlan> kept = view_cache().find(key)) return *std::move(kept);
  StridedPlan made = make();
  view_cache().keep(key, made);
  return made;
}

}  // namespace faro::detail
