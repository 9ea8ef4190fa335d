// Kernels that use faro/device/aos.hpp as an author of kernels would, found by the words of their struct.
// Host-only C++: the kernels are in aos_kernels.cu.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::testing {

enum class AosKernel {
  step,                    // out[i] = in[i] with its words rotated by one, by load and store
  step_row_column_row,     // the same by this exchange
  step_column_row_column,  // and this
  gather,                  // out[i] = in[index[i]]
  scatter,                 // out[index[i]] = in[i]
  sparse_gather,           // gather where index[i] is odd, zeros elsewhere
  to_planes,               // word k of in[i] to k * count + i of out
  from_planes              // the reverse
};

struct AosCall {
  AosKernel kernel = AosKernel::step;
  int words = 1;      // of a struct
  int alignment = 4;  // promised; 16 only for step and gather of 4, 8, 12, 16 and 32 words
  const void* in = nullptr;
  void* out = nullptr;
  const std::uint32_t* index = nullptr;
  std::uint64_t count = 0;  // structs
};

/// Queues the kernel. False where it is not compiled.
bool queue_aos(const AosCall& call, Stream stream);

}  // namespace faro::testing
