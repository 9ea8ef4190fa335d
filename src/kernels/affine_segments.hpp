// The kernel without a tile: one thread a vector, out[A x ^ c] = in[x] on vectors of 1 to 16 bytes.
//
// It is for maps that leave low index bits where they are, so that whole segments change places and nothing
// moves inside one. A vector is part of a segment, and the map of vectors is the map of elements with the
// bits inside a vector left out:
//
//     index x of a vector      [ block of threads        | thread ]
//                                         |                  |
//                              [ array | digits ... ]        |          digits: kBlockDigitBits bits each
//                                  |        |                |
//     target y             =    array  ^  tables[digit]  ^  columns selected by the thread's bits  ^  c
//
//     in    ====A==== ====B==== ====C==== ====D====         threads read in order
//     out   ====C==== ====A==== ====D==== ====B====         and write segments whole: 16 bytes a thread, 256
//                                                           bytes and more side by side
//
// The block's part of y is the same for all its threads, so it is computed once a warp; the thread's part is
// one select a thread bit. With vectors of one unit nothing is asked of the map: that is how arrays too small
// for a tile are moved (plan kind `direct`), and affine_naive.hpp, which walks all columns in every thread,
// stays as the floor that both are measured against.
//
// Arrays of a batch follow one another. An array of fewer vectors than a block has threads shares its block:
// its map is extended by index bits that stay, which are bits of the array's number.
//
// Example: swap_bits(20, 10, 19) of 4-byte elements. Elements 4 k .. 4 k + 3 stay together, a vector is 16
// bytes, and the map of 2^18 vectors is swap_bits(18, 8, 17): threads 0 .. 255 of block 0 move vectors 0 ..
// 255 to themselves, block 1 moves its own to vector 2^17.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

inline constexpr int kSegmentsThreadBits = 8;
inline constexpr int kSegmentsThreads = 1 << kSegmentsThreadBits;

/// Made by make_affine_segments_params().
struct AffineSegmentsParams {
  std::uint64_t block_target[kBlockDigits]
                            [kBlockDigitValues];     // [d][v]: where block v << 4 d of an array leads
  std::uint64_t thread_target[kSegmentsThreadBits];  // where thread bit j leads
  std::uint64_t complement;
  std::uint64_t vectors;    // of all arrays
  std::int32_t block_bits;  // an array, or as many as share a block, has 2^block_bits blocks

  /// The last block may be partly idle.
  constexpr std::uint64_t blocks() const { return (vectors + (kSegmentsThreads - 1)) >> kSegmentsThreadBits; }
};
static_assert(sizeof(AffineSegmentsParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Where vector 0 of a block is written, in vectors; the thread's part is XORed onto it.
constexpr std::uint64_t segments_block_target(const AffineSegmentsParams& p, std::uint64_t block) {
  const std::uint64_t array = block >> p.block_bits;
  return look_up_block(p.block_target, p.block_bits, block ^ array << p.block_bits) ^
         array << (p.block_bits + kSegmentsThreadBits) ^ p.complement;
}

/// The whole kernel. Requires: block < params.blocks(), thread < kSegmentsThreads (unchecked).
template <int bytes, device::Memory Memory>
constexpr void move_vector(Memory& memory, const AffineSegmentsParams& params, std::uint64_t block,
                           std::uint32_t thread) {
  const std::uint64_t x = (block << kSegmentsThreadBits) + thread;
  if (x >= params.vectors) return;
  const std::uint64_t y =
      segments_block_target(params, block) ^ select_xor<kSegmentsThreadBits>(params.thread_target, thread);
  if constexpr (requires { memory.begin_reading(); }) memory.begin_reading();
  const auto vector = memory.template load_global<bytes>(device::kInput, x * bytes);
  memory.template store_global<bytes>(device::kOutput, y * bytes, vector);
}

}  // namespace faro::kernels
