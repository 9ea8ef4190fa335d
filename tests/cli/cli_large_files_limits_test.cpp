// What `faro permute` takes of the memory, and what it says meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_limits_test {

using testing::faro_command;
using testing::Json;
using testing::LargeFiles;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

// Peak resident memory of a command that succeeds, by the kernel's count.
long resident_kib(const fs::path& folder, std::vector<const char*> words, const char* memory) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(126);
    words.insert(words.begin(), "faro");
    for (const char* const more : {"--memory", memory, "--quiet", "--no-sync"}) words.push_back(more);
    words.push_back(nullptr);
    execv(faro_command().c_str(), const_cast<char* const*>(words.data()));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0) << words[0] << " " << words[1];
  return usage.ru_maxrss;
}

// What a limit leaves is all that is taken: a file that is larger than the limit goes through.
TEST_F(LargeFiles, WithinLimitsBelowTheFilesSize) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 29;
  std::ofstream(directory_ / "in.raw") << "0123abcd";  // elements 0 and 1, and a hole
  fs::resize_file(directory_ / "in.raw", kBytes);
  if (fs::space(directory_).available < 3 * kBytes) GTEST_SKIP() << "less than 3 GiB of disk";
  const std::string words = "permute bit_reversal in.raw out.raw --raw u4 --shape 2^27 --no-sync --json";
  const auto expect_run = [&](const std::string& before) {
    const Result result = run(words, before);
    ASSERT_EQ(result.status, 0) << before << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_LT(json["memory_bytes"], kBytes) << before;
    EXPECT_EQ(json["plan"].get<std::string>().find("one sweep, tiles of "), 0U) << json["plan"];
    EXPECT_EQ(fs::file_size(directory_ / "out.raw"), kBytes);
    std::ifstream out(directory_ / "out.raw", std::ios::binary);
    std::string first(4, ' ');
    out.read(first.data(), 4);
    EXPECT_EQ(first, "0123");
    out.seekg(static_cast<std::streamoff>(kBytes / 2));  // where bit reversal sends 1
    out.read(first.data(), 4);
    EXPECT_EQ(first, "abcd");
    fs::remove(directory_ / "out.raw");
  };
  expect_run("sh -c 'ulimit -v 460800; exec \"$@\"' limited");
  // A control group, of version 2 or 1, where this process may make one.
  const fs::path version1 = "/sys/fs/cgroup/memory";
  const fs::path root = fs::exists(version1) ? version1 : fs::path("/sys/fs/cgroup");
  const fs::path group = root / ("faro-test-" + std::to_string(getpid()));
  std::error_code failed;
  if (!fs::create_directory(group, failed) || failed) return;
  const bool is_limited = [&] {
    std::ofstream limit(group / (root == version1 ? "memory.limit_in_bytes" : "memory.max"));
    limit << (std::uint64_t{160} << 20) << std::flush;
    return limit.good();
  }();
  if (is_limited) {
    expect_run("sh -c 'echo $$ >" + (group / "cgroup.procs").string() + "; exec \"$@\"' confined");
  }
  fs::remove(group, failed);
}

TEST_F(LargeFiles, ProgressAsJsonEvents) {
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  const Result result =
      run("permute bit_reversal in.npy out.npy --memory 12KiB --io buffered --threads 1 --json",
          "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=read FARO_FAULT_AT=40 FARO_FAULT_WAIT=2");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(Json::accept(result.out));
  ASSERT_GE(lines_of(result.err), 1) << result.err;
  const Json event = Json::parse(result.err.substr(0, result.err.find('\n')));
  EXPECT_EQ(event["event"], "progress");
  EXPECT_EQ(event["total_bytes"], 2 << 16);
  EXPECT_GT(event["done_bytes"], 0);
  EXPECT_GT(event["bytes_per_s"], 0);
}

