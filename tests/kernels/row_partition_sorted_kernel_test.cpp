// The kernels that take, put and add rows by entries that were sorted, and ragged rows, a thread at a time on
// the host: against the CPU engine and obvious loops.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "block_emulator.hpp"
#include "engines/cuda/rows/add_queue.hpp"
#include "engines/cuda/rows/reused_steps.hpp"
#include "engines/cuda/rows/segment_queue.hpp"
#include "faro/rows.hpp"
#include "row_partition_support.hpp"

namespace faro::testing {
namespace row_partition_sorted_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

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

}  // namespace row_partition_sorted_kernel_test
}  // namespace faro::testing
