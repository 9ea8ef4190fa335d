// Routing, combining and ragged rows against their definitions, item by item.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "faro/rows.hpp"
#include "kernels/row_numbers.hpp"
#include "refusal.hpp"

namespace cpu_routing_engine_test {

using namespace faro;
using test::code_of;
using test::report_of;

// One bucket after the other, items in order.
Route routed(const std::vector<std::int64_t>& keys, const RouteOptions& options) {
  Route made;
  made.places.assign(keys.size(), -1);
  made.offsets = {0};
  for (std::uint64_t bucket = 0; bucket < options.buckets; ++bucket) {
    std::int64_t count = 0;
    for (std::size_t item = 0; item < keys.size(); ++item) {
      if (keys[item] != static_cast<std::int64_t>(bucket)) continue;
      if (options.capacity && count >= static_cast<std::int64_t>(*options.capacity)) {
        ++made.dropped;
        continue;
      }
      made.places[item] = made.offsets.back() + count++;
      made.inverse.push_back(static_cast<std::int64_t>(item));
    }
    while (made.inverse.size() % options.multiple != 0) made.inverse.push_back(-1);
    made.counts.push_back(count);
    made.offsets.push_back(static_cast<std::int64_t>(made.inverse.size()));
  }
  made.absent = static_cast<std::uint64_t>(std::count(keys.begin(), keys.end(), -1));
  return made;
}

TEST(CpuRouting, TheExampleOfTheHeader) {
  const std::vector<std::int32_t> keys{2, 0, 2, 1, 0};
  const Route made = route(RowNumbers(std::span(keys)), {.buckets = 3});
  EXPECT_EQ(made.counts, (std::vector<std::int64_t>{2, 1, 2}));
  EXPECT_EQ(made.offsets, (std::vector<std::int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(made.places, (std::vector<std::int64_t>{3, 0, 4, 2, 1}));
  EXPECT_EQ(made.inverse, (std::vector<std::int64_t>{1, 4, 3, 0, 2}));
  const Route padded = route(RowNumbers(std::span(keys)), {.buckets = 3, .multiple = 2});
  EXPECT_EQ(padded.offsets, (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_EQ(padded.inverse, (std::vector<std::int64_t>{1, 4, 3, -1, 0, 2}));
  const Route dropped = route(RowNumbers(std::span(keys)), {.buckets = 3, .capacity = 1});
  EXPECT_EQ(dropped.places, (std::vector<std::int64_t>{2, 0, -1, 1, -1}));
  EXPECT_EQ(dropped.dropped, 2U);
}

TEST(CpuRouting, RouteIsItsDefinitionForEveryThreadCount) {
  std::mt19937_64 random(1);
  for (const std::uint64_t count : {0, 1, 7, 1000, 70000, 200000}) {
    for (const std::uint64_t buckets : {1, 2, 8, 1000}) {
      if (count * buckets > 20'000'000) continue;
      for (int pattern = 0; pattern < 4; ++pattern) {
        std::vector<std::int64_t> keys(count);
        for (auto& key : keys) {
          const std::uint64_t draw = random();
          key = pattern == 0   ? static_cast<std::int64_t>(draw % buckets)
                : pattern == 1 ? static_cast<std::int64_t>(buckets - 1)
                : pattern == 2 ? static_cast<std::int64_t>(draw % (buckets + 1)) - 1
                               : -1;
        }
        for (const RouteOptions& asked :
             {RouteOptions{.buckets = buckets}, RouteOptions{.buckets = buckets, .multiple = 16},
              RouteOptions{.buckets = buckets, .multiple = 3, .capacity = 5},
              RouteOptions{.buckets = buckets, .capacity = 0}}) {
          const Route expected = routed(keys, asked);
          for (const int threads : {1, 2, 5}) {
            RouteOptions options = asked;
            options.threads = threads;
            const Route made = route(RowNumbers(std::span(keys)), options);
            SCOPED_TRACE(std::to_string(count) + " keys, " + std::to_string(buckets) + " buckets, pattern " +
                         std::to_string(pattern) + ", " + std::to_string(threads) + " threads");
            ASSERT_EQ(made.places, expected.places);
            ASSERT_EQ(made.inverse, expected.inverse);
            ASSERT_EQ(made.offsets, expected.offsets);
            ASSERT_EQ(made.counts, expected.counts);
            ASSERT_EQ(made.dropped, expected.dropped);
            ASSERT_EQ(made.absent, expected.absent);
          }
        }
      }
    }
  }
}

TEST(CpuRouting, RoutesNarrowKeysAndMarkers) {
  const std::vector<std::uint32_t> keys{1, 7, 0, 7, 1};
  const Route made = route(RowNumbers(std::span(keys)), {.buckets = 2, .marker = 7});
  EXPECT_EQ(made.places, (std::vector<std::int64_t>{1, -1, 0, -1, 2}));
  EXPECT_EQ(made.absent, 2U);
  // Keys of a byte and of two, of either byte order.
  const std::vector<std::int8_t> bytes{1, -1, 0, -1, 1};
  EXPECT_EQ(route(RowNumbers(std::span(bytes)), {.buckets = 2}).places, made.places);
  const std::vector<unsigned char> pairs{0, 1, 255, 255, 0, 0, 255, 255, 0, 1};
  const RowNumbers big(pairs.data(), 5, {.bytes = 2, .is_signed = true}, ByteOrder::big);
  EXPECT_EQ(route(big, {.buckets = 2}).places, made.places);
  EXPECT_EQ(report_of([&] { route(RowNumbers(pairs.data(), 3, {.bytes = 3}), {.buckets = 2}); }).wanted,
            "keys of 1, 2, 4 or 8 bytes");
}

// Tokens to experts and back: with weights of 1/k a row comes back as it was.
TEST(CpuRouting, RowsComeBackFromTheirBuckets) {
  std::mt19937_64 random(2);
  constexpr std::uint64_t kTokens = 500;
  constexpr std::uint64_t kKeys = 4;
  constexpr std::uint64_t kElements = 33;
  std::vector<std::int32_t> keys(kTokens * kKeys);
  for (auto& key : keys) key = static_cast<std::int32_t>(random() % 16);
  std::vector<float> in(kTokens * kElements);
  for (float& x : in) x = static_cast<float>(random() % 1000);
  const Route made =
      route(RowNumbers(std::span(keys)), {.buckets = 16, .keys_per_row = kKeys, .multiple = 8});
  const std::vector<std::int64_t> from = made.taken_rows();
  std::vector<float> sent(from.size() * kElements, -1);
  plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = kTokens, .fill = Fill::zero()},
            {.row_bytes = kElements * sizeof(float)})
      .run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(sent)));
  for (std::size_t place = 0; place < from.size(); ++place) {
    for (std::uint64_t i = 0; i < kElements; ++i)
      ASSERT_EQ(sent[place * kElements + i],
                from[place] < 0 ? 0.0F : in[static_cast<std::uint64_t>(from[place]) * kElements + i]);
  }
  const std::vector<float> weights(keys.size(), 1.0F / kKeys);
  std::vector<float> back(in.size());
  combine({.places = RowNumbers(std::span(made.places)),
           .rows = from.size(),
           .keys_per_row = kKeys,
           .weights = weights},
          kElements * sizeof(float), std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, in);
}

TEST(CpuRouting, CombineIsItsDefinition) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0, 2);
  constexpr std::uint64_t kRows = 40;
  constexpr std::uint64_t kElements = 70;
  constexpr std::uint64_t kKeys = 3;
  constexpr std::uint64_t kOut = 400;
  std::vector<std::int32_t> places(kOut * kKeys);
  for (auto& place : places) place = static_cast<std::int32_t>(random() % (kRows + 4)) - 4;
  for (auto& place : places) place = std::max(place, -1);
  std::vector<float> weights(places.size());
  for (float& weight : weights) weight = normal(random);
  std::vector<kernels::BrainHalf> in(kRows * kElements);
  for (auto& x : in) kernels::round_to(normal(random), x);
  for (const Sums sums : {Sums::usual, Sums::fp32, Sums::fp64}) {
    std::vector<kernels::BrainHalf> expected(kOut * kElements);
    for (std::uint64_t t = 0; t < kOut; ++t) {
      for (std::uint64_t e = 0; e < kElements; ++e) {
        float narrow = 0;
        double wide = 0;
        for (std::uint64_t j = 0; j < kKeys; ++j) {
          const std::int32_t place = places[t * kKeys + j];
          if (place < 0) continue;
          const float x = kernels::to_float(in[static_cast<std::uint64_t>(place) * kElements + e]);
          const float product = weights[t * kKeys + j] * x;
          narrow += product;
          wide += static_cast<double>(weights[t * kKeys + j]) * static_cast<double>(x);
        }
        if (sums == Sums::fp64)
          kernels::round_to(wide, expected[t * kElements + e]);
        else
          kernels::round_to(narrow, expected[t * kElements + e]);
      }
    }
    for (const int threads : {1, 3}) {
      std::vector<kernels::BrainHalf> out(expected.size());
      combine({.places = RowNumbers(std::span(places)),
               .rows = kRows,
               .keys_per_row = kKeys,
               .weights = weights,
               .number = Number::bf16,
               .sums = sums},
              kElements * 2, std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), threads);
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * 2), 0) << name(sums);
    }
  }
}

