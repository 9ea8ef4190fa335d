// The kernels that route and add rows on a GPU, a thread at a time on the host, queued as the CUDA engine
// queues them: against the CPU engine and obvious loops, bit for bit, in every order of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/dispatch_queue.hpp"
#include "engines/cuda/rows/reused_steps.hpp"
#include "engines/cuda/rows/segment_queue.hpp"
#include "faro/rows.hpp"
#include "row_numbers_support.hpp"

namespace faro::testing {
namespace row_partition_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

template <typename T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

kernels::RowEntries entries_of_values(const std::vector<std::int32_t>& values, std::uint64_t rows) {
  return cuda::entries_of(Add{.to = RowNumbers(std::span(values)), .rows = rows});
}

std::vector<std::int32_t> random_keys(std::uint64_t count, std::uint64_t buckets, double absent,
                                      std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> keys(count);
  for (std::int32_t& key : keys) {
    const bool none = std::uniform_real_distribution<>(0, 1)(random) < absent;
    key = none ? -1 : static_cast<std::int32_t>(random() % buckets);
  }
  return keys;
}

// --- routing

struct RouteCase {
  std::uint64_t count = 100;
  std::uint64_t buckets = 5;
  std::uint64_t keys_per_row = 1;
  std::uint64_t multiple = 1;
  std::optional<std::uint64_t> capacity = {};
  double absent = 0.1;
  Emulation how = {};
  bool wide = false;
};

// All arrays, in a workspace that is exactly as large as it is said to be.
void expect_routed(const RouteCase& of, const std::vector<std::int32_t>& keys) {
  SCOPED_TRACE(std::to_string(of.count) + " keys, " + std::to_string(of.buckets) + " buckets, multiple " +
               std::to_string(of.multiple));
  const Route expected = route(RowNumbers(std::span(keys)), {.buckets = of.buckets,
                                                             .keys_per_row = of.keys_per_row,
                                                             .multiple = of.multiple,
                                                             .capacity = of.capacity,
                                                             .threads = 1});
  const std::uint64_t behind = 37;  // places that no bucket reaches
  const std::uint64_t most = expected.inverse.size() + behind;
  HostDevice device(of.how);
  auto partition = cuda::route_partition(of.count, of.buckets);
  partition.wide = of.wide;
  RowFaults faults;
  const int guards = HostDevice::guards_written();
  {
    auto workspace = device.buffer<std::uint64_t>(cuda::route_workspace_bytes(partition) / 8);
    auto places = device.buffer<std::int64_t>(of.count);
    auto inverse = device.buffer<std::int64_t>(most);
    auto rows = device.buffer<std::int64_t>(most);
    auto offsets = device.buffer<std::int64_t>(of.buckets + 1);
    auto counts = device.buffer<std::int64_t>(of.buckets);
    cuda::route_items(device, partition,
                      {.keys = entries_of_values(keys, of.buckets),
                       .faults = &faults,
                       .keys_per_row = of.keys_per_row,
                       .multiple = of.multiple,
                       .capacity = of.capacity.value_or(~std::uint64_t{0}),
                       .most_places = most},
                      {.places = places.data(),
                       .inverse = inverse.data(),
                       .rows = rows.data(),
                       .offsets = offsets.data(),
                       .counts = counts.data()},
                      reinterpret_cast<std::byte*>(workspace.data()));
    EXPECT_EQ(places.download(), expected.places);
    EXPECT_EQ(offsets.download(), expected.offsets);
    EXPECT_EQ(counts.download(), expected.counts);
    std::vector<std::int64_t> padded = expected.inverse;
    padded.resize(most, -1);
    EXPECT_EQ(inverse.download(), padded);
    std::vector<std::int64_t> taken = expected.taken_rows();
    taken.resize(most, -1);
    EXPECT_EQ(rows.download(), taken);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
  EXPECT_EQ(faults.out_of_range, kNoFault);
}

void expect_routed(const RouteCase& of) {
  expect_routed(of, random_keys(of.count, of.buckets, of.absent, of.count + of.buckets));
}

TEST(RowPartitionKernel, RoutesAsTheCpuDoes) {
  for (const Order order : {Order::forward, Order::backward, Order::shuffled})
    expect_routed({.count = 3000, .buckets = 7, .keys_per_row = 2, .multiple = 4, .how = {.order = order}});
  expect_routed({.count = 4097, .buckets = 256, .how = {.by_ballots = true}});
  expect_routed({.count = 2500, .buckets = 300, .how = {.by_ballots = true}});
  expect_routed({.count = 2000, .buckets = 4096, .multiple = 3});
  expect_routed({.count = 2000, .buckets = 1});
}

TEST(RowPartitionKernel, RoutesEveryShape) {
  for (const std::uint64_t count : {0U, 1U, 31U, 32U, 33U, 255U, 257U, 2047U, 2048U, 2049U})
    expect_routed({.count = count, .buckets = 6, .multiple = 8});
  for (const std::uint64_t capacity : {0U, 1U, 20U, 1000U})
    expect_routed({.count = 600, .buckets = 9, .keys_per_row = 3, .multiple = 16, .capacity = capacity});
  expect_routed({.count = 500, .buckets = 9, .absent = 1});
  expect_routed({.count = 500, .buckets = 9, .absent = 0, .wide = true});
  expect_routed({.count = 700, .buckets = 9}, std::vector<std::int32_t>(700, 4));
}

// Many chunks: tables of several tiles.
TEST(RowPartitionKernel, RoutesManyChunks) {
  expect_routed({.count = 2048 * 70 + 5, .buckets = 3, .multiple = 128});
}

// More buckets than a block counts: sorted by digits.
TEST(RowPartitionKernel, RoutesToManyBuckets) {
  expect_routed({.count = 3000, .buckets = 4097, .keys_per_row = 2, .multiple = 4});
  expect_routed({.count = 2500, .buckets = 70000, .capacity = 1, .absent = 0.3});
  expect_routed({.count = 600, .buckets = 5000, .keys_per_row = 3, .capacity = 0});
  expect_routed({.count = 600, .buckets = 300000, .wide = true});
  expect_routed({.count = 0, .buckets = 5000, .multiple = 2});
  expect_routed({.count = 1, .buckets = 4160});
  expect_routed({.count = 500, .buckets = 5000, .absent = 1});
  expect_routed({.count = 9000, .buckets = 6000}, std::vector<std::int32_t>(9000, 5999));
}

TEST(RowPartitionKernel, NotesKeysThatAreNoBuckets) {
  std::vector<std::int32_t> keys(3000, 1);
  keys[2900] = 4;
  keys[2100] = -2;
  const auto partition = detail::row_partition(keys.size(), 4, detail::kRouteBits);
  HostDevice device;
  RowFaults faults;
  auto workspace = device.buffer<std::uint64_t>(partition.table_bytes() / 8);
  auto places = device.buffer<std::int64_t>(keys.size());
  cuda::route_items(device, partition, {.keys = entries_of_values(keys, 4), .faults = &faults},
                    {.places = places.data()}, reinterpret_cast<std::byte*>(workspace.data()));
  EXPECT_EQ(faults.out_of_range, 2100U);
  const std::vector<std::int64_t> made = places.download();
  EXPECT_EQ(made[2099], 2099);
  EXPECT_EQ(made[2100], -1);
  EXPECT_EQ(made[2101], 2100);
}

// --- sums

struct AddCase {
  Number number = Number::f32;
  Sums sums = Sums::usual;
  std::uint64_t numbers = 1;  // of a row
  std::uint64_t count = 300;
  std::uint64_t rows = 40;
  std::uint64_t outer = 1;
  double absent = 0.1;
  Emulation how = {};
  bool wide = false;
  std::uint64_t offset = 0;  // of the output, in numbers
  bool binned = false;
  std::uint32_t rounds = 1;  // of a chunk
};

// Numbers whose sums round: of floating-point types a normal distribution and -0, of integers any bits.
std::vector<std::byte> random_numbers(Number number, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> made(count * bytes_of(number));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random();
    const std::uint64_t bits = bits_of(number, i % 8 == 5 ? -0.0F : normal(random), drawn);
    std::memcpy(made.data() + i * bytes_of(number), &bits, bytes_of(number));
  }
  return made;
}

void expect_added(const AddCase& of, const std::vector<std::int32_t>& keys) {
  SCOPED_TRACE(std::string(name(of.number)) + ", sums " + name(of.sums) + ", " + std::to_string(of.outer) +
               " x " + std::to_string(keys.size()) + " rows of " + std::to_string(of.numbers) + " to " +
               std::to_string(of.rows));
  const Add add{.to = RowNumbers(std::span(keys)), .rows = of.rows, .number = of.number, .sums = of.sums};
  const RowLayout layout{.outer = of.outer, .row_bytes = of.numbers * bytes_of(of.number)};
  const ExecutableRows on_cpu = plan_rows(add, layout, {.threads = 1, .engine = Engine::cpu});
  const std::vector<std::byte> in = random_numbers(of.number, of.outer * keys.size() * of.numbers, 1);
  std::vector<std::byte> expected = random_numbers(of.number, of.outer * of.rows * of.numbers, 2);
  HostDevice device(of.how);
  auto partition = of.binned ? detail::bin_partition(keys.size(), of.rows)
                             : detail::row_partition(keys.size(), of.rows, detail::kPartitionDigitBits);
  partition.wide = of.wide;
  partition.rounds = of.rounds;
  partition.chunks = detail::ceil_div(partition.items, std::uint64_t{of.rounds} * partition.round_items);
  RowFaults faults;
  const int guards = HostDevice::guards_written();
  {
    struct alignas(16) Aligned {
      std::byte bytes[16];
    };
    auto workspace =
        device.buffer<std::uint64_t>((partition.table_bytes() + 4 * partition.pairs_bytes()) / 8);
    auto device_in = device.buffer<Aligned>(in.size() / 16 + 1);
    auto device_out = device.buffer<Aligned>((expected.size() + of.offset * bytes_of(of.number)) / 16 + 1);
    auto* const out = reinterpret_cast<std::byte*>(device_out.data()) + of.offset * bytes_of(of.number);
    std::copy(in.begin(), in.end(), reinterpret_cast<std::byte*>(device_in.data()));
    std::copy(expected.begin(), expected.end(), out);
    cuda::add_rows(device, partition,
                   {.entries = cuda::entries_of(add),
                    .faults = &faults,
                    .layout = layout,
                    .number = of.number,
                    .sums = of.sums,
                    .in = device_in.data(),
                    .out = out},
                   reinterpret_cast<std::byte*>(workspace.data()));
    on_cpu.run(in, expected);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out));
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
  EXPECT_EQ(faults.out_of_range, kNoFault);
}

