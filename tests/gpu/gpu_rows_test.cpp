// Rows moved on a GPU, held against the CPU engine byte for byte, between guard zones: every kernel, width,
// address, type of entries; graphs that are replayed with other entries; entries that are wrong; past 2^32.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/rows.hpp"
#include "gpu/gpu_rows_support.hpp"
#include "gpu/index_oracle.hpp"

namespace faro::testing {
namespace gpu_rows_test {

using namespace gpu_rows;

class GpuRows : public GpuTest {};

struct RowsCase {
  bool takes = true;
  std::uint64_t width = 16;
  std::uint64_t count = 1000;
  std::uint64_t rows = 1300;
  std::uint64_t outer = 1;
  IndexType type{.bytes = 4, .is_signed = true};
  Fill fill = Fill::zero();
  std::uint64_t in_offset = 0;
  std::uint64_t out_offset = 0;

  std::string text() const {
    return std::string(takes ? "take" : "put") + " rows of " + std::to_string(width) + ", " +
           std::to_string(outer) + " x " + std::to_string(count) + " of " + std::to_string(rows) +
           ", offsets " + std::to_string(in_offset) + " and " + std::to_string(out_offset);
  }
  RowMove move(const void* entries) const {
    const RowNumbers numbers(entries, count, type);
    if (takes) return Take{.from = numbers, .rows = rows, .fill = fill};
    return Put{.to = numbers, .rows = rows};
  }
};

// The same by both engines.
void expect_as_cpu(const RowsCase& of, std::set<std::pair<RowKernel, int>>* reached = nullptr) {
  SCOPED_TRACE(of.text());
  const Entries entries = drawn(of.count, of.rows, of.type, !of.takes, 0.1, of.width);
  const Bytes host_entries = entries.bytes();
  const RowLayout layout{.outer = of.outer, .row_bytes = of.width};
  const ExecutableRows on_cpu = plan_rows(of.move(host_entries.data()), layout, {.engine = Engine::cpu});
  const Bytes in = random_bytes(on_cpu.plan().in_bytes(), 1);
  Bytes expected = random_bytes(on_cpu.plan().out_bytes(), 2);
  const Placed device_entries(host_entries);
  const Placed device_in(in, of.in_offset);
  const Placed device_out(expected, of.out_offset);
  on_cpu.run(in, expected);
  const ExecutableRows on_gpu = plan_rows(of.move(device_entries.data()), layout);
  EXPECT_EQ(on_gpu.plan().target().engine, Engine::cuda);
  on_gpu.run(device_in.span(), device_out.span());
  on_gpu.check();
  EXPECT_TRUE(device_out.get() == expected);
  if (reached == nullptr) return;
  for (const RowPass& pass : on_gpu.plan().passes({.addresses = of.in_offset | of.out_offset}))
    reached->emplace(pass.kernel, pass.vector_bytes);
}

TEST_F(GpuRows, MovesRowsOfAnyWidthAtAnyAddress) {
  std::set<std::pair<RowKernel, int>> reached;
  for (const bool takes : {true, false}) {
    for (const std::uint64_t width :
         {1U,  2U,  3U,   4U,   6U,   8U,   12U,  16U,   17U,   24U,   32U,    48U,
          64U, 65U, 100U, 128U, 255U, 256U, 512U, 1000U, 4096U, 4097U, 14336U, 65536U})
      expect_as_cpu({.takes = takes, .width = width}, &reached);
    for (const std::uint64_t offset : {1U, 2U, 4U, 8U, 12U, 15U}) {
      expect_as_cpu({.takes = takes, .width = 64, .in_offset = offset}, &reached);
      expect_as_cpu({.takes = takes, .width = 1008, .out_offset = offset}, &reached);
      expect_as_cpu({.takes = takes, .width = 333, .in_offset = 15 - offset, .out_offset = offset}, &reached);
    }
  }
  EXPECT_EQ(reached.size(), 8U);  // marks; vectors of 1 to 16 bytes; bytes; two rows' vectors
}

TEST_F(GpuRows, MovesAlongAnyAxisByEveryTypeOfEntries) {
  for (const bool takes : {true, false}) {
    for (const int bytes : {4, 8}) {
      for (const bool is_signed : {true, false}) {
        for (const std::uint64_t width : {4U, 21U, 160U})
          expect_as_cpu({.takes = takes,
                         .width = width,
                         .outer = 37,
                         .type = {.bytes = bytes, .is_signed = is_signed}});
      }
    }
  }
}

// By way of shared memory, and where that has no room, element by element.
TEST_F(GpuRows, MovesShortArrays) {
  std::set<std::pair<RowKernel, int>> reached;
  for (const bool takes : {true, false}) {
    for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U}) {
      for (const std::uint64_t rows : {1U, 7U, 64U, 1000U}) {
        for (const Fill& fill : {Fill::zero(), Fill::kept(), Fill::of(random_bytes(1, 3))}) {
          if (!takes && fill.with != Fill::With::kept) continue;
          expect_as_cpu({.takes = takes,
                         .width = width,
                         .count = rows - (takes ? 0 : rows / 3),
                         .rows = rows,
                         .outer = 5003,
                         .type = {.bytes = rows == 7 ? 8 : 4, .is_signed = true},
                         .fill = fill},
                        &reached);
        }
      }
    }
  }
  for (const int unit : {1, 2, 4, 8}) EXPECT_TRUE(reached.contains({RowKernel::staged, unit}));
}

