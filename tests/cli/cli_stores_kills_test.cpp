// Relayouts of stores that are killed at random moments, and resumed.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
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
  // Each way is killed so often, at another moment of as long as it takes, then resumed. What is there in the
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
        times,
        "permute 'axes(2 0 1)' in.npy out.zarr --chunks 5,4,4 --shard-chunks 10,8,40/5,8,20 --memory "
        "40KiB",
        turned);
    kill_and_resume(times, "permute 'axes(2 0 1)' in.zarr out.npy --memory 60KiB", turned);
    kill_and_resume(
        times, "permute 'axes(2 0 1)' in.zarr out.h5 --chunks 5,24,4 --codec shuffle+gzip:1 --memory 60KiB",
        turned);
    kill_and_resume(times, "permute 'axes(2 0 1)' in.zarr out.h5 --chunks 5,24,4 --codec none --memory 40KiB",
                    turned);
    kill_and_resume(times, "permute 'axes(2 0 1)' in.zarr out.gguf:w --memory 60KiB", turned);
    kill_and_resume(
        times, "permute 'roll(5)' in.zarr out.zarr --chunks 1,20,50 --shard-chunks 6,40,50 --memory 60KiB",
        data_of("rolled.npy"), [&] { return killed_ > times && resumed_regions_ > 0; });
    EXPECT_GT(killed_, times);
    EXPECT_GT(resumed_regions_, 0U);
  }

  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }

 private:
  void kill_and_resume(
      int times, const std::string& way, const std::string& wanted,
      const std::function<bool()>& enough = [] { return true; }) {
    const std::string command = way + " --checkpoint 0 --no-sync";
    const std::size_t at = way.find("out.");
    const std::string out = way.substr(at, way.find_first_of(": ", at) - at);
    SCOPED_TRACE(way);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run(command + " --quiet").status, 0);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    fs::remove_all(directory_ / out);
    const auto look = [&](int i) {
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
      fs::remove_all(directory_ / out);
    };
    kill_at_moments(times, took, command + " --quiet", look, enough);
  }

  int killed_ = 0;
  std::uint64_t resumed_regions_ = 0;
};

TEST_F(KillsOfStores, AtRandomMomentsAndResumed) { kill(4); }
TEST_F(KillsOfStores, TwoHundredTimes) { kill(25); }

class KillsOfCheckpoints : public KillsOfStores {
 protected:
  // Two files of many tensors, of which each is changed and some are left out.
  void kill(int times) {
    fs::create_directory(directory_ / "model");
    for (const char* const layer : {"0", "1", "2", "3", "4", "5"}) {
      ASSERT_EQ(run("new 200x300 f4 t.npy --fill random").status, 0);
      ASSERT_EQ(
          run(std::string("convert t.npy model/") + layer + ".safetensors:h." + layer + ".w --quiet").status,
          0);
      fs::remove(directory_ / "t.npy");
    }
    std::ofstream(directory_ / "rules.toml")
        << "[[rules]]\nmatch = 'h.{i}.w'\nmap = 'transpose'\ndtype = 'bfloat16'\n"
           "name = 'l.{i}'\n[[rules]]\nmatch = 'h.5.w'\ndrop = true\n[[rules]]\nmatch = 'h.3.w'\nsplit = "
           "{axis = 1, into = [{name = 'l.3.a', size = 100}, {name = 'l.3.b', size = 200}]}\n";
    const std::string way = "checkpoint rules.toml model ";
    const std::string options =
        " --memory 60KiB --shard-size 200KiB --io buffered --checkpoint 0 --no-sync --quiet";
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run(way + "whole" + options).status, 0);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    int killed = 0;
    std::uint64_t resumed_tiles = 0;
    const auto look = [&](int i) {
      if (!fs::exists(directory_ / "out")) {
        ++killed;
        const Result resumed =
            run_when_free(way + "out" + options + (i % 3 == 0 ? " --verify" : "") + " --resume --json");
        ASSERT_EQ(resumed.status, 0) << resumed.err;
        resumed_tiles += Json::parse(resumed.out)["resumed_tiles"].get<std::uint64_t>();
      }
      fs::remove(directory_ / ".faro-partial-out-journal");  // goes after the output has its name
      for (const auto& entry : fs::directory_iterator(directory_ / "whole"))
        ASSERT_TRUE(bytes_of("out/" + entry.path().filename().string()) ==
                    bytes_of("whole/" + entry.path().filename().string()));
      fs::remove_all(directory_ / "out");
      ASSERT_EQ(entries(), 3);  // model, rules.toml, whole
    };
    kill_at_moments(times, took, way + "out" + options, look,
                    [&] { return killed > times / 4 && resumed_tiles > 0; });
    EXPECT_GT(killed, times / 4);
    EXPECT_GT(resumed_tiles, 0U);
  }
};

TEST_F(KillsOfCheckpoints, AtRandomMomentsAndResumed) { kill(10); }
TEST_F(KillsOfCheckpoints, TwoHundredTimes) { kill(200); }

}  // namespace cli_stores_kills_test
}  // namespace faro
