// Elementwise functions: what each does to a number, what it takes, its text, its laws, and the names that
// maps keep.
#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "network/elementwise.hpp"
#include "network/rewrite.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_each_test {

using test::message_of;
using test::report_of;
using ::testing::HasSubstr;

// `function` on unaligned elements one after another, beside `wanted` of each.
template <typename T>
void expect_function(const std::string& function, const std::vector<T>& values,
                     const std::function<T(T)>& wanted) {
  const ElementType type = ElementOf<T>::value;
  std::vector<std::byte> memory(values.size() * sizeof(T) + 1);
  std::memcpy(memory.data() + 1, values.data(), values.size() * sizeof(T));
  const Operator op = operators::each(function);
  ASSERT_NO_THROW(check_fits(op, type)) << function << " " << to_text(type);
  apply_each(op, type, memory.data() + 1, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T right = wanted(values[i]);
    EXPECT_EQ(std::memcmp(memory.data() + 1 + i * sizeof(T), &right, sizeof(T)), 0)
        << function << " of " << to_text(type) << " number " << i;
  }
}

template <typename T>
std::vector<T> numbers() {
  std::vector<T> values;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) continue;  // whose bits a sum need not keep
    }
    values.push_back(value);
  }
  for (const int small : {0, 1, 2, 5, 100, 127}) values.push_back(static_cast<T>(small));
  values.push_back(std::numeric_limits<T>::max());
  values.push_back(std::numeric_limits<T>::lowest());
  return values;
}

template <typename T>
void expect_integers() {
  using U = std::make_unsigned_t<T>;
  const auto of = [](auto f) {
    return std::function<T(T)>([f](T v) { return static_cast<T>(f(static_cast<U>(v))); });
  };
  const std::vector<T> values = numbers<T>();
  expect_function<T>("add 5", values, of([](U v) { return v + 5; }));
  expect_function<T>("add -3", values, of([](U v) { return v - 3; }));
  expect_function<T>("multiply 7", values, of([](U v) { return v * 7; }));
  expect_function<T>("multiply -1", values, of([](U v) { return U{0} - v; }));
  expect_function<T>("multiply 2^20", values, of([](U v) { return v << 20; }));
  expect_function<T>("negate", values, of([](U v) { return U{0} - v; }));
  expect_function<T>("and 0xff", values, of([](U v) { return v & 0xff; }));
  expect_function<T>("or 0x80000000", values, of([](U v) { return v | U{0x80000000}; }));
  expect_function<T>("xor 0xffffffff", values, of([](U v) { return v ^ U { 0xffffffff }; }));
  expect_function<T>("not", values, of([](U v) { return ~v; }));
  expect_function<T>("min 100", values, [](T v) { return std::min(v, T{100}); });
  expect_function<T>("max 100", values, [](T v) { return std::max(v, T{100}); });
  expect_function<T>("absolute", values, [](T v) {
    return std::is_signed_v<T> && (static_cast<U>(v) >> (8 * sizeof(T) - 1)) != 0
               ? static_cast<T>(U{0} - static_cast<U>(v))
               : v;
  });
}

template <typename T>
void expect_floats() {
  const std::vector<T> values = numbers<T>();
  expect_function<T>("add 0.1", values, [](T v) { return v + static_cast<T>(0.1); });
  expect_function<T>("add -1e-3", values, [](T v) { return v - static_cast<T>(1e-3); });
  expect_function<T>("multiply .5", values, [](T v) { return v * T(0.5); });
  expect_function<T>("multiply 2^60", values, [](T v) { return v * T(0x1p60); });
  expect_function<T>("negate", values, [](T v) { return -v; });
  expect_function<T>("absolute", values, [](T v) { return std::abs(v); });
  expect_function<T>("min 2.5", values, [](T v) { return std::min(v, T(2.5)); });
  expect_function<T>("max -2.5", values, [](T v) { return std::max(v, T(-2.5)); });
}

