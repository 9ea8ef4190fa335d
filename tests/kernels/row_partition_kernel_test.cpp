// The kernels that route and add rows on a GPU, a thread at a time on the host, queued as the CUDA engine
// queues them: against the CPU engine, bit for bit, in every order of threads.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "faro/rows.hpp"
#include "row_partition_support.hpp"

namespace faro::testing {
namespace row_partition_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

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

}  // namespace row_partition_kernel_test
}  // namespace faro::testing
