// Multiplications modulo a number of elements on a device (faro/faro.hpp): one kernel, queued on a stream.
//
// Host-only C++; in a build without CUDA everything refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <span>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/modular.hpp"
#include "faro/stream.hpp"

namespace faro::cuda {

/// Arrays on a device that are multiplied, negated where `negated`.
struct ModularMove {
  Modular map;
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
  const void* in = nullptr;
  void* out = nullptr;
  bool negated = false;
  std::uint64_t sign_factor = 0;  // below twice the count
  Number number = Number::u64;
  std::span<const std::uint64_t> moduli = {};  // of integers: array b has moduli[b mod their number]; none: 0
};

/// Requires: a map that maps:: makes, arrays of batch count element_bytes bytes that do not overlap
/// (unchecked). Errors: ErrorCode::value for memory that is not the device's or not aligned to an element;
/// ErrorCode::unsupported for elements of other than 1, 2, 4, 8 or 16 bytes; ErrorCode::device.
void permute(const ModularMove& move, Stream stream, int device);

struct EvaluationMove {
  int bits = 0;
  std::uint64_t factor = 1;
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
  const void* in = nullptr;
  void* out = nullptr;
};

/// Queues it (kernels/evaluation_order.hpp). Errors: as permute().
void permute_evaluations(const EvaluationMove& move, Stream stream, int device);

}  // namespace faro::cuda
