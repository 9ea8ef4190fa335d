// Kernels compiled at run time, in a build without CUDA: it says so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda/runtime_compiler.hpp"

namespace faro::cuda {

struct RuntimeModule::State {};

RuntimeModule::RuntimeModule(const CompiledText& /*compiled*/, int /*device*/) { require_available(); }
RuntimeModule::~RuntimeModule() = default;
int RuntimeModule::device() const { return 0; }

RuntimeKernel RuntimeModule::kernel(const std::string& name_or_expression,
                                    bool /*uses_shared_memory*/) const {
  require_available();
  return {shared_from_this(), nullptr, name_or_expression};
}

RuntimeKernel::RuntimeKernel(std::shared_ptr<const RuntimeModule> module, void* function, std::string name)
    : module_(std::move(module)), function_(function), name_(std::move(name)) {}

void RuntimeKernel::launch(std::uint64_t /*blocks*/, int /*threads_x*/, int /*threads_y*/,
                           std::uint64_t /*dynamic_shared_bytes*/, void** /*arguments*/,
                           Stream /*stream*/) const {
  require_available();
}

int RuntimeKernel::registers() const { return 0; }
std::uint64_t RuntimeKernel::local_bytes() const { return 0; }
std::uint64_t RuntimeKernel::static_shared_bytes() const { return 0; }
int RuntimeKernel::threads_per_block_max() const { return 0; }
int RuntimeKernel::blocks_per_multiprocessor(int /*threads*/, std::uint64_t /*dynamic_shared_bytes*/) const {
  return 0;
}

std::shared_ptr<const RuntimeModule> compile(const RuntimeSource& /*source*/, int /*device*/) {
  require_available();
  return nullptr;
}

}  // namespace faro::cuda
