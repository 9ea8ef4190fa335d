// Affine maps of elements of 1, 2 or 4 bits: an affine map of words, with an exchange inside words before the
// words leave shared memory.
//
//     load_squares         vectors of words, exchanged in registers, into shared memory
//     store_words          vectors of words, gathered from there
//
// where a thread may load all that it exchanges without parting sectors, which is nearly always, or
//
//     load_words           vectors of words, scattered into shared memory
//     store_squares        words from there, exchanged in registers, in vectors
//
// where it may so store it: what the first two make of the inverse, backwards; else
//
//     load_tile            vectors of words into shared memory           (affine_tile.hpp)
//     exchange_words       each thread 2^q words, in registers, written back to where they were
//     store_tile           vectors of words, gathered from there         (affine_tile.hpp)
//
// A word holds 2^q elements: q = 5, 4, 3 of bits, pairs and nibbles. The words of Y = Q + A^-1 Q, Q the
// directions inside a word, become words of Q + A Q; a thread owns a coset of a space Y of 2 q bits that has
// these directions, 2^q words, and exchanges bits of these (packed_exchange.hpp).
//
// Instructions bound these kernels, not bytes: at the rate of a copy an H200 has some 60 for a word.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/packed_exchange.hpp"

namespace faro::kernels {

inline constexpr int kWordBytesBits = 2;
inline constexpr int kMostVectorWordBits = 2;

/// Where a thread exchanges words in registers: between two trips through shared memory, or on the one way
/// there or from there.
enum class PackedSquares { apart, loaded, stored };

/// The compile-time shape, all log2.
struct PackedAffineShape {
  int word_index_bits = 5;  // q
  AffineTileShape words = {};
  PackedSquares squares = PackedSquares::apart;

  constexpr int group_bits() const { return words.tile_bits() - word_index_bits; }
  constexpr bool has_squares() const { return squares != PackedSquares::apart; }
  /// Of the side where nothing is exchanged: whole vectors, whatever the other takes at a time.
  constexpr AffineTileShape other() const {
    AffineTileShape shape = words;
    if (has_squares()) shape.vector_bits = kMostVectorWordBits;
    return shape;
  }

  friend constexpr bool operator==(const PackedAffineShape&, const PackedAffineShape&) = default;
};

constexpr bool is_valid(const PackedAffineShape& shape) {
  return is_valid(shape.words) && shape.words.width_bits == kWordBytesBits && shape.group_bits() >= 0 &&
         shape.word_index_bits >= 0 && shape.word_index_bits <= kMostWordIndexBits &&
         (!shape.has_squares() || shape.words.iterations() == 1 << shape.word_index_bits);
}

/// Groups of 2^q words are numbered by (iteration, thread); by squares by (thread, component), where all
/// addresses and what leads from row to row is in bytes, and group_word takes in what the group's places add
/// to the words' numbers.
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
  // Of squares, and of the inverse where they are stored: where in the input bit k of a group's number and
  // bit t of a word's lead, in bytes, but for the components of vectors; those of the words; what bit a of a
  // block's places adds to addresses; whether words are renumbered at all.
  std::uint64_t group_source[kMaxThreadBits + kMostVectorWordBits];
  std::uint64_t word_source[kMostWordIndexBits];
  std::uint8_t word_component[kMostWordIndexBits];
  std::uint32_t place_address[kMostWordIndexBits];
  std::uint32_t is_renumbered;
  SquareSteps steps;  // of squares: those that have to be done
};
static_assert(sizeof(PackedAffineParams) <= 4096, "kernel parameters are at most 4 KiB");

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
    exchange_square<SquareSteps::asked, q>(words, params.exchange, false, place);
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) {
      const std::uint32_t address = to ^ select_xor<q>(params.word_address, static_cast<std::uint32_t>(w));
      memory.template store_shared<4>(address << kWordBytesBits, device::Packet<4>{{words[w]}});
    }
  }
}

