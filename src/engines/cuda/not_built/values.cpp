// Views with arithmetic in a build without CUDA.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_values.hpp"

namespace faro::cuda {

FARO_NOT_BUILT(ValueExecutor);
ValueExecutor::ValueExecutor(const faro::detail::ValuePlan& /*plan*/, int /*device*/) { refuse(); }
void ValueExecutor::run(const void* /*in*/, const void* /*addend*/, void* /*out*/, Stream /*stream*/,
                        const faro::detail::ValueStrides& /*first*/) const {
  refuse();
}
GroupedValues ValueExecutor::grouped(const faro::detail::ValueAlignment& /*alignment*/) const { refuse(); }
RuntimeKernel ValueExecutor::group_kernel(const faro::detail::ValueAlignment& /*alignment*/) const {
  refuse();
}
std::string ValueExecutor::explain() const { refuse(); }

FARO_NOT_BUILT(ValueTileExecutor);
ValueTileExecutor::ValueTileExecutor(const faro::detail::ValueTilePlan& /*plan*/, int /*device*/) {
  refuse();
}
void ValueTileExecutor::run(const void* /*in*/, const void* /*addend*/, void* /*out*/,
                            Stream /*stream*/) const {
  refuse();
}
std::string ValueTileExecutor::explain() const { refuse(); }

void run_staged_values(const faro::detail::ValuePlan& /*plan*/, const HostValues& /*arrays*/,
                       const StagingOptions& /*options*/, int /*device*/) {
  refuse();
}

}  // namespace faro::cuda
