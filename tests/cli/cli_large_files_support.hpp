// Runs over files larger than --memory, for tests of the command line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "cli_support.hpp"

namespace faro::testing {

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
                           result.err.find(" is changing") != std::string::npos;
      if (result.status != 6 || !is_held) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return run(arguments);
  }

  // Runs `command` so often, each time killed at another moment of the `took` seconds that it takes, and
  // looks at what it left: after(i). A busy machine may let every run begin or end too late for its moment,
  // so there are more until enough(), three times all moments at most.
  void kill_at_moments(int times, double took, const std::string& command,
                       const std::function<void(int)>& after, const std::function<bool()>& enough) {
    constexpr int kMoments = 23;
    for (int i = 0; (i < times || (i < 3 * kMoments && !enough())) && !HasFatalFailure(); ++i) {
      const std::string seconds = std::to_string(took * (i * 7 % kMoments + 1) / kMoments);
      SCOPED_TRACE("killed after " + seconds + " s");
      run(command, "timeout -s KILL " + seconds);
      after(i);
    }
  }

  void expect_as_in_memory(const std::string& arguments, const std::string& memory) {
    const Result in_memory = run("permute " + arguments + " in.npy a.npy --quiet");
    ASSERT_EQ(in_memory.status, 0) << in_memory.err;
    const Result by_file = run("permute " + arguments + " in.npy b.npy --memory " + memory);
    ASSERT_EQ(by_file.status, 0) << by_file.err;
    EXPECT_EQ(lines_of(by_file.err), 1) << by_file.err;
    EXPECT_THAT(by_file.err, ::testing::HasSubstr("one sweep")) << arguments;
    EXPECT_LE(by_file.err.size(), 81U) << by_file.err;
    EXPECT_EQ(data_of("a.npy"), data_of("b.npy")) << arguments;
    const auto shape_of = [&](const std::string& file) {
      return Json::parse(run("permute 'roll(0)' " + file + " d.npy --json").out)["shape"];
    };
    EXPECT_EQ(shape_of("a.npy"), shape_of("b.npy")) << arguments;
    EXPECT_EQ(files().size(), 4U);
  }
};

}  // namespace faro::testing
