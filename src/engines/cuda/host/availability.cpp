#include "engines/cuda/host/availability.hpp"

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"

namespace faro::cuda {

void require_available() {
  const Status now = status();
  if (now.available) return;
  throw Error({.code = ErrorCode::device,
               .operation = "use the CUDA engine",
               .got = "engine cuda",
               .wanted = "an engine that can run here: cpu",
               .remedy = "cuda: " + now.reason});
}

}  // namespace faro::cuda
