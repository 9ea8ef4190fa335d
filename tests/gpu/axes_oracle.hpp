// The oracle of permutations of axes on a GPU: every element of the output is held against the one of the
// input that the definition names, by one thread an element and a division an axis. Host-only C++: the kernel
// is in axes_oracle.cu.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/stream.hpp"

namespace faro::testing {

struct AxesOracle {
  static constexpr int kMost = 64;

  int axes = 0;
  std::uint64_t extent[kMost] = {};      // of the input, slowest first
  std::uint64_t out_stride[kMost] = {};  // in elements
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;

  std::uint64_t count() const {
    std::uint64_t product = 1;
    for (int a = 0; a < axes; ++a) product *= extent[a];
    return product;
  }
};

/// As they are written, without any normal form.
inline AxesOracle axes_oracle(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                              std::uint64_t element_bytes, std::uint64_t batch = 1) {
  AxesOracle oracle{.element_bytes = element_bytes, .batch = batch};
  for (const std::uint64_t e : shape) oracle.extent[oracle.axes++] = e;
  std::uint64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    oracle.out_stride[order[i]] = stride;
    stride *= shape[static_cast<std::size_t>(order[i])];
  }
  return oracle;
}

/// Queues: bytes that follow from their place and the seed.
void draw_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream);

/// Elements that are not where the permutation puts them. Waits for the stream.
std::uint64_t misplaced_elements(const void* in, const void* out, const AxesOracle& oracle, Stream stream);

}  // namespace faro::testing
