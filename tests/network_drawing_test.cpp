// Wirings are programs: meetings in place, then the wires read in order. And the drawings show them.
#include <gmock/gmock.h>

#include "faro/network/library.hpp"
#include "network/drawing.hpp"
#include "network/rewrite.hpp"
#include "network_program_support.hpp"

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
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const std::string merger = svg(merge(4), "merge");
  EXPECT_EQ(count(merger, "block-line\"/>"), 16U);
  EXPECT_EQ(count(merger, "column-line\"/>"), 32U);
  EXPECT_THAT(merger, HasSubstr(">merge</text>"));
  EXPECT_EQ(count(svg(pairs(operators::max_min(), 2)), "row-line\"/>"), 2U);
  const std::string table = svg(parm(6, identity(2)));
  EXPECT_THAT(table, HasSubstr("sub-array"));
  EXPECT_EQ(count(table, "block-line\"/>"), 0U) << "nothing meets";
  // 8 cells of the array, 8 rows of the table: half of them in each sub-array, and the matrix's four ones.
  EXPECT_EQ(count(table, "class=\"row\""), 8U);
  EXPECT_EQ(count(table, "class=\"column\""), 8U + 4U);
  for (const LibraryEntry& entry : library()) {
    for (int n = 0; n <= kMostDrawnBits; ++n) EXPECT_THAT(svg(entry.make(n)), HasSubstr("</svg>"));
  }
  EXPECT_EQ(report_of([] { svg(sort(7)); }).code, ErrorCode::value);
}

}  // namespace network_drawing_test
}  // namespace faro::network
