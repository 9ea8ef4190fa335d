#include <optional>
#include <string>

#include "api/executable_state.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"

namespace faro::detail {
namespace {

class Requirement {
 public:
  Requirement(const Plan& plan, std::uint64_t workspace_bytes)
      : arrays_(plan.problem().placement == Placement::in_place ? 1 : 2),
        bytes_(arrays_ * plan.array_bytes() + workspace_bytes) {}

  void check(int device, const cuda::StagingOptions& options) const {
    std::string wanted = std::to_string(bytes_) + " bytes of device memory";
    std::string got;
    if (options.piece_bytes != 0) {
      got = "pieces of " + std::to_string(options.piece_bytes) + " bytes for a plan that takes arrays whole";
      wanted = "no pieces, and " + wanted;
    } else if (options.device_bytes != 0 && options.device_bytes < bytes_) {
      got = std::to_string(options.device_bytes) + " bytes of device memory";
    } else {
      for (const cuda::Device& each : cuda::devices()) {
        if (each.ordinal == device && each.free_memory_bytes > 0 && each.free_memory_bytes < bytes_)
          got = std::to_string(each.free_memory_bytes) + " bytes of free device memory";
      }
    }
    if (got.empty()) return;
    fail(ErrorCode::unsupported, "run", got, wanted,
         is_one_array() ? "a permutation in place takes the whole array at once"
                        : "a map, and an index array, take the whole array at once");
  }

  bool is_one_array() const { return arrays_ == 1; }

 private:
  std::uint64_t arrays_;
  std::uint64_t bytes_;
};

}  // namespace

void run_whole(const Plan& plan, std::uint64_t workspace_bytes, const void* in, void* out,
               const cuda::StagingOptions& options,
               const std::function<void(void* in, void* out, void* workspace)>& run) {
  const std::uint64_t bytes = plan.array_bytes();
  const int device = plan.target().device;
  const Requirement requirement(plan, workspace_bytes);
  requirement.check(device, options);
  cuda::DeviceArray first(bytes, device);
  std::optional<cuda::DeviceArray> second;
  if (!requirement.is_one_array()) second.emplace(bytes, device);
  std::optional<cuda::DeviceArray> workspace;
  if (workspace_bytes > 0) workspace.emplace(workspace_bytes, device);
  const cuda::DeviceArray& result = second ? *second : first;
  first.upload(in);
  run(first.data(), result.data(), workspace ? workspace->data() : nullptr);
  result.download(out);
}

}  // namespace faro::detail
