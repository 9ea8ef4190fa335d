// Files of the command beside other processes, other owners and other systems: who may follow a link, whose a
// file is, who holds it, and what a power cut leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "cli_support.hpp"

namespace cli_files_test {
namespace {

using faro::testing::CommandTest;
using faro::testing::faro_command;
using faro::testing::Result;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class Files : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ASSERT_EQ(run("new 4096 u4 a.npy").status, 0);
  }

  fs::path path(const std::string& name) const { return directory_ / name; }

  struct stat status_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat(path(name).c_str(), &status), 0) << name;
    return status;
  }

  int shell(const std::string& line) const {
    const int status =
        std::system(("cd '" + directory_.string() + "' && { " + line + "\n} >.log 2>&1").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string log() const { return faro::testing::content_of(path(".log")); }
};

TEST_F(Files, ALinkOfAnotherInAStickyFolderIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make another's link";
  fs::create_directory(path("shared"));
  ASSERT_EQ(chmod(path("shared").c_str(), 01777), 0);
  fs::create_symlink(path("victim.npy"), path("shared/link.npy"));
  ASSERT_EQ(lchown(path("shared/link.npy").c_str(), kNobody, kNobody), 0);
  const Result result = run("permute reverse a.npy shared/link.npy");
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.err, HasSubstr("ermission denied"));
  EXPECT_FALSE(fs::exists(path("victim.npy")));
  // The folder's owner's link is followed, and so is our own.
  ASSERT_EQ(lchown(path("shared/link.npy").c_str(), 0, 0), 0);
  EXPECT_EQ(run("permute reverse a.npy shared/link.npy").status, 0);
  EXPECT_TRUE(fs::exists(path("victim.npy")));
}

TEST_F(Files, WhatIsReplacedKeepsOwnerModeAndAttributes) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  for (const std::string more : {"", " --no-backup"}) {
    ASSERT_EQ(chown(path("a.npy").c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chmod(path("a.npy").c_str(), 04777), 0);
    const bool has_attributes = setxattr(path("a.npy").c_str(), "user.of", "mine", 4, 0) == 0;
    ASSERT_EQ(run("permute --in-place reverse a.npy --quiet" + more).status, 0);
    const struct stat status = status_of("a.npy");
    EXPECT_EQ(status.st_uid, kNobody);
    EXPECT_EQ(status.st_gid, kNobody);
    EXPECT_EQ(status.st_mode & 0777U, 0777U);
    if (more.empty()) {
      EXPECT_EQ(status.st_mode & 07000U, 0U) << "set-id bits were the old content's";
    }
    char value[8] = {};
    if (has_attributes) {
      EXPECT_EQ(getxattr(path("a.npy").c_str(), "user.of", value, sizeof value), 4);
      EXPECT_STREQ(value, "mine");
    }
  }
}

// An access control list as the kernel keeps it: a version, then tag, permissions and number of each entry.
std::string access_list(std::uint32_t user, std::uint16_t permissions) {
  struct Entry {
    std::uint16_t tag;
    std::uint16_t permissions;
    std::uint32_t number;
  };
  constexpr std::uint32_t kVersion = 2;
  constexpr std::uint32_t kNobodyNamed = 0xffffffff;
  const std::array entries{Entry{0x01, 6, kNobodyNamed}, Entry{0x02, permissions, user},
                           Entry{0x04, 4, kNobodyNamed}, Entry{0x10, 6, kNobodyNamed},
                           Entry{0x20, 0, kNobodyNamed}};
  std::string text(sizeof kVersion, '\0');
  std::memcpy(text.data(), &kVersion, sizeof kVersion);
  for (const Entry& entry : entries) text.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  return text;
}

std::string attribute_of(const fs::path& file, const char* name) {
  std::string value(4096, '\0');
  const ssize_t bytes = getxattr(file.c_str(), name, value.data(), value.size());
  value.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  return value;
}

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr const char* kDefaultList = "system.posix_acl_default";

