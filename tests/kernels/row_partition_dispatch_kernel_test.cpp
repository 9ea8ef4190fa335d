// The kernels that send rows to their places and combine what comes back, a thread at a time on the host:
// against the CPU engine, bit for bit.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/dispatch_queue.hpp"
#include "faro/rows.hpp"
#include "row_partition_support.hpp"

namespace faro::testing {
namespace row_partition_dispatch_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

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

}  // namespace row_partition_dispatch_kernel_test
}  // namespace faro::testing
