// One side of a trip through shared memory, whose addresses are known: which instructions reach them, and in
// how many wavefronts.
//
//     plain                 a lane's 1 to 16 bytes           the lane's own registers
//     matrix                a row of 16 bytes                word l mod 4 of it is in lane 4 row + l mod 4
//     matrix_transposed     a row of 8 elements of 16 bits   element l is in lanes 4 l and on, two rows a word
//
// A row of a matrix is made of several lanes' registers, so that ldmatrix and stmatrix move data between
// lanes besides. Addresses are linear: `address` has that of every bit of a place, which is a byte of a word
// (2 bits), the word, the lane and the warp.
#pragma once

#include "exchange/functionals.hpp"
#include "faro/exchange/conversion.hpp"

namespace faro::exchange {

inline constexpr int kMostAccessBits = 4;  // 16 bytes
inline constexpr int kLdmatrixCapability = 75;
inline constexpr int kStmatrixCapability = 90;

/// What instructions there are: plain ones of 2^access_bits bytes at most.
struct Instructions {
  int access_bits = kMostAccessBits;
  bool has_matrices = false;
};

/// The cheapest side with these addresses. `held_bits`: bits of a place below the lane's. Requires: addresses
/// of a lane's bytes that are one-to-one.
SharedSide best_side(std::vector<f2::Word> address, int held_bits, const Instructions& instructions);

/// The bits of a place over which what the hardware serves at once extends: lanes, or rows of a matrix.
std::vector<int> phase_bits(const SharedSide& side, int held_bits);

/// The bits of a place that make up a row of a matrix, from its first byte on.
std::vector<int> row_bits(AccessKind kind, int held_bits);

/// Turns of a scheduler: 2 a wavefront, and one for each access of less than a word, which is packed.
int turns_of(const SharedSide& side);

/// The places that one plain access of a lane moves, byte by byte, as registers' bytes of lane 0. Law: their
/// addresses are consecutive and aligned, but for the lane's part.
std::vector<std::vector<f2::Word>> accesses_of(const SharedSide& side, int held_bits);

}  // namespace faro::exchange