template <typename Real>
void expect_complex() {
  using T = std::complex<Real>;
  const std::vector<Real> parts = numbers<Real>();
  std::vector<T> values;
  for (std::size_t i = 1; i < parts.size(); ++i) values.push_back({parts[i], parts[i - 1]});
  expect_function<T>("add 3", values, [](T v) { return T(v.real() + 3, v.imag()); });
  expect_function<T>("multiply -0.5", values,
                     [](T v) { return T(v.real() * Real(-0.5), v.imag() * Real(-0.5)); });
  expect_function<T>("negate", values, [](T v) { return T(-v.real(), -v.imag()); });
  expect_function<T>("conjugate", values, [](T v) { return T(v.real(), -v.imag()); });
}

TEST(NetworkEach, DoesWhatItSays) {
  expect_integers<std::int32_t>();
  expect_integers<std::uint32_t>();
  expect_integers<std::int64_t>();
  expect_integers<std::uint64_t>();
  expect_floats<float>();
  expect_floats<double>();
  expect_complex<float>();
  expect_complex<double>();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_function<float>("min 1", {nan}, [](float v) { return v; });
}

TEST(NetworkEach, TakesTheTypesOfItsTableAndConstantsThatFit) {
  const auto refused = [](const std::string& function, Scalar scalar, bool with_value = false) {
    return message_of(ErrorCode::value, [&] {
      check_fits(operators::each(function), {.scalar = scalar, .with_value = with_value});
    });
  };
  EXPECT_EQ(refused("xor 1", Scalar::f32),
            "each(xor 1): got elements of type f32, wanted i32, u32, i64 or u64, without value");
  EXPECT_NE(refused("conjugate", Scalar::f64), "no error");
  EXPECT_NE(refused("min 1", Scalar::c64), "no error");
  EXPECT_NE(refused("add 1", Scalar::u32, true), "no error");
  EXPECT_EQ(refused("add 0.5", Scalar::u32),
            "each(add 0.5): got the constant `0.5`, wanted one that u32 can hold");
  EXPECT_NE(refused("add 2^32", Scalar::u32), "no error");
  EXPECT_EQ(refused("add 0xffffffff", Scalar::i32), "no error");  // -1, modulo 2^32
  EXPECT_EQ(refused("add -2147483648", Scalar::u32), "no error");
  EXPECT_NE(refused("add -2147483649", Scalar::i32), "no error");
  EXPECT_NE(refused("max 0xffffffff", Scalar::i32), "no error");  // which order would be meant?
  EXPECT_NE(refused("max -1", Scalar::u32), "no error");
  EXPECT_NE(refused("multiply 1e39", Scalar::f32), "no error");
  EXPECT_EQ(refused("multiply 1e39", Scalar::f64), "no error");
}

TEST(NetworkEach, RefusesWhatIsNoFunction) {
  const auto refused = [](const std::string& function) {
    return message_of(ErrorCode::value, [&] { operators::each(function); });
  };
  EXPECT_THAT(refused("ad 5"), HasSubstr("did you mean `add`?"));
  EXPECT_THAT(refused("add"), HasSubstr("got no constant, wanted `add C`"));
  EXPECT_THAT(refused("negate 5"), HasSubstr("got a constant, wanted `negate`"));
  for (const char* const none :
       {"add x", "add 1e", "add inf", "add nan", "add 5 6", "add --5", "add 0x", "add ."}) {
    EXPECT_THAT(refused(none), HasSubstr("wanted a finite number")) << none;
  }
  EXPECT_THAT(refused(""), HasSubstr("an unknown function"));
  EXPECT_THAT(message_of(ErrorCode::value, [] { operators::each("negate", "a = -a;", nullptr); }),
              HasSubstr("the name of a built-in operator"));
  EXPECT_THAT(message_of(ErrorCode::value, [] { pairs(operators::each("negate"), 3); }),
              HasSubstr("an elementwise function, wanted an operator on pairs; each(negate)"));
  EXPECT_THAT(message_of(ErrorCode::value, [] { each(operators::min_max(), 3); }),
              HasSubstr("an operator on pairs, wanted an elementwise function"));
}

