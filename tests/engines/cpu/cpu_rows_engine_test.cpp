// Rows taken and put against one obvious loop: every width, type of entries, layout and thread count, with
// guard zones around the output, which is poisoned first; and what is refused.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu_rows_support.hpp"
#include "engines/cpu.hpp"
#include "faro/rows.hpp"
#include "refusal.hpp"

namespace cpu_rows_engine_test {

using namespace cpu_rows_support;
using test::report_of;

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::uint64_t width :
       {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 63, 64, 65, 100, 256, 1000, 1024, 4096, 14336, 65536})
    all.push_back({.outer = 1,
                   .count = width > 4096 ? 40U : 1500U,
                   .rows = width > 4096 ? 17U : 700U,
                   .row_bytes = width});
  all.insert(all.end(), {{.outer = 1000, .count = 3, .rows = 5, .row_bytes = 4},
                         {.outer = 2051, .count = 1, .rows = 2, .row_bytes = 1},
                         {.outer = 333, .count = 500, .rows = 700, .row_bytes = 2},
                         {.outer = 101, .count = 7, .rows = 9, .row_bytes = 300},
                         {.outer = 7, .count = 1500, .rows = 31, .row_bytes = 6},
                         {.outer = 3, .count = 1, .rows = 1, .row_bytes = 70000},
                         {.outer = 1, .count = 200000, .rows = 100000, .row_bytes = 4},
                         {.outer = 1, .count = 50, .rows = 100000, .row_bytes = 2},
                         {.outer = 0, .count = 5, .rows = 5, .row_bytes = 8},
                         {.outer = 2, .count = 0, .rows = 5, .row_bytes = 8}});
  return all;
}

Bytes taken(const Shape& shape, const std::vector<std::int64_t>& from, const Bytes& in, const Fill& fill,
            Bytes out) {
  for (std::uint64_t o = 0; o < shape.outer; ++o) {
    for (std::uint64_t i = 0; i < shape.count; ++i) {
      for (std::uint64_t b = 0; b < shape.row_bytes; ++b) {
        std::byte& to = out[(o * shape.count + i) * shape.row_bytes + b];
        if (from[i] >= 0) {
          to = in[(o * shape.rows + static_cast<std::uint64_t>(from[i])) * shape.row_bytes + b];
        } else if (fill.with == Fill::With::zero) {
          to = std::byte{0};
        } else if (fill.with == Fill::With::value) {
          to = fill.value[b % fill.value.size()];
        }
      }
    }
  }
  return out;
}

TEST(CpuRows, TakeIsItsDefinition) {
  std::mt19937_64 random(1);
  std::set<RowWay> ways;
  for (const Shape& shape : shapes()) {
    const Bytes in = random_bytes(shape.outer * shape.rows * shape.row_bytes, random);
    const Bytes before = random_bytes(shape.outer * shape.count * shape.row_bytes, random);
    for (const Pattern& pattern : kPatterns) {
      SCOPED_TRACE(shape.text() + ", " + pattern.name);
      const auto rows = pattern.make(random, shape.count, shape.rows);
      const Entries entries(rows, kTypes[random() % kTypes.size()]);
      const Bytes value = random_bytes(shape.row_bytes % 2 == 0 ? 2 : 1, random);
      for (const Fill& fill : {Fill::zero(), Fill::kept(), Fill::of(value)}) {
        const Take take{
            .from = entries.numbers(), .rows = shape.rows, .fill = fill, .marker = entries.marker};
        const auto plan = plan_rows(take, {.outer = shape.outer, .row_bytes = shape.row_bytes},
                                    {.threads = 1 + static_cast<int>(random() % 5)});
        ways.insert(plan.plan().way());
        ASSERT_TRUE(run_guarded(plan.plan(), in, before) == taken(shape, rows, in, fill, before))
            << plan.explain();
        EXPECT_EQ(plan.plan().census().absent,
                  static_cast<std::uint64_t>(std::count(rows.begin(), rows.end(), -1)));
      }
    }
  }
  EXPECT_EQ(ways, (std::set<RowWay>{RowWay::runs, RowWay::blocks}));
}

