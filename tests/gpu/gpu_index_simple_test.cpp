// The one-pass kernels for axes, rolls and flips, windows and runs on a GPU, against the definition on the
// host: every unit width, elements of several units, batches, arrays that begin anywhere, both directions,
// and arrays past 2^32 elements.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/scheduled_passes.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

using Map = std::function<std::uint64_t(std::uint64_t)>;  // where element x of an array goes

constexpr std::uint64_t kGuard = 256;

struct Places {
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;
};

// Runs the pass on random bytes and holds every byte of the output, and its surroundings, to the map.
void check_pass(const cuda::LoadedPasses& pass, const Map& map, std::uint64_t count,
                std::uint64_t element_bytes, std::uint64_t batch, const Places& places,
                std::mt19937_64& random) {
  const std::uint64_t bytes = count * element_bytes * batch;
  std::vector<std::byte> in(bytes);
  for (std::byte& b : in) b = static_cast<std::byte>(random());
  constexpr std::byte poison{0x5a};
  std::vector<std::byte> out(bytes + places.out_offset + 2 * kGuard, poison);
  std::vector<std::byte> wanted = out;
  std::vector<std::byte> source(bytes + places.in_offset);
  std::copy(in.begin(), in.end(), source.begin() + static_cast<std::ptrdiff_t>(places.in_offset));
  const std::uint64_t first = kGuard + places.out_offset;
  for (std::uint64_t x = 0; x < count; ++x) {
    const std::uint64_t y = map(x);
    for (std::uint64_t a = 0; a < batch; ++a) {
      std::memcpy(&wanted[first + (a * count + y) * element_bytes], &in[(a * count + x) * element_bytes],
                  element_bytes);
    }
  }
  if (source.empty()) source.resize(1);
  cuda::DeviceArray device_in(source.size(), 0);
  cuda::DeviceArray device_out(out.size(), 0);
  device_in.upload(source.data());
  device_out.upload(out.data());
  const OwnStream stream;
  pass.launch({.in = device_in.data() + places.in_offset, .out = device_out.data() + first}, stream);
  stream.wait();
  device_out.download(out.data());
  const auto wrong = std::mismatch(out.begin(), out.end(), wanted.begin()).first;
  EXPECT_TRUE(wrong == out.end()) << "byte " << (wrong - out.begin()) - static_cast<std::ptrdiff_t>(first)
                                  << " of " << bytes << ", offsets " << places.in_offset << " "
                                  << places.out_offset;
}

// Aligned, and once elsewhere.
std::vector<Places> some_places(std::uint64_t element_bytes, std::mt19937_64& random) {
  const std::uint64_t unit = std::min<std::uint64_t>(16, element_bytes & (~element_bytes + 1));
  const auto offset = [&] { return random() % 64 / unit * unit; };
  return {{}, {.in_offset = offset(), .out_offset = offset()}, {.in_offset = 16, .out_offset = 0}};
}

constexpr std::uint64_t kWidths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

cuda::LoadedPasses passes_of(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                             const detail::AxesVariant& variant = {}) {
  return cuda::LoadedPasses(detail::solve({.count = axes.count(),
                                           .element_bytes = element_bytes,
                                           .batch = batch,
                                           .form = axes,
                                           .axes = variant}));
}

cuda::LoadedPasses passes_of(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch) {
  return cuda::LoadedPasses(
      detail::solve({.count = cyclic.count, .element_bytes = element_bytes, .batch = batch, .form = cyclic}));
}

class GpuIndexSimple : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};

  void check_axes(const std::vector<std::uint64_t>& shape, const std::vector<int>& order, std::uint64_t width,
                  std::uint64_t batch, const detail::AxesVariant& variant = {}) {
    std::string text = "axes(";
    for (const std::uint64_t e : shape) text += std::to_string(e) + " ";
    text += ";";
    for (const int a : order) text += " " + std::to_string(a);
    SCOPED_TRACE(text + "), " + std::to_string(width) + " bytes, batch " + std::to_string(batch));
    const Axes axes(shape, order);
    const cuda::LoadedPasses pass = passes_of(axes, width, batch, variant);
    for (const Places& places : some_places(width, random)) {
      check_pass(pass, axes, axes.count(), width, batch, places, random);
    }
  }

  // In every width and both directions; `to` is the map, `from` its inverse.
  void check_schedule(cuda::DeviceIndexSchedule& schedule, const std::vector<std::uint64_t>& to,
                      const std::vector<std::uint64_t>& from, const std::string& what) {
    for (const std::uint64_t width : kWidths) {
      for (const Direction applied : {Direction::scatter, Direction::gather}) {
        const std::uint64_t batch = 1 + random() % 2;
        SCOPED_TRACE(what + ", " + name(applied) + ", " + std::to_string(width) + " bytes, batch " +
                     std::to_string(batch));
        schedule.applied = applied;
        const ScheduledPasses pass(schedule, {.element_bytes = width, .batch = batch});
        const auto& map = applied == Direction::scatter ? to : from;
        for (const Places& places : some_places(width, random)) {
          check_pass(
              pass.passes(), [&map](std::uint64_t x) { return map[x]; }, map.size(), width, batch, places,
              random);
        }
        if (HasFailure()) return;
      }
    }
  }
};

