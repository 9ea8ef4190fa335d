#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_index.hpp"
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

void permute_in_place(const PackedMove& move, const std::optional<kernels::PackedInPlacePasses>& passes,
                      const kernels::PackedWork& work, Stream stream, int device) {
  constexpr const char* kOperation = "permute packed elements in place";
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_accessible(work.out, "array", ordinal);
  kernels::PackedWork skipped = work;
  skipped.in += move.in_skipped;
  skipped.out += move.out_skipped;
  if (passes && kernels::detail::is_aligned_to_vectors(skipped)) {
    RowStream queue(stream, kOperation);
    if (move.cleared) kernels::clear_packed_pads(queue, work, *move.cleared);
    return kernels::move_packed_in_place(queue, skipped.out, *passes);
  }
  const StreamMemory memory(work.in_bytes, ordinal, stream);
  check(cudaMemcpyAsync(memory.data(), work.in, work.in_bytes, cudaMemcpyDeviceToDevice, stream.handle()),
        "cudaMemcpyAsync", kOperation);
  kernels::PackedWork from_copy = work;
  from_copy.in = static_cast<const std::byte*>(memory.data());
  RowStream queue(stream, kOperation);
  move_packed(queue, move, from_copy);
}

Indexed entries_on_device(const Indexed& indices, int device) {
  if (indices.on_host()) return to_device(indices.redirected(Direction::gather), device);
  if (!indices.is_checked()) validate(indices);
  return redirected(indices, Direction::gather);
}

}  // namespace faro::cuda
