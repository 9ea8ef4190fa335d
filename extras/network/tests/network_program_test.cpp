// Programs as values: sizes, refusals that name their sub-expression, and what the combinators mean.
#include <gmock/gmock.h>

#include "faro/network/program.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_program_test {

using test::report_of;

using operators::fourier;
using operators::hadamard;
using operators::min_max;
using ::testing::HasSubstr;

std::vector<std::uint32_t> counting(int n) {
  std::vector<std::uint32_t> values(std::size_t{1} << n);
  for (std::size_t x = 0; x < values.size(); ++x) values[x] = static_cast<std::uint32_t>(x);
  return values;
}

TEST(NetworkProgram, ReadsLikeTheRecurrence) {
  const Program f = parm(3, pairs(min_max(), 1)) * two(pairs(min_max(), 1));
  EXPECT_EQ(f.kind(), ProgramKind::compose);
  EXPECT_EQ(f.bits(), 2);
  EXPECT_EQ(f.leaves(), 2U);
  ASSERT_EQ(f.parts().size(), 2U);
  EXPECT_EQ(f.parts()[0].mask(), 3U);
  EXPECT_EQ(f.parts()[1].mask(), 2U) << "two halves by the top bit";
  EXPECT_EQ(f.parts()[1].part(), pairs(min_max(), 1));
}

TEST(NetworkProgram, CompositionIsAListWhateverTheParentheses) {
  const Program a = bmmc(maps::gray(3));
  const Program b = pairs(min_max(), 3);
  const Program c = bmmc(maps::reverse(3));
  EXPECT_EQ((a * b) * c, a * (b * c));
  EXPECT_EQ(composition({a, b, c}, 3), a * b * c);
  EXPECT_EQ(composition({a * b, c}, 3), a * b * c);
  EXPECT_EQ(composition({}, 3), identity(3));
  EXPECT_EQ(composition({a}, 3), a);
  EXPECT_NE(a * b, b * a);
}

TEST(NetworkProgram, TheRightOneRunsFirst) {
  // 0 1 2 3 reversed is 3 2 1 0; then neighbours in order: 2 3 0 1.
  const Program f = pairs(min_max(), 2) * bmmc(maps::reverse(2));
  EXPECT_EQ(interpret(f, kU32, counting(2)), (std::vector<std::uint32_t>{2, 3, 0, 1}));
  const Program g = bmmc(maps::reverse(2)) * pairs(min_max(), 2);
  EXPECT_EQ(interpret(g, kU32, counting(2)), (std::vector<std::uint32_t>{3, 2, 1, 0}));
}

TEST(NetworkProgram, BmmcMovesToTheImage) {
  // Transposing 4 x 4 moves index 6 to index 9.
  EXPECT_EQ(interpret(bmmc(maps::transpose(4, 4)), kU32, counting(4))[9], 6U);
}

// Bouverot-Dupuis and Sheeran, figure 14: 8 elements, mask 0b110.
TEST(NetworkProgram, ParmSplitsAsFigure14Shows) {
  constexpr int kSubArray[8] = {0, 0, 1, 1, 1, 1, 0, 0};
  constexpr std::uint64_t kSubIndex[8] = {0, 1, 0, 1, 2, 3, 2, 3};
  const Affine a = maps::parm(3, 6);
  EXPECT_EQ(a.matrix().column_span()[0], 0b001U);
  EXPECT_EQ(a.matrix().column_span()[1], 0b100U);
  EXPECT_EQ(a.matrix().column_span()[2], 0b110U);
  for (std::uint64_t x = 0; x < 8; ++x) {
    EXPECT_EQ(a(x) >> 2, static_cast<std::uint64_t>(kSubArray[x])) << "x = " << x;
    EXPECT_EQ(a(x) & 3, kSubIndex[x]) << "x = " << x;
  }
  // The sub-arrays are 0 1 6 7 and 2 3 4 5; each is reversed.
  EXPECT_EQ(interpret(parm(6, bmmc(maps::reverse(2))), kU32, counting(3)),
            (std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0}));
  // Rotated by one place within each: 1 6 7 0 -> places 0 1 6 7.
  EXPECT_EQ(interpret(parm(6, bmmc(maps::xor_mask(2, 1))), kU32, counting(3)),
            (std::vector<std::uint32_t>{1, 0, 3, 2, 5, 4, 7, 6}));
}