TEST_F(GpuIndexSimple, AxesOfEveryWidth) {
  struct Case {
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
  };
  const Case cases[] = {
      {{7}, {0}},
      {{1000, 1000}, {1, 0}},
      {{1023, 1025}, {1, 0}},
      {{3, 50000}, {1, 0}},
      {{50000, 3}, {1, 0}},
      {{2, 65536}, {1, 0}},
      {{100, 3, 50, 7}, {2, 0, 3, 1}},
      {{100, 3, 50, 7}, {3, 2, 1, 0}},
      {{33, 44, 55}, {1, 0, 2}},
      {{40, 30, 256}, {1, 0, 2}},
      {{2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
  };
  for (const Case& c : cases) {
    for (const std::uint64_t width : kWidths) {
      check_axes(c.shape, c.order, width, 1);
      if (HasFailure()) FAIL() << "seed " << settings().seed;
    }
  }
}

// Tiles that are usual for large arrays only, and those that are usual for none of these.
TEST_F(GpuIndexSimple, TransposesByTilesOfEveryShape) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (int shape = 0; shape < 4; ++shape) {
      for (const bool turned : {false, true}) {
        SCOPED_TRACE("shape " + std::to_string(shape) + (turned ? ", turned" : ""));
        const detail::AxesVariant variant{.plane_shape = shape, .band = 3, .turned = turned};
        check_axes({1021, 1027}, {1, 0}, width, 1, variant);
        check_axes({1024, 768}, {1, 0}, width, 1, variant);
        check_axes({5, 300, 517}, {0, 2, 1}, width, 1, variant);
        if (HasFailure()) FAIL() << "seed " << settings().seed;
      }
    }
  }
}

TEST_F(GpuIndexSimple, TransposesOfFewRowsOrColumns) {
  for (const std::uint64_t few : {2U, 3U, 8U, 17U, 31U, 32U, 64U, 100U, 119U, 128U, 200U, 253U}) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U}) {
      const std::uint64_t many = 1 + 100000 / few + random() % 1000;
      check_axes({few, many}, {1, 0}, width, 1);
      check_axes({many, few}, {1, 0}, width, 1);
      if (HasFailure()) FAIL() << "seed " << settings().seed;
    }
  }
}

TEST_F(GpuIndexSimple, AxesOfRandomShapes) {
  for (int round = 0; round < 150; ++round) {
    const std::size_t n = 2 + random() % 5;
    std::vector<std::uint64_t> shape;
    std::uint64_t count = 1;
    for (std::size_t a = 0; a < n; ++a) {
      shape.push_back(1 +
                      random() % std::min<std::uint64_t>(std::max<std::uint64_t>(1, 200000 / count), 700));
      count *= shape.back();
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(shape.begin(), shape.end(), random);
    std::shuffle(order.begin(), order.end(), random);
    check_axes(shape, order, kWidths[random() % std::size(kWidths)], 1 + random() % 3);
    if (HasFailure()) FAIL() << "seed " << settings().seed << ", round " << round;
  }
}

TEST_F(GpuIndexSimple, RollsAndFlips) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 17U, 1000U, 65536U, 100003U}) {
    for (const std::uint64_t width : kWidths) {
      for (const bool reversed : {false, true}) {
        const std::uint64_t batch = 1 + random() % 3;
        const Cyclic map{.count = count, .shift = count == 0 ? 0 : random() % count, .reversed = reversed};
        SCOPED_TRACE((reversed ? "flip " : "roll ") + std::to_string(count) + " by " +
                     std::to_string(map.shift) + ", " + std::to_string(width) + " bytes, batch " +
                     std::to_string(batch));
        const cuda::LoadedPasses pass = passes_of(map, width, batch);
        for (const Places& places : some_places(width, random)) {
          check_pass(pass, map, count, width, batch, places, random);
        }
        if (HasFailure()) FAIL() << "seed " << settings().seed;
      }
    }
  }
}

// from[i]: what element i of the output is of the input.
std::vector<std::uint64_t> shuffled_within(std::uint64_t count, std::uint64_t window,
                                           std::mt19937_64& random) {
  std::vector<std::uint64_t> from(count);
  std::iota(from.begin(), from.end(), std::uint64_t{0});
  for (std::uint64_t begin = 0; begin < count; begin += window + 1) {
    std::shuffle(from.begin() + static_cast<std::ptrdiff_t>(begin),
                 from.begin() + static_cast<std::ptrdiff_t>(std::min(count, begin + window + 1)), random);
  }
  return from;
}