// A machine whose caches are small.
Target small_target(int threads) {
  Target target = cpu::target(threads);
  target.streaming_bytes = 1 << 16;
  return target;
}

TEST(CpuRows, TakePastTheCaches) {
  std::mt19937_64 random(2);
  for (const std::uint64_t width : {1, 3, 4, 12, 48, 64, 100, 1000, 2048}) {
    for (const std::uint64_t outer : {1, 3}) {
      Shape shape{.outer = outer, .count = 0, .rows = 100, .row_bytes = width};
      shape.count = 200'000 / width + 5;
      const Bytes in = random_bytes(shape.outer * shape.rows * width, random);
      const Bytes before = random_bytes(shape.outer * shape.count * width, random);
      for (const Pattern& pattern : kPatterns) {
        const auto rows = pattern.make(random, shape.count, shape.rows);
        const Entries entries(rows, kTypes[random() % kTypes.size()]);
        for (const Fill& fill : {Fill::zero(), Fill::kept()}) {
          const Take take{
              .from = entries.numbers(), .rows = shape.rows, .fill = fill, .marker = entries.marker};
          const RowPlan plan(take, {.outer = outer, .row_bytes = width}, small_target(3));
          EXPECT_TRUE(plan.streamed());
          ASSERT_TRUE(run_guarded(plan, in, before) == taken(shape, rows, in, fill, before))
              << shape.text() << ", " << pattern.name << "\n"
              << plan.explain();
        }
      }
    }
  }
}

