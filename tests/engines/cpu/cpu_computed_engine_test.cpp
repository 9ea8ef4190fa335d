// The CPU engine on computed maps, byte for byte against their definition, between guard zones.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "refusal.hpp"
#include "tell/counts/line_counts.hpp"

namespace faro {
namespace cpu_computed_engine_test {

using Bytes = std::vector<std::byte>;

void expect_permuted(const char* text, std::uint64_t width, std::uint64_t batch, int threads) {
  constexpr std::uint64_t kGuard = 65;
  const Permutation map = parse_permutation(text);
  const std::uint64_t count = element_count(map);
  std::mt19937_64 random(width);
  Bytes in(count * width * batch + 1);
  for (std::byte& byte : in) byte = static_cast<std::byte>(random());
  Bytes out(count * width * batch + 2 * kGuard, std::byte{0xa5});
  Bytes expected = out;
  for (std::uint64_t b = 0; b < batch; ++b) {
    for (std::uint64_t x = 0; x < count; ++x)
      std::memcpy(expected.data() + kGuard + (b * count + apply(map, x)) * width,
                  in.data() + 1 + (b * count + x) * width, width);
  }
  const Problem problem{.permutation = map, .element_bytes = width, .batch = batch};
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = threads});
  ASSERT_NE(plan.plan().way(), nullptr) << text;
  EXPECT_EQ(plan.plan().way()->method, IndexMethod::computed) << text;
  plan.run(in.data() + 1, out.data() + kGuard, count * width * batch);
  ASSERT_TRUE(out == expected) << text << ", " << width << " bytes, " << batch << " arrays, " << threads
                               << " threads";
}

TEST(CpuComputed, EveryShapeAndWidth) {
  for (const char* const text :
       {"hilbert(2, 2)", "hilbert(2, 7)", "inverse(hilbert(2, 7))", "hilbert(3, 4)", "inverse(hilbert(3, 3))",
        "hilbert(4, 3)", "hilbert(5, 2)", "inverse(hilbert(6, 2))", "healpix(1)", "healpix(2)", "healpix(5)",
        "inverse(healpix(1))", "inverse(healpix(5))"}) {
    for (const std::uint64_t width : {1, 2, 3, 4, 8, 12, 16, 100}) {
      expect_permuted(text, width, 1, 2);
      expect_permuted(text, width, 3, 3);
    }
  }
  expect_permuted("healpix(1)", 4096, 2, 2);
  expect_permuted("hilbert(2, 2)", 4096, 2, 2);
}

TEST(CpuComputed, LargeOnesInSeveralTiles) {
  for (const char* const text : {"hilbert(2, 10)", "inverse(hilbert(2, 10))", "hilbert(3, 7)",
                                 "inverse(hilbert(3, 7))", "healpix(8)", "inverse(healpix(8))"}) {
    for (const std::uint64_t width : {1, 4, 8}) expect_permuted(text, width, 1, 2);
  }
  expect_permuted("hilbert(2, 11)", 4, 1, 1);  // larger than what other passes write through the caches
}

TEST(CpuComputed, IsExplainedWithoutItsElements) {
  for (const char* const text :
       {"hilbert(2, 20)", "healpix(17)", "inverse(hilbert(5, 8))", "inverse(healpix(17))"}) {
    const Problem problem{.permutation = parse_permutation(text), .element_bytes = 4};
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = 2});
    const std::string told = plan.plan().explain();
    EXPECT_NE(told.find(text), std::string::npos) << told;
    EXPECT_NE(told.find("computed"), std::string::npos) << told;
    const auto json = plan.plan().explain_json();
    EXPECT_NE(json.find("\"method\": \"computed\""), std::string::npos) << json;
    EXPECT_LT(plan.workspace_bytes(), std::uint64_t{1} << 20);
  }
}

TEST(CpuComputed, RunsAreCounted) {
  const Problem problem{.permutation = parse_permutation("hilbert(2, 10)"), .element_bytes = 4};
  const Plan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = 1}).plan();
  const auto counts = detail::count_lines(plan, 0);
  ASSERT_TRUE(counts);
  EXPECT_FALSE(counts->bounded);
  // Rows of a tile are whole lines of the input, and a tile is some of the output.
  EXPECT_EQ(counts->read.lines, (std::uint64_t{4} << 20) / 64);
  EXPECT_EQ(counts->written.lines, counts->read.lines);
}

TEST(CpuComputed, InPlaceIsRefusedByName) {
  const Problem problem{.permutation = parse_permutation("hilbert(2, 5)"),
                        .element_bytes = 4,
                        .placement = Placement::in_place};
  const ErrorReport report = test::report_of([&] { faro::plan(problem, {.engine = Engine::cpu}); });
  EXPECT_EQ(report.code, ErrorCode::unsupported);
  EXPECT_NE(report.got.find("hilbert(2, 5) in place"), std::string::npos) << report.got;
}

TEST(CpuComputed, NoOtherMethodTakesIt) {
  PlanOptions options{.engine = Engine::cpu};
  options.index_choice.method = IndexMethod::direct;
  const Problem problem{.permutation = parse_permutation("healpix(4)"), .element_bytes = 4};
  EXPECT_EQ(test::code_of([&] { faro::plan(problem, options); }), ErrorCode::unsupported);
}

}  // namespace cpu_computed_engine_test
}  // namespace faro
