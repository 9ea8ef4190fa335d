// Rows taken, put and added against one obvious loop: every width, type of entries, layout and thread count,
// with guard zones around the output, which is poisoned first.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/cpu.hpp"
#include "faro/rows.hpp"
#include "kernels/row_numbers.hpp"
#include "refusal.hpp"

namespace cpu_rows_engine_test {

using namespace faro;
using test::report_of;

using Bytes = std::vector<std::byte>;
constexpr std::uint64_t kGuard = 67;  // odd, so that arrays lie at any address

Bytes random_bytes(std::mt19937_64& random, std::uint64_t size) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// Entries of one of the four types, and what they say: -1 is no row.
struct Entries {
  std::vector<std::int64_t> rows;
  Bytes bytes;
  IndexType type;
  std::optional<std::uint64_t> marker;

  Entries(std::vector<std::int64_t> of, IndexType as) : rows(std::move(of)), type(as) {
    const auto width = static_cast<std::size_t>(type.bytes);
    // At an odd address, and unsigned ones with a marker.
    bytes.resize(1 + rows.size() * width);
    if (!type.is_signed) marker = type.bytes == 4 ? 0xffffffffU : ~std::uint64_t{0};
    for (std::size_t i = 0; i < rows.size(); ++i) std::memcpy(bytes.data() + 1 + i * width, &rows[i], width);
  }
  RowNumbers numbers() const { return {bytes.data() + 1, rows.size(), type}; }
};

constexpr std::array<IndexType, 4> kTypes{{{.bytes = 4, .is_signed = false},
                                           {.bytes = 4, .is_signed = true},
                                           {.bytes = 8, .is_signed = false},
                                           {.bytes = 8, .is_signed = true}}};

// The arrays between guards; `run` moves from one to the other, and the guards have to stay.
Bytes run_guarded(const RowPlan& plan, const Bytes& in, const Bytes& before) {
  Bytes guarded(before.size() + 2 * kGuard, std::byte{0xa5});
  std::copy(before.begin(), before.end(), guarded.begin() + kGuard);
  Bytes shifted(in.size() + 1);
  std::copy(in.begin(), in.end(), shifted.begin() + 1);
  cpu::run_rows(plan, shifted.data() + 1, guarded.data() + kGuard);
  for (std::uint64_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(guarded[i], std::byte{0xa5}) << "before, at " << i;
    EXPECT_EQ(guarded[guarded.size() - 1 - i], std::byte{0xa5}) << "behind, at " << i;
  }
  return {guarded.begin() + kGuard, guarded.end() - kGuard};
}

struct Pattern {
  const char* name;
  std::vector<std::int64_t> (*make)(std::mt19937_64&, std::uint64_t count, std::uint64_t rows);
};

const std::array<Pattern, 6> kPatterns{{
    {"random with repeats and omissions",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (auto& row : made) row = static_cast<std::int64_t>(random() % (rows + 1)) - 1;
       return made;
     }},
    {"all for one row",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       return std::vector<std::int64_t>(count, static_cast<std::int64_t>(random() % rows));
     }},
    {"all absent", [](std::mt19937_64&, std::uint64_t count,
                      std::uint64_t) { return std::vector<std::int64_t>(count, -1); }},
    {"in order",
     [](std::mt19937_64&, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (std::uint64_t i = 0; i < count; ++i) made[i] = static_cast<std::int64_t>(i % rows);
       return made;
     }},
    {"backwards",
     [](std::mt19937_64&, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made(count);
       for (std::uint64_t i = 0; i < count; ++i) made[i] = static_cast<std::int64_t>(rows - 1 - i % rows);
       return made;
     }},
    {"runs, some absent",
     [](std::mt19937_64& random, std::uint64_t count, std::uint64_t rows) {
       std::vector<std::int64_t> made;
       while (made.size() < count) {
         const std::uint64_t length = 1 + random() % 40;
         const std::int64_t first = static_cast<std::int64_t>(random() % (rows + 1)) - 1;
         for (std::uint64_t i = 0; i < length && made.size() < count; ++i) {
           const bool past =
               first < 0 || first + static_cast<std::int64_t>(i) >= static_cast<std::int64_t>(rows);
           made.push_back(past ? -1 : first + static_cast<std::int64_t>(i));
         }
       }
       return made;
     }},
}};

