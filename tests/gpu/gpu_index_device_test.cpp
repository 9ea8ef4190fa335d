// Work on index arrays on a GPU, held against the host: schedules byte for byte, checks and their words,
// recognition, inverse, composition, the drawn permutation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda/index/index_random.hpp"
#include "engines/cuda/index/index_schedule.hpp"
#include "engines/cuda_index.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

using schedule::PartitionShape;

class GpuIndexDevice : public GpuTest {};

// Entries of any bytes on the device: not checked by anyone.
struct RawEntries {
  template <typename Word>
  explicit RawEntries(const std::vector<Word>& entries) : array(entries.size() * sizeof(Word)) {
    if (!entries.empty()) array.upload(entries.data());
  }
  cuda::DeviceArray array;
};

template <typename T>
void expect_same(const cuda::DeviceBuffer<T>& made, const std::vector<T>& host, const std::string& what) {
  const std::vector<T> fetched = made.download();
  ASSERT_EQ(fetched.size(), host.size()) << what;
  const auto [here, there] = std::mismatch(fetched.begin(), fetched.end(), host.begin());
  ASSERT_TRUE(here == fetched.end()) << what << ": place " << here - fetched.begin() << " is " << +*here
                                     << ", wanted " << +*there;
}

void expect_partition(const Indexed& host, const Indexed& device, const PartitionShape& shape) {
  std::string levels;
  for (const int bits : shape.level_bits) levels += " " + std::to_string(bits);
  SCOPED_TRACE(std::to_string(shape.count) + " entries of " + std::to_string(device.index_type().bytes) +
               " bytes, chunks of 2^" + std::to_string(shape.chunk_bits) + ", levels of" + levels + " bits");
  const schedule::PartitionSchedule expected = schedule::partition_schedule(host, shape);
  const cuda::DevicePartition made = cuda::make_device_partition(device, shape);
  ASSERT_EQ(made.levels.size(), expected.levels.size());
  for (std::size_t l = 0; l < expected.levels.size(); ++l) {
    const std::string level = "level " + std::to_string(l);
    expect_same(made.levels[l].places, expected.levels[l].places, level + " places");
    expect_same(made.levels[l].starts, expected.levels[l].starts, level + " starts");
    expect_same(made.levels[l].offsets, expected.levels[l].offsets, level + " offsets");
  }
  expect_same(made.last, expected.last, "last");
}

void expect_partition(const Indexed& host, const PartitionShape& shape) {
  expect_partition(host, cuda::to_device(host), shape);
}

Indexed narrow(std::uint64_t count, const std::function<std::uint64_t(std::uint64_t)>& map) {
  std::vector<std::uint32_t> entries(count);
  for (std::uint64_t x = 0; x < count; ++x) entries[x] = static_cast<std::uint32_t>(map(x));
  return {std::move(entries), Direction::scatter};
}

// The same entries as 64-bit ones, which no Indexed of the host has below 2^32.
std::vector<std::uint64_t> widened(const Indexed& indexed) {
  return {indexed.entries32().begin(), indexed.entries32().end()};
}

TEST_F(GpuIndexDevice, SchedulesEqualTheHosts) {
  for (const std::uint64_t count :
       {0U, 1U, 2U, 31U, 32U, 33U, 8191U, 8192U, 8193U, 16383U, 16384U, 16385U, 65537U, 1000003U}) {
    const Indexed host = Indexed::random(count, count + 1);
    expect_partition(host, {count, 14, schedule::even_levels(count, 14, 8)});
    expect_partition(host, {count, 15, {8}});
    expect_partition(host, {count, 10, {6, 5}});
    if (HasFatalFailure()) return;
  }
  for (const int bits : {1, 4, 7, 8, 9, 10, 11, 12}) {
    const std::uint64_t count = (std::uint64_t{1} << (bits + 12)) - 5;
    expect_partition(Indexed::random(count, 3), {count, 12, {bits}});
    if (HasFatalFailure()) return;
  }
  const std::uint64_t count = 300000;
  const Indexed host = Indexed::random(count, 4);
  expect_partition(host, {count, 3, {8, 8}});
  expect_partition(host, {count, 6, {3, 3, 4, 3}});
  expect_partition(host, {count, 15, {12}});
  const RawEntries wide(widened(host));
  const Indexed device = cuda::indexed_on_device(wide.array.data(), count, {8, true}, Direction::scatter);
  expect_partition(host, device, {count, 14, {5}});
  expect_partition(host, device, {count, 8, {6, 5}});
  expect_partition(host, device, {count, 7, {12}});
  for (const std::uint64_t sole : {1U, 40000U, 65536U})
    expect_partition(Indexed::random(sole, 5), {sole, 16, {}});
}

