// Polynomials over F2 as words: bit i is the coefficient of x^i, so addition is XOR and x^3 + x + 1 is
// 0b1011.
//
// They name what a linear map does to a vector: its *annihilator* is the polynomial p of least degree with
// p(map) v = 0. Degrees stay below 64, and a product whose degree would not is the caller's mistake.
//
//     (x + 1)(x^3 + x + 1) = x^4 + x^3 + x^2 + 1        0b11 * 0b1011 = 0b11101
//     reciprocal: read backwards, x^3 + x + 1 <-> x^3 + x^2 + 1
#pragma once

#include "faro/f2/matrix.hpp"

namespace faro::f2 {

/// Degree of p != 0 (unchecked).
constexpr int degree(Word p) { return leading_bit(p); }

/// p q. Requires: degrees that add up to less than 64 (unchecked).
constexpr Word multiply(Word p, Word q) {
  Word product = 0;
  for (; q != 0; q &= q - 1) product ^= p << trailing_bit(q);
  return product;
}

struct Division {
  Word quotient = 0;
  Word remainder = 0;
};

/// Law: p = quotient q + remainder, deg remainder < deg q. Requires: q != 0 (unchecked).
constexpr Division divide(Word p, Word q) {
  Division result{.quotient = 0, .remainder = p};
  while (result.remainder != 0 && degree(result.remainder) >= degree(q)) {
    const int shift = degree(result.remainder) - degree(q);
    result.quotient |= unit(shift);
    result.remainder ^= q << shift;
  }
  return result;
}

/// The greatest common divisor; gcd(p, 0) = p.
constexpr Word greatest_common_divisor(Word p, Word q) {
  while (q != 0) {
    const Word rest = divide(p, q).remainder;
    p = q;
    q = rest;
  }
  return p;
}

/// x^deg p(1/x): the coefficients backwards. Law: for p with p(0) = 1, reciprocal(reciprocal(p)) = p.
constexpr Word reciprocal(Word p) {
  Word result = 0;
  for (; p != 0; p >>= 1) result = result << 1 | (p & 1);
  return result;
}

/// Two coprime polynomials, the first a divisor of p and the second of q, whose product is lcm(p, q): every
/// power of a prime goes to the side that has the higher one.
struct CoprimeParts {
  Word of_p = 1;
  Word of_q = 1;
};

/// Requires: p, q != 0 and deg lcm(p, q) < 64 (unchecked).
constexpr CoprimeParts coprime_parts(Word p, Word q) {
  const Word multiple_over_q = divide(p, greatest_common_divisor(p, q)).quotient;
  // The primes of `multiple_over_q` are those that p has a higher power of; strip p of all others.
  Word others = p;
  for (Word common = greatest_common_divisor(others, multiple_over_q); common != 1;
       common = greatest_common_divisor(others, common)) {
    others = divide(others, common).quotient;
  }
  const Word of_p = divide(p, others).quotient;
  // lcm = q * multiple_over_q.
  return {.of_p = of_p, .of_q = divide(multiply(q, multiple_over_q), of_p).quotient};
}

}  // namespace faro::f2
