// The type of C++ that a number is stored as.
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/number.hpp"
#include "kernels/values.hpp"

namespace faro::kernels {

/// What call.operator()<Stored>() returns of the type that numbers of this kind are stored as.
template <typename Call>
constexpr auto with_number(Number number, const Call& call) {
  switch (number) {
    case Number::i8:
      return call.template operator()<std::int8_t>();
    case Number::u8:
      return call.template operator()<std::uint8_t>();
    case Number::i16:
      return call.template operator()<std::int16_t>();
    case Number::u16:
      return call.template operator()<std::uint16_t>();
    case Number::i32:
      return call.template operator()<std::int32_t>();
    case Number::u32:
      return call.template operator()<std::uint32_t>();
    case Number::i64:
      return call.template operator()<std::int64_t>();
    case Number::u64:
      return call.template operator()<std::uint64_t>();
    case Number::f16:
      return call.template operator()<Half>();
    case Number::bf16:
      return call.template operator()<BrainHalf>();
    case Number::f32:
      return call.template operator()<float>();
    case Number::f64:
      return call.template operator()<double>();
    case Number::boolean:
      return call.template operator()<Boolean>();
    case Number::c64:
      return call.template operator()<Complex<float>>();
    case Number::c128:
      return call.template operator()<Complex<double>>();
    case Number::f8_e4m3fn:
      return call.template operator()<Float8E4M3>();
    case Number::f8_e5m2:
      return call.template operator()<Float8E5M2>();
    case Number::f8_e4m3fnuz:
      return call.template operator()<Float8E4M3Fnuz>();
    case Number::f8_e5m2fnuz:
      break;
  }
  return call.template operator()<Float8E5M2Fnuz>();
}

/// The kind of numbers that are stored so.
template <typename Stored>
constexpr Number number_of() {
  Number found = Number::i8;
  for (int i = 0; i < kNumbers; ++i) {
    const auto number = static_cast<Number>(i);
    with_number(number, [&]<typename Each>() {
      if (std::is_same_v<Stored, Each>) found = number;
    });
  }
  return found;
}

}  // namespace faro::kernels
