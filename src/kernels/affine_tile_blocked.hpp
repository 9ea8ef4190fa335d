// The tile kernel for elements smaller than a bank's word, blocked in registers: shared memory is read a word
// at a time.
//
// The plain store_tile (affine_tile.hpp) fetches every element with an instruction of its own, four for each
// word that the banks could have delivered at once when elements are bytes. Here a thread owns 2^u output
// vectors of 16 bytes, u = log2(elements of a word), that between them hold exactly the elements of as many
// words. For bytes, u = 2, four words at a time (a vector has four such sets, one for each of its words):
//
//     words read             exchanged in two stages        written
//     w0: a0 b0 c0 d0        a0 a1 a2 a3                     word of vector 0 (base)
//     w1: a1 b1 c1 d1   -->  b0 b1 b2 b3                     word of vector 1 (base ^ g_0)
//     w2: a2 b2 c2 d2        c0 c1 c2 c3                     word of vector 2 (base ^ g_1)
//     w3: a3 b3 c3 d3        d0 d1 d2 d3                     word of vector 3 (base ^ g_0 ^ g_1)
//
// That works whenever the elements of a word are bound for different vectors, and warps go on writing whole
// sectors if they are bound for different sectors. So load_tile first chooses *which* elements shall
// share a word: it permutes the bytes of each vector that it has loaded, before it puts it into shared
// memory. Where too few directions leave the sector, elements that stay together in a word on both sides do
// as well: their stage exchanges nothing, and the thread's other vectors lie elsewhere. All that a map
// changes is a few byte selectors, so no code depends on it:
//
//     bytes of a loaded vector      three selectors a word
//     words as read                 a selector, XORed with the thread's own place in the word
//     stage t of the exchange       two selectors: an exchange, or none
//     words as written              a selector for each vector
//
// make_affine_blocked_params() chooses the bases and makes the selectors; fits_blocked() says which maps are
// left to the plain kernel: those that keep nearly all elements within their sector, yet not within their
// word.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::kernels {

inline constexpr int kMaxWordBits = 2;  // log2 of the elements that share a 4-byte word
inline constexpr int kMaxGroupVectors = 1 << kMaxWordBits;

/// u, log2 of the elements in a word.
constexpr int word_element_bits(const AffineTileShape& shape) { return 2 - shape.width_bits; }

/// Any permutation of a 16-byte vector's bytes: byte selectors of word k of the result, which takes what it
/// needs of words 0 and 1, what it needs of words 2 and 3, and from these two its bytes.
struct ByteGather {
  std::uint32_t from_low[4];
  std::uint32_t from_high[4];
  std::uint32_t from_both[4];
};

/// Groups of 2^u output vectors are numbered by (iteration, thread); the directions within a group are left
/// out.
struct AffineBlockedParams {
  AffineTileParams tile;                      // of the tile with permuted vectors
  ByteGather gather;                          // the permutation of a loaded vector
  std::uint64_t thread_target[kMaxTileBits];  // where (iteration, thread) bit j leads in the output, elements
  std::uint32_t thread_read[kMaxTileBits];    // the same in shared memory, elements
  std::uint64_t
      vector_target[kMaxWordBits];          // where bit t of a vector's number leads in the output, elements
  std::uint32_t vector_read[kMaxWordBits];  // where the words lie whose bit t it takes part in, elements
  std::uint32_t unit_shift[kMaxWordBits];   // the words of a vector whose bit t is set are exchanged by this
  std::uint32_t stage_low[kMaxWordBits];    // byte selectors of stage t, for vectors q and q + 2^t
  std::uint32_t stage_high[kMaxWordBits];
  std::uint32_t write_order[kMaxGroupVectors];  // byte selector of vector q's words
};
static_assert(sizeof(AffineBlockedParams) <= 4096, "kernel parameters are at most 4 KiB");

/// Groups of a tile, log2.
constexpr int group_count_bits(const AffineTileShape& shape) {
  return shape.vector_count_bits() - word_element_bits(shape);
}

constexpr bool is_valid_blocked(const AffineTileShape& shape) {
  return is_valid(shape) && word_element_bits(shape) >= 1 && shape.vector_bytes() == kMaxVectorBytes &&
         shape.thread_bits <= group_count_bits(shape);
}

