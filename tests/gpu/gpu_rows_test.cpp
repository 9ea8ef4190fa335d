// Rows moved on a GPU, held against the CPU engine byte for byte, between guard zones: every kernel, width,
// address, type of entries; graphs that are replayed with other entries; entries that are wrong; past 2^32.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/modular.hpp"
#include "faro/rows.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/index_oracle.hpp"
#include "kernels/row_numbers.hpp"

namespace faro::testing {
namespace gpu_rows_test {

using Bytes = std::vector<std::byte>;

class GpuRows : public GpuTest {};

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Bytes random_bytes(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  std::uint64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, 8);
  }
  for (; i < size; ++i) bytes[i] = static_cast<std::byte>(random());
  return bytes;
}

// An array on the device, `offset` bytes past an aligned address, between guard zones.
class Placed {
 public:
  explicit Placed(const Bytes& bytes, std::uint64_t offset = 0)
      : size_(bytes.size()), offset_(kGuard + offset), array_(size_ + offset_ + kGuard) {
    set(bytes);
  }
  void set(const Bytes& bytes) {
    Bytes all(array_.size(), kGuardByte);
    std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(offset_));
    array_.upload(all.data());
  }
  std::byte* data() const { return array_.data() + offset_; }
  std::span<std::byte> span() const { return {data(), size_}; }
  Bytes get() const {
    Bytes all(array_.size());
    array_.download(all.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool guard = i < offset_ || i >= offset_ + size_;
      if (!guard || all[i] == kGuardByte) continue;
      ADD_FAILURE() << "guard zone, byte " << i;
      break;
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(offset_);
    return {begin, begin + static_cast<std::ptrdiff_t>(size_)};
  }

 private:
  static constexpr std::uint64_t kGuard = 256;
  static constexpr std::byte kGuardByte{0xa5};
  std::uint64_t size_;
  std::uint64_t offset_;
  cuda::DeviceArray array_;
};

struct Entries {
  IndexType type{.bytes = 4, .is_signed = true};
  std::vector<std::int64_t> values;

  Bytes bytes() const {
    Bytes all;
    for (const std::int64_t value : values) {
      const auto* const from = reinterpret_cast<const std::byte*>(&value);
      all.insert(all.end(), from, from + type.bytes);
    }
    return all;
  }
};

Entries drawn(std::uint64_t count, std::uint64_t rows, IndexType type, bool distinct, double absent,
              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> free(distinct ? rows : 0);
  std::iota(free.begin(), free.end(), 0);
  std::shuffle(free.begin(), free.end(), random);
  Entries made{.type = type, .values = std::vector<std::int64_t>(count)};
  for (std::int64_t& value : made.values) {
    const bool none = type.is_signed &&
                      (std::uniform_real_distribution<>(0, 1)(random) < absent || (distinct && free.empty()));
    if (none) {
      value = -1;
    } else if (distinct) {
      value = free.back();
      free.pop_back();
    } else {
      value = static_cast<std::int64_t>(random() % rows);
    }
  }
  return made;
}

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

// --- sums, routing, and what comes back

// Numbers whose sums round, of every type: any bits of integers, small numbers of the others.
Bytes random_numbers(Number number, std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes made(count * bytes_of(number));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t bits = random();
    const float x = static_cast<float>(static_cast<std::int64_t>(bits)) * 0x1p-62F;
    if (number == Number::f16) {
      kernels::Half half;
      kernels::round_to(x, half);
      bits = half.bits;
    } else if (number == Number::bf16) {
      kernels::BrainHalf half;
      kernels::round_to(x, half);
      bits = half.bits;
    } else if (number == Number::f32) {
      bits = std::bit_cast<std::uint32_t>(x);
    } else if (number == Number::f64) {
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(x) / 3);
    }
    std::memcpy(made.data() + i * bytes_of(number), &bits, bytes_of(number));
  }
  return made;
}

