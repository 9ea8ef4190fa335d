// Measured choice, and what is kept of it.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "faro/faro.hpp"
#include "faro/wisdom.hpp"
#include "io/npy.hpp"
#include "own_cache_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace plan_wisdom_test {

using test::report_of;
using ::testing::HasSubstr;

const PlanOptions kMeasured{.engine = Engine::cpu, .threads = 2, .measure = true};

std::size_t entries() {
  const std::string text = wisdom::to_json();
  std::size_t found = 0;
  for (std::size_t at = text.find("\"problem\""); at != std::string::npos;
       at = text.find("\"problem\"", at + 1))
    ++found;
  return found;
}

class Wisdom : public OwnCacheTest {};

void expect_moves(const Permutation& map) {
  const std::uint64_t count = element_count(map);
  std::vector<std::uint32_t> in(count);
  std::vector<std::uint32_t> out(count, ~std::uint32_t{0});
  std::vector<std::uint32_t> wanted(count);
  std::iota(in.begin(), in.end(), 0U);
  const Problem problem{.permutation = map, .element_bytes = sizeof(in[0])};
  const ExecutablePlan made = plan(problem, kMeasured);
  EXPECT_THAT(made.explain(), HasSubstr("measured choice"));
  made.run<std::uint32_t>(in, out);
  plan(problem, {.engine = Engine::cpu}).run<std::uint32_t>(in, wanted);
  EXPECT_EQ(out, wanted);
}

TEST_F(Wisdom, AMeasuredPlanMovesRightAndIsRemembered) {
  const Permutation maps[] = {maps::bit_reversal(14), maps::transpose_any(96, 100),
                              Axes({64, 64, 4}, {1, 0, 2}), Indexed::random(5000, 1)};
  std::size_t known = 0;
  for (const Permutation& map : maps) {
    expect_moves(map);
    EXPECT_EQ(entries(), ++known) << to_text(map).substr(0, 60);
    expect_moves(map);
    EXPECT_EQ(entries(), known);
  }
}

TEST_F(Wisdom, InPlaceAndViewsHaveEntriesOfTheirOwn) {
  const Problem problem{
      .permutation = maps::bit_reversal(12), .element_bytes = 8, .placement = Placement::in_place};
  const ExecutablePlan in_place = plan(problem, kMeasured);
  std::vector<std::uint64_t> data(std::size_t{1} << 12);
  std::iota(data.begin(), data.end(), std::uint64_t{0});
  std::vector<std::uint64_t> wanted = data;
  in_place.run<std::uint64_t>(std::span(data));
  plan(problem, {.engine = Engine::cpu}).run<std::uint64_t>(std::span(wanted));
  EXPECT_EQ(data, wanted);
  EXPECT_EQ(entries(), 1U);
  const Strided view{.extents = {100, 30}, .in_strides = {1, 128}, .out_strides = {30, 1}};
  static_cast<void>(plan(view, 4, kMeasured));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Wisdom, IsToldTakenAndForgotten) {
  EXPECT_EQ(wisdom::forget(), 0U);
  static_cast<void>(plan({.permutation = maps::bit_reversal(12), .element_bytes = 4}, kMeasured));
  const std::string told = wisdom::to_json();
  EXPECT_EQ(wisdom::merge(told, "itself"), 0U);
  EXPECT_EQ(wisdom::forget(), 1U);
  EXPECT_EQ(entries(), 0U);
  EXPECT_EQ(wisdom::merge(told, "before"), 1U);
  EXPECT_EQ(wisdom::to_json(), told);
}

TEST_F(Wisdom, OfTheSameProblemTheFasterStays) {
  const auto entry = [](const std::string& microseconds, const std::string& threads) {
    return R"({"schema": 1, "entries": [{"machine": "m", "version": "1", "problem": "p", "stores": "cached",
      "segment_bytes": 128, "tile_bytes": 0, "threads": )" +
           threads + R"(, "microseconds": )" + microseconds + "}]}";
  };
  EXPECT_EQ(wisdom::merge(entry("5.0", "1"), "a"), 1U);
  EXPECT_EQ(wisdom::merge(entry("6.0", "2"), "b"), 0U);
  EXPECT_THAT(wisdom::to_json(), HasSubstr("\"threads\": 1"));
  EXPECT_EQ(wisdom::merge(entry("4.0", "2"), "c"), 1U);
  EXPECT_THAT(wisdom::to_json(), HasSubstr("\"threads\": 2"));
}

TEST_F(Wisdom, TextsThatAreNoneAreRefusedAndChangeNothing) {
  const std::string good = R"("machine": "m", "version": "1", "problem": "p", )";
  const std::string texts[] = {
      "",
      "[]",
      "{}",
      R"({"schema": 2, "entries": []})",
      R"({"schema": 1, "entries": {}})",
      R"({"schema": 1, "entries": [3]})",
      R"({"schema": 1, "entries": [{)" + good +
          R"("stores": "elsewhere", "segment_bytes": 0, "tile_bytes": 0, "threads": 0, "microseconds": 1.0}]})",
      R"({"schema": 1, "entries": [{)" + good +
          R"("stores": "cached", "segment_bytes": 96, "tile_bytes": 0, "threads": 0, "microseconds": 1.0}]})",
      R"({"schema": 1, "entries": [{)" + good +
          R"("stores": "cached", "segment_bytes": 64, "tile_bytes": 0, "threads": -1, "microseconds": 1.0}]})",
      R"({"schema": 1, "entries": [{)" + good +
          R"("stores": "cached", "segment_bytes": 64, "tile_bytes": 0, "threads": 1, "microseconds": 0}]})",
      R"({"schema": 1, "entries": [{)" + good +
          R"("stores": "cached", "segment_bytes": 64, "tile_bytes": 0, "threads": 1, "microseconds": 1, "method": "no"}]})"};
  for (const std::string& text : texts) {
    const ErrorReport report = report_of([&] { wisdom::merge(text, "a file"); });
    EXPECT_EQ(report.code, ErrorCode::file) << text;
    EXPECT_THAT(report.remedy, HasSubstr("--export"));
    EXPECT_EQ(entries(), 0U);
  }
}

TEST_F(Wisdom, AFileThatIsNoneIsNamedWhereAPlanWouldReadIt) {
  ASSERT_TRUE(wisdom::path());
  std::filesystem::create_directories(wisdom::path()->parent_path());
  io::write_file(*wisdom::path(), "no wisdom");
  const auto make = [] {
    static_cast<void>(plan({.permutation = maps::gray(12), .element_bytes = 4}, kMeasured));
  };
  EXPECT_EQ(report_of(make).code, ErrorCode::file);
  EXPECT_EQ(wisdom::forget(), 0U);
  make();
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Wisdom, MeasuredChoiceBesideAMethodIsRefused) {
  PlanOptions options = kMeasured;
  options.index_choice.method = IndexMethod::direct;
  const auto make = [&] {
    static_cast<void>(plan({.permutation = Indexed::random(100, 1), .element_bytes = 4}, options));
  };
  EXPECT_EQ(report_of(make).code, ErrorCode::value);
}

}  // namespace plan_wisdom_test
}  // namespace faro::testing
