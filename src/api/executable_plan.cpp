#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

#include "api/array_checks.hpp"
#include "api/planning.hpp"
#include "engines/cuda/device_pointer.hpp"
#include "faro/engines/cpu.hpp"
#include "faro/engines/cpu_index.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/cuda_index.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"

namespace faro {
namespace {

using detail::check_arrays;
using detail::check_on_host;
using detail::check_workspace;
using detail::refuse_run;

// Arrays of the host, whole: to the device, permuted, and back, one after the other.
void run_whole(const Plan& plan, std::uint64_t workspace_bytes, const void* in, void* out,
               const cuda::StagingOptions& options,
               const std::function<void(const void* in, void* out, void* workspace)>& run) {
  const std::uint64_t bytes = plan.array_bytes();
  const std::uint64_t needed = 2 * bytes + workspace_bytes;
  const int device = plan.target().device;
  const auto refuse = [&](const std::string& got, const std::string& wanted) {
    throw Error({.code = ErrorCode::unsupported,
                 .operation = "run",
                 .got = got,
                 .wanted = wanted + std::to_string(needed) + " bytes of device memory",
                 .remedy = "a map, and an index array, take the whole array at once"});
  };
  if (options.piece_bytes != 0) {
    refuse("pieces of " + std::to_string(options.piece_bytes) + " bytes for a plan with a map or index array",
           "no pieces, and ");
  }
  if (options.device_bytes != 0 && options.device_bytes < needed)
    refuse(std::to_string(options.device_bytes) + " bytes of device memory", "");
  for (const cuda::Device& each : cuda::devices()) {
    if (each.ordinal == device && each.free_memory_bytes > 0 && each.free_memory_bytes < needed)
      refuse(std::to_string(each.free_memory_bytes) + " bytes of free device memory", "");
  }
  cuda::DeviceArray device_in(bytes, device);
  const cuda::DeviceArray device_out(bytes, device);
  std::optional<cuda::DeviceArray> workspace;
  if (workspace_bytes > 0) workspace.emplace(workspace_bytes, device);
  device_in.upload(in);
  run(device_in.data(), device_out.data(), workspace ? workspace->data() : nullptr);
  device_out.download(out);
}

}  // namespace

struct ExecutablePlan::State {
  Plan plan;
  std::variant<cpu::Executor, cuda::Executor, cuda::MappedExecutor, cpu::IndexExecutor, cuda::IndexExecutor>
      executor;
  std::string reason;
  int threads;

  const cuda::Executor* on_gpu() const { return std::get_if<cuda::Executor>(&executor); }
  const cuda::MappedExecutor* mapped() const { return std::get_if<cuda::MappedExecutor>(&executor); }
  const cpu::IndexExecutor* index_on_cpu() const { return std::get_if<cpu::IndexExecutor>(&executor); }
  const cuda::IndexExecutor* index_on_gpu() const { return std::get_if<cuda::IndexExecutor>(&executor); }
};

ExecutablePlan::ExecutablePlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutablePlan::ExecutablePlan(ExecutablePlan&&) noexcept = default;
ExecutablePlan& ExecutablePlan::operator=(ExecutablePlan&&) noexcept = default;
ExecutablePlan::~ExecutablePlan() = default;

const Plan& ExecutablePlan::plan() const { return state_->plan; }
Engine ExecutablePlan::engine() const { return state_->plan.target().engine; }
const std::string& ExecutablePlan::engine_reason() const { return state_->reason; }

const std::string& ExecutablePlan::map() const {
  static const std::string none;
  return state_->mapped() == nullptr ? none : state_->mapped()->map().expression;
}

ExecutablePlan ExecutablePlan::with_map(const std::string& map, const std::string& element) const {
  if (engine() != Engine::cuda) {
    throw Error({.code = ErrorCode::unsupported,
                 .operation = "map `" + map + "`",
                 .got = "engine cpu, which moves elements and evaluates no CUDA C++",
                 .wanted = "a plan for engine cuda",
                 .remedy = "`faro emit --target cpp --map` writes the same for a CPU"});
  }
  if (plan().index_plan() != nullptr) {
    throw Error({.code = ErrorCode::unsupported,
                 .operation = "map `" + map + "`",
                 .got = to_text(plan().problem().permutation),
                 .wanted = "an affine map over F2",
                 .remedy = "other permutations move elements as they are"});
  }
  cuda::MappedExecutor executor(plan().problem(), {.expression = map, .element = element},
                                plan().target().device);
  return ExecutablePlan(
      std::make_unique<State>(State{plan(), std::move(executor), state_->reason, state_->threads}));
}

std::vector<cuda::KernelResources> ExecutablePlan::kernel_resources() const {
  if (const cuda::MappedExecutor* const mapped = state_->mapped()) {
    if (mapped->launches() == 0) return {};
    return {mapped->resources()};
  }
  if (const cuda::IndexExecutor* const index = state_->index_on_gpu()) return index->resources();
  const cuda::Executor* const executor = state_->on_gpu();
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
  if (const cuda::MappedExecutor* const mapped = state_->mapped()) {
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
    if (state_->index_on_gpu() != nullptr) {
      add_kernel(fmt::format("launch {}", i + 1), resources[i]);
      continue;
    }
    if (plan().passes()[i].launch) add_kernel(fmt::format("pass {}", i + 1), resources[i]);
  }
  return text;
}

void ExecutablePlan::require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes) {
  if (in_bytes != out_bytes) {
    refuse_run(
        "an input of " + std::to_string(in_bytes) + " bytes and an output of " + std::to_string(out_bytes),
        "arrays of one size");
  }
}

