// Affine maps of elements of 1, 2 or 4 bits: an affine map of words, with an exchange inside words before the
// words leave shared memory.
//
//     load_tile            vectors of words into shared memory           (affine_tile.hpp)
//     exchange_words       each thread 2^q words, in registers, written back to where they were
//     store_tile           vectors of words, gathered from there         (affine_tile.hpp)
//
// A word holds 2^q elements: q = 5, 4, 3 of bits, pairs and nibbles. The words of Y = Q + A^-1 Q, Q the
// directions inside a word, become words of Q + A Q; a thread owns a coset of a space Y of 2 q bits that has
// these directions, 2^q words. Inside it the map M takes (b, i), place b of word i, to (c, j). Words i and j
// may be numbered by any basis, which only changes addresses, so that three steps and what M says of them
// are enough (make_packed_affine_params() chooses them):
//
//     b += P i     places change inside words, which words is in P          only where c does not tell i
//     i += F b     bits of two words change places where a mask says so
//     b <-> i      the square is transposed
//     i += G b     as before; now word i has what belongs to word j = i
//
//     q = 1        b=0 b=1         transposed
//     word 0        a   b              a   c
//     word 1        c   d              b   d
//
// Masks are data, so no code depends on the map; steps whose masks are zero are left out by all threads.
//
//     lane-instructions a word of bits: 8 transpose it, a step of F or G 1 for each bit of i it adds to, one of
//     P 1 or 4 for each bit of b.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::kernels {

inline constexpr int kMostWordIndexBits = 5;
inline constexpr int kWordBytesBits = 2;

/// What happens to the 2^q words of a thread.
struct WordExchange {
  std::uint32_t turned[kMostWordIndexBits];  // bit i of [a]: whether word i changes places with bit a in it
  std::uint32_t before[kMostWordIndexBits];  // [t]: bits that words i and i + 2^t exchange, at first
  std::uint32_t after[kMostWordIndexBits];   // the same when the square is transposed
};

/// The compile-time shape, all log2.
struct PackedAffineShape {
  int word_index_bits = 5;  // q
  AffineTileShape words = {};

  constexpr int group_bits() const { return words.tile_bits() - word_index_bits; }

  friend constexpr bool operator==(const PackedAffineShape&, const PackedAffineShape&) = default;
};

constexpr bool is_valid(const PackedAffineShape& shape) {
  return is_valid(shape.words) && shape.words.width_bits == kWordBytesBits && shape.group_bits() >= 0 &&
         shape.word_index_bits >= 0 && shape.word_index_bits <= kMostWordIndexBits;
}

/// Groups of 2^q words are numbered by (iteration, thread).
struct PackedAffineParams {
  AffineTileParams tile;  // of words
  WordExchange exchange;
  std::uint32_t group_word[kMaxTileBits];          // shared address of bit k of a group's number, in words
  std::uint32_t word_address[kMostWordIndexBits];  // of bit t of a word's number, in words
  std::uint8_t group_place[kMaxTileBits];  // what bit k of a group's number adds to places in its words
  std::uint8_t
      stored_word[kMostWordIndexBits];  // what bit a of that adds to the number of a word that is stored
  std::uint8_t block_place[kBlockDigits][kBlockDigitValues];  // what the block's number adds, by its digits
  std::uint32_t complement_place;                             // and all of them
};
static_assert(sizeof(PackedAffineParams) <= 4096, "kernel parameters are at most 4 KiB");

