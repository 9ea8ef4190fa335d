// The drawing of a layout says what the addresses say: the bank of every cell, the turns of a phase.
#include "layout/layout_svg.hpp"

#include <gmock/gmock.h>

#include <regex>

#include "faro/layout/adviser.hpp"
#include "text_search.hpp"

namespace faro::layout {
namespace layout_svg_test {

using ::testing::HasSubstr;
using ::testing::Not;

Advice advice_for(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                  const std::string& accesses) {
  AdviceRequest request;
  request.array = make_shared_array(rows, columns, element_bytes);
  for (const std::string& access : split_accesses(accesses))
    request.accesses.push_back(parse_access(request.array, access));
  return advise(request);
}

struct Cell {
  Index row = 0;
  Index column = 0;
  Index bank = 0;
  Index place = 0;
  std::string fill;
};

// Every cell of both pictures, in the order of the file: first before, then after.
std::vector<Cell> cells_of(const std::string& svg) {
  static const std::regex cell(
      R"re(class="bank (bank\d+)"><title>row (\d+), column (\d+): bank (\d+), place (\d+)</title>)re");
  std::vector<Cell> cells;
  for (auto found = std::sregex_iterator(svg.begin(), svg.end(), cell); found != std::sregex_iterator();
       ++found) {
    const auto number = [&](std::size_t k) { return static_cast<Index>(std::stoul((*found)[k])); };
    cells.push_back({number(2), number(3), number(4), number(5), (*found)[1]});
  }
  return cells;
}

TEST(LayoutSvg, EveryCellHasTheBankOfItsAddress) {
  struct Case {
    std::uint64_t rows, columns, element_bytes;
    const char* accesses;
  };
  for (const Case& c :
       {Case{32, 32, 4, "row, column"}, Case{64, 64, 2, "row(8), column(8)"}, Case{8, 16, 8, "row, column"},
        Case{16, 128, 1, "row(16), column(4)"}, Case{30, 33, 4, "diagonal"}, Case{4, 8, 16, "row, column"}}) {
    const Advice advice = advice_for(c.rows, c.columns, c.element_bytes, c.accesses);
    const std::vector<Cell> cells = cells_of(layout_svg(advice));
    const auto drawn_rows = std::min<std::uint64_t>(c.rows, kMostDrawnRows);
    const auto drawn_columns = std::min<std::uint64_t>(c.columns, kMostDrawnColumns);
    ASSERT_EQ(cells.size(), 2 * drawn_rows * drawn_columns) << c.accesses;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const Placement& placement =
          k < cells.size() / 2 ? advice.candidates.front().placement : advice.chosen().placement;
      const Cell& cell = cells[k];
      ASSERT_EQ(cell.place, placement(cell.row, cell.column)) << c.accesses;
      ASSERT_EQ(cell.bank, cell.place * c.element_bytes / 4 % 32) << c.accesses;
      ASSERT_EQ(cell.fill, "bank" + std::to_string(cell.bank));
    }
  }
}

// A column of 32 floats is one bank, and every bank after the swizzle; a row is free of conflicts in both.
TEST(LayoutSvg, TurnsAreTheCongestionOfThePhases) {
  const Advice advice = advice_for(32, 32, 4, "row, column");
  const std::string svg = layout_svg(advice);
  ASSERT_EQ(advice.candidates.front().costs[1].worst, 32U);
  EXPECT_EQ(test::occurrences(svg, ">32 turns: lanes wait<"), 1U);
  EXPECT_EQ(test::occurrences(svg, ">1 turn: no conflict<"), 3U);
  EXPECT_EQ(test::occurrences(svg, "class=\"write\""), 1U + 2U * 32U) << "the first access, and its legend";
  EXPECT_EQ(test::occurrences(svg, "class=\"read\""), 1U + 2U * 32U);
  for (const char* accesses : {"stride(2), stride(3)", "column(4), diagonal", "row"}) {
    const Advice other = advice_for(32, 64, 4, accesses);
    const std::string drawn = layout_svg(other);
    for (const AccessCost& cost : other.candidates.front().costs) {
      EXPECT_THAT(drawn,
                  HasSubstr(cost.worst <= 1 ? std::string(">1 turn: no conflict<")
                                            : ">" + std::to_string(cost.worst) + " turns: lanes wait<"))
          << accesses;
    }
  }
}

TEST(LayoutSvg, SaysWhatItLeavesOut) {
  EXPECT_THAT(layout_svg(advice_for(64, 64, 4, "row, column")),
              HasSubstr("The first 32 rows and 64 columns are drawn."));
  EXPECT_THAT(layout_svg(advice_for(64, 64, 4, "row, column")), HasSubstr("The colour of a cell says"));
  EXPECT_THAT(layout_svg(advice_for(32, 32, 4, "row")), Not(HasSubstr("are drawn.")));
  EXPECT_THAT(layout_svg(advice_for(16, 16, 4, "row")), HasSubstr("The colour and number of a cell say"));
  EXPECT_THAT(layout_svg(advice_for(32, 32, 4, "row")),
              HasSubstr("After: the same, nothing is left to gain"));
  EXPECT_THAT(layout_svg(advice_for(1, 1, 4, "row")), HasSubstr("1 x 1 elements of 4 bytes"));
}

}  // namespace layout_svg_test
}  // namespace faro::layout
