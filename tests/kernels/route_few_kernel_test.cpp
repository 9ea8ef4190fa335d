// The kernel that routes few keys and sends their rows in one launch, a thread at a time on the host: against
// the CPU engine, bit for bit, in every order of threads. Sanitized: never, its accesses are counted
// elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/route_queue.hpp"
#include "faro/rows.hpp"
#include "row_partition_support.hpp"

namespace faro::testing {
namespace route_few_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

struct FewCase {
  std::uint64_t rows = 40;
  std::uint64_t keys_per_row = 2;
  std::uint64_t buckets = 6;
  std::uint64_t multiple = 1;
  std::optional<std::uint64_t> capacity = {};
  double absent = 0.1;
  std::uint64_t row_bytes = 0;  // 0: rows are not sent
  std::uint64_t offset = 0;     // of the output
  std::uint64_t behind = 37;    // places that no bucket reaches
  Emulation how = {};
  bool few = true;

  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(row_bytes) + ", " +
           std::to_string(keys_per_row) + " keys, " + std::to_string(buckets) + " buckets, multiple " +
           std::to_string(multiple);
  }
};

struct alignas(16) Aligned {
  std::byte bytes[16];
};

void expect_sent(const FewCase& of, const std::vector<std::int32_t>& keys) {
  SCOPED_TRACE(of.text());
  const Route expected = route(RowNumbers(std::span(keys)), {.buckets = of.buckets,
                                                             .keys_per_row = of.keys_per_row,
                                                             .multiple = of.multiple,
                                                             .capacity = of.capacity,
                                                             .threads = 1});
  const std::uint64_t most = expected.inverse.size() + of.behind;
  std::vector<std::int64_t> inverse_padded = expected.inverse;
  inverse_padded.resize(most, -1);
  std::vector<std::int64_t> taken = expected.taken_rows();
  taken.resize(most, -1);
  const std::vector<std::byte> in = random_numbers(Number::u8, of.rows * of.row_bytes, 3);
  std::vector<std::byte> sent(most * of.row_bytes);
  if (of.row_bytes > 0) {
    plan_rows(Take{.from = RowNumbers(std::span(taken)), .rows = of.rows, .fill = Fill::zero()},
              {.row_bytes = of.row_bytes})
        .run(in, sent);
  }
  HostDevice device(of.how);
  RowFaults faults;
  const auto partition = cuda::route_partition(keys.size(), of.buckets);
  const cuda::RouteWork work{.keys = entries_of_values(keys, of.buckets),
                             .faults = &faults,
                             .keys_per_row = of.keys_per_row,
                             .multiple = of.multiple,
                             .capacity = of.capacity.value_or(~std::uint64_t{0}),
                             .most_places = most};
  EXPECT_EQ(cuda::routes_few(work), of.few);
  const int guards = HostDevice::guards_written();
  {
    auto workspace = device.buffer<std::uint64_t>(cuda::route_workspace_bytes(partition) / 8);
    auto places = device.buffer<std::int64_t>(keys.size());
    auto inverse = device.buffer<std::int64_t>(most);
    auto rows = device.buffer<std::int64_t>(most);
    auto offsets = device.buffer<std::int64_t>(of.buckets + 1);
    auto counts = device.buffer<std::int64_t>(of.buckets);
    auto device_in = device.buffer<Aligned>(in.size() / 16 + 1);
    auto device_out = device.buffer<Aligned>((sent.size() + of.offset) / 16 + 1);
    auto* const out = reinterpret_cast<std::byte*>(device_out.data()) + of.offset;
    std::copy(in.begin(), in.end(), reinterpret_cast<std::byte*>(device_in.data()));
    cuda::route_and_send(device, partition, work,
                         {.places = places.data(),
                          .inverse = inverse.data(),
                          .rows = rows.data(),
                          .offsets = offsets.data(),
                          .counts = counts.data()},
                         {.row_bytes = of.row_bytes, .in = device_in.data(), .out = out},
                         reinterpret_cast<std::byte*>(workspace.data()));
    EXPECT_EQ(places.download(), expected.places);
    EXPECT_EQ(offsets.download(), expected.offsets);
    EXPECT_EQ(counts.download(), expected.counts);
    EXPECT_EQ(inverse.download(), inverse_padded);
    EXPECT_EQ(rows.download(), taken);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), out));
  }
  EXPECT_EQ(HostDevice::guards_written(), guards);
  EXPECT_EQ(faults.out_of_range, kNoFault);
}

