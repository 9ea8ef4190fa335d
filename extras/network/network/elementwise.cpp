#include "network/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "network/operator_script.hpp"
#include "network/scalar_types.hpp"
#include "permutation/text.hpp"

namespace faro::network {
namespace {

enum class Function {
  add,
  multiply,
  min,
  max,
  negate,
  absolute,
  conjugate,
  bit_and,
  bit_or,
  bit_xor,
  bit_not
};

enum class Takes { any, real, complex, integers };

struct FunctionEntry {
  std::string_view name;
  Function function;
  bool has_constant;
  Takes takes;
};

constexpr std::array<FunctionEntry, 11> kFunctions{{
    {"add", Function::add, true, Takes::any},
    {"multiply", Function::multiply, true, Takes::any},
    {"min", Function::min, true, Takes::real},
    {"max", Function::max, true, Takes::real},
    {"negate", Function::negate, false, Takes::any},
    {"absolute", Function::absolute, false, Takes::real},
    {"conjugate", Function::conjugate, false, Takes::complex},
    {"and", Function::bit_and, true, Takes::integers},
    {"or", Function::bit_or, true, Takes::integers},
    {"xor", Function::bit_xor, true, Takes::integers},
    {"not", Function::bit_not, false, Takes::integers},
}};

const FunctionEntry* find_function(std::string_view name) {
  const auto* const entry = std::find_if(kFunctions.begin(), kFunctions.end(),
                                         [name](const FunctionEntry& e) { return e.name == name; });
  return entry == kFunctions.end() ? nullptr : entry;
}

const FunctionEntry& entry_of(const Operator& op) {
  const FunctionEntry* const entry = find_function(op.name);
  FARO_CHECK(op.kind == OperatorKind::elementwise && entry != nullptr);
  return *entry;
}

bool takes(Takes wanted, Scalar scalar) {
  const bool whole = !is_complex(scalar) && !is_float(scalar);
  switch (wanted) {
    case Takes::any:
      return true;
    case Takes::real:
      return !is_complex(scalar);
    case Takes::complex:
      return is_complex(scalar);
    case Takes::integers:
      return whole;
  }
  return false;
}

const char* words_of(Takes wanted) {
  switch (wanted) {
    case Takes::any:
      return "i32, u32, i64, u64, f32, f64, c64 or c128, without value";
    case Takes::real:
      return "i32, u32, i64, u64, f32 or f64, without value";
    case Takes::complex:
      return "c64 or c128, without value";
    case Takes::integers:
      return "i32, u32, i64 or u64, without value";
  }
  return "";
}

// --- constants

/// A constant as it is written. Whole numbers are exact.
struct Constant {
  bool is_negative = false;
  std::optional<std::uint64_t> whole;  // its magnitude
  std::string_view decimal;            // its magnitude, for std::from_chars, where it is not whole
};

std::optional<Constant> read_constant(std::string_view text) {
  Constant result;
  if (text.starts_with('-') || text.starts_with('+')) {
    result.is_negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || (!faro::detail::is_digit(text.front()) && text.front() != '.')) return std::nullopt;
  const faro::detail::ScannedNumber number = faro::detail::scan_number(text);
  if (number.fault == faro::detail::NumberFault::none && number.length == text.size()) {
    result.whole = number.value;
    return result;
  }
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || fault == std::errc::invalid_argument) return std::nullopt;
  result.decimal = text;
  return result;
}

// Nothing where the type does not hold it. `wraps`: integers count modulo 2^32 or 2^64, so that what is right
// as a signed or as an unsigned number will do.
template <typename T>
std::optional<T> constant_as(const Constant& constant, bool wraps) {
  if constexpr (std::is_floating_point_v<T>) {
    T value = 0;
    if (constant.whole) {
      value = static_cast<T>(*constant.whole);
    } else {
      const std::string_view text = constant.decimal;
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
        return std::nullopt;
    }
    return constant.is_negative ? -value : value;
  } else {
    using Unsigned = std::make_unsigned_t<T>;
    if (!constant.whole) return std::nullopt;
    const std::uint64_t magnitude = *constant.whole;
    constexpr std::uint64_t kHalf = std::uint64_t{1} << (std::numeric_limits<Unsigned>::digits - 1);
    const bool is_signed = wraps || std::is_signed_v<T>;
    const std::uint64_t most = constant.is_negative ? (is_signed ? kHalf : 0)
                               : wraps              ? std::numeric_limits<Unsigned>::max()
                                       : static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (magnitude > most) return std::nullopt;
    const auto bits = static_cast<Unsigned>(magnitude);
    return static_cast<T>(constant.is_negative ? static_cast<Unsigned>(Unsigned{0} - bits) : bits);
  }
}

bool wraps(Function function) { return function != Function::min && function != Function::max; }

template <typename T>
T constant_of(const Operator& op, const FunctionEntry& entry) {
  if (!entry.has_constant) return T{};
  const std::optional<Constant> constant = read_constant(op.text);
  const std::optional<T> value = constant ? constant_as<T>(*constant, wraps(entry.function)) : std::nullopt;
  FARO_CHECK(value.has_value());  // check_elementwise has seen it
  return *value;
}

// --- the functions themselves, of real numbers

/// f as a function of one number. Integers wrap: they are computed as unsigned ones.
template <typename T, typename Visit>
void with_function(Function function, T c, const Visit& visit) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (function) {
      case Function::add:
        return visit([c](T v) { return v + c; });
      case Function::multiply:
        return visit([c](T v) { return v * c; });
      case Function::negate:
        return visit([](T v) { return -v; });
      case Function::absolute:
        return visit([](T v) { return std::abs(v); });
      case Function::min:
        return visit([c](T v) { return c < v ? c : v; });
      case Function::max:
        return visit([c](T v) { return v < c ? c : v; });
      default:
        FARO_CHECK(false);
    }
  } else {
    using U = std::make_unsigned_t<T>;
    const U u = static_cast<U>(c);
    const auto as_unsigned = [&visit](auto f) {
      visit([f](T v) { return static_cast<T>(f(static_cast<U>(v))); });
    };
    switch (function) {
      case Function::add:
        return as_unsigned([u](U v) { return v + u; });
      case Function::multiply:
        return as_unsigned([u](U v) { return v * u; });
      case Function::negate:
        return as_unsigned([](U v) { return U{0} - v; });
      case Function::absolute:
        return visit([](T v) { return v < 0 ? static_cast<T>(U{0} - static_cast<U>(v)) : v; });
      case Function::min:
        return visit([c](T v) { return c < v ? c : v; });
      case Function::max:
        return visit([c](T v) { return v < c ? c : v; });
      case Function::bit_and:
        return as_unsigned([u](U v) { return v & u; });
      case Function::bit_or:
        return as_unsigned([u](U v) { return v | u; });
      case Function::bit_xor:
        return as_unsigned([u](U v) { return v ^ u; });
      case Function::bit_not:
        return as_unsigned([](U v) { return ~v; });
      default:
        FARO_CHECK(false);
    }
  }
}

