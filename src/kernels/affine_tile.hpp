// The one-pass tile kernel: out[A x ^ c] = in[x] for any affine map, one read and one write of every element,
// both in whole segments (docs/theory/one-pass.md, theorems 1 and 2).
//
//     global input                 shared memory                  global output
//     2^r rows of 2^s elements     one tile, swizzled             2^r rows of 2^s elements
//
//     row 0  ========          .----------------------.           row 0'  ========
//                 row 1  ====  | element (row, column) |  row 1'  ========
//     row 2  ========     ---> | at Xor(place)         | --->               row 2'  ========
//              ...             '----------------------'                      ...
//               load_tile: vectors in,             store_tile: elements out,
//               vectors to shared                  vectors to global
//                                  (barrier)
//
// A block owns one coset of T = S + A^-1 S. In `load_tile` a thread first issues all its global loads, so
// that many are in flight, and only then touches shared memory. In `store_tile` it gathers each output vector
// element by element, in the order the map dictates, and stores it whole. The matrix is data: no code depends
// on the map.
//
// Free of bank conflicts: the load phase writes bank rows in order; the store phase reads along directions
// for which the Xor layout was made. Lanes keep the natural order on both sides. What pays for it is that Xor
// may move words *within* a 16-byte store; the thread then exchanges registers first, two selects a register.
// (Keeping the layout off those bits instead, by choosing the reading lanes, fails whenever an output
// vector's component is a function of an input vector's, as in any map that fixes bit 0.)
//
// See affine_tile_index.hpp for the index functions, affine_naive.hpp for the one-thread-an-element rung.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

/// Leaves a loaded vector as it is.
struct Unchanged {
  template <typename Vector>
  constexpr const Vector& operator()(const Vector& vector) const {
    return vector;
  }
};

/// Phase 1: the tile's segments, from buffer kInput to shared memory. What goes there is arrange(vector).
/// Requires: block < params.blocks(), thread < shape.threads(), shape.tile_bytes() of shared memory
/// (unchecked).
template <AffineTileShape shape, device::Memory Memory, typename Arrange = Unchanged>
constexpr void load_tile(Memory& memory, const AffineTileParams& params, std::uint64_t block,
                         std::uint32_t thread, const Arrange& arrange = {}) {
  using Vector = device::Packet<shape.vector_bytes()>;
  const std::uint64_t source = block_source(params, block) ^ source_offset<shape>(params, thread);
  Vector vectors[shape.iterations()];
  if constexpr (requires { memory.begin_reading(); }) memory.begin_reading();
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint64_t element = source ^ source_offset<shape>(params, later);
    vectors[i] =
        memory.template load_global<shape.vector_bytes()>(device::kInput, element << shape.width_bits);
  }

  const std::uint32_t address = write_address<shape>(params, thread);
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t first = address ^ write_address<shape>(params, later);
    const std::uint32_t exchange = low_bits(first, shape.vector_bits);
    // A layout moves whole words and whole elements, whichever is larger.
    constexpr int unit_width_bits = 2;
    constexpr int lowest_bit = shape.width_bits > unit_width_bits ? shape.width_bits - unit_width_bits : 0;
    Vector vector = arrange(vectors[i]);
    device::exchange_units<lowest_bit>(vector, exchange << shape.width_bits >> unit_width_bits);
    memory.template store_shared<shape.vector_bytes()>((first ^ exchange) << shape.width_bits, vector);
  }
}

/// Phase 2: the tile's segments, from shared memory to buffer kOutput. Requirements as for load_tile.
template <AffineTileShape shape, device::Memory Memory>
constexpr void store_tile(Memory& memory, const AffineTileParams& params, std::uint64_t block,
                          std::uint32_t thread) {
  using Vector = device::Packet<shape.vector_bytes()>;
  const std::uint64_t tile = block_target(params, block);
  const std::uint32_t column_shift = low_bits(static_cast<std::uint32_t>(tile), shape.segment_bits);
  const std::uint64_t target = (tile ^ column_shift) ^ target_offset<shape>(params, thread);
  const std::uint32_t address = read_address<shape>(params, thread << shape.vector_bits ^ column_shift);
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t first = address ^ read_address<shape>(params, later << shape.vector_bits);
    Vector vector{};
    FARO_UNROLL
    for (int k = 0; k < shape.components(); ++k) {
      const std::uint32_t element = first ^ read_address<shape>(params, static_cast<std::uint32_t>(k));
      device::insert(vector, k,
                     memory.template load_shared<shape.element_bytes()>(element << shape.width_bits));
    }
    const std::uint64_t element = target ^ target_offset<shape>(params, later);
    memory.template store_global<shape.vector_bytes()>(device::kOutput, element << shape.width_bits, vector);
  }
}

}  // namespace faro::kernels
