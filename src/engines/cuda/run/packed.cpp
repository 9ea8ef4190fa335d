#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_packed.hpp"

namespace faro::cuda {

void permute(const PackedMove& move, const kernels::PackedWork& work, Stream stream, int device) {
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_accessible(work.in, "input", ordinal);
  require_accessible(work.out, "output", ordinal);
  RowStream queue(stream, "permute packed elements");
  move_packed(queue, move, work);
}

}  // namespace faro::cuda