struct AddCase {
  Number number = Number::f32;
  Sums sums = Sums::usual;
  std::uint64_t numbers = 1;  // of a row
  std::uint64_t count = 20000;
  std::uint64_t rows = 3000;
  std::uint64_t outer = 1;
  IndexType type{.bytes = 4, .is_signed = true};
  std::uint64_t offset = 0;  // of the output, in numbers
  std::uint64_t times = 1;
};

// The same bits as the CPU engine's, `times` times.
void expect_added(const AddCase& of, const Entries& entries) {
  SCOPED_TRACE(std::string(name(of.number)) + ", sums " + name(of.sums) + ", " + std::to_string(of.outer) +
               " x " + std::to_string(of.count) + " rows of " + std::to_string(of.numbers) + " to " +
               std::to_string(of.rows));
  const Bytes host_entries = entries.bytes();
  const RowLayout layout{.outer = of.outer, .row_bytes = of.numbers * bytes_of(of.number)};
  const auto add = [&](const void* data) {
    return Add{
        .to = RowNumbers(data, of.count, of.type), .rows = of.rows, .number = of.number, .sums = of.sums};
  };
  const ExecutableRows on_cpu = plan_rows(add(host_entries.data()), layout);
  const Bytes in = random_numbers(of.number, of.outer * of.count * of.numbers, 1);
  const Bytes begin = random_numbers(of.number, of.outer * of.rows * of.numbers, 2);
  Bytes expected = begin;
  on_cpu.run(in, expected);
  const Placed device_entries(host_entries);
  const Placed device_in(in);
  Placed device_out(begin, of.offset * bytes_of(of.number));
  const ExecutableRows on_gpu = plan_rows(add(device_entries.data()), layout);
  for (std::uint64_t t = 0; t < of.times; ++t) {
    if (t > 0) device_out.set(begin);
    on_gpu.run(device_in.span(), device_out.span());
    on_gpu.check();
    ASSERT_TRUE(device_out.get() == expected) << "run " << t;
  }
}

void expect_added(const AddCase& of) {
  expect_added(of, drawn(of.count, of.rows, of.type, false, 0.05, of.count));
}

TEST_F(GpuRows, AddsEveryTypeAsTheCpuDoes) {
  for (int n = 0; n < 12; ++n) {
    const auto number = static_cast<Number>(n);
    for (const Sums sums : {Sums::usual, Sums::fp32, Sums::fp64, Sums::compensated}) {
      const bool is_float = number >= Number::f16;
      if (sums != Sums::usual && (!is_float || (sums == Sums::fp32 && number == Number::f64))) continue;
      for (const std::uint64_t numbers : {1U, 5U, 32U})
        expect_added({.number = number, .sums = sums, .numbers = numbers, .count = 5000, .rows = 700});
    }
  }
}

TEST_F(GpuRows, AddsEveryShapeAlwaysAlike) {
  expect_added({.count = 3000000, .rows = 5000000, .times = 100});
  expect_added({.count = 3000000, .rows = 1000, .type = {.bytes = 8, .is_signed = true}, .times = 10});
  expect_added({.number = Number::f64, .count = 300000, .rows = 100000, .times = 3});
  expect_added({.numbers = 24, .count = 3000, .rows = 200, .outer = 7});
  expect_added({.numbers = 24, .count = 3000, .rows = 200, .offset = 1});
  expect_added({.number = Number::bf16, .numbers = 7168, .count = 500, .rows = 60});
  expect_added({.count = 1, .rows = 1});
  // By bins: one digit above them and two, and rows that hardly any or all numbers go to.
  expect_added({.count = 5000000, .rows = 1 << 20, .times = 3});
  expect_added({.count = 9000000, .rows = 30000001, .times = 3});
  expect_added({.count = 1 << 20, .rows = 7, .times = 2});
  expect_added({.number = Number::bf16, .count = 1 << 20, .rows = 300000});
  expect_added({.number = Number::u8, .count = 1 << 20, .rows = 300000, .offset = 3});
  Entries one_bin = drawn(1 << 18, 1 << 18, {.bytes = 4, .is_signed = true}, false, 0, 1);
  for (std::size_t i = 0; i < one_bin.values.size(); ++i)
    if (i % 3 != 0) one_bin.values[i] = 77;
  expect_added({.count = 1 << 18, .rows = 1 << 18}, one_bin);
  Entries same = drawn(50000, 9, {.bytes = 4, .is_signed = true}, false, 0, 1);
  std::fill(same.values.begin(), same.values.end(), 8);
  expect_added({.count = 50000, .rows = 9}, same);
  expect_added({.numbers = 4, .count = 50000, .rows = 9}, same);
}

