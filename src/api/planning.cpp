#include "api/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "api/measured_choice.hpp"
#include "api/plan_cache.hpp"
#include "contains.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda_index.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "plan/form_to_run.hpp"

namespace faro::detail {
namespace {

using schedule::IndexSchedule;

void check_options(const PlanOptions& options) {
  check_threads(options.threads, "plan");
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
  const bool is_chosen = !options.index_choice.empty() || options.index_schedule != nullptr;
  if (options.measure && (on_gpu || is_chosen)) {
    fail(ErrorCode::value, "plan",
         on_gpu ? "measured choice for engine cuda" : "measured choice, and a method or schedule besides",
         on_gpu ? "engine cpu; kernels of a GPU are chosen by what they do to its memories" : "one of them",
         "leave `measure` out");
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
  if (problem.view) return;  // checked by its plan
  if (is_no_permutation(problem.permutation)) {
    fail(ErrorCode::value, "plan", "a problem without a permutation", "Problem::permutation",
         "faro::maps has them by name, faro::parse_permutation by their text");
  }
  if (problem.element_bytes != 0) return;
  fail(ErrorCode::value, "plan", "elements of 0 bytes",
       "Problem::element_bytes, 1 to " + std::to_string(kMaxElementBytes), "there is no width by default");
}

void check_index_options(const Problem& problem, const PlanOptions& options) {
  const bool is_chosen = !options.index_choice.empty() || options.index_schedule != nullptr;
  if (problem.view && (is_chosen || options.calibrate)) {
    fail(ErrorCode::value, "plan", "a method, a schedule or calibration for a strided view", "none of them",
         "views have one way");
  }
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

// `bytes`: of an array, all of a batch together. CPUs have curves of everything.
Target with_predictions(Target target, const PlanOptions& options, Predictions predictions,
                        std::uint64_t bytes) {
  const bool on_gpu = options.engine == Engine::cuda;
  if (predictions.of_tiles && options.calibrate) target.calibration = cuda::calibrate(target.device);
  if (!on_gpu) cpu::plan_by_curves(target, bytes);
  if (on_gpu && predictions.of_index_arrays)
    target.index_calibration = calibration_for(target.name, built_in_gpu_calibration());
  return target;
}

// --- measured choice

WisdomKey wisdom_key(const std::string& what, std::uint64_t element_bytes, const Target& target) {
  return {.problem = fmt::format("{}, {} bytes", what, element_bytes),
          .machine = target.name + ", " + cpu::processor()};
}

std::string signature_of(const std::vector<Pass>& passes) {
  std::string text;
  for (const Pass& pass : passes) {
    text += fmt::format("{} {} {}; {} {} {};", name(pass.kind), pass.segment_bytes, pass.tile.row_bits,
                        pass.team ? pass.team->threads : 0, pass.team && pass.team->streamed,
                        pass.team ? pass.team->kernel : "");
  }
  return text;
}

// Arrays to try ways on.
struct TrialArrays {
  TrialArrays(std::uint64_t in_bytes, std::uint64_t out_bytes) {
    require_memory("plan", "measured choice", in_bytes + out_bytes);
    in = std::make_shared<io::Buffer>(in_bytes);
    out = std::make_shared<io::Buffer>(out_bytes);
  }
  std::shared_ptr<io::Buffer> in;
  std::shared_ptr<io::Buffer> out;
};

// The choice that is remembered, or else is found now.
CpuChoice choice_for(const WisdomKey& key, const Target& target, const std::vector<IndexMethod>& methods,
                     const std::function<ReadyPlan(const CpuChoice&)>& make) {
  if (const auto known = remembered(key)) return *known;
  const CpuChoice found = measured_choice(target, methods, make);
  remember(key, found);
  return found;
}

// Targets of plans that were chosen so say it.
Target told(Target target, const CpuChoice& choice) {
  Target made = chosen(std::move(target), choice);
  made.name += fmt::format("; measured choice: {}", to_text(choice));
  return made;
}

using MakePlan = std::function<Plan(Target target, const IndexChoice& choice)>;

std::string problem_text(const Problem& problem) {
  if (problem.view) return to_text(problem);
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  const std::string map = indexed == nullptr ? to_text(problem.permutation)
                                             : fmt::format("index array of {}, fingerprint {:#018x}",
                                                           indexed->count(), schedule::fingerprint(*indexed));
  return fmt::format("{}, batch {}{}", map, problem.batch,
                     problem.placement == Placement::in_place ? ", in place" : "");
}

Plan measured_plan(const Problem& problem, const Target& target, IndexChoice given, const MakePlan& make) {
  const bool in_place = problem.placement == Placement::in_place;
  Plan as_planned = make(target, given);
  if (as_planned.array_bytes() == 0) return as_planned;
  std::vector<IndexMethod> methods;
  if (const IndexPlan* const index = as_planned.index_plan()) {
    constexpr std::size_t kMostMethods = 4;
    for (const IndexCandidate& each : index->candidates()) {
      if (methods.size() < kMostMethods && !contains(methods, each.method)) methods.push_back(each.method);
    }
  } else if (!in_place && !problem.view) {
    methods.push_back(IndexMethod::axes);  // as boxes, where the affine map moves axes
  }
  std::optional<TrialArrays> arrays;
  const auto choice_of = [&](const CpuChoice& choice) {
    IndexChoice made = given;
    if (choice.method) made.method = choice.method;
    return made;
  };
  const auto ready = [&](const CpuChoice& choice) -> ReadyPlan {
    const Plan plan = make(chosen(target, choice), choice_of(choice));
    if (!arrays) arrays.emplace(plan.in_bytes(), in_place ? 0 : plan.out_bytes());
    const auto engine = std::make_shared<cpu::Executor>(plan);
    const auto run = [engine, in_place, all = *arrays] {
      if (in_place) return engine->run_in_place(all.in->data());
      engine->run(all.in->data(), all.out->data());
    };
    return {.signature = signature_of(plan.passes()), .run = run};
  };
  const CpuChoice choice =
      choice_for(wisdom_key(problem_text(problem), problem.element_bytes, target), target, methods, ready);
  return make(told(target, choice), choice_of(choice));
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

// What a plan that nothing was chosen for depends on; nothing where something was.
std::optional<PlanKey> key_of(const Problem& problem, const PlanOptions& options) {
  if (!options.index_choice.empty() || options.calibrate || options.tile || options.measure)
    return std::nullopt;
  PlanKey key{.problem = problem, .engine = options.engine == Engine::cuda ? Engine::cuda : Engine::cpu};
  if (key.engine == Engine::cuda) {
    key.device = cuda::target(options.device).device;
  } else {
    key.threads = options.threads > 0 ? options.threads : thread_count();
  }
  return key;
}

Recognition recognise_where_it_is(const Indexed& indexed, int threads) {
  return indexed.on_host() ? recognise(indexed, threads) : cuda::recognise(indexed);
}

}  // namespace

void check_threads(int threads, const char* operation) {
  if (threads >= 0 && threads <= kMaxThreads) return;
  fail(ErrorCode::value, operation, std::to_string(threads) + " threads",
       "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
}

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
    const bool affine = !chosen && !problem.view && f2::is_power_of_two(problem.element_bytes) &&
                        std::holds_alternative<Affine>(in_form_to_run(problem, target).permutation);
    target = with_predictions(std::move(target), options, {.of_tiles = affine, .of_index_arrays = !affine},
                              total_bytes(problem));
    if (options.measure) {
      const auto make = [&](Target on, const IndexChoice& choice) {
        if (choice.empty()) return Plan(problem, std::move(on));
        Recognition as_given;
        as_given.permutation = problem.permutation;
        return Plan(problem, std::move(on), std::move(as_given), choice);
      };
      return {measured_plan(problem, target, options.index_choice, make), reason, nullptr};
    }
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
              with_predictions(make_target(options), options, {.of_tiles = false, .of_index_arrays = true},
                               total_bytes(problem)),
              std::move(description.recognition), description.choice);
    if (given->applied == indexed->direction()) return {std::move(made), reason, given};
    return {std::move(made), reason, std::make_shared<const IndexSchedule>(given->inverse())};
  }
  if (options.engine == Engine::cuda) static_cast<void>(cuda::target(options.device));  // before the sweeps
  Recognition recognition = recognise_where_it_is(*indexed, options.threads);
  const bool affine = std::holds_alternative<Affine>(recognition.permutation) && options.index_choice.empty();
  Target target = with_predictions(make_target(options), options,
                                   {.of_tiles = affine, .of_index_arrays = true}, total_bytes(problem));
  if (options.measure) {
    const auto make = [&](Target on, const IndexChoice& choice) {
      return Plan(problem, std::move(on), recognition, choice);
    };
    return {measured_plan(problem, target, options.index_choice, make), reason, nullptr};
  }
  return {Plan(problem, std::move(target), std::move(recognition), options.index_choice), reason, nullptr};
}

}  // namespace faro::detail