void ExecutablePlan::run(const void* in, void* out, std::uint64_t bytes, Stream stream) const {
  check_arrays(plan(), in, out, bytes);
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
  if (engine() != Engine::cuda && stream.handle() != nullptr) {
    refuse_run("a stream for engine cpu", "no stream: it returns when the result is there");
  }
  if (plan().array_bytes() == 0) return;
  if (const auto* const mapped = state_->mapped()) return mapped->run(in, out, stream);
  if (const auto* const executor = state_->on_gpu()) return executor->run(in, out, stream);
  if (const auto* const index = state_->index_on_gpu()) return index->run(in, out, workspace, stream);
  check_on_host(in, out, "plan for engine cuda");
  if (const auto* const index = state_->index_on_cpu()) {
    if (cuda::is_device_memory(workspace))
      refuse_run("a device pointer as the workspace", "memory of the host");
    return index->run(in, out, workspace);
  }
  std::get<cpu::Executor>(state_->executor).run(in, out);
}

void ExecutablePlan::run_staged(const void* in, void* out, std::uint64_t bytes,
                                const cuda::StagingOptions& options) const {
  if (engine() != Engine::cuda) return run(in, out, bytes);
  check_arrays(plan(), in, out, bytes);
  if (bytes == 0) return;
  check_on_host(in, out, "use run(), which takes arrays of the device");
  if (state_->mapped() != nullptr || state_->index_on_gpu() != nullptr) {
    return run_whole(
        plan(), workspace_bytes(), in, out, options,
        [this](const void* from, void* to, void* workspace) { run_checked(from, to, workspace, {}); });
  }
  cuda::StagingOptions completed = options;
  if (completed.threads == 0) completed.threads = state_->threads;
  cuda::run_staged(plan(), in, out, completed);
}

std::uint64_t ExecutablePlan::workspace_bytes() const {
  if (const auto* const index = state_->index_on_cpu()) return index->workspace_bytes();
  if (const auto* const index = state_->index_on_gpu()) return index->workspace_bytes();
  return plan().workspace_bytes();
}

std::shared_ptr<const schedule::IndexSchedule> ExecutablePlan::schedule() const {
  if (const auto* const index = state_->index_on_cpu()) return index->schedule();
  const auto* const index = state_->index_on_gpu();
  const auto* const indexed = std::get_if<Indexed>(&plan().problem().permutation);
  if (index == nullptr || indexed == nullptr) return nullptr;
  schedule::IndexSchedule made = index->schedule();
  if (made.fingerprint == 0) {
    made.fingerprint = schedule::fingerprint(indexed->on_host() ? *indexed : cuda::to_host(*indexed));
  }
  return std::make_shared<const schedule::IndexSchedule>(std::move(made));
}

void ExecutablePlan::save(const std::filesystem::path& path) const {
  const auto made = schedule();
  if (made != nullptr) return schedule::save(*made, path);
  throw Error({.code = ErrorCode::unsupported,
               .operation = "save the schedule of " + to_text(plan().problem().permutation),
               .got = "a permutation that is run without one",
               .wanted = "an index array that is carried out as such",
               .remedy = "planning it anew costs little"});
}

ExecutablePlan plan(const Problem& problem, const PlanOptions& options) {
  detail::Decision decision = detail::decide(problem, options);
  const auto with = [&](auto executor) {
    return ExecutablePlan(std::make_unique<ExecutablePlan::State>(ExecutablePlan::State{
        std::move(decision.plan), std::move(executor), std::move(decision.reason), options.threads}));
  };
  const Plan& made = decision.plan;
  const bool on_gpu = made.target().engine == Engine::cuda;
  const IndexPlan* const index = made.index_plan();
  if (index == nullptr) return on_gpu ? with(cuda::Executor(made)) : with(cpu::Executor(made));
  const auto& schedule = decision.schedule;
  if (on_gpu) {
    return with(schedule == nullptr ? cuda::IndexExecutor(*index) : cuda::IndexExecutor(*index, *schedule));
  }
  return with(schedule == nullptr ? cpu::IndexExecutor(*index) : cpu::IndexExecutor(*index, schedule));
}

Plan plan_only(const Problem& problem, const PlanOptions& options) {
  return detail::decide(problem, options).plan;
}

}  // namespace faro