struct RouteCase {
  std::uint64_t count = 32768;
  std::uint64_t buckets = 256;
  std::uint64_t keys_per_row = 8;
  std::uint64_t multiple = 1;
  std::optional<std::uint64_t> capacity = {};
  double absent = 0.05;

  RouteOptions options() const {
    return {.buckets = buckets, .keys_per_row = keys_per_row, .multiple = multiple, .capacity = capacity};
  }
};

std::vector<std::int64_t> fetched(const Placed& array) {
  const Bytes bytes = array.get();
  std::vector<std::int64_t> values(bytes.size() / sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Placed words(std::uint64_t count) { return Placed(Bytes(count * sizeof(std::int64_t), std::byte{0x77})); }

void expect_routed(const RouteCase& of) {
  SCOPED_TRACE(std::to_string(of.count) + " keys, " + std::to_string(of.buckets) + " buckets, multiple " +
               std::to_string(of.multiple));
  const Bytes keys =
      drawn(of.count, of.buckets, {.bytes = 4, .is_signed = true}, false, of.absent, of.count).bytes();
  const IndexType type{.bytes = 4, .is_signed = true};
  const Route expected = route(RowNumbers(keys.data(), of.count, type), of.options());
  const Placed device_keys(keys);
  const ExecutableRoute plan = plan_route(RowNumbers(device_keys.data(), of.count, type), of.options());
  ASSERT_GE(plan.most_places(), expected.inverse.size());
  const auto at = [](const Placed& array) { return reinterpret_cast<std::int64_t*>(array.data()); };
  const Placed places = words(of.count);
  const Placed inverse = words(plan.most_places());
  const Placed rows = words(plan.most_places());
  const Placed offsets = words(of.buckets + 1);
  const Placed counts = words(of.buckets);
  plan.run({.places = at(places),
            .inverse = at(inverse),
            .rows = at(rows),
            .offsets = at(offsets),
            .counts = at(counts)});
  plan.check();
  EXPECT_TRUE(fetched(places) == expected.places);
  EXPECT_TRUE(fetched(offsets) == expected.offsets);
  EXPECT_TRUE(fetched(counts) == expected.counts);
  std::vector<std::int64_t> padded = expected.inverse;
  padded.resize(plan.most_places(), -1);
  EXPECT_TRUE(fetched(inverse) == padded);
  std::vector<std::int64_t> taken = expected.taken_rows();
  taken.resize(plan.most_places(), -1);
  EXPECT_TRUE(fetched(rows) == taken);
}

TEST_F(GpuRows, RoutesAsTheCpuDoes) {
  expect_routed({});
  expect_routed({.multiple = 128});
  expect_routed({.multiple = 16, .capacity = 100});
  expect_routed({.count = 3000000, .buckets = 8, .keys_per_row = 2, .multiple = 64});
  expect_routed({.count = 3000000, .buckets = 4096, .keys_per_row = 1, .multiple = 7});
  expect_routed({.count = 100000, .buckets = 300, .keys_per_row = 4, .capacity = 0});
  expect_routed({.count = 3000000, .buckets = 4097, .keys_per_row = 1, .multiple = 7});
  expect_routed({.count = 1000000, .buckets = 700001, .keys_per_row = 4, .multiple = 2, .capacity = 3});
  expect_routed({.count = 0, .buckets = 5, .keys_per_row = 1, .multiple = 4});
  expect_routed({.count = 1, .buckets = 1, .keys_per_row = 1});
  expect_routed({.count = 4000, .buckets = 3, .keys_per_row = 1, .absent = 1});
}

// Tokens to experts and back in one graph, replayed with other keys, weights and tokens.
TEST_F(GpuRows, SendsTokensAndBringsThemBackInAGraph) {
  constexpr std::uint64_t kTokens = 300;
  constexpr std::uint64_t kKeys = 4;
  constexpr std::uint64_t kBuckets = 16;
  constexpr std::uint64_t kRowBytes = 2 * 136;
  const IndexType type{.bytes = 4, .is_signed = true};
  const RouteOptions options{.buckets = kBuckets, .keys_per_row = kKeys, .multiple = 8, .capacity = 90};
  Placed keys(Bytes(kTokens * kKeys * 4));
  const ExecutableRoute router = plan_route(RowNumbers(keys.data(), kTokens * kKeys, type), options);
  const Placed places = words(kTokens * kKeys);
  const Placed rows = words(router.most_places());
  Placed tokens(Bytes(kTokens * kRowBytes));
  const Placed sent(Bytes(router.most_places() * kRowBytes));
  const Placed back(Bytes(kTokens * kRowBytes));
  Placed weights(Bytes(kTokens * kKeys * 4));
  const IndexType word{.bytes = 8, .is_signed = true};
  const ExecutableRows take = plan_rows(
      Take{
          .from = RowNumbers(rows.data(), router.most_places(), word), .rows = kTokens, .fill = Fill::zero()},
      {.row_bytes = kRowBytes});
  const ExecutableCombine combining =
      plan_combine({.places = RowNumbers(places.data(), kTokens * kKeys, word),
                    .rows = router.most_places(),
                    .keys_per_row = kKeys,
                    .weights = {reinterpret_cast<const float*>(weights.data()), kTokens * kKeys},
                    .number = Number::bf16},
                   kRowBytes);
  const Placed dispatched(Bytes(router.most_places() * kRowBytes, std::byte{0x33}));
  const ExecutableDispatch dispatching =
      plan_dispatch({.places = RowNumbers(places.data(), kTokens * kKeys, word),
                     .rows = router.most_places(),
                     .keys_per_row = kKeys,
                     .taken = RowNumbers(rows.data(), router.most_places(), word)},
                    kRowBytes);
  const cuda::DeviceArray workspace(router.workspace_bytes() + 16);
  const OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  router.run({.places = reinterpret_cast<std::int64_t*>(places.data()),
              .rows = reinterpret_cast<std::int64_t*>(rows.data())},
             {.data = workspace.data(), .bytes = workspace.size()}, stream);
  take.run(tokens.span(), sent.span(), stream);
  dispatching.run(tokens.span(), dispatched.span(), stream);
  combining.run(sent.span(), back.span(), stream);
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Bytes host_keys = drawn(kTokens * kKeys, kBuckets, type, false, 0.1, seed).bytes();
    const Bytes host_tokens = random_numbers(Number::bf16, kTokens * kRowBytes / 2, seed);
    const Bytes host_weights = random_numbers(Number::f32, kTokens * kKeys, seed + 9);
    keys.set(host_keys);
    tokens.set(host_tokens);
    weights.set(host_weights);
    check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
    router.check(stream);
    take.check(stream);
    dispatching.check(stream);
    combining.check(stream);
    const Route expected = route(RowNumbers(host_keys.data(), kTokens * kKeys, type), options);
    const std::vector<std::int64_t> from = expected.taken_rows();
    Bytes host_sent(from.size() * kRowBytes);
    plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = kTokens, .fill = Fill::zero()},
              {.row_bytes = kRowBytes})
        .run(host_tokens, host_sent);
    const Bytes arrived = sent.get();
    EXPECT_TRUE(dispatched.get() == arrived) << seed;
    EXPECT_TRUE(std::equal(host_sent.begin(), host_sent.end(), arrived.begin()));
    Bytes host_back(kTokens * kRowBytes);
    combine({.places = RowNumbers(std::span(expected.places)),
             .rows = from.size(),
             .keys_per_row = kKeys,
             .weights = {reinterpret_cast<const float*>(host_weights.data()), kTokens * kKeys},
             .number = Number::bf16},
            kRowBytes, host_sent, host_back);
    EXPECT_TRUE(back.get() == host_back) << seed;
  }
  check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuRows, TellsOfKeysAndPlacesThatAreWrong) {
  const IndexType type{.bytes = 8, .is_signed = true};
  const Placed keys(Entries{.type = type, .values = {0, 1, 4, 2, -1, -7}}.bytes());
  const ExecutableRoute router = plan_route(RowNumbers(keys.data(), 6, type), {.buckets = 4});
  const Placed places = words(6);
  router.run({.places = reinterpret_cast<std::int64_t*>(places.data())});
  EXPECT_NE(refusal([&] { router.check(); }).find("at position 2"), std::string::npos);
  EXPECT_EQ(refusal([&] { router.check(); }), "");
  EXPECT_TRUE(fetched(places) == (std::vector<std::int64_t>{0, 1, -1, 2, -1, -1}));
  const Placed in(Bytes(4 * 8));
  const Placed out(Bytes(6 * 8));
  const ExecutableCombine combining =
      plan_combine({.places = RowNumbers(keys.data(), 6, type), .rows = 4}, 8);
  combining.run(in.span(), out.span());
  EXPECT_NE(refusal([&] { combining.check(); }).find("at position 2"), std::string::npos);
}

