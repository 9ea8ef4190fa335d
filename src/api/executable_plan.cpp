#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>

#include "api/array_checks.hpp"
#include "api/executable_state.hpp"
#include "api/planning.hpp"
#include "engines/cuda_index.hpp"
#include "faro/faro.hpp"

namespace faro {
namespace {

using detail::check_arrays;
using detail::check_on_host;
using detail::check_workspace;

}  // namespace

ExecutablePlan::ExecutablePlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutablePlan::ExecutablePlan(ExecutablePlan&&) noexcept = default;
ExecutablePlan& ExecutablePlan::operator=(ExecutablePlan&&) noexcept = default;
ExecutablePlan::~ExecutablePlan() = default;

const ExecutablePlan::State& ExecutablePlan::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a plan", "one that was moved from", "the plan that it was moved to");
}

const Plan& ExecutablePlan::plan() const { return state().plan; }
Engine ExecutablePlan::engine() const { return state().plan.target().engine; }
const std::string& ExecutablePlan::engine_reason() const { return state().reason; }

const std::string& ExecutablePlan::map() const {
  static const std::string none;
  const auto* const mapped = state().as<cuda::MappedExecutor>();
  return mapped == nullptr ? none : mapped->map().expression;
}

ExecutablePlan ExecutablePlan::with_map(const std::string& map, const std::string& element) const {
  const bool on_cpu = engine() != Engine::cuda;
  const bool in_part = plan().blocks() != Blocks{} || !plan().exceptions().empty();
  const bool is_affine = !plan().given().view &&
                         (on_cpu ? std::holds_alternative<Affine>(normal_form(plan().given().permutation))
                                 : plan().way() == nullptr && !in_part);
  if (!is_affine) {
    fail(ErrorCode::unsupported, "map `" + map + "`", to_text(plan().given()), "an affine map over F2",
         "other permutations move elements as they are");
  }
  if (on_cpu) {
    fail(ErrorCode::unsupported, "map `" + map + "`",
         "engine cpu, which moves elements and evaluates no CUDA C++", "a plan for engine cuda",
         "`faro emit --target cpp --map` writes the same for a CPU");
  }
  if (state().in_place()) {
    fail(ErrorCode::unsupported, "map `" + map + "`", "a plan in place",
         "one out of place, whose function is applied on the way",
         "Placement::out_of_place, with a second array for the result");
  }
  cuda::MappedExecutor executor(plan().problem(), {.expression = map, .element = element},
                                plan().target().device);
  return ExecutablePlan(
      std::make_unique<State>(State{plan(), std::move(executor), state().reason, state().threads}));
}

std::vector<cuda::KernelResources> ExecutablePlan::kernel_resources() const {
  if (const cuda::MappedExecutor* const mapped = state().as<cuda::MappedExecutor>()) {
    if (mapped->launches() == 0) return {};
    return {mapped->resources()};
  }
  const auto* const executor = state().as<cuda::Executor>();
  return executor == nullptr ? std::vector<cuda::KernelResources>() : executor->resources();
}

std::string ExecutablePlan::explain() const {
  std::string text = plan().explain();
  const auto add_kernel = [&text](const std::string& what, const cuda::KernelResources& resources) {
    fmt::format_to(std::back_inserter(text), "{:<14}{}: {} registers a thread, {} blocks a multiprocessor",
                   "kernel", what, resources.registers, resources.blocks_per_multiprocessor);
    if (resources.local_bytes > 0)
      fmt::format_to(std::back_inserter(text), ", {} bytes of stack a thread", resources.local_bytes);
    text += '\n';
  };
  const std::vector<cuda::KernelResources> resources = kernel_resources();
  if (const cuda::MappedExecutor* const mapped = state().as<cuda::MappedExecutor>()) {
    fmt::format_to(std::back_inserter(text), "{:<14}{} of v, an element of type {}, in the same sweep\n",
                   "map", mapped->map().expression, mapped->map().element);
    if (resources.empty()) return text;
    const emit::Kernel& kernel = mapped->source().kernels.front();
    add_kernel(fmt::format("compiled for it, {} x {} blocks of {} threads", mapped->launches(), kernel.blocks,
                           kernel.threads_x * kernel.threads_y),
               resources.front());
    return text;
  }
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (plan().passes()[i].launch && resources[i].registers > 0)
      add_kernel(fmt::format("pass {}", i + 1), resources[i]);
  }
  return text;
}

void ExecutablePlan::run_spans(std::span<const std::byte> in, std::span<std::byte> out, Stream stream) const {
  const Problem& problem = plan().given();
  if (problem.view) {
    const std::uint64_t width = problem.element_bytes;
    return run(in.data(), in.size() / width, out.data(), out.size() / width, stream);
  }
  if (in.size() != out.size()) {
    fail(ErrorCode::value, "run",
         "an input of " + std::to_string(in.size()) + " bytes and an output of " + std::to_string(out.size()),
         "arrays of one size");
  }
  run(in.data(), out.data(), in.size(), stream);
}

void ExecutablePlan::require_width_of(std::uint64_t bytes) const {
  const std::uint64_t wanted = plan().given().element_bytes;
  if (bytes == wanted) return;
  fail(ErrorCode::value, "run", "values of " + std::to_string(bytes) + " bytes",
       "values of the plan's element width, " + std::to_string(wanted) + " bytes",
       "Problem::element_bytes says the width; pointers and std::byte have none");
}

void ExecutablePlan::run(const void* in, void* out, std::uint64_t bytes, Stream stream) const {
  check_arrays(plan(), in, out, bytes);
  run_checked(in, out, nullptr, stream);
}

