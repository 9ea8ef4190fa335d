// Rolls and flips: out[(shift + x) mod count] = in[x], or out[(shift - x) mod count] = in[x].
//
//     roll(8, 3)    in   a b c d e | f g h      out   f g h | a b c d e        two pieces, moved whole
//     flip(8)       in   a b c d e f g h        out   h g f e d c b a          vectors reversed in registers
//
// A thread moves one vector of output (moved_vector.hpp); the arrays of a batch follow one another, and a
// vector may hold parts of several. Elements of several units cannot be reversed within a vector, so a flip
// moves those unit by unit.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kCyclicThreads = 256;

struct CyclicParams {
  ArrayBytes in;  // all arrays of the batch
  ArrayBytes out;
  device::Division64 array_bytes;  // of one
  std::uint64_t shift_bytes;       // shift x element_bytes, below array_bytes
  device::Division64 element_bytes;
  std::uint64_t first_vector;  // of this launch

  constexpr std::uint64_t vectors() const { return (out.end + (kMovedBytes - 1)) / kMovedBytes; }
};

/// Where byte y of the output is read. `units`: elements have several, and are reversed.
template <int unit_bytes, bool reversed, bool several_units>
constexpr MovedPiece cyclic_piece(const CyclicParams& p, std::uint64_t y) {
  std::uint64_t x = y - p.out.begin;
  const std::uint64_t array = p.array_bytes.divide(x) * p.array_bytes.divisor() + p.in.begin;
  const std::uint64_t count = p.array_bytes.divisor();
  if constexpr (!reversed) {
    if (x < p.shift_bytes) return {.at = array + x + (count - p.shift_bytes), .bytes = p.shift_bytes - x};
    return {.at = array + x - p.shift_bytes, .bytes = count - x};
  } else {
    const std::uint64_t element = p.element_bytes.divisor();
    const std::uint64_t within = several_units ? x - p.element_bytes.quotient(x) * element : 0;
    x -= within;
    const bool low = x <= p.shift_bytes;
    const std::uint64_t at = array + within + (low ? p.shift_bytes - x : p.shift_bytes + (count - x));
    if constexpr (several_units) return {.at = at, .bytes = unit_bytes};
    return {.at = at, .bytes = low ? p.shift_bytes - x + unit_bytes : count - x};
  }
}

/// The whole kernel. Requires: thread < kCyclicThreads; vectors past the last are left out.
template <int unit_bytes, bool reversed, bool several_units, device::Memory Memory>
constexpr void move_cyclic(Memory& memory, const CyclicParams& params, std::uint64_t block,
                           std::uint32_t thread) {
  const std::uint64_t vector = params.first_vector + block * kCyclicThreads + thread;
  if (vector >= params.vectors()) return;
  const auto piece_of = [&params](std::uint64_t y) {
    return cyclic_piece<unit_bytes, reversed, several_units>(params, y);
  };
  move_output_vector<unit_bytes, reversed>(memory, params.in, params.out, vector * kMovedBytes, piece_of);
}

}  // namespace faro::kernels
