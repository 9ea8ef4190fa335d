// `faro permute` from file to file: what --memory does not hold twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_test {

using testing::CommandTest;
using testing::content_of;
using testing::documented_keys;
using testing::faro_command;
using ::testing::HasSubstr;
using testing::Json;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

class LargeFiles : public CommandTest {
 protected:
  // The data of an .npy file, without its header.
  std::string data_of(const std::string& file) const {
    const std::string content = content_of(directory_ / file);
    if (content.size() < 10) return content;
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(content[at]); };
    return content.substr(10 + std::size_t{byte(8)} + 256 * std::size_t{byte(9)});
  }

  // A process that was killed may keep its files for a moment longer.
  Result run_when_free(const std::string& arguments) {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries; ++i) {
      Result result = run(arguments);
      const bool is_held = result.err.find(" is writing") != std::string::npos ||
                           result.err.find("another process is changing") != std::string::npos;
      if (result.status != 6 || !is_held) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return run(arguments);
  }

  void expect_as_in_memory(const std::string& arguments, const std::string& memory) {
    const Result in_memory = run("permute " + arguments + " in.npy a.npy --quiet");
    ASSERT_EQ(in_memory.status, 0) << in_memory.err;
    const Result by_file = run("permute " + arguments + " in.npy b.npy --memory " + memory);
    ASSERT_EQ(by_file.status, 0) << by_file.err;
    EXPECT_EQ(lines_of(by_file.err), 1) << by_file.err;
    EXPECT_THAT(by_file.err, HasSubstr("one sweep")) << arguments;
    EXPECT_LE(by_file.err.size(), 81U) << by_file.err;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments;
    const auto shape_of = [&](const std::string& file) {
      return Json::parse(run("permute 'roll(0)' " + file + " d.npy --json").out)["shape"];
    };
    EXPECT_EQ(shape_of("a.npy"), shape_of("b.npy")) << arguments;
    EXPECT_EQ(files().size(), 4U);
  }
};

TEST_F(LargeFiles, AreWhatMemoryMakesOfThem) {
  ASSERT_EQ(run("new 64x32x16 u4 in.npy").status, 0);
  for (const char* const arguments :
       {"bit_reversal", "'random_bmmc(15, 4)'", "transpose", "'axes(2 0 1)'", "'a b c -> c a b'", "'flip(1)'",
        "'roll(77)'", "'inverse(gray)'", "'axes(1 0 2)' --order F", "bit_reversal --batch 64",
        "'gray(6)' --rows", "'bit_reversal(4)' --axis 2", "'roll(5)' --axis 1",
        "'random_bmmc(11, 3)' --element-bytes 64", "'strided(32 64; 1 512; 64 1; 3 0)'"}) {
    expect_as_in_memory(arguments, "20000");
  }
}

TEST_F(LargeFiles, StructsOfArraysAndBack) {
  ASSERT_EQ(run("new 1000x7 u4 in.npy").status, 0);
  expect_as_in_memory("'aos_to_soa(1000, 7)'", "5000");
  fs::rename(directory_ / "b.npy", directory_ / "in.npy");
  fs::remove(directory_ / "a.npy");
  fs::remove(directory_ / "d.npy");
  expect_as_in_memory("'soa_to_aos(1000, 7)'", "5000");
}

