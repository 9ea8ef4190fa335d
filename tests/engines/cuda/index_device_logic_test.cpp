// The work on index arrays that the CUDA engine does on a device, done on the host: its kernels emulated a
// thread at a time, its queues as they are. Held against the host's own schedules, checks and recognition.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/index/index_images.hpp"
#include "engines/cuda/index/index_recognise_work.hpp"
#include "engines/cuda/index/index_schedule_work.hpp"
#include "faro/error.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace index_device_logic_test {

using cuda::EntryView;
using schedule::PartitionShape;

constexpr std::uint64_t kSeed = 20261121;

template <typename Word>
EntryView view_of(const std::vector<Word>& entries, bool is_signed = false) {
  return {
      .data = entries.data(), .count = entries.size(), .bytes = sizeof(Word), .is_signed = is_signed ? 1 : 0};
}

template <typename Word>
std::vector<Word> random_entries(std::uint64_t count, std::uint64_t seed) {
  std::vector<Word> entries(count);
  std::iota(entries.begin(), entries.end(), Word{0});
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

template <typename Word>
void expect_schedule(const std::vector<Word>& entries, const PartitionShape& shape,
                     const Emulation& how = {}) {
  SCOPED_TRACE(std::to_string(shape.count) + " entries, chunks of 2^" + std::to_string(shape.chunk_bits) +
               ", order " + std::to_string(static_cast<int>(how.order)));
  schedule::check_shape(shape);
  const auto host = schedule::partition_schedule(Indexed(entries, Direction::scatter), shape, 1);
  HostDevice device(how);
  const int guards = HostDevice::guards_written();
  {
    const auto made = cuda::PartitionWork<HostDevice>(device, shape, view_of(entries)).make();
    ASSERT_TRUE(made.has_value());
    ASSERT_EQ(made->levels.size(), host.levels.size());
    for (std::size_t l = 0; l < host.levels.size(); ++l) {
      EXPECT_EQ(made->levels[l].places.download(), host.levels[l].places) << "level " << l;
      EXPECT_EQ(made->levels[l].starts.download(), host.levels[l].starts) << "level " << l;
      EXPECT_EQ(made->levels[l].offsets.download(), host.levels[l].offsets) << "level " << l;
    }
    EXPECT_EQ(made->last.download(), host.last);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

// The example of schedule/index_schedule.hpp, and every order of threads.
TEST(IndexDeviceLogic, PartitionsAsTheHostDoes) {
  const std::vector<std::uint32_t> example{9, 2, 14, 5, 0, 8, 3, 13, 7, 12, 1, 10, 15, 4, 11, 6};
  for (const Order order : {Order::forward, Order::backward, Order::shuffled}) {
    expect_schedule(example, {16, 2, {2}}, {.order = order});
    expect_schedule(random_entries<std::uint32_t>(1500, kSeed), {1500, 9, {2}}, {.order = order});
    expect_schedule(random_entries<std::uint64_t>(700, kSeed), {700, 7, {2, 1}}, {.order = order});
  }
}

TEST(IndexDeviceLogic, PartitionsOfEverySmallSize) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 31U, 32U, 33U, 63U}) {
    expect_schedule(random_entries<std::uint32_t>(count, kSeed + count), {count, 4, {1, 1}});
    expect_schedule(random_entries<std::uint64_t>(count, kSeed + count), {count, 16, {}});
  }
  expect_schedule(random_entries<std::uint32_t>(100, kSeed), {100, 3, {1, 2, 1, 1}});
}

// Rounds of 8192 and 4096 entries, many in a chunk; matching by ballots; each number of buckets that is
// compiled.
TEST(IndexDeviceLogic, PartitionsInManyRounds) {
  expect_schedule(random_entries<std::uint32_t>(33333, kSeed), {33333, 14, {2}}, {.order = Order::shuffled});
  expect_schedule(random_entries<std::uint64_t>(9001, kSeed), {9001, 15, {1}});
  expect_schedule(random_entries<std::uint32_t>(2000, kSeed), {2000, 9, {8}}, {.by_ballots = true});
  expect_schedule(random_entries<std::uint32_t>(2000, kSeed), {2000, 9, {9}}, {.by_ballots = true});
  expect_schedule(random_entries<std::uint64_t>(5000, kSeed), {5000, 11, {12}},
                  {.order = Order::backward, .by_ballots = true});
}

