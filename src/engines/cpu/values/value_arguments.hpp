// What a run of numbers that are changed is given (value_run.hpp).
#pragma once

#include <array>
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

}  // namespace faro::cpu
