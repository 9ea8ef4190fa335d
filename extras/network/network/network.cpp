#include "faro/network/network.hpp"

#include <string>
#include <utility>
#include <variant>

#include "disjoint.hpp"
#include "engines/cpu.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "faro/error.hpp"
#include "network/cpu_engine.hpp"
#include "network/cuda_engine.hpp"

namespace faro::network {
namespace {

void check_options(const Options& options) {
  if (options.engine != Engine::cuda && options.device != cuda::kCurrentDevice) {
    fail(ErrorCode::value, "compile network",
         "device " + std::to_string(options.device) + " for engine " + name(options.engine),
         "a device with engine cuda only");
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    fail(ErrorCode::value, "compile network", std::to_string(options.threads) + " threads",
         "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads));
  }
}

void check_arrays(std::uint64_t wanted, bool in_place, const void* in, const void* out, std::uint64_t bytes) {
  if (bytes != wanted) {
    fail(ErrorCode::value, "run network", std::to_string(bytes) + " bytes",
         std::to_string(wanted) + " bytes, batch x 2^n x element width");
  }
  if (bytes == 0) return;
  if (in == nullptr || out == nullptr) {
    fail(ErrorCode::value, "run network", in == nullptr ? "a null input" : "a null output", "an array");
  }
  if (in == out && in_place) return;
  faro::detail::check_disjoint(
      "run network", faro::detail::RunArray{"output", {out, bytes}}, {{"input", {in, bytes}}},
      in == out ? "this plan's first pass changes the order, or its engine is cuda" : "");
}

void check_on_host(const void* in, const void* out) {
  for (const void* const array : {in, out}) {
    if (cuda::is_device_memory(array)) {
      fail(ErrorCode::value, "run network",
           std::string("a device pointer as the ") + (array == in ? "input" : "output"), "memory of the host",
           "compile for engine cuda");
    }
  }
}

}  // namespace

struct Executable::State {
  Plan plan;
  std::variant<CpuExecutor, CudaExecutor> executor;

  const CpuExecutor* on_cpu() const { return std::get_if<CpuExecutor>(&executor); }
};

Executable::Executable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executable::Executable(Executable&&) noexcept = default;
Executable& Executable::operator=(Executable&&) noexcept = default;
Executable::~Executable() = default;

const Executable::State& Executable::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a network", "one that was moved from", "the one that it was moved to");
}

const Plan& Executable::plan() const { return state().plan; }

bool Executable::runs_in_place() const {
  const CpuExecutor* const executor = state().on_cpu();
  return executor != nullptr && executor->runs_in_place();
}

std::size_t Executable::sweeps() const {
  const auto* const on_gpu = std::get_if<CudaExecutor>(&state().executor);
  return on_gpu == nullptr ? plan().passes().size() : on_gpu->launches();
}

std::uint64_t Executable::workspace_bytes() const {
  const auto* const on_gpu = std::get_if<CudaExecutor>(&state().executor);
  return on_gpu == nullptr ? plan().workspace_bytes() : on_gpu->workspace_bytes();
}

std::string Executable::explain() const {
  std::string text = plan().explain();
  if (const CpuExecutor* const executor = state().on_cpu()) {
    const int threads = executor->threads();
    text += "engine        cpu: " + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
            faro::cpu::simd_target() + "\n";
  } else {
    text += "engine        cuda: " + std::to_string(std::get<CudaExecutor>(state().executor).launches()) +
            " launches\n";
  }
  return text;
}

void Executable::require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes) {
  if (in_bytes != out_bytes) {
    fail(ErrorCode::value, "run network",
         "an input of " + std::to_string(in_bytes) + " bytes and an output of " + std::to_string(out_bytes),
         "arrays of one size");
  }
}

void Executable::run(const void* in, void* out, std::uint64_t bytes, Stream stream) const {
  check_arrays(plan().array_bytes(), runs_in_place(), in, out, bytes);
  const CpuExecutor* const executor = state().on_cpu();
  if (executor != nullptr && stream.handle() != nullptr) {
    fail(ErrorCode::value, "run network", "a stream for engine cpu",
         "no stream: it returns when the result is there");
  }
  if (bytes == 0) return;
  if (executor == nullptr) return std::get<CudaExecutor>(state().executor).run(in, out, stream);
  check_on_host(in, out);
  executor->run(in, out);
}

Executable compile(const Problem& problem, const Options& options) {
  check_options(options);
  const Engine engine = options.engine == Engine::cuda ? Engine::cuda : Engine::cpu;
  Plan plan(problem, {.tile_bits = options.tile_bits, .segment_bits = options.segment_bits}, engine);
  const auto with = [&](auto executor) {
    return Executable(std::make_unique<Executable::State>(
        Executable::State{.plan = std::move(plan), .executor = std::move(executor)}));
  };
  return engine == Engine::cuda ? with(CudaExecutor(plan, options.device))
                                : with(CpuExecutor(plan, options.threads));
}

}  // namespace faro::network
