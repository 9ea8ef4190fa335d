// Multiplication modulo any count by the kernel of a GPU, a thread at a time on the host: against the
// definition, element by element.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "kernels/modular_launch.hpp"

namespace faro::testing {
namespace modular_tile_kernel_test {

using kernels::ModularSign;

template <typename Word>
void expect_multiplied(const Modular& map, std::uint64_t batch, bool wide = false) {
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
void expect_negated(std::uint64_t n, std::uint64_t k, ModularSign sign, Word modulus) {
  SCOPED_TRACE("X^" + std::to_string(k) + " modulo X^" + std::to_string(n) + " + 1");
  HostDevice device;
  constexpr std::uint64_t kBatch = 2;
  auto in = device.buffer<Word>(n * kBatch);
  auto out = device.buffer<Word>(n * kBatch);
  std::vector<Word> expected(n * kBatch);
  std::mt19937_64 random(n + k);
  for (std::uint64_t g = 0; g < in.size(); ++g) {
    const auto word = static_cast<Word>(modulus == 0 ? random() : random() % modulus);
    in.data()[g] = word;
    const std::uint64_t y = (g % n) * k % (2 * n);
    Word there = word;
    if (y >= n && sign == ModularSign::floating)
      there ^= static_cast<Word>(Word{1} << (sizeof(Word) * 8 - 1));
    if (y >= n && sign == ModularSign::twos_complement) there = static_cast<Word>(0 - word);
    if (y >= n && sign == ModularSign::modulus) there = word == 0 ? word : static_cast<Word>(modulus - word);
    expected[g / n * n + y % n] = there;
  }
  kernels::multiply(device, {.map = maps::multiply(n, static_cast<std::int64_t>(k % n)),
                             .element_bytes = sizeof(Word),
                             .batch = kBatch,
                             .in = reinterpret_cast<const std::byte*>(in.data()),
                             .out = reinterpret_cast<std::byte*>(out.data()),
                             .sign_factor = k,
                             .sign = sign,
                             .modulus = modulus,
                             .wide = k % 4 == 1});
  EXPECT_TRUE(out.download() == expected);
}

TEST(ModularTileKernel, NegatesWhatGoesRound) {
  for (const std::uint64_t n : {1U, 2U, 3U, 8U, 15U, 16U, 100U}) {
    for (std::uint64_t k = 1; k < 2 * n; ++k) {
      if (std::gcd(k, 2 * n) == 1) expect_negated<std::uint64_t>(n, k, ModularSign::modulus, 65537);
    }
  }
  for (const std::uint64_t k : {3U, 5U, 8191U, 16383U, 4097U}) {
    expect_negated<std::uint64_t>(8192, k, ModularSign::modulus, 0xffffffff00000001);
    expect_negated<std::uint32_t>(8192, k, ModularSign::floating, 0);
    expect_negated<std::uint16_t>(8192, k, ModularSign::twos_complement, 0);
    expect_negated<std::uint8_t>(8192, k, ModularSign::twos_complement, 0);
  }
}

}  // namespace modular_tile_kernel_test
}  // namespace faro::testing