void expect_added(const AddCase& of) {
  expect_added(of, random_keys(of.count, std::max<std::uint64_t>(of.rows, 1), of.rows == 0 ? 1 : of.absent,
                               of.count + of.rows));
}

TEST(RowPartitionKernel, AddsEveryTypeAsTheCpuDoes) {
  for_every_sum([](Number number, Sums sums) {
    for (const std::uint64_t numbers : {1U, 3U, 16U})
      expect_added({.number = number, .sums = sums, .numbers = numbers, .count = 150, .rows = 11});
  });
}

TEST(RowPartitionKernel, AddsEveryShape) {
  for (const Order order : {Order::forward, Order::backward, Order::shuffled})
    expect_added({.count = 5000, .rows = 900, .how = {.order = order}});
  expect_added({.count = 4500, .rows = 70000, .how = {.by_ballots = true}});  // three digits
  expect_added({.count = 9000, .rows = 70000, .rounds = 2});
  expect_added({.number = Number::f64, .numbers = 5, .count = 2500, .rows = 3, .wide = true});
  expect_added({.number = Number::f64, .numbers = 1, .count = 2500, .rows = 300, .wide = true});
  expect_added({.numbers = 4, .count = 40, .rows = 7, .outer = 5});
  expect_added({.numbers = 1, .count = 40, .rows = 7, .outer = 5});
  expect_added({.numbers = 4, .count = 40, .rows = 7, .offset = 1});
  expect_added({.count = 0, .rows = 4});
  expect_added({.count = 4, .rows = 0});
  expect_added({.count = 50, .rows = 1, .absent = 1});
  expect_added({.number = Number::bf16, .numbers = 8, .count = 3000}, std::vector<std::int32_t>(3000, 12));
}

