#include "engines/cuda/host/availability.hpp"

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

void require_available() {
  const Status now = status();
  if (now.available) return;
  fail(ErrorCode::device, "use the CUDA engine", "engine cuda", "an engine that can run here: cpu",
       "cuda: " + now.reason);
}

}  // namespace faro::cuda
