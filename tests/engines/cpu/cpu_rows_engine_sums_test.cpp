// Rows added on the CPU against one obvious loop, in the type that sums are kept in: every type, layout and
// thread count, with guard zones around the output.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu_rows_support.hpp"
#include "faro/rows.hpp"
#include "kernels/row_numbers.hpp"

namespace cpu_rows_engine_sums_test {

using namespace cpu_rows_support;

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
  Bytes made = random_bytes(bytes, random);
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
    default:
      break;
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

}  // namespace cpu_rows_engine_sums_test