TEST(RowPartitionKernel, AddsEveryTypeByBinsAsTheCpuDoes) {
  for (int n = 0; n < 12; ++n) {
    const auto number = static_cast<Number>(n);
    if (bytes_of(number) > 4) continue;
    for (const Sums sums : {Sums::usual, Sums::fp32, Sums::fp64, Sums::compensated}) {
      const bool is_float = number >= Number::f16;
      if (sums != Sums::usual && !is_float) continue;
      expect_added({.number = number, .sums = sums, .count = 1500, .rows = 1100, .binned = true});
    }
  }
}

TEST(RowPartitionKernel, AddsEveryShapeByBins) {
  for (const Order order : {Order::forward, Order::backward, Order::shuffled})
    expect_added({.count = 20000, .rows = 9000, .how = {.order = order}, .binned = true});
  expect_added({.count = 9000, .rows = 70000, .how = {.by_ballots = true}, .binned = true});
  expect_added({.count = 9000, .rows = 3000000, .binned = true});  // two digits above the bins
  expect_added({.count = 40000, .rows = 9000, .binned = true, .rounds = 3});
  for (const std::uint64_t count : {0U, 1U, 31U, 33U, 127U, 128U, 129U, 8191U, 8192U, 8193U})
    expect_added({.count = count, .rows = 5000, .offset = 3, .binned = true});
  for (const std::uint64_t rows : {1U, 2U, 31U, 1023U, 1024U, 1025U, 4097U})
    expect_added({.count = 700, .rows = rows, .binned = true});
  expect_added({.count = 50, .rows = 1, .absent = 1, .binned = true});
  expect_added({.count = 4, .rows = 0, .binned = true});
}

