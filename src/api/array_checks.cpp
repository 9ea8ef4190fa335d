#include "api/array_checks.hpp"

#include <utility>

#include "api/planning.hpp"
#include "engines/cuda/device_pointer.hpp"

namespace faro::detail {
namespace {

bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  return first < second ? second - first < a_bytes : first - second < b_bytes;
}

}  // namespace

void refuse_run(std::string got, std::string wanted, std::string remedy) {
  refuse_value("run", std::move(got), std::move(wanted), std::move(remedy));
}

void check_arrays(const Plan& plan, const void* in, const void* out, std::uint64_t bytes) {
  const std::uint64_t wanted = plan.array_bytes();
  if (bytes != wanted) {
    refuse_run(std::to_string(bytes) + " bytes",
               std::to_string(wanted) + " bytes, batch x elements x element width");
  }
  if (bytes == 0) return;
  if (in == nullptr || out == nullptr)
    refuse_run(in == nullptr ? "a null input" : "a null output", "an array");
  if (overlap(in, bytes, out, bytes)) {
    refuse_run(in == out ? "one array as input and output" : "overlapping arrays", "two disjoint arrays",
               "in place is not yet supported");
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

void check_workspace(const Workspace& workspace, const WorkspaceNeeds& needs, const void* in, const void* out,
                     std::uint64_t bytes) {
  const std::uint64_t needed = needs.bytes;
  if (needed == 0) return;
  if (workspace.bytes < needed || workspace.data == nullptr) {
    refuse_run(workspace.data == nullptr ? "a null workspace"
                                         : "a workspace of " + std::to_string(workspace.bytes) + " bytes",
               "workspace_bytes() of them, " + std::to_string(needed));
  }
  for (const void* const array : {in, out}) {
    if (overlap(array, bytes, workspace.data, needed)) {
      refuse_run(std::string("a workspace that overlaps the ") + (array == in ? "input" : "output"),
                 "memory of its own");
    }
  }
  constexpr std::uintptr_t kAlignment = 16;
  if (needs.on_gpu && reinterpret_cast<std::uintptr_t>(workspace.data) % kAlignment != 0) {
    refuse_run("a workspace that is not aligned to 16 bytes", "one that is");
  }
}

}  // namespace faro::detail
