// `faro permute --in-place` and `faro recover` on files larger than memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_in_place_test {

using testing::content_of;
using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

TEST_F(LargeFiles, InPlaceIsWhatTwoFilesGive) {
  ASSERT_EQ(run("new 64x32x16 u4 in.npy").status, 0);
  for (const char* const arguments : {"bit_reversal", "'random_bmmc(15, 4)'", "transpose --batch 64",
                                      "'flip(32768)'", "'roll(77)'", "'axes(2 0 1)'", "'gray(6)' --rows"}) {
    ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0) << arguments;
    fs::copy_file(directory_ / "in.npy", directory_ / "b.npy");
    const Result result = run("permute " + std::string(arguments) + " b.npy --in-place --memory 20000");
    ASSERT_EQ(result.status, 0) << arguments << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_LE(result.err.size(), 81U) << result.err;
    EXPECT_THAT(result.err, HasSubstr("in place in ")) << arguments;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments;
    const auto shape_of = [&](const std::string& file) {
      return Json::parse(run("permute 'roll(0)' " + file + " d.npy --json").out)["shape"];
    };
    EXPECT_EQ(shape_of("a.npy"), shape_of("b.npy")) << arguments;
    fs::remove(directory_ / "b.npy");
    fs::remove(directory_ / "d.npy");
    EXPECT_EQ(files().size(), 2U);
  }
  const Result refused = run("permute transpose in.npy --in-place --memory 20000 --element-bytes 12");
  EXPECT_EQ(refused.status, 2) << refused.err;
}

// In Fortran order as it was, where that serves; else in C order afterwards.
TEST_F(LargeFiles, FortranFilesInPlace) {
  ASSERT_EQ(run("new 32x16x8 u4 c.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1 2)' c.npy in.npy --order F --quiet").status, 0);
  for (const char* const arguments :
       {"bit_reversal", "flip", "'roll(16, 3)' --axis 1", "'flip(32)' --rows", "'axes(2 0 1)'", "transpose",
        "'gray(12)'", "'bit_reversal(3)' --axis 2", "'random_bmmc(7, 1)' --batch 32"}) {
    const std::string words(arguments);
    ASSERT_EQ(run("permute " + words + " in.npy a.npy --quiet").status, 0) << words;
    fs::copy_file(directory_ / "in.npy", directory_ / "b.npy");
    const Result result = run("permute " + words + " b.npy --in-place --verify --memory 15000");
    ASSERT_EQ(result.status, 0) << words << result.err;
    // The transpose has the same bytes in C order.
    EXPECT_THAT(result.err, HasSubstr(words == "transpose" ? "nothing to move" : "in place in ")) << words;
    ASSERT_EQ(run("permute 'axes(0 1 2)' b.npy d.npy --order C --quiet").status, 0);
    EXPECT_EQ(content_of(directory_ / "a.npy"), content_of(directory_ / "d.npy")) << words;
    fs::remove(directory_ / "b.npy");
  }
  ASSERT_EQ(run("new 30x20 u4 c.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1)' c.npy in.npy --order F --quiet").status, 0);
  const Result refused = run("permute 'roll(5)' in.npy --in-place --memory 1000");
  EXPECT_EQ(refused.status, 3) << refused.err;
  EXPECT_EQ(lines_of(refused.err), 1) << refused.err;
  // The same bytes are the transpose in C order: the header changes, and nothing else.
  const std::string before = data_of("in.npy");
  ASSERT_EQ(run("permute transpose in.npy --in-place --memory 1000 --quiet").status, 0);
  EXPECT_EQ(data_of("in.npy"), before);
  ASSERT_EQ(run("permute transpose c.npy a.npy --quiet").status, 0);
  EXPECT_EQ(data_of("a.npy"), data_of("in.npy"));
  EXPECT_EQ(Json::parse(run("permute 'roll(0)' in.npy d.npy --json").out)["shape"], (Json{20, 30}));
}

TEST_F(LargeFiles, AWholeFileNeedsNoRecovery) {
  ASSERT_EQ(run("new 2^12 u4 in.npy").status, 0);
  const Result result = run("recover in.npy");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("is whole"));
  EXPECT_EQ(run("recover none.npy").status, 6);
}

}  // namespace cli_large_files_in_place_test
}  // namespace faro
