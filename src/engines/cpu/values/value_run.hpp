// A run of numbers converted on one thread: what lies together on both sides.
//
//     stored  --swap-->  --widen-->  computed  f, scale, offset, + beta addend  --narrow-->  --swap-->  stored
//
// Chunk by chunk through buffers in the first-level cache, each step a loop over one type: as many loops as
// there are types, not as pairs of them. A step that has nothing to do is left out.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "faro/arithmetic.hpp"

namespace faro::cpu {

/// What is the same for all runs; made once.
struct ValueProgram {
  Number from = Number::f32;
  Number to = Number::f32;
  Number computed = Number::f32;
  Number addend = Number::f32;
  Function function = Function::identity;
  bool in_registers = false;  // detail::stays_in_registers()
  bool has_scale = false;
  bool has_offset = false;
  bool has_addend = false;
  bool to_nearest = false;
  bool saturated = false;
  bool in_swapped = false;
  bool out_swapped = false;
  bool addend_swapped = false;
  bool streamed = false;                // stores bypass the caches
  std::array<std::byte, 16> beta = {};  // a factor

  explicit ValueProgram(const Arithmetic& of);
  /// Whether the first and the last step are all there is, and the first has nothing to do.
  bool narrows_alone() const {
    return from == computed && !in_swapped && function == Function::identity && !has_scale && !has_offset &&
           !has_addend;
  }
};

/// Numbers of the type that it is computed in: one, or one for each element of a run.
struct Factors {
  const std::byte* data = nullptr;
  bool varies = false;
};

struct ValueRun {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  const std::byte* addend = nullptr;
  std::uint64_t count = 0;
  Factors scale = {};
  Factors offset = {};
};

/// Any alignment. Requires: `to` overlaps neither input, or is the addend of as wide a type itself
/// (unchecked); after the last streamed run finish_streams().   Cost: 17 KiB of the stack.
void convert_run(const ValueProgram& program, const ValueRun& run);

/// A coefficient as convert_run() takes it, bytes_of(computed) bytes.
void store_factor(Number computed, std::complex<double> value, std::byte* to);

}  // namespace faro::cpu