namespace detail {

// Words of a square that are other components of their vectors; and back.
template <PackedAffineShape shape, typename Vector>
constexpr void exchange_components(Vector (&vectors)[1 << shape.word_index_bits],
                                   const PackedAffineParams& params) {
  if (params.is_renumbered == 0) return;
  FARO_UNROLL
  for (int w = 0; w < 1 << shape.word_index_bits; ++w) {
    device::exchange_units<0>(vectors[w], select_xor<shape.word_index_bits, std::uint8_t>(
                                              params.word_component, static_cast<std::uint32_t>(w)));
  }
}

// Calls f(component, place, address) of a thread's squares: what is added to the numbers of words, and where
// word 0 is in shared memory.
template <PackedAffineShape shape, typename F>
constexpr void each_square(const PackedAffineParams& params, std::uint64_t block, std::uint32_t thread,
                           const F& f) {
  constexpr int v = shape.words.vector_bits;
  const std::uint32_t of_block = block_place(params, block);
  const std::uint32_t place = of_block ^ select_xor<shape.words.thread_bits>(params.group_place + v, thread);
  const std::uint32_t address = select_xor<shape.words.thread_bits>(params.group_word + v, thread) ^
                                select_xor<shape.word_index_bits>(params.place_address, of_block);
  FARO_UNROLL
  for (int k = 0; k < shape.words.components(); ++k) {
    const auto component = static_cast<std::uint32_t>(k);
    f(k, place ^ select_xor<v>(params.group_place, component),
      address ^ select_xor<v>(params.group_word, component));
  }
}

}  // namespace detail

/// Word w of a thread's groups lies source(w) into the input, in bytes; each square is exchanged before it
/// goes to shared memory. Requires: as load_tile; params.steps or more (unchecked).
template <PackedAffineShape shape, SquareSteps steps, device::Memory Memory, typename Source>
constexpr void load_squares(Memory& memory, const PackedAffineParams& params, std::uint64_t block,
                            std::uint32_t thread, const Source& source) {
  constexpr int q = shape.word_index_bits;
  device::Packet<shape.words.vector_bytes()> vectors[1 << q];
  FARO_UNROLL
  for (int w = 0; w < 1 << q; ++w) {
    vectors[w] = memory.template load_global<shape.words.vector_bytes()>(
        device::kInput, source(static_cast<std::uint32_t>(w)));
  }
  if constexpr (steps != SquareSteps::transpose) detail::exchange_components<shape>(vectors, params);
  detail::each_square<shape>(params, block, thread, [&](int k, std::uint32_t place, std::uint32_t address) {
    std::uint32_t words[1 << q];
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) words[w] = vectors[w].unit[k];
    exchange_square<steps, q>(words, params.exchange, params.is_renumbered != 0, place);
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) {
      memory.template store_shared<4>(
          address ^ select_xor<q>(params.word_address, static_cast<std::uint32_t>(w)),
          device::Packet<4>{{words[w]}});
    }
  });
}

/// The same backwards: word w goes target(w) into the output.
template <PackedAffineShape shape, SquareSteps steps, device::Memory Memory, typename Target>
constexpr void store_squares(Memory& memory, const PackedAffineParams& params, std::uint64_t block,
                             std::uint32_t thread, const Target& target) {
  constexpr int q = shape.word_index_bits;
  device::Packet<shape.words.vector_bytes()> vectors[1 << q];
  detail::each_square<shape>(params, block, thread, [&](int k, std::uint32_t place, std::uint32_t address) {
    std::uint32_t words[1 << q];
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) {
      words[w] = memory
                     .template load_shared<4>(
                         address ^ select_xor<q>(params.word_address, static_cast<std::uint32_t>(w)))
                     .unit[0];
    }
    exchange_square_back<steps, q>(words, params.exchange, params.is_renumbered != 0, place);
    FARO_UNROLL
    for (int w = 0; w < 1 << q; ++w) vectors[w].unit[k] = words[w];
  });
  if constexpr (steps != SquareSteps::transpose) detail::exchange_components<shape>(vectors, params);
  FARO_UNROLL
  for (int w = 0; w < 1 << q; ++w) {
    memory.template store_global<shape.words.vector_bytes()>(
        device::kOutput, target(static_cast<std::uint32_t>(w)), vectors[w]);
  }
}

