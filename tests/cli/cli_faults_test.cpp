// The command while the system fails it: each call of a kind in turn fails, or the process is killed before
// it. Whatever happens, what was there is there or the whole result is, and nothing lies beside it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli_support.hpp"

namespace cli_faults_test {
namespace {

using faro::testing::CommandTest;
using faro::testing::content_of;
using faro::testing::faro_command;
using faro::testing::Result;
namespace fs = std::filesystem;

struct Case {
  std::string name;
  std::string arguments;
  std::string out;     // the file that it writes; empty: none
  bool keeps = false;  // what is unfinished, for --resume
};
void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

std::vector<Case> cases() {
  return {
      {"permute", "permute reverse a.npy out.npy --verify", "out.npy"},
      {"permute_json", "permute 'random_bmmc(12, 1)' a.npy out.npy --json", "out.npy"},
      {"permute_index", "permute @p.npy a.npy out.npy --plan-cache p.faro --method partition", "out.npy"},
      {"permute_axes", "permute 'axes(16 16 16; 2 0 1)' a.npy out.npy", "out.npy"},
      {"shuffle", "shuffle a.npy out.npy --seed 1 --memory 24KiB --io threads --threads 1", "out.npy", true},
      {"shuffle_in_one", "shuffle a.npy out.npy --seed 1 --json", "out.npy", true},
      {"raw", "permute 'flip(4128)' a.npy out.npy --raw u4 --shape 4128", "out.npy", true},
      {"recover", "recover a.npy", ""},
      {"in_place", "permute --in-place reverse a.npy", "a.npy"},
      {"in_place_transpose", "permute --in-place 'transpose(30, 70)' m.npy", "m.npy"},
      {"new", "new 4096 u4 out.npy --fill random", "out.npy"},
      {"take", "take p.npy a.npy out.npy", "out.npy"},
      {"add", "add p.npy a.npy out.npy --rows 4096 --json", "out.npy"},
      {"route", "route p.npy --buckets 4096 --out-places out.npy", "out.npy"},
      {"emit", "emit 'bit_reversal(12)' --out out.cu --json", "out.cu"},
      {"explain", "explain 'bit_reversal(12)' --svg out.svg", "out.svg"},
      {"explain_axes", "explain 'axes(30 40 50; 2 0 1)' --engine cuda --capability 9.0", ""},
      {"network", "network run sort a.npy out.npy", "out.npy"},
      {"network_explain", "network explain sort --bits 5 --svg out.svg", "out.svg"},
      {"layout", "layout --rows 8 --columns 8 --access row --access column --svg out.svg", "out.svg"},
      {"simulate", "simulate transpose-diagonal --machine dmm --width 8 --latency 4 --n 2^6 --svg out.svg",
       "out.svg"},
      {"info", "info --json", ""},
      {"maps", "maps", ""},
  };
}

const char* faults_library() { return std::getenv("FARO_FAULTS"); }

class Faults : public CommandTest, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (faults_library() == nullptr) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
    ASSERT_EQ(run("new 4096 u4 a.npy").status, 0);
    ASSERT_EQ(run("new 30x70 u4 m.npy").status, 0);
    ASSERT_EQ(run("new 4096 i4 p.npy").status, 0);
    const Case& test = GetParam();
    if (!faro::testing::has_verb(test.arguments)) GTEST_SKIP() << "a build without this verb";
    if (!test.out.empty() && !fs::exists(directory_ / test.out))
      std::ofstream(directory_ / test.out) << "what was there before\n";
    before_ = files();
    const Result whole = run(test.arguments);
    ASSERT_EQ(whole.status, 0) << whole.err;
    after_ = files();
    restore();
  }

  void restore() {
    for (const auto& entry : fs::directory_iterator(directory_)) fs::remove(entry.path());
    for (const auto& [name, content] : before_) std::ofstream(directory_ / name, std::ios::binary) << content;
  }

