// What is done to each number while it is moved: converted, scaled, added, in the same sweep.
//
//     out[pi(x)] = to( scale[c] f(in[x]) + offset[c] + beta other[pi(x)] )
//
// Images of bytes become planes of floats, weights are transposed and rounded, tensors are turned and
// accumulated, without a second sweep over either array:
//
//     faro::Strided planes = ...;                                   // (n h w c) to (n c h w): axes n c h w
//     auto plan = faro::plan(planes, faro::Arithmetic{.from = faro::Number::u8, .to = faro::Number::f32,
//                                                     .scale = {1 / 255.0}, .offset = {means, 1}});
//     plan.run(pixels, pixels_count, floats, floats_count);         // means: one for each index of axis 1
//
// All is computed in one type, the narrowest of these that holds every value of the types that take part:
//
//     i64, u64    integers and bool alone, by functions that keep them whole (negate but of u64), unscaled;
//                 those of 8 and 16 bits that become floats are computed in f32, which holds them
//     f32         f32, f16, bf16, 8-bit floats, bool, and integers of 8 and 16 bits
//     f64         where f64 or integers of 32 and 64 bits take part (beyond 2^53 the latter round)
//     c64, c128   where complex numbers do, or a scale, offset or beta is one
//
// and rounded to the output's type once, to nearest and ties to even. A type that is converted to holds what
// it is given, whatever its width, without a rounding between: i64 to f16 rounds once. An output that is no
// complex number takes the real part, and bool is true for all but 0, NaN included. Integers saturate, and
// take 0 for NaN. Floats of 16 and 8 bits follow Overflow's words in src/kernels/small_floats.hpp.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/number.hpp"

namespace faro {

/// Of each number before it is scaled. gelu: x (1 + erf(x / sqrt 2)) / 2. Of complex numbers absolute gives a
/// real one, and relu and gelu are none. Of real numbers reciprocal and square_root are rounded once, and the
/// last five are those of the C library, within a few units of the last place.
enum class Function {
  identity,
  conjugate,
  negate,
  absolute,
  reciprocal,
  square_root,
  exp,
  log,
  tanh,
  sigmoid,
  relu,
  gelu
};
inline constexpr int kFunctions = static_cast<int>(Function::gelu) + 1;
/// "identity", "conjugate", "absolute", ….
const char* name(Function function) noexcept;
/// Of such a name, or a shorter usual one: "conj", "neg", "abs", "sqrt".
std::optional<Function> function_named(std::string_view name) noexcept;

/// From floats to integers: toward 0, as NumPy and PyTorch do, or to nearest and ties to even.
enum class ToInteger { truncate, nearest };

/// One number for all, or one for each index along an axis.
struct Coefficient {
  std::vector<std::complex<double>> values;
  std::optional<std::size_t> axis = {};  // of the view's extents, or of Arithmetic::shape; none: one value
};

/// Another array that is added, of the output's indices.
struct Addend {
  Number number = Number::f32;
  std::complex<double> beta = 1;
  std::vector<std::int64_t> strides =
      {};                   // in its elements, one an axis of the view; empty: as the output lies
  std::uint64_t first = 0;  // with strides: where index 0 lies
  bool swapped = false;     // its bytes are in the other order
};

struct Arithmetic {
  Number from = Number::f32;
  Number to = Number::f32;
  Function function = Function::identity;
  Coefficient scale = {{1.0}, {}};
  Coefficient offset = {{0.0}, {}};
  std::optional<Addend> addend = {};
  ToInteger to_integer = ToInteger::truncate;
  bool saturated =
      false;  // floats of 16 and 8 bits take their largest finite number instead of infinity or NaN
  bool in_swapped = false;  // the bytes of the input's numbers are in the other order than this machine's
  bool out_swapped = false;
  /// Of what is no view: the output's, row-major, whose axes coefficients are along. Empty: one axis.
  std::vector<std::uint64_t> shape = {};
};

/// Whether nothing is done but moving.
bool is_plain(const Arithmetic& arithmetic) noexcept;

/// The type that it is computed in: i64, u64, f32, f64, c64 or c128.
Number computed_in(const Arithmetic& arithmetic);

/// "u8 to f32, scaled by 0.0039 and offset by 3 values along axis 1, in f32".
std::string to_text(const Arithmetic& arithmetic);

/// Errors: ErrorCode::value for lists of no or of other than the axis's values, and for an axis or strides
/// that the extents do not have; ErrorCode::unsupported for relu and gelu of complex numbers.
void check(const Arithmetic& arithmetic, const std::vector<std::uint64_t>& extents);

}  // namespace faro