TEST_F(GpuIndexDevice, SchedulesOfAdversaries) {
  constexpr std::uint64_t kCount = (std::uint64_t{1} << 20) + 77;
  const std::uint64_t stride = 1 << 14;
  const auto strided = [&](std::uint64_t x) {
    const std::uint64_t rows = kCount / stride;
    return x < rows * stride ? x % rows * stride + x / rows : x;
  };
  for (const auto& map : std::vector<std::function<std::uint64_t(std::uint64_t)>>{
           [](std::uint64_t x) { return x; }, [&](std::uint64_t x) { return kCount - 1 - x; }, strided,
           maps::roll(kCount, 12345)}) {
    const Indexed host = narrow(kCount, map);
    expect_partition(host, {kCount, 14, {7}});
    expect_partition(host, {kCount, 12, {5, 4}});
    if (HasFatalFailure()) return;
  }
}

TEST_F(GpuIndexDevice, LargeSchedulesEqualTheHosts) {
  for (const std::uint64_t count : {(std::uint64_t{1} << 24) + 1, std::uint64_t{1} << 27}) {
    const Indexed device = cuda::random_on_device(count, 9);
    const Indexed host = cuda::to_host(device);
    expect_partition(host, device, {count, 14, schedule::even_levels(count, 14, 8)});
    expect_partition(host, device, {count, 15, schedule::even_levels(count, 15, 9)});
    if (HasFatalFailure()) return;
  }
}

TEST_F(GpuIndexDevice, WindowsRunsAndDirectEqualTheHosts) {
  constexpr std::uint64_t kCount = 1000003;
  constexpr std::uint64_t kBlock = 1000;
  std::vector<std::uint32_t> entries(kCount);
  std::iota(entries.begin(), entries.end(), 0U);
  std::mt19937 random(1);
  for (std::uint64_t at = 0; at < kCount; at += kBlock) {
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(std::min(kCount, at + kBlock));
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(random() % static_cast<unsigned>(end - begin)),
                end);
  }
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    const Indexed host(entries, direction);
    const Indexed device = cuda::to_device(host);
    const auto window = cuda::make_device_schedule({.method = IndexMethod::window}, device, kBlock);
    EXPECT_EQ(window.applied, direction);
    expect_same(std::get<cuda::DeviceWindow>(window.what).shift,
                std::get<schedule::WindowSchedule>(schedule::window_schedule(host, kBlock).what).shift,
                "shift");
    const auto runs = cuda::make_device_schedule({.method = IndexMethod::runs}, device, {});
    const auto expected = std::get<schedule::RunsSchedule>(schedule::runs_schedule(host).what);
    expect_same(std::get<cuda::DeviceRuns>(runs.what).source, expected.source, "source");
    expect_same(std::get<cuda::DeviceRuns>(runs.what).target, expected.target, "target");
    const auto direct = cuda::make_device_schedule({.method = IndexMethod::direct}, device, {});
    EXPECT_EQ(cuda::to_host(std::get<cuda::DeviceDirect>(direct.what).indexed), host);
    EXPECT_NE(
        refusal_of([&] {
          static_cast<void>(cuda::make_device_schedule({.method = IndexMethod::window}, device, kBlock / 2));
        }).find("farther"),
        std::string::npos);
  }
}

