// The command on a terminal: what is shown while it works, and what Ctrl-C leaves and says. A terminal is the
// far end of a pseudo-terminal, whose near end the test reads and types into.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli_support.hpp"

namespace cli_terminal_test {
namespace {

using faro::testing::CommandTest;
using faro::testing::content_of;
using faro::testing::faro_command;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongest{300};
constexpr const char* kLine = "\r\x1b[K";  // begins each line that replaces the one before

struct Shown {
  std::string text;  // all that came to the terminal
  int status = 0;    // as waitpid gives it
};

class Terminal : public CommandTest {
 protected:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // Runs the command with standard error on a terminal of so many columns; standard output is a file. Once
  // what came holds `until`, types `keys`.
  Shown run_on_terminal(const std::vector<std::string>& arguments, const Variables& variables = {},
                        const std::string& until = "", const std::string& keys = "") const {
    int near = -1;
    const pid_t process = forkpty(&near, nullptr, nullptr, nullptr);
    if (process == 0) run_in_child(arguments, variables);
    Shown shown;
    EXPECT_GT(process, 0);
    if (process <= 0) return shown;
    const auto end = std::chrono::steady_clock::now() + kLongest;
    bool typed = keys.empty();
    for (char buffer[4096]; std::chrono::steady_clock::now() < end;) {
      pollfd waiting{.fd = near, .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, 1000) == 0) continue;
      const ssize_t got = read(near, buffer, sizeof buffer);
      if (got <= 0) break;  // EIO: nobody is at the far end any more
      shown.text.append(buffer, static_cast<std::size_t>(got));
      if (typed || shown.text.find(until) == std::string::npos) continue;
      EXPECT_EQ(write(near, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
      typed = true;
    }
    EXPECT_TRUE(typed) << "never came: " << until << "\n" << shown.text;
    if (std::chrono::steady_clock::now() >= end) kill(process, SIGKILL);
    EXPECT_EQ(waitpid(process, &shown.status, 0), process);
    close(near);
    return shown;
  }

  // Slows the `at`-th call of a kind down, so that its step is one that takes long.
  static Variables slowed(const std::string& kind, const std::string& at, const std::string& seconds) {
    return {{"LD_PRELOAD", std::getenv("FARO_FAULTS")},
            {"FARO_FAULT", kind},
            {"FARO_FAULT_AT", at},
            {"FARO_FAULT_WAIT", seconds}};
  }

  static bool can_be_slowed() { return std::getenv("FARO_FAULTS") != nullptr; }

 private:
  [[noreturn]] void run_in_child(const std::vector<std::string>& arguments,
                                 const Variables& variables) const {
    const int out = open((directory_ / ".stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    if (chdir(directory_.c_str()) != 0) _exit(126);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    const std::string command = faro_command().string();
    std::vector<char*> words{const_cast<char*>(command.c_str())};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(command.c_str(), words.data());
    _exit(127);
  }
};

// The lines that took each other's place, in order.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = text.find(kLine); at != std::string::npos;) {
    const std::size_t begin = at + std::string(kLine).size();
    at = text.find(kLine, begin);
    lines.push_back(text.substr(begin, at == std::string::npos ? at : at - begin));
  }
  return lines;
}

TEST_F(Terminal, QuickWorkShowsNoProgress) {
  ASSERT_EQ(run("new 4096 u4 a.npy").status, 0);
  const Shown shown = run_on_terminal({"permute", "reverse", "a.npy", "out.npy"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.text, Not(HasSubstr("\x1b[K"))) << shown.text;
  EXPECT_THAT(shown.text, HasSubstr("reverse: 2^12")) << shown.text;
}

TEST_F(Terminal, WritingShowsPercentBytesRateAndTimeLeft) {
  if (!can_be_slowed()) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  ASSERT_EQ(run("new 2^23 u4 a.npy").status, 0);
  const Shown shown = run_on_terminal({"permute", "reverse", "a.npy", "out.npy", "--threads", "1"},
                                      slowed("write", "3", "3"));
  EXPECT_EQ(shown.status, 0) << shown.text;
  EXPECT_THAT(shown.text, ContainsRegex("faro: writing out.npy: [1-9][0-9]*% of 32 MiB, [0-9.]+ [KM]iB/s, "
                                        "[0-9]+ s left"))
      << shown.text;
  // What is told at the end stands on a line that was cleared.
  ASSERT_FALSE(lines_of(shown.text).empty());
  EXPECT_THAT(lines_of(shown.text).back(), HasSubstr("reverse: 2^23")) << shown.text;
}

TEST_F(Terminal, QuietShowsNothing) {
  if (!can_be_slowed()) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  ASSERT_EQ(run("new 2^22 u4 a.npy").status, 0);
  const Shown shown =
      run_on_terminal({"permute", "reverse", "a.npy", "out.npy", "--quiet"}, slowed("write", "1", "2"));
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.text, "");
}

// Nothing slows a permutation down but its size: arrays grow until one takes long enough to be shown.
TEST_F(Terminal, PermutingShowsPercentBytesRateAndTimeLeft) {
  Shown shown;
  for (const std::string size : {"2^25", "2^27", "2^28"}) {
    ASSERT_EQ(run("new " + size + " u4 a.npy --no-sync").status, 0);
    shown = run_on_terminal({"permute", "random(" + size + ", 1)", "a.npy", "out.npy", "--method", "direct",
                             "--no-sync", "--threads", "1"});
    ASSERT_EQ(shown.status, 0) << shown.text;
    if (shown.text.find("permuting: ") != std::string::npos) break;
  }
  EXPECT_THAT(shown.text, ContainsRegex("faro: permuting: [0-9]+% of [0-9.]+ [MG]iB, [0-9.]+ [KMG]iB/s, "
                                        "[0-9]+ s left"))
      << shown.text;
  int before = 0;
  for (const std::string& line : lines_of(shown.text)) {
    const std::size_t at = line.find("permuting: ");
    if (at == std::string::npos) continue;
    const int percent = std::stoi(line.substr(at + std::string("permuting: ").size()));
    EXPECT_GE(percent, before) << shown.text;
    EXPECT_LE(percent, 100) << shown.text;
    before = percent;
  }
}

TEST_F(Terminal, CtrlCSaysThatNothingWasWritten) {
  if (!can_be_slowed()) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  ASSERT_EQ(run("new 2^22 u4 a.npy").status, 0);
  struct Case {
    std::vector<std::string> arguments;
    std::string out;
  };
  for (const Case& each : {Case{{"permute", "reverse", "a.npy", "out.npy"}, "out.npy"},
                           Case{{"network", "run", "vcolumn", "a.npy", "out.npy"}, "out.npy"},
                           Case{{"new", "2^22", "u4", "out.npy"}, "out.npy"},
                           Case{{"permute", "--in-place", "reverse", "a.npy"}, "a.npy"}}) {
    if (!faro::testing::has_verb(each.arguments[0])) continue;
    for (const std::string kind : {"write", "sync"}) {
      const auto before = files();
      const Shown shown = run_on_terminal(each.arguments, slowed(kind, "1", "250"), "writing", "\x03");
      ASSERT_TRUE(WIFSIGNALED(shown.status)) << shown.status << shown.text;
      EXPECT_EQ(WTERMSIG(shown.status), SIGINT);
      EXPECT_THAT(shown.text, ::testing::EndsWith("\r\nfaro: interrupted: nothing was written, `" + each.out +
                                                  "` is as it was\r\n"));
      fs::remove(directory_ / ".stdout");
      EXPECT_EQ(files(), before) << each.out;
    }
  }
}

TEST_F(Terminal, CtrlCSaysThatAFileChangedInPlaceIsAMixture) {
  if (!can_be_slowed()) GTEST_SKIP() << "no FARO_FAULTS: ctest gives it";
  ASSERT_EQ(run("new 2^16 u4 a.npy").status, 0);
  const Shown shown = run_on_terminal({"permute", "--in-place", "reverse", "a.npy", "--no-backup"},
                                      slowed("sync", "1", "250"), "writing", "\x03");
  ASSERT_TRUE(WIFSIGNALED(shown.status)) << shown.status << shown.text;
  EXPECT_EQ(WTERMSIG(shown.status), SIGINT);
  EXPECT_THAT(shown.text,
              ::testing::StartsWith("`a.npy` is permuted where it lies: an interruption leaves a mixture"));
  EXPECT_THAT(shown.text,
              ::testing::EndsWith("\r\nfaro: interrupted: `a.npy` is permuted in part, and of no use\r\n"));
}

}  // namespace
}  // namespace cli_terminal_test