TEST_F(LargeFiles, FortranOrder) {
  ASSERT_EQ(run("new 30x20x10 u2 c.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(0 1 2)' c.npy in.npy --order F --quiet").status, 0);
  fs::remove(directory_ / "c.npy");
  expect_as_in_memory("'axes(2 0 1)'", "3KiB");
  // What does not go together with the order in one sweep takes one more, into a file that is gone
  // afterwards.
  for (const char* const arguments :
       {"'roll(5)'", "'flip(20)' --axis 1", "'random(30, 4)' --rows", "'strided(20 10; 10 -1; 10 1; 9 0)'",
        "'bit_reversal(1)' --batch 3000"}) {
    ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0) << arguments;
    const Result by_file = run("permute " + std::string(arguments) + " in.npy b.npy --memory 3KiB");
    ASSERT_EQ(by_file.status, 0) << by_file.err;
    EXPECT_TRUE(data_of("a.npy") == data_of("b.npy")) << arguments;
    EXPECT_EQ(files().size(), 4U) << arguments;
  }
  for (const char* const words : {"", " --rows"}) {
    ASSERT_EQ(run("permute 'axes(0 1 2)' in.npy d.npy --order C --quiet").status, 0);
    ASSERT_EQ(run(std::string("shuffle d.npy a.npy --seed 3 --quiet") + words).status, 0);
    ASSERT_EQ(run(std::string("shuffle in.npy b.npy --seed 3 --quiet --memory 8KiB") + words).status, 0);
    EXPECT_TRUE(data_of("a.npy") == data_of("b.npy"));
  }
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(LargeFiles, WaysOfReadingAndVerifying) {
  ASSERT_EQ(run("new 2^16 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute bit_reversal in.npy a.npy --quiet").status, 0);
  for (const char* const way : {"auto", "threads", "buffered"}) {
    const Result result =
        run("permute bit_reversal in.npy b.npy --memory 48KiB --verify --json --io " + std::string(way));
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["verified"], true);
    EXPECT_EQ(json["read_bytes"], 1 << 18);
    EXPECT_EQ(json["written_bytes"], 1 << 18);
    EXPECT_EQ(json["tile_bytes"], 1 << 14);
    EXPECT_EQ(json["read_run_bytes"], 256);
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy"));
    std::set<std::string> keys;
    testing::collect_keys(json, "", keys);
    EXPECT_EQ(keys, documented_keys()["permute, from file to file"]);
  }
}

TEST_F(LargeFiles, Refusals) {
  ASSERT_EQ(run("new 2^12 u4 in.npy").status, 0);
  const auto before = files();
  const auto refused = [&](const std::string& arguments, int status, const std::string& words) {
    const Result result = run("permute " + arguments);
    EXPECT_EQ(result.status, status) << arguments << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_EQ(files(), before) << arguments;
  };
  refused("bit_reversal in.npy out.npy --memory 0", 2, "--memory");
  refused("bit_reversal in.npy out.npy --memory 7", 2, "memory");
  refused("bit_reversal in.npy out.npy --memory x", 2, "--memory");
  refused("bit_reversal in.npy out.npy --memory 4KiB --io tape", 2, "auto, uring, threads or buffered");
  refused("bit_reversal in.npy --in-place --memory 4KiB --resume", 3, "faro recover");
  refused("bit_reversal in.npy out.npy --memory 4KiB --order F", 3, "--order F");
  refused("'random(4096, 1)' in.npy --in-place --memory 4KiB", 3, "an affine map, a roll, a flip");
  refused("bit_reversal in.npy out.npy --raw u4", 2, "--shape");
  refused("bit_reversal in.npy out.npy --raw u4 --shape 4096", 6, "a file of 16512 bytes");
  refused("bit_reversal in.npy out.npy --raw object --shape 4096", 2, "--raw object");
  refused("bit_reversal in.npy out.npy --shape 4096", 2, "--shape without --raw");
  refused("bit_reversal in.npy none/out.npy --memory 4KiB", 6, "none/out.npy");
  refused("'random(4096, 1)' in.npy out.npy --memory 4KiB", 2, "the index array alone takes 16 KiB");
  refused("'strided(4097; 1; 1)' in.npy out.npy --memory 4KiB", 2, "4097");
}

// --- faults and kills