void ExecutablePlan::run(const void* in, std::uint64_t in_elements, void* out, std::uint64_t out_elements,
                         Stream stream) const {
  if (!plan().given().view) {
    fail(ErrorCode::value, "run", "elements of each array for a plan of a permutation", "run(in, out, bytes)",
         "its arrays have one size");
  }
  detail::check_view(plan(), {in, in_elements}, {out, out_elements});
  run_checked(in, out, nullptr, stream);
}

void ExecutablePlan::run(const void* in, void* out, std::uint64_t bytes, Workspace workspace,
                         Stream stream) const {
  check_arrays(plan(), in, out, bytes);
  if (bytes > 0)
    check_workspace(workspace, {.bytes = workspace_bytes(), .on_gpu = engine() == Engine::cuda}, in, out,
                    bytes);
  run_checked(in, out, workspace_bytes() > 0 ? workspace.data : nullptr, stream);
}

void ExecutablePlan::run_checked(const void* in, void* out, void* workspace, Stream stream) const {
  detail::check_stream(engine(), stream);
  if (plan().array_bytes() == 0) return;
  if (const auto* const mapped = state().as<cuda::MappedExecutor>()) return mapped->run(in, out, stream);
  if (const auto* const on_device = state().as<cuda::Executor>())
    return on_device->run(in, out, stream, workspace);
  check_on_host(in, out, "plan for engine cuda");
  detail::check_workspace_on_host(workspace);
  std::get<cpu::Executor>(state().executor).run(in, out, workspace);
}

void ExecutablePlan::run_staged(const void* in, void* out, std::uint64_t bytes,
                                const cuda::StagingOptions& options) const {
  if (state().in_place()) {
    detail::check_staged_array(plan(), in, out, bytes);
    if (engine() != Engine::cuda) return run(out, bytes);
  } else {
    if (engine() != Engine::cuda) return run(in, out, bytes);
    check_arrays(plan(), in, out, bytes);
  }
  if (bytes == 0) return;
  check_on_host(in, out, "use run(), which takes arrays of the device");
  if (state().in_place()) {
    return detail::run_whole(plan(), workspace_bytes(), in, out, options,
                             [&](void* data, void* /*same*/, void* workspace) {
                               run(data, bytes, {.data = workspace, .bytes = workspace_bytes()}, {});
                             });
  }
  const bool cannot_be_cut = plan().way() != nullptr || !plan().exceptions().empty();
  if (state().as<cuda::MappedExecutor>() != nullptr || cannot_be_cut) {
    return detail::run_whole(
        plan(), workspace_bytes(), in, out, options,
        [this](void* from, void* to, void* workspace) { run_checked(from, to, workspace, {}); });
  }
  cuda::StagingOptions completed = options;
  if (completed.threads == 0) completed.threads = state().threads;
  cuda::run_staged(plan(), in, out, completed);
}

std::uint64_t ExecutablePlan::workspace_bytes() const {
  if (const auto* const on_host = state().as<cpu::Executor>()) return on_host->workspace_bytes();
  return plan().workspace_bytes();
}

std::shared_ptr<const schedule::IndexSchedule> ExecutablePlan::schedule() const {
  const Blocks blocks = plan().blocks();
  if (const auto* const on_host = state().as<cpu::Executor>()) {
    auto kept = on_host->schedule();
    if (kept == nullptr || blocks == Blocks{}) return kept;
    schedule::IndexSchedule of_blocks = *kept;
    of_blocks.blocks = blocks;
    return std::make_shared<const schedule::IndexSchedule>(std::move(of_blocks));
  }
  const auto* const on_device = state().as<cuda::Executor>();
  const auto* const indexed = std::get_if<Indexed>(&plan().problem().permutation);
  if (on_device == nullptr || indexed == nullptr) return nullptr;
  schedule::IndexSchedule made = on_device->schedule();
  made.blocks = blocks;
  if (made.fingerprint == 0) {
    made.fingerprint = schedule::fingerprint(indexed->on_host() ? *indexed : cuda::to_host(*indexed));
  }
  return std::make_shared<const schedule::IndexSchedule>(std::move(made));
}

void ExecutablePlan::save(const std::filesystem::path& path) const {
  const auto made = schedule();
  if (made != nullptr) return schedule::save(*made, path);
  fail(ErrorCode::unsupported, "save the schedule of " + to_text(plan().problem().permutation),
       "a permutation that is run without one", "an index array that is carried out as such",
       "planning it anew costs little");
}

ExecutablePlan plan(const Problem& problem, const PlanOptions& options) {
  detail::Decision decision = detail::decide(problem, options);
  const auto with = [&](auto executor) {
    return ExecutablePlan(std::make_unique<ExecutablePlan::State>(ExecutablePlan::State{
        std::move(decision.plan), std::move(executor), std::move(decision.reason), options.threads}));
  };
  const Plan& made = decision.plan;
  const auto& schedule = decision.schedule;
  if (made.target().engine == Engine::cuda) {
    return with(schedule == nullptr ? cuda::Executor(made) : cuda::Executor(made, *schedule));
  }
  return with(schedule == nullptr ? cpu::Executor(made) : cpu::Executor(made, schedule));
}

ExecutablePlan plan(const Permutation& permutation, std::uint64_t element_bytes, const PlanOptions& options) {
  return plan(Problem{.permutation = permutation, .element_bytes = element_bytes}, options);
}

ExecutablePlan plan(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options) {
  return plan(Problem{.element_bytes = element_bytes, .view = view}, options);
}

Plan plan_only(const Problem& problem, const PlanOptions& options) {
  return detail::decide(problem, options).plan;
}

Plan plan_only(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options) {
  return plan_only(Problem{.element_bytes = element_bytes, .view = view}, options);
}

}  // namespace faro
