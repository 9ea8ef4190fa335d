// Gathered and scattered structs, and structs to planes and back, on a warp that runs on the CPU: any
// indices, lanes that want nothing, and how many sectors each access touches.
// Sanitized: never, long to compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aos_warp_support.hpp"
#include "faro/device/aos.hpp"

namespace faro::testing {
namespace device_aos_gather_test {

using device::aos::Method;
using device::aos::Shape;

template <typename S, typename Index>
void check_gathered(std::uint64_t seed, std::uint32_t wanted) {
  constexpr int W = 32;
  constexpr std::size_t count = 100;
  constexpr auto size = static_cast<std::size_t>(S::bytes) * S::units;
  SCOPED_TRACE(std::to_string(S::units) + " units of " + std::to_string(S::bytes) + ", seed " +
               std::to_string(seed) + ", wanted " + std::to_string(wanted));
  std::mt19937_64 random(seed);
  Zone array(size * count);
  array.draw(seed);
  Lanes<Index, W> any;
  Lanes<Index, W> distinct;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t u = 0; u < W; ++u) {
    any[u] = static_cast<Index>(seed == 0 ? u * 3 : random() % count);
    distinct[u] = static_cast<Index>(order[u]);
    if ((wanted >> u & 1) == 0) any[u] = distinct[u] = static_cast<Index>(-1);  // may be anything
  }

  EmulatedWarp<W> warp;
  warp.allow(array.data(), array.size());
  const auto gathered = device::aos::gather_rows<S>(warp, array.data(), any, wanted);
  std::size_t sectors = 0;
  std::size_t touched_by_structs = 0;
  for (const int access : warp.counts().load_sectors) sectors += static_cast<std::size_t>(access);
  for (std::size_t u = 0; u < W; ++u) {
    std::vector<std::byte> expected(size);
    if ((wanted >> u & 1) != 0) {
      const std::size_t begin = size * any[u];
      std::memcpy(expected.data(), array.data() + begin, size);
      touched_by_structs += (begin + size - 1) / 32 - begin / 32 + 1;
    }
    ASSERT_EQ(struct_of(gathered, u), expected) << "lane " << u;
  }
  // A sector is touched twice only where a row ends within it.
  ASSERT_LE(sectors, touched_by_structs + S::units);

  Zone target(array.size());
  EmulatedWarp<W> other;
  other.allow(target.data(), target.size());
  device::aos::scatter_rows<S>(other, target.data(), distinct, wanted, gathered);
  std::vector<std::byte> expected(target.size(), std::byte{0xa5});
  for (std::size_t u = 0; u < W; ++u) {
    if ((wanted >> u & 1) == 0) continue;
    std::memcpy(&expected[size * distinct[u]], array.data() + size * any[u], size);
  }
  ASSERT_EQ(std::memcmp(target.data(), expected.data(), expected.size()), 0);
  const int of_index = static_cast<int>(sizeof(Index) / 4) * S::units;
  ASSERT_EQ(warp.counts().shuffles, of_index + (S::units == 1 ? 0 : static_cast<int>(size / 4)));
}

template <typename S, typename Index>
void check_all_gathered() {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    for (const std::uint32_t wanted : {0xffff'ffffU, 0U, 0x8000'0001U, 0x3f10'c5a8U}) {
      check_gathered<S, Index>(seed, wanted);
    }
  }
}

template <int bytes, int... sizes>
void check_sizes_gathered(std::integer_sequence<int, sizes...> /*from 0*/) {
  (check_all_gathered<Shape<bytes, sizes + 1, Method::row_column_row>, std::uint32_t>(), ...);
}

TEST(DeviceAosGather, StructsOfEverySize) {
  check_sizes_gathered<4>(std::make_integer_sequence<int, 32>());
  check_sizes_gathered<16>(std::make_integer_sequence<int, 8>());
  check_all_gathered<Shape<8, 1, Method::row_column_row>, std::uint64_t>();
  check_all_gathered<Shape<8, 3, Method::row_column_row>, std::uint64_t>();
  check_all_gathered<Shape<4, 12, Method::row_column_row>, std::uint64_t>();
  check_all_gathered<Shape<4, 12, Method::column_row_column>, std::uint32_t>();
}

// 64-byte structs in units of 16: two of them are four lanes of one access, and no sector is touched twice.
TEST(DeviceAosGather, GatheredStructsOfWholeSectorsTakeTheFewest) {
  using S = Shape<16, 4, Method::row_column_row>;
  Zone array(std::size_t{64} * 1000);
  EmulatedWarp<32> warp;
  warp.allow(array.data(), array.size());
  Lanes<std::uint32_t, 32> index;
  for (std::uint32_t u = 0; u < 32; ++u) index[u] = (u * 617 + 5) % 1000;
  static_cast<void>(device::aos::gather_rows<S>(warp, array.data(), index, 0xffff'ffffU));
  EXPECT_EQ(warp.counts().load_sectors, (std::vector<int>{16, 16, 16, 16}));
}

template <int bytes, int units>
void check_planes(std::uint32_t structs) {
  using S = Shape<bytes, units, Method::row_column_row>;
  constexpr int W = 32;
  constexpr std::size_t words = static_cast<std::size_t>(bytes) * units / 4;
  constexpr std::uint64_t stride = 40;
  SCOPED_TRACE(std::to_string(words) + " words, " + std::to_string(structs) + " structs");
  Zone array(words * 4 * W);
  array.draw(words);
  Zone planes(words * 4 * stride);
  EmulatedWarp<W> warp;
  warp.allow(array.data(), words * 4 * structs);
  for (std::size_t k = 0; k < words; ++k)
    warp.allow(planes.data() + k * stride * 4, std::size_t{4} * structs);
  device::aos::rows_to_planes<S, false>(warp, array.data(), planes.data(), stride, structs);
  for (std::size_t u = 0; u < structs; ++u) {
    for (std::size_t k = 0; k < words; ++k) {
      ASSERT_EQ(std::memcmp(planes.data() + (k * stride + u) * 4, array.data() + (u * words + k) * 4, 4), 0);
    }
  }
  Zone back(array.size());
  EmulatedWarp<W> other;
  other.allow(back.data(), words * 4 * structs);
  for (std::size_t k = 0; k < words; ++k)
    other.allow(planes.data() + k * stride * 4, std::size_t{4} * structs);
  device::aos::planes_to_rows<S, false>(other, planes.data(), back.data(), stride, structs);
  ASSERT_EQ(std::memcmp(back.data(), array.data(), words * 4 * structs), 0);
  ASSERT_EQ(warp.counts().shuffles + other.counts().shuffles, 0);
  for (const int sectors : warp.counts().load_sectors) ASSERT_LE(sectors, bytes);
  for (const int sectors : warp.counts().store_sectors) ASSERT_LE(sectors, 4);
  for (const int sectors : other.counts().load_sectors) ASSERT_LE(sectors, 4);
  for (const int sectors : other.counts().store_sectors) ASSERT_LE(sectors, bytes);
}

template <int bytes, int... sizes>
void check_all_planes(std::integer_sequence<int, sizes...>) {
  for (std::uint32_t structs = 0; structs <= 32; ++structs) (check_planes<bytes, sizes + 1>(structs), ...);
}

TEST(DeviceAosGather, PlanesWithoutShuffles) {
  check_all_planes<4>(std::make_integer_sequence<int, 32>());
  check_all_planes<8>(std::make_integer_sequence<int, 3>());
  check_all_planes<16>(std::make_integer_sequence<int, 3>());
}

}  // namespace device_aos_gather_test
}  // namespace faro::testing
