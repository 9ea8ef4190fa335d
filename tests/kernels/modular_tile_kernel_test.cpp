// Multiplication modulo any count by the kernel of a GPU, a thread at a time on the host: against the
// definition, element by element.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/faro.hpp"
#include "kernels/evaluation_order.hpp"
#include "kernels/modular_launch.hpp"

namespace faro::testing {
namespace modular_tile_kernel_test {

using kernels::ModularSign;

template <typename Word>
void expect_multiplied(const Modular& map, std::uint64_t batch, bool wide = false, bool large = false) {
  SCOPED_TRACE(std::to_string(map.factor) + " x + " + std::to_string(map.shift) + " mod " +
               std::to_string(map.count) + ", " + std::to_string(sizeof(Word)) + " bytes");
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    auto in = device.buffer<Word>(map.count * batch);
    auto out = device.buffer<Word>(map.count * batch);
    std::mt19937_64 random(map.count);
    std::vector<Word> expected(map.count * batch);
    for (std::uint64_t g = 0; g < in.size(); ++g) {
      const std::uint64_t bits = random();
      std::memcpy(static_cast<void*>(in.data() + g), &bits, std::min(sizeof(Word), sizeof(bits)));
      const std::uint64_t b = g / map.count;
      const std::uint64_t y = ((g % map.count) * map.factor + map.shift) % map.count;
      expected[b * map.count + y] = in.data()[g];
    }
    kernels::multiply(device, {.map = map,
                               .element_bytes = sizeof(Word),
                               .batch = batch,
                               .in = reinterpret_cast<const std::byte*>(in.data()),
                               .out = reinterpret_cast<std::byte*>(out.data()),
                               .large_bytes = large ? 0 : ~std::uint64_t{0},
                               .wide = wide});
    EXPECT_TRUE(out.download() == expected);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

struct Wide {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const Wide&, const Wide&) = default;
};

TEST(ModularTileKernel, MultipliesByEveryUnit) {
  for (std::uint64_t count = 1; count <= 40; ++count) {
    for (std::uint64_t factor = 1; factor <= count; ++factor) {
      if (std::gcd(factor, count) != 1) continue;
      const auto map =
          maps::affine_mod(count, static_cast<std::int64_t>(factor), static_cast<std::int64_t>(count / 3));
      expect_multiplied<std::uint32_t>(map, 2);
      expect_multiplied<std::uint32_t>(map, 1, true);
    }
  }
}

TEST(ModularTileKernel, MultipliesEveryWidth) {
  for (const std::int64_t factor : {1, 5, 12345, 37221, 65535, 32769}) {
    const auto map = maps::affine_mod(65536, factor, 77);
    expect_multiplied<std::uint8_t>(map, 1);
    expect_multiplied<std::uint16_t>(map, 1);
    expect_multiplied<std::uint64_t>(map, 2);
    expect_multiplied<std::uint64_t>(map, 1, true);
    expect_multiplied<Wide>(map, 1);
  }
  expect_multiplied<std::uint32_t>(maps::affine_mod(100003, 31337, 5), 1);
  // Thin: few rows of long runs, and the other way round.
  for (const std::int64_t factor : {1, 2, 3, 50001, 33334}) {
    expect_multiplied<std::uint64_t>(maps::affine_mod(100001, factor, 9), 1);
    expect_multiplied<std::uint16_t>(maps::affine_mod(100001, factor, 9), 1, true);
  }
  expect_multiplied<std::uint32_t>(maps::multiply(30030, 17017 + 2 * 30030 + 6), 3);
}

template <typename Word>
void expect_negated(std::uint64_t n, std::uint64_t k, ModularSign sign,
                    const std::vector<std::uint64_t>& moduli, std::uint64_t batch = 2) {
  SCOPED_TRACE("X^" + std::to_string(k) + " modulo X^" + std::to_string(n) + " + 1");
  HostDevice device;
  auto in = device.buffer<Word>(n * batch);
  auto out = device.buffer<Word>(n * batch);
  std::vector<Word> expected(n * batch);
  std::mt19937_64 random(n + k);
  for (std::uint64_t g = 0; g < in.size(); ++g) {
    const std::uint64_t modulus = moduli[g / n % moduli.size()];
    const auto word = static_cast<Word>(modulus == 0 ? random() : random() % modulus);
    in.data()[g] = word;
    const std::uint64_t y = (g % n) * k % (2 * n);
    Word there = word;
    if (y >= n && sign == ModularSign::floating)
      there ^= static_cast<Word>(Word{1} << (sizeof(Word) * 8 - 1));
    if (y >= n && sign == ModularSign::integer) there = word == 0 ? word : static_cast<Word>(modulus - word);
    expected[g / n * n + y % n] = there;
  }
  kernels::multiply(device, {.map = maps::multiply(n, static_cast<std::int64_t>(k % n)),
                             .element_bytes = sizeof(Word),
                             .batch = batch,
                             .in = reinterpret_cast<const std::byte*>(in.data()),
                             .out = reinterpret_cast<std::byte*>(out.data()),
                             .sign_factor = k,
                             .sign = sign,
                             .moduli = moduli,
                             .large_bytes = k % 8 < 4 ? 0 : ~std::uint64_t{0},
                             .wide = k % 4 == 1});
  EXPECT_TRUE(out.download() == expected);
}

TEST(ModularTileKernel, NegatesWhatGoesRound) {
  for (const std::uint64_t n : {1U, 2U, 3U, 8U, 15U, 16U, 100U}) {
    for (std::uint64_t k = 1; k < 2 * n; ++k) {
      if (std::gcd(k, 2 * n) == 1) expect_negated<std::uint64_t>(n, k, ModularSign::integer, {65537});
    }
  }
  for (const std::uint64_t k : {3U, 5U, 8191U, 16383U, 4097U}) {
    expect_negated<std::uint64_t>(8192, k, ModularSign::integer, {0xffffffff00000001});
    expect_negated<std::uint32_t>(8192, k, ModularSign::floating, {0});
    expect_negated<std::uint16_t>(8192, k, ModularSign::integer, {0});
    expect_negated<std::uint8_t>(8192, k, ModularSign::integer, {0});
  }
}

// Residues, each below a prime of its own: as many as a launch's parameters hold, and more than that.
TEST(ModularTileKernel, NegatesEachPolynomialByItsModulus) {
  for (const std::uint64_t number : {1U, 2U, 3U, 63U, 64U, 65U, 130U}) {
    std::vector<std::uint64_t> moduli;
    for (std::uint64_t i = 0; i < number; ++i) moduli.push_back(i == 1 ? 0 : 251 + i);
    for (const std::uint64_t n : {1U, 15U, 16U, 100U}) {
      expect_negated<std::uint64_t>(n, 2 * n - 1, ModularSign::integer, moduli, number * 2);
      expect_negated<std::uint16_t>(n, n % 2 == 0 ? n + 1 : 1, ModularSign::integer, moduli, number * 3);
      expect_negated<std::uint32_t>(n, 7, ModularSign::integer, moduli, number);
    }
  }
}

// Values at psi^(2 i + 1) in bit-reversed order: against the definition, and against polynomials that are
// evaluated.
template <typename Word>
void expect_evaluations_moved(std::uint64_t n, std::uint64_t k) {
  SCOPED_TRACE("X^" + std::to_string(k) + ", " + std::to_string(n) + " values");
  HostDevice device;
  constexpr std::uint64_t kBatch = 2;
  const int bits = f2::trailing_bit(n);
  auto in = device.buffer<Word>(n * kBatch);
  auto out = device.buffer<Word>(n * kBatch);
  for (std::uint64_t g = 0; g < in.size(); ++g) in.data()[g] = static_cast<Word>(g * 7 + 1);
  std::vector<Word> expected(in.size());
  for (std::uint64_t g = 0; g < in.size(); ++g) {
    const std::uint64_t i = kernels::reversed_bits(g % n, bits);
    const std::uint64_t number = ((2 * i + 1) * k % (2 * n) - 1) / 2;
    expected[g] = in.data()[g / n * n + kernels::reversed_bits(number, bits)];
  }
  kernels::MoveEvaluations<sizeof(Word)> kernel;
  kernel.order = {.bits = bits, .factor = k};
  kernel.batch = kBatch;
  kernel.in = reinterpret_cast<const std::byte*>(in.data());
  kernel.out = reinterpret_cast<std::byte*>(out.data());
  device.run(kernel);
  EXPECT_TRUE(out.download() == expected);
  std::vector<Word> on_cpu(in.size());
  const std::vector<Word> given = in.download();
  permute_evaluations(n, static_cast<std::int64_t>(k), sizeof(Word), std::as_bytes(std::span(given)),
                      std::as_writable_bytes(std::span(on_cpu)), 2);
  EXPECT_TRUE(on_cpu == expected);
}

TEST(ModularTileKernel, MovesValuesInBitReversedOrder) {
  for (const std::uint64_t n : {1U, 2U, 4U, 16U, 256U}) {
    for (std::uint64_t k = 1; k < 2 * n; k += 2) expect_evaluations_moved<std::uint32_t>(n, k);
  }
  for (const std::uint64_t k : {3U, 5U, 16383U, 8193U}) {
    expect_evaluations_moved<std::uint64_t>(8192, k);
    expect_evaluations_moved<std::uint16_t>(8192, k);
  }
}

// The law: transformed and permuted is permuted, with its signs, and transformed. Modulo 257, whose roots of
// order 2 n are powers of 3.
TEST(ModularTileKernel, PermutesValuesAsCoefficients) {
  constexpr std::uint32_t kPrime = 257;
  const auto power = [](std::uint32_t base, std::uint64_t exponent) {
    std::uint32_t result = 1;
    for (std::uint64_t e = 0; e < exponent; ++e) result = result * base % kPrime;
    return result;
  };
  for (const std::uint64_t n : {2U, 8U, 32U}) {
    const int bits = f2::trailing_bit(n);
    const std::uint32_t psi = power(3, (kPrime - 1) / (2 * n));
    const auto transformed = [&](const std::vector<std::uint32_t>& f) {
      std::vector<std::uint32_t> values(n);
      for (std::uint64_t p = 0; p < n; ++p) {
        const std::uint32_t at = power(psi, 2 * kernels::reversed_bits(p, bits) + 1);
        std::uint32_t sum = 0;
        for (std::uint64_t i = n; i-- > 0;) sum = (sum * at + f[i]) % kPrime;
        values[p] = sum;
      }
      return values;
    };
    for (std::uint64_t k = 1; k < 2 * n; k += 2) {
      std::vector<std::uint32_t> f(n);
      for (std::uint64_t i = 0; i < n; ++i) f[i] = static_cast<std::uint32_t>((i * i + 3 * i + k) % kPrime);
      std::vector<std::uint32_t> moved(n);
      permute_negacyclic(n, static_cast<std::int64_t>(k), {.number = Number::u32, .modulus = kPrime},
                         std::as_bytes(std::span(f)), std::as_writable_bytes(std::span(moved)));
      const std::vector<std::uint32_t> values = transformed(f);
      std::vector<std::uint32_t> taken(n);
      permute_evaluations(n, static_cast<std::int64_t>(k), sizeof(std::uint32_t),
                          std::as_bytes(std::span(values)), std::as_writable_bytes(std::span(taken)));
      EXPECT_EQ(taken, transformed(moved)) << n << ", " << k;
    }
  }
}

// Large arrays end columns where sectors do, wherever the array begins.
TEST(ModularTileKernel, MultipliesLargeArrays) {
  for (const std::int64_t factor : {12345, 65535, 400001}) {
    expect_multiplied<std::uint64_t>(maps::affine_mod(300007, factor, 1), 1, false, true);
    expect_multiplied<std::uint64_t>(maps::affine_mod(300008, factor + 4, 1), 2, true, true);
    expect_multiplied<std::uint32_t>(maps::affine_mod(300007, factor, 1), 2, false, true);
    expect_multiplied<std::uint16_t>(maps::affine_mod(300008, factor + 4, 1), 1, false, true);
    expect_multiplied<Wide>(maps::affine_mod(300007, factor, 1), 1, false, true);
  }
}

}  // namespace modular_tile_kernel_test
}  // namespace faro::testing