// Entries that the moving sweep checks: the same rows, the same report of the first wrong one, and nothing
// read or written past an array.
TEST(CpuRows, EntriesCheckedMeanwhile) {
  std::mt19937_64 random(21);
  int meanwhile = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t width = std::vector<std::uint64_t>{1, 2, 4, 8, 3, 16}[random() % 6];
    const Shape shape{.outer = 1 + random() % 2,
                      .count = trial % 3 == 0 ? 700U : 9000 + random() % 30000,
                      .rows = 1 + random() % 5000,
                      .row_bytes = width};
    std::vector<std::int64_t> rows(shape.count);
    for (auto& row : rows) row = static_cast<std::int64_t>(random() % shape.rows);
    const IndexType type = kTypes[random() % kTypes.size()];
    const Bytes in = random_bytes(shape.outer * shape.rows * width, random);
    const Bytes before = random_bytes(shape.outer * shape.count * width, random);
    for (const bool fine : {true, false}) {
      const std::uint64_t at = random() % shape.count;
      if (!fine) rows[at] = random() % 2 == 0 ? static_cast<std::int64_t>(shape.rows) : 0x7fffffff;
      Entries entries(rows, type);
      entries.marker.reset();
      const Take take{.from = entries.numbers(), .rows = shape.rows};
      Target target = trial % 2 == 0 ? small_target(3) : cpu::target(2);
      const auto moved = [&] {
        const RowPlan plan(take, {.outer = shape.outer, .row_bytes = width}, target, EntryCheck::meanwhile);
        meanwhile += plan.check() == EntryCheck::meanwhile ? 1 : 0;
        return run_guarded(plan, in, before);
      };
      if (fine) {
        ASSERT_TRUE(moved() == taken(shape, rows, in, {}, before)) << shape.text();
        continue;
      }
      const ErrorReport report = report_of([&] { moved(); });
      EXPECT_EQ(report.code, ErrorCode::value);
      EXPECT_EQ(report.got, "row " + std::to_string(rows[at]) + " at position " + std::to_string(at));
    }
  }
  EXPECT_GT(meanwhile, 20);
  // Long runs are copied whole, so they have to be known.
  std::vector<std::uint32_t> runs(100'000);
  for (std::uint32_t i = 0; i < runs.size(); ++i) runs[i] = i / 4096 * 8192 + i % 4096;
  const RowPlan plan(Take{.from = RowNumbers(std::span(runs)), .rows = 300'000}, {.row_bytes = 4},
                     cpu::target(2), EntryCheck::meanwhile);
  EXPECT_EQ(plan.check(), EntryCheck::before);
  EXPECT_EQ(plan.way(), RowWay::runs);
}

TEST(CpuRows, PutIsItsDefinition) {
  std::mt19937_64 random(3);
  std::set<RowWay> ways;
  bool streams = false;
  std::vector<Shape> all = shapes();
  all.push_back({.outer = 1, .count = 300'000, .rows = 500'000, .row_bytes = 4});
  all.push_back({.outer = 1, .count = 900'000, .rows = 1'800'000, .row_bytes = 1});
  for (Shape shape : all) {
    SCOPED_TRACE(shape.text());
    std::vector<std::int64_t> rows(shape.rows);
    for (std::uint64_t i = 0; i < shape.rows; ++i) rows[i] = static_cast<std::int64_t>(i);
    const bool in_order = random() % 4 == 0;
    if (!in_order) std::shuffle(rows.begin(), rows.end(), random);
    rows.resize(std::min(shape.count, shape.rows));
    for (auto& row : rows) row = random() % 5 == 0 ? -1 : row;
    shape.count = rows.size();
    const Entries entries(rows, kTypes[random() % kTypes.size()]);
    const Bytes in = random_bytes(shape.outer * shape.count * shape.row_bytes, random);
    Bytes out = random_bytes(shape.outer * shape.rows * shape.row_bytes, random);
    const Put put{.to = entries.numbers(), .rows = shape.rows, .marker = entries.marker};
    const RowLayout layout{.outer = shape.outer, .row_bytes = shape.row_bytes};
    const int threads = 1 + static_cast<int>(random() % 4);
    const RowPlan plan(put, layout, cpu::target(threads));
    const RowPlan streamed(put, layout, small_target(threads));
    ways.insert({plan.way(), streamed.way()});
    streams = streams || streamed.streamed();
    const Bytes result = run_guarded(plan, in, out);
    const Bytes past_the_caches = run_guarded(streamed, in, out);
    for (std::uint64_t o = 0; o < shape.outer; ++o) {
      for (std::uint64_t i = 0; i < shape.count; ++i) {
        if (rows[i] < 0) continue;
        std::memcpy(out.data() + (o * shape.rows + static_cast<std::uint64_t>(rows[i])) * shape.row_bytes,
                    in.data() + (o * shape.count + i) * shape.row_bytes, shape.row_bytes);
      }
    }
    ASSERT_TRUE(result == out) << plan.explain();
    ASSERT_TRUE(past_the_caches == out) << streamed.explain();
  }
  EXPECT_TRUE(streams);
  EXPECT_EQ(ways, (std::set<RowWay>{RowWay::runs, RowWay::blocks}));
}

// No rows to take from or to put to, and entries of which none names a row: nothing is read or written but
// fills.
TEST(CpuRows, EmptySourcesAndEverythingDropped) {
  const std::vector<std::int32_t> absent(3000, -1);
  const RowNumbers dropped{std::span(absent)};
  const RowNumbers none{std::span<const std::int32_t>()};
  for (const int threads : {1, 4}) {
    for (const std::uint64_t width : {1, 4, 12, 64, 5000}) {
      const RowLayout layout{.row_bytes = width};
      const RowOptions options{.threads = threads};
      Bytes out(3000 * width, std::byte{7});
      plan_rows(Take{.from = dropped, .rows = 0, .fill = Fill::zero()}, layout, options).run({}, out);
      EXPECT_TRUE(out == Bytes(3000 * width)) << width;
      std::fill(out.begin(), out.end(), std::byte{7});
      plan_rows(Take{.from = dropped, .rows = 0, .fill = Fill::kept()}, layout, options).run({}, out);
      EXPECT_TRUE(out == Bytes(3000 * width, std::byte{7})) << width;
      Bytes rows(5 * width, std::byte{9});
      const Bytes values(3000 * width, std::byte{1});
      plan_rows(Put{.to = dropped, .rows = 5}, layout, options).run(values, rows);
      plan_rows(Put{.to = dropped, .rows = 0}, layout, options).run(values, {});
      plan_rows(Put{.to = none, .rows = 5}, layout, options).run({}, rows);
      if (width % 4 == 0) {
        plan_rows(Add{.to = dropped, .rows = 5, .number = Number::f32}, layout, options).run(values, rows);
        plan_rows(Add{.to = dropped, .rows = 0, .number = Number::f32}, layout, options).run(values, {});
        plan_rows(Add{.to = none, .rows = 5, .number = Number::f32}, layout, options).run({}, rows);
      }
      EXPECT_TRUE(rows == Bytes(5 * width, std::byte{9})) << width;
      plan_rows(Take{.from = none, .rows = 5}, layout, options).run(rows, {});
      plan_rows(Take{.from = none, .rows = 0}, layout, options).run(Bytes(), std::span<std::byte>());
    }
  }
}

TEST(CpuRows, ColumnsOfATableGoByOnePlan) {
  std::mt19937_64 random(6);
  const std::vector<std::uint64_t> from{4, 4, 0, 2, 1, 0};
  const auto plan = plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = 5}, {.row_bytes = 1});
  const std::vector<std::uint64_t> widths{1, 4, 5000, 8};
  std::vector<Bytes> in;
  std::vector<Bytes> out;
  std::vector<RowColumn> columns;
  for (const std::uint64_t width : widths) {
    in.push_back(random_bytes(5 * width, random));
    out.emplace_back(6 * width);
  }
  for (std::size_t k = 0; k < widths.size(); ++k)
    columns.push_back({.in = in[k], .out = out[k], .row_bytes = widths[k]});
  plan.run(columns);
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const Shape shape{.outer = 1, .count = 6, .rows = 5, .row_bytes = widths[k]};
    EXPECT_TRUE(out[k] == taken(shape, {4, 4, 0, 2, 1, 0}, in[k], {}, Bytes(out[k].size())));
  }
}

