// What else moves rows on a GPU: Thrust's gather, and sums by atomics, whose order is any. Host-only C++; the
// kernels are in peers.cu.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

/// Queues out[i] = in[from[i]] of elements of 4 or 16 bytes, 32-bit entries. Returns whether it knows the
/// width.
bool thrust_gather(const std::uint32_t* from, std::uint64_t count, std::uint64_t width, const void* in,
                   void* out, Stream stream);

/// Queues out[to[i]] += in[i], a thread an element.
void add_by_atomics(const std::uint32_t* to, std::uint64_t count, const float* in, float* out, Stream stream);

}  // namespace faro::bench::gpu