TEST_F(GpuRows, FillsInEveryWay) {
  for (const std::uint64_t width : {6U, 16U, 48U, 99U}) {
    expect_as_cpu({.width = width, .fill = Fill::kept()});
    for (const std::uint64_t bytes : {1U, 2U, 3U, 16U, 24U, 33U}) {
      if (width % bytes == 0) expect_as_cpu({.width = width, .fill = Fill::of(random_bytes(bytes, bytes))});
    }
  }
}

// Columns of several widths by one call, and more arrays of one width than a launch takes.
TEST_F(GpuRows, MovesManyArraysByOneTable) {
  for (const bool takes : {true, false}) {
    const RowsCase of{.takes = takes, .count = 500, .rows = 600};
    const Bytes entries = drawn(of.count, of.rows, of.type, !takes, 0.1, 3).bytes();
    const ExecutableRows on_cpu = plan_rows(of.move(entries.data()), {.row_bytes = 16});
    const Placed device_entries(entries);
    const ExecutableRows on_gpu = plan_rows(of.move(device_entries.data()), {.row_bytes = 16});
    std::vector<Bytes> expected;
    std::vector<Placed> in;
    std::vector<Placed> out;
    std::vector<RowColumn> columns;
    constexpr int kArrays = 140;
    for (int a = 0; a < kArrays; ++a) {
      const std::uint64_t width = a % 10 == 0 ? 24 : a % 10 == 1 ? 35 : 64;
      const std::uint64_t in_bytes = width * (takes ? of.rows : of.count);
      const Bytes from = random_bytes(in_bytes, static_cast<std::uint64_t>(a));
      expected.push_back(random_bytes(width * (takes ? of.count : of.rows), 7));
      in.emplace_back(from);
      out.emplace_back(expected.back());
      columns.push_back({.in = in.back().span(), .out = out.back().span(), .row_bytes = width});
      const RowColumn on_host{.in = from, .out = expected.back(), .row_bytes = width};
      on_cpu.run(std::span(&on_host, 1));
    }
    on_gpu.run(columns);
    on_gpu.check();
    for (int a = 0; a < kArrays; ++a)
      ASSERT_TRUE(out[static_cast<std::size_t>(a)].get() == expected[static_cast<std::size_t>(a)]) << a;
  }
}

TEST_F(GpuRows, TellsOfWrongEntries) {
  const Placed in(Bytes(8 * 16));
  const auto check_of = [&](std::vector<std::int64_t> values, bool takes) {
    const Entries entries{.type = {.bytes = 8, .is_signed = true}, .values = std::move(values)};
    const Placed device_entries(entries.bytes());
    const RowsCase of{.takes = takes, .count = entries.values.size(), .rows = 8, .type = entries.type};
    const ExecutableRows plan = plan_rows(of.move(device_entries.data()), {.row_bytes = 16});
    const Bytes before(16 * 8, std::byte{7});
    const Placed out(before);
    plan.run(in.span(), out.span());
    const std::string first = refusal([&] { plan.check(); });
    EXPECT_EQ(refusal([&] { plan.check(); }), "");  // told once
    if (!takes && !first.empty()) {
      EXPECT_TRUE(out.get() == before);
    }
    return first;
  };
  EXPECT_NE(check_of({0, 1, 8, 3, -2, 5, 6, 7}, true).find("at position 2"), std::string::npos);
  EXPECT_NE(
      check_of({0, 1, 2, 3, 4, std::numeric_limits<std::int64_t>::max(), 6, 7}, true).find("at position 5"),
      std::string::npos);
  EXPECT_EQ(check_of({0, 1, -1, 3, 4, 4, 6, 7}, true), "");
  EXPECT_NE(check_of({0, 1, 2, 3, 4, 5, 6, 9}, false).find("at position 7"), std::string::npos);
  EXPECT_NE(check_of({0, 1, 2, 3, 1, 5, 6, 7}, false).find("named twice"), std::string::npos);
  EXPECT_EQ(check_of({7, 6, 5, 4, -1, 2, 1, -1}, false), "");
}