TEST(CpuRows, ColumnsThatOverlapAreRefused) {
  const std::vector<std::uint32_t> to{1, 0};
  const auto plan = plan_rows(Put{.to = RowNumbers(std::span(to)), .rows = 2}, {.row_bytes = 1});
  Bytes memory(64, std::byte{1});
  const std::span all(memory);
  // Two rows with an output at byte 8, beside it, in part on it, within it, on the other's input.
  const auto run = [&](std::size_t at, std::uint64_t width) {
    const std::vector<RowColumn> columns{
        {.in = all.subspan(0, 8), .out = all.subspan(8, 8), .row_bytes = 4},
        {.in = all.subspan(40, 2 * width), .out = all.subspan(at, 2 * width), .row_bytes = width}};
    plan.run(columns);
  };
  EXPECT_NO_THROW(run(16, 4));
  EXPECT_NO_THROW(run(24, 8));
  const Bytes before = memory;
  for (const auto& [at, width] :
       {std::pair<std::size_t, std::uint64_t>{8, 4}, {15, 4}, {10, 1}, {1, 4}, {0, 4}, {7, 1}}) {
    EXPECT_EQ(test::code_of([&, at = at, width = width] { run(at, width); }), ErrorCode::value) << at;
    EXPECT_TRUE(memory == before) << at;
  }
  // Inputs may be the same array.
  const std::vector<RowColumn> twice{{.in = all.subspan(0, 2), .out = all.subspan(8, 2), .row_bytes = 1},
                                     {.in = all.subspan(0, 2), .out = all.subspan(10, 2), .row_bytes = 1}};
  EXPECT_NO_THROW(plan.run(twice));
}

