// Elementwise functions and users' operators on the CPU: programs of any shape beside the interpreter and
// plain loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "network/verify.hpp"
#include "network_engine_support.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_each_engine_test {

using engine_testing::check;
using test::message_of;

template <typename T>
std::vector<T> run(const Problem& problem, const std::vector<T>& in, int threads = 1) {
  std::vector<T> out(in.size());
  compile(problem, {.engine = Engine::cpu, .threads = threads})
      .run(std::span<const T>(in), std::span<T>(out));
  return out;
}

// Halves, the mirrored pairs of parm(3; .), and functions before, between and after: by hand.
TEST(NetworkEachEngine, IsThePlainLoop) {
  constexpr int n = 14;
  const Program program =
      parse_program("each(xor 0xf0f0) . vcolumn . each(multiply 2654435761) . two(each(add 12345))", n);
  std::vector<std::uint32_t> in(std::size_t{3} << n);
  std::iota(in.begin(), in.end(), 17U);
  std::vector<std::uint32_t> wanted = in;
  for (std::size_t first = 0; first < wanted.size(); first += std::size_t{1} << n) {
    std::uint32_t* const array = wanted.data() + first;
    for (std::uint32_t x = 0; x < 1U << n; ++x) array[x] = (array[x] + 12345) * 2654435761U;
    for (std::uint32_t x = 0; x < 1U << (n - 1); ++x) {
      std::uint32_t& mirrored = array[(1U << n) - 1 - x];
      if (mirrored < array[x]) std::swap(mirrored, array[x]);
    }
    for (std::uint32_t x = 0; x < 1U << n; ++x) array[x] ^= 0xf0f0;
  }
  const Problem problem{.program = program, .element = {}, .batch = 3};
  EXPECT_EQ(run(problem, in), wanted);
  EXPECT_EQ(run(problem, in, 3), wanted);
  const auto bytes = [](const std::vector<std::uint32_t>& values) {
    return std::as_bytes(std::span(values));
  };
  EXPECT_EQ(verify(problem, bytes(in), bytes(wanted)).method, "every bit, against one layer after another");
  wanted.back() ^= 1;
  EXPECT_THROW(verify(problem, bytes(in), bytes(wanted)), Error);
}

TEST(NetworkEachEngine, EveryTypeAndShapeIsTheInterpreters) {
  std::mt19937_64 random(3);
  const std::vector<std::string> integers{"each(not) . parm(5; pairs(min_max)) . each(add 9)",
                                          "wht . each(multiply 5) . bmmc(gray) . each(xor 77)",
                                          "two(each(max 12)) . bmmc(random_bmmc(n, 3)) . each(negate) . sort",
                                          "each(and 0xffff)"};
  const std::vector<std::string> floats{"each(multiply 0.25) . wht . each(add 1.5) . bmmc(bit_reversal)",
                                        "parm(3; each(absolute)) . sort . each(negate)"};
  const std::vector<std::string> complex{"each(conjugate) . bmmc(random_bmmc(n, 5)) . each(add 2)",
                                         "each(multiply 0.5) . wht . each(negate)"};
  for (const char* const name : {"i32", "u32", "i64", "u64", "f32", "f64", "c64", "c128"}) {
    const ElementType element = parse_element_type(name);
    const std::vector<std::string>& texts = is_complex(element.scalar) ? complex
                                            : is_float(element.scalar) ? floats
                                                                       : integers;
    for (const std::string& text : texts) {
      for (const int n : {3, 7, 12}) {
        check({.program = parse_program(text, n),
               .element = element,
               .batch = 1 + random() % 3,
               .sizes = n == 12 ? Sizes{.tile_bits = 6, .segment_bits = 2} : Sizes{},
               .threads = 1 + static_cast<int>(random() % 3),
               .in_offset = static_cast<std::size_t>(random() % 2),
               .out_offset = static_cast<std::size_t>(random() % 3),
               .seed = random()});
        if (HasFailure()) return;
      }
    }
  }
}

TEST(NetworkEachEngine, ChangesArraysOfOneElement) {
  const Problem problem{
      .program = parse_program("each(add 5) . each(multiply 3)", 0), .element = {}, .batch = 3};
  EXPECT_EQ(run<std::uint32_t>(problem, {1, 2, 3}), (std::vector<std::uint32_t>{8, 11, 14}));
  EXPECT_NE(compile(problem).explain().find("changed where it is"), std::string::npos);
  const auto bytes = [](const std::vector<std::uint32_t>& values) {
    return std::as_bytes(std::span(values));
  };
  const std::vector<std::uint32_t> in{1, 2, 3};
  EXPECT_NO_THROW(verify(problem, bytes(in), bytes({8, 11, 14})));
  EXPECT_THROW(verify(problem, bytes(in), bytes(in)), Error);
}