TEST_F(GpuRows, RefusesWhatIsNotTheDevices) {
  const std::vector<std::int32_t> entries{0, 1};
  const Take take{.from = RowNumbers(std::span(entries)), .rows = 2};
  EXPECT_NE(refusal([&] { plan_rows(take, {.row_bytes = 4}, {.engine = Engine::cuda}); }).find("entries"),
            std::string::npos);
  const Placed device_entries(Bytes(12));
  const Take on_device{.from = RowNumbers(device_entries.data(), 2, {.bytes = 4}), .rows = 2};
  EXPECT_NE(refusal([&] { plan_rows(on_device, {.row_bytes = 4}, {.engine = Engine::cpu}); }).find("device"),
            std::string::npos);
  const Take crooked{.from = RowNumbers(device_entries.data() + 1, 2, {.bytes = 4}), .rows = 2};
  EXPECT_NE(refusal([&] { plan_rows(crooked, {.row_bytes = 4}); }).find("aligned"), std::string::npos);
  const ExecutableRows plan = plan_rows(on_device, {.row_bytes = 4});
  Bytes host(8);
  EXPECT_NE(refusal([&] { plan.run(host, device_entries.span().subspan(0, 8)); }), "");
}

// Captured once, replayed with other entries and other rows, with a workspace of the caller's.
TEST_F(GpuRows, IsReplayedWithOtherEntries) {
  for (const bool takes : {true, false}) {
    const RowsCase of{.takes = takes, .width = 48, .count = 700, .rows = 900};
    const Placed device_entries(drawn(of.count, of.rows, of.type, !takes, 0.1, 1).bytes());
    const ExecutableRows plan = plan_rows(of.move(device_entries.data()), {.row_bytes = of.width});
    const Placed in(Bytes(plan.plan().in_bytes()));
    const Placed out(Bytes(plan.plan().out_bytes()));
    const cuda::DeviceArray workspace(plan.plan().workspace_bytes() + 16);
    const RowColumn column{.in = in.span(), .out = out.span(), .row_bytes = of.width};
    const OwnStream stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    plan.run(std::span(&column, 1), {.data = workspace.data(), .bytes = workspace.size()}, stream);
    check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (std::uint64_t seed = 10; seed < 14; ++seed) {
      const Bytes entries = drawn(of.count, of.rows, of.type, !takes, 0.2, seed).bytes();
      const Bytes from = random_bytes(plan.plan().in_bytes(), seed);
      Bytes expected = random_bytes(plan.plan().out_bytes(), seed + 100);
      const_cast<Placed&>(device_entries).set(entries);
      const_cast<Placed&>(in).set(from);
      const_cast<Placed&>(out).set(expected);
      check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
      plan.check(stream);
      plan_rows(of.move(entries.data()), {.row_bytes = of.width}).run(from, expected);
      EXPECT_TRUE(out.get() == expected) << of.text() << ", seed " << seed;
    }
    check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }
}

TEST_F(GpuRows, ReadsEntriesOfEveryKind) {
  for (const int bytes : {1, 2, 4, 8}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const Entries entries = drawn(1000, 100, {.bytes = bytes, .is_signed = true}, false, 0.1, 3);
      Bytes raw = entries.bytes();
      if (order == ByteOrder::big) {
        for (auto at = raw.begin(); at != raw.end(); at += bytes) std::reverse(at, at + bytes);
      }
      const Placed there(raw);
      const auto take = [&](const void* data) {
        return Take{
            .from = {data, entries.values.size(), entries.type, order}, .rows = 100, .fill = Fill::zero()};
      };
      const Bytes in = random_bytes(100 * 48, 1);
      Bytes expected(1000 * 48);
      plan_rows(take(raw.data()), {.row_bytes = 48}).run(in, expected);
      const Placed device_in(in);
      const Placed device_out(Bytes(expected.size()));
      const ExecutableRows plan = plan_rows(take(there.data()), {.row_bytes = 48});
      plan.run(device_in.span(), device_out.span());
      plan.check();
      EXPECT_TRUE(device_out.get() == expected) << bytes;
    }
  }
}