  std::string preload(const std::string& more) const {
    return more + " FARO_CACHE='" + directory_.string() + "' LD_PRELOAD='" + faults_library() + "'";
  }

  long calls_of(const std::string& kind, const std::string& no_tmpfile, const std::string& more = "") {
    const fs::path file = fs::path(directory_.string() + ".count");
    const Result counted =
        run(GetParam().arguments + more, preload("FARO_FAULT=" + kind + " FARO_FAULT_COUNT='" +
                                                 file.string() + "' FARO_NO_TMPFILE=" + no_tmpfile));
    EXPECT_EQ(counted.status, 0) << counted.err;
    const std::string text = content_of(file);
    fs::remove(file);
    restore();
    return text.empty() ? 0 : std::stol(text);
  }

  // All of them where there are few; else the first, the last and some between.
  static std::vector<long> chosen(long calls) {
    constexpr long kMost = 24;
    std::vector<long> numbers;
    for (long i = 0; i < std::min(calls, kMost); ++i)
      numbers.push_back(calls <= kMost ? i + 1 : 1 + i * (calls - 1) / (kMost - 1));
    return numbers;
  }

  // The file is the old one or the new one; no other was changed, and none is left over but a plan's cache.
  void expect_whole(const std::string& where, bool may_leave_temporary) {
    const std::string& out = GetParam().out;
    for (const auto& [name, content] : files()) {
      if (GetParam().keeps && name.starts_with(".faro-partial-")) continue;
      if (name.starts_with(".faro-")) {
        EXPECT_TRUE(may_leave_temporary) << where << ": " << name;
      } else if (name == out) {
        EXPECT_TRUE(content == before_[name] || content == after_[name]) << where << ": " << name;
      } else if (before_.contains(name)) {
        EXPECT_TRUE(content == before_[name]) << where << ": " << name;
      } else {
        EXPECT_TRUE(after_.contains(name)) << where << ": " << name;
      }
    }
  }

  std::map<std::string, std::string> before_;
  std::map<std::string, std::string> after_;
};

constexpr int kMostStatus = 9;

TEST_P(Faults, EndInOneLine) {
  for (const char* const no_tmpfile : {"0", "1"}) {
    for (const std::string kind : {"memory", "map", "open", "write", "sync", "rename", "reserve"}) {
      if (*no_tmpfile == '1' && kind == "memory") continue;
      for (const long at : chosen(calls_of(kind, no_tmpfile))) {
        const std::string where = kind + " " + std::to_string(at) + (*no_tmpfile == '1' ? ", named" : "");
        const Result result =
            run(GetParam().arguments, preload("FARO_FAULT=" + kind + " FARO_FAULT_AT=" + std::to_string(at) +
                                              " FARO_NO_TMPFILE=" + no_tmpfile));
        EXPECT_GE(result.status, 0) << where << ": ended by a signal\n" << result.err;
        EXPECT_LE(result.status, kMostStatus) << where << "\n" << result.err;
        if (result.status != 0) {
          EXPECT_THAT(result.err, ::testing::HasSubstr("faro: ")) << where;
          EXPECT_THAT(result.err, ::testing::Not(::testing::HasSubstr("a bug in faro"))) << where;
          const std::string& out = GetParam().out;
          if (!out.empty() && kind != "sync") {
            EXPECT_TRUE(files()[out] == before_[out]) << where << ": refused, and " << out << " was written";
          }
        }
        expect_whole(where, false);
        restore();
      }
    }
  }
}