namespace detail {

// Bits of a word whose number has bit p clear.
constexpr std::uint32_t bits_without(int p) {
  constexpr std::uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  return masks[p];
}

template <int p>
constexpr std::uint32_t swapped_halves(std::uint32_t word) {
  if constexpr (p == 4) return device::select_bytes(word, word, 0x1032);
  if constexpr (p == 3) return device::select_bytes(word, word, 0x2301);
  constexpr std::uint32_t mask = bits_without(p);
  return (word >> (1 << p) & mask) | (word & mask) << (1 << p);
}

// Bit p of places in two words changes places with the number of the word.
template <int p>
constexpr void transpose_pair(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t a = low;
  const std::uint32_t b = high;
  if constexpr (p == 4) {
    low = device::select_bytes(a, b, 0x5410);
    high = device::select_bytes(a, b, 0x7632);
  } else if constexpr (p == 3) {
    low = device::select_bytes(a, b, 0x6240);
    high = device::select_bytes(a, b, 0x7351);
  } else {
    constexpr std::uint32_t mask = bits_without(p);
    low = (a & mask) | (b << (1 << p) & ~mask);
    high = (a >> (1 << p) & mask) | (b & ~mask);
  }
}

constexpr void exchange_masked(std::uint32_t& low, std::uint32_t& high, std::uint32_t mask) {
  const std::uint32_t a = low;
  low = (a & ~mask) | (high & mask);
  high = (high & ~mask) | (a & mask);
}

// Applies `step` to pairs of words whose numbers differ in bit t.
template <int q, typename Step>
constexpr void each_pair(std::uint32_t (&words)[1 << q], int t, const Step& step) {
  FARO_UNROLL
  for (int i = 0; i < 1 << q; ++i) {
    if ((i >> t & 1) == 0) step(words[i], words[i | 1 << t]);
  }
}

template <int q, int t = 0>
constexpr void transpose_words(std::uint32_t (&words)[1 << q]) {
  if constexpr (t < q) {
    each_pair<q>(words, t, [](std::uint32_t& low, std::uint32_t& high) {
      transpose_pair<t + kMostWordIndexBits - q>(low, high);
    });
    transpose_words<q, t + 1>(words);
  }
}

// `place`: what is added to places in the words as they will be, which is by how much the words' numbers are
// shifted here.
template <int q, int a = 0>
constexpr void turn_words(std::uint32_t (&words)[1 << q], const WordExchange& exchange, std::uint32_t place) {
  if constexpr (a < q) {
    const std::uint32_t asked = exchange.turned[a];
    if (asked != 0) {
      const std::uint32_t all = 0U - (asked >> place & 1);
      FARO_UNROLL
      for (int i = 0; i < 1 << q; ++i) {
        const std::uint32_t other = swapped_halves<a + kMostWordIndexBits - q>(words[i]);
        words[i] = ((asked ^ all) >> i & 1) != 0 ? other : words[i];
      }
    }
    turn_words<q, a + 1>(words, exchange, place);
  }
}

template <int q>
constexpr void shear_words(std::uint32_t (&words)[1 << q], const std::uint32_t (&masks)[kMostWordIndexBits]) {
  FARO_UNROLL
  for (int t = 0; t < q; ++t) {
    const std::uint32_t mask = masks[t];
    if (mask == 0) continue;
    each_pair<q>(words, t,
                 [&](std::uint32_t& low, std::uint32_t& high) { exchange_masked(low, high, mask); });
  }
}

}  // namespace detail

/// The three steps. Word i holds what is numbered i ^ place.
template <int q>
constexpr void exchange_in_registers(std::uint32_t (&words)[1 << q], const WordExchange& exchange,
                                     std::uint32_t place) {
  detail::turn_words<q>(words, exchange, place);
  detail::shear_words<q>(words, exchange.before);
  detail::transpose_words<q>(words);
  detail::shear_words<q>(words, exchange.after);
}

/// What a block adds to places in words.
constexpr std::uint32_t block_place(const PackedAffineParams& params, std::uint64_t block) {
  std::uint64_t number = block ^ block >> params.tile.block_bits << params.tile.block_bits;
  std::uint32_t place = params.complement_place;
  FARO_UNROLL
  for (int d = 0; d < kBlockDigits; ++d) {
    if (d * kBlockDigitBits >= params.tile.block_bits) break;
    place ^= params.block_place[d][number >> d * kBlockDigitBits & (kBlockDigitValues - 1)];
  }
  return place;
}

