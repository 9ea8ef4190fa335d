// Faults of the system while stores are laid out anew: one line, nothing that looks done, and what is there
// to go on with is gone on with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_stores_faults_test {

using ::testing::HasSubstr;
using testing::LargeFiles;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

class FaultsOfStores : public LargeFiles {
 protected:
  void expect_one_line_and_resume(const std::string& command, const std::string& out,
                                  const std::string& wanted) {
    const char* const library = std::getenv("FARO_FAULTS");
    if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
    const auto entries = [&] {
      return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
    };
    const auto before = entries();
    int failed = 0;
    for (const char* const kind :
         {"read", "write", "sync", "rename", "reserve", "short", "interrupt", "memory", "map", "open"}) {
      for (const int at : {1, 3, 10, 40}) {
        SCOPED_TRACE(command + ", " + kind + " " + std::to_string(at));
        const Result result = run(command + " --threads 1 --checkpoint 0",
                                  "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=" + kind +
                                      " FARO_FAULT_AT=" + std::to_string(at));
        if (result.status != 0) {
          ++failed;
          EXPECT_GT(result.status, 0) << result.err;
          EXPECT_LE(lines_of(result.err), 2) << result.err;
          EXPECT_THAT(result.err, HasSubstr("faro: "));
        }
        if (!fs::exists(directory_ / out)) {
          const Result resumed = run(command + " --threads 1 --resume --quiet");
          ASSERT_EQ(resumed.status, 0) << resumed.err;
        }
        ASSERT_EQ(run("convert " + out + " got.npy --quiet").status, 0);
        EXPECT_TRUE(data_of("got.npy") == wanted);
        fs::remove(directory_ / "got.npy");
        fs::remove_all(directory_ / out);
        // After the output has its name nothing more can be taken back.
        fs::remove(directory_ / (".faro-partial-" + out + "-journal"));
        ASSERT_EQ(entries(), before);
      }
    }
    EXPECT_GT(failed, 0);
  }
};

TEST_F(FaultsOfStores, AreOneLineAndGoneOnBehind) {
  ASSERT_EQ(run("new 12x20x25 f4 in.npy --fill random").status, 0);
  ASSERT_EQ(run("convert in.npy in.zarr --chunks 1,20,25 --codec zstd:1 --quiet").status, 0);
  ASSERT_EQ(run("permute 'axes(2 0 1)' in.npy turned.npy --quiet").status, 0);
  const std::string turned = data_of("turned.npy");
  expect_one_line_and_resume("permute 'axes(2 0 1)' in.zarr out.zarr --chunks 5,12,4 --memory 20KiB",
                             "out.zarr", turned);
  expect_one_line_and_resume(
      "permute 'axes(2 0 1)' in.npy out.zarr --chunks 5,2,4 --shard-chunks 10,4,20 --memory 20KiB",
      "out.zarr", turned);
  expect_one_line_and_resume("permute 'axes(2 0 1)' in.zarr out.npz --memory 30KiB", "out.npz", turned);
}

TEST_F(FaultsOfStores, OfChunkedHdf5AndGgufAreOneLineAndGoneOnBehind) {
  ASSERT_EQ(run("new 12x20x25 f4 in.npy --fill random").status, 0);
  ASSERT_EQ(run("permute 'axes(2 0 1)' in.npy turned.npy --quiet").status, 0);
  const std::string turned = data_of("turned.npy");
  expect_one_line_and_resume(
      "permute 'axes(2 0 1)' in.npy out.h5 --chunks 5,12,4 --codec shuffle+gzip:1 --memory 40KiB", "out.h5",
      turned);
  expect_one_line_and_resume("permute 'axes(2 0 1)' in.npy out.h5 --chunks 5,12,4 --memory 40KiB", "out.h5",
                             turned);
  expect_one_line_and_resume("permute 'axes(2 0 1)' in.npy out.gguf --memory 40KiB", "out.gguf", turned);
}

// However many chunks there are: one for the journal, one for the file system, one for the folder's name.
// None where nobody asks.
TEST_F(FaultsOfStores, AStoreIsBroughtToTheDiskByOneCall) {
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 16x20x25 f4 in.npy --fill random").status, 0);
  const auto syncs = [&](const std::string& command) {
    const std::string count = (directory_ / "count").string();
    EXPECT_EQ(
        run(command, "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=sync FARO_FAULT_COUNT=" + count)
            .status,
        0);
    std::ifstream file(count);
    int number = -1;
    file >> number;
    fs::remove_all(directory_ / "out.zarr");
    return number;
  };
  EXPECT_EQ(syncs("convert in.npy out.zarr --chunks 1,2,5 --quiet"), 3);
  EXPECT_EQ(syncs("convert in.npy out.zarr --chunks 1,2,5 --quiet --no-sync"), 0);
}

}  // namespace cli_stores_faults_test
}  // namespace faro