// Typed functions: pairs, with and without the pair's number, and single elements.
TEST(NetworkEachEngine, UsersFunctionsTakeTheirOwnTypes) {
  constexpr int n = 11;
  const auto bounded = operators::user<float>("bounded", [](float& a, float& b) {
    const float sum = a + b;
    a = sum > 100 ? sum / 2 : sum;
    b = a - b;
  });
  const auto numbered = operators::user<float>("numbered", [](float& a, float& b, std::uint64_t p, int k) {
    a += static_cast<float>(p);
    b -= static_cast<float>(k);
  });
  const auto halved = operators::each<float>("halved", [](float v) { return v / 2; });
  const Program program = each(halved, n) * two(pairs(numbered, n - 1)) * pairs(bounded, n);
  std::vector<float> in(std::size_t{1} << n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 173) / 4;
  std::vector<float> wanted = in;
  for (std::size_t p = 0; p < wanted.size() / 2; ++p) {
    float& a = wanted[2 * p];
    float& b = wanted[2 * p + 1];
    const float sum = a + b;
    a = sum > 100 ? sum / 2 : sum;
    b = a - b;
    a += static_cast<float>(p % (wanted.size() / 4));
    b -= static_cast<float>(n - 1);
  }
  for (float& value : wanted) value /= 2;
  const Problem problem{.program = program, .element = {.scalar = Scalar::f32}};
  EXPECT_EQ(run(problem, in), wanted);
  EXPECT_EQ(run(problem, in, 2), wanted);
  EXPECT_NE(message_of(ErrorCode::value, [&] { compile({.program = program, .element = {}}); })
                .find("each(halved): got elements of type u32, wanted f32, which its function takes"),
            std::string::npos);

  const auto swapped = operators::each<KeyValue<double>>("swapped", [](KeyValue<double> v) {
    return KeyValue<double>{v.value, v.key};
  });
  const std::vector<double> pairs_in{1, 2, 3, 4};
  const Problem keyed{.program = each(swapped, 1), .element = {.scalar = Scalar::f64, .with_value = true}};
  EXPECT_EQ(run(keyed, pairs_in), (std::vector<double>{2, 1, 4, 3}));
}

// Users' operators by their text alone: Euclid's steps, beside the same in C++.
TEST(NetworkEachEngine, TextsRunOnTheCpu) {
  constexpr int n = 12;
  const Program program = parse_program(
      R"(each(tidy "if (a > 1000u) { a -= 1000; } else a |= 1;") . parm(5; pairs(step "auto m = b == 0 ? a : a % b; a = b + p; b = m ^ n;")))",
      n);
  std::vector<std::uint32_t> in(std::size_t{2} << n);
  std::mt19937 random(9);
  for (std::uint32_t& value : in) value = static_cast<std::uint32_t>(random() % 5000);
  std::vector<std::uint32_t> wanted = in;
  for (std::size_t first = 0; first < wanted.size(); first += std::size_t{1} << n) {
    std::vector<std::size_t> sides[2];
    for (std::size_t x = 0; x < std::size_t{1} << n; ++x) sides[(x ^ x >> 2) & 1].push_back(first + x);
    for (const std::vector<std::size_t>& side : sides) {
      for (std::size_t p = 0; p < side.size() / 2; ++p) {
        std::uint32_t& a = wanted[side[2 * p]];
        std::uint32_t& b = wanted[side[2 * p + 1]];
        const std::uint32_t m = b == 0 ? a : a % b;
        a = b + static_cast<std::uint32_t>(p);
        b = m ^ static_cast<std::uint32_t>(n - 1);
      }
    }
  }
  for (std::uint32_t& a : wanted) {
    if (a > 1000) {
      a -= 1000;
    } else {
      a |= 1;
    }
  }
  const Problem problem{.program = program, .element = {}, .batch = 2};
  EXPECT_EQ(run(problem, in), wanted);
  EXPECT_EQ(run(problem, in, 2), wanted);
  const auto bytes = [](const std::vector<std::uint32_t>& values) {
    return std::as_bytes(std::span(values));
  };
  EXPECT_NO_THROW(verify(problem, bytes(in), bytes(wanted)));
  const Problem complex{.program = program, .element = {.scalar = Scalar::c64}};
  EXPECT_NE(message_of(ErrorCode::unsupported, [&] { compile(complex); }).find("on elements of type c64"),
            std::string::npos);
}

// What a text divides by is seen when it is run.
TEST(NetworkEachEngine, ATextThatDividesByZeroIsRefused) {
  const Problem problem{.program = parse_program(R"(pairs(quotient "a = a / b;"))", 3), .element = {}};
  EXPECT_EQ(message_of(ErrorCode::value,
                       [&] {
                         run<std::uint32_t>(problem, {1, 2, 3, 4, 5, 0, 7, 8});
                       }),
            "pairs(quotient) on engine cpu: got a division by zero, wanted a number to divide by");
}

}  // namespace network_each_engine_test
}  // namespace faro::network