/// Phase 2, between load_tile and store_tile of params.tile. Requirements as for these.
template <PackedAffineShape shape, device::Memory Memory>
constexpr void exchange_words(Memory& memory, const PackedAffineParams& params, std::uint64_t block,
                              std::uint32_t thread) {
  static_assert(is_valid(shape));
  constexpr int q = shape.word_index_bits;
  constexpr int groups = 1 << shape.group_bits();
  constexpr int threads = shape.words.threads();
  if (groups < threads && thread >= static_cast<std::uint32_t>(groups)) return;
  const std::uint32_t of_block = block_place(params, block);
  FARO_UNROLL
  for (int i = 0; i < (groups < threads ? 1 : groups / threads); ++i) {
    const std::uint32_t group = static_cast<std::uint32_t>(i) << shape.words.thread_bits | thread;
    const std::uint32_t first = select_xor<shape.group_bits()>(params.group_word, group);
    const std::uint32_t place = of_block ^ select_xor<shape.group_bits()>(params.group_place, group);
    const std::uint32_t from = first ^ select_xor<q>(params.word_address, place);
    const std::uint32_t to =
        first ^ select_xor<q>(params.word_address, select_xor<q, std::uint8_t>(params.stored_word, place));
    std::uint32_t words[1 << q];
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) {
      const std::uint32_t address = from ^ select_xor<q>(params.word_address, static_cast<std::uint32_t>(w));
      words[w] = memory.template load_shared<4>(address << kWordBytesBits).unit[0];
    }
    exchange_in_registers<q>(words, params.exchange, place);
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) {
      const std::uint32_t address = to ^ select_xor<q>(params.word_address, static_cast<std::uint32_t>(w));
      memory.template store_shared<4>(address << kWordBytesBits, device::Packet<4>{{words[w]}});
    }
  }
}

// The kernels that are compiled, of 1, 2 and 4 bits: large tiles, whose segments are of 64 to 128 bytes, and
// small ones for small arrays.
struct CompiledPackedTile {
  PackedAffineShape shape;
  int min_blocks = 1;  // a multiprocessor
};

inline constexpr CompiledPackedTile kPackedTiles[] = {
    {{5, {2, 4, 10, 2, 9}}, 2},  // 64 KiB
    {{4, {2, 5, 9, 2, 9}}, 2},   // 64 KiB
    {{3, {2, 5, 8, 2, 8}}, 4},   // 32 KiB
    {{5, {2, 2, 7, 2, 7}}, 4},   // 2 KiB
    {{4, {2, 2, 6, 2, 6}}, 8},   // 1 KiB
    {{3, {2, 2, 5, 2, 5}}, 16},  // 512 bytes
};
inline constexpr auto kPackedTileCount = sizeof(kPackedTiles) / sizeof(kPackedTiles[0]);

/// The three phases as a kernel that is a value.
template <int index>
struct MovePackedTiles {
  static constexpr CompiledPackedTile kTile = kPackedTiles[index];
  static constexpr PackedAffineShape kShape = kTile.shape;
  static constexpr std::uint32_t kThreads = static_cast<std::uint32_t>(kShape.words.threads());
  static constexpr int kMinBlocks = kTile.min_blocks;

  PackedAffineParams params;
  const std::byte* in = nullptr;  // both aligned to vectors
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return params.tile.blocks(); }
  constexpr std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(kShape.words.tile_bytes());
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if constexpr (requires { block.is_streaming(); }) {
      block.streamed(in, out, [&](auto& memory) { move(block, memory); });
    } else {
      device::DirectMemory memory{in, out, block.shared()};
      move(block, memory);
    }
  }

 private:
  template <typename Block, typename Memory>
  constexpr void move(Block& block, Memory& memory) const {
    load_tile<kShape.words>(memory, params.tile, block.index(), block.thread());
    block.barrier();
    exchange_words<kShape>(memory, params, block.index(), block.thread());
    block.barrier();
    store_tile<kShape.words>(memory, params.tile, block.index(), block.thread());
  }
};
static_assert(sizeof(MovePackedTiles<0>) <= 4096, "kernel parameters are at most 4 KiB");

/// log2 of the elements of a tile.
constexpr int element_tile_bits(const PackedAffineShape& shape) {
  return shape.words.tile_bits() + shape.word_index_bits;
}

}  // namespace faro::kernels