TEST_F(Files, WhatIsReplacedKeepsItsAccessList) {
  std::ofstream(path("out.cu")) << "old\n";
  std::ofstream(path("out.svg")) << "old\n";
  const std::string wanted = access_list(kNobody, 6);
  struct Written {
    const char* file;
    const char* arguments;
  };
  for (const Written& each :
       {Written{"a.npy", "permute --in-place reverse a.npy --quiet"},
        Written{"out.cu", "emit 'bit_reversal(8)' --out out.cu"},
        Written{"out.svg", "explain 'bit_reversal(8)' --svg out.svg"}, Written{"a.npy", "new 16 u4 a.npy"}}) {
    if (setxattr(path(each.file).c_str(), kAccessList, wanted.data(), wanted.size(), 0) != 0)
      GTEST_SKIP() << "no access control lists on this file system";
    const auto mode = status_of(each.file).st_mode;
    ASSERT_EQ(run(each.arguments).status, 0) << each.arguments;
    EXPECT_EQ(attribute_of(path(each.file), kAccessList), wanted) << each.arguments;
    EXPECT_EQ(status_of(each.file).st_mode, mode) << each.arguments;
  }
}

// A folder's default list is for new files; one that had none of its own gets none by being replaced.
TEST_F(Files, AFoldersDefaultListIsNotGivenToWhatIsReplaced) {
  const std::string list = access_list(kNobody, 6);
  ASSERT_EQ(chmod(path("a.npy").c_str(), 0600), 0);
  if (setxattr(directory_.c_str(), kDefaultList, list.data(), list.size(), 0) != 0)
    GTEST_SKIP() << "no access control lists on this file system";
  ASSERT_EQ(run("permute --in-place reverse a.npy --quiet").status, 0);
  EXPECT_EQ(attribute_of(path("a.npy"), kAccessList), "");
  EXPECT_EQ(status_of("a.npy").st_mode & 0777U, 0600U);
  ASSERT_EQ(run("permute reverse a.npy out.npy --quiet").status, 0);
  EXPECT_NE(attribute_of(path("out.npy"), kAccessList), "") << "a new file, as the folder wants them";
}

TEST_F(Files, AttributesThatCannotBeGivenRefuseTheFile) {
  const char* const faults = std::getenv("FARO_FAULTS");
  if (faults == nullptr) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  std::ofstream(path("out.cu")) << "old\n";
  for (const char* const file : {"a.npy", "out.cu"}) {
    const std::string list = access_list(kNobody, 6);
    if (setxattr(path(file).c_str(), "user.of", "mine", 4, 0) != 0 ||
        setxattr(path(file).c_str(), kAccessList, list.data(), list.size(), 0) != 0)
      GTEST_SKIP() << "no attributes or access control lists on this file system";
  }
  const auto before = files();
  for (const std::string at : {"1", "2"}) {
    for (const std::string arguments :
         {"permute --in-place reverse a.npy", "emit 'bit_reversal(8)' --out out.cu"}) {
      for (const std::string named : {"0", "1"}) {
        const Result result =
            run(arguments, "FARO_FAULT=attribute FARO_FAULT_AT=" + at + " FARO_NO_TMPFILE=" + named +
                               " LD_PRELOAD='" + std::string(faults) + "'");
        EXPECT_EQ(result.status, 6) << arguments;
        EXPECT_THAT(result.err, HasSubstr("its attribute ")) << arguments;
        EXPECT_EQ(files(), before) << arguments;
        EXPECT_EQ(attribute_of(path("a.npy"), "user.of"), "mine");
      }
    }
  }
}

TEST_F(Files, AFileThatWouldChangeItsOwnerIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another";
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  ASSERT_EQ(chmod(path("a.npy").c_str(), 0666), 0);
  const std::string before = faro::testing::content_of(path("a.npy"));
  const int status = shell("setpriv --reuid 65534 --regid 65534 --clear-groups '" + faro_command().string() +
                           "' permute --in-place reverse a.npy");
  if (status == 127 || status == 126) GTEST_SKIP() << "no setpriv, or a command that others may not run";
  EXPECT_EQ(status, 6) << log();
  EXPECT_THAT(log(), HasSubstr("owner"));
  EXPECT_EQ(faro::testing::content_of(path("a.npy")), before);
  EXPECT_EQ(status_of("a.npy").st_uid, 0U);
}

TEST_F(Files, AHeldFileIsRefusedAndItsHolderNamed) {
  for (const std::string more : {"", " --no-backup"}) {
    const std::string before = faro::testing::content_of(path("a.npy"));
    const int status = shell("flock -x a.npy sleep 5 & holder=$!; sleep 0.3; '" + faro_command().string() +
                             "' permute --in-place reverse a.npy" + more +
                             "; status=$?; pkill -P $holder; kill $holder; exit $status");
    EXPECT_EQ(status, 6) << log();
    EXPECT_THAT(log(), ::testing::ContainsRegex("process [0-9]+ \\((flock|sleep)\\)"));
    EXPECT_EQ(faro::testing::content_of(path("a.npy")), before);
  }
}