TEST_F(GpuRows, TakesSegmentsOfAnyLength) {
  std::mt19937_64 random(4);
  for (const std::uint64_t width : {1U, 4U, 6U, 16U, 256U}) {
    constexpr std::uint64_t kSegments = 3000;
    constexpr std::uint64_t kTaken = 20000;
    std::vector<std::int64_t> offsets(kSegments + 1);
    for (std::uint64_t s = 0; s < kSegments; ++s)
      offsets[s + 1] =
          offsets[s] + static_cast<std::int64_t>(random() % 10 == 0 ? random() % 3000 : random() % 9);
    std::vector<std::int32_t> from(kTaken);
    for (std::int32_t& each : from) each = static_cast<std::int32_t>(random() % kSegments);
    const Segments on_host{.offsets = RowNumbers(std::span(offsets)), .element_bytes = width};
    const std::vector<std::uint64_t> begins = taken_offsets(on_host, RowNumbers(std::span(from)));
    const Bytes in = random_bytes(static_cast<std::uint64_t>(offsets.back()) * width, width);
    Bytes expected(begins.back() * width);
    take_segments(on_host, RowNumbers(std::span(from)), in, expected);
    constexpr std::uint64_t kRoom = 100;
    expected.resize(expected.size() + kRoom * width, std::byte{7});
    const auto bytes_of_all = [](const auto& values) {
      const auto all = std::as_bytes(std::span(values));
      return Bytes(all.begin(), all.end());
    };
    const Placed there(bytes_of_all(offsets));
    const Placed which(bytes_of_all(from));
    const Placed device_in(in);
    const Placed device_out(Bytes(expected.size(), std::byte{7}));
    const Placed told(Bytes((kTaken + 1) * 8));
    const ExecutableSegments plan = plan_segments(
        {.offsets = {there.data(), kSegments + 1, {.bytes = 8, .is_signed = true}}, .element_bytes = width},
        {which.data(), kTaken, {.bytes = 4, .is_signed = true}});
    plan.run(device_in.span(), device_out.span(), reinterpret_cast<std::int64_t*>(told.data()));
    plan.check();
    EXPECT_TRUE(device_out.get() == expected) << width;
    EXPECT_TRUE(told.get() == bytes_of_all(begins)) << width;
    const Placed found(Bytes((kTaken + 1) * 8));
    plan.offsets(in.size(), reinterpret_cast<std::int64_t*>(found.data()));
    plan.check();
    EXPECT_TRUE(found.get() == bytes_of_all(begins)) << width;
    EXPECT_NE(refusal([&] { static_cast<void>(plan.elements()); }).find("on a device"), std::string::npos);
    // Lists in two memories, by any engine.
    for (const Engine engine : {Engine::automatic, Engine::cpu, Engine::cuda}) {
      EXPECT_NE(refusal([&] {
                  plan_segments(on_host, {which.data(), kTaken, {.bytes = 4, .is_signed = true}},
                                {.engine = engine});
                }).find("memory"),
                std::string::npos);
    }
    from[9] = kSegments;
    const Placed wrong(bytes_of_all(from));
    const ExecutableSegments other = plan_segments(
        {.offsets = {there.data(), kSegments + 1, {.bytes = 8, .is_signed = true}}, .element_bytes = width},
        {wrong.data(), kTaken, {.bytes = 4, .is_signed = true}});
    other.run(device_in.span(), device_out.span());
    EXPECT_NE(refusal([&] { other.check(); }).find("position 9"), std::string::npos);
  }
}

// More bytes, and more rows, than 32 bits count.
TEST_F(GpuRows, MovesMoreThan32BitsCount) {
  struct Large {
    std::uint64_t width;
    std::uint64_t count;
    std::uint64_t rows;
  };
  for (const Large& of :
       {Large{4096, (std::uint64_t{5} << 30) / 4096, 1000003}, Large{16, 70000001, 300000007},
        Large{1, (std::uint64_t{1} << 32) + 77, 5000}, Large{4099, 1050000, 1048583}}) {
    const std::uint64_t needed = of.width * (of.count + of.rows) + 4 * of.count;
    if (free_device_bytes() < needed + (std::uint64_t{1} << 30)) continue;
    std::vector<std::uint32_t> entries(of.count);
#pragma omp parallel for
    for (std::uint64_t i = 0; i < of.count; ++i)
      entries[i] = static_cast<std::uint32_t>((i * 0x9e3779b97f4a7c15U >> 20) % of.rows);
    const cuda::DeviceArray device_entries(4 * of.count);
    const_cast<cuda::DeviceArray&>(device_entries).upload(entries.data());
    const cuda::DeviceArray in(of.width * of.rows);
    const cuda::DeviceArray out(of.width * of.count);
    fill_bytes(in.data(), in.size(), 1, {});
    fill_bytes(out.data(), out.size(), 2, {});
    const ExecutableRows plan =
        plan_rows(Take{.from = RowNumbers(device_entries.data(), of.count, {.bytes = 4}), .rows = of.rows},
                  {.row_bytes = of.width});
    plan.run({in.data(), in.size()}, {out.data(), out.size()});
    plan.check();
    const IndexOracle oracle{.entries = device_entries.data(),
                             .entry_bytes = 4,
                             .forwards = false,
                             .count = of.count,
                             .element_bytes = of.width};
    EXPECT_EQ(misplaced_bytes(oracle, in.data(), out.data(), {}), 0U) << of.width;
  }
}

}  // namespace gpu_rows_test
}  // namespace faro::testing
