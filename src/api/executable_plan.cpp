#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>

#include "engines/cuda/device_pointer.hpp"
#include "faro/engines/cpu.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"

namespace faro {
namespace {

[[noreturn]] void refuse(const char* operation, std::string got, std::string wanted,
                         std::string remedy = "") {
  throw Error({.code = ErrorCode::value,
               .operation = operation,
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = std::move(remedy)});
}

[[noreturn]] void refuse_run(std::string got, std::string wanted, std::string remedy = "") {
  refuse("run", std::move(got), std::move(wanted), std::move(remedy));
}

// Two disjoint arrays of the plan's size, wherever they are.
void check_arrays(const Plan& plan, const void* in, const void* out, std::uint64_t bytes) {
  const std::uint64_t wanted = plan.array_bytes();
  if (bytes != wanted) {
    refuse_run(std::to_string(bytes) + " bytes",
               std::to_string(wanted) + " bytes, batch x 2^n x element width");
  }
  if (bytes == 0) return;
  if (in == nullptr || out == nullptr)
    refuse_run(in == nullptr ? "a null input" : "a null output", "an array");
  const auto first = reinterpret_cast<std::uintptr_t>(in);
  const auto second = reinterpret_cast<std::uintptr_t>(out);
  if (first < second ? second - first < bytes : first - second < bytes) {
    refuse_run(first == second ? "one array as input and output" : "overlapping arrays",
               "two disjoint arrays", "in place is not yet supported");
  }
}

void check_on_host(const void* in, const void* out, const char* remedy) {
  for (const void* const array : {in, out}) {
    if (cuda::is_device_memory(array)) {
      refuse_run(std::string("a device pointer as the ") + (array == in ? "input" : "output"),
                 "memory of the host", remedy);
    }
  }
}

// --- planning

void check_options(const PlanOptions& options) {
  if (options.threads < 0 || options.threads > kMaxThreads) {
    refuse("plan", std::to_string(options.threads) + " threads",
           "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
  }
  const bool on_gpu = options.engine == Engine::cuda;
  if (!on_gpu && options.device != cuda::kCurrentDevice) {
    refuse("plan", "device " + std::to_string(options.device) + " for engine " + name(options.engine),
           "a device with engine cuda only");
  }
  if (!on_gpu && options.calibrate) {
    refuse("plan", std::string("calibration for engine ") + name(options.engine),
           "calibration with engine cuda only");
  }
  if (!options.tile) return;
  if (!on_gpu) {
    refuse("plan", std::string("a tile kernel for engine ") + name(options.engine),
           "a tile kernel with engine cuda only");
  }
  if (std::find(std::begin(kernels::kCompiledTiles), std::end(kernels::kCompiledTiles), *options.tile) ==
      std::end(kernels::kCompiledTiles)) {
    refuse("plan", "a tile kernel that is not compiled", "an entry of faro::kernels::kCompiledTiles");
  }
}

// Arrays of the host through a kernel with a map: to the device, permuted, and back, one after the other.
void run_whole(const cuda::MappedExecutor& executor, const Plan& plan, const void* in, void* out,
               const cuda::StagingOptions& options) {
  const std::uint64_t bytes = plan.array_bytes();
  if (options.piece_bytes != 0 || (options.device_bytes != 0 && options.device_bytes < 2 * bytes)) {
    throw Error(
        {.code = ErrorCode::unsupported,
         .operation = "run",
         .got = options.piece_bytes != 0
                    ? "pieces of " + std::to_string(options.piece_bytes) + " bytes for a plan with a map"
                    : std::to_string(options.device_bytes) + " bytes of device memory",
         .wanted = "no pieces, and " + std::to_string(2 * bytes) + " bytes of device memory",
         .remedy = "a map takes the whole array at once"});
  }
  const int device = plan.target().device;
  cuda::DeviceArray device_in(bytes, device);
  const cuda::DeviceArray device_out(bytes, device);
  device_in.upload(in);
  executor.run(device_in.data(), device_out.data());
  device_out.download(out);
}

Target make_target(const PlanOptions& options) {
  if (options.engine != Engine::cuda) return cpu::target(options.threads);
  Target target = cuda::target(options.device);
  target.tile = options.tile;
  if (options.calibrate) target.calibration = cuda::calibrate(target.device);
  return target;
}

const char* reason_for(Engine asked) {
  if (asked != Engine::automatic) return "asked for";
  return "arrays of the host, which a GPU would have to fetch and return over its bus";
}

}  // namespace

struct ExecutablePlan::State {
  Plan plan;
  std::variant<cpu::Executor, cuda::Executor, cuda::MappedExecutor> executor;
  std::string reason;
  int threads;

  const cuda::Executor* on_gpu() const { return std::get_if<cuda::Executor>(&executor); }
  const cuda::MappedExecutor* mapped() const { return std::get_if<cuda::MappedExecutor>(&executor); }
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
  const cuda::Executor* const executor = state_->on_gpu();
  const cuda::MappedExecutor* const mapped = state_->mapped();
  if (engine() != Engine::cuda && stream.handle() != nullptr) {
    refuse_run("a stream for engine cpu", "no stream: it returns when the result is there");
  }
  if (bytes == 0) return;
  if (mapped != nullptr) return mapped->run(in, out, stream);
  if (executor != nullptr) return executor->run(in, out, stream);
  check_on_host(in, out, "plan for engine cuda");
  std::get<cpu::Executor>(state_->executor).run(in, out);
}

void ExecutablePlan::run_staged(const void* in, void* out, std::uint64_t bytes,
                                const cuda::StagingOptions& options) const {
  if (engine() != Engine::cuda) return run(in, out, bytes);
  check_arrays(plan(), in, out, bytes);
  if (bytes == 0) return;
  check_on_host(in, out, "use run(), which takes arrays of the device");
  if (const cuda::MappedExecutor* const mapped = state_->mapped())
    return run_whole(*mapped, plan(), in, out, options);
  cuda::StagingOptions completed = options;
  if (completed.threads == 0) completed.threads = state_->threads;
  cuda::run_staged(plan(), in, out, completed);
}

ExecutablePlan plan(const Problem& problem, const PlanOptions& options) {
  check_options(options);
  Plan made(problem, make_target(options));
  const auto with = [&](auto executor) {
    return ExecutablePlan(std::make_unique<ExecutablePlan::State>(ExecutablePlan::State{
        std::move(made), std::move(executor), reason_for(options.engine), options.threads}));
  };
  return options.engine == Engine::cuda ? with(cuda::Executor(made)) : with(cpu::Executor(made));
}

}  // namespace faro