// --- multiplication modulo a count

TEST_F(GpuRows, MultipliesAsTheCpuDoes) {
  for (const std::uint64_t count : {1U, 2U, 97U, 4096U, 65536U, 100003U, 1U << 20}) {
    for (const std::int64_t factor : {1, 5, -1, 12347, 99991}) {
      const std::uint64_t residue =
          static_cast<std::uint64_t>(factor + 4 * static_cast<std::int64_t>(count)) % count;
      if (std::gcd(residue, count) != 1) continue;
      const Modular map = maps::affine_mod(count, factor, 3);
      for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
        SCOPED_TRACE(std::to_string(factor) + " mod " + std::to_string(count) + ", " + std::to_string(width));
        const Bytes in = random_bytes(3 * count * width, 1);
        Bytes expected(in.size());
        permute(map, width, in, expected);
        const Placed device_in(in);
        const Placed device_out(Bytes(in.size(), std::byte{9}));
        permute(map, width, device_in.span(), device_out.span(), OnDevice{});
        EXPECT_TRUE(device_out.get() == expected);
      }
    }
  }
  for (const std::uint64_t n : {1U, 16U, 100U, 32768U}) {
    for (const std::int64_t k : {1, 3, 7, -1, 12347}) {
      if (std::gcd(static_cast<std::uint64_t>(k + 8 * static_cast<std::int64_t>(n)), 2 * n) != 1) continue;
      for (const Negation& negation : {Negation{.number = Number::u64, .modulus = 0xffffffff00000001},
                                       Negation{.number = Number::f32}, Negation{.number = Number::i16}}) {
        Bytes in = random_bytes(5 * n * bytes_of(negation.number), 2);
        Bytes expected(in.size());
        permute_negacyclic(n, k, negation, in, expected);
        const Placed device_in(in);
        const Placed device_out(Bytes(in.size(), std::byte{9}));
        permute_negacyclic(n, k, negation, device_in.span(), device_out.span(), OnDevice{});
        EXPECT_TRUE(device_out.get() == expected) << n << ", " << k;
      }
    }
  }
  const Placed odd(Bytes(16));
  EXPECT_NE(refusal([&] {
              permute(maps::multiply(2, 1), 3, odd.span().subspan(0, 6), odd.span().subspan(6, 6),
                      OnDevice{});
            }).find("3 bytes"),
            std::string::npos);
}