// Two at a time: one is refused, or both did their part.
TEST_F(Files, TwoAtATimeLoseNothing) {
  ASSERT_EQ(run("new 2^20 u4 b.npy").status, 0);
  const std::string before = faro::testing::content_of(path("b.npy"));
  for (const std::string more : {" --no-backup", ""}) {
    for (int round = 0; round < 5; ++round) {
      const std::string one =
          "'" + faro_command().string() + "' permute --in-place 'random_bmmc(20, 1)' b.npy --quiet" + more;
      shell(one + " & first=$!; " + one + "; echo second $? >.second; wait $first; echo first $? >.first");
      int done = 0;
      for (const char* const name : {".first", ".second"}) {
        const std::string told = faro::testing::content_of(path(name));
        const bool refused = told.find(" 6") != std::string::npos;
        EXPECT_TRUE(refused || told.find(" 0") != std::string::npos) << told;
        done += refused ? 0 : 1;
        fs::remove(path(name));
      }
      EXPECT_GE(done, 1);
      for (int i = 0; i < done; ++i)
        ASSERT_EQ(run("permute --in-place 'random_bmmc(20, 1)' b.npy --inverse --quiet").status, 0);
      EXPECT_TRUE(faro::testing::content_of(path("b.npy")) == before) << done << " were told to be done";
    }
  }
}

// A first process of a container has a signal's default action only if it asks for it by itself.
TEST_F(Files, TheFirstProcessOfAContainerEndsBySignals) {
  if (shell("unshare -pf --kill-child true") != 0)
    GTEST_SKIP() << "needs PID namespaces, and the right to make them";
  for (const std::string signal : {"TERM", "INT", "HUP"}) {
    const int status =
        shell("unshare -pf '" + faro_command().string() +
              "' bench 'bit_reversal(24)' --quick >/dev/null 2>&1 & "
              "namespace=$!; sleep 0.5; pkill -" +
              signal +
              " -P $namespace; "
              "for i in $(seq 50); do kill -0 $namespace 2>/dev/null || exit 0; sleep 0.1; done; "
              "pkill -KILL -P $namespace; exit 1");
    EXPECT_EQ(status, 0) << signal;
  }
}

// In two PID namespaces both are process 1; on a file system without nameless files both write beside their
// outputs.
TEST_F(Files, TemporaryNamesOfTwoContainersDiffer) {
  const char* const faults = std::getenv("FARO_FAULTS");
  if (faults == nullptr || shell("unshare -pf true") != 0)
    GTEST_SKIP() << "needs FARO_FAULTS and PID namespaces";
  ASSERT_EQ(run("permute reverse a.npy expected_1.npy").status, 0);
  ASSERT_EQ(run("permute 'xor(12, 5)' a.npy expected_2.npy").status, 0);
  for (int round = 0; round < 20; ++round) {
    const std::string faro = "FARO_NO_TMPFILE=1 LD_PRELOAD='" + std::string(faults) + "' unshare -pf '" +
                             faro_command().string() + "' permute ";
    ASSERT_EQ(shell(faro + "reverse a.npy one.npy & first=$!; " + faro +
                    "'xor(12, 5)' a.npy two.npy && wait $first"),
              0)
        << log();
    EXPECT_TRUE(faro::testing::content_of(path("one.npy")) ==
                faro::testing::content_of(path("expected_1.npy")));
    EXPECT_TRUE(faro::testing::content_of(path("two.npy")) ==
                faro::testing::content_of(path("expected_2.npy")));
  }
  for (const auto& [name, content] : files()) EXPECT_FALSE(name.starts_with(".faro-")) << name;
}

TEST_F(Files, AFullStandardOutputChangesNothing) {
  const auto before = files();
  for (const std::string arguments :
       {"permute reverse a.npy out.npy --json", "permute --in-place reverse a.npy --json",
        "network run sort a.npy out.npy --json", "new 16 u4 out.npy --json",
        "emit 'bit_reversal(8)' --out out.cu --json", "explain 'bit_reversal(8)' --svg out.svg",
        "network explain sort --bits 5 --svg out.svg", "simulate contiguous --svg out.svg",
        "layout --rows 8 --columns 8 --access column --svg out.svg"}) {
    if (!faro::testing::has_verb(arguments)) continue;
    EXPECT_EQ(shell("'" + faro_command().string() + "' " + arguments + " >/dev/full"), 6)
        << arguments << log();
    fs::remove(path(".log"));
    EXPECT_EQ(files(), before) << arguments;
  }
  // What was changed where it lies is told to be.
  EXPECT_EQ(shell("'" + faro_command().string() +
                  "' permute --in-place reverse a.npy --no-backup --json >/dev/full"),
            9);
  EXPECT_THAT(log(), HasSubstr("is permuted"));
  fs::remove(path(".log"));
  EXPECT_NE(files(), before);
}

