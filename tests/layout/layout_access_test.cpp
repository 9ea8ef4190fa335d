// The adviser's input: recorded traces, and every impossible request by its name.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "faro/error.hpp"
#include "layout_support.hpp"
#include "refusal.hpp"

namespace faro::layout {
namespace layout_access_test {

class LayoutTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "faro-layout-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string trace(const std::string& text) const {
    std::ofstream(directory_ / "trace.txt") << text;
    return "@" + (directory_ / "trace.txt").string();
  }

  std::filesystem::path directory_;
};

TEST_F(LayoutTrace, RandomAccessesGetRap) {
  std::mt19937_64 random(11);
  std::string text = "# a histogram\n";
  for (int warp = 0; warp < 200; ++warp) {
    for (int lane = 0; lane < 32; ++lane) text += std::to_string(random() % 1024) + " ";
    text += "\n";
  }
  const AdviceRequest request = request_of(32, 32, 4, "row," + trace(text));
  const Advice advice = advise(request);
  EXPECT_EQ(advice.chosen().placement.name(), "RAP");
  EXPECT_NE(advice.reason.find("next run"), std::string::npos);
  for (const Candidate& candidate : advice.candidates) expect_sound(candidate, request);
  EXPECT_EQ(advise(request_of(64, 32, 4, trace(text))).chosen().placement.name(), "3P");
}

TEST_F(LayoutTrace, IdleLanesAndShortLines) {
  const AdviceRequest request = request_of(4, 32, 4, trace("0 - 32 64\n\n- -\n96, 0x20 5\n"));
  ASSERT_EQ(request.accesses.size(), 1U);
  const AccessSet& set = request.accesses.front();
  EXPECT_EQ(set.warps.size(), 3U);
  const Advice advice = advise(request);
  EXPECT_EQ(advice.candidates.front().costs.front().worst, 3U);
  EXPECT_EQ(advice.candidates.front().costs.front().wavefronts, (3 + 0 + 2) / 3.0);
  for (const Candidate& candidate : advice.candidates) expect_sound(candidate, request);
}

TEST_F(LayoutTrace, AFreeTraceIsLeftAlone) {
  EXPECT_EQ(advise(request_of(4, 32, 4, trace("5 9 3 64\n"))).chosen().placement.name(), "RAW");
}

struct Refused {
  std::string accesses;
  std::string part;
};

void expect_refused(std::uint64_t rows, std::uint64_t columns, std::uint64_t bytes, const Refused& refused,
                    ErrorCode code = ErrorCode::value) {
  SCOPED_TRACE(refused.accesses + " of " + std::to_string(rows) + " x " + std::to_string(columns));
  test::expect_refused(code, refused.part,
                       [&] { advise(request_of(rows, columns, bytes, refused.accesses)); });
}

TEST_F(LayoutTrace, FaultsAreNamed) {
  expect_refused(4, 8, 4, {trace("1 2 3\n# no access\n4 32 5\n"), "line 3: got element 32, wanted below 32"});
  std::string long_line;
  for (int lane = 0; lane < 33; ++lane) long_line += "1 ";
  expect_refused(4, 8, 4, {trace("1\n" + long_line), "line 2: got 33 lanes"});
  expect_refused(4, 8, 4, {trace("1 x\n"), "trace.txt:1"}, ErrorCode::file);
  expect_refused(4, 8, 4, {trace("# nothing\n"), "no access"}, ErrorCode::file);
  expect_refused(4, 8, 4, {"@" + (directory_ / "missing").string(), "missing"}, ErrorCode::file);
}

