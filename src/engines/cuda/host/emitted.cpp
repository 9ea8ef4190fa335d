// Emitted sources as launches. Host-only: what calls CUDA is behind runtime_compiler.hpp.
#include <algorithm>
#include <future>
#include <thread>
#include <utility>

#include "engines/cuda/host/array_addresses.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

// Texts that are compiled at a time.
constexpr std::size_t kMostCompilers = 8;

// What nvcc does by itself; and a function of a map's is the device's, even a lambda.
const std::vector<std::string>& options_of_emitted() {
  static const std::vector<std::string> options{"--pre-include=cstdint",
                                                "--device-as-default-execution-space"};
  return options;
}

std::vector<RuntimeKernel> kernels_of(const emit::Source& source, const RuntimeModule& module) {
  std::vector<RuntimeKernel> kernels;
  kernels.reserve(source.kernels.size());
  for (const emit::Kernel& kernel : source.kernels)
    kernels.push_back(module.kernel(kernel.name, kernel.shared_bytes > 0));
  return kernels;
}

}  // namespace

struct EmittedExecutor::State {
  emit::Source source;
  std::vector<RuntimeKernel> kernels;  // as source.kernels
};

EmittedExecutor::EmittedExecutor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EmittedExecutor::EmittedExecutor(EmittedExecutor&&) noexcept = default;
EmittedExecutor& EmittedExecutor::operator=(EmittedExecutor&&) noexcept = default;
EmittedExecutor::~EmittedExecutor() = default;

EmittedExecutor::EmittedExecutor(emit::Source source, int device) {
  std::vector<emit::Source> one;
  one.push_back(std::move(source));
  *this = std::move(make_emitted_executors(std::move(one), device).front());
}

std::vector<EmittedExecutor> make_emitted_executors(std::vector<emit::Source> sources, int device) {
  const std::size_t parts = std::min<std::size_t>(
      {sources.size(), std::max(std::thread::hardware_concurrency(), 1U), kMostCompilers});
  std::vector<std::string> texts(parts);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    FARO_CHECK(!sources[i].kernels.empty());
    texts[i % parts] += sources[i].text + "\n";
  }
  std::vector<std::future<std::shared_ptr<const RuntimeModule>>> modules;
  for (const std::string& text : texts) {
    const auto policy = parts == 1 ? std::launch::deferred : std::launch::async;
    modules.push_back(std::async(policy, [&text, device] {
      return compile({.text = text, .options = options_of_emitted()}, device);
    }));
  }
  std::vector<std::shared_ptr<const RuntimeModule>> loaded;
  loaded.reserve(parts);
  for (auto& module : modules) loaded.push_back(module.get());
  std::vector<EmittedExecutor> executors;
  executors.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<RuntimeKernel> kernels = kernels_of(sources[i], *loaded[i % parts]);
    executors.push_back(EmittedExecutor(std::make_unique<EmittedExecutor::State>(
        EmittedExecutor::State{std::move(sources[i]), std::move(kernels)})));
  }
  return executors;
}

const emit::Source& EmittedExecutor::source() const { return state_->source; }

void EmittedExecutor::run(const void* in, void* out, void* workspace, Stream stream) const {
  const emit::Source& source = state_->source;
  const std::uint64_t alignment = std::max<std::uint64_t>(source.vector_bytes, 1);
  constexpr const char* remedy = "kernels compiled at run time come in this one form";
  require_aligned(addresses(in, out), alignment, {.remedy = remedy});
  require_aligned(address(workspace), alignment, {.what = "a workspace", .remedy = remedy});
  require_lent(workspace, source.workspace_bytes);
  // in -> out, or in -> workspace -> out.
  const void* from = in;
  for (std::size_t i = 0; i < source.kernels.size(); ++i) {
    const emit::Kernel& kernel = source.kernels[i];
    void* to = i + 1 == source.kernels.size() ? out : workspace;
    void* arguments[] = {&from, &to};
    state_->kernels[i].launch(kernel.blocks, kernel.threads_x, kernel.threads_y, kernel.dynamic_shared_bytes,
                              arguments, stream);
    from = to;
  }
}

std::vector<KernelResources> EmittedExecutor::resources() const {
  std::vector<KernelResources> all;
  all.reserve(state_->kernels.size());
  for (std::size_t i = 0; i < state_->kernels.size(); ++i) {
    const emit::Kernel& described = state_->source.kernels[i];
    const RuntimeKernel& kernel = state_->kernels[i];
    all.push_back({.registers = kernel.registers(),
                   .blocks_per_multiprocessor = kernel.blocks_per_multiprocessor(
                       described.threads_x * described.threads_y, described.dynamic_shared_bytes),
                   .local_bytes = kernel.local_bytes()});
  }
  return all;
}

}  // namespace faro::cuda
