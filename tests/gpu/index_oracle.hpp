// The oracle of index arrays on a GPU: one obvious loop over arrays that lie there. Host-only C++: the
// kernels are in index_oracle.cu.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/stream.hpp"

namespace faro::testing {

/// A permutation by its array in device memory, and what it permutes.
struct IndexOracle {
  const void* entries = nullptr;
  int entry_bytes = 4;   // 4 or 8
  bool forwards = true;  // out[entries[i]] = in[i], else out[i] = in[entries[i]]
  std::uint64_t count = 0;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
};

/// Bytes of the batch that are not where they belong. Waits for the stream.
std::uint64_t misplaced_bytes(const IndexOracle& oracle, const void* in, const void* out, Stream stream);

/// Byte i becomes a hash of i and the seed. Queues.
void fill_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream);

}  // namespace faro::testing
