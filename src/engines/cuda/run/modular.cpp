#include <cuda_runtime_api.h>

#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_modular.hpp"
#include "faro/error.hpp"
#include "kernels/evaluation_order.hpp"
#include "kernels/modular_launch.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

namespace {

// Whether there is anything to move, of arrays that are the device's.
bool require_movable(std::uint64_t width, std::uint64_t batch, const void* in, const void* out, int ordinal) {
  if (width > kVector || (width & (width - 1)) != 0) {
    fail(ErrorCode::unsupported, "permute", "elements of " + std::to_string(width) + " bytes on a device",
         "1, 2, 4, 8 or 16 bytes", "faro::permute takes others, on the host");
  }
  if (batch == 0) return false;
  require_accessible(in, "input", ordinal);
  require_accessible(out, "output", ordinal);
  require_aligned(addresses(in, out), width, {.operation = "permute"});
  return true;
}

}  // namespace

void permute(const ModularMove& move, Stream stream, int device) {
  const std::uint64_t width = move.element_bytes;
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  if (!require_movable(width, move.batch, move.in, move.out, ordinal)) return;
  auto sign = kernels::ModularSign::none;
  if (move.negated)
    sign = move.number >= Number::f16 ? kernels::ModularSign::floating : kernels::ModularSign::integer;
  RowStream queue(stream, "permute");
  kernels::multiply(queue, {.map = move.map,
                            .element_bytes = width,
                            .batch = move.batch,
                            .in = static_cast<const std::byte*>(move.in),
                            .out = static_cast<std::byte*>(move.out),
                            .sign_factor = move.sign_factor,
                            .sign = sign,
                            .moduli = move.moduli});
}

void permute_evaluations(const EvaluationMove& move, Stream stream, int device) {
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  if (!require_movable(move.element_bytes, move.batch, move.in, move.out, ordinal)) return;
  RowStream queue(stream, "permute");
  faro::detail::by_unit_bytes(move.element_bytes, [&](auto bytes) {
    kernels::MoveEvaluations<bytes()> kernel;
    kernel.order = {.bits = move.bits, .factor = move.factor};
    kernel.batch = move.batch;
    kernel.in = static_cast<const std::byte*>(move.in);
    kernel.out = static_cast<std::byte*>(move.out);
    queue.run(kernel);
  });
}

}  // namespace faro::cuda
