// Arrays of the host on a device that takes them whole: up, permuted there, and down, one after the other.
#pragma once

#include <cstdint>
#include <functional>

#include "faro/engines/cuda.hpp"
#include "faro/plan/plan.hpp"

namespace faro::detail {

/// Calls run(in, out, workspace) with arrays of the plan's device; `out` is `in` where the plan is in place,
/// and only then may the host's be one array. Errors: ErrorCode::unsupported where the device, or what
/// `options` allow of it, is too small, or for pieces; then nothing has been written.
void run_whole(const Plan& plan, std::uint64_t workspace_bytes, const void* in, void* out,
               const cuda::StagingOptions& options,
               const std::function<void(void* in, void* out, void* workspace)>& run);

}  // namespace faro::detail