TEST(CpuRouting, SegmentsAreTakenWhole) {
  std::mt19937_64 random(4);
  for (const std::uint64_t width : {1, 4, 24}) {
    std::vector<std::uint64_t> offsets{0};
    for (int i = 0; i < 300; ++i)
      offsets.push_back(offsets.back() + (random() % 3 == 0 ? 0 : random() % 2000));
    std::vector<std::byte> in(offsets.back() * width + 5);
    for (auto& b : in) b = static_cast<std::byte>(random());
    std::vector<std::int32_t> from(400);
    for (auto& segment : from) segment = static_cast<std::int32_t>(random() % 300);
    const Segments segments{.offsets = RowNumbers(std::span(offsets)), .element_bytes = width};
    const auto to = taken_offsets(segments, RowNumbers(std::span(from)));
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(to[i] * width, expected.size());
      const auto segment = static_cast<std::size_t>(from[i]);
      expected.insert(expected.end(), in.begin() + static_cast<std::ptrdiff_t>(offsets[segment] * width),
                      in.begin() + static_cast<std::ptrdiff_t>(offsets[segment + 1] * width));
    }
    for (const int threads : {1, 2, 5}) {
      std::vector<std::byte> out(expected.size());
      take_segments(segments, RowNumbers(std::span(from)), in, out, threads);
      EXPECT_TRUE(out == expected) << width << " bytes, " << threads << " threads";
      // By a plan, which reads the lists once; with room that stays as it was.
      std::vector<std::int32_t> numbers = from;
      const ExecutableSegments plan =
          plan_segments(segments, RowNumbers(std::span(numbers)), {.threads = threads});
      EXPECT_EQ(plan.elements() * width, expected.size());
      EXPECT_FALSE(plan.on_gpu());
      numbers.assign(numbers.size(), -7);
      std::vector<std::byte> wide(expected.size() + 3 * width, std::byte{5});
      std::vector<std::int64_t> told(from.size() + 1);
      const std::span whole(std::as_const(in));
      plan.run(whole.first(in.size() - in.size() % width), wide, told.data());
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), wide.begin()));
      EXPECT_TRUE(std::all_of(wide.end() - static_cast<std::ptrdiff_t>(3 * width), wide.end(),
                              [](std::byte b) { return b == std::byte{5}; }));
      EXPECT_TRUE(std::equal(to.begin(), to.end(), told.begin(), [](std::uint64_t a, std::int64_t b) {
        return a == static_cast<std::uint64_t>(b);
      }));
      EXPECT_EQ(code_of([&] { plan.run(whole.first(width), wide); }), ErrorCode::value);
      EXPECT_EQ(code_of([&] {
                  plan.run(whole.first(in.size() - in.size() % width),
                           std::span(wide).first(expected.size() - width));
                }),
                ErrorCode::value);
      EXPECT_EQ(code_of([&] {
                  plan.run(whole.first(in.size() - in.size() % width), wide, nullptr,
                           {.data = wide.data(), .bytes = 16}, {});
                }),
                ErrorCode::value);
    }
  }
  // None at all, and none but empty ones.
  const std::vector<std::uint32_t> empty{3, 3, 3};
  const std::vector<std::uint32_t> both{1, 0};
  EXPECT_NO_THROW(take_segments({.offsets = RowNumbers(std::span(empty))}, RowNumbers(std::span(both)),
                                std::vector<std::byte>(3), {}));
}