TEST(LayoutAccess, ImpossibleRequestsAreNamed) {
  expect_refused(0, 8, 4, {"row", "0 rows"});
  expect_refused(8, 0, 4, {"row", "0 elements"});
  for (const std::uint64_t bytes : {0U, 3U, 12U, 32U})
    expect_refused(8, 8, bytes, {"row", "1, 2, 4, 8 or 16"});
  expect_refused(1024, 1024, 4, {"row", "at most 232448 bytes"});
  expect_refused(~std::uint64_t{0}, ~std::uint64_t{0}, 16, {"row", "at most 232448 bytes"});
  expect_refused(32, 32, 4, {"colum", "did you mean `column`?"});
  expect_refused(32, 32, 4, {"zigzag", "stride(K)"});
  expect_refused(32, 32, 4, {"", "row, column"});
  expect_refused(32, 32, 4, {"row,", "row, column"});
  expect_refused(32, 32, 4, {"row(", "row or row(V)"});
  expect_refused(32, 32, 4, {"row(1, 2)", "row or row(V)"});
  expect_refused(32, 32, 4, {"row(-1)", "row or row(V)"});
  expect_refused(32, 32, 4, {"stride", "stride(K)"});
  expect_refused(32, 32, 4, {"stride()", "stride(K)"});
  expect_refused(32, 32, 4, {"stride(0)", "a stride of 0"});
  expect_refused(32, 32, 4, {"stride(1025)", "from 1 to 1024"});
  expect_refused(32, 32, 4, {"stride(99999999999999999999)", "stride(K)"});
  expect_refused(32, 32, 4, {"row(0)", "1, 2, 4, 8 or 16 elements"});
  expect_refused(32, 32, 4, {"row(3)", "1, 2, 4, 8 or 16 elements"});
  expect_refused(32, 32, 4, {"row(8)", "of at most 16 bytes"});
  expect_refused(32, 32, 4, {"row(4611686018427387904)", "of at most 16 bytes"});
  expect_refused(32, 34, 4, {"row(4)", "a multiple of the vector"});
  EXPECT_THROW(advise({.array = make_shared_array(4, 4, 4), .accesses = {}, .seed = 0}), Error);
}

// Thread n of 40, a warp of 32 and one of 8: 5 rows of 8.
TEST(LayoutAccess, WarpsByHand) {
  const SharedArray array = make_shared_array(5, 8, 4);
  const auto lanes = [](const AccessSet& set, std::size_t warp) {
    return std::vector<Index>(set.warps[warp].begin(), set.warps[warp].begin() + 7);
  };
  EXPECT_EQ(lanes(row_access(array), 0), (std::vector<Index>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(lanes(row_access(array), 1), (std::vector<Index>{32, 33, 34, 35, 36, 37, 38}));
  EXPECT_EQ(lanes(column_access(array), 0), (std::vector<Index>{0, 8, 16, 24, 32, 1, 9}));
  EXPECT_EQ(lanes(diagonal_access(array), 0), (std::vector<Index>{0, 9, 18, 27, 36, 1, 10}));
  EXPECT_EQ(lanes(stride_access(array, 3), 0), (std::vector<Index>{0, 3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(lanes(stride_access(array, 3), 1), (std::vector<Index>{1, 4, 7, 10, 13, 16, 19}));
  EXPECT_EQ(stride_access(array, 3).warps.size(), 3U);
  EXPECT_EQ(row_access(array).warps[1].size(), 8U);
  // Vectors of 4: two a row.
  const std::vector<Index> down{0, 8, 16, 24, 32, 4, 12, 20, 28, 36};
  EXPECT_EQ(column_access(array, 4).warps, (std::vector<std::vector<Index>>{down}));
  const std::vector<Index> skewed{0, 12, 16, 28, 32, 4, 8, 20, 24, 36};
  EXPECT_EQ(diagonal_access(array, 4).warps, (std::vector<std::vector<Index>>{skewed}));
  // Every vector once, whatever the access.
  for (const std::string text : {"row(2)", "column(2)", "diagonal(2)", "stride(7, 2)", "stride(20, 2)"}) {
    std::vector<Index> met;
    for (const auto& warp : parse_access(array, text).warps) met.insert(met.end(), warp.begin(), warp.end());
    std::sort(met.begin(), met.end());
    ASSERT_EQ(met.size(), 20U) << text;
    for (Index n = 0; n < 20; ++n) EXPECT_EQ(met[n], 2 * n) << text;
  }
}

}  // namespace layout_access_test
}  // namespace faro::layout
