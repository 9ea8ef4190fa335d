#include <cuda_runtime_api.h>

#include <string>

#include "engines/cuda/host/array_addresses.hpp"
#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_modular.hpp"
#include "faro/error.hpp"
#include "kernels/modular_launch.hpp"

namespace faro::cuda {

void permute(const ModularMove& move, Stream stream, int device) {
  const std::uint64_t width = move.element_bytes;
  if (width > kVector || (width & (width - 1)) != 0) {
    fail(ErrorCode::unsupported, "permute", "elements of " + std::to_string(width) + " bytes on a device",
         "1, 2, 4, 8 or 16 bytes", "faro::permute takes others, on the host");
  }
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  if (move.batch == 0) return;
  require_accessible(move.in, "input", ordinal);
  require_accessible(move.out, "output", ordinal);
  require_aligned(addresses(move.in, move.out), width, {.operation = "permute"});
  auto sign = kernels::ModularSign::none;
  if (move.negated) {
    sign = move.negation.number >= Number::f16 ? kernels::ModularSign::floating
           : move.negation.modulus != 0        ? kernels::ModularSign::modulus
                                               : kernels::ModularSign::twos_complement;
  }
  RowStream queue(stream, "permute");
  kernels::multiply(queue, {.map = move.map,
                            .element_bytes = width,
                            .batch = move.batch,
                            .in = static_cast<const std::byte*>(move.in),
                            .out = static_cast<std::byte*>(move.out),
                            .sign_factor = move.sign_factor,
                            .sign = sign,
                            .modulus = move.negation.modulus});
}

}  // namespace faro::cuda