TEST(CpuRouting, RefusesWhatMakesNoSense) {
  const std::vector<std::int32_t> keys{0, 3, -2};
  const RowNumbers numbers{std::span(keys)};
  EXPECT_EQ(report_of([&] { route(numbers, {.buckets = 3}); }).got, "key 3 at position 1");
  EXPECT_EQ(report_of([&] { route(numbers, {.buckets = 4}); }).got, "key -2 at position 2");
  for (const RouteOptions& options :
       {RouteOptions{}, RouteOptions{.buckets = 9, .keys_per_row = 2},
        RouteOptions{.buckets = 9, .keys_per_row = 0}, RouteOptions{.buckets = 9, .multiple = 0}})
    EXPECT_EQ(code_of([&] { route(numbers, options); }), ErrorCode::value);
  const std::vector<std::uint32_t> down{0, 5, 4};
  const std::vector<std::uint32_t> past{2};
  EXPECT_EQ(
      code_of([&] { taken_offsets({.offsets = RowNumbers(std::span(down))}, RowNumbers(std::span(past))); }),
      ErrorCode::value);
  const std::vector<std::uint32_t> up{0, 5, 6};
  EXPECT_EQ(
      code_of([&] { taken_offsets({.offsets = RowNumbers(std::span(up))}, RowNumbers(std::span(past))); }),
      ErrorCode::value);
  std::vector<std::byte> array(64);
  const std::span<std::byte> all(array);
  const std::vector<std::int32_t> places{0, 1, -1, 1};
  const Combine of{.places = RowNumbers(std::span(places)), .rows = 2, .keys_per_row = 2};
  EXPECT_NO_THROW(combine(of, 8, all.first(16), all.subspan(32, 16)));
  EXPECT_EQ(code_of([&] { combine(of, 8, all.first(16), all.subspan(8, 16)); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { combine(of, 8, all.first(8), all.subspan(32, 16)); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { combine(of, 6, all.first(12), all.subspan(32, 12)); }), ErrorCode::value);
  Combine low = of;
  low.rows = 1;
  EXPECT_EQ(code_of([&] { combine(low, 8, all.first(8), all.subspan(32, 16)); }), ErrorCode::value);
}

TEST(CpuRouting, DispatchIsTakingByRows) {
  std::mt19937_64 random(8);
  for (const std::uint64_t rows : {0, 1, 50, 9000}) {
    for (const std::uint64_t width : {1, 12, 200}) {
      std::vector<std::int64_t> keys(rows * 3);
      for (auto& key : keys) key = static_cast<std::int64_t>(random() % 8) - 1;
      const Route made = route(RowNumbers(std::span(keys)), {.buckets = 7, .keys_per_row = 3, .multiple = 4});
      const std::vector<std::int64_t> taken = made.taken_rows();
      std::vector<std::byte> in(rows * width);
      for (auto& byte : in) byte = static_cast<std::byte>(random());
      std::vector<std::byte> expected(taken.size() * width, std::byte{7});
      plan_rows(Take{.from = RowNumbers(std::span(taken)), .rows = rows, .fill = Fill::zero()},
                {.row_bytes = width})
          .run(in, expected);
      for (const int threads : {1, 3}) {
        std::vector<std::byte> out(expected.size(), std::byte{7});
        dispatch({.places = RowNumbers(std::span(made.places)),
                  .rows = taken.size(),
                  .keys_per_row = 3,
                  .taken = RowNumbers(std::span(taken))},
                 width, in, out, threads);
        ASSERT_EQ(out, expected) << rows << " rows of " << width << ", " << threads << " threads";
      }
    }
  }
}

TEST(CpuRouting, DispatchRefusesWhatDoesNotFit) {
  const std::vector<std::int64_t> places{2, 0, -1, 1};
  const std::vector<std::int64_t> twice{2, 0, 2, 1};
  const std::vector<std::int64_t> far{2, 0, 3, 1};
  std::vector<std::byte> memory(100);
  const std::span<std::byte> all(memory);
  const auto of = [](const std::vector<std::int64_t>& from) {
    return Dispatch{.places = RowNumbers(std::span(from)), .rows = 3, .keys_per_row = 2};
  };
  EXPECT_NO_THROW(dispatch(of(places), 8, all.first(16), all.subspan(32, 24)));
  const auto refused = [&](const Dispatch& what, std::uint64_t width, std::uint64_t in, std::uint64_t at,
                           std::uint64_t out) {
    const Error error = test::refusal([&] { dispatch(what, width, all.first(in), all.subspan(at, out)); });
    EXPECT_EQ(error.code(), ErrorCode::value);
    EXPECT_EQ(error.report().operation, "dispatch");
  };
  refused(of(twice), 8, 16, 32, 24);
  refused(of(far), 8, 16, 32, 24);
  refused(of(places), 8, 8, 32, 24);
  refused(of(places), 8, 16, 32, 16);
  refused(of(places), 8, 16, 8, 24);
  refused(of(places), 0, 0, 32, 0);
  Dispatch uneven = of(places);
  uneven.keys_per_row = 3;
  refused(uneven, 8, 16, 32, 24);
  Dispatch taken = of(places);
  taken.taken = RowNumbers(std::span(places));
  refused(taken, 8, 16, 32, 24);
}

}  // namespace cpu_routing_engine_test
