// Multiplications modulo a count on the CPU, against their definition element by element.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "faro/faro.hpp"
#include "refusal.hpp"

namespace cpu_modular_engine_test {

using namespace faro;
using Bytes = std::vector<std::byte>;

void expect_permuted(const Modular& map, std::uint64_t width, std::uint64_t batch, int threads,
                     std::mt19937_64& random) {
  constexpr std::uint64_t kGuard = 33;
  const std::uint64_t size = map.count * width * batch;
  Bytes in(size + 1);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  Bytes out(size + 2 * kGuard, std::byte{0xa5});
  Bytes expected = out;
  for (std::uint64_t b = 0; b < batch; ++b) {
    for (std::uint64_t x = 0; x < map.count; ++x) {
      std::memcpy(expected.data() + kGuard + (b * map.count + map(x)) * width,
                  in.data() + 1 + (b * map.count + x) * width, width);
    }
  }
  permute(map, width, std::span<const std::byte>(in).subspan(1),
          std::span<std::byte>(out).subspan(kGuard, size), threads);
  ASSERT_TRUE(out == expected) << "affine_mod(" << map.count << ", " << map.factor << ", " << map.shift
                               << "), " << width << " bytes, " << batch << " arrays, " << threads
                               << " threads";
}

TEST(CpuModular, EverySmallMap) {
  std::mt19937_64 random(1);
  for (std::uint64_t count = 1; count <= 64; ++count) {
    for (std::uint64_t factor = 0; factor < count; ++factor) {
      if (std::gcd(factor, count) != 1) continue;
      const Modular map = maps::affine_mod(count, static_cast<std::int64_t>(factor),
                                           static_cast<std::int64_t>(random() % count));
      expect_permuted(map, 1 + random() % 20, 1 + random() % 3, 1, random);
    }
  }
}

TEST(CpuModular, LargeMapsOfEveryWidth) {
  std::mt19937_64 random(2);
  for (const std::uint64_t width : {1, 2, 3, 4, 8, 12, 16, 100, 4096}) {
    for (const std::uint64_t count :
         {std::uint64_t{900}, std::uint64_t{1} << 12, std::uint64_t{10007}, std::uint64_t{30000}}) {
      if (width * count > 4'000'000) continue;
      for (int k = 0; k < 4; ++k) {
        const std::vector<std::uint64_t> special{1, count - 1, 7, count / 2 + 1};
        std::uint64_t factor = k == 0 ? special[random() % special.size()] : random() % count;
        while (std::gcd(factor, count) != 1) factor = (factor + 1) % count;
        const Modular map = maps::affine_mod(count, static_cast<std::int64_t>(factor),
                                             static_cast<std::int64_t>(random() % count));
        expect_permuted(map, width, width < 100 ? 3 : 1, 1 + static_cast<int>(random() % 4), random);
      }
    }
  }
}

// The definition: coefficient i to k i mod n, negated by the parity of the quotient.
template <typename T, typename Negate>
void expect_negacyclic(std::uint64_t n, std::int64_t k, const Negation& negation, const Negate& negate,
                       std::mt19937_64& random) {
  constexpr std::uint64_t kBatch = 3;
  std::vector<T> in(n * kBatch);
  for (T& x : in)
    x = static_cast<T>(negation.modulus == 0 ? random() >> (65 - 8 * sizeof(T))
                                             : random() % negation.modulus);
  std::vector<T> out(in.size(), T{77});
  std::vector<T> expected(in.size());
  const auto doubled = static_cast<std::int64_t>(2 * n);
  const auto factor = static_cast<std::uint64_t>((k % doubled + doubled) % doubled);
  for (std::uint64_t b = 0; b < kBatch; ++b) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t product = factor * i % (2 * n);
      const T x = in[b * n + i];
      expected[b * n + product % n] = product >= n ? negate(x) : x;
    }
  }
  permute_negacyclic(n, k, negation, std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), 2);
  ASSERT_EQ(out, expected) << n << " coefficients, k = " << k << ", " << name(negation.number);
}

