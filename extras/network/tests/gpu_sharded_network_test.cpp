// Networks of which layers meet across ranks, on one GPU or on all there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "faro/communicator.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/network/sharded.hpp"
#include "gpu/gpu_shards_support.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

class GpuShardedNetwork : public GpuTest {};

TEST_F(GpuShardedNetwork, SortsByANetwork) {
  const std::vector<int> devices = devices_for(2);
  constexpr std::uint64_t kPart = 1 << 15;
  std::vector<std::uint32_t> all(2 * kPart);
  std::mt19937 random(4);
  for (std::uint32_t& each : all) each = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  on_devices(
      peer_communicators(devices), devices,
      [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
        network::ShardedNetwork sorter({.program = network::sort(16), .element = {network::Scalar::u32}},
                                       communicator);
        const std::uint64_t first = kPart * static_cast<std::uint64_t>(own.rank());
        cuda::DeviceArray in(4 * kPart, own.device());
        in.upload(all.data() + first);
        const cuda::DeviceArray out(4 * kPart, own.device());
        sorter.run(in.data(), out.data(), 4 * kPart, Stream(stream.get()));
        own.wait(Stream(stream.get()));
        std::vector<std::uint32_t> part(kPart);
        out.download(part.data());
        EXPECT_TRUE(std::equal(part.begin(), part.end(), sorted.begin() + static_cast<std::ptrdiff_t>(first)))
            << sorter.explain();
      });
}

// Whole arrays through a network over 2, 4 and 8 ranks: what each rank has, in their order.
template <typename T>
std::vector<T> by_network(const network::Program& program, const std::vector<T>& in, int ranks) {
  const std::vector<int> devices = devices_for(ranks);
  const std::size_t part = in.size() / static_cast<std::size_t>(ranks);
  std::vector<T> out(in.size());
  on_devices(peer_communicators(devices), devices,
             [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
               network::ShardedNetwork made({.program = program, .element = network::ElementOf<T>::value},
                                            communicator);
               const std::size_t first = part * static_cast<std::size_t>(own.rank());
               cuda::DeviceArray from(part * sizeof(T), own.device());
               from.upload(in.data() + first);
               const cuda::DeviceArray to(part * sizeof(T), own.device());
               made.run(from.data(), to.data(), part * sizeof(T), Stream(stream.get()));
               own.wait(Stream(stream.get()));
               to.download(out.data() + first);
             });
  return out;
}

// Against the sum that defines the transform, at some places.
template <typename Number>
void expect_fourier_over_devices(int n, int ranks, double tolerance) {
  using T = std::complex<Number>;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<Number> number(-1, 1);
  std::vector<T> in(std::size_t{1} << n);
  for (T& each : in) each = {number(random), number(random)};
  const std::vector<T> out = by_network(network::fft(n), in, ranks);
  for (std::size_t y = 0; y < in.size(); y = 3 * y + 1) {
    std::complex<double> sum = 0;
    for (std::size_t x = 0; x < in.size(); ++x) {
      const double turn =
          -2 * std::numbers::pi * static_cast<double>(x * y % in.size()) / static_cast<double>(in.size());
      sum += std::complex<double>(in[x]) * std::polar(1.0, turn);
    }
    EXPECT_LT(std::abs(sum - std::complex<double>(out[y])), tolerance) << ranks << " ranks, place " << y;
  }
  const std::vector<T> back = by_network(network::inverse_fft(n), out, ranks);
  double worst = 0;
  for (std::size_t x = 0; x < in.size(); ++x) {
    worst = std::max(worst, std::abs(std::complex<double>(back[x]) / static_cast<double>(in.size()) -
                                     std::complex<double>(in[x])));
  }
  EXPECT_LT(worst, tolerance) << ranks << " ranks";
}

TEST_F(GpuShardedNetwork, TransformsByANetwork) {
  for (const int ranks : {1, 2, 4, 8}) {
    expect_fourier_over_devices<float>(16, ranks, 1e-2);
    expect_fourier_over_devices<double>(13, ranks, 1e-9);
  }
  std::vector<std::uint32_t> in(1 << 14);
  std::mt19937 random(5);
  for (std::uint32_t& each : in) each = static_cast<std::uint32_t>(random());
  // Pair numbers that are any linear map of the rank's own, and the bits of the whole.
  const auto numbered = network::operators::user<std::uint32_t>(
      "numbered",
      [](std::uint32_t& a, std::uint32_t& b, std::uint64_t p, int k) {
        a = a * 3 + static_cast<std::uint32_t>(p);
        b = (b ^ a) + static_cast<std::uint32_t>(p * 7) + static_cast<std::uint32_t>(k);
      },
      "a = a * 3 + p; b = (b ^ a) + p * 7 + n;");
  using network::bmmc;
  using network::pairs;
  using network::two;
  const network::Program program = pairs(numbered, 14) * bmmc(maps::random_bmmc(14, 1)) *
                                   two(pairs(numbered, 13)) * bmmc(maps::bit_reversal(14)) * network::wht(14);
  std::vector<std::uint32_t> wanted(in.size());
  network::compile({.program = program, .element = {network::Scalar::u32}}, {.engine = Engine::cpu})
      .run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(wanted));
  for (const int ranks : {1, 2, 4}) EXPECT_EQ(by_network(program, in, ranks), wanted) << ranks << " ranks";
}

}  // namespace
}  // namespace faro::testing