TEST_P(Faults, BeingKilledLeavesTheOldOrTheNew) {
  if (GetParam().out.empty()) return;
  for (const char* const no_tmpfile : {"0", "1"}) {
    for (const std::string kind : {"write", "sync", "rename", "reserve", "map", "open"}) {
      for (const long at : chosen(calls_of(kind, no_tmpfile))) {
        const std::string where = "killed at " + kind + " " + std::to_string(at);
        const Result result =
            run(GetParam().arguments, preload("FARO_FAULT=" + kind + " FARO_FAULT_AT=" + std::to_string(at) +
                                              " FARO_FAULT_KILL=1 FARO_NO_TMPFILE=" + no_tmpfile));
        EXPECT_NE(result.status, 0) << where;
        expect_whole(where, true);
        // What it left is gone after the next run that writes here.
        ASSERT_EQ(run("new 16 u4 next.npy", preload("FARO_NO_TMPFILE=" + std::string(no_tmpfile))).status, 0);
        fs::remove(directory_ / "next.npy");
        expect_whole(where + ", and another run", false);
        restore();
      }
    }
  }
}

TEST_P(Faults, NoSyncDoesNotWaitForTheDisk) {
  if (GetParam().out.empty()) return;
  for (const char* const no_tmpfile : {"0", "1"}) {
    EXPECT_GE(calls_of("sync", no_tmpfile), 2) << "of the file and of its folder";
    EXPECT_EQ(calls_of("sync", no_tmpfile, " --no-sync"), 0);
  }
  ASSERT_EQ(run(GetParam().arguments + " --no-sync").status, 0);
  EXPECT_EQ(files(), after_);
}

// However few threads there are.
TEST_P(Faults, FewThreadsSuffice) {
  for (const char* const most : {"1", "2", "3"}) {
    const Result result =
        run(GetParam().arguments, preload(std::string("OMP_NUM_THREADS=8 FARO_THREADS=") + most));
    EXPECT_EQ(result.status, 0) << most << " threads: " << result.err;
    expect_whole("few threads", false);
    restore();
  }
}

INSTANTIATE_TEST_SUITE_P(Verbs, Faults, ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case>& of) { return of.param.name; });

// --- killed at any moment, in the middle of whatever it does

struct Victim {
  std::string name;
  std::vector<std::string> arguments;
  std::string out;  // empty: the cache of measured curves
  int kills;
};
void PrintTo(const Victim& victim, std::ostream* out) { *out << victim.name; }

std::vector<Victim> victims() {
  return {
      {"permute", {"permute", "random_bmmc(16, 1)", "a.npy", "out.npy", "--quiet"}, "out.npy", 50},
      {"in_place", {"permute", "--in-place", "random_bmmc(16, 1)", "a.npy", "--quiet"}, "a.npy", 50},
      {"plan_cache",
       {"permute", "@p.npy", "a.npy", "out.npy", "--plan-cache", "p.faro", "--quiet"},
       "out.npy",
       40},
      {"emit", {"emit", "bit_reversal(12)", "--out", "out.cu"}, "out.cu", 40},
      {"network", {"network", "run", "sort", "a.npy", "out.npy", "--quiet"}, "out.npy", 20},
      {"tune", {"tune", "--engine", "cpu", "--quick", "--threads", "1"}, "", 5},
  };
}

class Kills : public CommandTest, public ::testing::WithParamInterface<Victim> {
 protected:
  using Seconds = std::chrono::duration<double>;

  void SetUp() override {
    CommandTest::SetUp();
    if (!faro::testing::has_verb(GetParam().arguments[0])) GTEST_SKIP() << "a build without this verb";
    ASSERT_EQ(run("new 2^16 u4 a.npy").status, 0);
    ASSERT_EQ(run("new 2^16 u4 p.npy").status, 0);
    cache_ = directory_ / "cache";
  }

