// Wirings are programs: meetings in place, then the wires read in order. And the drawings show them.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>

#include "faro/network/program.hpp"
#include "network/drawing.hpp"
#include "network/rewrite.hpp"
#include "network/text.hpp"
#include "network_program_support.hpp"
#include "text_search.hpp"

namespace faro::network {
namespace network_drawing_test {

using test::report_of;

using ::testing::HasSubstr;

std::vector<std::uint32_t> carried_out(const Wiring& wiring, std::vector<std::uint32_t> values) {
  for (const std::vector<Meeting>& stage : wiring.stages) {
    for (const Meeting& meeting : stage) {
      apply(meeting.op, kU32, &values[meeting.first], &values[meeting.second], meeting.p, meeting.k);
    }
  }
  std::vector<std::uint32_t> out;
  for (const std::uint64_t wire : wiring.wire_of) out.push_back(values[wire]);
  return out;
}

TEST(NetworkWiring, IsTheProgram) {
  std::mt19937_64 random(41);
  const std::vector<Operator> ops{witness(), operators::min_max(), operators::max_min()};
  for (int i = 0; i < 500; ++i) {
    const int n = static_cast<int>(random() % 7);
    const Program program = random_program(n, 5, ops, random);
    const std::vector<std::uint32_t> values = random_values(n, random());
    ASSERT_EQ(carried_out(wiring(program), values), interpret(program, kU32, values))
        << "--bits " << n << " '" << to_text(program) << "'";
    ASSERT_EQ(carried_out(wiring(rewrite(program).after), values), interpret(program, kU32, values));
  }
}

// Figure 13: a V of 16, two of 8, four of 4, neighbours.
TEST(NetworkWiring, TheBalancedMergerOf16) {
  const Wiring wires = wiring(merge(4));
  ASSERT_EQ(wires.stages.size(), 4U);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const std::uint64_t block = 16U >> stage;
    ASSERT_EQ(wires.stages[stage].size(), 8U);
    for (const Meeting& meeting : wires.stages[stage]) {
      EXPECT_LT(meeting.first, meeting.second);
      EXPECT_EQ(meeting.second, meeting.first ^ (block - 1));
    }
  }
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(wires.wire_of[i], i);
}

TEST(NetworkSvg, ShowsWiresMeetingsAndTables) {
  const std::string merger = svg(merge(4), "merge");
  EXPECT_EQ(test::occurrences(merger, "block-line\"/>"), 16U);
  EXPECT_EQ(test::occurrences(merger, "column-line\"/>"), 32U + 1U);  // and one of the legend
  EXPECT_THAT(merger, HasSubstr(">merge</text>"));
  EXPECT_EQ(test::occurrences(svg(pairs(operators::max_min(), 2)), "row-line\"/>"), 2U + 1U);
  const std::string table = svg(parm(6, identity(2)));
  EXPECT_THAT(table, HasSubstr("sub-array"));
  EXPECT_EQ(test::occurrences(table, "block-line\"/>"), 0U) << "nothing meets";
  // 8 cells of the array, 8 rows of the table: half of them in each sub-array, and the matrix's four ones.
  EXPECT_EQ(test::occurrences(table, "class=\"row\""), 8U);
  EXPECT_EQ(test::occurrences(table, "class=\"column\""), 8U + 4U);
  for (const LibraryEntry& entry : library()) {
    for (int n = 0; n <= kMostDrawnBits; ++n) EXPECT_THAT(svg(entry.make(n)), HasSubstr("</svg>"));
  }
  EXPECT_EQ(report_of([] { svg(sort(7)); }).code, ErrorCode::value);
}

// Knuth's: an arrow for every comparator, to the larger; besides, two of the legend.
TEST(NetworkSvg, ArrowsShowTheSecondOfEveryPair) {
  const std::string merger = svg(merge(4));
  EXPECT_EQ(test::occurrences(merger, "Z\" class=\"column\"/>"), 32U + 1U);
  EXPECT_EQ(test::occurrences(merger, "Z\" class=\"row\"/>"), 1U);
  const std::string bitonic = svg(parse_program("bitonic", 3));
  std::size_t down = 0;
  std::size_t up = 0;
  for (const std::vector<Meeting>& stage : wiring(parse_program("bitonic", 3)).stages) {
    for (const Meeting& meeting : stage)
      ++((meeting.first < meeting.second) != meeting.op.reversed ? down : up);
  }
  EXPECT_EQ(test::occurrences(bitonic, "Z\" class=\"column\"/>"), down + 1);
  EXPECT_EQ(test::occurrences(bitonic, "Z\" class=\"row\"/>"), up + 1);
}

TEST(NetworkSvg, DashedLinesPartPasses) {
  const auto lines = [](const std::string& drawn) { return test::occurrences(drawn, "class=\"write\"/>"); };
  EXPECT_EQ(lines(svg(merge(4))), 0U);
  EXPECT_EQ(lines(svg(merge(4), "merge", {4})), 0U) << "one pass has no boundary";
  EXPECT_EQ(lines(svg(merge(4), "merge", {2, 1, 1})), 2U + 1U) << "and one of the legend";
  EXPECT_THAT(svg(merge(4), "merge", {2, 1, 1}), HasSubstr("3 passes over memory"));
  EXPECT_EQ(lines(svg(merge(4), "merge", {2, 1})), 0U) << "of another program";
}

// What is wider than a page goes on below, with every wire again.
TEST(NetworkSvg, WideNetworksAreFolded) {
  const std::string wide = svg(sort(6));
  EXPECT_GT(test::occurrences(wide, ">goes on<"), 0U);
  EXPECT_EQ(test::occurrences(wide, "class=\"block-line\"/>"),
            64U * (test::occurrences(wide, ">goes on<") + 1));
  const std::size_t begin = wide.find("width=\"") + 7;
  EXPECT_LT(std::stod(wide.substr(begin)), 1100);
  EXPECT_EQ(test::occurrences(svg(sort(4)), ">goes on<"), 0U);
}

}  // namespace network_drawing_test
}  // namespace faro::network
