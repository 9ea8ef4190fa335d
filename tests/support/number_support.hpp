// Numbers of any type as tests of arithmetic have them: read in either byte order, and drawn.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "faro/number.hpp"
#include "kernels/number_types.hpp"
#include "kernels/values.hpp"

namespace faro::test {

// Numbers of any type as the oracle has them. An integer of 64 bits needs what a long double holds.
using Wide = long double;
using WideComplex = std::complex<Wide>;

template <typename T>
T value_at(const std::byte* array, std::int64_t index, bool swapped) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), array + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  constexpr std::size_t kPart = kernels::kIsComplex<T> ? sizeof(T) / 2 : sizeof(T);
  for (std::size_t part = 0; swapped && part < sizeof(T); part += kPart)
    std::reverse(bytes.begin() + part, bytes.begin() + part + kPart);
  T x;
  std::memcpy(&x, bytes.data(), sizeof(T));
  return x;
}

// What call(Stored{}) returns of the type that numbers of this kind are stored as.
template <typename Call>
auto with_type(Number number, const Call& call) {
  return kernels::with_number(number, [&]<typename Stored>() { return call(Stored{}); });
}

inline WideComplex read(Number number, const std::byte* array, std::int64_t index, bool swapped) {
  return with_type(number, [&](auto type) -> WideComplex {
    using T = decltype(type);
    const T x = value_at<T>(array, index, swapped);
    if constexpr (kernels::kIsComplex<T>) {
      return {x.re, x.im};
    } else if constexpr (kernels::kIsSmallFloat<T>) {
      return kernels::to_float(x);
    } else if constexpr (std::is_same_v<T, kernels::Boolean>) {
      return x.bits != 0 ? 1 : 0;
    } else {
      return static_cast<Wide>(x);
    }
  });
}

// Bytes at random, in an array with data() and bytes().
template <typename Array, typename Random>
void fill_numbers(Array& array, Number number, Random& random) {
  for (std::uint64_t at = 0; at < array.bytes(); ++at) array.data()[at] = static_cast<std::byte>(random());
  // Bits at random are mostly far out; half of the floats are near 1 instead.
  const auto put = [&](auto type) {
    using T = decltype(type);
    for (std::uint64_t at = 0; at + sizeof(T) <= array.bytes(); at += 2 * sizeof(T)) {
      const T x = static_cast<T>(static_cast<double>(static_cast<std::int64_t>(random() % 4001) - 2000) / 64);
      std::memcpy(array.data() + at, &x, sizeof(T));
    }
  };
  if (number == Number::f32 || number == Number::c64) put(float{});
  if (number == Number::f64 || number == Number::c128) put(double{});
}

template <typename Random>
Number draw_number(Random& random) {
  return static_cast<Number>(random() % kNumbers);
}

}  // namespace faro::test
