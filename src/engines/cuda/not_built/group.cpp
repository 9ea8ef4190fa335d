// Groups in a build without CUDA.
#include "engines/cuda/not_built/refusal.hpp"
#include "engines/cuda_group.hpp"

namespace faro::cuda {

FARO_NOT_BUILT(GroupExecutor);
GroupExecutor::GroupExecutor(const faro::detail::GroupLaunches& /*launches*/, std::uint64_t /*members*/,
                             std::span<const void* const> /*addresses*/,
                             const std::vector<RuntimeKernel>& /*changes*/, int /*device*/) {
  refuse();
}
void GroupExecutor::run(Stream /*stream*/) const { refuse(); }
void GroupExecutor::run(std::span<const void* const> /*addresses*/, const void** /*room*/,
                        Stream /*stream*/) const {
  refuse();
}
void GroupExecutor::run_table(const void* const* /*addresses*/, Stream /*stream*/) const { refuse(); }
std::uint64_t GroupExecutor::table_bytes() const { refuse(); }

}  // namespace faro::cuda