/// Elements `stride` apart, so that the real parts of complex numbers can be taken alone.
template <typename T>
void run_over(const Operator& op, std::byte* elements, std::uint64_t count, std::uint64_t stride = 1) {
  const FunctionEntry& entry = entry_of(op);
  with_function<T>(entry.function, constant_of<T>(op, entry), [&](auto f) {
    const auto at_stride = [&](auto step) {
      for (std::uint64_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, elements + i * step * sizeof(T), sizeof value);
        value = f(value);
        std::memcpy(elements + i * step * sizeof(T), &value, sizeof value);
      }
    };
    if (stride == 1) {
      at_stride(std::integral_constant<std::uint64_t, 1>());
    } else {
      at_stride(std::integral_constant<std::uint64_t, 2>());
    }
  });
}

// (a + b i) + c, (a + b i) c, -(a + b i), a - b i.
template <typename Real>
void run_complex(const Operator& op, std::byte* elements, std::uint64_t count) {
  switch (entry_of(op).function) {
    case Function::add:
      return run_over<Real>(op, elements, count, 2);
    case Function::conjugate: {
      Operator negate = op;
      negate.name = "negate";
      return run_over<Real>(negate, elements + sizeof(Real), count, 2);
    }
    default:
      return run_over<Real>(op, elements, 2 * count);
  }
}

void run_elementwise(const Operator& op, Scalar scalar, std::byte* elements, std::uint64_t count) {
  if (scalar == Scalar::c64) return run_complex<float>(op, elements, count);
  if (scalar == Scalar::c128) return run_complex<double>(op, elements, count);
  with_real(scalar, [&](auto number) { run_over<decltype(number)>(op, elements, count); });
}

// --- the same for a GPU's compiler

template <typename T>
std::string literal(T value, std::string_view type) {
  if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("static_cast<{}>({:.{}g})", type, value, std::numeric_limits<T>::max_digits10);
  } else {
    return fmt::format("static_cast<{}>({}ull)", type,
                       static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value)));
  }
}

// `place` is the number, of type T.
template <typename T>
std::string statement(const Operator& op, const char* place, std::string_view type,
                      std::string_view unsigned_type) {
  const FunctionEntry& entry = entry_of(op);
  const std::string c = literal(constant_of<T>(op, entry), type);
  const auto sum = [&](const char* sign) {
    return std::is_floating_point_v<T>
               ? fmt::format("{0} = {0} {1} {2};", place, sign, c)
               : fmt::format("{0} = static_cast<{3}>(static_cast<{4}>({0}) {1} static_cast<{4}>({2}));",
                             place, sign, c, type, unsigned_type);
  };
  const std::string minus =
      std::is_floating_point_v<T>
          ? fmt::format("-{}", place)
          : fmt::format("static_cast<{0}>({1}(0) - static_cast<{1}>({2}))", type, unsigned_type, place);
  switch (entry.function) {
    case Function::add:
      return sum("+");
    case Function::multiply:
      return sum("*");
    case Function::bit_and:
      return sum("&");
    case Function::bit_or:
      return sum("|");
    case Function::bit_xor:
      return sum("^");
    case Function::bit_not:
      return fmt::format("{0} = static_cast<{1}>(~{0});", place, type);
    case Function::min:
      return fmt::format("{0} = {1} < {0} ? {1} : {0};", place, c);
    case Function::max:
      return fmt::format("{0} = {0} < {1} ? {1} : {0};", place, c);
    case Function::negate:
    case Function::conjugate:
      return fmt::format("{} = {};", place, minus);
    case Function::absolute:
      if (std::is_floating_point_v<T>) {
        return fmt::format("{0} = {1}({0});", place, sizeof(T) == sizeof(float) ? "fabsf" : "fabs");
      }
      if (std::is_unsigned_v<T>) return {};
      return fmt::format("{0} = {0} < 0 ? {1} : {0};", place, minus);
  }
  return {};
}

