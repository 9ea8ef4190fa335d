// The naive rung: one thread an element, out[A x ^ c] = in[x] straight through global memory.
//
//     thread x  --->  load in[x]  --->  store out[A x ^ c]
//
// Reads are whole segments; writes land wherever the map sends them, for a random map one 32-byte sector for
// each element. It has no shape to fit, so it serves every size, and it is the floor that the tile kernel is
// measured against.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

struct AffineNaiveParams {
  std::uint64_t column[40];  // images of e_0 .. e_{n-1}
  std::uint64_t complement;
  std::uint64_t batch;       // arrays, one after another
  std::int32_t index_bits;   // n
  std::int32_t thread_bits;  // threads of a block, log2

  /// The last block may be partly idle.
  constexpr std::uint64_t blocks() const {
    return ((batch << index_bits) + (std::uint64_t{1} << thread_bits) - 1) >> thread_bits;
  }
};

/// The whole kernel. Requires: block < params.blocks() (unchecked).
template <int element_bytes, device::Memory Memory>
constexpr void move_element(Memory& memory, const AffineNaiveParams& params, std::uint64_t block,
                            std::uint32_t thread) {
  const std::uint64_t x = (block << params.thread_bits) + thread;
  if (x >= params.batch << params.index_bits) return;
  std::uint64_t y = params.complement ^ (x >> params.index_bits << params.index_bits);
  for (int j = 0; j < params.index_bits; ++j) y ^= params.column[j] & (std::uint64_t{0} - (x >> j & 1));
  const auto element = memory.template load_global<element_bytes>(device::kInput, x * element_bytes);
  memory.template store_global<element_bytes>(device::kOutput, y * element_bytes, element);
}

}  // namespace faro::kernels