namespace detail {

// Calls f(later, addresses) of a thread's vectors on the side where nothing is exchanged: vector `later`
// after its first one has component k at addresses[k] of shared memory.
template <PackedAffineShape shape, typename F>
constexpr void each_vector_of_words(const AffineTileParams& tile, std::uint32_t thread,
                                    std::uint32_t column_shift, const F& f) {
  constexpr AffineTileShape words = shape.other();
  const std::uint32_t address = read_address<words>(tile, thread << words.vector_bits ^ column_shift);
  std::uint32_t of_component[words.components()];
  FARO_UNROLL
  for (int k = 0; k < words.components(); ++k)
    of_component[k] = address ^ read_address<words>(tile, static_cast<std::uint32_t>(k));
  FARO_UNROLL
  for (int i = 0; i < words.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << words.thread_bits;
    const std::uint32_t of_vector = read_address<words>(tile, later << words.vector_bits);
    std::uint32_t addresses[words.components()];
    FARO_UNROLL
    for (int k = 0; k < words.components(); ++k) addresses[k] = of_component[k] ^ of_vector;
    f(i, later, addresses);
  }
}

}  // namespace detail

/// Vector `later`, after its first one, of a thread goes target(later) into the output, in bytes.
template <PackedAffineShape shape, device::Memory Memory, typename Target>
constexpr void store_words(Memory& memory, const AffineTileParams& tile, std::uint32_t thread,
                           std::uint32_t column_shift, const Target& target) {
  constexpr AffineTileShape words = shape.other();
  detail::each_vector_of_words<shape>(
      tile, thread, column_shift, [&](int, std::uint32_t later, const auto& addresses) {
        device::Packet<words.vector_bytes()> vector{};
        FARO_UNROLL
        for (int k = 0; k < words.components(); ++k)
          vector.unit[k] = memory.template load_shared<4>(addresses[k]).unit[0];
        memory.template store_global<words.vector_bytes()>(device::kOutput, target(later), vector);
      });
}

/// The same backwards: vector `later` is source(later) into the input.
template <PackedAffineShape shape, device::Memory Memory, typename Source>
constexpr void load_words(Memory& memory, const AffineTileParams& tile, std::uint32_t thread,
                          std::uint32_t column_shift, const Source& source) {
  constexpr AffineTileShape words = shape.other();
  device::Packet<words.vector_bytes()> vectors[words.iterations()];
  FARO_UNROLL
  for (int i = 0; i < words.iterations(); ++i) {
    vectors[i] = memory.template load_global<words.vector_bytes()>(
        device::kInput, source(static_cast<std::uint32_t>(i) << words.thread_bits));
  }
  detail::each_vector_of_words<shape>(
      tile, thread, column_shift, [&](int i, std::uint32_t, const auto& addresses) {
        FARO_UNROLL
        for (int k = 0; k < words.components(); ++k)
          memory.template store_shared<4>(addresses[k], device::Packet<4>{{vectors[i].unit[k]}});
      });
}

/// Where the words of a thread's squares lie, for arrays whose places are XORed: a function of w, in bytes.
template <PackedAffineShape shape>
constexpr auto affine_squares(const PackedAffineParams& params, std::uint64_t block, std::uint32_t thread) {
  constexpr int v = shape.words.vector_bits;
  const std::uint64_t first = block_source(params.tile, block) << kWordBytesBits ^
                              select_xor<shape.words.thread_bits>(params.group_source + v, thread);
  return [&params, first](std::uint32_t w) {
    return first ^ select_xor<shape.word_index_bits>(params.word_source, w);
  };
}

/// And its vectors on the other side: a function of `later`, in bytes.
template <PackedAffineShape shape>
constexpr auto affine_words(const PackedAffineParams& params, std::uint64_t block, std::uint32_t thread) {
  const auto offset = [&params](std::uint32_t vector) {
    constexpr AffineTileShape words = shape.other();
    constexpr int in_row = words.segment_bits - words.vector_bits;
    return select_xor<words.row_bits>(params.tile.target_row, vector >> in_row) ^
           std::uint64_t{low_bits(vector, in_row)} << (words.vector_bits + kWordBytesBits);
  };
  const std::uint64_t tile = block_target(params.tile, block) >> shape.words.segment_bits
                                                                     << shape.words.segment_bits;
  const std::uint64_t first = tile << kWordBytesBits ^ offset(thread);
  return [offset, first](std::uint32_t later) { return first ^ offset(later); };
}

/// What a block adds to columns there.
template <PackedAffineShape shape>
constexpr std::uint32_t column_shift_of(const PackedAffineParams& params, std::uint64_t block) {
  return low_bits(static_cast<std::uint32_t>(block_target(params.tile, block)), shape.words.segment_bits);
}