// Everything of a chunk in one bucket, one in each, buckets in descending order.
TEST(IndexDeviceLogic, PartitionsOfAdversaries) {
  constexpr std::uint32_t kCount = 2048;
  std::vector<std::uint32_t> identity(kCount);
  std::iota(identity.begin(), identity.end(), 0U);
  std::vector<std::uint32_t> reversed(identity.rbegin(), identity.rend());
  std::vector<std::uint32_t> strided(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) strided[i] = i % 8 * (kCount / 8) + i / 8;
  for (const auto& entries : {identity, reversed, strided}) {
    expect_schedule(entries, {kCount, 9, {2}});
    expect_schedule(entries, {kCount, 8, {2, 1}}, {.order = Order::backward});
  }
}

TEST(IndexDeviceLogic, ScansColumnsOfEveryShape) {
  for (const int region_bits : {0, 1, 5, 6, 7, 12, 13}) {
    for (const int column_bits : {0, 3}) {
      for (const std::uint64_t rows : {1U, 63U, 64U, 65U, 700U, 5000U}) {
        const std::uint64_t columns = std::uint64_t{1} << column_bits;
        HostDevice device;
        auto values = device.buffer<std::uint32_t>(rows * columns);
        const std::uint64_t regions = ((rows - 1) >> region_bits) + 1;
        auto totals = device.buffer<std::uint32_t>(regions * columns);
        std::mt19937 random(kSeed);
        std::vector<std::uint32_t> expected(rows * columns);
        std::vector<std::uint32_t> sums(regions * columns);
        for (std::uint64_t row = 0; row < rows; ++row) {
          for (std::uint64_t c = 0; c < columns; ++c) {
            std::uint32_t& sum = sums[(row >> region_bits) * columns + c];
            expected[row * columns + c] = sum;
            values.data()[row * columns + c] = static_cast<std::uint32_t>(random()) >> 12;
            sum += values.data()[row * columns + c];
          }
        }
        std::vector<HostDevice::Buffer<std::uint32_t>> kept;
        cuda::scan_columns(device, {.rows = rows, .column_bits = column_bits, .region_bits = region_bits},
                           values.data(), totals.data(), kept);
        ASSERT_EQ(values.download(), expected) << rows << " rows, regions of 2^" << region_bits;
        ASSERT_EQ(totals.download(), sums);
      }
    }
  }
}

