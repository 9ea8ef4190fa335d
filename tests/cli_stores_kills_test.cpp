// Relayouts of stores that are killed at random moments, and resumed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_stores_kills_test {

using testing::Json;
using testing::LargeFiles;
using testing::Result;
namespace fs = std::filesystem;

class KillsOfStores : public LargeFiles {
 protected:
  // Of each way so often: killed at another moment of as long as it takes, then resumed. What is there in the
  // end is what the oracle made of the array.
  void kill(int times) {
    ASSERT_EQ(run("new 24x40x50 f4 in.npy --fill random").status, 0);
    ASSERT_EQ(run("convert in.npy in.zarr --chunks 1,40,50 --codec zstd:1 --quiet").status, 0);
    ASSERT_EQ(run("permute 'axes(2 0 1)' in.npy turned.npy --quiet").status, 0);
    ASSERT_EQ(run("permute 'roll(5)' in.npy rolled.npy --quiet").status, 0);
    const std::string turned = data_of("turned.npy");
    kill_and_resume(times, "permute 'axes(2 0 1)' in.npy out.zarr --chunks 10,8,10 --memory 40KiB", turned);
    kill_and_resume(
        times, "permute 'axes(2 0 1)' in.zarr out.zarr --chunks 5,24,4 --codec none --memory 40KiB", turned);
    kill_and_resume(
        times, "permute 'axes(2 0 1)' in.npy out.zarr --chunks 5,4,4 --shard-chunks 10,8,40 --memory 40KiB",
        turned);
    kill_and_resume(times, "permute 'axes(2 0 1)' in.zarr out.npy --memory 60KiB", turned);
    kill_and_resume(times, "permute 'roll(5)' in.zarr out.zarr --chunks 1,20,50 --memory 60KiB",
                    data_of("rolled.npy"));
    EXPECT_GT(killed_, times);
    EXPECT_GT(resumed_regions_, 0U);
  }

 private:
  void kill_and_resume(int times, const std::string& way, const std::string& wanted) {
    constexpr int kMoments = 23;
    const std::string command = way + " --checkpoint 0 --no-sync";
    const std::string out = way.find("out.npy") != std::string::npos ? "out.npy" : "out.zarr";
    SCOPED_TRACE(way);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run(command + " --quiet").status, 0);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (int i = 0; i < times && !HasFatalFailure(); ++i) {
      fs::remove_all(directory_ / out);
      const std::string seconds = std::to_string(took * (i * 7 % kMoments + 1) / kMoments);
      SCOPED_TRACE("killed after " + seconds + " s");
      run(command + " --quiet", "timeout -s KILL " + seconds);
      if (!fs::exists(directory_ / out)) {
        ++killed_;
        const Result resumed = run_when_free(command + (i % 3 == 0 ? " --verify" : "") + " --resume --json");
        ASSERT_EQ(resumed.status, 0) << resumed.err;
        resumed_regions_ += Json::parse(resumed.out)["resumed_regions"].get<std::uint64_t>();
      } else {
        fs::remove(directory_ / (".faro-partial-" + out + "-journal"));  // goes after the output has its name
        fs::remove_all(directory_ / (".faro-partial-" + out + "-scratch"));
      }
      ASSERT_EQ(run("convert " + out + " got.npy --quiet").status, 0);
      ASSERT_TRUE(data_of("got.npy") == wanted);
      fs::remove(directory_ / "got.npy");
      ASSERT_EQ(entries(), 5);  // in.npy, in.zarr, turned.npy, rolled.npy and what came out
    }
    fs::remove_all(directory_ / out);
  }

  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }

  int killed_ = 0;
  std::uint64_t resumed_regions_ = 0;
};

TEST_F(KillsOfStores, AtRandomMomentsAndResumed) { kill(4); }
TEST_F(KillsOfStores, TwoHundredTimes) { kill(40); }

}  // namespace cli_stores_kills_test
}  // namespace faro
