// The examples: that their sketches are well-formed, what is known of them is accepted, and what is wrong is
// not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "faro/swizzle/examples.hpp"
#include "refusal.hpp"
#include "swizzle_accesses.hpp"

namespace faro::swizzle {
namespace swizzle_examples_test {

using ::testing::HasSubstr;

struct Case {
  std::string name;
  ExampleOptions options;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::int64_t warp : {3, 4, 8, 32})
    for (const char* name : {"stencil-1d", "conv-1d", "poly-32", "poly-64", "load-only"})
      result.push_back({name, {.warp = warp}});
  for (const std::int64_t warp : {16, 20, 32, 64})
    for (const std::int64_t words : {3, 7})
      result.push_back({"conv-2d", {.struct_words = words, .warp = warp}});
  for (const char* name : {"aos-sum", "aos-crc", "aos-rcr"}) {
    for (std::int64_t words = 1; words <= 12; ++words)
      result.push_back({name, {.struct_words = words, .warp = 32}});
    for (const std::int64_t warp : {1, 5, 12, 16, 64})
      for (const std::int64_t words : {1, 6, 9, 16})
        result.push_back({name, {.struct_words = words, .warp = warp}});
  }
  return result;
}

std::string text(const Case& c) {
  return c.name + " --struct " + std::to_string(c.options.struct_words) + " --warp " +
         std::to_string(c.options.warp);
}

TEST(Examples, KnownSolutionsAreAccepted) {
  std::size_t published = 0;
  for (const Case& c : cases()) {
    SCOPED_TRACE(text(c));
    const Example example = make_example(c.name, c.options);
    EXPECT_EQ(example.name, c.name);
    EXPECT_NO_THROW(check(example.sketch));
    EXPECT_FALSE(example.known.empty());
    for (const KnownSolution& known : example.known) {
      published += known.source.starts_with("published") ? 1U : 0U;
      const auto mismatch = first_mismatch(example.specification, example.sketch, known.valuation);
      EXPECT_FALSE(mismatch) << known.source << ": " << mismatch->text;
    }
  }
  EXPECT_GE(published, 20U);
}

std::string refusal(const std::function<void()>& call) {
  return test::message_of(ErrorCode::unsupported, call);
}

// Refused before a search is what every known solution is refused for.
TEST(Examples, EmissionIsRefusedWhereNoKnownSolutionCanBeEmitted) {
  std::vector<Case> all = cases();
  all.push_back({"aos-crc", {.struct_words = 3, .warp = 1}});
  all.push_back({"aos-sum", {.struct_words = 1, .warp = 12}});
  std::size_t emitted = 0, refused = 0;
  for (const Case& c : all) {
    SCOPED_TRACE(text(c));
    const Example example = make_example(c.name, c.options);
    for (const std::uint32_t batch : {0U, 1U, 2U, 64U}) {
      const EmissionOptions options{.batch = batch};
      const std::string before = refusal([&] { require_emittable(example, options); });
      std::set<std::string> after;
      for (const KnownSolution& known : example.known)
        after.insert(refusal([&] { emit(example.sketch, known.valuation, options); }));
      EXPECT_TRUE(after.contains(before)) << batch << ": " << before;
      EXPECT_EQ(after.contains("no error"), before == "no error") << batch;
      ++(before == "no error" ? emitted : refused);
    }
  }
  EXPECT_GT(emitted, 120U);
  EXPECT_GT(refused, 40U);
  EXPECT_THAT(refusal([] { require_emittable(make_example("poly-64", {}), {.batch = 33}); }),
              HasSubstr("1024 threads"));
  EXPECT_THAT(refusal([] { require_emittable(make_example("transpose", {}), {.batch = 2}); }),
              HasSubstr("2 problems a block"));
  EXPECT_NO_THROW(require_emittable(make_example("transpose", {}), {.batch = 1}));
  EXPECT_NO_THROW(require_emittable(make_example("transpose", {.warp = 12}), {}));
}

TEST(Examples, TransposesHaveNoHoles) {
  for (const std::int64_t side : {2, 3, 5, 7, 9, 31, 33, 65}) {
    for (const std::int64_t warp : {4, 32}) {
      if (side > 33 && warp == 4) continue;
      const Example example = make_example("transpose", {.struct_words = side, .warp = warp});
      EXPECT_TRUE(example.sketch.holes().empty());
      const auto mismatch = first_mismatch(example.specification, example.sketch, Valuation(example.sketch));
      EXPECT_FALSE(mismatch) << side << " " << warp << ": " << mismatch->text;
    }
  }
}

// Counts all accesses to shared memory, in words of 32 banks.
struct TileAccesses {
  std::size_t loads = 0, stores = 0;
  std::uint32_t congestion = 0;  // the most words of one access in one bank
};

TileAccesses tile_accesses(const Example& example) {
  constexpr std::uint32_t kWordBytes = 4;
  machine::TurnCounter banks(32);
  TileAccesses result;
  for (std::int64_t block = 0; block < example.sketch.launch().blocks; ++block) {
    const machine::Trace trace = accesses(example.sketch, Valuation(example.sketch), block, kWordBytes);
    for (const machine::TraceAccess& access : trace.accesses) {
      if (access.space != machine::TraceSpace::shared) continue;
      ++(access.operation == machine::TraceOperation::load ? result.loads : result.stores);
      std::vector<std::uint64_t> words;
      for (const std::uint64_t byte : trace.lanes_of(access))
        if (byte != machine::kIdleLane) words.push_back(byte / kWordBytes);
      result.congestion = std::max(result.congestion, banks.by_bank(words));
    }
  }
  return result;
}

// A tile is the largest power of two below the side, 32 at most, and a column more. Of 32 rows each access is
// one row or column: without conflicts. Of 16 and 8 it is several, which lie in two rounds of the banks; of 4
// and 2 the tile has fewer words than there are banks.
TEST(Examples, TilesOfAsManyRowsAsBanksHaveNoConflictsAndSmallerOnesTwoWayOnes) {
  for (const std::int64_t side : {3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 34, 48, 63, 64, 65, 129}) {
    SCOPED_TRACE(side);
    const TileAccesses tile = tile_accesses(make_example("transpose", {.struct_words = side, .warp = 32}));
    const bool crosses = side > 8 && side <= 32;
    EXPECT_EQ(tile.congestion, crosses ? 2U : 1U);
    EXPECT_GT(tile.loads, 0U);
    EXPECT_EQ(tile.loads, tile.stores);
  }
}

TEST(Examples, WrongFunctionsAreRefused) {
  const Example stencil = make_example("stencil-1d", {});
  Valuation wrong = stencil.known.front().valuation;
  ConditionParameters below;
  below.v1 = 1;
  below.v2 = 0;
  below.comparison = Comparison::less;
  wrong.set("index", PartParameters{.conditions = {below}});
  ASSERT_TRUE(first_mismatch(stencil.specification, stencil.sketch, wrong));

  const Example poly = make_example("poly-64", {.warp = 4});
  for (const HoleDeclaration& hole : poly.sketch.holes()) {
    if (hole.kind != HoleKind::condition) continue;
    Valuation other = poly.known.front().valuation;
    ConditionParameters literal;
    const auto table = other.table(static_cast<int>(&hole - poly.sketch.holes().data()));
    literal.literal = table.front() == 0;
    other.set(hole.name, literal);
    EXPECT_TRUE(first_mismatch(poly.specification, poly.sketch, other)) << hole.name;
  }
}

TEST(Examples, CostsOfThePolynomialProducts) {
  const Example poly = make_example("poly-64", {});
  ASSERT_EQ(poly.known.size(), 2U);
  EXPECT_EQ(cost_of(poly.sketch, poly.known[0].valuation).live_accumulates, 6);
  EXPECT_EQ(cost_of(poly.sketch, poly.known[1].valuation).live_accumulates, 8);
  const Example rows = make_example("aos-rcr", {.struct_words = 6});
  EXPECT_EQ(cost_of(rows.sketch, rows.known.back().valuation).shuffles, 0);
  const Example columns = make_example("aos-crc", {.struct_words = 6});
  EXPECT_GT(cost_of(columns.sketch, columns.known.back().valuation).shuffles, 0);
}

TEST(Examples, TheMissingConstantIsKnownToTheHole) {
  EXPECT_TRUE(conv_2d_with_constants({}, {}).sketch.holes().back().constants.empty());
  EXPECT_EQ(conv_2d({}).sketch.holes().back().constants, (std::vector<std::int64_t>{4}));
}

TEST(Examples, AreListedInOrder) {
  std::string names;
  for (const ExampleName& entry : example_names()) names += std::string(entry.name) + " ";
  EXPECT_EQ(names, "stencil-1d conv-1d conv-2d poly-32 poly-64 load-only aos-sum aos-crc aos-rcr transpose ");
  for (const ExampleName& entry : example_names()) {
    const Example example = make_example(entry.name, {});
    EXPECT_EQ(example.struct_words.value_or(0), entry.default_words);
    EXPECT_FALSE(example.summary.empty());
  }
}

TEST(Examples, Refusals) {
  struct Refusal {
    Case of;
    std::string part;
  };
  const std::vector<Refusal> table{
      {{"aos-cr", {}}, "did you mean `aos-crc`?"},
      {{"", {}}, "faro synth --list"},
      {{"stencil-1d", {.struct_words = 3}}, "no structs"},
      {{"poly-64", {.struct_words = 3}}, "no structs"},
      {{"poly-32", {.warp = 0}}, "warp of 0"},
      {{"stencil-1d", {.warp = 2}}, "3 to 64"},
      {{"conv-1d", {.warp = 2}}, "3 to 64"},
      {{"aos-crc", {.warp = 65}}, "1 to 64"},
      {{"aos-crc", {.struct_words = 65}}, "1 to 64"},
      {{"aos-crc", {.struct_words = -1}}, "-1"},
      {{"aos-rcr", {.warp = -32}}, "warp of -32"},
      {{"conv-2d", {.struct_words = 5}}, "3 or 7"},
      {{"conv-2d", {.warp = 8}}, "multiple of 4"},
      {{"conv-2d", {.warp = 18}}, "multiple of 4"},
      {{"transpose", {.struct_words = 1}}, "2 to 129"},
  };
  for (const Refusal& refusal : table) {
    SCOPED_TRACE(text(refusal.of));
    test::expect_refused(ErrorCode::value, refusal.part,
                         [&] { make_example(refusal.of.name, refusal.of.options); });
  }
}

}  // namespace swizzle_examples_test
}  // namespace faro::swizzle
