// The store phase for elements smaller than a bank's word, blocked in registers: shared memory is read a word
// at a time.
//
// store_tile (affine_tile.hpp) fetches every element with an instruction of its own, four for each word that
// the banks could have delivered at once when elements are bytes. Here a thread owns all the output vectors
// that the elements of its words are bound for: with u = log2(elements of a word), 2^u vectors, and 2^v words
// hold exactly their elements.
//
//     words read             normalised, transposed            output vectors (u = 2, bytes)
//     w0: a0 b0 c0 d0        a0 a1 a2 a3  \                    vector 0 (base)            a0 a1 a2 a3 ...
//     w1: b1 a1 d1 c1   -->  b0 b1 b2 b3   } from words 0-3    vector 1 (base ^ g_0)      b0 b1 b2 b3 ...
//     w2: a2 b2 c2 d2        c0 c1 c2 c3  /                    vector 2 (base ^ g_1)      c0 ...
//     w3: d3 c3 b3 a3        d0 d1 d2 d3                       vector 3 (base ^ g_0^g_1)  d0 ...
//
// In formulas: word c is the one that holds the element bound for component c of the thread's first vector.
// Its element q, counted by XOR from that one, is bound for  base ^ c ^ local(e_q) = (base ^ g_q) ^ (c ^
// shift_q), g_q with its low v bits zero. So: XOR each word's bytes into order (by a thread's own two bits),
// transpose, and XOR the components of vector q by shift_q, which is the same for all threads.
//
// Applies when g_q are independent: no combination of the low u index bits stays inside an output vector; and
// when lanes still run along output sectors. fits_blocked() says so; the other maps (a random map of bytes:
// hardly ever; a random bit permutation of 32 bits: one in three) take store_tile.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "faro/device/packet.hpp"
#include "faro/kernels/affine_tile.hpp"

namespace faro::kernels {

inline constexpr int kMaxWordBits = 2;  // log2 of the elements that share a 4-byte word

/// log2 of the elements in a register.
constexpr int word_element_bits(const AffineTileShape& shape) { return 2 - shape.width_bits; }

/// Output vectors are numbered by (iteration, thread) along directions of their own, the 2^u of a thread left
/// out.
struct AffineBlockedParams {
  AffineTileParams tile;  // for load_tile, with the layout that suits this phase
  std::uint64_t
      thread_target[kMaxTileBits];  // where (iteration, thread) bit j leads, in elements of the output
  std::uint32_t thread_read[kMaxTileBits];   // the same in shared memory, in elements
  std::uint64_t group_target[kMaxWordBits];  // g_q, in elements of the output
  std::uint32_t group_shift[kMaxWordBits];   // shift_q, components
};
static_assert(sizeof(AffineBlockedParams) <= 4096, "kernel parameters are at most 4 KiB");

constexpr bool is_valid_blocked(const AffineTileShape& shape) {
  const int u = word_element_bits(shape);
  return is_valid(shape) && u >= 1 && shape.vector_bits >= u &&
         shape.thread_bits <= shape.vector_count_bits() - u;
}

/// Element e of a word moves to e ^ mask. Elements are 1 << width_bits bytes.
template <int width_bits>
constexpr std::uint32_t exchange_elements(std::uint32_t word, std::uint32_t mask) {
  constexpr std::uint32_t in_order = 0x3210;
  constexpr std::uint32_t each_byte = 0x1111;
  return device::select_bytes(word, word, in_order ^ (mask << width_bits) * each_byte);
}

/// Groups of 2^u words, each a 2^u x 2^u matrix of elements, transposed in place by u stages of exchanges.
/// Law: element e of word (group, k) becomes element k of word (group, e).
template <int width_bits, int count>
constexpr void transpose_words(std::uint32_t (&words)[count]) {
  // Stage t exchanges bit t of the word's number with bit t of the element's: byte bit width_bits + t.
  constexpr std::uint32_t low_selector[] = {0x6240, 0x5410};
  constexpr std::uint32_t high_selector[] = {0x7351, 0x7632};
  FARO_UNROLL
  for (int byte_bit = width_bits; byte_bit < 2; ++byte_bit) {
    const int stride = 1 << (byte_bit - width_bits);
    FARO_UNROLL
    for (int k = 0; k < count; ++k) {
      if ((k & stride) != 0) continue;
      const std::uint32_t a = words[k];
      const std::uint32_t b = words[k + stride];
      words[k] = device::select_bytes(a, b, low_selector[byte_bit]);
      words[k + stride] = device::select_bytes(a, b, high_selector[byte_bit]);
    }
  }
}

/// Phase 2 in place of store_tile. Requirements as for load_tile.
template <AffineTileShape shape, device::Memory Memory>
constexpr void store_tile_blocked(Memory& memory, const AffineBlockedParams& params, std::uint64_t block,
                                  std::uint32_t thread) {
  static_assert(is_valid_blocked(shape));
  constexpr int u = word_element_bits(shape);
  constexpr int direction_bits = shape.vector_count_bits() - u;
  constexpr int iterations = 1 << (direction_bits - shape.thread_bits);
  const std::uint64_t tile = block_target(params.tile, block);
  const std::uint32_t column_shift = low_bits(static_cast<std::uint32_t>(tile), shape.segment_bits);
  const std::uint64_t target =
      (tile ^ column_shift) ^ select_xor<shape.thread_bits>(params.thread_target, thread);
  const std::uint32_t address = read_address<shape>(params.tile, column_shift) ^
                                select_xor<shape.thread_bits>(params.thread_read, thread);
  FARO_UNROLL
  for (int i = 0; i < iterations; ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t first = address ^ select_xor<direction_bits>(params.thread_read, later);
    std::uint32_t words[shape.components()];
    FARO_UNROLL
    for (int c = 0; c < shape.components(); ++c) {
      const std::uint32_t element = first ^ read_address<shape>(params.tile, static_cast<std::uint32_t>(c));
      const std::uint32_t in_word = low_bits(element, u);
      words[c] = exchange_elements<shape.width_bits>(
          memory.template load_shared<4>((element ^ in_word) << shape.width_bits).unit[0], in_word);
    }
    transpose_words<shape.width_bits>(words);
    const std::uint64_t base = target ^ select_xor<direction_bits>(params.thread_target, later);
    FARO_UNROLL
    for (int q = 0; q < 1 << u; ++q) {
      const std::uint32_t shift = select_xor<u>(params.group_shift, static_cast<std::uint32_t>(q));
      device::Packet<shape.vector_bytes()> vector{};
      FARO_UNROLL
      for (int k = 0; k < vector.kUnits; ++k) {
        vector.unit[k] = exchange_elements<shape.width_bits>(words[k << u | q], low_bits(shift, u));
      }
      device::exchange_units<0>(vector, shift >> u);
      const std::uint64_t element = base ^ select_xor<u>(params.group_target, static_cast<std::uint32_t>(q));
      memory.template store_global<shape.vector_bytes()>(device::kOutput, element << shape.width_bits,
                                                         vector);
    }
  }
}

}  // namespace faro::kernels
