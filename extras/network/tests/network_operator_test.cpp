// Operators: names and types, one total order for compare-exchange, butterflies, twiddles.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/network/operator.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_operator_test {

constexpr Scalar kScalars[] = {Scalar::i32, Scalar::u32, Scalar::i64, Scalar::u64,
                               Scalar::f32, Scalar::f64, Scalar::c64, Scalar::c128};

using test::message_of;

TEST(ElementType, NamesAndSizes) {
  struct Row {
    ElementType type;
    const char* text;
    std::uint64_t bytes;
  };
  const Row rows[] = {{{.scalar = Scalar::i32}, "i32", 4},
                      {{.scalar = Scalar::u32}, "u32", 4},
                      {{.scalar = Scalar::i64}, "i64", 8},
                      {{.scalar = Scalar::u64}, "u64", 8},
                      {{.scalar = Scalar::f32}, "f32", 4},
                      {{.scalar = Scalar::f64}, "f64", 8},
                      {{.scalar = Scalar::c64}, "c64", 8},
                      {{.scalar = Scalar::c128}, "c128", 16},
                      {{.scalar = Scalar::f32, .with_value = true}, "f32+value", 8},
                      {{.scalar = Scalar::i64, .with_value = true}, "i64+value", 16},
                      {{.scalar = Scalar::c128, .with_value = true}, "c128+value", 32}};
  for (const Row& row : rows) {
    EXPECT_EQ(to_text(row.type), row.text);
    EXPECT_EQ(row.type.bytes(), row.bytes) << row.text;
    EXPECT_EQ(parse_element_type(row.text), row.type);
  }
  EXPECT_EQ(message_of(ErrorCode::value, [] { parse_element_type("f46+value"); }),
            "element type: got `f46+value`, wanted i32, u32, i64, u64, f32, f64, c64 or c128, and `+value` "
            "behind it where a value is; did you mean `f64+value`?");
  EXPECT_THROW(parse_element_type(""), Error);
  EXPECT_THROW(parse_element_type("+value"), Error);
}

TEST(Operator, NamesParseToThemselves) {
  EXPECT_EQ(operator_names().size(), 5U);
  for (const std::string& name : operator_names()) EXPECT_EQ(parse_operator(name).name, name);
  EXPECT_EQ(parse_operator("min_max"), operators::min_max());
  EXPECT_EQ(parse_operator("max_min"), operators::max_min());
  EXPECT_FALSE(operators::min_max() == operators::max_min());
  EXPECT_EQ(parse_operator("inverse_fourier").kind, OperatorKind::inverse_fourier);
  EXPECT_EQ(message_of(ErrorCode::value, [] { parse_operator("hadamrd"); }),
            "operator: got `hadamrd`, wanted min_max, max_min, hadamard, fourier, inverse_fourier; did you "
            "mean `hadamard`?");
}

TEST(Operator, FitsTheTypesOfItsTable) {
  int fitting = 0;
  for (const Scalar scalar : kScalars) {
    for (const bool with_value : {false, true}) {
      const ElementType type{.scalar = scalar, .with_value = with_value};
      for (const std::string& name : operator_names()) {
        const bool complex = scalar == Scalar::c64 || scalar == Scalar::c128;
        const bool exchanges = name == "min_max" || name == "max_min";
        const bool wanted = exchanges ? !complex : !with_value && (complex || name == "hadamard");
        if (wanted) {
          EXPECT_NO_THROW(check_fits(parse_operator(name), type)) << name << " " << to_text(type);
          ++fitting;
        } else {
          EXPECT_THROW(check_fits(parse_operator(name), type), Error) << name << " " << to_text(type);
        }
      }
      EXPECT_NO_THROW(check_fits(operators::user("mine", "", [](void*, void*, std::uint64_t, int) {}), type));
    }
  }
  EXPECT_EQ(fitting, 2 * 12 + 8 + 2 * 2);
  EXPECT_EQ(message_of(ErrorCode::value, [] { check_fits(operators::fourier(), {.scalar = Scalar::u32}); }),
            "pairs(fourier): got elements of type u32, wanted c64 or c128, without value");
}

