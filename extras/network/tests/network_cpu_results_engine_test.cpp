// What networks are for, on the CPU: sorted arrays, and transforms that are their definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "network_engine_support.hpp"

namespace faro::network {
namespace network_cpu_results_engine_test {

using namespace engine_testing;

// --- sorting

TEST(NetworkCpuResults, SortsEveryZeroOneInput) {
  constexpr std::uint64_t kInputs = std::uint64_t{1} << 16;
  std::vector<std::uint32_t> in(16 * kInputs);
  for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i / 16 >> i % 16 & 1);
  for (const Program& program : {sort(4), bitonic_sort(4)}) {
    for (const Sizes& sizes :
         {Sizes{.tile_bits = 0, .segment_bits = 0}, Sizes{.tile_bits = 2, .segment_bits = 1},
          Sizes{.tile_bits = 3, .segment_bits = 1}}) {
      const Executable run =
          compile({.program = program, .element = {}, .batch = kInputs},
                  {.engine = Engine::cpu, .tile_bits = sizes.tile_bits, .segment_bits = sizes.segment_bits});
      std::vector<std::uint32_t> out(in.size(), 7);
      run.run(std::span<const std::uint32_t>(in), std::span(out));
      for (std::uint64_t input = 0; input < kInputs; ++input) {
        const int ones = std::popcount(input);
        for (int i = 0; i < 16; ++i) {
          ASSERT_EQ(out[input * 16 + static_cast<std::uint64_t>(i)], i >= 16 - ones ? 1U : 0U)
              << to_text(program) << " of the bits of " << input;
        }
      }
    }
  }
}

template <typename Key>
void expect_sorts(const Executable& run, const std::vector<Key>& in, const char* what) {
  std::vector<Key> out(in.size());
  run.run(std::span<const Key>(in), std::span(out));
  std::vector<Key> wanted = in;
  std::sort(wanted.begin(), wanted.end());
  EXPECT_TRUE(out == wanted) << "2^" << run.plan().problem().program.bits() << " elements, " << what;
}

template <typename Key>
void expect_sorts_all(const Program& program, Scalar scalar, bool adversaries) {
  const Executable run =
      compile({.program = program, .element = {.scalar = scalar}}, {.engine = Engine::cpu});
  const std::uint64_t count = std::uint64_t{1} << program.bits();
  SplitMix64 random{count};
  std::vector<Key> values(count);
  for (Key& value : values) value = static_cast<Key>(random());
  expect_sorts(run, values, "random");
  if (!adversaries) return;
  for (Key& value : values) value = static_cast<Key>(random() % 3);
  expect_sorts(run, values, "three values");
  std::fill(values.begin(), values.end(), Key{5});
  expect_sorts(run, values, "one value");
  std::iota(values.begin(), values.end(), Key{0});
  expect_sorts(run, values, "sorted");
  std::reverse(values.begin(), values.end());
  expect_sorts(run, values, "reversed");
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<Key>(std::min(i, count - 1 - i));
  expect_sorts(run, values, "organ pipe");
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<Key>(i * 0x9e3779b97f4a7c15 >> 40);
  expect_sorts(run, values, "golden ratio");
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<Key>(i % 2 == 0 ? i : count - i);
  expect_sorts(run, values, "interleaved");
}

TEST(NetworkCpuResults, SortsLargeArrays) {
  const int most = kInstrumented ? 14 : 18;
  for (const int n : {10, 14, most}) {
    expect_sorts_all<std::uint32_t>(sort(n), Scalar::u32, true);
    expect_sorts_all<std::int64_t>(bitonic_sort(n), Scalar::i64, true);
  }
  if (!kInstrumented) {
    expect_sorts_all<std::int32_t>(sort(21), Scalar::i32, false);
    expect_sorts_all<std::uint32_t>(bitonic_sort(24), Scalar::u32, false);
  }
}

// Ascending by IEEE 754's totalOrder; then with values, where keys are equal by value.
TEST(NetworkCpuResults, SortsNansZerosAndInfinities) {
  constexpr int kBits = 10;
  const std::uint32_t specials[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                    0x7f800001, 0xff800001, 0x00000001, 0x80000001, 0x3f800000, 0xbf800000,
                                    0xffffffff, 0x7fffffff, 0x7f7fffff, 0xff7fffff};
  const auto order = [](std::uint32_t bits) { return (bits & 0x80000000) != 0 ? ~bits : bits | 0x80000000; };
  SplitMix64 random{3};
  std::vector<std::uint32_t> keys(std::size_t{1} << kBits);
  for (std::uint32_t& key : keys) key = specials[random() % std::size(specials)];
  std::vector<std::uint32_t> wanted = keys;
  std::sort(wanted.begin(), wanted.end(), [&](auto a, auto b) { return order(a) < order(b); });
  std::vector<std::uint32_t> out(keys.size());
  compile({.program = sort(kBits), .element = {.scalar = Scalar::f32}})
      .run(std::span<const std::uint32_t>(keys), std::span(out));
  EXPECT_EQ(out, wanted);

  struct Keyed {
    std::uint64_t key;
    std::uint64_t value;
    bool operator==(const Keyed&) const = default;
  };
  std::vector<Keyed> pairs(keys.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    // The same floats as doubles: the payload's top bits and the sign survive where they are shifted.
    pairs[i] = {std::uint64_t{keys[i]} << 32, random() % 2 == 0 ? random() : random() % 2};
  }
  std::vector<Keyed> sorted = pairs;
  const auto wide = [](std::uint64_t bits) {
    return bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const Keyed& a, const Keyed& b) {
    return wide(a.key) != wide(b.key) ? wide(a.key) < wide(b.key) : a.value < b.value;
  });
  std::vector<Keyed> got(pairs.size());
  compile({.program = sort(kBits), .element = {.scalar = Scalar::f64, .with_value = true}})
      .run(std::span<const Keyed>(pairs), std::span(got));
  EXPECT_TRUE(got == sorted);
}