// Elements by a schedule that is made once: the same as by the entries, again and again.
TEST_F(GpuRows, ReusesASchedule) {
  constexpr std::uint64_t kCount = 9000001;
  constexpr std::uint64_t kRows = 10000019;
  for (const int bytes : {4, 8}) {
    for (const std::uint64_t width : {4U, 8U}) {
      const IndexType type{.bytes = bytes, .is_signed = bytes == 8};
      const Bytes entries = drawn(kCount, kRows, type, false, 0, width).bytes();
      const Placed device_entries(entries);
      const auto from = [&](const void* at) { return RowNumbers(at, kCount, type); };
      for (const bool adds : {false, true}) {
        const auto move = [&](const void* at) -> RowMove {
          if (adds)
            return Add{.to = from(at), .rows = kRows, .number = width == 4 ? Number::f32 : Number::f64};
          return Take{.from = from(at), .rows = kRows};
        };
        const ExecutableRows on_cpu = plan_rows(move(entries.data()), {.row_bytes = width});
        const ExecutableRows on_gpu =
            plan_rows(move(device_entries.data()), {.row_bytes = width}, {.reused = true});
        EXPECT_TRUE(on_gpu.is_scheduled());
        const Number number = width == 4 ? Number::f32 : Number::f64;
        const Bytes in = random_numbers(number, on_cpu.plan().in_bytes() / width, 1);
        const Bytes begin = random_numbers(number, on_cpu.plan().out_bytes() / width, 2);
        Bytes expected = begin;
        on_cpu.run(in, expected);
        const Placed device_in(in);
        Placed device_out(begin);
        for (int t = 0; t < 2; ++t) {
          if (t > 0) device_out.set(begin);
          on_gpu.run(device_in.span(), device_out.span());
          on_gpu.check();
          EXPECT_TRUE(device_out.get() == expected) << width << ", " << adds;
        }
      }
    }
  }
  const Placed few(drawn(100, 50, {.bytes = 4}, false, 0, 1).bytes());
  const Take take{.from = RowNumbers(few.data(), 100, {.bytes = 4}), .rows = 50};
  EXPECT_FALSE(plan_rows(take, {.row_bytes = 4}, {.reused = true}).is_scheduled());
}

