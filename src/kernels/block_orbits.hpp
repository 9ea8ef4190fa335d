// Finds the tiles that a block owns in place, an orbit of block numbers, from the number of a launched block.
//
// A pass in place carries tile b to where tile next(b) was read, next(b) = N b ^ d (layout/tile.hpp). One
// launched block owns the whole orbit b, next(b), next(next(b)), ..., and no other block accesses it. Nearly
// every map that is worth a pass has orbits of one or two, N N = I and N d = d. Such a map has a basis of
// block numbers in which it is one shift and one XOR:
//
//     block      [ p or nothing | u | x: w bits | v: w bits ]       k bits
//     next       [ p ^ 1        | u | x ^ v     | v         ]
//
//     v    directions that N moves, and by how much: w = rank(N + I)
//     x    the images (N + I) v
//     u    what else stays
//     p    there only if d is in no way (N + I) b: then no block stays. Else the origin is such a b, and
//          d = 0
//
// So one of each pair can be *numbered*, and every launched block has work: with p, those of p = 0. Without
// it, those whose x has a zero at the highest one of v; and the blocks with v = 0, which stay:
//
//     number     t < 2^(k-1)      v = low w bits of t, the rest is (u, x) without the bit that is zero
//                t >= 2^(k-1)     v = 0 and that bit is one
//
// Consecutive numbers differ in v first, whose directions are the lowest that move. Example, w = 1, k = 2:
// next(x v) = (x ^ v) v. Blocks 00 and 10 stay, 01 and 11 change places: numbers 0, 1, 2 are 00, 01 (with
// 11) and 10.
//
// Longer orbits are followed, and every block but the least of its orbit returns at once.
#pragma once

#include <cstdint>

#include "faro/kernels/affine_tile_index.hpp"

namespace faro::kernels {

enum class OrbitKind : std::int32_t {
  stay,      // every block stays
  swap,      // pairs, and blocks that stay
  all_swap,  // pairs only
  walk,      // orbits of any length
};

/// Made by make_block_orbits(), which also gives the basis of block numbers.
struct BlockOrbits {
  OrbitKind kind;
  std::int32_t block_bits;                   // k: an array has 2^k blocks
  std::int32_t moved_bits;                   // w
  std::int32_t most_tiles;                   // of an orbit
  std::uint64_t batch;                       // arrays
  std::uint64_t next_complement;             // d, in the basis above or as given
  std::uint64_t next_column[kMaxBlockBits];  // N, of kind walk

  /// Numbers of an array's orbits whose v is not fixed at 0; then those of all arrays' other blocks.
  constexpr int first_bits() const {
    return kind == OrbitKind::swap || kind == OrbitKind::all_swap ? block_bits - 1 : block_bits;
  }
  constexpr std::uint64_t others() const {
    return kind == OrbitKind::swap ? batch << (block_bits - moved_bits - 1) : 0;
  }
  /// To be launched.
  constexpr std::uint64_t numbers() const { return (batch << first_bits()) + others(); }
};

/// Where a block's tile goes. Blocks count through the first array's, then the second's.
constexpr std::uint64_t next_block(const BlockOrbits& p, std::uint64_t block) {
  const std::uint64_t array = block >> p.block_bits << p.block_bits;
  if (p.kind != OrbitKind::walk) {
    const std::uint64_t moved = block & ((std::uint64_t{1} << p.moved_bits) - 1);
    return block ^ moved << p.moved_bits ^ p.next_complement;
  }
  std::uint64_t next = array ^ p.next_complement;
  for (int j = 0; j < p.block_bits; ++j) {
    if ((block >> j & 1) != 0) next ^= p.next_column[j];
  }
  return next;
}

/// The highest one of `bits`. Requires: bits is not 0 (unchecked). nvcc compiles std::countl_zero of 64 bits
/// to nonsense, and says nothing.
constexpr int highest_one(std::uint64_t bits) { return 63 - __builtin_clzll(bits); }

/// `bits` with a zero put in at `place`.
constexpr std::uint64_t insert_zero(std::uint64_t bits, int place) {
  const std::uint64_t low = bits & ((std::uint64_t{1} << place) - 1);
  return (bits ^ low) << 1 | low;
}

struct OwnedOrbit {
  std::uint64_t first = 0;  // a block of it
  std::uint32_t tiles = 0;  // 0: it is another's
};

/// The orbit that launched block `number` owns. Requires: number < p.numbers() (unchecked).
/// Law: every block is in the orbit of one number.
constexpr OwnedOrbit owned_orbit(const BlockOrbits& p, std::uint64_t number) {
  if (p.kind == OrbitKind::stay) return {number, 1};
  if (p.kind == OrbitKind::walk) {
    std::uint32_t tiles = 1;
    for (std::uint64_t b = next_block(p, number); b != number; b = next_block(p, b)) {
      if (b < number) return {number, 0};
      ++tiles;
    }
    return {number, tiles};
  }
  const int bits = p.first_bits();
  const std::uint64_t firsts = p.batch << bits;
  if (number >= firsts) {  // x has a one at its lowest place, v is 0
    const int rest_bits = bits - p.moved_bits;
    const std::uint64_t rest = number - firsts;
    const std::uint64_t array = rest >> rest_bits;
    const std::uint64_t high = (rest ^ array << rest_bits) << 1 | 1;
    return {high << p.moved_bits | array << p.block_bits, 1};
  }
  const std::uint64_t array = number >> bits;
  const std::uint64_t in_array = number ^ array << bits;
  if (p.kind == OrbitKind::all_swap) return {in_array | array << p.block_bits, 2};
  const std::uint64_t v = in_array & ((std::uint64_t{1} << p.moved_bits) - 1);
  const int place = v == 0 ? 0 : highest_one(v);
  const std::uint64_t high = insert_zero(in_array >> p.moved_bits, place);
  return {high << p.moved_bits | v | array << p.block_bits, v == 0 ? 1U : 2U};
}

}  // namespace faro::kernels