// What is said of entries that are no permutation is what the host says, and no schedule is made of them.
template <typename Word>
void expect_refused(const std::vector<Word>& entries, bool is_signed = false) {
  const auto bytes = std::as_bytes(std::span(entries));
  const IndexType type{.bytes = sizeof(Word), .is_signed = is_signed};
  const std::string expected =
      refusal_of([&] { static_cast<void>(Indexed::from_bytes(bytes, type, Direction::scatter)); });
  ASSERT_FALSE(expected.empty());
  HostDevice device({.order = Order::backward});
  const int guards = HostDevice::guards_written();
  EXPECT_EQ(refusal_of([&] { cuda::validate_entries(device, view_of(entries, is_signed)); }), expected);
  for (const PartitionShape& shape :
       {PartitionShape{entries.size(), 6, {2, 3}}, PartitionShape{entries.size(), 9, {1}}}) {
    EXPECT_FALSE(cuda::PartitionWork<HostDevice>(device, shape, view_of(entries, is_signed)).make());
  }
  EXPECT_FALSE(cuda::window_on(device, view_of(entries, is_signed), 32767));
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(IndexDeviceLogic, NoPermutation) {
  const auto good = random_entries<std::uint32_t>(900, kSeed);
  const auto with = [&](std::initializer_list<std::pair<std::size_t, std::uint32_t>> changes) {
    auto entries = good;
    for (const auto& [at, value] : changes) entries[at] = value;
    return entries;
  };
  expect_refused(with({{7, 900}}));
  expect_refused(with({{899, 0xffffffff}, {3, 0x80000000}}));
  expect_refused(with({{500, good[20]}}));
  expect_refused(with({{0, good[1]}, {400, good[399]}, {800, good[399]}}));
  expect_refused(with({{899, good[898]}}));
  expect_refused(with({{5, 0xffffffff}}), true);  // -1
  expect_refused(std::vector<std::uint32_t>(900, 0));
  expect_refused(std::vector<std::uint32_t>(900, 899));
  std::vector<std::uint64_t> wide(good.begin(), good.end());
  wide[100] = std::uint64_t{1} << 40;
  expect_refused(wide);
  wide[100] = ~std::uint64_t{0};
  expect_refused(wide, true);
  wide[100] = wide[800];
  expect_refused(wide);
  HostDevice device;
  EXPECT_EQ(refusal_of([&] { cuda::validate_entries(device, view_of(good)); }), "accepted");
  EXPECT_EQ(refusal_of([&] { cuda::validate_entries(device, view_of(std::vector<std::uint32_t>{})); }),
            "accepted");
}

// An array that is written to while it is read: nothing is written out of bounds, and no schedule is made.
class Meddler : public HostDevice {
 public:
  Meddler(std::vector<std::uint32_t>& entries, std::string at,
          std::function<void(std::vector<std::uint32_t>&)> how)
      : entries_(entries), at_(std::move(at)), how_(std::move(how)) {}
  void step(const char* name) {
    if (name == at_) how_(entries_);
  }

 private:
  std::vector<std::uint32_t>& entries_;
  std::string at_;
  std::function<void(std::vector<std::uint32_t>&)> how_;
};

TEST(IndexDeviceLogic, AnArrayThatChangesMeanwhile) {
  const int guards = HostDevice::guards_written();
  const auto good = random_entries<std::uint32_t>(700, kSeed);
  const std::vector<std::function<void(std::vector<std::uint32_t>&)>> changes{
      [](auto& entries) { std::fill(entries.begin(), entries.end(), 0xffffffff); },
      [](auto& entries) { std::fill(entries.begin(), entries.end(), 699); },
      [](auto& entries) {  // still a permutation, but not the one that was counted
        const auto other = std::find_if(entries.begin() + 64, entries.end(), [&](std::uint32_t entry) {
          return entry / 256 != entries.front() / 256;
        });
        std::iter_swap(entries.begin(), other);
      }};
  for (const char* const at : {"count", "scan"}) {
    for (const auto& change : changes) {
      auto entries = good;
      Meddler device(entries, at, change);
      const PartitionShape shape{700, 6, {2, 2}};
      EXPECT_FALSE(cuda::PartitionWork<Meddler>(device, shape, view_of(entries)).make());
    }
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(IndexDeviceLogic, WindowsAndRunsAsTheHost) {
  for (const std::uint64_t count : {1U, 2U, 100U, 4096U, 9000U}) {
    std::vector<std::uint32_t> entries(count);
    std::iota(entries.begin(), entries.end(), 0U);
    std::mt19937 random(kSeed);
    constexpr std::uint64_t kBlock = 37;
    for (std::uint64_t at = 0; at < count; at += kBlock) {
      std::rotate(entries.begin() + static_cast<std::ptrdiff_t>(at),
                  entries.begin() + static_cast<std::ptrdiff_t>(std::min(count, at + random() % kBlock)),
                  entries.begin() + static_cast<std::ptrdiff_t>(std::min(count, at + kBlock)));
    }
    const Indexed indexed(entries, Direction::gather);
    HostDevice device({.order = Order::backward});
    const auto window = schedule::window_schedule(indexed, kBlock, 1);
    const auto shift = cuda::window_on(device, view_of(entries), kBlock);
    ASSERT_TRUE(shift.has_value());
    EXPECT_EQ(shift->download(), std::get<schedule::WindowSchedule>(window.what).shift);
    const auto runs = schedule::runs_schedule(indexed);
    const auto made = cuda::runs_on(device, view_of(entries));
    EXPECT_EQ(made.source.download(), std::get<schedule::RunsSchedule>(runs.what).source);
    EXPECT_EQ(made.target.download(), std::get<schedule::RunsSchedule>(runs.what).target);
  }
  HostDevice device;
  EXPECT_EQ(cuda::runs_on(device, view_of(std::vector<std::uint32_t>{})).source.download(),
            std::vector<std::uint64_t>{0});
  const auto far = random_entries<std::uint32_t>(1000, kSeed);
  EXPECT_FALSE(cuda::window_on(device, view_of(far), 100).has_value());
  const cuda::DeviceWord<HostDevice, std::uint64_t> found(device, cuda::kNowhere);
  cuda::FindFar find;
  find.entries = view_of(far);
  find.window = 100;
  find.found = found.data();
  device.run(find);
  const std::uint64_t first = found.get();
  ASSERT_LT(first, 1000U);
  for (std::uint64_t i = 0; i <= first; ++i) {
    const std::uint64_t moved = far[i] > i ? far[i] - i : i - far[i];
    EXPECT_EQ(moved > 100, i == first);
  }
}

TEST(IndexDeviceLogic, InvertsAndComposes) {
  constexpr std::uint64_t kCount = 777;
  const auto p = random_entries<std::uint32_t>(kCount, 1);
  const auto q = random_entries<std::uint64_t>(kCount, 2);
  HostDevice device;
  auto out = device.buffer<std::uint32_t>(kCount);
  cuda::Invert<std::uint32_t> invert;
  invert.entries = view_of(p);
  invert.out = out.data();
  device.run(invert);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(out.data()[p[i]], i);

  cuda::Chain<std::uint32_t> chain;
  chain.a = view_of(p);
  chain.b = view_of(q);
  chain.out = out.data();
  chain.form = cuda::ChainForm::load;
  device.run(chain);
  for (std::size_t x = 0; x < kCount; ++x) ASSERT_EQ(out.data()[x], p[q[x]]);
  chain.form = cuda::ChainForm::store;  // b takes q[y] to y
  device.run(chain);
  for (std::size_t y = 0; y < kCount; ++y) ASSERT_EQ(out.data()[q[y]], p[y]);
  chain.form = cuda::ChainForm::both;  // a takes p[z] to z, b takes q[y] to y
  device.run(chain);
  for (std::uint32_t z = 0; z < kCount; ++z) ASSERT_EQ(out.data()[q[p[z]]], z);
}

// An index array and every kind of map after one another, both ways round, as the host composes them.
template <typename Word>
void expect_chained(const std::vector<std::uint32_t>& entries, const Permutation& map, Direction direction) {
  const Indexed host(entries, direction);
  const std::vector<std::uint64_t> wide(entries.begin(), entries.end());
  for (const bool map_first : {false, true}) {
    SCOPED_TRACE(to_text(map) + (map_first ? ", then the array" : " after the array") + ", a " +
                 name(direction));
    const Permutation expected = map_first ? compose(host, map) : compose(map, host);
    HostDevice device;
    const auto out = device.buffer<Word>(entries.size());
    cuda::chain_entries<Word>(device, sizeof(Word) == 8 ? view_of(wide, true) : view_of(entries), direction,
                              map, map_first, out.data());
    const std::vector<Word> made = out.download();
    ASSERT_TRUE(Permutation(Indexed(made, direction)) == expected);
  }
}

TEST(IndexDeviceLogic, ComposesArraysWithEveryMap) {
  const int guards = HostDevice::guards_written();
  const std::vector<Permutation> maps{maps::bit_reversal(11),
                                      Affine(f2::reversal(11), 0x2a5),
                                      maps::random_bmmc(11, 5),
                                      Axes({8, 16, 16}, {2, 0, 1}),
                                      Axes({2048}, {0}),
                                      maps::roll(2048, 77),
                                      maps::flip(2048),
                                      Cyclic{.count = 2048, .shift = 5, .reversed = true},
                                      maps::affine_mod(2048, 77, 1234),
                                      CyclicAxes({32, 64}, {1, 0}, {maps::roll(32, 3), maps::flip(64)}),
                                      Axes({3, 5, 7, 11}, {3, 1, 0, 2}),
                                      maps::affine_mod(1009, 31, -4),
                                      CyclicAxes({30, 40}, {0, 1}, {maps::roll(30, 0), maps::roll(40, 20)}),
                                      Axes({2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, {9, 7, 5, 3, 1, 8, 6, 4, 2, 0}),
                                      maps::roll(1, 0)};
  for (const Permutation& map : maps) {
    const auto entries = random_entries<std::uint32_t>(element_count(map), kSeed);
    for (const Direction direction : {Direction::scatter, Direction::gather}) {
      expect_chained<std::uint32_t>(entries, map, direction);
      expect_chained<std::uint64_t>(entries, map, direction);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(IndexDeviceLogic, TheFeistelPermutationIsOne) {
  std::vector<std::uint64_t> counts(300);
  std::iota(counts.begin(), counts.end(), std::uint64_t{0});
  counts.push_back((1U << 17) + 3);
  for (const std::uint64_t count : counts) {
    for (const std::uint64_t seed : {0U, 7U}) {
      const auto permutation = cuda::FeistelPermutation::of(count, seed);
      std::vector<bool> seen(count);
      for (std::uint64_t x = 0; x < count; ++x) {
        const std::uint64_t y = permutation(x);
        ASSERT_LT(y, count);
        ASSERT_FALSE(seen[y]) << count << " elements, seed " << seed;
        seen[y] = true;
      }
    }
  }
  // Near 2^40: in range, and no two alike of a few.
  const std::uint64_t large = (std::uint64_t{1} << 40) - 5;
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t x = large - 2000; x < large; ++x) {
    drawn.push_back(cuda::FeistelPermutation::of(large, 3)(x));
    ASSERT_LT(drawn.back(), large);
  }
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::adjacent_find(drawn.begin(), drawn.end()), drawn.end());
  EXPECT_LT(drawn.front(), large / 100);
  EXPECT_GT(drawn.back(), large - large / 100);
}

// Through both readers: the same family, the same permutation, the same words.
void expect_recognised(const std::vector<std::uint32_t>& entries, Family family) {
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    const Indexed indexed(entries, direction);
    const Recognition host = recognise(indexed, 1);
    HostDevice device({.order = direction == Direction::scatter ? Order::forward : Order::backward});
    const EntryView view = view_of(entries);
    cuda::DeviceReader<HostDevice> reader(device, view);
    const Recognition here = recognise(reader, indexed);
    EXPECT_EQ(here.family, family) << name(here.family);
    ASSERT_EQ(here.family, host.family) << name(host.family);
    EXPECT_EQ(here.permutation.index(), host.permutation.index());
    EXPECT_TRUE(here.permutation == host.permutation);
    EXPECT_EQ(here.runs, host.runs);
    EXPECT_EQ(here.displacement, host.displacement);
  }
}

template <typename Map>
std::vector<std::uint32_t> entries_of_map(std::uint64_t count, const Map& map) {
  std::vector<std::uint32_t> entries(count);
  for (std::uint64_t x = 0; x < count; ++x) entries[x] = static_cast<std::uint32_t>(map(x));
  return entries;
}

TEST(IndexDeviceLogic, RecognisesAsTheHost) {
  const auto perturbed = [](std::vector<std::uint32_t> entries, std::size_t a, std::size_t b) {
    std::swap(entries[a], entries[b]);
    return entries;
  };
  const auto identity = entries_of_map(9001, [](std::uint64_t x) { return x; });
  expect_recognised(identity, Family::identity);
  expect_recognised(perturbed(identity, 17, 8500), Family::runs);
  expect_recognised({}, Family::identity);
  expect_recognised({0}, Family::identity);

  f2::Matrix matrix = f2::reversal(13);
  matrix.set_column(3, matrix.column(3) ^ matrix.column(9));
  const auto affine = entries_of_map(1 << 13, Affine(matrix, 0x1234 & 0x1fff));
  expect_recognised(affine, Family::affine);
  for (const std::size_t at : {5U, 4095U, 8190U}) {
    const auto changed = perturbed(affine, at, at + 1);
    HostDevice device;
    cuda::DeviceReader<HostDevice> reader(device, view_of(changed));
    const auto wrong = reader.mismatch(Affine(matrix, 0x1234 & 0x1fff));
    ASSERT_TRUE(wrong.has_value());
    EXPECT_TRUE(*wrong == at || *wrong == at + 1);
  }

  const auto rolled = entries_of_map(9000, maps::roll(9000, -1234));
  expect_recognised(rolled, Family::cyclic);
  expect_recognised(entries_of_map(9000, maps::flip(9000)), Family::cyclic);
  expect_recognised(perturbed(rolled, 4444, 4445), Family::runs);

  expect_recognised(entries_of_map(9001, maps::affine_mod(9001, 1234, 77)), Family::modular);
  expect_recognised(perturbed(entries_of_map(1 << 13, maps::multiply(1 << 13, 5)), 7, 6000),
                    Family::exceptions);
  expect_recognised(perturbed(affine, 7, 6000), Family::exceptions);
  for (const CyclicAxes& axes :
       {CyclicAxes({30, 41}, {1, 0}, {maps::roll(30, 0), maps::flip(41)}),
        CyclicAxes({7, 30, 11}, {2, 0, 1},
                   {maps::roll(7, 3), maps::flip(30), Cyclic{.count = 11, .shift = 4, .reversed = true}}),
        CyclicAxes({64, 64}, {0, 1}, {maps::roll(64, 32), maps::roll(64, 5)})})
    expect_recognised(entries_of_map(axes.count(), axes), Family::cyclic_axes);

  for (const Axes& axes : {Axes({50, 180}, {1, 0}), Axes({3, 7, 11, 5, 9}, {4, 2, 0, 3, 1}),
                           Axes({2, 3, 2, 3, 2, 3, 2, 3, 2, 3}, {9, 1, 7, 3, 5, 4, 6, 2, 8, 0})}) {
    const auto entries = entries_of_map(axes.count(), axes);
    expect_recognised(entries, Family::axes);
    HostDevice device;
    const auto changed = perturbed(entries, entries.size() - 2, entries.size() - 3);
    cuda::DeviceReader<HostDevice> reader(device, view_of(changed));
    const auto wrong = reader.mismatch(axes);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_EQ(*wrong, entries.size() - 3);
  }
}

TEST(IndexDeviceLogic, MeasuresLocality) {
  const auto entries = random_entries<std::uint32_t>(9000, kSeed);
  HostDevice device;
  cuda::DeviceReader<HostDevice> reader(device, view_of(entries));
  std::uint64_t runs = 0;
  std::uint64_t displacement = 0;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i] != entries[i - 1] + 1) ++runs;
    displacement = std::max(displacement, entries[i] > i ? entries[i] - i : i - entries[i]);
  }
  const Locality all = reader.locality(9000, 9000);
  EXPECT_EQ(all.runs, runs);
  EXPECT_EQ(all.displacement, displacement);
  const Locality few = reader.locality(10, 10);
  EXPECT_GT(few.runs, 10U);
  EXPECT_GT(few.displacement, 10U);
  EXPECT_LT(few.runs, runs);  // it stopped
}

TEST(IndexDeviceLogic, ReadsEveryTypeOfEntry) {
  const std::vector<std::uint32_t> narrow{0x80000000, 5};
  EXPECT_EQ(view_of(narrow)[0], 0x80000000U);
  EXPECT_EQ(view_of(narrow, true)[0], 0xffffffff80000000U);
  EXPECT_EQ(view_of(narrow, true)[1], 5U);
  std::uint64_t loaded[3];
  view_of(narrow, true).load(1, 1, loaded);
  EXPECT_EQ(loaded[0], 5U);
  EXPECT_EQ(loaded[1], 0U);
  view_of(narrow, true).load(~std::uint64_t{0}, 1, loaded);  // from the place before the first
  EXPECT_EQ(loaded[1], 0xffffffff80000000U);
  EXPECT_EQ(loaded[2], 5U);
}

TEST(IndexDeviceLogic, SaysWhatMemoryItNeeds) {
  const PartitionShape shape{std::uint64_t{1} << 33, 15, {9, 9}};
  EXPECT_EQ(cuda::partition_bytes_on_device(shape),
            shape.bytes() + (std::uint64_t{4} << 33) + (std::uint64_t{4} << (18 + 9)) / 32);
  EXPECT_EQ(cuda::partition_bytes_on_device({1000, 16, {}}), 2000U);
}

}  // namespace index_device_logic_test
}  // namespace faro::testing
