// What index arrays are measured against: a gather and a scatter as one writes them, an element a thread.
#pragma once

#include <cstdint>

#include "faro/stream.hpp"

namespace faro::bench::gpu {

/// An index array of 32- or 64-bit entries in device memory, and elements of 1, 2, 4, 8 or 16 bytes.
struct Indices {
  const void* entries = nullptr;
  int entry_bytes = 4;
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
};

/// Queue out[i] = in[entries[i]], and out[entries[i]] = in[i]. Errors: ErrorCode::device.
void queue_gather(const Indices& indices, const void* in, void* out, Stream stream);
void queue_scatter(const Indices& indices, const void* in, void* out, Stream stream);

/// Elements that are not where out[entries[i]] = in[i] has them, or with `gathered` out[i] = in[entries[i]].
/// Waits.
std::uint64_t misplaced(const Indices& indices, bool gathered, const void* in, const void* out);

/// Fills with a hash of every word's place. Queues.
void fill(void* array, std::uint64_t bytes);

}  // namespace faro::bench::gpu