TEST(CpuModular, AutomorphismsOfNegacyclicPolynomials) {
  std::mt19937_64 random(3);
  const auto minus = [](auto x) { return static_cast<decltype(x)>(-x); };
  for (const std::uint64_t n : {1, 2, 3, 8, 15, 64, 1000, 4096, 65536}) {
    for (const std::int64_t wanted : {std::int64_t{1}, std::int64_t{5}, std::int64_t{-1},
                                      static_cast<std::int64_t>(n) + 1, std::int64_t{12345}}) {
      std::int64_t k = wanted;
      while (std::gcd(static_cast<std::uint64_t>(k < 0 ? -k : k), 2 * n) != 1) ++k;
      expect_negacyclic<std::int32_t>(n, k, {.number = Number::i32}, minus, random);
      expect_negacyclic<std::int64_t>(n, k, {.number = Number::i64}, minus, random);
      expect_negacyclic<double>(n, k, {.number = Number::f64}, minus, random);
      constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
      expect_negacyclic<std::uint64_t>(
          n, k, {.number = Number::u64, .modulus = kPrime},
          [&](std::uint64_t x) { return x == 0 ? 0 : kPrime - x; }, random);
      expect_negacyclic<std::uint16_t>(
          n, k, {.number = Number::u16, .modulus = 3329},
          [](std::uint16_t x) { return static_cast<std::uint16_t>(x == 0 ? 0 : 3329 - x); }, random);
    }
  }
  Bytes array(64);
  const std::span<std::byte> all(array);
  const std::array<std::uint64_t, 3> three{5, 7, 11};
  const auto code = [&](std::uint64_t n, std::int64_t k, const Negation& negation) {
    return test::code_of([&] { permute_negacyclic(n, k, negation, all.first(32), all.last(32)); });
  };
  EXPECT_EQ(code(4, 2, {}), ErrorCode::value);
  EXPECT_EQ(code(0, 1, {}), ErrorCode::value);
  EXPECT_EQ(code(5, 1, {}), ErrorCode::value);
  EXPECT_EQ(code(4, 3, {.number = Number::i64, .modulus = 7}), ErrorCode::value);
  EXPECT_EQ(code(8, 3, {.number = Number::u32, .modulus = std::uint64_t{1} << 33}), ErrorCode::value);
  EXPECT_EQ(code(4, 3, {.number = Number::u32, .moduli = three}), ErrorCode::value);  // of two polynomials
  EXPECT_EQ(code(4, 3, {.number = Number::u32, .modulus = 5, .moduli = std::span(three).first(2)}),
            ErrorCode::value);
  EXPECT_EQ(code(4, 3, {.number = Number::i32, .moduli = std::span(three).first(2)}), ErrorCode::value);
  EXPECT_NO_THROW(permute_negacyclic(4, 3, {.number = Number::u32, .moduli = std::span(three).first(2)},
                                     all.first(32), all.last(32)));
}

TEST(CpuModular, EachPolynomialHasItsModulus) {
  std::mt19937_64 random(4);
  constexpr std::uint64_t kParts = 3;
  for (const std::uint64_t n : {1U, 4U, 15U, 1024U, 65536U}) {
    for (const std::uint64_t residues : {1U, 2U, 5U, 70U}) {
      if (n * residues > 400000) continue;
      std::vector<std::uint64_t> moduli(residues);
      for (std::uint64_t& q : moduli) q = (random() >> 2) + 2;
      moduli.back() = 0;  // two's complement
      std::vector<std::uint64_t> in(kParts * residues * n);
      std::vector<std::uint64_t> out(in.size(), 77);
      std::vector<std::uint64_t> expected(in.size());
      const std::uint64_t k = n % 2 == 0 ? n + 1 : 2 * n - 1;
      for (std::uint64_t g = 0; g < in.size(); ++g) {
        const std::uint64_t q = moduli[g / n % residues];
        in[g] = g % 7 == 0 ? 0 : q == 0 ? random() : random() % q;
        const std::uint64_t y = g % n * k % (2 * n);
        expected[g / n * n + y % n] = y < n || in[g] == 0 ? in[g] : q - in[g];
      }
      permute_negacyclic(n, static_cast<std::int64_t>(k), {.number = Number::u64, .moduli = moduli},
                         std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), 2);
      ASSERT_EQ(out, expected) << residues << " residues of " << n;
    }
  }
}

TEST(CpuModular, RefusesWhatDoesNotFit) {
  Bytes array(64);
  const std::span<std::byte> all(array);
  const Modular map = maps::multiply(8, 3);
  const auto code = [&](const Modular& of, std::uint64_t width, std::span<std::byte> in,
                        std::span<std::byte> out) {
    return test::code_of([&] { permute(of, width, in, out); });
  };
  EXPECT_EQ(code(map, 0, all.first(8), all.last(8)), ErrorCode::value);
  EXPECT_EQ(code(map, 4097, all.first(8), all.last(8)), ErrorCode::value);
  EXPECT_EQ(code(map, 1, all.first(8), all.last(16)), ErrorCode::value);
  EXPECT_EQ(code(map, 1, all.first(9), all.last(9)), ErrorCode::value);
  EXPECT_EQ(code(map, 2, all.first(16), all.subspan(15, 16)), ErrorCode::value);
  EXPECT_EQ(code({.count = 8, .factor = 2, .shift = 0}, 1, all.first(8), all.last(8)), ErrorCode::value);
  EXPECT_EQ(code({.count = 8, .factor = 3, .shift = 8}, 1, all.first(8), all.last(8)), ErrorCode::value);
  EXPECT_NO_THROW(permute(map, 2, all.first(16), all.last(16)));
  EXPECT_NO_THROW(permute(map, 2, {}, {}));
}

}  // namespace cpu_modular_engine_test