TEST_F(GpuIndexSimple, Windows) {
  for (const std::uint64_t count : {1U, 1000U, 65536U, 100003U}) {
    for (const std::uint32_t window : {0U, 5U, 300U, 2000U, 8191U}) {
      const std::vector<std::uint64_t> from = shuffled_within(count, window, random);
      std::vector<std::uint64_t> to(count);
      std::vector<std::uint16_t> shift(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        to[from[i]] = i;
        shift[i] = static_cast<std::uint16_t>(from[i] + window - i);
      }
      cuda::DeviceIndexSchedule schedule;
      schedule.what = cuda::DeviceWindow{
          .count = count, .window = window, .shift = cuda::DeviceBuffer<std::uint16_t>::of(shift, 0)};
      schedule.count = count;
      check_schedule(schedule, to, from, std::to_string(count) + " within " + std::to_string(window));
      if (HasFailure()) FAIL() << "seed " << settings().seed;
    }
  }
}

TEST_F(GpuIndexSimple, Runs) {
  for (const std::uint64_t most : {1U, 40U, 3000U}) {
    for (const std::size_t number : {1U, 2U, 300U}) {
      std::vector<std::uint64_t> source = {0};
      for (std::size_t r = 0; r < number; ++r) source.push_back(source.back() + 1 + random() % most);
      const std::uint64_t count = source.back();
      std::vector<std::size_t> order(number);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      std::vector<std::uint64_t> target(number);
      std::uint64_t next = 0;
      for (const std::size_t r : order) {
        target[r] = next;
        next += source[r + 1] - source[r];
      }
      std::vector<std::uint64_t> to(count);
      std::vector<std::uint64_t> from(count);
      for (std::size_t r = 0; r < number; ++r) {
        for (std::uint64_t x = source[r]; x < source[r + 1]; ++x) {
          to[x] = target[r] + (x - source[r]);
          from[to[x]] = x;
        }
      }
      cuda::DeviceIndexSchedule schedule;
      schedule.what = cuda::DeviceRuns{.count = count,
                                       .source = cuda::DeviceBuffer<std::uint64_t>::of(source, 0),
                                       .target = cuda::DeviceBuffer<std::uint64_t>::of(target, 0)};
      schedule.count = count;
      check_schedule(schedule, to, from, std::to_string(number) + " runs of " + std::to_string(count));
      if (HasFailure()) FAIL() << "seed " << settings().seed;
    }
  }
}

TEST_F(GpuIndexSimple, RefusesMisalignedArrays) {
  const cuda::LoadedPasses pass = passes_of(Axes({30, 40}, {1, 0}), 4, 1);
  const cuda::DeviceArray array(2 * 4800 + 256, 0);
  test::expect_refused(ErrorCode::value,
                       [&] { pass.launch({.in = array.data() + 2, .out = array.data() + 4864}); });
}

// More than 2^32 elements of one byte: out and back, and samples of where they went.
TEST_F(GpuIndexSimple, BeyondThirtyTwoBits) {
  constexpr std::uint64_t rows = 65537;
  constexpr std::uint64_t columns = 65543;
  constexpr std::uint64_t count = rows * columns;
  if (free_device_bytes() < 2 * count + (std::uint64_t{1} << 30)) GTEST_SKIP() << "too little free memory";
  std::vector<std::byte> in(count);
  const auto value = [](std::uint64_t x) { return static_cast<std::byte>(x * 0x9e3779b97f4a7c15 >> 56); };
  for (std::uint64_t x = 0; x < count; ++x) in[x] = value(x);
  cuda::DeviceArray device_in(count, 0);
  cuda::DeviceArray device_out(count, 0);
  device_in.upload(in.data());
  const OwnStream stream;
  const auto check_samples = [&](const cuda::LoadedPasses& pass, const Map& map, const char* what) {
    pass.launch({.in = device_in.data(), .out = device_out.data()}, stream);
    stream.wait();
    device_out.download(in.data());
    for (std::uint64_t x = 0; x < count; x += 997) {
      ASSERT_EQ(in[map(x)], value(x)) << what << ", element " << x;
    }
  };
  const Axes axes({rows, columns}, {1, 0});
  check_samples(passes_of(axes, 1, 1), axes, "axes");
  const Cyclic roll{.count = count, .shift = count / 3, .reversed = false};
  check_samples(passes_of(roll, 1, 1), roll, "roll");
  const Cyclic flip{.count = count, .shift = count - 1, .reversed = true};
  check_samples(passes_of(flip, 1, 1), flip, "flip");
}

}  // namespace
}  // namespace faro::testing