template <typename Real>
std::string complex_statements(const Operator& op, std::string_view type) {
  std::string re = statement<Real>(op, "a.re", type, type);
  std::string im = statement<Real>(op, "a.im", type, type);
  switch (entry_of(op).function) {
    case Function::add:
      return re;
    case Function::conjugate:
      return im;
    default:
      return re + " " + im;
  }
}

std::string names_text() {
  std::string text;
  for (const FunctionEntry& entry : kFunctions) {
    text += (text.empty() ? "" : ", ") + std::string(entry.name) + (entry.has_constant ? " C" : "");
  }
  return text;
}

}  // namespace

const std::vector<std::string>& elementwise_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(kFunctions.size());
    for (const FunctionEntry& entry : kFunctions) all.emplace_back(entry.name);
    return all;
  }();
  return names;
}

Operator operators::each(std::string_view function) {
  while (!function.empty() && function.back() == ' ') function.remove_suffix(1);
  const std::string_view name = function.substr(0, function.find(' '));
  std::string_view constant = function.substr(name.size());
  while (!constant.empty() && constant.front() == ' ') constant.remove_prefix(1);
  const std::string operation = "elementwise function " + faro::detail::in_quotes(function);
  const FunctionEntry* const entry = find_function(name);
  if (entry == nullptr) {
    std::vector<std::string_view> known;
    known.reserve(kFunctions.size());
    for (const FunctionEntry& other : kFunctions) known.push_back(other.name);
    fail(ErrorCode::value, operation, "an unknown function", names_text(), did_you_mean(name, known));
  }
  if (constant.empty() == entry->has_constant) {
    fail(ErrorCode::value, operation, constant.empty() ? "no constant" : "a constant",
         fmt::format("`{}{}`", name,
                     entry->has_constant ? " C`, C a number such as 5, -3, 0xff or 0.5" : "`"));
  }
  if (entry->has_constant && !read_constant(constant)) {
    fail(ErrorCode::value, operation, faro::detail::in_quotes(constant),
         "a finite number such as 5, -3, 0xff, 2^20, 0.5 or 1e-3");
  }
  return {.kind = OperatorKind::elementwise,
          .name = std::string(name),
          .reversed = false,
          .text = std::string(constant),
          .host = nullptr,
          .element = {}};
}

void check_elementwise(const Operator& op, const ElementType& type) {
  const FunctionEntry& entry = entry_of(op);
  const std::string operation = "each(" + op.name + (entry.has_constant ? " " : "") + op.text + ")";
  if (type.with_value || !takes(entry.takes, type.scalar)) {
    fail(ErrorCode::value, operation, "elements of type " + to_text(type), words_of(entry.takes));
  }
  if (!entry.has_constant) return;
  const std::optional<Constant> constant = read_constant(op.text);
  const Scalar real = type.scalar == Scalar::c64    ? Scalar::f32
                      : type.scalar == Scalar::c128 ? Scalar::f64
                                                    : type.scalar;
  const auto fits = [&] {
    return with_real(real, [&](auto number) {
      return constant_as<decltype(number)>(*constant, wraps(entry.function)).has_value();
    });
  };
  if (!constant || !fits()) {
    fail(ErrorCode::value, operation, "the constant " + faro::detail::in_quotes(op.text),
         "one that " + to_text(type) + " can hold");
  }
}

std::string elementwise_statements(const Operator& op, const ElementType& type) {
  check_elementwise(op, type);
  if (type.scalar == Scalar::c64) return complex_statements<float>(op, scalar_type(Scalar::f32));
  if (type.scalar == Scalar::c128) return complex_statements<double>(op, scalar_type(Scalar::f64));
  return with_real(type.scalar, [&](auto number) {
    return statement<decltype(number)>(op, "a", scalar_type(type.scalar), sum_type(type.scalar));
  });
}

void apply_each(const Operator& op, const ElementType& type, void* elements, std::uint64_t count) {
  FARO_CHECK(is_elementwise(op.kind));
  auto* const bytes = static_cast<std::byte*>(elements);
  if (op.kind == OperatorKind::elementwise) return run_elementwise(op, type.scalar, bytes, count);
  const HostFunction& function = remembered_host_function(op, type);
  for (std::uint64_t i = 0; i < count; ++i) function(bytes + i * type.bytes(), nullptr, 0, 0);
}

}  // namespace faro::network
