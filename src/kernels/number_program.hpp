// All that becomes of a number on its way (faro/arithmetic.hpp), in types that are known when a kernel is
// compiled:
//
//     stored  --swap, widen-->  computed  f, scale, offset, + beta addend  --round, swap-->  stored
//
// A step that a program does not have costs nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/value_functions.hpp"
#include "kernels/values.hpp"

namespace faro::kernels {

constexpr std::uint16_t swapped_word(std::uint16_t x) { return static_cast<std::uint16_t>(x << 8 | x >> 8); }
constexpr std::uint32_t swapped_word(std::uint32_t x) {
  return static_cast<std::uint32_t>(swapped_word(static_cast<std::uint16_t>(x))) << 16 |
         swapped_word(static_cast<std::uint16_t>(x >> 16));
}
constexpr std::uint64_t swapped_word(std::uint64_t x) {
  return static_cast<std::uint64_t>(swapped_word(static_cast<std::uint32_t>(x))) << 32 |
         swapped_word(static_cast<std::uint32_t>(x >> 32));
}

/// A number of the other order of bytes; each half of a complex one by itself.
template <typename T>
constexpr T swapped_bytes(T x) {
  if constexpr (kIsComplex<T>) {
    return {swapped_bytes(x.re), swapped_bytes(x.im)};
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(swapped_word(std::bit_cast<std::uint64_t>(x)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(swapped_word(std::bit_cast<std::uint32_t>(x)));
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(swapped_word(std::bit_cast<std::uint16_t>(x)));
  } else {
    return x;
  }
}

struct NoAddend {};

/// What a program has beside its types and function: flags.
struct ProgramStep {
  enum Flag : unsigned {
    scale = 1,
    offset = 2,
    swap_in = 4,
    swap_out = 8,
    swap_addend = 16,
    to_nearest = 32,
    saturate = 64
  };
};

template <typename FromType, typename ToType, typename ComputedType, typename FunctionType = Identity,
          unsigned kFlags = 0, typename AddendType = NoAddend>
struct NumberProgram {
  using From = FromType;
  using To = ToType;
  using Computed = ComputedType;
  using Addend = AddendType;
  static constexpr bool kHasScale = (kFlags & ProgramStep::scale) != 0;
  static constexpr bool kHasOffset = (kFlags & ProgramStep::offset) != 0;
  static constexpr bool kHasAddend = !std::is_same_v<Addend, NoAddend>;

  /// Real numbers that are complex only afterwards have the real function: log(-1) is none.
  static constexpr Computed widened(From x) {
    if constexpr ((kFlags & ProgramStep::swap_in) != 0) x = swapped_bytes(x);
    if constexpr (kIsComplex<Computed> && !kIsComplex<From>) {
      using Real = decltype(Computed::re);
      return {FunctionType{}(computed<Real>(x)), Real{0}};
    } else {
      return FunctionType{}(computed<Computed>(x));
    }
  }
  static constexpr Computed widened_addend(Addend x) {
    if constexpr ((kFlags & ProgramStep::swap_addend) != 0) x = swapped_bytes(x);
    return computed<Computed>(x);
  }
  static constexpr To rounded(Computed x) {
    constexpr Narrowing kNarrowing{
        .to_nearest = (kFlags & ProgramStep::to_nearest) != 0,
        .overflow = (kFlags & ProgramStep::saturate) != 0 ? Overflow::saturate : Overflow::as_type};
    const To rounded = stored<To>(x, kNarrowing);
    if constexpr ((kFlags & ProgramStep::swap_out) != 0) {
      return swapped_bytes(rounded);
    } else {
      return rounded;
    }
  }
};

}  // namespace faro::kernels
