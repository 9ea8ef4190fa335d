// Marks where cases begin in a profile, and says what is to be profiled and what not to be timed.
#pragma once

namespace faro::bench::gpu_model {

/// The name of a kernel that does nothing, launched before each case.
inline constexpr const char* kMarker = "begin_case";

/// From here on launches are profiled (ncu --profile-from-start off); begins with the marker. Errors:
/// ErrorCode::device.
void begin_case();
/// Up to here, when all are done.
void end_case();

/// What a run allocates for its workspace stays with the process, so that the next is not timed with mapping
/// it: up to twice the time of a partition's passes. Errors: ErrorCode::device.
void keep_workspaces();

}  // namespace faro::bench::gpu_model
