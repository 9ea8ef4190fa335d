// The oracle of permutations of axes, and of strided views, on a GPU: every element of the output is held
// against the one of the input that the definition names, by one thread an element and a division an axis.
// Host-only C++: the kernel is in axes_oracle.cu.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/permutation/strided.hpp"
#include "faro/stream.hpp"

namespace faro::testing {

struct AxesOracle {
  static constexpr int kMost = 66;

  int axes = 0;
  std::uint64_t extent[kMost] = {};    // slowest first
  std::int64_t in_stride[kMost] = {};  // in elements
  std::int64_t out_stride[kMost] = {};
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;
  std::uint64_t element_bytes = 1;

  std::uint64_t count() const {
    std::uint64_t product = 1;
    for (int a = 0; a < axes; ++a) product *= extent[a];
    return product;
  }
};

/// As they are written, without any normal form.
inline AxesOracle axes_oracle(const std::vector<std::uint64_t>& shape, const std::vector<int>& order,
                              std::uint64_t element_bytes, std::uint64_t batch = 1) {
  AxesOracle oracle{.element_bytes = element_bytes};
  oracle.extent[oracle.axes++] = batch;
  for (const std::uint64_t e : shape) oracle.extent[oracle.axes++] = e;
  std::int64_t stride = 1;
  for (int a = oracle.axes; a-- > 0;) {
    oracle.in_stride[a] = stride;
    stride *= static_cast<std::int64_t>(oracle.extent[a]);
  }
  stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    oracle.out_stride[order[i] + 1] = stride;
    stride *= static_cast<std::int64_t>(shape[static_cast<std::size_t>(order[i])]);
  }
  oracle.out_stride[0] = stride;
  return oracle;
}

inline AxesOracle axes_oracle(const Strided& view, std::uint64_t element_bytes) {
  AxesOracle oracle{
      .in_offset = view.in_offset, .out_offset = view.out_offset, .element_bytes = element_bytes};
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    oracle.extent[oracle.axes] = view.extents[a];
    oracle.in_stride[oracle.axes] = view.in_strides[a];
    oracle.out_stride[oracle.axes++] = view.out_strides[a];
  }
  return oracle;
}

/// Queues: bytes that follow from their place and the seed.
void draw_bytes(void* array, std::uint64_t bytes, std::uint64_t seed, Stream stream);

/// Queues: the definition, one element after another. What no element reaches stays as it is.
void move_elements(const void* in, void* out, const AxesOracle& oracle, Stream stream);

/// Bytes in which two arrays differ. Waits for the stream.
std::uint64_t different_bytes(const void* a, const void* b, std::uint64_t bytes, Stream stream);

/// Elements that are not where the permutation puts them. Waits for the stream.
std::uint64_t misplaced_elements(const void* in, const void* out, const AxesOracle& oracle, Stream stream);

}  // namespace faro::testing
