// Rolls and flips in place: what change places is read by one block before it writes any of it.
//
// A piece of an axis that is reversed is pairs of chunks, a pair a block. Nothing else is moved, so
// no block waits for another, and nothing is borrowed:
//
//     piece      a b c d e f g h i        i is the middle of an odd one, and stays
//     block 0    a b ........ h i   -->   i h ........ b a
//     block 1    . . c d f g . .    -->   . . g f d c . .
//
// x -> s - x modulo n turns two pieces, 0 .. s and s + 1 .. n - 1. A roll is two such maps, one after the
// other (plan/cpu/reversal_solver.hpp has the equations). Arrays that fit a block's shared memory are moved
// whole, some at a time: then a roll is one pass, too.
//
// An element is one unit, reversed within vectors; or several, which keep their order; one that is longer
// than a chunk is several chunks. What is written is put together as out of place (moved_vector.hpp), but
// from shared memory. Places are in bytes, counted from an address that is aligned to 16.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/held_bytes.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kInPlaceThreads = 256;

/// What becomes of an element's bytes.
enum class MovedElements {
  in_order,  // they follow those of the element before: a roll
  units,     // elements are units, in the opposite order
  several,   // elements of several units, in the opposite order
};

// --- pairs of chunks

struct ReversalParams {
  struct Piece {
    std::uint64_t first = 0;  // element
    std::uint64_t count = 0;
    std::uint64_t chunks = 0;

    constexpr std::uint64_t pairs() const { return count / 2; }
  };
  std::uint64_t begin = 0;  // of the first array, below 16: set by the engine
  std::uint64_t array_bytes = 0;
  Piece piece[2];
  device::Division64 chunks;         // of an array, both pieces
  device::Division64 element_bytes;  // of an element
  device::Division64 parts;          // of an element that is longer than a chunk, else 1
  std::uint64_t part_bytes = 0;      // of such a part
  std::uint64_t elements = 1;        // of a chunk
  std::uint32_t chunk_bytes = 0;     // of shared memory
  std::uint64_t first_block = 0;

  constexpr std::uint64_t shared_bytes() const { return 2 * std::uint64_t{chunk_bytes}; }
};

/// The two chunks of a block. Element e of each goes to where the other's element last - e is.
struct ChunkPair {
  HeldBytes chunk[2];
  std::uint64_t last = 0;     // element
  std::uint64_t element = 0;  // bytes, of which there are: fewer of the last part of a long one
};

/// Requires: block below the blocks of all arrays, counted from first_block.
constexpr ChunkPair chunk_pair(const ReversalParams& p, std::uint64_t block) {
  std::uint64_t number = p.first_block + block;
  const std::uint64_t array = p.chunks.divide(number);
  const bool second = number >= p.piece[0].chunks;
  if (second) number -= p.piece[0].chunks;
  const ReversalParams::Piece& piece = p.piece[second ? 1 : 0];
  std::uint64_t part = number;
  const std::uint64_t chunk = p.parts.divide(part);
  const std::uint64_t skipped = chunk * p.elements;
  const std::uint64_t left = piece.pairs() - skipped;
  const std::uint64_t elements = left < p.elements ? left : p.elements;
  const std::uint64_t width = p.element_bytes.divisor();
  const std::uint64_t offset = part * p.part_bytes;
  const bool parted = p.parts.divisor() > 1;
  const std::uint64_t rest = width - offset;
  const std::uint64_t of_element = !parted ? width : rest < p.part_bytes ? rest : p.part_bytes;
  const std::uint64_t bytes = elements * of_element;
  const std::uint64_t base = p.begin + array * p.array_bytes + offset;
  const std::uint64_t low = base + (piece.first + skipped) * width;
  const std::uint64_t high = base + (piece.first + piece.count - skipped - elements) * width;
  ChunkPair pair{.chunk = {}, .last = elements - 1, .element = of_element};
  pair.chunk[0] = {.begin = low, .end = low + bytes, .place = 0};
  pair.chunk[1] = {.begin = high, .end = high + bytes, .place = p.chunk_bytes};
  return pair;
}

/// Phase 1: a pair of chunks to shared memory. Requires: thread < kInPlaceThreads; kInput and kOutput are one
/// array.
template <int unit_bytes, device::Memory Memory>
constexpr void load_exchange(Memory& memory, const ReversalParams& p, std::uint64_t block,
                             std::uint32_t thread) {
  const ChunkPair pair = chunk_pair(p, block);
  hold<unit_bytes>(memory, pair.chunk[0], thread, kInPlaceThreads);
  hold<unit_bytes>(memory, pair.chunk[1], thread, kInPlaceThreads);
}