// --- transforms

TEST(NetworkCpuResults, WalshHadamardIsItsDefinition) {
  for (int n = 1; n <= 11; ++n) {
    const std::uint64_t count = std::uint64_t{1} << n;
    SplitMix64 random{count};
    std::vector<std::int64_t> in(count);
    for (std::int64_t& value : in) value = static_cast<std::int64_t>(random() % 2001) - 1000;
    std::vector<std::int64_t> out(count);
    compile({.program = wht(n), .element = {.scalar = Scalar::i64}})
        .run(std::span<const std::int64_t>(in), std::span(out));
    for (std::uint64_t y = 0; y < count; ++y) {
      std::int64_t sum = 0;
      for (std::uint64_t x = 0; x < count; ++x) sum += f2::parity(x & y) ? -in[x] : in[x];
      ASSERT_EQ(out[y], sum) << "wht, n = " << n << ", element " << y;
    }
  }
}

TEST(NetworkCpuResults, WalshHadamardTwiceIsNTimes) {
  const int n = kInstrumented ? 12 : 19;
  std::vector<std::uint32_t> in(std::size_t{1} << n);
  SplitMix64 random{5};
  for (std::uint32_t& value : in) value = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> out(in.size());
  compile({.program = wht(n) * wht(n), .element = {}})
      .run(std::span<const std::uint32_t>(in), std::span(out));
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] << n) << i;
}

template <typename Real>
void expect_inverse(int n, std::uint64_t batch) {
  using Complex = std::complex<Real>;
  const ElementType type{.scalar = sizeof(Real) == 4 ? Scalar::c64 : Scalar::c128};
  SplitMix64 random{static_cast<std::uint64_t>(n)};
  std::vector<Complex> in(batch << n);
  for (Complex& value : in) {
    value = {static_cast<Real>(small_number(random)), static_cast<Real>(small_number(random))};
  }
  std::vector<Complex> between(in.size());
  std::vector<Complex> out(in.size());
  compile({.program = fft(n), .element = type, .batch = batch})
      .run(std::span<const Complex>(in), std::span(between));
  compile({.program = inverse_fft(n), .element = type, .batch = batch})
      .run(std::span<const Complex>(between), std::span(out));
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto scaled = std::complex<double>(out[i]) / static_cast<double>(std::uint64_t{1} << n);
    error += std::norm(scaled - std::complex<double>(in[i]));
    size += std::norm(std::complex<double>(in[i]));
  }
  const double eps = std::numeric_limits<Real>::epsilon();
  EXPECT_LE(std::sqrt(error / size), eps * n) << "fft and back, n = " << n << ", batch " << batch;
}

TEST(NetworkCpuResults, InverseAfterForwardIsNTimes) {
  for (int n = 1; n <= (kInstrumented ? 12 : 17); n += 4) {
    expect_inverse<float>(n, n < 8 ? 37 : 1);
    expect_inverse<double>(n, n < 8 ? 37 : 1);
  }
}

}  // namespace network_cpu_results_engine_test
}  // namespace faro::network
