// The CUDA engine's transposition in place, of a build without CUDA: it says so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda_transpose.hpp"

namespace faro::cuda {

struct TransposeExecutor::State {};

TransposeExecutor::TransposeExecutor(const TransposePlan& /*plan*/) { require_available(); }
TransposeExecutor::TransposeExecutor(TransposeExecutor&&) noexcept = default;
TransposeExecutor& TransposeExecutor::operator=(TransposeExecutor&&) noexcept = default;
TransposeExecutor::~TransposeExecutor() = default;

void TransposeExecutor::run(void* /*data*/, void* /*workspace*/, Stream /*stream*/) const {
  require_available();
}

std::vector<KernelResources> TransposeExecutor::resources() const {
  require_available();
  return {};
}

}  // namespace faro::cuda