// Lanes that add to one row, few and many of them, beside others and alone.
TEST(RowPartitionKernel, AddsRepeatsByBins) {
  for (const std::uint64_t apart : {1U, 2U, 3U, 5U, 8U, 31U, 64U}) {
    std::vector<std::int32_t> keys(9000);
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = static_cast<std::int32_t>(i % apart == 0 ? 4321 : i * 7919 % 6000);
    for (const Order order : {Order::forward, Order::shuffled})
      expect_added({.rows = 6000, .how = {.order = order}, .binned = true}, keys);
  }
}

TEST(RowPartitionKernel, ChoosesBinsForManyNumbers) {
  const std::uint64_t many = std::uint64_t{1} << 26;
  const auto few_rows = detail::added_partition(many, std::uint64_t{1} << 20, true);
  EXPECT_TRUE(few_rows.binned());
  EXPECT_EQ(few_rows.digits.size(), 1U);
  EXPECT_EQ(few_rows.bin_bits, 10);
  const auto many_rows = detail::added_partition(many, many, true);
  EXPECT_TRUE(many_rows.binned());
  EXPECT_EQ(many_rows.digits.size(), 2U);
  EXPECT_FALSE(detail::added_partition(many, many, false).binned());
  EXPECT_FALSE(detail::added_partition(1000, 1000, true).binned());
  EXPECT_FALSE(detail::added_partition(many, many * 5, true).binned());
  EXPECT_FALSE(detail::added_partition(many, std::uint64_t{1} << 33, true).binned());
}

// --- entries that were sorted