TEST(Operator, UsersAreNamedAndHaveSomethingToRun) {
  const HostFunction nothing = [](void*, void*, std::uint64_t, int) {};
  const auto call = [&](const char* name, const char* text, const HostFunction& host) {
    return message_of(ErrorCode::value, [&] { operators::user(name, text, host); });
  };
  EXPECT_NE(call("two words", "", nothing).find("letters, digits and _"), std::string::npos);
  EXPECT_NE(call("", "", nothing).find("letters, digits and _"), std::string::npos);
  EXPECT_NE(call("9lives", "", nothing).find("letters, digits and _"), std::string::npos);
  EXPECT_NE(call("min_max", "", nothing).find("the name of a built-in operator"), std::string::npos);
  EXPECT_NE(call("mine", "", nullptr).find("neither text nor function"), std::string::npos);
  EXPECT_EQ(operators::user("mine", "a = b;").text, "a = b;");
  EXPECT_FALSE(operators::user("mine", "", nothing) == operators::user("mine", "", nothing));
  const Operator one = operators::user("mine", "", nothing);
  const Operator copy = one;
  EXPECT_EQ(one, copy);

  std::uint32_t word = 0;
  const auto unread = [&] {
    apply(operators::user("mine", "asm();"), {.scalar = Scalar::u32}, &word, &word, 0, 1);
  };
  EXPECT_EQ(message_of(ErrorCode::unsupported, unread).rfind("pairs(mine) on engine cpu: got `asm();`", 0),
            0U);
}

// --- compare-exchange

template <typename T>
void expect_exchange(const ElementType& type, const T& low, const T& high) {
  for (const bool reversed : {false, true}) {
    const Operator op = reversed ? operators::max_min() : operators::min_max();
    for (const bool swapped : {false, true}) {
      // Unaligned on purpose.
      std::byte memory[2 * sizeof(T) + 1];
      std::byte* const a = memory + 1;
      std::byte* const b = a + sizeof(T);
      std::memcpy(a, swapped ? &high : &low, sizeof(T));
      std::memcpy(b, swapped ? &low : &high, sizeof(T));
      apply(op, type, a, b, 0, 1);
      EXPECT_EQ(std::memcmp(a, reversed ? &high : &low, sizeof(T)), 0) << to_text(type) << " " << op.name;
      EXPECT_EQ(std::memcmp(b, reversed ? &low : &high, sizeof(T)), 0) << to_text(type) << " " << op.name;
    }
  }
}

template <typename T>
struct Pair {
  T key;
  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> value;
};

// Every two of an ascending list, alone, with values in either order, and with equal keys.
template <typename T>
void expect_order(Scalar scalar, const std::vector<T>& ascending) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = i; j < ascending.size(); ++j) {
      expect_exchange({.scalar = scalar}, ascending[i], ascending[j]);
      if (i == j) continue;
      expect_exchange({.scalar = scalar, .with_value = true}, Pair<T>{ascending[i], 9},
                      Pair<T>{ascending[j], 1});
    }
    // The value is unsigned: its highest bit counts most.
    using Value = decltype(Pair<T>::value);
    expect_exchange({.scalar = scalar, .with_value = true}, Pair<T>{ascending[i], 1},
                    Pair<T>{ascending[i], static_cast<Value>(~Value{0})});
  }
}

template <typename T>
std::vector<T> integers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list{Limits::min(), static_cast<T>(Limits::min() + 1)};
  if (std::is_signed_v<T>) list.insert(list.end(), {static_cast<T>(-1), T{0}});
  list.insert(list.end(), {T{2}, static_cast<T>(Limits::max() / 2 + 1), Limits::max()});
  return list;
}

template <typename T, typename Bits>
std::vector<T> floats() {
  const T inf = std::numeric_limits<T>::infinity();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const auto nan = [](Bits bits) { return std::bit_cast<T>(bits); };
  const Bits quiet = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  const Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits first = std::bit_cast<Bits>(inf) + 1;  // the least NaN, a signalling one
  return {
      nan(~Bits{0}), nan(quiet | sign), nan(first | sign), -inf,      -T{1}, -tiny, -T{0}, T{0}, tiny, T{1},
      inf,           nan(first),        nan(quiet),        nan(~sign)};
}

