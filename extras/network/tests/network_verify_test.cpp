// verify() passes what is right and finds what is wrong: every element, either array, each of its methods.
#include <gmock/gmock.h>

#include <cmath>
#include <complex>

#include "faro/network/program.hpp"
#include "network/verify.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_verify_test {

using test::report_of;

using ::testing::HasSubstr;

template <typename Value>
Verification check(const Problem& problem, const std::vector<Value>& in, const std::vector<Value>& out) {
  return verify(problem, std::as_bytes(std::span(in)), std::as_bytes(std::span(out)));
}

TEST(NetworkVerify, FindsEveryWrongElementOfASort) {
  const Problem problem{.program = sort(6), .element = kU32, .batch = 2};
  std::vector<std::uint32_t> in = random_values(7, 3);
  std::vector<std::uint32_t> out = in;
  std::sort(out.begin(), out.begin() + 64);
  std::sort(out.begin() + 64, out.end());
  EXPECT_THAT(check(problem, in, out).method, HasSubstr("sorted"));
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<std::uint32_t> wrong = out;
    wrong[i] ^= 1;  // perhaps still in order
    EXPECT_EQ(report_of([&] { check(problem, in, wrong); }).code, ErrorCode::verification) << i;
  }
  std::vector<std::uint32_t> swapped = out;
  std::swap(swapped[0], swapped[1]);
  EXPECT_THAT(report_of([&] { check(problem, in, swapped); }).wanted, HasSubstr("no element smaller"));
  // Sorted across arrays is not sorted in each.
  std::vector<std::uint32_t> whole = in;
  std::sort(whole.begin(), whole.end());
  EXPECT_EQ(report_of([&] { check(problem, in, whole); }).code, ErrorCode::verification);
}

TEST(NetworkVerify, ComparesEveryBitOfOtherPrograms) {
  std::mt19937_64 random(3);
  const std::vector<Operator> ops{operators::min_max(), operators::hadamard(), witness()};
  for (int i = 0; i < 200; ++i) {
    const int n = static_cast<int>(random() % 6);
    const Problem problem{.program = random_program(n, 4, ops, random), .element = kU32, .batch = 1};
    const std::vector<std::uint32_t> in = random_values(n, random());
    std::vector<std::uint32_t> out = interpret(problem.program, kU32, in);
    EXPECT_NO_THROW(check(problem, in, out)) << "--bits " << n << " '" << to_text(problem.program) << "'";
    out[random() % out.size()] ^= 4;
    EXPECT_EQ(report_of([&] { check(problem, in, out); }).code, ErrorCode::verification);
  }
}

TEST(NetworkVerify, MeasuresTheRoundingOfFloats) {
  const ElementType element{.scalar = Scalar::c64, .with_value = false};
  const Problem problem{.program = fft(8), .element = element, .batch = 1};
  std::vector<std::complex<float>> in(256);
  for (std::size_t x = 0; x < in.size(); ++x) in[x] = {static_cast<float>(x % 13), static_cast<float>(x % 7)};
  std::vector<std::complex<float>> out = interpret(problem.program, element, in);
  const Verification verification = check(problem, in, out);
  EXPECT_LT(verification.error, verification.bound);
  EXPECT_GT(verification.bound, 0);
  out[77] += std::complex<float>(1, 0);
  EXPECT_THAT(report_of([&] { check(problem, in, out); }).got, HasSubstr("relative error"));
  out[77] = {std::nanf(""), 0};
  EXPECT_EQ(report_of([&] { check(problem, in, out); }).code, ErrorCode::verification);
}

TEST(NetworkVerify, MeasuresLargeAndSmallFloats) {
  for (const double size : {1e-310, 1e-200, 1e200, 1e308}) {
    const Problem problem{
        .program = fft(8), .element = {.scalar = Scalar::c128, .with_value = false}, .batch = 1};
    std::vector<std::complex<double>> in(256);
    for (std::size_t x = 0; x < in.size(); ++x) in[x] = size * std::sin(static_cast<double>(x * x)) / 256;
    std::vector<std::complex<double>> out = interpret(problem.program, problem.element, in);
    for (auto& value : out) value *= 1 + 0x1p-52;
    EXPECT_NO_THROW(check(problem, in, out)) << size;
    out[77] += size;
    EXPECT_EQ(report_of([&] { check(problem, in, out); }).code, ErrorCode::verification) << size;
  }
  // 3e38 + 3e38 is no float, and a double.
  const Problem problem{
      .program = wht(3), .element = {.scalar = Scalar::f32, .with_value = false}, .batch = 1};
  const std::vector<float> in(8, 3e38F);
  std::vector<float> out = interpret(problem.program, problem.element, in);
  EXPECT_NO_THROW(check(problem, in, out));
  out[0] = 3e38F;
  EXPECT_EQ(report_of([&] { check(problem, in, out); }).code, ErrorCode::verification);
}

TEST(NetworkVerify, RefusesOtherSizes) {
  const Problem problem{.program = sort(3), .element = kU32, .batch = 1};
  const std::vector<std::uint32_t> seven(7);
  EXPECT_EQ(report_of([&] { check(problem, seven, seven); }).code, ErrorCode::value);
  const std::vector<std::uint32_t> none;
  EXPECT_NO_THROW(check({.program = sort(3), .element = kU32, .batch = 0}, none, none));
}

}  // namespace network_verify_test
}  // namespace faro::network