struct Shape {
  std::uint64_t outer;
  std::uint64_t count;
  std::uint64_t rows;
  std::uint64_t row_bytes;

  std::string text() const {
    return std::to_string(outer) + " arrays, " + std::to_string(count) + " entries, " + std::to_string(rows) +
           " rows of " + std::to_string(row_bytes) + " bytes";
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const std::uint64_t width :
       {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 63, 64, 65, 100, 256, 1000, 1024, 4096, 14336, 65536})
    all.push_back({.outer = 1,
                   .count = width > 4096 ? 40U : 1500U,
                   .rows = width > 4096 ? 17U : 700U,
                   .row_bytes = width});
  all.insert(all.end(), {{.outer = 1000, .count = 3, .rows = 5, .row_bytes = 4},
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
    const Bytes in = random_bytes(random, shape.outer * shape.rows * shape.row_bytes);
    const Bytes before = random_bytes(random, shape.outer * shape.count * shape.row_bytes);
    for (const Pattern& pattern : kPatterns) {
      SCOPED_TRACE(shape.text() + ", " + pattern.name);
      const auto rows = pattern.make(random, shape.count, shape.rows);
      const Entries entries(rows, kTypes[random() % kTypes.size()]);
      const Bytes value = random_bytes(random, shape.row_bytes % 2 == 0 ? 2 : 1);
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
      const Bytes in = random_bytes(random, shape.outer * shape.rows * width);
      const Bytes before = random_bytes(random, shape.outer * shape.count * width);
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
    const Bytes in = random_bytes(random, shape.outer * shape.rows * width);
    const Bytes before = random_bytes(random, shape.outer * shape.count * width);
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
    const Bytes in = random_bytes(random, shape.outer * shape.count * shape.row_bytes);
    Bytes out = random_bytes(random, shape.outer * shape.rows * shape.row_bytes);
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

// The definition, in the type that sums are kept in.
template <typename Stored, typename Wide, typename Widen, typename Round>
Bytes added(const Shape& shape, const std::vector<std::int64_t>& to, const Bytes& in, const Bytes& out,
            const Widen& widen, const Round& round) {
  const std::uint64_t elements = shape.row_bytes / sizeof(Stored);
  const auto load = [](const Bytes& from, std::uint64_t i) {
    Stored x;
    std::memcpy(&x, from.data() + i * sizeof(Stored), sizeof(Stored));
    return x;
  };
  Bytes result = out;
  for (std::uint64_t o = 0; o < shape.outer; ++o) {
    std::vector<Wide> sums(shape.rows * elements);
    const std::uint64_t base = o * shape.rows * elements;
    for (std::uint64_t i = 0; i < sums.size(); ++i) sums[i] = widen(load(out, base + i));
    for (std::uint64_t i = 0; i < shape.count; ++i) {
      if (to[i] < 0) continue;
      for (std::uint64_t e = 0; e < elements; ++e) {
        Wide& sum = sums[static_cast<std::uint64_t>(to[i]) * elements + e];
        sum = static_cast<Wide>(sum + widen(load(in, (o * shape.count + i) * elements + e)));
      }
    }
    for (std::uint64_t i = 0; i < sums.size(); ++i) {
      const Stored x = round(sums[i]);
      std::memcpy(result.data() + (base + i) * sizeof(Stored), &x, sizeof(Stored));
    }
  }
  return result;
}

// Finite numbers of moderate size, so that no two NaN have to agree.
Bytes random_numbers(std::mt19937_64& random, Number number, std::uint64_t bytes) {
  Bytes made = random_bytes(random, bytes);
  const std::uint64_t width = bytes_of(number);
  if (number < Number::f16) return made;
  std::normal_distribution<double> normal(0, 3);
  for (std::uint64_t at = 0; at < bytes; at += width) {
    const double x = normal(random);
    if (number == Number::f64) std::memcpy(&made[at], &x, 8);
    const auto f = static_cast<float>(x);
    if (number == Number::f32) std::memcpy(&made[at], &f, 4);
    kernels::Half half;
    kernels::round_to(x, half);
    if (number == Number::f16) std::memcpy(&made[at], &half, 2);
    kernels::BrainHalf brain;
    kernels::round_to(x, brain);
    if (number == Number::bf16) std::memcpy(&made[at], &brain, 2);
  }
  return made;
}

Bytes added_by_definition(const Shape& shape, const Add& add, const std::vector<std::int64_t>& to,
                          const Bytes& in, const Bytes& out) {
  const auto same = [](auto x) { return x; };
  const auto rounds = [](auto x) {
    return [](auto sum) {
      decltype(x) to_round;
      kernels::round_to(sum, to_round);
      return to_round;
    };
  };
  const auto single = [](auto x) { return kernels::to_float(x); };
  const auto twice = [](auto x) { return static_cast<double>(kernels::to_float(x)); };
  const bool wide = add.sums == Sums::fp64;
  switch (add.number) {
    case Number::i8:
    case Number::u8:
      return added<std::uint8_t, std::uint8_t>(shape, to, in, out, same, same);
    case Number::i16:
    case Number::u16:
      return added<std::uint16_t, std::uint16_t>(shape, to, in, out, same, same);
    case Number::i32:
    case Number::u32:
      return added<std::uint32_t, std::uint32_t>(shape, to, in, out, same, same);
    case Number::i64:
    case Number::u64:
      return added<std::uint64_t, std::uint64_t>(shape, to, in, out, same, same);
    case Number::f16:
      return wide ? added<kernels::Half, double>(shape, to, in, out, twice, rounds(kernels::Half{}))
                  : added<kernels::Half, float>(shape, to, in, out, single, rounds(kernels::Half{}));
    case Number::bf16:
      return wide
                 ? added<kernels::BrainHalf, double>(shape, to, in, out, twice, rounds(kernels::BrainHalf{}))
                 : added<kernels::BrainHalf, float>(shape, to, in, out, single, rounds(kernels::BrainHalf{}));
    case Number::f32:
      return wide ? added<float, double>(
                        shape, to, in, out, [](float x) { return static_cast<double>(x); },
                        [](double x) { return static_cast<float>(x); })
                  : added<float, float>(shape, to, in, out, same, same);
    case Number::f64:
      return added<double, double>(shape, to, in, out, same, same);
  }
  return {};
}

TEST(CpuRows, AddIsItsDefinitionForEveryThreadCount) {
  std::mt19937_64 random(4);
  std::set<RowWay> ways;
  const std::vector<Shape> all{{.outer = 1, .count = 5000, .rows = 300, .row_bytes = 8},
                               {.outer = 1, .count = 60000, .rows = 700, .row_bytes = 16},
                               {.outer = 1, .count = 70000, .rows = 90000, .row_bytes = 8},
                               {.outer = 1, .count = 300, .rows = 20, .row_bytes = 4096},
                               {.outer = 3, .count = 900, .rows = 33, .row_bytes = 208},
                               {.outer = 200, .count = 40, .rows = 9, .row_bytes = 24},
                               {.outer = 2, .count = 0, .rows = 9, .row_bytes = 24}};
  for (const Shape& shape : all) {
    for (int n = 0; n <= static_cast<int>(Number::f64); ++n) {
      for (const Sums sums : {Sums::usual, Sums::fp32, Sums::fp64}) {
        Add add{.rows = shape.rows, .number = static_cast<Number>(n), .sums = sums};
        if (sums != Sums::usual &&
            (add.number < Number::f16 || (sums == Sums::fp32 && add.number == Number::f64)))
          continue;
        const Pattern& pattern = kPatterns[random() % kPatterns.size()];
        SCOPED_TRACE(shape.text() + ", " + pattern.name + ", " + name(add.number) + ", " + name(sums));
        const auto rows = pattern.make(random, shape.count, shape.rows);
        const Entries entries(rows, kTypes[random() % kTypes.size()]);
        add.to = entries.numbers();
        add.marker = entries.marker;
        const Bytes in = random_numbers(random, add.number, shape.outer * shape.count * shape.row_bytes);
        const Bytes out = random_numbers(random, add.number, shape.outer * shape.rows * shape.row_bytes);
        const Bytes expected = added_by_definition(shape, add, rows, in, out);
        for (const int threads : {1, 2, 3, 5, 12}) {
          const auto plan =
              plan_rows(add, {.outer = shape.outer, .row_bytes = shape.row_bytes}, {.threads = threads});
          ways.insert(plan.plan().way());
          ASSERT_TRUE(run_guarded(plan.plan(), in, out) == expected) << threads << " threads\n"
                                                                     << plan.explain();
        }
      }
    }
  }
  EXPECT_EQ(ways, (std::set<RowWay>{RowWay::ranges, RowWay::buckets, RowWay::columns, RowWay::in_order}));
}

// A hundred runs of each, of plans made anew, by all numbers of threads: the same bits, though sums of floats
// depend on their order.
TEST(CpuRows, AHundredRunsGiveTheSameBits) {
  std::mt19937_64 random(41);
  const std::vector<Shape> all{{.outer = 1, .count = 9000, .rows = 60, .row_bytes = 4},
                               {.outer = 1, .count = 30000, .rows = 20000, .row_bytes = 4},
                               {.outer = 1, .count = 400, .rows = 7, .row_bytes = 2048},
                               {.outer = 5, .count = 700, .rows = 11, .row_bytes = 64}};
  for (const Shape& shape : all) {
    for (const Number number : {Number::f32, Number::bf16, Number::f64}) {
      if (shape.row_bytes % bytes_of(number) != 0) continue;
      const auto rows = kPatterns[0].make(random, shape.count, shape.rows);
      const Entries entries(rows, kTypes[1]);
      const Add add{.to = entries.numbers(), .rows = shape.rows, .number = number};
      const Bytes in = random_numbers(random, number, shape.outer * shape.count * shape.row_bytes);
      const Bytes before = random_numbers(random, number, shape.outer * shape.rows * shape.row_bytes);
      Bytes first;
      for (int run = 0; run < 100; ++run) {
        const auto plan =
            plan_rows(add, {.outer = shape.outer, .row_bytes = shape.row_bytes}, {.threads = 1 + run % 9});
        Bytes out = before;
        plan.run(in, out);
        if (run == 0) first = out;
        ASSERT_TRUE(out == first) << shape.text() << ", " << name(number) << ", run " << run;
      }
      EXPECT_FALSE(first == before);
    }
  }
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

TEST(CpuRows, SumsAreKeptInWhatWasAskedFor) {
  // 1, then 2^24 times 2^-24: in fp32 each is lost, in fp64 and compensated none is.
  constexpr std::uint64_t kCount = 1 << 16;
  const std::vector<std::int32_t> to(kCount + 1, 0);
  std::vector<float> in(kCount + 1, 0x1p-24F);
  in[0] = 1;
  const auto sum = [&](Sums sums, int threads) {
    float out = 0;
    plan_rows(Add{.to = RowNumbers(std::span(to)), .rows = 1, .number = Number::f32, .sums = sums},
              {.row_bytes = 4}, {.threads = threads})
        .run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(&out, 1)));
    return out;
  };
  for (const int threads : {1, 3}) {
    EXPECT_EQ(sum(Sums::usual, threads), 1.0F);
    EXPECT_EQ(sum(Sums::fp32, threads), 1.0F);
    EXPECT_EQ(sum(Sums::fp64, threads), 1.0F + 0x1p-8F);
    EXPECT_EQ(sum(Sums::compensated, threads), 1.0F + 0x1p-8F);
  }
}

TEST(CpuRows, SumsKeepZerosWithASignAndRowsThatGetNothing) {
  // Rows of -0, to which -0 is added or nothing, and of a signalling NaN, which nothing is added to.
  struct Of {
    Number number;
    std::uint64_t zero;
    std::uint64_t none;
  };
  for (const Of& of : {Of{Number::f16, 0x8000, 0x7d23}, Of{Number::bf16, 0x8000, 0x7fa3},
                       Of{Number::f32, 0x80000000, 0x7fa12345},
                       Of{Number::f64, std::uint64_t{1} << 63, 0x7ff4000000012345}}) {
    const std::uint64_t width = bytes_of(of.number);
    for (const Sums sums : {Sums::usual, Sums::fp64, Sums::compensated}) {
      for (const int threads : {1, 3, 12}) {
        for (const std::uint64_t elements : {1U, 300U}) {
          SCOPED_TRACE(std::string(name(of.number)) + ", sums " + name(sums));
          const std::vector<std::int32_t> to(4000, 1);
          Bytes in;
          Bytes out;
          const auto append = [&](Bytes& bytes, std::uint64_t bits) {
            for (std::uint64_t e = 0; e < elements; ++e) {
              bytes.resize(bytes.size() + width);
              std::memcpy(bytes.data() + bytes.size() - width, &bits, width);
            }
          };
          for (std::size_t i = 0; i < to.size(); ++i) append(in, of.zero);
          for (const std::uint64_t bits : {of.zero, of.zero, of.none}) append(out, bits);
          const Bytes expected = out;
          plan_rows(Add{.to = RowNumbers(std::span(to)), .rows = 3, .number = of.number, .sums = sums},
                    {.row_bytes = elements * width}, {.threads = threads})
              .run(in, out);
          EXPECT_TRUE(out == expected);
        }
      }
    }
  }
}

TEST(CpuRows, ShortFloatsAreRoundedToNearestEven) {
  // Every binary16 comes back from what it is, and halves between neighbours go to the even one.
  double last = 0;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const kernels::Half half{static_cast<std::uint16_t>(bits)};
    const int exponent = static_cast<int>(bits >> 10);
    const double expected =
        exponent == 0 ? std::ldexp(bits, -24) : std::ldexp(1024 + (bits & 1023), exponent - 25);
    ASSERT_EQ(static_cast<double>(kernels::to_float(half)), expected) << bits;
    kernels::Half back;
    kernels::round_to(expected, back);
    ASSERT_EQ(back.bits, bits);
    kernels::round_to(-expected, back);
    ASSERT_EQ(back.bits, bits | 0x8000U);
    if (bits > 0) {
      const double middle = (expected + last) / 2;
      kernels::round_to(middle, back);
      ASSERT_EQ(back.bits, bits % 2 == 0 ? bits : bits - 1) << bits;
      kernels::round_to(std::nextafter(middle, 1e9), back);
      ASSERT_EQ(back.bits, bits);
      kernels::round_to(std::nextafter(middle, 0), back);
      ASSERT_EQ(back.bits, bits - 1);
    }
    last = expected;
  }
  kernels::Half half;
  for (const auto& [value, bits] : {std::pair(65519.0, 0x7bff), std::pair(65520.0, 0x7c00),
                                    std::pair(1e300, 0x7c00), std::pair(5e-324, 0)}) {
    kernels::round_to(value, half);
    EXPECT_EQ(half.bits, bits) << value;
  }
  kernels::round_to(std::numeric_limits<double>::quiet_NaN(), half);
  EXPECT_TRUE(std::isnan(kernels::to_float(half)));
  // Binary32 to bfloat16, by way of binary64 and directly.
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    kernels::BrainHalf direct;
    kernels::BrainHalf by_double;
    kernels::round_to(x, direct);
    kernels::round_to(static_cast<double>(x), by_double);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(kernels::to_float(direct)) && std::isnan(kernels::to_float(by_double)));
    } else {
      ASSERT_EQ(direct.bits, by_double.bits) << x;
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
    in.push_back(random_bytes(random, 5 * width));
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
  // Of 2 rows: an output at byte 8, beside it, in part on it, within it, on the other's input.
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