TEST(NetworkEach, IsReadAndPrinted) {
  EXPECT_EQ(parse_program("each(add 5)", 3), each(operators::each("add 5"), 3));
  EXPECT_EQ(parse_program("each( multiply   -0.5 ) . each(not)", 0),
            each(operators::each("multiply -0.5"), 0) * each(operators::each("not"), 0));
  EXPECT_EQ(parse_program("parm(3; each(xor 0xff))", 3), parm(3, each(operators::each("xor 0xff"), 2)));
  const Program own = parse_program(R"(each(half "a /= 2;"))", 4);
  EXPECT_EQ(own.op().kind, OperatorKind::user_elementwise);
  EXPECT_EQ(to_text(own), R"(each(half "a /= 2;"))");
  for (const char* const text : {"each(add 5)", "two(each(min -3)) . pairs(min_max)", "each(multiply 1e-3)",
                                 R"(parm(0x3; each(f "a = 0;")))"}) {
    EXPECT_EQ(to_text(parse_program(text, 3)), text);
    EXPECT_EQ(parse_program(to_text(parse_program(text, 3)), 3), parse_program(text, 3));
  }
  EXPECT_EQ(report_of([] { parse_program("each", 3); }).code, ErrorCode::spec);
  EXPECT_EQ(report_of([] { parse_program("each(", 3); }).code, ErrorCode::spec);
  EXPECT_EQ(report_of([] { parse_program("each()", 3); }).code, ErrorCode::spec);
  EXPECT_EQ(report_of([] { parse_program("each(add 5", 3); }).code, ErrorCode::spec);
  EXPECT_THAT(message_of(ErrorCode::value, [] { parse_program("two(each(add y))", 3); }),
              HasSubstr("network `each(add y)`"));
  EXPECT_THAT(message_of(ErrorCode::value,
                         [] { check_element(parse_program("two(each(not))", 3), {.scalar = Scalar::f32}); }),
              HasSubstr("network `each(not)`: each(not): got elements of type f32"));
}

TEST(NetworkEach, LeavesEveryParmAndMeetsEveryMap) {
  const Operator f = operators::each("multiply 3");
  for (int n = 1; n <= 5; ++n) {
    for (f2::Word mask = 1; mask <= f2::low_mask(n); ++mask) {
      const Program inside = parm(mask, each(f, n - 1));
      ASSERT_EQ(rules::lift_each(inside), each(f, n));
      expect_same_effect(inside, each(f, n), to_text(inside));
    }
    const Program moved = each(f, n) * bmmc(maps::random_bmmc(n, 3));
    const std::optional<Program> hoisted = rules::hoist_bmmc(moved);
    ASSERT_TRUE(hoisted);
    ASSERT_EQ(hoisted->parts().back(), each(f, n));
    expect_same_effect(moved, *hoisted, to_text(moved));
  }
  // Two maps with a function between them become one.
  const Program between = bmmc(maps::random_bmmc(5, 1)) * each(f, 5) * bmmc(maps::random_bmmc(5, 2));
  const Rewriting rewriting = rewrite(between);
  EXPECT_EQ(rewriting.sweeps_after, 2U);
  expect_same_effect(between, rewriting.after, "fused");
}

// Whatever stands in a program, rewriting keeps its effect.
TEST(NetworkEach, RandomProgramsAreRewrittenAndPlannedRight) {
  std::mt19937_64 random(11);
  const std::vector<Operator> ops{witness(), operators::min_max(), operators::hadamard()};
  for (int i = 0; i < 300; ++i) {
    const int n = 1 + static_cast<int>(random() % 6);
    const Program tail = random_program(n, 3, ops, random);
    const Program program = random_program(n, 3, ops, random) * each(operators::each("add 77"), n) *
                            parm(random() % f2::low_mask(n) + 1, each(operators::each("xor 0x5a5a"), n - 1)) *
                            tail;
    expect_same_effect(program, rewrite(program).after, "rewritten");
    const NormalForm form = normal_form(program);
    std::size_t functions = 0;
    for (const Layer& layer : form.layers) functions += is_elementwise(layer.op.kind) ? 1 : 0;
    EXPECT_EQ(functions, 2U);
    if (HasFailure()) return;
  }
}