TEST(CompareExchange, OrdersEveryTypeTotally) {
  expect_order(Scalar::i32, integers<std::int32_t>());
  expect_order(Scalar::u32, integers<std::uint32_t>());
  expect_order(Scalar::i64, integers<std::int64_t>());
  expect_order(Scalar::u64, integers<std::uint64_t>());
  expect_order(Scalar::f32, floats<float, std::uint32_t>());
  expect_order(Scalar::f64, floats<double, std::uint64_t>());
}

// --- butterflies

TEST(Hadamard, SumsAndDifferences) {
  std::uint32_t a = 3;
  std::uint32_t b = 5;
  apply(operators::hadamard(), {.scalar = Scalar::u32}, &a, &b, 0, 1);
  EXPECT_EQ(a, 8U);
  EXPECT_EQ(b, 0xfffffffeU) << "3 - 5 modulo 2^32";
  std::int64_t c = std::numeric_limits<std::int64_t>::max();
  std::int64_t d = 1;
  apply(operators::hadamard(), {.scalar = Scalar::i64}, &c, &d, 0, 1);
  EXPECT_EQ(c, std::numeric_limits<std::int64_t>::min()) << "wraps";
  EXPECT_EQ(d, std::numeric_limits<std::int64_t>::max() - 1);
  std::complex<float> e(1, 2);
  std::complex<float> f(10, 20);
  apply(operators::hadamard(), {.scalar = Scalar::c64}, &e, &f, 0, 1);
  EXPECT_EQ(e, std::complex<float>(11, 22));
  EXPECT_EQ(f, std::complex<float>(-9, -18));
}

TEST(Fourier, TurnsTheDifference) {
  using Complex = std::complex<double>;
  // k = 2, p = 1: w = -i, and +i for the inverse.
  Complex a(1, 2);
  Complex b(10, 20);
  apply(operators::fourier(), {.scalar = Scalar::c128}, &a, &b, 1, 2);
  EXPECT_EQ(a, Complex(11, 22));
  EXPECT_EQ(b, Complex(-18, 9)) << "(-9 - 18i)(-i)";
  a = {1, 2};
  b = {10, 20};
  apply(operators::inverse_fourier(), {.scalar = Scalar::c128}, &a, &b, 1, 2);
  EXPECT_EQ(b, Complex(18, -9)) << "(-9 - 18i) i";
}

TEST(Twiddle, ExactWhereItCanBe) {
  using Complex = std::complex<double>;
  EXPECT_EQ(twiddle(0, 0), Complex(1, 0));
  EXPECT_EQ(twiddle(1, 1), Complex(-1, 0));
  for (int k = 2; k <= 63; ++k) {
    const std::uint64_t quarter = std::uint64_t{1} << (k - 2);
    EXPECT_EQ(twiddle(0, k), Complex(1, 0)) << k;
    EXPECT_EQ(twiddle(quarter, k), Complex(0, -1)) << k;
    EXPECT_EQ(twiddle(2 * quarter, k), Complex(-1, 0)) << k;
    EXPECT_EQ(twiddle(3 * quarter, k), Complex(0, 1)) << k;
  }
  EXPECT_EQ(twiddle(1, 3).real(), std::sqrt(0.5));
  EXPECT_EQ(twiddle(1, 3).imag(), -std::sqrt(0.5));
}

TEST(Twiddle, IsOnTheCircleAndHasItsSymmetries) {
  for (int k = 3; k <= 12; ++k) {
    const std::uint64_t turn = std::uint64_t{1} << k;
    for (std::uint64_t p = 0; p < turn; ++p) {
      const std::complex<double> w = twiddle(p, k);
      const long double angle =
          -2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / static_cast<long double>(turn);
      EXPECT_NEAR(w.real(), static_cast<double>(std::cos(angle)), 0x1p-53) << p << " of " << turn;
      EXPECT_NEAR(w.imag(), static_cast<double>(std::sin(angle)), 0x1p-53) << p << " of " << turn;
      EXPECT_EQ(twiddle(turn - p, k), std::conj(w)) << p << " of " << turn;
      EXPECT_EQ(twiddle(p + turn, k), w) << "counts modulo 2^k";
      EXPECT_EQ(twiddle(2 * p, k + 1), w) << "one number, two names";
    }
  }
}

}  // namespace network_operator_test
}  // namespace faro::network
