// Swaps whole segments in pairs, in place and without shared memory: a thread loads vectors and the vectors
// that they change places with, and stores each where the other was.
//
// That is what the first of two passes in place nearly always is (docs/theory/two-passes-in-place.md, theorem
// 4), and what X and SWAP gates on high bits are. The map is an involution that moves no element of a segment
// against another but for a constant: the vector at column l of segment A goes to column l ^ a of its
// partner, a depending on A.
//
// A segment may be as short as a line of the caches, and memory is slower where what is read together lies
// apart. So a block takes a *tile* of segments, a space of indices that the map keeps, made of the nearest
// ones, and the tile that it changes places with. Where the map swaps bits i and j, both are directions of
// the tile, and segments lie side by side in both:
//
//     data   ====A0==A1==== ... ====B0==B1==== ... ====C0==C1==== ... ====D0==D1====
//               tile 0: A and B                        tile 1: C and D
//
//     A0 <-> C0   A1 <-> D0   B0 <-> C1   B1 <-> D1    a thread: vectors of tile 0, as many of tile 1
//
// Everything is linear: a vector of the tile is [ pair | thread ], and leads as far as the XOR of a column
// for each of its bits, in the tile and in its partner; only where the two tiles begin depends on the block.
// In a tile that stays, the lower one's thread moves both vectors of a pair; a vector that even stays where
// it is exchanges its elements, or is not read at all. The bits of a that are inside a vector exchange its
// elements in registers. All of a thread's loads are in flight before it looks at what they bring.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/block_orbits.hpp"

namespace faro::kernels {

inline constexpr int kSwapThreadBits = 8;
inline constexpr int kSwapThreads = 1 << kSwapThreadBits;
/// Pairs of vectors a thread, where a tile has as many.
inline constexpr int kSwapPairBits = 1;
inline constexpr int kSwapPairs = 1 << kSwapPairBits;

/// Made by make_affine_swap_params(). All offsets are in bytes; those of a target have the shift of the
/// vector's elements in their lowest bits.
struct AffineSwapParams {
  std::uint64_t source[kBlockDigits][kBlockDigitValues];  // [d][v]: where tile v << 4 d begins
  std::uint64_t target[kBlockDigits][kBlockDigitValues];  // where its first vector goes
  std::uint64_t complement;                               // target of tile 0
  std::uint64_t thread_source[kSwapThreadBits];           // where bit j of the thread leads
  std::uint64_t thread_target[kSwapThreadBits];
  std::uint64_t pair_source[kSwapPairBits];  // where bit j of the pair's number leads
  std::uint64_t pair_target[kSwapPairBits];
  BlockOrbits orbits;       // of tiles
  std::int32_t array_bits;  // an array has 2^array_bits bytes
  std::int32_t lane_bits;   // 2^lane_bits threads of a block have a part, all but in tiny arrays
  std::int32_t pair_bits;   // and 2^pair_bits pairs each

  constexpr std::uint64_t blocks() const { return orbits.numbers(); }
};
static_assert(sizeof(AffineSwapParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Element k of the result is element k ^ shift of the packet, `shift` as a number of bytes: elements are as
/// wide as its lowest bit may be.
template <int bytes>
constexpr device::Packet<bytes> exchange_bytes(device::Packet<bytes> packet, std::uint32_t shift) {
  if constexpr (bytes >= 4) {
    if (shift == 0) return packet;
    device::exchange_units<0>(packet, shift >> 2);
    constexpr std::uint32_t in_order = 0x3210;
    constexpr std::uint32_t each_byte = 0x1111;
    const std::uint32_t order = in_order ^ (shift & 3) * each_byte;
    FARO_UNROLL
    for (int u = 0; u < device::Packet<bytes>::kUnits; ++u) {
      packet.unit[u] = device::select_bytes(packet.unit[u], packet.unit[u], order);
    }
  }
  return packet;
}

/// The whole kernel; vectors of `bytes`, elements of as many or, where bytes is 16, of fewer.
/// Requires: block < params.blocks(), thread < kSwapThreads (unchecked); kInput and kOutput are one array.
template <int bytes, device::Memory Memory>
constexpr void swap_vectors(Memory& memory, const AffineSwapParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  if (thread >> p.lane_bits != 0) return;
  const OwnedOrbit orbit = owned_orbit(p.orbits, block);
  const bool changes_tile = orbit.tiles == 2;
  const std::uint64_t array = orbit.first >> p.orbits.block_bits;
  const std::uint64_t tile = orbit.first ^ array << p.orbits.block_bits;
  const std::uint64_t array_begin = array << p.array_bits;
  const std::uint64_t source = array_begin ^ look_up_block(p.source, p.orbits.block_bits, tile) ^
                               select_xor<kSwapThreadBits>(p.thread_source, thread);
  const std::uint64_t target = array_begin ^ look_up_block(p.target, p.orbits.block_bits, tile) ^
                               p.complement ^ select_xor<kSwapThreadBits>(p.thread_target, thread);
  const int pairs = 1 << p.pair_bits;
  std::uint64_t x[kSwapPairs] = {};
  std::uint64_t y[kSwapPairs] = {};
  std::uint32_t shift[kSwapPairs] = {};
  bool owned[kSwapPairs] = {};
  bool moved[kSwapPairs] = {};
  device::Packet<bytes> to_x[kSwapPairs] = {};
  device::Packet<bytes> to_y[kSwapPairs] = {};
  FARO_UNROLL
  for (int i = 0; i < kSwapPairs; ++i) {
    const auto pair = static_cast<std::uint32_t>(i);
    const std::uint64_t moved_to = target ^ select_xor<kSwapPairBits>(p.pair_target, pair);
    x[i] = source ^ select_xor<kSwapPairBits>(p.pair_source, pair);
    shift[i] = static_cast<std::uint32_t>(moved_to) & (bytes - 1);
    y[i] = moved_to ^ shift[i];
    owned[i] = i < pairs && (changes_tile || x[i] < y[i] || (x[i] == y[i] && shift[i] != 0));
    moved[i] = owned[i] && (changes_tile || x[i] != y[i]);
    if (owned[i]) {
      to_y[i] = memory.template load_global<bytes>(device::kInput, x[i]);
    } else {
      device::idle(memory);
    }
    if (moved[i]) {
      to_x[i] = memory.template load_global<bytes>(device::kInput, y[i]);
    } else {
      device::idle(memory);
    }
  }
  FARO_UNROLL
  for (int i = 0; i < kSwapPairs; ++i) {
    if (moved[i]) {
      memory.template store_global<bytes>(device::kOutput, x[i], exchange_bytes(to_x[i], shift[i]));
    } else {
      device::idle(memory);
    }
    if (owned[i]) {
      memory.template store_global<bytes>(device::kOutput, y[i], exchange_bytes(to_y[i], shift[i]));
    } else {
      device::idle(memory);
    }
  }
}

}  // namespace faro::kernels