// Every entry point says of entries that are no permutation what the host says.
template <typename Word>
void expect_refused(const std::vector<Word>& entries, bool is_signed = false) {
  const IndexType type{.bytes = sizeof(Word), .is_signed = is_signed};
  const std::string expected = refusal_of([&] {
    static_cast<void>(Indexed::from_bytes(std::as_bytes(std::span(entries)), type, Direction::scatter));
  });
  ASSERT_FALSE(expected.empty());
  const RawEntries raw(entries);
  const Indexed device = cuda::indexed_on_device(raw.array.data(), entries.size(), type, Direction::scatter);
  EXPECT_EQ(refusal_of([&] { cuda::validate(device); }), expected);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(cuda::to_host(device)); }), expected);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(cuda::redirected(device, Direction::gather)); }), expected);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(cuda::compose(device, device)); }), expected);
  for (const std::vector<int>& levels : {std::vector<int>{6}, std::vector<int>{3, 3}}) {
    const PartitionShape shape{entries.size(), 14, levels};
    EXPECT_EQ(refusal_of([&] { static_cast<void>(cuda::make_device_partition(device, shape)); }), expected);
  }
  for (const IndexMethod method : {IndexMethod::direct, IndexMethod::window, IndexMethod::runs}) {
    EXPECT_EQ(
        refusal_of([&] { static_cast<void>(cuda::make_device_schedule({.method = method}, device, 32767)); }),
        expected)
        << name(method);
  }
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_F(GpuIndexDevice, RefusesWhatIsNoPermutation) {
  constexpr std::size_t kCount = 1000003;
  const Indexed host = Indexed::random(kCount, 6);
  const std::vector<std::uint32_t> good(host.entries32().begin(), host.entries32().end());
  const auto with = [&](std::initializer_list<std::pair<std::size_t, std::uint32_t>> changes) {
    auto entries = good;
    for (const auto& [at, value] : changes) entries[at] = value;
    return entries;
  };
  expect_refused(with({{7, kCount}}));
  expect_refused(with({{kCount - 1, 0xffffffff}, {3, 0x80000000}}));
  expect_refused(with({{500, good[20]}}));
  expect_refused(with({{kCount - 1, good[kCount - 2]}}));
  expect_refused(with({{0, good[1]}, {400, good[399]}, {800, good[399]}}));
  expect_refused(with({{5, 0xffffffff}}), true);
  expect_refused(std::vector<std::uint32_t>(kCount, 0));
  expect_refused(std::vector<std::uint32_t>(kCount, kCount - 1));
  std::vector<std::uint64_t> wide(good.begin(), good.end());
  wide[100000] = ~std::uint64_t{0};
  expect_refused(wide);
  expect_refused(wide, true);
  wide[100000] = wide[900000];
  expect_refused(wide);
  EXPECT_EQ(refusal_of([&] { cuda::validate(cuda::to_device(host)); }), "accepted");
  EXPECT_EQ(refusal_of([&] { cuda::validate(cuda::random_on_device(0, 1)); }), "accepted");
}

TEST_F(GpuIndexDevice, RefusesForeignMemory) {
  const std::vector<std::uint32_t> entries{0, 1, 2};
  const auto refused = [](const void* pointer, IndexType type) {
    return refusal_of(
        [&] { static_cast<void>(cuda::indexed_on_device(pointer, 3, type, Direction::scatter)); });
  };
  EXPECT_NE(refused(entries.data(), {4, false}).find("memory of the host"), std::string::npos);
  const RawEntries raw(entries);
  EXPECT_NE(refused(raw.array.data() + 2, {4, false}).find("aligned to 4"), std::string::npos);
  EXPECT_NE(refused(raw.array.data(), {3, false}).find("entries of 3 bytes"), std::string::npos);
  const Indexed host(entries, Direction::scatter);
  EXPECT_NE(refusal_of([&] { cuda::validate(host); }).find("index array of the host"), std::string::npos);
  const Indexed device = cuda::to_device(host);
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(cuda::compose(device, cuda::random_on_device(4, 1)));
            }).find("3 and 4 elements"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(cuda::make_device_partition(device, {4, 14, {}}));
            }).find("shape"),
            std::string::npos);
  // More than any device has: refused with what it needs, before anything is allocated.
  const Indexed huge =
      cuda::indexed_on_device(raw.array.data(), std::uint64_t{1} << 39, {4, false}, Direction::scatter);
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(cuda::make_device_partition(huge, {std::uint64_t{1} << 39, 15, {8, 8, 8}}));
            }).find("bytes for a schedule"),
            std::string::npos);
}