template <typename Sum>
void expect_segments_added(const std::vector<std::uint32_t>& keys, std::uint64_t rows) {
  using Stored = typename Sum::Stored;
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    auto begins = device.buffer<std::uint32_t>(rows + 1);
    cuda::BeginKeys<std::uint32_t> begin;
    begin.keys = keys.data();
    begin.count = keys.size();
    begin.buckets = rows;
    begin.begins = begins.data();
    device.run(begin);
    for (std::uint64_t r = 0; r <= rows; ++r) {
      const auto first = std::lower_bound(keys.begin(), keys.end(), r) - keys.begin();
      ASSERT_EQ(begins.data()[r], static_cast<std::uint32_t>(first)) << r;
    }
    std::vector<Stored> values(keys.size());
    std::mt19937 random(4);
    for (Stored& value : values)
      value = static_cast<Stored>(std::normal_distribution<float>(1000, 99)(random));
    auto out = device.buffer<Stored>(rows);
    std::vector<Stored> expected(rows);
    for (std::uint64_t r = 0; r < rows; ++r) {
      expected[r] = out.data()[r] = static_cast<Stored>(r % 5);
      Sum sum;
      sum.start(expected[r]);
      for (std::size_t i = begins.data()[r]; i < begins.data()[r + 1]; ++i) sum.add(values[i]);
      if (begins.data()[r] != begins.data()[r + 1]) expected[r] = sum.result();
    }
    const std::vector<Stored> before = out.download();
    const auto add_by = [&](auto add) {
      add.begins = begins.data();
      add.rows = rows;
      add.values = reinterpret_cast<const std::byte*>(values.data());
      add.out = reinterpret_cast<std::byte*>(out.data());
      std::copy(before.begin(), before.end(), out.data());
      device.run(add);
      EXPECT_EQ(out.download(), expected);
    };
    add_by(cuda::SumSegments<Sum>());
    add_by(cuda::SumLongSegments<Sum>());
    // Taken in the same order.
    const std::vector<Stored> in = expected;
    auto taken = device.buffer<Stored>(keys.size());
    cuda::TakeSorted<sizeof(Stored)> take;
    take.keys = keys.data();
    take.count = keys.size();
    take.in = reinterpret_cast<const std::byte*>(in.data());
    take.out = reinterpret_cast<std::byte*>(taken.data());
    if (take.blocks() > 0) device.run(take);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(taken.data()[i], in[keys[i]]) << i;
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(RowPartitionKernel, TakesAndAddsBySortedEntries) {
  for (const std::uint64_t count : {0U, 1U, 255U, 256U, 257U, 5000U}) {
    for (const std::uint64_t rows : {1U, 7U, 900U, 9000U}) {
      const std::vector<std::int32_t> drawn = random_keys(count, rows, 0, count + rows);
      std::vector<std::uint32_t> keys(drawn.begin(), drawn.end());
      std::sort(keys.begin(), keys.end());
      expect_segments_added<kernels::OwnSum<float>>(keys, rows);
      expect_segments_added<kernels::WideSum<float, double>>(keys, rows);
      expect_segments_added<kernels::CompensatedSum<double, double>>(keys, rows);
      expect_segments_added<kernels::OwnSum<std::uint64_t>>(keys, rows);
    }
  }
}

// Chunks of sorted entries, each permuted within itself as it is taken.
template <int kBytes>
void expect_chunks_taken(const std::vector<std::uint32_t>& keys, std::uint64_t rows, std::uint32_t chunk) {
  using Element = device::Packet<kBytes>;
  SCOPED_TRACE(std::to_string(keys.size()) + " of " + std::to_string(rows) + " rows, " +
               std::to_string(kBytes) + " bytes, chunks of " + std::to_string(chunk));
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    std::mt19937 random(6);
    auto places = device.buffer<std::uint16_t>(keys.size());
    for (std::size_t first = 0; first < keys.size(); first += chunk) {
      const std::size_t end = std::min<std::size_t>(first + chunk, keys.size());
      std::iota(places.data() + first, places.data() + end, std::uint16_t{0});
      std::shuffle(places.data() + first, places.data() + end, random);
    }
    auto in = device.buffer<Element>(rows);
    for (std::uint64_t r = 0; r < rows; ++r) {
      for (auto& unit : in.data()[r].unit) unit = static_cast<typename Element::Unit>(random());
    }
    std::vector<Element> expected(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      expected[i] = in.data()[keys[i / chunk * chunk + places.data()[i]]];

    cuda::FindStretches find;
    find.keys = keys.data();
    find.count = keys.size();
    find.chunk = chunk;
    find.of_vector = 16 / kBytes;
    auto begins = device.buffer<std::uint32_t>(find.chunks());
    auto lengths = device.buffer<std::uint32_t>(find.chunks());
    auto longest = device.buffer<std::uint64_t>(1);
    longest.data()[0] = 0;
    find.begins = begins.data();
    find.lengths = lengths.data();
    find.longest = longest.data();
    device.run(find);
    if (longest.data()[0] > 65536) return;
    cuda::OffsetPlaces offset;
    offset.keys = keys.data();
    offset.count = keys.size();
    offset.chunk = chunk;
    offset.begins = begins.data();
    offset.places = places.data();
    device.run(offset);
    auto out = device.buffer<Element>(keys.size());
    cuda::TakeChunks<kBytes> take;
    take.count = keys.size();
    take.in_count = rows;
    take.chunk = chunk;
    take.longest = static_cast<std::uint32_t>(longest.data()[0]);
    take.begins = begins.data();
    take.lengths = lengths.data();
    take.offsets = places.data();
    take.in = reinterpret_cast<const std::byte*>(in.data());
    take.out = reinterpret_cast<std::byte*>(out.data());
    device.run(take);
    EXPECT_EQ(std::memcmp(out.download().data(), expected.data(), expected.size() * kBytes), 0);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(RowPartitionKernel, TakesByChunksOfSortedEntries) {
  for (const std::uint64_t count : {1U, 255U, 1024U, 5001U}) {
    for (const std::uint64_t rows : {1U, 7U, 900U, 5003U}) {
      const std::vector<std::int32_t> drawn = random_keys(count, rows, 0, count + rows);
      std::vector<std::uint32_t> keys(drawn.begin(), drawn.end());
      std::sort(keys.begin(), keys.end());
      for (const std::uint32_t chunk : {64U, 1024U}) {
        expect_chunks_taken<4>(keys, rows, chunk);
        expect_chunks_taken<8>(keys, rows, chunk);
      }
    }
  }
}

// What goes to distinct rows, in their order; and rows that are named twice.
TEST(RowPartitionKernel, PutsBySortedEntries) {
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    for (const std::uint64_t count : {1U, 255U, 2049U}) {
      std::vector<std::uint32_t> keys;
      for (std::uint32_t i = 0; i < count; ++i) keys.push_back(3 * i + i % 2);
      const std::uint64_t rows = keys.back() + 1;
      const std::vector<std::uint64_t> values(count, 7);
      auto out = device.buffer<std::uint64_t>(rows);
      std::vector<std::uint64_t> expected = out.download();
      for (const std::uint32_t key : keys) expected[key] = 7;
      cuda::PutSorted<8> put;
      put.keys = keys.data();
      put.count = count;
      put.in = reinterpret_cast<const std::byte*>(values.data());
      put.out = reinterpret_cast<std::byte*>(out.data());
      device.run(put);
      EXPECT_EQ(out.download(), expected);

      kernels::RowFaults faults;
      std::vector<std::uint32_t> items(count);
      std::iota(items.begin(), items.end(), 0U);
      cuda::FindTwice find;
      find.keys = keys.data();
      find.items = items.data();
      find.count = count;
      find.faults = &faults;
      device.run(find);
      EXPECT_EQ(faults.twice, kernels::kNoFault);
      if (count < 200) continue;
      keys[180] = keys[179];
      device.run(find);
      EXPECT_EQ(faults.twice, 180U);
    }
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

// --- ragged rows

template <typename Offset>
void expect_segments_taken(std::uint64_t segments, std::uint64_t taken, std::uint64_t longest,
                           std::uint64_t width, std::uint64_t room) {
  SCOPED_TRACE(std::to_string(taken) + " of " + std::to_string(segments) + " segments up to " +
               std::to_string(longest) + " elements of " + std::to_string(width) + " bytes");
  std::mt19937_64 random(segments + taken + width);
  std::vector<Offset> offsets(segments + 1);
  for (std::uint64_t s = 0; s < segments; ++s)
    offsets[s + 1] = static_cast<Offset>(static_cast<std::uint64_t>(offsets[s]) + random() % (longest + 1));
  std::vector<std::int32_t> from(taken);
  for (std::int32_t& each : from) each = static_cast<std::int32_t>(random() % segments);
  const auto elements = static_cast<std::uint64_t>(offsets.back());
  const Segments all{.offsets = RowNumbers(std::span(std::as_const(offsets))), .element_bytes = width};
  const RowNumbers which(std::span(std::as_const(from)));
  const std::vector<std::uint64_t> begins = taken_offsets(all, which);
  HostDevice device;
  const int guards = HostDevice::guards_written();
  {
    auto in = device.buffer<std::byte>(elements * width);
    for (std::uint64_t b = 0; b < in.size(); ++b) in.data()[b] = static_cast<std::byte>(random());
    std::vector<std::byte> wanted(begins.back() * width);
    take_segments(all, which, {in.data(), in.size()}, wanted);
    auto out = device.buffer<std::byte>((begins.back() + room) * width);
    std::vector<std::byte> expected = out.download();
    std::copy(wanted.begin(), wanted.end(), expected.begin());
    auto told = device.buffer<std::int64_t>(taken + 1);
    auto workspace = device.buffer<std::byte>(cuda::segments_workspace_bytes(taken));
    kernels::RowFaults faults;
    const auto entries = [](const RowNumbers& numbers, std::uint64_t rows) {
      return cuda::entries_of(Add{.to = numbers, .rows = rows});
    };
    cuda::SegmentWork work{.taken = {.from = entries(which, segments),
                                     .offsets = entries(all.offsets, Indexed::kMaxCount),
                                     .in_elements = elements},
                           .faults = &faults,
                           .element_bytes = width,
                           .out_elements = begins.back() + room,
                           .offsets = told.data(),
                           .in = in.data(),
                           .out = out.data()};
    cuda::take_segments(device, work, workspace.data());
    EXPECT_EQ(out.download(), expected);
    EXPECT_EQ(faults.out_of_range, kernels::kNoFault);
    EXPECT_EQ(faults.twice, kernels::kNoFault);
    for (std::uint64_t i = 0; i <= taken; ++i)
      ASSERT_EQ(told.data()[i], static_cast<std::int64_t>(begins[i])) << i;
    // Where they begin alone.
    auto found = device.buffer<std::int64_t>(taken + 1);
    cuda::SegmentWork finding = work;
    finding.offsets = found.data();
    cuda::find_segments(device, finding, workspace.data());
    EXPECT_EQ(found.download(), told.download());
    if (taken < 3 || begins.back() < 2) return;
    // No room for the last elements; a segment that there is none of, and one that goes down.
    work.out_elements = begins.back() - 1;
    const std::byte kept = out.data()[(begins.back() - 1) * width];
    cuda::take_segments(device, work, workspace.data());
    EXPECT_EQ(faults.twice, begins.back());
    EXPECT_EQ(out.data()[(begins.back() - 1) * width], kept);
    from[2] = static_cast<std::int32_t>(segments);
    cuda::take_segments(device, work, workspace.data());
    EXPECT_EQ(faults.out_of_range, 2U);
    EXPECT_EQ(told.data()[3], told.data()[2]);
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
}

TEST(RowPartitionKernel, TakesSegmentsOfAnyLength) {
  for (const std::uint64_t width : {1U, 2U, 4U, 12U, 16U}) {
    expect_segments_taken<std::int64_t>(1, 1, 5, width, 0);
    expect_segments_taken<std::int32_t>(40, 100, 300, width, 7);
    expect_segments_taken<std::uint16_t>(500, 3000, 3, width, 100);
    expect_segments_taken<std::int64_t>(3, 9, 4000, width, 1);
    expect_segments_taken<std::uint64_t>(20, 0, 9, width, 50);
  }
}

// Entries of any width and byte order are read alike.
TEST(RowPartitionKernel, ReadsEntriesOfEveryKind) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const bool is_signed : {false, true}) {
      for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        std::vector<std::int64_t> values{0, 1, 77, 5, 120, 3};
        if (is_signed) values.insert(values.end(), {-1, -128});
        std::vector<unsigned char> raw;
        for (const std::int64_t value : values) {
          for (int b = 0; b < bytes; ++b) {
            const int place = order == ByteOrder::big ? bytes - 1 - b : b;
            raw.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> 8 * place));
          }
        }
        const RowNumbers numbers(raw.data(), values.size(), {.bytes = bytes, .is_signed = is_signed}, order);
        const kernels::RowEntries entries = cuda::entries_of(Add{.to = numbers, .rows = 121});
        std::uint64_t rows[8] = {};
        entries.load_rows(0, 1, values.size(), rows);
        for (std::size_t i = 0; i < values.size(); ++i) {
          EXPECT_EQ(entries.entry(i), static_cast<std::uint64_t>(values[i])) << bytes;
          const std::uint64_t wanted = values[i] == -1 ? kernels::kAbsentRow
                                       : values[i] < 0 ? kernels::kWrongRow
                                                       : static_cast<std::uint64_t>(values[i]);
          EXPECT_EQ(rows[i], wanted) << bytes;
        }
        // And on the CPU.
        if (is_signed) values.back() = 2;
        if (is_signed) {
          for (int b = 0; b < bytes; ++b) {
            const int place = order == ByteOrder::big ? bytes - 1 - b : b;
            raw[raw.size() - static_cast<std::size_t>(bytes - b)] =
                static_cast<unsigned char>(2ULL >> 8 * place);
          }
        }
        const auto plan =
            plan_rows(Take{.from = numbers, .rows = 121, .fill = Fill::zero()}, {.row_bytes = 1});
        std::vector<std::byte> in(121);
        for (std::size_t b = 0; b < in.size(); ++b) in[b] = static_cast<std::byte>(b + 1);
        std::vector<std::byte> out(values.size());
        plan.run(in, out);
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_EQ(out[i], static_cast<std::byte>(values[i] < 0 ? 0 : values[i] + 1)) << bytes << ", " << i;
      }
    }
  }
}

