// Computed maps by the kernel of a GPU, a thread at a time on the host: against the definition, byte by byte.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "faro/permutation/permutation.hpp"
#include "kernels/computed_launch.hpp"

namespace faro::testing {
namespace computed_tile_kernel_test {

void expect_moved(const std::string& text, std::uint64_t width, std::uint64_t batch) {
  SCOPED_TRACE(text + ", " + std::to_string(width) + " bytes, " + std::to_string(batch) + " arrays");
  const Permutation permutation = parse_permutation(text);
  const auto& map = std::get<Computed>(permutation);
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    const std::uint64_t bytes = map.count() * width * batch;
    constexpr std::uint64_t kAligned = 16;
    auto in = device.buffer<std::byte>(bytes + kAligned);
    auto out = device.buffer<std::byte>(bytes + kAligned);
    const auto aligned = [](std::byte* begin) {
      return begin + (kAligned - reinterpret_cast<std::uintptr_t>(begin) % kAligned) % kAligned;
    };
    std::byte* const from = aligned(in.data());
    std::byte* const to = aligned(out.data());
    std::mt19937_64 random(width);
    for (std::uint64_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(random());
    std::vector<std::byte> expected(out.data(), out.data() + out.size());
    const auto skipped = static_cast<std::uint64_t>(to - out.data());
    for (std::uint64_t b = 0; b < batch; ++b) {
      for (std::uint64_t x = 0; x < map.count(); ++x)
        std::memcpy(expected.data() + skipped + (b * map.count() + map(x)) * width,
                    from + (b * map.count() + x) * width, width);
    }
    kernels::move_computed(device,
                           {.map = map, .element_bytes = width, .batch = batch, .in = from, .out = to});
    EXPECT_TRUE(out.download() == expected);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

const char* const kMaps[] = {"hilbert(2, 2)", "hilbert(2, 3)", "hilbert(2, 6)", "hilbert(2, 7)",
                             "hilbert(3, 2)", "hilbert(3, 4)", "hilbert(4, 3)", "hilbert(5, 2)",
                             "hilbert(6, 2)", "hilbert(7, 2)", "healpix(1)",    "healpix(2)",
                             "healpix(5)",    "healpix(6)"};

TEST(ComputedTileKernel, MovesEveryMapBothWays) {
  for (const std::string text : kMaps) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      expect_moved(text, width, 1);
      expect_moved("inverse(" + text + ")", width, 1);
    }
    expect_moved(text, 4, 3);
    expect_moved("inverse(" + text + ")", 4, 3);
  }
}

TEST(ComputedTileKernel, MovesElementsOfSeveralUnits) {
  for (const std::string text : {"hilbert(2, 4)", "hilbert(3, 2)", "healpix(2)"}) {
    for (const std::uint64_t width : {3U, 12U, 24U, 48U, 100U, 1000U, 4095U, 4096U}) {
      expect_moved(text, width, 2);
      expect_moved("inverse(" + text + ")", width, 1);
    }
  }
}

// More axes than a leaf has: an element at a time.
TEST(ComputedTileKernel, MovesCubesOfManyAxes) {
  for (const std::string text : {"hilbert(8, 2)", "hilbert(9, 2)"}) {
    expect_moved(text, 1, 1);
    expect_moved("inverse(" + text + ")", 4, 1);
  }
  for (const int d : {12, 15, 16, 17, 20, 31}) {
    const std::string text = "hilbert(" + std::to_string(d) + ", 2)";
    const Permutation permutation = parse_permutation(text);
    const detail::HilbertCube cube{.d = d, .b = 2};
    const kernels::HilbertParts<0> parts(cube, 0, 4);
    std::mt19937_64 random(static_cast<std::uint64_t>(d));
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t y = random() % element_count(permutation);
      ASSERT_EQ(apply(permutation, parts.run(y, 0).place), y) << text;
    }
  }
}

// Runs of parts far into large arrays, past 32 bits, against preimages and images.
TEST(ComputedTileKernel, RunsOfLargeMaps) {
  std::mt19937_64 random(1);
  for (const int b : {16, 20, 31}) {
    const Permutation map = maps::hilbert(2, b);
    const kernels::HilbertParts<2> parts({.d = 2, .b = b}, 6, 4);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t y = random() % element_count(map);
      const std::uint64_t part = y >> 12;
      const auto leaf = parts.leaf(part, static_cast<std::uint32_t>(y >> 8 & 15));
      const std::uint32_t at =
          parts.at(leaf, parts.order(parts.entry(leaf, static_cast<std::uint32_t>(y & 255))));
      const std::uint32_t x = at % parts.pitch();
      ASSERT_EQ(apply(map, parts.run(part, at / parts.pitch()).at(x)), y) << b;
    }
  }
  for (const int k : {10, 16, 29}) {
    const Permutation map = maps::healpix(k);
    const kernels::HealpixParts parts({.k = k}, 6, 4);
    for (int i = 0; i < 3000; ++i) {
      std::uint64_t nested = random() % element_count(map);
      // The ends of rings and the corners of diamonds, too.
      if (i % 3 == 1) nested = apply(inverse(map), random() % 200);
      if (i % 3 == 2)
        nested = random() % 12 << (2 * k) |
                 (random() % 2 == 0 ? random() % 64 : (std::uint64_t{1} << (2 * k)) - 1 - random() % 64);
      const std::uint64_t part = nested >> 12;
      const auto leaf = parts.leaf(part, static_cast<std::uint32_t>(nested >> 8 & 15));
      const std::uint32_t at =
          parts.at(leaf, parts.order(parts.entry(leaf, static_cast<std::uint32_t>(nested & 255))));
      const std::uint32_t x = at % parts.pitch();
      ASSERT_EQ(parts.run(part, parts.run_of(at / parts.pitch(), x)).at(x), apply(map, nested)) << k;
    }
  }
}

}  // namespace computed_tile_kernel_test
}  // namespace faro::testing
