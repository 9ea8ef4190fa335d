// Polynomials over F2: division, common divisors, reciprocals.
#include <gtest/gtest.h>

#include "f2/polynomial.hpp"

namespace faro::f2 {
namespace f2_polynomial_test {

static_assert(multiply(0b11, 0b1011) == 0b11101);
static_assert(divide(0b11101, 0b1011).quotient == 0b11 && divide(0b11101, 0b1011).remainder == 0);
static_assert(divide(0b1000, 0b1011).quotient == 1 && divide(0b1000, 0b1011).remainder == 0b11);
static_assert(greatest_common_divisor(0b11101, 0b101) == 0b11);  // (x + 1)(x^3 + x + 1) and (x + 1)^2
static_assert(greatest_common_divisor(0b1011, 0) == 0b1011);
static_assert(reciprocal(0b1011) == 0b1101 && reciprocal(0b111) == 0b111);

TEST(Polynomials, DivisionAndDivisors) {
  for (Word p = 0; p < 256; ++p) {
    for (Word q = 1; q < 64; ++q) {
      const auto [quotient, remainder] = divide(p, q);
      ASSERT_EQ(multiply(quotient, q) ^ remainder, p);
      ASSERT_TRUE(remainder == 0 || degree(remainder) < degree(q));
      if (p == 0) continue;
      const Word d = greatest_common_divisor(p, q);
      ASSERT_EQ(divide(p, d).remainder, 0U);
      ASSERT_EQ(divide(q, d).remainder, 0U);
      const auto [of_p, of_q] = coprime_parts(p, q);
      ASSERT_EQ(divide(p, of_p).remainder, 0U);
      ASSERT_EQ(divide(q, of_q).remainder, 0U);
      ASSERT_EQ(greatest_common_divisor(of_p, of_q), 1U);
      ASSERT_EQ(multiply(multiply(of_p, of_q), d), multiply(p, q));  // their product is the lcm
      if ((p & q & 1) != 0) {
        ASSERT_EQ(reciprocal(multiply(p, q)), multiply(reciprocal(p), reciprocal(q)));
      }
    }
  }
}

}  // namespace f2_polynomial_test
}  // namespace faro::f2
