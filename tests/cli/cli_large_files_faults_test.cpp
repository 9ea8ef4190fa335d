// What goes wrong while `faro permute` and `faro shuffle` move files larger than memory: injected errors,
// other file systems, inputs that shrink, full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "cli_large_files_support.hpp"
#include "cli_support.hpp"

namespace faro {
namespace cli_large_files_faults_test {

using testing::content_of;
using testing::faro_command;
using ::testing::HasSubstr;
using testing::Json;
using testing::LargeFiles;
using testing::lines_of;
using testing::Result;
namespace fs = std::filesystem;

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

// A folder that takes names, but not a byte: not even the journal's first line, which leaves no journal.
TEST_F(LargeFiles, NotAByteCanBeWritten) {
  ASSERT_EQ(run("new 2^14 u4 in.npy").status, 0);
  for (const char* const command : {"permute bit_reversal in.npy out.npy --memory 12KiB",
                                    "shuffle in.npy out.npy --seed 4 --memory 20KiB"}) {
    EXPECT_EQ(run(command, "ulimit -f 0;").status, 6) << command;  // nor can it be told why
    EXPECT_EQ(files().size(), 1U) << command;
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

// Kernels of 64-bit ARM have pages of 16 and 64 KiB, too: of memory and of mapped files none is cut.
TEST_F(LargeFiles, PagesOfOtherSizes) {
  ASSERT_EQ(run("new 37x1001 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute 'axes(1 0)' in.npy turned.npy --quiet").status, 0);
  ASSERT_EQ(run("permute 'axes(1 0)' in.npy fortran.npy --order F --quiet").status, 0);
  ASSERT_EQ(run("new 2^18 u4 bits.npy").status, 0);
  ASSERT_EQ(run("permute bit_reversal bits.npy reversed.npy --quiet").status, 0);
  const char* const library = std::getenv("FARO_FAULTS");
  if (library == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  for (const std::uint64_t page : {4096, 16384, 65536}) {
    const std::string paged = "env FARO_PAGE=" + std::to_string(page) + " LD_PRELOAD=" + std::string(library);
    const Result told = run("info --json", paged);
    ASSERT_EQ(told.status, 0) << told.err;
    EXPECT_EQ(Json::parse(told.out)["page_bytes"].get<std::uint64_t>(), page);
    const auto gives = [&](const std::string& words, const char* wanted) {
      const Result result = run("permute " + words + " --quiet", paged);
      EXPECT_EQ(result.status, 0) << page << ": " << words << ": " << result.err;
      EXPECT_TRUE(data_of("out.npy") == data_of(wanted)) << page << ": " << words;
      fs::remove(directory_ / "out.npy");
    };
    gives("'axes(1 0)' in.npy out.npy", "turned.npy");
    gives("'axes(0 1)' fortran.npy out.npy", "turned.npy");  // read in Fortran order, written in C order
    for (const char* const io : {"threads", "buffered", "auto"}) {
      gives("'axes(1 0)' in.npy out.npy --memory 100KiB --io " + std::string(io), "turned.npy");
      gives("bit_reversal bits.npy out.npy --memory 200KiB --io " + std::string(io), "reversed.npy");
    }
    for (const char* const way : {"--no-backup", "--memory 200KiB"}) {
      fs::copy_file(directory_ / "bits.npy", directory_ / "x.npy", fs::copy_options::overwrite_existing);
      const Result result = run(std::string("permute bit_reversal x.npy --in-place --quiet ") + way, paged);
      EXPECT_EQ(result.status, 0) << page << way << result.err;
      EXPECT_TRUE(data_of("x.npy") == data_of("reversed.npy")) << page << way;
    }
    fs::remove(directory_ / "x.npy");
  }
  EXPECT_EQ(files().size(), 5U);
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

// Room for the output and not for the scratch file: of neither anything stays.
TEST_F(LargeFiles, ADiskWithoutRoomForTheScratchFile) {
  fs::create_directory(directory_ / "full");
  ASSERT_EQ(run("new 2^18 u4 in.npy").status, 0);
  const std::string words =
      "unshare -m sh -c 'mount -t tmpfs -o size=1400k faro-test full 2>/dev/null || exit 77; cd full; \"$0\" "
      "shuffle ../in.npy out.npy --seed 1 --memory 64KiB; test $? = 6 || exit 78; test -z \"$(ls -A)\"' '" +
      faro_command().string() + "'";
  const int status = std::system(("cd '" + directory_.string() + "' && " + words + " 2>err.txt").c_str());
  if (status / 256 == 77) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines_of(content_of(directory_ / "err.txt")), 1) << content_of(directory_ / "err.txt");
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

// A result in Fortran order that takes one sweep more, from a file beside the output that an interrupted run
// leaves: another run takes it for its own in no case, and one that begins anew removes it.
class TurnedFiles : public LargeFiles {
 protected:
  // Killed in the second sweep. Returns the kept file's name.
  std::string interrupt(const std::string& command) {
    const std::string library = std::getenv("FARO_FAULTS");
    for (int at = 20; at < 400; at += 4) {
      run(command, "env LD_PRELOAD=" + library + " FARO_FAULT=write FARO_FAULT_AT=" + std::to_string(at) +
                       " FARO_FAULT_KILL=1");
      if (fs::exists(directory_ / ".faro-partial-out.npy") && !kept().empty()) return kept();
      for (const auto& entry : files()) {
        if (entry.first.starts_with(".faro-")) fs::remove(directory_ / entry.first);
      }
    }
    return "";
  }

  std::string kept() const {
    std::string name;
    for (const auto& entry : files()) {
      if (entry.first.starts_with(".faro-partial-out.npy-permuted-")) name += entry.first;
    }
    return name;
  }

  const std::string how_ = " in.npy out.npy --order F --memory 8KiB --checkpoint 0 --io buffered --no-sync";
};

TEST_F(TurnedFiles, AreKnownByWhatAnIndexArrayIs) {
  if (std::getenv("FARO_FAULTS") == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 96x20 u4 in.npy").status, 0);
  const auto make_index = [&](int seed) {
    ASSERT_EQ(run("new 96 u4 i.npy").status, 0);
    ASSERT_EQ(run("permute 'random(96, " + std::to_string(seed) + ")' i.npy p.npy").status, 0);
  };
  make_index(1);
  ASSERT_EQ(run("permute @p.npy in.npy first.npy --rows --order F").status, 0);
  const std::string command = "permute @p.npy --rows" + how_;
  const std::string name = interrupt(command);
  ASSERT_FALSE(name.empty());
  const auto known = files();
  make_index(2);
  const Result other = run_when_free(command + " --resume");
  EXPECT_EQ(other.status, 6);
  EXPECT_EQ(lines_of(other.err), 1) << other.err;
  EXPECT_THAT(other.err, HasSubstr("a journal of another problem"));
  EXPECT_EQ(kept(), name);
  make_index(1);
  EXPECT_EQ(files(), known);  // nothing was written
  const Result resumed = run_when_free(command + " --resume");
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(data_of("out.npy"), data_of("first.npy"));
  EXPECT_EQ(kept(), "");
}

// A name may have 255 bytes, and what lies beside it has longer ones.
TEST_F(TurnedFiles, OfTheLongestNames) {
  ASSERT_EQ(run("new 96x20 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute 'roll(5)' in.npy wanted.npy --order F").status, 0);
  for (const std::size_t length : {150, 180, 181, 240, 255}) {
    const std::string name = std::string(length - 4, 'n') + ".npy";
    for (const char* const order : {"F", "C"}) {
      for (const char* const resume : {"", " --resume"}) {
        const Result done = run("permute 'roll(5)' in.npy " + name +
                                " --memory 8KiB --checkpoint 0 --no-sync" + " --order " + order + resume);
        ASSERT_EQ(done.status, 0) << length << done.err;
        if (*order == 'F') {
          EXPECT_EQ(data_of(name), data_of("wanted.npy"));
        }
        EXPECT_EQ(files().size(), 3U) << length;
        fs::remove(directory_ / name);
      }
    }
  }
}

TEST_F(TurnedFiles, AreRemovedByARunThatBeginsAnew) {
  if (std::getenv("FARO_FAULTS") == nullptr) GTEST_SKIP() << "FARO_FAULTS is not set";
  ASSERT_EQ(run("new 96x20 u4 in.npy").status, 0);
  ASSERT_EQ(run("permute 'roll(7)' in.npy wanted.npy --order F").status, 0);
  ASSERT_EQ(run("permute 'roll(7)' in.npy plain.npy").status, 0);
  const std::string neighbour = ".faro-partial-out.npy-permuted-0123456789abcdex";
  for (const bool is_turned : {true, false}) {
    ASSERT_FALSE(interrupt("permute 'roll(5)'" + how_).empty());
    std::ofstream(directory_ / neighbour) << "another's";
    const Result resumed = run_when_free("permute 'roll(7)'" + how_ + " --resume");
    EXPECT_EQ(resumed.status, 6);
    EXPECT_THAT(resumed.err, HasSubstr("a journal of another problem"));
    const Result done = run_when_free("permute 'roll(7)' in.npy out.npy --memory 8KiB --no-sync --order " +
                                      std::string(is_turned ? "F" : "C"));
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(data_of("out.npy"), data_of(is_turned ? "wanted.npy" : "plain.npy"));
    EXPECT_EQ(kept(), neighbour);
    fs::remove(directory_ / neighbour);
    EXPECT_EQ(files().size(), 4U);
    fs::remove(directory_ / "out.npy");
  }
}

}  // namespace cli_large_files_faults_test
}  // namespace faro