// What a circuit's file holds besides its map is told once, behind the result, also where both go to one
// place.
TEST_F(Files, WhatIsLeftOutIsToldBehindTheResult) {
  std::ofstream(path("c.qasm"))
      << "OPENQASM 3.0;\nbit[2] b;\nqubit[2] q;\nx q[0];\ncnot q[0], q[1];\nb = measure q;\n";
  EXPECT_EQ(shell("'" + faro_command().string() + "' explain 'compose(@c.qasm, @c.qasm)' >both 2>&1"), 0);
  const std::string both = faro::testing::content_of(path("both"));
  const std::string told = "faro: c.qasm: ignored 1 measurement after the gates\n";
  EXPECT_THAT(both, ::testing::StartsWith("permutation "));
  EXPECT_EQ(both.find(told), both.size() - told.size()) << both;
  EXPECT_EQ(run("explain @c.qasm").err, told);
}

TEST_F(Files, NothingThatIsReadIsWrittenOver) {
  std::ofstream(path("m.json")) << R"({"n": 2, "columns": [1, 2]})";
  std::ofstream(path("c.qasm")) << "OPENQASM 2.0;\nqreg q[3];\nx q[0];\n";
  std::ofstream(path("t.txt")) << "0 1 2 3\n";
  fs::create_hard_link(path("m.json"), path("same.json"));
  const auto before = files();
  for (const std::string arguments :
       {"emit @m.json --out m.json", "emit @m.json --out same.json", "explain @c.qasm --svg c.qasm",
        "explain 'inverse(@c.qasm)' --svg ./c.qasm", "simulate trace t.txt --svg t.txt",
        "layout --rows 8 --columns 8 --access @t.txt --svg t.txt", "permute @m.json a.npy m.json",
        "permute reverse a.npy ./a.npy"}) {
    if (!faro::testing::has_verb(arguments)) continue;
    const Result result = run(arguments);
    EXPECT_GE(result.status, 2) << arguments;
    EXPECT_LE(result.status, 3) << arguments << result.err;
    EXPECT_EQ(files(), before) << arguments;
  }
}

TEST_F(Files, SmallStacksAndManyThreadsDoNoHarm) {
  for (const std::string before :
       {"ulimit -s 256;", "OMP_STACKSIZE=16k", "GOMP_STACKSIZE=16", "OMP_NUM_THREADS=65536",
        "OMP_NUM_THREADS=32768", "ulimit -s 256; OMP_STACKSIZE=16k OMP_NUM_THREADS=65536"}) {
    for (const std::string arguments :
         {"permute 'random_bmmc(12, 1)' a.npy out.npy --verify",
          "permute 'random(4096, 1)' a.npy out.npy --verify", "network run sort a.npy out.npy",
          "bench 'bit_reversal(16)' --quick"}) {
      if (!faro::testing::has_verb(arguments)) continue;
      const Result result = run(arguments, before);
      if (arguments.starts_with("bench") && result.status == 2) continue;  // of another option
      EXPECT_EQ(result.status, 0) << before << arguments << "\n" << result.err;
    }
  }
}

TEST_F(Files, NamesCannotHarmATerminal) {
  const Result result = run("permute reverse $'no\\e[31m\\nsuch.npy' out.npy", "bash -c ':';");
  EXPECT_EQ(result.status, 6);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos) << result.err;
  const std::string longest(4000, 'n');
  const Result with_long = run("permute reverse '" + longest + "' out.npy");
  EXPECT_EQ(with_long.status, 6);
  EXPECT_LT(with_long.err.size(), 1500U);
}

TEST_F(Files, HugeHeadersAreRefusedBeforeTheyAreParsed) {
  std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 5'000'000; ++i) header += "1,";
  header += "), }\n";
  std::string file = std::string("\x93NUMPY\x02\x00", 8);
  for (int i = 0; i < 4; ++i) file += static_cast<char>(header.size() >> 8 * i & 0xff);
  std::ofstream(path("huge.npy"), std::ios::binary) << file << header << "0123";
  const Result result = run("permute reverse huge.npy out.npy", "ulimit -v 4000000;");
  EXPECT_EQ(result.status, 6) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a header of 1"));
}

}  // namespace
}  // namespace cli_files_test