TEST_F(LargeFiles, FaultsAreOneLineAndLeaveNothingThatLooksDone) {
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  const std::string input = content_of(directory_ / "in.npy");
  ASSERT_EQ(run("permute bit_reversal in.npy whole.npy --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  for (const char* const kind :
       {"read", "write", "sync", "rename", "reserve", "short", "interrupt", "memory", "map", "open"}) {
    for (const int at : {1, 2, 3, 7, 20, 50}) {
      const std::string before = "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=" + kind +
                                 " FARO_FAULT_AT=" + std::to_string(at);
      const Result result =
          run("permute bit_reversal in.npy out.npy --memory 12KiB --io buffered --threads 1", before);
      EXPECT_TRUE(content_of(directory_ / "in.npy") == input);
      if (result.status == 0) {
        EXPECT_TRUE(data_of("out.npy") == data_of("whole.npy")) << kind << at;
        fs::remove(directory_ / "out.npy");
        continue;
      }
      const bool of_memory = std::string(kind) == "memory" || std::string(kind) == "map";
      if (!of_memory) {
        EXPECT_EQ(result.status, 6) << kind << at << result.err;
      }
      EXPECT_GT(result.status, 0) << kind << at << result.err;
      // What was told of the result before its file took its place, and the error.
      EXPECT_LE(lines_of(result.err), 2) << result.err;
      EXPECT_THAT(result.err, HasSubstr("faro: "));
      if (fs::exists(directory_ / "out.npy")) {  // only its folder was not brought to the disk
        EXPECT_THAT(result.err, HasSubstr("the file is there"));
        EXPECT_TRUE(data_of("out.npy") == data_of("whole.npy"));
      }
      const Result resumed =
          run("permute bit_reversal in.npy out.npy --memory 12KiB --io buffered --resume --quiet");
      EXPECT_EQ(resumed.status, 0) << resumed.err;
      EXPECT_TRUE(data_of("out.npy") == data_of("whole.npy")) << kind << at;
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U) << kind << at;
    }
  }
}