TEST(CpuRows, RefusesWhatNamesNoRow) {
  struct Case {
    std::vector<std::int64_t> entries;
    std::uint64_t rows;
    std::string got;
  };
  std::vector<std::int64_t> late(5000, 0);
  late[2048] = 9;
  late[2049] = -7;
  for (const Case& c : std::vector<Case>{
           {{0, 3, 5, 9}, 3, "row 3 at position 1"},
           {{0, -2}, 3, "row -2 at position 1"},
           {{std::numeric_limits<std::int64_t>::max()}, 3, "row 9223372036854775807 at position 0"},
           {{std::numeric_limits<std::int64_t>::min()}, 3, "row -9223372036854775808 at position 0"},
           {{0}, 0, "row 0 at position 0"},
           {late, 3, "row 9 at position 2048"}}) {
    for (const int threads : {1, 4}) {
      const RowNumbers numbers{std::span(c.entries)};
      for (const RowMove& move :
           {RowMove(Take{.from = numbers, .rows = c.rows, .fill = Fill::zero()}),
            RowMove(Take{.from = numbers, .rows = c.rows}), RowMove(Add{.to = numbers, .rows = c.rows})}) {
        const ErrorReport report =
            report_of([&] { plan_rows(move, {.row_bytes = 4}, {.threads = threads}); });
        EXPECT_EQ(report.code, ErrorCode::value);
        EXPECT_EQ(report.got, c.got);
      }
    }
  }
  const std::vector<std::int32_t> minus{1, -1};
  const RowNumbers numbers{std::span(minus)};
  EXPECT_EQ(report_of([&] { plan_rows(Take{.from = numbers, .rows = 2}, {}); }).got, "row -1 at position 1");
  EXPECT_NE(report_of([&] { plan_rows(Take{.from = numbers, .rows = 2}, {}); }).remedy, "");
  EXPECT_NO_THROW(plan_rows(Put{.to = numbers, .rows = 2}, {}));
  const std::vector<std::uint32_t> repeated{1, 0, 3, 0, 1};
  EXPECT_EQ(report_of([&] { plan_rows(Put{.to = RowNumbers(std::span(repeated)), .rows = 4}, {}); }).got,
            "row 0 at positions 1 and 3");
  EXPECT_NO_THROW(plan_rows(Add{.to = RowNumbers(std::span(repeated)), .rows = 4}, {.row_bytes = 4}));
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { plan_rows(Take{.from = numbers, .rows = 2, .fill = Fill::of(Bytes(3))}, {.row_bytes = 4}); },
           [&] { plan_rows(Take{.from = numbers, .rows = 2, .fill = Fill::of({})}, {.row_bytes = 4}); },
           [&] { plan_rows(Take{}, {.row_bytes = 0}); },
           [&] { plan_rows(Add{.to = numbers, .rows = 2}, {.row_bytes = 6}); },
           [&] {
             plan_rows(Add{.to = numbers, .rows = 2, .number = Number::f64, .sums = Sums::fp32},
                       {.row_bytes = 8});
           },
           [&] {
             plan_rows(Add{.to = numbers, .rows = 2, .number = Number::i32, .sums = Sums::fp64},
                       {.row_bytes = 8});
           },
           [&] {
             plan_rows(Take{.from = {nullptr, 4, {}}, .rows = 2}, {});
           },
           [&] { plan_rows(Put{.rows = std::uint64_t{1} << 40}, {.row_bytes = std::uint64_t{1} << 30}); }}) {
    EXPECT_EQ(test::code_of(call), ErrorCode::value);
  }
}

TEST(CpuRows, RefusesArraysThatDoNotFit) {
  std::vector<std::int32_t> from{1, 0, 1};
  const auto plan = plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = 2}, {.row_bytes = 4});
  Bytes array(20);
  const std::span<std::byte> all(array);
  EXPECT_EQ(test::code_of([&] { plan.run(all.first(4), all.subspan(8)); }), ErrorCode::value);
  EXPECT_EQ(test::code_of([&] { plan.run(all.first(8), all.subspan(9)); }), ErrorCode::value);
  EXPECT_EQ(test::code_of([&] { plan.run(all.first(8), all.subspan(4, 12)); }), ErrorCode::value);
  EXPECT_EQ(test::code_of([&] { plan.run(all.first(8), std::as_writable_bytes(std::span(from))); }),
            ErrorCode::value);
  EXPECT_NO_THROW(plan.run(all.first(8), all.subspan(8)));
  // Entries that change under a plan lead nowhere.
  from[1] = 1000000;
  EXPECT_EQ(test::code_of([&] { plan.run(all.first(8), all.subspan(8)); }), ErrorCode::value);
}

}  // namespace cpu_rows_engine_test
