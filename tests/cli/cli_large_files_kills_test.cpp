// Runs over files larger than memory that are killed at random moments, and resumed or recovered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
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

class KilledRuns : public LargeFiles {
 protected:
  // Runs `command` so often, each time killed at another moment of as long as it takes, and looks at what it
  // left: after(i), until enough(). First it is left alone.
  void kill_at_random(int times, const std::string& command, const std::function<bool()>& enough,
                      const std::function<void(int)>& after) {
    const std::string whole = command + " --io buffered --no-sync --quiet";
    const auto begin = std::chrono::steady_clock::now();
    run(whole);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    after(0);
    kill_at_moments(times, took, whole, after, enough);
  }

  // After a run from in.npy to out.npy that is resumed out.npy is what the command makes of in.npy
  // in memory.
  void kill_and_resume(int times, int bits, const std::string& verb, const std::string& memory) {
    ASSERT_EQ(run("new 2^" + std::to_string(bits) + " u8 in.npy").status, 0);
    ASSERT_EQ(run(verb + " in.npy whole.npy --quiet").status, 0);
    const std::string whole = data_of("whole.npy");
    const std::string command = verb + " in.npy out.npy --memory " + memory + " --checkpoint 0";
    int killed = 0;
    std::uint64_t resumed_tiles = 0;
    const auto enough = [&] { return resumed_tiles > 0; };
    kill_at_random(times, command, enough, [&](int) {
      if (fs::exists(directory_ / "out.npy")) {
        fs::remove(directory_ / ".faro-partial-out.npy-journal");  // which goes after the output has its name
      } else {
        ++killed;
        const Result resumed = run_when_free(command + " --io buffered --no-sync --resume --json");
        ASSERT_EQ(resumed.status, 0) << resumed.err;
        resumed_tiles += Json::parse(resumed.out)["resumed_tiles"].get<std::uint64_t>();
      }
      EXPECT_EQ(data_of("out.npy"), whole);
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U);
    });
    EXPECT_GT(killed, 0);
    EXPECT_GT(resumed_tiles, 0U);
  }
};

class Kills : public KilledRuns {
 protected:
  void kill(int times) { kill_and_resume(times, 19, "permute 'random_bmmc(19, 2)'", "24KiB"); }
};

TEST_F(Kills, AtRandomMomentsAndResumed) { kill(8); }
TEST_F(Kills, TwoHundredTimes) { kill(200); }

class KillsOfShuffles : public KilledRuns {
 protected:
  void kill(int times) { kill_and_resume(times, 17, "shuffle --seed 3", "64KiB"); }
};

TEST_F(KillsOfShuffles, AtRandomMomentsAndResumed) { kill(8); }
TEST_F(KillsOfShuffles, TwoHundredTimes) { kill(200); }

class KillsInPlace : public KilledRuns {
 protected:
  // Killed, then finished or taken back, which is killed again as often as not.
  void kill(int times, const std::string& shape = "512x256", const std::string& spec = "transpose(512, 256)",
            const std::string& after_shape = "(256, 512)",
            const std::string& memory = "24KiB") {  // two passes, and another shape
    ASSERT_EQ(run("new " + shape + " u8 before.npy").status, 0);
    ASSERT_EQ(run("permute '" + spec + "' before.npy after.npy --quiet").status, 0);
    const std::string before = content_of(directory_ / "before.npy");
    const std::string after = data_of("after.npy");
    const auto is_in_part = [&] { return fs::exists(directory_ / ".faro-in-place-x.npy"); };
    const auto renew = [&] {
      fs::copy_file(directory_ / "before.npy", directory_ / "x.npy", fs::copy_options::overwrite_existing);
    };
    int killed = 0;
    int of_recovery = 0;
    renew();
    const auto enough = [&] { return killed > 0; };
    kill_at_random(times, "permute '" + spec + "' x.npy --in-place --memory " + memory, enough, [&](int i) {
      if (!is_in_part()) {
        EXPECT_TRUE(content_of(directory_ / "x.npy") == before || data_of("x.npy") == after);
        return renew();
      }
      ++killed;
      EXPECT_EQ(run("permute bit_reversal x.npy y.npy").status, 6);
      bool finishes = i % 2 == 0;
      for (int again = 0; again < i % 3; ++again) {
        run(std::string("recover x.npy --io buffered --no-sync --quiet") + (finishes ? "" : " --undo"),
            "timeout -s KILL " + std::to_string(0.004 + 0.011 * (i % 13)));
        if (!is_in_part()) break;
        ++of_recovery;
        if (again == 1) finishes = !finishes;
      }
      const bool is_left = is_in_part();
      const Result recovered =
          run_when_free(std::string("recover x.npy --no-sync") + (finishes ? "" : " --undo"));
      ASSERT_EQ(recovered.status, 0) << recovered.err;
      EXPECT_LE(recovered.err.size(), 81U);
      if (recovered.err.find("had not begun") != std::string::npos) {
        EXPECT_EQ(content_of(directory_ / "x.npy"), before);
      } else if (is_left && finishes) {
        EXPECT_EQ(content_of(directory_ / "x.npy").substr(128), after);
        EXPECT_THAT(content_of(directory_ / "x.npy").substr(0, 128), HasSubstr(after_shape));
      } else if (is_left) {
        EXPECT_EQ(content_of(directory_ / "x.npy"), before);
      }
      EXPECT_EQ(files().size(), 3U);
      renew();
    });
    EXPECT_GT(killed, 0);
    EXPECT_GE(of_recovery, times > 20 ? 1 : 0);
  }
};

TEST_F(KillsInPlace, AtRandomMomentsAndRecovered) { kill(12); }
TEST_F(KillsInPlace, OfSquaresAndPairsOfParts) {
  kill(8, "900x600", "transpose(900, 600)", "(600, 900)", "256KiB");
}
TEST_F(KillsInPlace, TwoHundredTimes) { kill(200); }

// Before the first step there is a journal without an intent, and the file is as it was.
TEST_F(KillsInPlace, BeforeTheJournalIsWritten) {
  ASSERT_EQ(run("new 64x96 u8 x.npy").status, 0);
  const std::string before = content_of(directory_ / "x.npy");
  for (const std::string how : {"", " --undo"}) {
    for (const std::uint64_t journal_bytes : {0U, 65536U}) {
      std::ofstream(directory_ / ".faro-in-place-x.npy") << std::string(journal_bytes, '\0');
      const Result recovered = run("recover x.npy" + how);
      ASSERT_EQ(recovered.status, 0) << recovered.err;
      EXPECT_THAT(recovered.err, HasSubstr("had not begun"));
      EXPECT_EQ(content_of(directory_ / "x.npy"), before);
      EXPECT_EQ(files().size(), 1U);
    }
  }
  std::ofstream(directory_ / ".faro-in-place-x.npy") << std::string(65536, 'x');
  EXPECT_THAT(run("recover x.npy").err, HasSubstr("damaged journal"));
}

}  // namespace cli_large_files_kills_test
}  // namespace faro