TEST(NetworkProgram, PairNumbersAreThoseOfTheSubArray) {
  // witness adds the pair's number p: in each half they begin at 0 again, and k is 2.
  const std::vector<std::uint32_t> zeros(8, 0);
  const std::vector<std::uint32_t> halves = interpret(two(pairs(witness(), 2)), kU32, zeros);
  const std::uint32_t second = 2 * 131 + 1;
  EXPECT_EQ(halves, (std::vector<std::uint32_t>{7, second, 8, second, 7, second, 8, second}));
}

TEST(NetworkProgram, RefusalsNameTheSubExpression) {
  const Program inner = pairs(min_max(), 2);
  ErrorReport report = report_of([&] { parm(0, inner); });
  EXPECT_EQ(report.code, ErrorCode::value);
  EXPECT_EQ(report.operation, "network `parm(0x0; pairs(min_max))`");
  EXPECT_EQ(report.got, "a mask of zero");

  report = report_of([&] { parm(8, inner); });
  EXPECT_EQ(report.operation, "network `parm(0x8; pairs(min_max))`");
  EXPECT_THAT(report.wanted, HasSubstr("below 2^3"));
  EXPECT_NO_THROW(parm(7, inner));

  report = report_of([&] { return two(inner) * inner; });
  EXPECT_EQ(report.operation, "network `two(pairs(min_max)) . pairs(min_max)`");
  EXPECT_EQ(report.got, "2^3 elements after 2^2");
  report = report_of([&] { composition({inner, inner, two(inner)}, 2); });
  EXPECT_EQ(report.code, ErrorCode::value);

  for (const int n : {-1, 0, 65}) {
    report = report_of([&] { pairs(hadamard(), n); });
    EXPECT_EQ(report.operation, "network `pairs(hadamard)`") << n;
  }
  EXPECT_EQ(report_of([] { identity(65); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([] { two(identity(64)); }).code, ErrorCode::value);
  EXPECT_EQ(report_of([] { parm(1, identity(64)); }).code, ErrorCode::value);
}

TEST(NetworkProgram, AnOperatorThatDoesNotFitIsNamed) {
  const Program program = parm(1, pairs(fourier(), 2)) * parm(1, pairs(min_max(), 2));
  ErrorReport report = report_of([&] { check_element(program, kU32); });
  EXPECT_EQ(report.code, ErrorCode::value);
  EXPECT_THAT(report.operation, HasSubstr("pairs(fourier)"));
  report = report_of([&] { check_element(program, {.scalar = Scalar::c64, .with_value = false}); });
  EXPECT_THAT(report.operation, HasSubstr("pairs(min_max)"));
  EXPECT_NO_THROW(check_element(pairs(min_max(), 3), {.scalar = Scalar::f64, .with_value = true}));
}

TEST(NetworkProgram, DoublingPastTheLimitIsRefused) {
  Program f = pairs(min_max(), 1);
  const ErrorReport report = report_of([&] {
    for (int i = 0; i < 30; ++i) f = f * f;
  });
  EXPECT_EQ(report.code, ErrorCode::value);
  EXPECT_THAT(report.wanted, HasSubstr("1048576"));
  EXPECT_LE(report.operation.size(), 200U);
}

TEST(NetworkProgram, InterpretRefusesOtherSizes) {
  std::vector<std::uint32_t> seven(7);
  const ErrorReport report = report_of([&] { interpret(sort(3), kU32, seven); });
  EXPECT_EQ(report.got, "28 bytes");
}

}  // namespace network_program_test
}  // namespace faro::network
