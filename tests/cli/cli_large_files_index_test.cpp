// `faro shuffle` and `faro permute @index.npy` of files and index arrays larger than memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_index_test {

using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

TEST_F(LargeFiles, ShufflesAndIndexFiles) {
  ASSERT_EQ(run("new 1000x6 u2 in.npy").status, 0);
  ASSERT_EQ(run("shuffle in.npy a.npy --seed 3 --rows --quiet").status, 0);
  ASSERT_EQ(run("shuffle in.npy b.npy --seed 3 --rows --memory 5000 --threads 3 --quiet").status, 0);
  EXPECT_EQ(data_of("a.npy"), data_of("b.npy"));
  EXPECT_NE(data_of("a.npy"), data_of("in.npy"));
  ASSERT_EQ(run("shuffle a.npy b.npy --seed 3 --rows --inverse --quiet").status, 0);
  EXPECT_EQ(data_of("b.npy"), data_of("in.npy"));
  ASSERT_EQ(run("shuffle in.npy b.npy --seed 4 --rows --quiet").status, 0);
  EXPECT_NE(data_of("a.npy"), data_of("b.npy"));
  EXPECT_EQ(run("shuffle in.npy b.npy --seed x").status, 2);
  EXPECT_EQ(run("shuffle in.npy in.npy --seed 1").status, 2);

  // An index array of the rows: the shuffled numbers of rows.
  ASSERT_EQ(run("new 1000 u4 numbers.npy").status, 0);
  ASSERT_EQ(run("shuffle numbers.npy index.npy --seed 9 --quiet").status, 0);
  ASSERT_EQ(run("permute @index.npy in.npy a.npy --rows --quiet").status, 0);
  const Result by_file = run("permute @index.npy in.npy b.npy --rows --memory 9000");
  ASSERT_EQ(by_file.status, 0) << by_file.err;
  EXPECT_THAT(by_file.err, HasSubstr("a distribution and a sweep"));
  EXPECT_EQ(data_of("a.npy"), data_of("b.npy"));
  // Index arrays of either direction, along an axis, read whole and as they are needed.
  ASSERT_EQ(run("new 3x1000x2 u2 batch.npy").status, 0);
  for (const char* const direction : {"", "--gather", "--inverse", "--gather --inverse"}) {
    for (const char* const words : {"batch.npy --axis 1", "in.npy --rows"}) {
      const std::string file(words, std::strchr(words, ' '));
      const std::string rest = std::string(std::strchr(words, ' ')) + " " + direction;
      ASSERT_EQ(run("permute @index.npy " + file + " a.npy --quiet" + rest).status, 0) << rest;
      for (const char* const memory : {"14KiB", "20KiB"}) {
        const Result result = run("permute @index.npy " + file + " b.npy --verify --memory " + memory + rest);
        ASSERT_EQ(result.status, 0) << rest << result.err;
        EXPECT_TRUE(data_of("a.npy") == data_of("b.npy")) << rest << memory;
      }
    }
  }
}

// Index arrays of which a quarter of the memory does not hold one, with whatever goes together with them in
// memory.
TEST_F(LargeFiles, IndexFilesLargerThanMemoryWithAllOptions) {
  ASSERT_EQ(run("new 4x1000x6 u2 in.npy").status, 0);
  ASSERT_EQ(run("new 1000 u4 numbers.npy").status, 0);
  ASSERT_EQ(run("shuffle numbers.npy i.npy --seed 9 --quiet").status, 0);
  ASSERT_EQ(run("shuffle numbers.npy j.npy --seed 10 --quiet").status, 0);
  ASSERT_EQ(run("new 24000 u4 numbers.npy").status, 0);
  ASSERT_EQ(run("shuffle numbers.npy all.npy --seed 11 --quiet").status, 0);
  for (const char* const arguments :
       {"@i.npy --axis 1", "@i.npy --axis -2 --inverse", "'gather(@i.npy)' --axis 1", "@all.npy",
        "@i.npy --batch 4 --element-bytes 12", "'compose(@i.npy, @j.npy)' --axis 1",
        "'compose(@i.npy, multiply(1000, 3))' --axis 1 --gather", "'power(@i.npy, -3)' --axis 1 --inverse",
        "'compose(roll(1000, 7), inverse(compose(@i.npy, @j.npy)))' --axis 1",
        "'compose(inverse(random(1000, 3)), @i.npy)' --axis 1"}) {
    const std::string words(arguments);
    ASSERT_EQ(run("permute " + words + " in.npy a.npy --quiet").status, 0) << words;
    const Result result = run("permute " + words + " in.npy b.npy --json --verify --memory " +
                              (words[1] == 'a' ? "40KiB" : "12KiB"));
    ASSERT_EQ(result.status, 0) << words << result.err;
    EXPECT_EQ(Json::parse(result.out)["sweeps"], 2) << words;
    EXPECT_EQ(Json::parse(result.out)["verified"], true) << words;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << words;
    EXPECT_EQ(files().size(), 7U) << words;
  }
  const Result wrong = run("permute @i.npy in.npy b.npy --memory 12KiB --axis 0");
  EXPECT_EQ(wrong.status, 2) << wrong.err;
  EXPECT_EQ(lines_of(wrong.err), 1) << wrong.err;
  // What is neither a file nor drawn has to fit beside the data: the way is told.
  const Result inside =
      run("permute 'compose(@i.npy, good_thomas(8, 125))' in.npy b.npy --memory 12KiB --axis 1");
  EXPECT_EQ(inside.status, 2) << inside.err;
  EXPECT_THAT(inside.err, HasSubstr("no more has room in the memory; an index array in a .npy file is read"));
  const Result explained = run("explain 'compose(@i.npy, @j.npy)' --file --memory 12KiB --batch 24 --json");
  ASSERT_EQ(explained.status, 0) << explained.err;
  EXPECT_EQ(Json::parse(explained.out)["sweeps"], 2);
}

}  // namespace cli_large_files_index_test
}  // namespace faro