/// Both phases, with a barrier between them.
template <PackedAffineShape shape, SquareSteps steps, device::Memory Memory>
constexpr void first_of_squares(Memory& memory, const PackedAffineParams& params, std::uint64_t block,
                                std::uint32_t thread) {
  if constexpr (shape.squares == PackedSquares::loaded) {
    load_squares<shape, steps>(memory, params, block, thread, affine_squares<shape>(params, block, thread));
  } else {
    load_words<shape>(memory, params.tile, thread, column_shift_of<shape>(params, block),
                      affine_words<shape>(params, block, thread));
  }
}
template <PackedAffineShape shape, SquareSteps steps, device::Memory Memory>
constexpr void second_of_squares(Memory& memory, const PackedAffineParams& params, std::uint64_t block,
                                 std::uint32_t thread) {
  if constexpr (shape.squares == PackedSquares::loaded) {
    store_words<shape>(memory, params.tile, thread, column_shift_of<shape>(params, block),
                       affine_words<shape>(params, block, thread));
  } else {
    store_squares<shape, steps>(memory, params, block, thread, affine_squares<shape>(params, block, thread));
  }
}

// The kernels that are compiled, of 1, 2 and 4 bits: large tiles, whose segments are of 64 to 128 bytes, by
// squares and for maps that have none, and small ones for small arrays.
struct CompiledPackedTile {
  PackedAffineShape shape;
  int min_blocks = 1;           // a multiprocessor
  int all_blocks = min_blocks;  // where squares take all steps, which wait for one another
};

inline constexpr CompiledPackedTile kPackedTiles[] = {
    {{5, {2, 4, 10, 1, 8}, PackedSquares::loaded}, 2, 3},  // 64 KiB
    {{4, {2, 5, 9, 2, 8}, PackedSquares::loaded}, 2, 3},   // 64 KiB
    {{3, {2, 5, 8, 2, 8}, PackedSquares::loaded}, 4},      // 32 KiB
    {{5, {2, 4, 10, 1, 8}, PackedSquares::stored}, 2, 3},  // 64 KiB
    {{4, {2, 5, 9, 2, 8}, PackedSquares::stored}, 2, 3},   // 64 KiB
    {{3, {2, 5, 8, 2, 8}, PackedSquares::stored}, 4},      // 32 KiB
    {{5, {2, 4, 10, 2, 9}}, 2},                            // 64 KiB
    {{4, {2, 5, 9, 2, 9}}, 2},                             // 64 KiB
    {{3, {2, 5, 8, 2, 8}}, 4},                             // 32 KiB
    {{5, {2, 2, 7, 2, 7}}, 4},                             // 2 KiB
    {{4, {2, 2, 6, 2, 6}}, 8},                             // 1 KiB
    {{3, {2, 2, 5, 2, 5}}, 16},                            // 512 bytes
};
inline constexpr auto kPackedTileCount = sizeof(kPackedTiles) / sizeof(kPackedTiles[0]);
inline constexpr std::size_t kLargePackedTiles = 9;  // the first ones
inline constexpr std::size_t kSmallPackedTiles = kPackedTileCount - kLargePackedTiles;

/// The phases as a kernel that is a value.
template <std::size_t index, SquareSteps steps = SquareSteps::asked>
struct MovePackedTiles {
  static constexpr CompiledPackedTile kTile = kPackedTiles[index];
  static constexpr PackedAffineShape kShape = kTile.shape;
  static constexpr std::uint32_t kThreads = static_cast<std::uint32_t>(kShape.words.threads());
  static constexpr int kMinBlocks = steps == SquareSteps::all ? kTile.all_blocks : kTile.min_blocks;

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
    if constexpr (kShape.has_squares()) {
      first_of_squares<kShape, steps>(memory, params, block.index(), block.thread());
      block.barrier();
      second_of_squares<kShape, steps>(memory, params, block.index(), block.thread());
    } else {
      load_tile<kShape.words>(memory, params.tile, block.index(), block.thread());
      block.barrier();
      exchange_words<kShape>(memory, params, block.index(), block.thread());
      block.barrier();
      store_tile<kShape.words>(memory, params.tile, block.index(), block.thread());
    }
  }
};
static_assert(sizeof(MovePackedTiles<0>) <= 4096, "kernel parameters are at most 4 KiB");

/// log2 of the elements of a tile.
constexpr int element_tile_bits(const PackedAffineShape& shape) {
  return shape.words.tile_bits() + shape.word_index_bits;
}

}  // namespace faro::kernels
