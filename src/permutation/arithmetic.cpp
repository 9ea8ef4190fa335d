#include "faro/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "faro/error.hpp"
#include "permutation/coefficients.hpp"

namespace faro {
namespace {

constexpr std::array<const char*, kFunctions> kFunctionNames{
    "identity", "conjugate", "negate", "absolute", "reciprocal", "square_root",
    "exp",      "log",       "tanh",   "sigmoid",  "relu",       "gelu"};

bool has_imaginary(const Coefficient& values) {
  return std::any_of(values.values.begin(), values.values.end(), [](const auto& z) { return z.imag() != 0; });
}

bool keeps_integers(Function function) {
  return function <= Function::absolute || function == Function::relu;
}

bool needs_f64(Number number) {
  return number == Number::f64 || number == Number::c128 || (number >= Number::i32 && number <= Number::u64);
}

std::string number_text(std::complex<double> value) {
  std::array<char, 64> text{};
  if (value.imag() == 0) {
    std::snprintf(text.data(), text.size(), "%.6g", value.real());
  } else {
    std::snprintf(text.data(), text.size(), "%.6g%+.6gi", value.real(), value.imag());
  }
  return text.data();
}

std::string coefficient_text(const Coefficient& of) {
  if (!of.axis) return number_text(of.values.front());
  return std::to_string(of.values.size()) + " values along axis " + std::to_string(*of.axis);
}

void check_coefficient(const Coefficient& of, const char* what, const std::vector<std::uint64_t>& extents) {
  const std::string got = std::to_string(of.values.size()) + (of.values.size() == 1 ? " value" : " values");
  if (!of.axis) {
    if (of.values.size() != 1) {
      fail(ErrorCode::value, "plan", std::string(what) + " of " + got, "one value",
           "an axis says what several belong to");
    }
    return;
  }
  if (*of.axis >= extents.size()) {
    fail(ErrorCode::value, "plan", std::string(what) + " along axis " + std::to_string(*of.axis),
         "an axis below " + std::to_string(extents.size()));
  }
  if (of.values.size() != extents[*of.axis]) {
    fail(ErrorCode::value, "plan",
         std::string(what) + " of " + got + " along axis " + std::to_string(*of.axis),
         std::to_string(extents[*of.axis]) + ", the axis's extent");
  }
}

}  // namespace

const char* name(Function function) noexcept { return kFunctionNames[static_cast<std::size_t>(function)]; }

std::optional<Function> function_named(std::string_view name) noexcept {
  constexpr std::array<std::pair<std::string_view, Function>, 5> kShort{{{"conj", Function::conjugate},
                                                                         {"neg", Function::negate},
                                                                         {"negative", Function::negate},
                                                                         {"abs", Function::absolute},
                                                                         {"sqrt", Function::square_root}}};
  for (const auto& [other, function] : kShort) {
    if (other == name) return function;
  }
  for (std::size_t i = 0; i < kFunctionNames.size(); ++i) {
    if (kFunctionNames[i] == name) return static_cast<Function>(i);
  }
  return std::nullopt;
}

bool is_plain(const Arithmetic& of) noexcept {
  const bool keeps = of.function == Function::identity ||
                     (of.function == Function::conjugate && !is_complex(of.from)) ||
                     (of.function == Function::absolute &&
                      (of.from == Number::boolean || (is_integer(of.from) && name(of.from)[0] == 'u')));
  return of.from == of.to && keeps && of.in_swapped == of.out_swapped && detail::is_only(of.scale, 1) &&
         detail::is_only(of.offset, 0) && !of.addend && of.from != Number::boolean;
}

Number computed_in(const Arithmetic& of) {
  const bool is_sum = !detail::is_only(of.scale, 1) || !detail::is_only(of.offset, 0) || of.addend;
  const auto is_whole = [](Number number) { return is_integer(number) || number == Number::boolean; };
  const bool complex_parts = has_imaginary(of.scale) || has_imaginary(of.offset) ||
                             (of.addend && (of.addend->beta.imag() != 0 || is_complex(of.addend->number)));
  const bool complex = complex_parts || is_complex(of.from);
  const bool leaves_u64 = of.from == Number::u64 && of.function == Function::negate;
  // A float holds integers of 16 bits, but a negated 0 would be -0.
  const bool in_float =
      !is_whole(of.to) && !needs_f64(of.to) && !needs_f64(of.from) && of.function != Function::negate;
  if (!complex && !is_sum && is_whole(of.from) && keeps_integers(of.function) && !leaves_u64 && !in_float)
    return of.from == Number::u64 ? Number::u64 : Number::i64;
  const bool wide = needs_f64(of.from) || needs_f64(of.to) || (of.addend && needs_f64(of.addend->number));
  if (complex) return wide ? Number::c128 : Number::c64;
  return wide ? Number::f64 : Number::f32;
}

std::string to_text(const Arithmetic& of) {
  std::string text = std::string(name(of.from)) + (of.in_swapped ? " of the other byte order" : "") + " to " +
                     name(of.to) + (of.out_swapped ? " of the other byte order" : "");
  if (of.function != Function::identity) text += std::string(", ") + name(of.function);
  if (!detail::is_only(of.scale, 1)) text += ", scaled by " + coefficient_text(of.scale);
  if (!detail::is_only(of.offset, 0)) text += ", offset by " + coefficient_text(of.offset);
  if (of.addend) {
    text += ", with " + number_text(of.addend->beta) + " times another array of " + name(of.addend->number) +
            " added";
  }
  if (of.to_integer == ToInteger::nearest && is_integer(of.to)) text += ", to the nearest integer";
  if (of.saturated) text += ", saturated";
  return text + ", in " + name(computed_in(of));
}

void check(const Arithmetic& of, const std::vector<std::uint64_t>& extents) {
  check_coefficient(of.scale, "a scale", extents);
  check_coefficient(of.offset, "an offset", extents);
  if (of.addend && !of.addend->strides.empty() && of.addend->strides.size() != extents.size()) {
    fail(ErrorCode::value, "plan",
         "an added array of " + std::to_string(of.addend->strides.size()) + " strides",
         std::to_string(extents.size()) + ", one an axis");
  }
  const bool orders = of.function == Function::relu || of.function == Function::gelu;
  if (orders && is_complex(of.from)) {
    fail(ErrorCode::unsupported, "plan", std::string(name(of.function)) + " of complex numbers",
         "real numbers, or a function of complex ones");
  }
}

}  // namespace faro
