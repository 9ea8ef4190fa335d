// Small arrays in place, whole: a block loads some arrays into shared memory, each element to where it goes,
// and stores them again.
//
//     data     | array | array | array | array |     a block: as many arrays as make 2^block_bits elements
//                  v       v       v       v
//     shared   each element x at pi(x)                (barrier)
//                  v       v       v       v
//     data     | array | array | array | array |     in order
//
// Every map of so small an array is one pass, in any alignment, element by element. It serves arrays that are
// too small and too few for the tile kernels, and the arrays of a batch that are left over.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

inline constexpr int kSmallThreadBits = 8;
inline constexpr int kSmallThreads = 1 << kSmallThreadBits;
/// Index bits of an array, at most.
inline constexpr int kSmallIndexBits = 17;

/// Made by make_affine_small_params().
struct AffineSmallParams {
  std::uint32_t column[kSmallIndexBits];  // images of e_0 .. e_{n-1}
  std::uint32_t complement;
  std::uint64_t elements;   // of all arrays
  std::int32_t index_bits;  // n
  std::int32_t block_bits;  // elements of a block, log2; n or more
  std::int32_t width_bits;  // bytes of an element, log2

  /// The last block may hold fewer arrays.
  constexpr std::uint64_t blocks() const {
    return (elements + ((std::uint64_t{1} << block_bits) - 1)) >> block_bits;
  }
  constexpr std::uint64_t shared_bytes() const { return std::uint64_t{1} << (block_bits + width_bits); }
  /// Elements of a block.
  constexpr std::uint32_t count(std::uint64_t block) const {
    const std::uint64_t left = elements - (block << block_bits);
    return left >> block_bits != 0 ? std::uint32_t{1} << block_bits : static_cast<std::uint32_t>(left);
  }
};

/// Phase 1. Requires: block < params.blocks(), thread < kSmallThreads, params.shared_bytes() of shared memory
/// (unchecked); kInput and kOutput are one array.
template <int bytes, device::Memory Memory>
constexpr void load_small(Memory& memory, const AffineSmallParams& p, std::uint64_t block,
                          std::uint32_t thread) {
  const std::uint64_t base = block << p.block_bits;
  const std::uint32_t count = p.count(block);
  for (std::uint32_t e = thread; e < count; e += kSmallThreads) {
    std::uint32_t y = p.complement ^ (e >> p.index_bits << p.index_bits);
    for (int j = 0; j < p.index_bits; ++j) y ^= p.column[j] & (std::uint32_t{0} - (e >> j & 1));
    memory.template store_shared<bytes>(
        y * bytes, memory.template load_global<bytes>(device::kInput, (base + e) * bytes));
  }
}

/// Phase 2. Requirements as for load_small.
template <int bytes, device::Memory Memory>
constexpr void store_small(Memory& memory, const AffineSmallParams& p, std::uint64_t block,
                           std::uint32_t thread) {
  const std::uint64_t base = block << p.block_bits;
  const std::uint32_t count = p.count(block);
  for (std::uint32_t e = thread; e < count; e += kSmallThreads) {
    memory.template store_global<bytes>(device::kOutput, (base + e) * bytes,
                                        memory.template load_shared<bytes>(e * bytes));
  }
}

}  // namespace faro::kernels