// Elements put by a schedule, and one that names a row twice.
TEST_F(GpuRows, PutsByASchedule) {
  constexpr std::uint64_t kRows = 9'000'000;
  for (const std::uint64_t width : {4U, 8U}) {
    for (const std::uint64_t count : {kRows, kRows - 1'234'567}) {
      Entries entries = drawn(count, kRows, {.bytes = 4, .is_signed = true}, true, 0, width);
      const Placed there(entries.bytes());
      const Bytes host_entries = entries.bytes();
      const auto put = [&](const void* data) {
        return Put{.to = {data, count, entries.type}, .rows = kRows};
      };
      const ExecutableRows plan = plan_rows(put(there.data()), {.row_bytes = width}, {.reused = true});
      EXPECT_TRUE(plan.is_scheduled());
      const Bytes in = random_bytes(count * width, 1);
      const Bytes begin = random_bytes(kRows * width, 2);
      Bytes expected = begin;
      plan_rows(put(host_entries.data()), {.row_bytes = width}).run(in, expected);
      const Placed device_in(in);
      const Placed device_out(begin);
      plan.run(device_in.span(), device_out.span());
      plan.check();
      EXPECT_TRUE(device_out.get() == expected) << width << ", " << count;
      entries.values[5] = entries.values[count - 3];
      const Placed wrong(entries.bytes());
      EXPECT_NE(refusal([&] {
                  static_cast<void>(plan_rows(put(wrong.data()), {.row_bytes = width}, {.reused = true}));
                }).find("twice"),
                std::string::npos);
    }
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
    from[9] = kSegments;
    const Placed wrong(bytes_of_all(from));
    const ExecutableSegments other = plan_segments(
        {.offsets = {there.data(), kSegments + 1, {.bytes = 8, .is_signed = true}}, .element_bytes = width},
        {wrong.data(), kTaken, {.bytes = 4, .is_signed = true}});
    other.run(device_in.span(), device_out.span());
    EXPECT_NE(refusal([&] { other.check(); }).find("position 9"), std::string::npos);
  }
}