/// Phase 2: each to where the other was.
template <int unit_bytes, MovedElements as, device::Memory Memory>
constexpr void store_exchange(Memory& memory, const ReversalParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  static_assert(as != MovedElements::in_order);
  const ChunkPair pair = chunk_pair(p, block);
  HeldBytes to = pair.chunk[1];
  HeldBytes from = pair.chunk[0];
  FARO_NO_UNROLL
  for (int side = 0; side < 2; ++side) {
    const HeldBytes other = to;  // values that change places: arrays that are indexed would be memory
    to = from;
    from = other;
    HeldMemory<Memory> held{&memory, from};
    const auto piece_of = [&](std::uint64_t y) -> MovedPiece {
      const std::uint64_t x = y - to.begin;
      if constexpr (as == MovedElements::units) {
        const std::uint64_t at = pair.last * unit_bytes - x;
        return {.at = from.begin + at, .bytes = at + unit_bytes};
      } else {
        const std::uint64_t element = pair.last == 0 ? 0 : p.element_bytes.quotient(x);
        const std::uint64_t within = x - element * pair.element;
        return {.at = from.begin + (pair.last - element) * pair.element + within,
                .bytes = pair.element - within};
      }
    };
    const ArrayBytes in{.begin = from.begin, .end = from.end};
    const ArrayBytes out{.begin = to.begin, .end = to.end};
    const std::uint32_t vectors = to.vectors();
    FARO_NO_UNROLL
    for (std::uint32_t first = 0; first < vectors; first += kInPlaceThreads) {
      move_output_vector<unit_bytes, as == MovedElements::units>(
          held, in, out, to.first_vector() + std::uint64_t{first + thread} * kMovedBytes, piece_of);
    }
  }
}

// --- whole arrays

/// Arrays of at most some ten thousand bytes, `arrays` of them a block.
struct CyclicWholeParams {
  std::uint64_t begin = 0;  // of the first array, below 16: set by the engine
  std::uint64_t bytes = 0;  // of all arrays
  device::Division64 array_bytes;
  std::uint64_t shift_bytes = 0;
  device::Division64 element_bytes;
  std::uint64_t arrays = 1;  // a block
  std::uint64_t first_block = 0;

  constexpr std::uint64_t block_bytes() const { return arrays * array_bytes.divisor(); }
  /// With what a first and a last vector have more.
  constexpr std::uint64_t shared_bytes() const {
    return (block_bytes() + (2 * kMovedBytes - 1)) / kMovedBytes * kMovedBytes;
  }
  constexpr HeldBytes of_block(std::uint64_t block) const {
    const std::uint64_t from = (first_block + block) * block_bytes();
    const std::uint64_t left = bytes - from;
    const std::uint64_t held = left < block_bytes() ? left : block_bytes();
    return {.begin = begin + from, .end = begin + from + held, .place = 0};
  }
};

/// Phase 1. Requirements as for pairs of chunks.
template <int unit_bytes, device::Memory Memory>
constexpr void load_exchange(Memory& memory, const CyclicWholeParams& p, std::uint64_t block,
                             std::uint32_t thread) {
  hold<unit_bytes>(memory, p.of_block(block), thread, kInPlaceThreads);
}

/// Phase 2.
template <int unit_bytes, MovedElements as, device::Memory Memory>
constexpr void store_exchange(Memory& memory, const CyclicWholeParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  const HeldBytes held = p.of_block(block);
  HeldMemory<Memory> from{&memory, held};
  const std::uint64_t count = p.array_bytes.divisor();
  const auto piece_of = [&](std::uint64_t y) -> MovedPiece {
    std::uint64_t x = y - held.begin;
    const std::uint64_t array = held.begin + p.array_bytes.divide(x) * count;
    if constexpr (as == MovedElements::in_order) {
      if (x < p.shift_bytes) return {.at = array + x + (count - p.shift_bytes), .bytes = p.shift_bytes - x};
      return {.at = array + x - p.shift_bytes, .bytes = count - x};
    } else {
      std::uint64_t within = x;
      if constexpr (as == MovedElements::several) p.element_bytes.divide(within);
      if constexpr (as == MovedElements::units) within = 0;
      x -= within;
      const bool low = x <= p.shift_bytes;
      const std::uint64_t at = (low ? p.shift_bytes : p.shift_bytes + count) - x;
      if constexpr (as == MovedElements::several) {
        return {.at = array + at + within, .bytes = p.element_bytes.divisor() - within};
      }
      return {.at = array + at, .bytes = low ? at + unit_bytes : count - x};
    }
  };
  const ArrayBytes all{.begin = held.begin, .end = held.end};
  const std::uint32_t vectors = held.vectors();
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < vectors; first += kInPlaceThreads) {
    move_output_vector<unit_bytes, as == MovedElements::units>(
        from, all, all, held.first_vector() + std::uint64_t{first + thread} * kMovedBytes, piece_of);
  }
}

}  // namespace faro::kernels