// The same of both stages of a shuffle.
TEST_F(LargeFiles, FaultsOfShuffles) {
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  const std::string input = content_of(directory_ / "in.npy");
  ASSERT_EQ(run("shuffle in.npy whole.npy --seed 4 --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  const std::string command =
      "shuffle in.npy out.npy --seed 4 --memory 20KiB --io buffered --threads 1 --quiet";
  for (const char* const kind : {"read", "write", "sync", "rename", "reserve", "short", "interrupt"}) {
    for (const int at : {1, 2, 5, 30}) {
      const Result result = run(command, "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=" + kind +
                                             " FARO_FAULT_AT=" + std::to_string(at));
      EXPECT_TRUE(content_of(directory_ / "in.npy") == input);
      if (result.status != 0 && !fs::exists(directory_ / "out.npy")) {
        EXPECT_EQ(result.status, 6) << kind << at << result.err;
        EXPECT_EQ(lines_of(result.err), 1) << result.err;
        const Result resumed = run(command + " --resume");
        EXPECT_EQ(resumed.status, 0) << kind << at << resumed.err;
      }
      EXPECT_TRUE(data_of("out.npy") == data_of("whole.npy")) << kind << at;
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U) << kind << at;
    }
  }
}

TEST_F(LargeFiles, FaultsInPlace) {
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute 'random_bmmc(14, 3)' in.npy whole.npy --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  for (const char* const kind : {"read", "write", "sync", "reserve", "short", "interrupt"}) {
    for (const int at : {1, 2, 5, 30, 60}) {
      fs::copy_file(directory_ / "in.npy", directory_ / "x.npy", fs::copy_options::overwrite_existing);
      const Result result = run(
          "permute 'random_bmmc(14, 3)' x.npy --in-place --memory 12KiB --io buffered --threads 1 --quiet",
          "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=" + kind +
              " FARO_FAULT_AT=" + std::to_string(at));
      if (result.status != 0) {
        EXPECT_EQ(result.status, 6) << kind << at << result.err;
        EXPECT_EQ(lines_of(result.err), 1) << result.err;
      }
      const bool is_in_part = fs::exists(directory_ / ".faro-in-place-x.npy");
      if (is_in_part) {
        EXPECT_NE(result.status, 0) << kind << at;
        EXPECT_THAT(result.err, HasSubstr("faro recover"));
        const Result recovered = run(std::string("recover x.npy --quiet") + (at % 2 == 0 ? " --undo" : ""));
        EXPECT_EQ(recovered.status, 0) << recovered.err;
      }
      const bool is_before = content_of(directory_ / "x.npy") == content_of(directory_ / "in.npy");
      EXPECT_EQ(is_before, is_in_part ? at % 2 == 0 : result.status != 0) << kind << at;
      EXPECT_TRUE(is_before || data_of("x.npy") == data_of("whole.npy")) << kind << at;
      EXPECT_EQ(files().size(), 3U) << kind << at;
    }
  }
}

// Requests of io_uring that move less than they were asked for, and that fail.
TEST_F(LargeFiles, FaultsOfTheRing) {
  ASSERT_EQ(run("new 2^20 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute bit_reversal in.npy whole.npy --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  // Tiles of a mebibyte each in 64 runs of 16 KiB: segments that are worth O_DIRECT.
  const std::string command = "permute 'transpose(64, 16384)' in.npy out.npy --memory 3MiB --quiet";
  ASSERT_EQ(run("permute 'transpose(64, 16384)' in.npy whole.npy --quiet").status, 0);
  if (run(command + " --io uring").status != 0) GTEST_SKIP() << "no io_uring here";
  fs::remove(directory_ / "out.npy");
  for (const char* const kind : {"ring_short", "ring_error"}) {
    for (const int at : {1, 2, 10, 100}) {
      const Result result =
          run(command + " --io uring", "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=" + kind +
                                           " FARO_FAULT_AT=" + std::to_string(at));
      if (std::string(kind) == "ring_error") {
        EXPECT_EQ(result.status, 6) << at << result.err;
        EXPECT_EQ(lines_of(result.err), 1) << result.err;
        EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
        EXPECT_EQ(run(command + " --resume").status, 0);
      } else {
        EXPECT_EQ(result.status, 0) << at << result.err;
      }
      EXPECT_TRUE(data_of("out.npy") == data_of("whole.npy")) << kind << at;
      fs::remove(directory_ / "out.npy");
      EXPECT_EQ(files().size(), 2U);
    }
  }
}

// File systems without O_DIRECT, blocks that are set aside, nameless files and locks: slower, and said.
TEST_F(LargeFiles, RemoteFileSystems) {
  ASSERT_EQ(run("new 2^16 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute bit_reversal in.npy whole.npy --quiet").status, 0);
  ASSERT_EQ(run("shuffle in.npy shuffled.npy --seed 2 --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  const std::string remote = "env FARO_REMOTE=1 LD_PRELOAD=" + std::string(library);
  const Result swept = run("permute 'transpose(2, 32768)' in.npy out.npy --memory 100KiB --json", remote);
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_THAT(Json::parse(swept.out)["io"].get<std::string>(),
              HasSubstr("buffered, for it is refused O_DIRECT"));
  ASSERT_EQ(run("permute 'transpose(2, 32768)' in.npy whole2.npy --quiet").status, 0);
  EXPECT_TRUE(data_of("out.npy") == data_of("whole2.npy"));
  ASSERT_EQ(run("shuffle in.npy out.npy --seed 2 --memory 100KiB --quiet", remote).status, 0);
  EXPECT_TRUE(data_of("out.npy") == data_of("shuffled.npy"));
  ASSERT_EQ(run("permute bit_reversal in.npy --in-place --memory 100KiB --quiet", remote).status, 0);
  EXPECT_TRUE(data_of("in.npy") == data_of("whole.npy"));
  EXPECT_EQ(files().size(), 5U);
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

// An input that is cut while it is read: one line, and nothing that looks done.
TEST_F(LargeFiles, InputsThatShrink) {
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 2^14 u4 whole.npy").status, 0);
  for (const char* const words : {"permute bit_reversal in.npy out.npy", "shuffle in.npy out.npy --seed 1"}) {
    fs::copy_file(directory_ / "whole.npy", directory_ / "in.npy", fs::copy_options::overwrite_existing);
    // Waits at a reading, until the file was cut.
    std::thread cut([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      fs::resize_file(directory_ / "in.npy", 4096);
    });
    const Result result =
        run(std::string(words) + " --memory 12KiB --io buffered --threads 1 --quiet",
            "env LD_PRELOAD=" + std::string(library) + " FARO_FAULT=read FARO_FAULT_AT=12 FARO_FAULT_WAIT=2");
    cut.join();
    EXPECT_EQ(result.status, 6) << words << result.err;
    EXPECT_EQ(lines_of(result.err), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("in.npy"));
    EXPECT_FALSE(fs::exists(directory_ / "out.npy"));
    for (const auto& [file, content] : files()) {
      if (file.starts_with(".faro-")) fs::remove(directory_ / file);
    }
  }
}

// A disk that has room for the output once has it for going on with it, too.
TEST_F(LargeFiles, ResumedOnADiskThatIsNearlyFull) {
  fs::create_directory(directory_ / "full");
  ASSERT_EQ(run("new 2^20 u4 in.npy").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  // Killed before a write in the middle, then gone on with, in one mount namespace.
  const std::string command =
      "\"$0\" permute bit_reversal ../in.npy out.npy --memory 48KiB --checkpoint 0 --io buffered --quiet";
  const std::string script = "env LD_PRELOAD=" + std::string(library) +
                             " FARO_FAULT=write FARO_FAULT_AT=100 FARO_FAULT_KILL=1 " + command +
                             "; test -e .faro-partial-out.npy || exit 78; " + command + " --resume";
  const std::string words =
      "unshare -m sh -c 'mount -t tmpfs -o size=6m faro-test full 2>/dev/null || exit "
      "77; cd full; " +
      script + "' '" + faro_command().string() + "'";
  const int status = std::system(("cd '" + directory_.string() + "' && " + words + " 2>err.txt").c_str());
  if (status / 256 == 77 || status / 256 == 1) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0) << content_of(directory_ / "err.txt");
}

// --- in place

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

// --- files without a header, and records

TEST_F(LargeFiles, RawFiles) {
  ASSERT_EQ(run("new 128x64 u4 in.npy").status, 0);
  std::ofstream(directory_ / "in.raw", std::ios::binary) << data_of("in.npy");
  for (const char* const arguments : {"bit_reversal", "transpose", "'random(8192, 3)'", "'b s -> s b'"}) {
    for (const char* const memory : {"", " --memory 400KiB"}) {
      ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0);
      const Result raw =
          run("permute " + std::string(arguments) + " in.raw b.raw --raw u4 --shape 128x64" + memory);
      ASSERT_EQ(raw.status, 0) << raw.err;
      EXPECT_EQ(content_of(directory_ / "b.raw"), data_of("a.npy")) << arguments;
    }
  }
  ASSERT_EQ(run("shuffle in.npy a.npy --seed 4 --quiet").status, 0);
  ASSERT_EQ(run("shuffle in.raw b.raw --seed 4 --quiet --raw u4 --shape 8192").status, 0);
  EXPECT_EQ(content_of(directory_ / "b.raw"), data_of("a.npy"));
  ASSERT_EQ(run("permute bit_reversal in.raw --in-place --memory 3KiB --raw u4 --shape 8192 --quiet").status,
            0);
  ASSERT_EQ(run("permute 'bit_reversal(13)' in.npy a.npy --quiet").status, 0);
  EXPECT_EQ(content_of(directory_ / "in.raw"), data_of("a.npy"));
}

TEST_F(LargeFiles, Streams) {
  ASSERT_EQ(run("new 1000x64 u4 in.npy").status, 0);
  std::ofstream(directory_ / "in.raw", std::ios::binary) << data_of("in.npy");
  const std::string faro = "'" + faro_command().string() + "'";
  const auto shell = [&](const std::string& words) {
    return std::system(("cd '" + directory_.string() + "' && " + words + " 2>err.txt").c_str());
  };
  for (const char* const arguments : {"'bit_reversal(6)' --axis 1", "transpose"}) {
    const std::string words = std::string(arguments);
    ASSERT_EQ(run("permute " + words + " in.npy a.npy --quiet").status, 0);
    const std::string small = words == "transpose" ? "" : " --memory 4KiB";
    EXPECT_EQ(shell("cat in.npy | " + faro + " permute " + words + " - - " + small + " | cat > b.npy"), 0);
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments << content_of(directory_ / "err.txt");
    EXPECT_EQ(shell("cat in.npy | " + faro + " permute " + words + " - c.npy " + small), 0);
    EXPECT_EQ(data_of("a.npy"), data_of("c.npy")) << arguments;
    EXPECT_EQ(shell(faro + " permute " + words + " in.npy - " + small + " > d.npy"), 0);
    EXPECT_EQ(content_of(directory_ / "b.npy"), content_of(directory_ / "d.npy")) << arguments;
    EXPECT_EQ(shell("cat in.raw | " + faro + " permute " + words + " - - --raw u4 --shape 1000x64 > d.raw"),
              0);
    EXPECT_EQ(content_of(directory_ / "d.raw"), data_of("a.npy")) << arguments;
  }
  // A leading axis that stays is a batch.
  ASSERT_EQ(run("permute 'n (h w) -> n w h, h=8' in.npy a.npy --quiet").status, 0);
  EXPECT_EQ(shell("cat in.npy | " + faro + " permute 'n (h w) -> n w h, h=8' - d.npy --memory 4KiB --verify"),
            0);
  EXPECT_EQ(data_of("a.npy"), data_of("d.npy")) << content_of(directory_ / "err.txt");
  const auto refused = [&](const std::string& words, int status, const std::string& told) {
    EXPECT_EQ(shell(words) / 256, status) << words;
    EXPECT_THAT(content_of(directory_ / "err.txt"), HasSubstr(told)) << words;
    EXPECT_FALSE(fs::exists(directory_ / "e.npy")) << words;
  };
  refused("head -c 5000 in.npy | " + faro + " permute transpose - e.npy", 6, "too early");
  refused("head -c 50 in.npy | " + faro + " permute transpose - e.npy", 6, "truncated header");
  refused("cat in.npy in.raw | " + faro + " permute transpose - e.npy", 6, "more data");
  refused("cat in.npy | " + faro + " permute transpose - e.npy --memory 4KiB", 3, "whole array");
  EXPECT_EQ(shell("cat in.npy | " + faro + " permute transpose - d.npy --verify"), 0);
  EXPECT_THAT(content_of(directory_ / "err.txt"), HasSubstr("verified"));
  refused("cat in.npy | " + faro + " permute transpose - - --json > /dev/null", 3, "--json");
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

// Peak resident memory, by the kernel's count, of a file that is larger than the budget.
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
  for (std::vector<const char*> words : runs) {
    const char* const spec = words[1];
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(directory_.c_str()) != 0) _exit(126);
      words.insert(words.begin(), "faro");
      for (const char* const more : {"--memory", "32MiB", "--quiet", "--no-sync"}) words.push_back(more);
      words.push_back(nullptr);
      execv(faro_command().c_str(), const_cast<char* const*>(words.data()));
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    ASSERT_EQ(wait4(child, &status, 0, &usage), child);
    EXPECT_EQ(status, 0) << spec;
    EXPECT_GT(usage.ru_maxrss, 16L << 10) << spec;  // KiB
    EXPECT_LT(usage.ru_maxrss, (32 + 64L) << 10) << spec;
  }
}

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
  // Of either direction, along an axis, read whole and as it is needed.
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
        "'compose(roll(1000, 7), inverse(compose(@i.npy, @j.npy)))' --axis 1"}) {
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
  const Result explained = run("explain 'compose(@i.npy, @j.npy)' --file --memory 12KiB --batch 24 --json");
  ASSERT_EQ(explained.status, 0) << explained.err;
  EXPECT_EQ(Json::parse(explained.out)["sweeps"], 2);
}

TEST_F(LargeFiles, MultiplicationsAndViewsAreVerified) {
  ASSERT_EQ(run("new 10007 u4 in.npy").status, 0);
  for (const char* const arguments :
       {"'multiply(10007, 3)'", "'affine_mod(10007, -77, 5)'", "'multiply(10007, 5004)' --inverse"}) {
    ASSERT_EQ(run("permute " + std::string(arguments) + " in.npy a.npy --quiet").status, 0);
    const Result result = run("permute " + std::string(arguments) + " in.npy b.npy --memory 5000 --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("one sweep"));
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments;
  }
  for (const char* const view : {"'strided(2 3000; 3000 1; 3 2)'", "'strided(100 100; 1 100; 100 1; 7 0)'",
                                 "'strided(5000; 2; 1)'", "'strided(3000 2; 3 -1; 2 1; 1 0)'"}) {
    ASSERT_EQ(run("permute " + std::string(view) + " in.npy a.npy --quiet").status, 0);
    const Result result = run("permute " + std::string(view) + " in.npy b.npy --memory 5000 --verify");
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << view;
  }
}

TEST_F(LargeFiles, ExplainedAndPredicted) {
  const std::string cache = "FARO_CACHE=" + (directory_ / "cache").string();
  const std::string asked = "explain 'bit_reversal(36)' --file --memory 16GiB";
  const Result before = run(asked, cache);
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("one sweep, tiles of 4 GiB in segments of 128 KiB"));
  EXPECT_THAT(before.out, HasSubstr("not known"));
  const Result tuned = run("tune --disk . --quick --json", cache);
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  std::set<std::string> keys;
  testing::collect_keys(Json::parse(tuned.out), "", keys);
  EXPECT_EQ(keys, documented_keys()["tune, of a disk"]);
  const Result after = run(asked + " --json", cache);
  ASSERT_EQ(after.status, 0) << after.err;
  const Json json = Json::parse(after.out);
  EXPECT_GT(json["predicted_ms"], 0);
  // 2 N/B (6 ceil(15 / 17) + 5): the rank of segments of 2^15 elements is 15, lg(M/B) is 17.
  EXPECT_EQ(json["published_transfers"], 11 * json["transfers"].get<double>());
  // The sweep holds the plan of its tiles, as `explain` tells it.
  EXPECT_EQ(json["tile_plan"]["permutation"], "bit_reversal(30)");
  keys.clear();
  testing::collect_keys(json["tile_plan"]["plan"], "", keys);
  std::set<std::string> of_a_plan = documented_keys()["explain"];
  of_a_plan.merge(documented_keys()["explain, of a plan for a CPU"]);
  for (const std::string& key : keys) EXPECT_TRUE(of_a_plan.contains(key)) << key;
  EXPECT_EQ(json["tile_plan"]["plan"]["passes"].size(), 1U);
  Json flat = json;
  flat["tile_plan"]["plan"] = nullptr;
  keys.clear();
  testing::collect_keys(flat, "", keys);
  EXPECT_EQ(keys, documented_keys()["explain, from file to file"]);
  EXPECT_THAT(run(asked, cache).out, HasSubstr("of each tile, in memory\n  "));
  EXPECT_EQ(run("explain 'bit_reversal(36)' --memory 16GiB").status, 2);
  EXPECT_THAT(run("explain 'random_bmmc(36, 1)' --file --in-place --memory 16GiB", cache).out,
              HasSubstr("in place in 2 sweeps"));
  EXPECT_THAT(run("explain 'multiply(1000003, 5)' --file --memory 1MiB", cache).out, HasSubstr("one sweep"));
  // An index array over more than memory holds: two sweeps.
  const Result indexed = run("explain 'random(100000, 1)' --file --memory 200KiB --json", cache);
  ASSERT_EQ(indexed.status, 0) << indexed.err;
  EXPECT_EQ(Json::parse(indexed.out)["sweeps"], 2);
  EXPECT_GT(Json::parse(indexed.out)["predicted_ms"], 0);
  EXPECT_THAT(run("explain 'random(100000, 1)' --file --memory 200KiB", cache).out,
              HasSubstr("a distribution and a sweep"));
}

}  // namespace cli_large_files_test
}  // namespace faro
