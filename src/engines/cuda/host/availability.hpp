// The one refusal of a machine or build without CUDA.
#pragma once

namespace faro::cuda {

/// Errors: ErrorCode::device where status() says unavailable, with its reason.
void require_available();

}  // namespace faro::cuda