// --- what comes back

void expect_combined(Number number, Sums sums, std::uint64_t keys_per_row, std::uint64_t numbers,
                     bool weighted) {
  SCOPED_TRACE(std::string(name(number)) + ", " + std::to_string(keys_per_row) + " keys of " +
               std::to_string(numbers));
  constexpr std::uint64_t kRows = 30;
  constexpr std::uint64_t kOut = 13;
  const std::vector<std::int32_t> places = random_keys(kOut * keys_per_row, kRows, 0.2, keys_per_row);
  std::vector<float> weights(weighted ? places.size() : 0);
  std::mt19937 random(3);
  for (float& weight : weights) weight = std::normal_distribution<float>()(random);
  const std::vector<std::byte> in = random_numbers(number, kRows * numbers, 5);
  std::vector<std::byte> expected(kOut * numbers * bytes_of(number));
  combine({.places = RowNumbers(std::span(places)),
           .rows = kRows,
           .keys_per_row = keys_per_row,
           .weights = weights,
           .number = number,
           .sums = sums},
          numbers * bytes_of(number), in, expected, 1);
  HostDevice device;
  RowFaults faults;
  struct alignas(16) Aligned {
    std::byte bytes[16];
  };
  auto device_in = device.buffer<Aligned>(in.size() / 16 + 1);
  auto device_out = device.buffer<Aligned>(expected.size() / 16 + 1);
  std::copy(in.begin(), in.end(), reinterpret_cast<std::byte*>(device_in.data()));
  cuda::combine_rows(device, number, sums,
                     {.places = entries_of_values(places, kRows),
                      .faults = &faults,
                      .keys_per_row = keys_per_row,
                      .weights = weighted ? weights.data() : nullptr,
                      .row_bytes = numbers * bytes_of(number),
                      .in = device_in.data(),
                      .out = device_out.data()});
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), reinterpret_cast<std::byte*>(device_out.data())));
  EXPECT_EQ(faults.out_of_range, kNoFault);
}

