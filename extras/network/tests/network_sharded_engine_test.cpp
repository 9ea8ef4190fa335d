// Networks over ranks: each rank's part of the output against the network on the whole array by one engine,
// and against what sorting and transforms are by definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "faro/network/sharded.hpp"
#include "shard_support.hpp"

namespace faro::network {
namespace {

using faro::testing::on_ranks;
using faro::testing::text_of;
using ::testing::HasSubstr;

// Runs a program on `ranks` ranks; what they hold together.
template <typename T>
std::vector<T> on_shards(const Program& program, const std::vector<T>& in, int ranks,
                         std::size_t* exchanges = nullptr) {
  std::vector<T> out(in.size());
  const std::size_t part = in.size() / static_cast<std::size_t>(ranks);
  const auto thrown = on_ranks(in_memory_communicators(ranks, std::chrono::seconds(60)),
                               [&](const std::shared_ptr<Communicator>& communicator) {
                                 ShardedNetwork network({.program = program, .element = ElementOf<T>::value},
                                                        communicator, {.threads = 1});
                                 const std::size_t begin =
                                     part * static_cast<std::size_t>(communicator->rank());
                                 for (int run = 0; run < 2; ++run)
                                   network.run(in.data() + begin, out.data() + begin, part * sizeof(T));
                                 if (exchanges != nullptr && communicator->rank() == 0)
                                   *exchanges = network.exchanges();
                                 EXPECT_THAT(network.explain(), HasSubstr("ranks"));
                               });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
  return out;
}

TEST(ShardedNetwork, Sorts) {
  std::mt19937_64 random(1);
  for (const int ranks : {1, 2, 4, 8}) {
    for (const auto& make : {+[](int n) { return sort(n); }, +[](int n) { return bitonic_sort(n); }}) {
      std::vector<std::uint32_t> in(1 << 10);
      for (auto& each : in) each = static_cast<std::uint32_t>(random());
      std::size_t exchanges = 0;
      const auto out = on_shards(make(10), in, ranks, &exchanges);
      std::sort(in.begin(), in.end());
      EXPECT_EQ(out, in) << ranks;
      EXPECT_EQ(exchanges == 0, ranks == 1);
    }
  }
}

TEST(ShardedNetwork, IsTheNetworkOfTheWhole) {
  std::mt19937_64 random(2);
  const int n = 9;
  std::vector<std::uint32_t> in(1 << n);
  for (auto& each : in) each = static_cast<std::uint32_t>(random());
  const Program xored = each(operators::each("xor 0x5a"), n);
  const Program mixed =
      bmmc(maps::random_bmmc(n, 5)) * wht(n) * bmmc(maps::bit_reversal(n)) * xored * merge(n);
  for (const Program& program : {wht(n), merge(n), bitonic_merge(n), vcolumn(n), mixed, xored, identity(n),
                                 bmmc(maps::gray(n)), parm(0x15, sort(n - 1))}) {
    std::vector<std::uint32_t> wanted(in.size());
    compile({.program = program, .element = {Scalar::u32}}, {.threads = 1})
        .run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(wanted));
    for (const int ranks : {2, 4, 16}) EXPECT_EQ(on_shards(program, in, ranks), wanted) << ranks;
  }
}

// Pair numbers span ranks: what the operator sees is what it would see in the whole array.
TEST(ShardedNetwork, UsersOperatorsSeeTheirPairNumbers) {
  const int n = 7;
  const Operator numbered = operators::user<std::uint32_t>(
      "numbered", [](std::uint32_t& a, std::uint32_t& b, std::uint64_t p, int k) {
        a = a * 3 + static_cast<std::uint32_t>(p);
        b = (b ^ a) + static_cast<std::uint32_t>(p * 7 + static_cast<std::uint64_t>(k));
      });
  const Program program = pairs(numbered, n) * bmmc(maps::random_bmmc(n, 1)) *
                          parm(0x2b, pairs(numbered, n - 1)) * bmmc(maps::random_bmmc(n, 2)) *
                          two(two(pairs(numbered, n - 2)));
  std::vector<std::uint32_t> in(1 << n);
  std::iota(in.begin(), in.end(), 1);
  std::vector<std::uint32_t> wanted(in.size());
  compile({.program = program, .element = {Scalar::u32}}, {.threads = 1})
      .run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(wanted));
  for (const int ranks : {1, 2, 4, 8}) EXPECT_EQ(on_shards(program, in, ranks), wanted) << ranks;
}

template <typename Number>
void expect_fourier(double tolerance) {
  using T = std::complex<Number>;
  const int n = 8;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<Number> number(-1, 1);
  std::vector<T> in(1 << n);
  for (T& each : in) each = {number(random), number(random)};
  for (const int ranks : {2, 4, 8}) {
    const std::vector<T> out = on_shards(fft(n), in, ranks);
    double worst = 0;
    for (std::size_t y = 0; y < in.size(); ++y) {
      std::complex<double> sum = 0;
      for (std::size_t x = 0; x < in.size(); ++x) {
        const double turn =
            -2 * std::numbers::pi * static_cast<double>(x * y % in.size()) / static_cast<double>(in.size());
        sum += std::complex<double>(in[x]) * std::polar(1.0, turn);
      }
      worst = std::max(worst, std::abs(sum - std::complex<double>(out[y])));
    }
    EXPECT_LT(worst, tolerance) << ranks;
    const std::vector<T> back = on_shards(inverse_fft(n), out, ranks);
    for (std::size_t x = 0; x < in.size(); ++x)
      EXPECT_LT(std::abs(std::complex<double>(back[x]) / static_cast<double>(in.size()) -
                         std::complex<double>(in[x])),
                tolerance);
  }
}

TEST(ShardedNetwork, FourierTransforms) {
  expect_fourier<float>(1e-3);
  expect_fourier<double>(1e-11);
}

// A merge's top layers meet across ranks, the others do not: one exchange there and one back.
TEST(ShardedNetwork, FewExchanges) {
  std::vector<std::uint32_t> in(1 << 12, 1);
  std::size_t exchanges = 0;
  static_cast<void>(on_shards(bitonic_merge(12), in, 4, &exchanges));
  EXPECT_LE(exchanges, 2U);
  static_cast<void>(on_shards(wht(12), in, 4, &exchanges));
  EXPECT_LE(exchanges, 2U);
}

TEST(ShardedNetwork, WhatDoesNotFitIsRefused) {
  const auto refused = [](int ranks, const Problem& problem) {
    std::string text;
    for (const auto& each : on_ranks(in_memory_communicators(ranks, std::chrono::seconds(20)),
                                     [&](const std::shared_ptr<Communicator>& communicator) {
                                       const ShardedNetwork network(problem, communicator);
                                     })) {
      EXPECT_TRUE(text.empty() || text == text_of(each));
      text = text_of(each);
    }
    return text;
  };
  EXPECT_THAT(refused(3, {.program = sort(6), .element = {Scalar::u32}}), HasSubstr("3 ranks for 2^6"));
  EXPECT_THAT(refused(4, {.program = sort(2), .element = {Scalar::u32}}), HasSubstr("4 ranks for 2^2"));
  EXPECT_THAT(refused(2, {.program = fft(6), .element = {Scalar::u32}}), HasSubstr("fourier"));
  EXPECT_THAT(refused(2, {.program = sort(6), .element = {Scalar::u32}, .batch = 2}),
              HasSubstr("a batch of 2"));
}

}  // namespace
}  // namespace faro::network