// A function takes no pass of its own: the layers beside it decide.
TEST(NetworkEach, TakesNoPass) {
  const Program plain = merge(20);
  const Program with = each(operators::each("add 1"), 20) * plain * each(operators::each("negate"), 20);
  const auto passes = [](const Program& program) {
    return Plan({.program = program, .element = kU32}, {}, Engine::cpu).passes().size();
  };
  EXPECT_EQ(passes(with), passes(plain));
}

// --- names

TEST(NetworkNames, WhatWasTypedStays) {
  for (const char* const text : {"bmmc(random_bmmc(20, 1))", "bmmc(flip(1048576))", "bmmc(swap_bits(3, 7))",
                                 "bmmc(compose(gray(20), random_bmmc(20, 4)))"}) {
    const Program program = parse_program(text, 20);
    EXPECT_EQ(to_text(program), text);
    EXPECT_EQ("bmmc(" + normal_form(program).final_text + ")", text);
    EXPECT_EQ(parse_program(to_text(program), 20), program);
    const std::string explained = Plan({.program = program, .element = kU32}, {}, Engine::cpu).explain();
    EXPECT_THAT(explained, HasSubstr(text));
    EXPECT_EQ(explained.find("affine("), std::string::npos) << explained;
  }
  EXPECT_EQ(to_text(parse_program("two(bmmc(random_bmmc(n-1, 1)))", 4)), "two(bmmc(random_bmmc(3, 1)))");
  EXPECT_EQ(to_text(parse_program("bmmc(gray)", 4)), "bmmc(gray(4))");  // a bare name has no size
  EXPECT_EQ(to_text(parse_program("bmmc(gray)", 1)), "bmmc(gray(1))");
  EXPECT_EQ(to_text(parse_program("bmmc(flip) . bmmc(reverse)", 4)), "bmmc(flip(16)) . bmmc(reverse(4))");
  EXPECT_EQ(to_text(parse_program("bmmc(A = 2 1)", 2)), to_text(bmmc(maps::bit_reversal(2))));
  // Names that were given do not make programs different.
  EXPECT_EQ(parse_program("bmmc(flip(16))", 4), bmmc(maps::reverse(4)));
}

TEST(NetworkNames, ProductsKeepTheNamesOfTheirFactors) {
  const Program program = parse_program("bmmc(random_bmmc(20, 1)) . bmmc(random_bmmc(20, 2))", 20);
  const Program after = rewrite(program).after;
  EXPECT_EQ(to_text(after), "bmmc(compose(random_bmmc(20, 1), random_bmmc(20, 2)))");
  EXPECT_EQ(parse_program(to_text(after), 20), after);
  // A name that the map no longer has is gone.
  const NormalForm form = normal_form(program);
  EXPECT_EQ(form.final_text, "");
  EXPECT_EQ(normal_form(parse_program("pairs(min_max) . bmmc(random_bmmc(20, 1))", 20)).final_text,
            "random_bmmc(20, 1)");
  EXPECT_EQ(normal_form(parse_program("two(bmmc(random_bmmc(19, 1)))", 20)).final_text, "");
}

TEST(NetworkNames, MapsOfStrangersMakeFewIndexArrays) {
  const std::string map = "bmmc(compose(random(2^20, 1), inverse(random(2^20, 1))))";
  std::string text = map;
  for (int i = 0; i < 40; ++i) text += " . " + map;
  EXPECT_THAT(message_of(ErrorCode::value, [&] { parse_program(text, 20); }),
              HasSubstr("wanted at most 71303168 entries in all maps of a program"));
}

}  // namespace network_each_test
}  // namespace faro::network
