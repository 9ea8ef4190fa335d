// Scaled blocks in a build without CUDA.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_blocks.hpp"

namespace faro::cuda {

FARO_NOT_BUILT(BlockExecutor);
BlockExecutor::BlockExecutor(const faro::detail::BlockPlan& /*plan*/, int /*device*/) { refuse(); }
void BlockExecutor::quantize(const void* /*wide*/, void* /*data*/, void* /*scales*/,
                             Stream /*stream*/) const {
  refuse();
}
void BlockExecutor::dequantize(const void* /*data*/, const void* /*scales*/, void* /*wide*/,
                               Stream /*stream*/) const {
  refuse();
}
std::string BlockExecutor::explain() const { refuse(); }

}  // namespace faro::cuda
