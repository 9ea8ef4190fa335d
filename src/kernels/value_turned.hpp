// Numbers that change on their way and whose fastest axis is another on the other side, in registers: a
// thread reads kOut vectors along the axis a that is the input's fastest, and writes kIn along the output's,
// b.
//
//     input   a a a a      kOut vectors          kIn vectors      b b b b b b b b   output
//             a a a a      of kIn       -->      of kOut          b b b b b b b b
//               ...                                                    ...
//
// No thread waits for another, and nothing is looked up: which tile is a thread's are the digits of its
// number, of which the first are so that a warp has whole sectors of both sides (plan/gpu/value_turns.hpp).
// What is left of a sector at the end of a run is read by a thread nearby, from the first-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/value_arrays.hpp"

namespace faro::kernels {

/// A "box" of the grid is the tile of a thread; p.row of the input is from vector to vector there, p.column
/// from vector to vector of the output. Factors do not differ within a tile.
template <typename Program, int kIn, int kOut>
struct MoveTurnedValues : ValueArrays {
  using From = typename Program::From;
  using To = typename Program::To;
  using Addend = std::conditional_t<Program::kHasAddend, typename Program::Addend, std::uint32_t>;
  using Computed = typename Program::Computed;
  static constexpr std::uint32_t kThreads = kValueThreads;
  static constexpr int kMinBlocks = 4;

  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    const std::uint64_t number = (block.index() + p.first_box) * kThreads + block.thread();
    if (number >= p.tiles) return;
    const ValueCorner corner = corner_of_tile<Program>(p, number);
    Vectors vectors;
    Others others;
    FARO_UNROLL
    for (int j = 0; j < kOut; ++j) vectors.at[j] = *vector_of<From, kIn>(in, corner.at.in + j * p.row.in);
    if constexpr (Program::kHasAddend) {
      FARO_UNROLL
      for (int i = 0; i < kIn; ++i)
        others.at[i] = *vector_of<Addend, kOut>(addend, corner.at.addend + i * p.column.addend);
    }
    ValueFactors<Program, false> factors(*this, nullptr);
    factors.begin(corner, {});
    FARO_UNROLL
    for (int i = 0; i < kIn; ++i) {
      Lanes<To, kOut> results;
      FARO_UNROLL
      for (int j = 0; j < kOut; ++j) {
        Computed x = factors.scaled(Program::widened(vectors.at[j].get(i)), 0);
        if constexpr (Program::kHasAddend) x = factors.added(x, others.at[i].get(j));
        results.put(j, Program::rounded(x));
      }
      *reinterpret_cast<Lanes<To, kOut>*>(static_cast<To*>(out) + (corner.at.out + i * p.column.out)) =
          results;
    }
  }

 private:
  struct Vectors {
    Lanes<From, kIn> at[kOut];
  };
  struct Others {
    Lanes<Addend, kOut> at[Program::kHasAddend ? kIn : 1];
  };

  template <typename T, int kCount>
  static constexpr const Lanes<T, kCount>* vector_of(const void* array, std::int64_t at) {
    return reinterpret_cast<const Lanes<T, kCount>*>(static_cast<const T*>(array) + at);
  }
};

}  // namespace faro::kernels