TEST_F(GpuIndexDevice, InvertsComposesAndDraws) {
  for (const std::uint64_t count : {0U, 1U, 1000U, 1000003U}) {
    const Indexed p = Indexed::random(count, 1);
    const Indexed q = Indexed::random(count, 2);
    EXPECT_EQ(cuda::to_host(cuda::redirected(cuda::to_device(p), Direction::gather)), p);
    for (const Indexed& a : {p, p.inverse()}) {
      for (const Indexed& b : {q, q.inverse()}) {
        const Indexed made = cuda::to_host(cuda::compose(cuda::to_device(a), cuda::to_device(b)));
        const Indexed outer = a.redirected(Direction::scatter);
        const Indexed inner = b.redirected(Direction::scatter);
        ASSERT_EQ(made.direction(), Direction::scatter);
        for (std::uint64_t x = 0; x < count; ++x) ASSERT_EQ(made.entry(x), outer.entry(inner.entry(x)));
      }
    }
    const Indexed drawn = cuda::to_host(cuda::random_on_device(count, 77));
    const auto expected = cuda::FeistelPermutation::of(count, 77);
    for (std::uint64_t x = 0; x < count; ++x) ASSERT_EQ(drawn.entry(x), expected(x));
  }
}

// An array on the device and a map of the host, both ways round; what is made is planned and run as one
// array.
TEST_F(GpuIndexDevice, ComposesWithMapsAndMovesByBothAtOnce) {
  const std::vector<Permutation> all{
      maps::bit_reversal(20),
      maps::random_bmmc(20, 3),
      maps::roll(1000003, -77777),
      maps::affine_mod(1000003, 12345, 6),
      Axes({30, 70, 11, 50}, {3, 1, 0, 2}),
      CyclicAxes({1000, 999}, {1, 0}, {maps::roll(1000, 500), maps::flip(999)}),
      Indexed::random(300007, 4)};
  for (const Permutation& map : all) {
    const std::uint64_t count = element_count(map);
    const Indexed drawn = Indexed::random(count, 5);
    for (const Indexed& host : {drawn, drawn.inverse()}) {
      const Indexed device = cuda::to_device(host);
      const Indexed after = cuda::compose(map, device);
      const Indexed before = cuda::compose(device, map);
      ASSERT_TRUE(Permutation(cuda::to_host(after)) == compose(map, host)) << to_text(map);
      ASSERT_TRUE(Permutation(cuda::to_host(before)) == compose(host, map)) << to_text(map);
      std::vector<std::uint32_t> values(count);
      std::iota(values.begin(), values.end(), 0U);
      cuda::DeviceArray in(count * 4);
      const cuda::DeviceArray out(count * 4);
      in.upload(values.data());
      plan({.permutation = before, .element_bytes = 4}, {.engine = Engine::cuda})
          .run(in.data(), out.data(), count * 4);
      std::vector<std::uint32_t> moved(count);
      out.download(moved.data());
      const auto expected = std::get<Indexed>(compose(host, map)).redirected(Direction::gather);
      for (std::uint64_t y = 0; y < count; ++y) ASSERT_EQ(moved[y], expected.entry(y)) << to_text(map);
    }
  }
  const Indexed device = cuda::to_device(Indexed::random(64, 1));
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(cuda::compose(device, maps::roll(63, 1)));
            }).find("the same number"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(cuda::compose(Permutation(maps::roll(63, 1)), Permutation(maps::flip(63))));
            }).find("an index array of a device"),
            std::string::npos);
}

// Copied when the stream has written them, and checked.
TEST_F(GpuIndexDevice, CopiesAreChecked) {
  const Indexed host = Indexed::random(1000003, 6);
  cuda::DeviceArray raw(host.count() * 4);
  raw.upload(host.entries32().data());
  const Indexed copied = cuda::copied_on_device(raw.data(), host.count(), {4, false}, Direction::scatter);
  const std::vector<std::uint32_t> twice(host.count(), 7);
  raw.upload(twice.data());  // what was copied does not change
  EXPECT_EQ(cuda::to_host(copied), host);
  EXPECT_TRUE(copied.is_checked());
  EXPECT_NE(
      refusal_of([&] {
        static_cast<void>(cuda::copied_on_device(raw.data(), host.count(), {4, false}, Direction::scatter));
      }).find("7"),
      std::string::npos);
  EXPECT_EQ(cuda::copied_on_device(nullptr, 0, {4, false}, Direction::gather).count(), 0U);
}

void expect_recognised(const Indexed& host, Family family) {
  for (const Indexed& indexed : {host, host.inverse()}) {
    const Recognition expected = recognise(indexed);
    const Recognition made = cuda::recognise(cuda::to_device(indexed));
    EXPECT_EQ(made.family, family) << name(made.family);
    ASSERT_EQ(made.family, expected.family);
    EXPECT_EQ(made.runs, expected.runs);
    EXPECT_EQ(made.displacement, expected.displacement);
    if (std::holds_alternative<Indexed>(expected.permutation)) continue;
    EXPECT_TRUE(made.permutation == expected.permutation)
        << to_text(made.permutation) << ", not " << to_text(expected.permutation);
  }
}

