// The types of numbers that faro reads, where it does more with elements than move them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "faro/require_cxx20.hpp"

namespace faro {

/// c64 and c128 are complex numbers of two f32 and two f64. Among the 8-bit floating-point numbers the first
/// two are those of the Open Compute Project, the others have no infinities and no -0
/// (src/kernels/small_floats.hpp has them all). Sums of rows (Add, Combine) are of the types to f64.
enum class Number {
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f16,
  bf16,
  f32,
  f64,
  boolean,
  c64,
  c128,
  f8_e4m3fn,
  f8_e5m2,
  f8_e4m3fnuz,
  f8_e5m2fnuz
};
inline constexpr int kNumbers = static_cast<int>(Number::f8_e5m2fnuz) + 1;

/// "i8", "bf16", "bool", "c64", "f8_e4m3fn", …; and its bytes.
const char* name(Number number) noexcept;
std::uint64_t bytes_of(Number number) noexcept;

/// The type of such a name, or of NumPy's and ml_dtypes': "int8", "bfloat16", "complex64", "float8_e4m3fn",
/// ….
std::optional<Number> number_named(std::string_view name) noexcept;

constexpr bool is_integer(Number number) noexcept { return number <= Number::u64; }
constexpr bool is_complex(Number number) noexcept { return number == Number::c64 || number == Number::c128; }
/// What Add and Combine know.
constexpr bool is_summed(Number number) noexcept { return number <= Number::f64; }

}  // namespace faro