void expect_sent(const FewCase& of) {
  expect_sent(of, random_keys(of.rows * of.keys_per_row, of.buckets, of.absent, of.rows + of.buckets));
}

TEST(RouteFewKernel, RoutesAsTheCpuDoes) {
  for (const Order order : {Order::forward, Order::backward, Order::shuffled})
    expect_sent({.rows = 300, .multiple = 4, .how = {.order = order}});
  expect_sent({.rows = 512, .keys_per_row = 8, .buckets = 256, .how = {.by_ballots = true}});
  expect_sent({.rows = 2048, .buckets = 1024, .multiple = 3});
  expect_sent({.rows = 1000, .buckets = 1});
  for (const std::uint64_t rows : {0U, 1U, 15U, 16U, 17U, 255U, 256U, 257U, 511U, 513U})
    expect_sent({.rows = rows, .multiple = 8});
  for (const std::uint64_t capacity : {0U, 1U, 20U, 1000U})
    expect_sent({.rows = 200, .keys_per_row = 3, .buckets = 9, .multiple = 16, .capacity = capacity});
  expect_sent({.rows = 250, .absent = 1});
  expect_sent({.rows = 700, .keys_per_row = 1, .buckets = 9}, std::vector<std::int32_t>(700, 4));
}

TEST(RouteFewKernel, SendsRows) {
  for (const std::uint64_t bytes : {1U, 7U, 16U, 20U, 272U}) {
    for (const std::uint64_t keys : {1U, 8U, 9U}) {
      expect_sent({.rows = 13, .keys_per_row = keys, .multiple = 8, .row_bytes = bytes});
      expect_sent({.rows = 5, .keys_per_row = keys, .row_bytes = bytes, .offset = 4});
    }
  }
  // Rows that several blocks share, blocks that have several rows, and more vectors than are on their way at
  // once.
  expect_sent(
      {.rows = 9, .keys_per_row = 8, .buckets = 64, .row_bytes = 14336, .how = {.order = Order::shuffled}});
  expect_sent({.rows = 4096, .keys_per_row = 1, .buckets = 100, .row_bytes = 16});
  expect_sent({.rows = 22, .keys_per_row = 1, .row_bytes = 400000, .behind = 0});
  for (const std::uint64_t capacity : {0U, 2U})
    expect_sent({.rows = 33, .capacity = capacity, .absent = 0.4, .row_bytes = 48});
  expect_sent({.rows = 0, .row_bytes = 48});
}

// More keys or buckets: by the launches that any number goes by.
TEST(RouteFewKernel, LeavesManyKeysToOthers) {
  expect_sent({.rows = 2049, .multiple = 2, .row_bytes = 16, .few = false});
  expect_sent({.rows = 40, .buckets = 1025, .row_bytes = 16, .few = false});
}

TEST(RouteFewKernel, NotesKeysThatAreNoBuckets) {
  std::vector<std::int32_t> keys(3000, 1);
  keys[2900] = 4;
  keys[2100] = -2;
  HostDevice device;
  RowFaults faults;
  auto places = device.buffer<std::int64_t>(keys.size());
  cuda::route_few(device, {.keys = entries_of_values(keys, 4), .faults = &faults}, {.places = places.data()},
                  {});
  EXPECT_EQ(faults.out_of_range, 2100U);
  const std::vector<std::int64_t> made = places.download();
  EXPECT_EQ(made[2099], 2099);
  EXPECT_EQ(made[2100], -1);
  EXPECT_EQ(made[2101], 2100);
  EXPECT_EQ(made[2900], -1);
}

}  // namespace route_few_kernel_test
}  // namespace faro::testing