TEST_F(GpuIndexDevice, RecognisesAsTheHost) {
  const auto of = [](const Permutation& permutation) {
    return narrow(element_count(permutation), [&](std::uint64_t x) { return apply(permutation, x); });
  };
  const auto perturbed = [](const Indexed& indexed, std::size_t a, std::size_t b) {
    std::vector<std::uint32_t> entries(indexed.entries32().begin(), indexed.entries32().end());
    std::swap(entries[a], entries[b]);
    return Indexed(std::move(entries), Direction::scatter);
  };
  constexpr std::uint64_t kOdd = 1000003;
  expect_recognised(of(maps::roll(kOdd, 0)), Family::identity);
  expect_recognised(of(maps::roll(kOdd, -77777)), Family::cyclic);
  expect_recognised(of(maps::flip(kOdd)), Family::cyclic);
  expect_recognised(of(maps::bit_reversal(20)), Family::affine);
  expect_recognised(of(maps::random_bmmc(21, 3)), Family::affine);
  expect_recognised(of(Axes({1000, 999}, {1, 0})), Family::axes);
  expect_recognised(of(Axes({30, 70, 11, 50}, {3, 1, 0, 2})), Family::axes);
  expect_recognised(of(Axes({3, 5, 7, 2, 3, 5, 2, 9}, {6, 4, 2, 0, 7, 5, 3, 1})), Family::axes);
  expect_recognised(Indexed::random(kOdd, 8), Family::general);
  expect_recognised(of(maps::affine_mod(kOdd, 12345, 6)), Family::modular);
  expect_recognised(of(CyclicAxes({1000, 999}, {1, 0}, {maps::roll(1000, 500), maps::flip(999)})),
                    Family::cyclic_axes);
  for (const std::size_t at : {std::size_t{0}, std::size_t{500000}, kOdd - 2}) {
    expect_recognised(perturbed(of(maps::roll(kOdd, 5)), at, at + 1), Family::runs);
  }
  for (const std::size_t at : {std::size_t{3}, std::size_t{1} << 19, (std::size_t{1} << 20) - 2}) {
    expect_recognised(perturbed(of(maps::bit_reversal(20)), at, at + 1), Family::exceptions);
  }
}

// What scheduling takes on the device's clock, the best of three: printed, and held to ten copies of the
// entries by the device's measured rate, where an H200 takes seven. Small arrays are bound by launches.
TEST_F(GpuIndexDevice, SchedulesLargeArraysInTime) {
  constexpr double kMostCopies = 10;
  const TransferRate copy = cuda::calibrate().copy;
  for (const std::uint64_t count : {std::uint64_t{1} << 24, std::uint64_t{1} << 28, std::uint64_t{1} << 30,
                                    (std::uint64_t{1} << 31) + 3}) {
    if (free_device_bytes() < 16 * count) GTEST_SKIP() << "too little memory for " << count << " entries";
    const Indexed device = cuda::random_on_device(count, 10);
    for (const PartitionShape& shape : {PartitionShape{count, 14, schedule::even_levels(count, 14, 8)},
                                        PartitionShape{count, 15, schedule::even_levels(count, 15, 8)}}) {
      cuda::SchedulingTimes best;
      static_cast<void>(cuda::make_device_partition(device, shape));
      for (int run = 0; run < 3; ++run) {
        cuda::SchedulingTimes times;
        static_cast<void>(cuda::make_device_partition(device, shape, &times));
        if (run == 0 || times.milliseconds < best.milliseconds) best = times;
      }
      std::printf("%llu entries, chunks of 2^%d: %.3f ms on the device:",
                  static_cast<unsigned long long>(count), shape.chunk_bits, best.milliseconds);
      for (const double step : best.steps) std::printf(" %.3f", step);
      std::printf("\n");
      if (count < std::uint64_t{1} << 28) continue;
      constexpr double bytes_of_entry = 8;  // read and written
      EXPECT_LT(best.milliseconds * 1e3,
                kMostCopies * copy.microseconds(bytes_of_entry * static_cast<double>(count)))
          << count << " entries, chunks of 2^" << shape.chunk_bits;
    }
  }
}

}  // namespace
}  // namespace faro::testing