constexpr device::Packet<16> gather_bytes(const device::Packet<16>& vector, const ByteGather& gather) {
  device::Packet<16> result{};
  FARO_UNROLL
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t low = device::select_bytes(vector.unit[0], vector.unit[1], gather.from_low[k]);
    const std::uint32_t high = device::select_bytes(vector.unit[2], vector.unit[3], gather.from_high[k]);
    result.unit[k] = device::select_bytes(low, high, gather.from_both[k]);
  }
  return result;
}

/// Phase 1. Requirements as for the plain load_tile.
template <AffineTileShape shape, device::Memory Memory>
constexpr void load_tile(Memory& memory, const AffineBlockedParams& params, std::uint64_t block,
                         std::uint32_t thread) {
  static_assert(is_valid_blocked(shape));
  load_tile<shape>(memory, params.tile, block, thread,
                   [&](const device::Packet<16>& vector) { return gather_bytes(vector, params.gather); });
}

/// Phase 2. Requirements as for the plain load_tile.
template <AffineTileShape shape, device::Memory Memory>
constexpr void store_tile(Memory& memory, const AffineBlockedParams& params, std::uint64_t block,
                          std::uint32_t thread) {
  static_assert(is_valid_blocked(shape));
  using Vector = device::Packet<kMaxVectorBytes>;
  constexpr int u = word_element_bits(shape);
  constexpr int vectors = 1 << u;
  constexpr int group_bits = group_count_bits(shape);
  constexpr int iterations = 1 << (group_bits - shape.thread_bits);
  constexpr std::uint32_t in_order = 0x3210;
  constexpr std::uint32_t each_byte = 0x1111;
  const std::uint64_t tile = block_target(params.tile, block);
  const std::uint32_t column_shift = low_bits(static_cast<std::uint32_t>(tile), shape.segment_bits);
  const std::uint64_t target =
      (tile ^ column_shift) ^ select_xor<shape.thread_bits>(params.thread_target, thread);
  const std::uint32_t address = read_address<shape>(params.tile, column_shift) ^
                                select_xor<shape.thread_bits>(params.thread_read, thread);
  const std::uint32_t word_address = address ^ low_bits(address, u);
  const std::uint32_t order = in_order ^ (low_bits(address, u) << shape.width_bits) * each_byte;
  FARO_UNROLL
  for (int i = 0; i < iterations; ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    Vector group[vectors];
    FARO_UNROLL
    for (int q = 0; q < vectors; ++q) {
      FARO_UNROLL
      for (int k = 0; k < Vector::kUnits; ++k) {
        // How far from the thread's first word: the same for all threads.
        const std::uint32_t step = select_xor<group_bits>(params.thread_read, later) ^
                                   select_xor<u>(params.vector_read, static_cast<std::uint32_t>(q)) ^
                                   read_address<shape>(params.tile, static_cast<std::uint32_t>(k) << u);
        const std::uint32_t place = low_bits(step, u);
        const std::uint32_t word =
            memory.template load_shared<4>((word_address ^ (step ^ place)) << shape.width_bits).unit[0];
        group[q].unit[k] = device::select_bytes(word, word, order ^ (place << shape.width_bits) * each_byte);
      }
    }
    FARO_UNROLL
    for (int t = 0; t < u; ++t) {
      FARO_UNROLL
      for (int q = 0; q < vectors; ++q) {
        if ((q >> t & 1) != 0) continue;
        FARO_UNROLL
        for (int k = 0; k < Vector::kUnits; ++k) {
          const std::uint32_t low = group[q].unit[k];
          const std::uint32_t high = group[q + (1 << t)].unit[k];
          group[q].unit[k] = device::select_bytes(low, high, params.stage_low[t]);
          group[q + (1 << t)].unit[k] = device::select_bytes(low, high, params.stage_high[t]);
        }
      }
    }
    const std::uint64_t base = target ^ select_xor<group_bits>(params.thread_target, later);
    FARO_UNROLL
    for (int q = 0; q < vectors; ++q) {
      const auto number = static_cast<std::uint32_t>(q);
      FARO_UNROLL
      for (int k = 0; k < Vector::kUnits; ++k) {
        group[q].unit[k] = device::select_bytes(group[q].unit[k], group[q].unit[k], params.write_order[q]);
      }
      device::exchange_units<0>(group[q], select_xor<u>(params.unit_shift, number));
      const std::uint64_t element = base ^ select_xor<u>(params.vector_target, number);
      memory.template store_global<kMaxVectorBytes>(device::kOutput, element << shape.width_bits, group[q]);
    }
  }
}

}  // namespace faro::kernels
