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

#include "faro/device/memory.hpp"
#include "kernels/value_functions.hpp"
#include "kernels/values.hpp"

namespace faro::kernels {

/// N numbers that lie together, moved at once.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Lanes {
  T value[kCount];
};

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

enum ProgramFlags : unsigned {
  kScales = 1,
  kOffsets = 2,
  kSwapsIn = 4,
  kSwapsOut = 8,
  kSwapsAddend = 16,
  kToNearest = 32,
  kSaturates = 64
};

template <typename FromType, typename ToType, typename ComputedType, typename FunctionType = Identity,
          unsigned kFlags = 0, typename AddendType = NoAddend>
struct NumberProgram {
  using From = FromType;
  using To = ToType;
  using Computed = ComputedType;
  using Addend = AddendType;
  static constexpr bool kHasScale = (kFlags & kScales) != 0;
  static constexpr bool kHasOffset = (kFlags & kOffsets) != 0;
  static constexpr bool kHasAddend = !std::is_same_v<Addend, NoAddend>;

  /// Real numbers that are complex only afterwards have the real function: log(-1) is none.
  static constexpr Computed widened(From x) {
    if constexpr ((kFlags & kSwapsIn) != 0) x = swapped_bytes(x);
    if constexpr (kIsComplex<Computed> && !kIsComplex<From>) {
      using Real = decltype(Computed::re);
      return {FunctionType{}(computed<Real>(x)), Real{0}};
    } else {
      return FunctionType{}(computed<Computed>(x));
    }
  }
  static constexpr Computed widened_addend(Addend x) {
    if constexpr ((kFlags & kSwapsAddend) != 0) x = swapped_bytes(x);
    return computed<Computed>(x);
  }
  static constexpr To rounded(Computed x) {
    constexpr Narrowing kNarrowing{
        .to_nearest = (kFlags & kToNearest) != 0,
        .overflow = (kFlags & kSaturates) != 0 ? Overflow::saturate : Overflow::as_type};
    const To rounded = stored<To>(x, kNarrowing);
    if constexpr ((kFlags & kSwapsOut) != 0) {
      return swapped_bytes(rounded);
    } else {
      return rounded;
    }
  }
};

}  // namespace faro::kernels