TEST_F(GpuRows, MovesValuesInBitReversedOrder) {
  for (const std::uint64_t n : {std::uint64_t{16}, std::uint64_t{1} << 13, std::uint64_t{1} << 16}) {
    for (const std::int64_t k : {std::int64_t{3}, std::int64_t{5}, 2 * static_cast<std::int64_t>(n) - 1}) {
      const Bytes in = random_bytes(n * 8 * 3, n);
      Bytes expected(in.size());
      permute_evaluations(n, k, 8, in, expected);
      const Placed device_in(in);
      const Placed device_out(Bytes(in.size()));
      permute_evaluations(n, k, 8, device_in.span(), device_out.span(), OnDevice{});
      EXPECT_TRUE(device_out.get() == expected) << n << ", " << k;
    }
  }
}

// Forms that index arrays are known by, as plans.
TEST_F(GpuRows, RunsFormsThatArraysAreKnownBy) {
  std::vector<Permutation> all;
  for (const char* const text :
       {"axes(300 410; 1 0; 0 0; 1)", "axes(300 410; 0 1; 150 205)", "axes(70 30 110; 2 0 1; 3 4 5; 0 2)",
        "multiply(100003, 777)", "affine_mod(65536, 5, 9)"})
    all.push_back(parse_permutation(text));
  std::mt19937_64 random(2);
  {
    std::vector<std::uint32_t> small(6000);
    std::iota(small.begin(), small.end(), 0U);
    std::shuffle(small.begin(), small.end(), random);
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t b = 0; b < 9; ++b) {
      for (const std::uint32_t p : small) {
        for (std::uint32_t j = 0; j < 3; ++j) blocks.push_back((b * 6000 + p) * 3 + j);
      }
    }
    all.emplace_back(Indexed(blocks, Direction::scatter));
    all.emplace_back(Indexed(std::move(blocks), Direction::gather));
  }
  for (const char* const text : {"bit_reversal(16)", "multiply(65536, 1237)"}) {
    const Permutation map = parse_permutation(text);
    std::vector<std::uint32_t> entries(65536);
    for (std::uint64_t x = 0; x < entries.size(); ++x) entries[x] = static_cast<std::uint32_t>(apply(map, x));
    std::swap(entries[3], entries[60000]);
    std::swap(entries[0], entries[777]);
    all.emplace_back(Indexed(std::move(entries), Direction::gather));
  }
  for (const Permutation& permutation : all) {
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 12U, 16U}) {
      const Problem problem{.permutation = permutation, .element_bytes = width, .batch = 2};
      const Bytes in = random_bytes(total_bytes(problem), width);
      Bytes expected(in.size());
      faro::plan(problem, {.engine = Engine::cpu}).run(in.data(), expected.data(), in.size());
      const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
      const Placed device_in(in);
      const Placed device_out(Bytes(in.size()));
      plan.run(device_in.data(), device_out.data(), in.size());
      EXPECT_TRUE(device_out.get() == expected) << to_text(permutation) << ", " << width << "\n"
                                                << plan.explain();
    }
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