// Without a terminal; a minute, in `make check`.
TEST_F(LargeFiles, ProgressIsALineAMinuteElsewhere) {
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  const Result result =
      run("permute bit_reversal in.npy out.npy --memory 12KiB --io buffered --threads 1",
          "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=read FARO_FAULT_AT=40 FARO_FAULT_WAIT=63");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines_of(result.err), 2) << result.err;  // and that of the result
  EXPECT_THAT(result.err, ::testing::ContainsRegex("faro: permuting in.npy: [0-9]+% of 128 KiB, "));
  EXPECT_THAT(result.err, ::testing::ContainsRegex(" s left\n"));
}

// The file is larger than the budget.
TEST_F(LargeFiles, ResidentMemoryStaysWithinTheBudget) {
  ASSERT_EQ(run("new 2^25 u4 in.npy").status, 0);
  ASSERT_EQ(run("new 2^23 u4 numbers.npy").status, 0);
  ASSERT_EQ(run("shuffle numbers.npy index.npy --seed 1 --quiet").status, 0);
  const std::vector<std::vector<const char*>> runs{
      {"permute", "bit_reversal", "in.npy", "out.npy"},
      {"permute", "transpose(4096, 8192)", "in.npy", "out.npy", "--verify"},
      {"shuffle", "in.npy", "out.npy", "--seed", "1", "--verify"},
      {"permute", "random_bmmc(25, 1)", "in.npy", "--in-place", "--verify"},
      {"permute", "multiply(33554432, 1234567)", "in.npy", "out.npy", "--verify"},
      {"permute", "strided(16777216; 2; 1)", "in.npy", "out.npy", "--verify"},
      {"permute", "compose(@index.npy, gray(23))", "in.npy", "out.npy", "--element-bytes", "16", "--gather"},
      {"permute", "random(2097152, 1)", "numbers.npy", "out.npy", "--batch", "4"},
  };
  for (const std::vector<const char*>& words : runs) {
    const long peak = resident_kib(directory_, words, "32MiB");
    EXPECT_GT(peak, 16L << 10) << words[1];
    EXPECT_LT(peak, (32 + 64L) << 10) << words[1];
  }
}

// The same of stores, whatever the grids: 48 MiB by way of 8.
TEST_F(LargeFiles, ResidentMemoryOfStoresStaysWithinTheBudget) {
  ASSERT_EQ(run("new 96x256x512 f4 in.npy --fill random").status, 0);
  ASSERT_EQ(run("convert in.npy plain.zarr --chunks 1,256,512 --codec none --quiet").status, 0);
  ASSERT_EQ(run("convert in.npy coded.zarr --chunks 96,16,32 --codec zstd:1 --quiet").status, 0);
  const std::vector<std::vector<const char*>> runs{
      {"convert", "plain.zarr", "out.zarr", "--chunks", "96,16,16", "--codec", "zstd:1"},
      {"permute", "axes(2 0 1)", "plain.zarr", "out.zarr", "--chunks", "32,96,32", "--codec", "none",
       "--verify"},
      {"permute", "axes(1 2 0)", "coded.zarr", "out.zarr", "--chunks", "2,512,96", "--codec", "blosc"},
      {"convert", "coded.zarr", "out.zarr", "--chunks", "8,16,16", "--shard-chunks", "96,64,64/16,32,32"},
      {"convert", "coded.zarr", "out.h5", "--chunks", "1,256,512", "--codec", "shuffle+gzip:1"},
      {"convert", "plain.zarr", "out.h5", "--chunks", "96,1,512", "--codec", "none"},
      {"permute", "axes(2 1 0)", "coded.zarr", "out.npy"},
      {"permute", "roll(5)", "coded.zarr", "out.zarr", "--chunks", "1,256,512"},
      {"convert", "in.npy", "out.safetensors:a", "--dtype", "bfloat16"},
  };
  for (const std::vector<const char*>& words : runs) {
    std::string all;
    for (const char* const word : words) all.append(word).append(" ");
    EXPECT_LT(resident_kib(directory_, words, "8MiB"), (8 + 64L) << 10) << all;
    for (const char* const out : {"out.zarr", "out.h5", "out.npy", "out.safetensors"})
      fs::remove_all(directory_ / out);
  }
}

}  // namespace cli_large_files_limits_test
}  // namespace faro
