// The sweeps of C2R and R2C on a GPU are one family. Each has one set of parameters and one list of phases,
// and each moves its pieces in one of two ways:
//
//     InUnits      unit by unit: elements of any number of units of 1 to 16 bytes
//     InVectors    in vectors of 16 bytes, wherever rows begin (c2r_vectors.hpp): elements of one unit of up
//                  to 8 bytes
//
//     rows         c2r_rows.hpp, c2r_row_walk.hpp     rows that fit the shared memory
//     long rows    c2r_long_rows.hpp                  others, by segments and stretches
//     strips       c2r_strips.hpp                     columns that fit the shared memory
//     windows      c2r_windows.hpp                    others
//     huge rows    c2r_huge_rows.hpp                  rows that no other takes, in units alone
//
// with_phases<Mover>(params, take) of each calls take(phase, phase, ...), where a phase is phase(memory,
// block, thread): the threads of a block run one after another phase, with a barrier in between.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "kernels/c2r_index.hpp"

namespace faro::kernels {

template <int unit_bytes>
struct InUnits {
  static constexpr int bytes = unit_bytes;
  static constexpr bool vectors = false;
};

template <int unit_bytes>
struct InVectors {
  static constexpr int bytes = unit_bytes;
  static constexpr bool vectors = true;
};

/// What all sweeps are told.
struct C2rSweepParams {
  C2rShape shape;
  bool vectors = false;
  bool r2c = false;
  std::uint32_t unit_bytes = 1;
  std::uint32_t units = 1;  // of an element; one in vectors
  std::uint32_t skew = 0;   // in vectors the array begins so many elements after an aligned address
  std::uint32_t threads = 0;
  std::uint64_t scratch_elements = 0;  // of an array

  constexpr std::uint64_t element_bytes() const { return std::uint64_t{units} * unit_bytes; }
};

namespace detail {

/// Before the barrier after which what this thread has copied to shared memory is used.
template <device::Memory Memory>
constexpr void wait_for_copies(Memory& memory) {
  if constexpr (requires { memory.wait(); }) memory.wait();
}

}  // namespace detail

}  // namespace faro::kernels
