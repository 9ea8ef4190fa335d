// The executor of index arrays in a build without CUDA: it says so.
#include "engines/cuda/availability.hpp"
#include "engines/cuda_index.hpp"

namespace faro::cuda {

struct IndexExecutor::State {};

IndexExecutor::IndexExecutor(const IndexPlan& /*plan*/) { require_available(); }
IndexExecutor::IndexExecutor(const IndexPlan& /*plan*/, const schedule::IndexSchedule& /*schedule*/) {
  require_available();
}
IndexExecutor::IndexExecutor(IndexExecutor&&) noexcept = default;
IndexExecutor& IndexExecutor::operator=(IndexExecutor&&) noexcept = default;
IndexExecutor::~IndexExecutor() = default;

void IndexExecutor::run(const void* /*in*/, void* /*out*/, void* /*workspace*/, Stream /*stream*/) const {
  require_available();
}
std::uint64_t IndexExecutor::workspace_bytes() const { return 0; }
std::uint64_t IndexExecutor::schedule_bytes() const { return 0; }
schedule::IndexSchedule IndexExecutor::schedule() const {
  require_available();
  return {.what = schedule::WindowSchedule{}, .count = 0, .applied = Direction::scatter, .fingerprint = 0};
}
std::vector<KernelResources> IndexExecutor::resources() const {
  require_available();
  return {};
}

IndexCalibration tune(int /*device*/, bool /*quick*/) {
  require_available();
  return {};
}

}  // namespace faro::cuda