TEST(RowPartitionKernel, CombinesAsTheCpuDoes) {
  for (const std::uint64_t keys : {1U, 2U, 4U, 8U, 9U}) {
    for (const std::uint64_t numbers : {1U, 7U, 16U, 64U}) {
      expect_combined(Number::bf16, Sums::usual, keys, numbers, true);
      expect_combined(Number::f32, Sums::usual, keys, numbers, false);
    }
    expect_combined(Number::f16, Sums::fp64, keys, 24, true);
    expect_combined(Number::f16, Sums::usual, keys, 5, true);
    expect_combined(Number::bf16, Sums::fp64, keys, 8, false);
    expect_combined(Number::f32, Sums::fp64, keys, 12, true);
    expect_combined(Number::f64, Sums::usual, keys, 6, true);
  }
}

// --- what is sent

// Against taking the same rows; `filled`: padding becomes zeros, else it stays.
void expect_dispatched(std::uint64_t rows, std::uint64_t keys_per_row, std::uint64_t row_bytes, bool filled,
                       std::uint64_t offset) {
  SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(row_bytes) + ", " +
               std::to_string(keys_per_row) + " keys");
  const std::vector<std::int32_t> keys = random_keys(rows * keys_per_row, 5, 0.2, rows);
  const Route routed = route(RowNumbers(std::span(keys)),
                             {.buckets = 5, .keys_per_row = keys_per_row, .multiple = 8, .threads = 1});
  const std::vector<std::int64_t> taken = routed.taken_rows();
  const std::vector<std::byte> in = random_numbers(Number::u8, rows * row_bytes, 3);
  const Dispatch of{.places = RowNumbers(std::span(routed.places)),
                    .rows = taken.size(),
                    .keys_per_row = keys_per_row,
                    .taken = filled ? RowNumbers(std::span(taken)) : RowNumbers{}};
  std::vector<std::byte> expected(taken.size() * row_bytes, std::byte{0x5a});
  const Fill fill = filled ? Fill::zero() : Fill::kept();
  plan_rows(Take{.from = RowNumbers(std::span(taken)), .rows = rows, .fill = fill}, {.row_bytes = row_bytes})
      .run(in, expected);
  std::vector<std::byte> on_host(expected.size(), std::byte{0x5a});
  dispatch(of, row_bytes, in, on_host, 1);
  EXPECT_TRUE(on_host == expected);
  HostDevice device;
  RowFaults faults;
  const int guards = HostDevice::guards_written();
  {
    struct alignas(16) Aligned {
      std::byte bytes[16];
    };
    auto device_in = device.buffer<Aligned>(in.size() / 16 + 1);
    auto device_out = device.buffer<Aligned>((expected.size() + offset) / 16 + 1);
    auto* const out = reinterpret_cast<std::byte*>(device_out.data()) + offset;
    std::copy(in.begin(), in.end(), reinterpret_cast<std::byte*>(device_in.data()));
    std::fill(out, out + expected.size(), std::byte{0x5a});
    cuda::dispatch_rows(device, {.places = cuda::entries_of(Add{.to = of.places, .rows = of.rows}),
                                 .taken = cuda::entries_of(Add{.to = of.taken, .rows = rows}),
                                 .faults = &faults,
                                 .keys_per_row = keys_per_row,
                                 .row_bytes = row_bytes,
                                 .in = device_in.data(),
                                 .out = out});
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out));
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
  EXPECT_EQ(faults.out_of_range, kNoFault);
}

TEST(RowPartitionKernel, DispatchesRowsToTheirPlaces) {
  for (const std::uint64_t keys : {1U, 2U, 8U, 9U}) {
    for (const std::uint64_t bytes : {1U, 7U, 16U, 20U, 272U, 5000U}) {
      expect_dispatched(40, keys, bytes, true, 0);
      expect_dispatched(37, keys, bytes, false, 4);
    }
  }
  expect_dispatched(0, 2, 16, true, 0);
}

TEST(RowPartitionKernel, NotesPlacesThatAreNoRows) {
  const std::vector<std::int32_t> places{2, 0, 3, -1, -5, 1};
  HostDevice device;
  RowFaults faults;
  const std::vector<std::uint32_t> in{10, 11, 12};
  std::vector<std::uint32_t> out(3, 99);
  cuda::dispatch_rows(device, {.places = entries_of_values(places, 3),
                               .faults = &faults,
                               .keys_per_row = 2,
                               .row_bytes = 4,
                               .in = in.data(),
                               .out = out.data()});
  EXPECT_EQ(faults.out_of_range, 2U);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{10, 12, 10}));
}

}  // namespace row_partition_kernel_test
}  // namespace faro::testing
