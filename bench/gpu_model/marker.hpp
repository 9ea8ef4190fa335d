// Marks where cases begin in a profile, and says what is to be profiled.
#pragma once

namespace faro::bench::gpu_model {

/// The name of a kernel that does nothing, launched before each case.
inline constexpr const char* kMarker = "begin_case";

/// From here on launches are profiled (ncu --profile-from-start off); begins with the marker. Errors:
/// ErrorCode::device.
void begin_case();
/// Up to here, when all are done.
void end_case();

}  // namespace faro::bench::gpu_model