  // Starts the victim, and kills it after so long; a negative time waits for its end. Returns the wait
  // status.
  int start(Seconds until, bool has_nameless_files) const {
    std::vector<std::string> words{faro_command().string()};
    words.insert(words.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    std::vector<std::string> variables{"FARO_CACHE=" + cache_.string(), "PATH=/usr/bin:/bin"};
    if (!has_nameless_files) {
      variables.push_back("LD_PRELOAD=" + std::string(faults_library()));
      variables.emplace_back("FARO_NO_TMPFILE=1");
    }
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> list;
      for (std::string& text : texts) list.push_back(text.data());
      list.push_back(nullptr);
      return list;
    };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory_.c_str());
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    const int failed = posix_spawn(&process, words.front().c_str(), &actions, nullptr, pointers(words).data(),
                                   pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(failed, 0);
    if (failed != 0) return -1;
    if (until.count() >= 0) {
      std::this_thread::sleep_for(until);
      kill(process, SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    return status;
  }

  void restore(const std::map<std::string, std::string>& before) const {
    fs::remove_all(cache_);
    for (const auto& entry : fs::directory_iterator(directory_)) fs::remove(entry.path());
    for (const auto& [name, content] : before) std::ofstream(directory_ / name, std::ios::binary) << content;
  }

  // Curves differ each time: whole is what is read again.
  void expect_whole_curves(const std::string& where) const {
    if (!fs::exists(cache_)) return;
    for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
      if (!entry.is_regular_file() || entry.path().filename().string().starts_with(".faro-")) continue;
      EXPECT_TRUE(faro::testing::Json::accept(content_of(entry.path()))) << where << ": " << entry.path();
    }
  }

  fs::path cache_;
};

TEST_P(Kills, LeaveTheOldOrTheNewAndTheNextRunSweeps) {
  if (faults_library() == nullptr) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  const Victim& victim = GetParam();
  const auto before = files();
  // The least of three, lest a moment at which the machine was busy makes all others come too late.
  Seconds whole = Seconds::max();
  std::map<std::string, std::string> after;
  for (int run = 0; run < 3; ++run) {
    restore(before);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(start(Seconds(-1), true), 0);
    whole = std::min<Seconds>(whole, std::chrono::steady_clock::now() - begin);
    if (fs::exists(cache_)) expect_whole_curves("whole");
    fs::remove_all(cache_);
    after = files();
  }
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> moment(0, 1.1 * whole.count());
  std::map<std::string, int> seen;
  for (int i = 0; i < victim.kills; ++i) {
    restore(before);
    const Seconds until(moment(random));
    const std::string where = "kill " + std::to_string(i) + " after " + std::to_string(until.count()) +
                              " s, seed " + std::to_string(seed);
    const int status = start(until, i % 2 == 0);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << where << ": " << status;
    ++seen[WIFSIGNALED(status) ? "killed" : "ended"];
    expect_whole_curves(where);
    // What it left is gone after the next run that writes here, which nothing of it stops.
    if (victim.out.empty()) {
      if (fs::exists(cache_)) {
        ASSERT_EQ(run("new 16 u4 '" + (cache_ / "next.npy").string() + "'").status, 0) << where;
        for (const auto& entry : fs::directory_iterator(cache_))
          EXPECT_FALSE(entry.path().filename().string().starts_with(".faro-")) << where << entry.path();
      }
      fs::remove_all(cache_);
    }
    ASSERT_EQ(run("new 16 u4 next.npy").status, 0) << where;
    fs::remove(directory_ / "next.npy");
    for (const auto& [name, content] : files()) {
      const bool is_old = before.contains(name) && before.at(name) == content;
      const bool is_new = after.contains(name) && after.at(name) == content;
      EXPECT_TRUE(is_old || is_new) << where << ": " << name;
      if (name == victim.out) ++seen[is_new ? "new" : "old"];
    }
    for (const auto& [name, content] : before) EXPECT_TRUE(fs::exists(directory_ / name)) << where << name;
    ASSERT_FALSE(HasFailure()) << where;
  }
  EXPECT_GE(seen["killed"], std::max(1, victim.kills / 4)) << "moments that come too late";
  restore(before);
  ASSERT_EQ(start(Seconds(-1), true), 0) << "after all kills";
}

INSTANTIATE_TEST_SUITE_P(Verbs, Kills, ::testing::ValuesIn(victims()),
                         [](const ::testing::TestParamInfo<Victim>& of) { return of.param.name; });

}  // namespace
}  // namespace cli_faults_test
