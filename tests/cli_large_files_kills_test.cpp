// Runs over files larger than memory that are killed at random moments, and resumed or recovered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_kills_test {

using testing::content_of;
using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::Result;
namespace fs = std::filesystem;

class Kills : public LargeFiles {
 protected:
  void kill_at_random(int times) {
    ASSERT_EQ(run("new 2^17 u8 in.npy").status, 0);
    ASSERT_EQ(run("permute 'random_bmmc(17, 2)' in.npy whole.npy --quiet").status, 0);
    const std::string whole = data_of("whole.npy");
    const std::string command =
        "permute 'random_bmmc(17, 2)' in.npy out.npy --memory 24KiB --checkpoint 0 --io buffered --no-sync";
    int killed = 0;
    std::uint64_t resumed_tiles = 0;
    for (int i = 0; i < times; ++i) {
      const double seconds = 0.005 + 0.013 * (i * 7 % 23);
      run(command + " --quiet", "timeout -s KILL " + std::to_string(seconds));
      if (fs::exists(directory_ / "out.npy")) {
        EXPECT_EQ(data_of("out.npy"), whole);
        fs::remove(directory_ / "out.npy");
        continue;
      }
      ++killed;
      const Result resumed = run_when_free(command + " --resume --json");
      ASSERT_EQ(resumed.status, 0) << resumed.err;
      resumed_tiles += Json::parse(resumed.out)["resumed_tiles"].get<std::uint64_t>();
      EXPECT_EQ(data_of("out.npy"), whole) << "killed after " << seconds << " s";
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U);
    }
    EXPECT_GT(killed, 0);
    EXPECT_GT(resumed_tiles, 0U);
  }
};

TEST_F(Kills, AtRandomMomentsAndResumed) { kill_at_random(8); }
TEST_F(Kills, TwoHundredTimes) { kill_at_random(200); }

class KillsInPlace : public LargeFiles {
 protected:
  // Killed, then finished or taken back, which is killed again as often as not.
  void kill_at_random(int times) {
    ASSERT_EQ(run("new 512x256 u8 before.npy").status, 0);
    const std::string spec = "transpose(512, 256)";  // two passes, and another shape
    ASSERT_EQ(run("permute '" + spec + "' before.npy after.npy --quiet").status, 0);
    const std::string before = content_of(directory_ / "before.npy");
    const std::string after = data_of("after.npy");
    int killed = 0;
    int of_recovery = 0;
    for (int i = 0; i < times; ++i) {
      fs::copy_file(directory_ / "before.npy", directory_ / "x.npy", fs::copy_options::overwrite_existing);
      const double seconds = 0.005 + 0.013 * (i * 7 % 23);
      const std::string kill = "timeout -s KILL ";
      run("permute '" + spec + "' x.npy --in-place --memory 24KiB --io buffered --no-sync --quiet",
          kill + std::to_string(seconds));
      if (!fs::exists(directory_ / ".faro-in-place-x.npy")) {
        const bool is_old = content_of(directory_ / "x.npy") == before;
        EXPECT_TRUE(is_old || data_of("x.npy") == after) << "killed after " << seconds << " s";
        continue;
      }
      ++killed;
      EXPECT_EQ(run("permute bit_reversal x.npy y.npy").status, 6);
      bool finishes = i % 2 == 0;
      for (int again = 0; again < i % 3; ++again) {
        const std::string words =
            std::string("recover x.npy --io buffered --no-sync --quiet") + (finishes ? "" : " --undo");
        run(words, kill + std::to_string(0.004 + 0.011 * (i % 13)));
        of_recovery += fs::exists(directory_ / ".faro-in-place-x.npy") ? 1 : 0;
        if (!fs::exists(directory_ / ".faro-in-place-x.npy")) break;
        if (again == 1) finishes = !finishes;
      }
      const bool is_left = fs::exists(directory_ / ".faro-in-place-x.npy");
      const Result recovered =
          run_when_free(std::string("recover x.npy --no-sync") + (finishes ? "" : " --undo"));
      ASSERT_EQ(recovered.status, 0) << recovered.err;
      EXPECT_LE(recovered.err.size(), 81U);
      if (is_left && finishes) {
        EXPECT_EQ(content_of(directory_ / "x.npy").substr(128), after) << "killed after " << seconds << " s";
        EXPECT_THAT(content_of(directory_ / "x.npy").substr(0, 128), HasSubstr("(256, 512)"));
      } else if (is_left) {
        EXPECT_EQ(content_of(directory_ / "x.npy"), before) << "killed after " << seconds << " s";
      }
      EXPECT_EQ(files().size(), 3U);
    }
    EXPECT_GT(killed, 0);
    EXPECT_GE(of_recovery, times > 20 ? 1 : 0);
  }
};

TEST_F(KillsInPlace, AtRandomMomentsAndRecovered) { kill_at_random(12); }
TEST_F(KillsInPlace, TwoHundredTimes) { kill_at_random(200); }

class KillsOfShuffles : public LargeFiles {
 protected:
  void kill_at_random(int times) {
    ASSERT_EQ(run("new 2^17 u8 in.npy").status, 0);
    ASSERT_EQ(run("shuffle in.npy whole.npy --seed 3 --quiet").status, 0);
    const std::string whole = data_of("whole.npy");
    const std::string command =
        "shuffle in.npy out.npy --seed 3 --memory 64KiB --checkpoint 0 --io buffered --no-sync";
    std::uint64_t resumed_tiles = 0;
    for (int i = 0; i < times; ++i) {
      const double seconds = 0.005 + 0.013 * (i * 7 % 23);
      run(command + " --quiet", "timeout -s KILL " + std::to_string(seconds));
      if (!fs::exists(directory_ / "out.npy")) {
        const Result resumed = run_when_free(command + " --resume --json");
        ASSERT_EQ(resumed.status, 0) << resumed.err;
        resumed_tiles += Json::parse(resumed.out)["resumed_tiles"].get<std::uint64_t>();
      }
      EXPECT_EQ(data_of("out.npy"), whole) << "killed after " << seconds << " s";
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U);
    }
    EXPECT_GT(resumed_tiles, 0U);
  }
};

TEST_F(KillsOfShuffles, AtRandomMomentsAndResumed) { kill_at_random(8); }
TEST_F(KillsOfShuffles, TwoHundredTimes) { kill_at_random(200); }

}  // namespace cli_large_files_kills_test
}  // namespace faro
