// Trace files: what is read, what it costs, and the line that every bad one is told by.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/trace.hpp"
#include "refusal.hpp"

namespace faro::machine {
namespace machine_trace_test {

using Words = std::vector<std::uint64_t>;

Words lanes_of(const Trace& trace, std::size_t access) {
  const auto lanes = trace.lanes_of(trace.accesses.at(access));
  return {lanes.begin(), lanes.end()};
}

MachineOptions machine_of(MachineKind kind, std::uint64_t width, std::uint64_t latency,
                          std::uint64_t threads = 0) {
  MachineOptions options;
  options.kind = kind;
  options.width = width;
  options.latency = latency;
  options.threads = threads;
  return options;
}

TEST(Trace, ReadsEveryKindOfLine) {
  const Trace trace = parse_trace(
      "\n"
      "# a comment\n"
      "0 1 10 6   # behind a line, too\n"
      "8,9, 0xE\t2^4\r\n"
      "   # does not end a round\n"
      "-\n"
      " \t\r\n"
      "\n"
      "shared 3 - 5\n"
      "store shared 0\n"
      "store 9223372036854775807\n"
      "global load 1,2",
      "example");
  ASSERT_EQ(trace.accesses.size(), 7U);
  EXPECT_EQ(trace.rounds, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(trace.round_end(0), 3U);
  EXPECT_EQ(trace.round_end(1), 7U);
  EXPECT_EQ(trace.longest_round, 4U);
  EXPECT_EQ(trace.longest_line, 4U);
  EXPECT_EQ(lanes_of(trace, 0), (Words{0, 1, 10, 6}));
  EXPECT_EQ(lanes_of(trace, 1), (Words{8, 9, 14, 16}));
  EXPECT_EQ(lanes_of(trace, 2), (Words{kIdleLane}));
  EXPECT_EQ(lanes_of(trace, 3), (Words{3, kIdleLane, 5}));
  EXPECT_EQ(lanes_of(trace, 5), (Words{kMaxTraceAddress}));
  EXPECT_EQ(lanes_of(trace, 6), (Words{1, 2}));
  const TraceSpace spaces[] = {TraceSpace::global, TraceSpace::global, TraceSpace::global, TraceSpace::shared,
                               TraceSpace::shared, TraceSpace::global, TraceSpace::global};
  const bool stores[] = {false, false, false, false, true, true, false};
  const std::uint64_t lines[] = {3, 4, 6, 9, 10, 11, 12};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(trace.accesses[i].space, spaces[i]) << i;
    EXPECT_EQ(trace.accesses[i].operation == TraceOperation::store, stores[i]) << i;
    EXPECT_EQ(trace.accesses[i].line, lines[i]) << i;
  }
}

// --- runs

TEST(Trace, FiguresOfThePapers) {
  const Trace figure_4 = parse_trace("0 1 10 6\n8 9 14 15\n", "figure 4");
  const TraceRun dmm = run_trace(machine_of(MachineKind::dmm, 4, 3), figure_4);
  EXPECT_EQ(dmm.machine.threads, 8U);
  EXPECT_EQ(dmm.report.time, 5U);
  EXPECT_EQ(run_trace(machine_of(MachineKind::umm, 4, 3), figure_4).report.time, 7U);
  const Trace figure_3 = parse_trace("7 5 15 0\n10 11 12 9\n", "figure 3");
  EXPECT_EQ(run_trace(machine_of(MachineKind::dmm, 4, 5), figure_3).report.time, 7U);
}

TEST(Trace, RoundsEndAtBlankLinesAndWhenEveryWarpHasAsked) {
  const Trace trace = parse_trace("0\n1\n2\n\n3\n", "four accesses");
  // 3 warps: a round of 3 and one of 1. 2 warps: rounds of 2, 1 and 1. 1 warp: four rounds. 9: as 3.
  const auto report = [&](std::uint64_t threads) {
    MachineOptions options = machine_of(MachineKind::umm, 4, 10, threads);
    options.overlap = true;
    return run_trace(options, trace).report;
  };
  EXPECT_EQ(report(0).time, 12U + 10);
  EXPECT_EQ(report(12), report(0));
  EXPECT_EQ(report(36), report(0));
  EXPECT_EQ(report(8).time, 11U + 10 + 10);
  EXPECT_EQ(report(8).rounds, 3U);
  EXPECT_EQ(report(4).time, 40U);
  EXPECT_EQ(report(4).overlap_time, 40U);
  EXPECT_EQ(report(12).overlap_time, 20U);  // the second round's warp is ready in unit 11
}

TEST(Trace, WarpsWithoutRequestsAreSkipped) {
  const Trace trace = parse_trace("-\n0 0 0\n- - -\n\n-\n\n1 -\n", "idle warps");
  const MachineReport report = run_trace(machine_of(MachineKind::dmm, 4, 7), trace).report;
  EXPECT_EQ(report.time, 7U + 7);
  EXPECT_EQ(report.rounds, 2U);
  EXPECT_EQ(report.requests, 2U);
  EXPECT_EQ(report.accesses, 4U);
  EXPECT_EQ(report.congestion, (Words{0, 2}));
}

TEST(Trace, OnTheHmmWarpsSitOnDmmsInTurn) {
  MachineOptions options = machine_of(MachineKind::hmm, 2, 100);
  options.dmms = 2;
  options.shared_latency = 5;
  // Warps 0 and 2 on DMM 0: 2 + 2 stages; warp 1 on DMM 1: 1 stage.
  EXPECT_EQ(run_trace(options, parse_trace("shared 0 2\nshared 0 1\nstore shared 2 4\n", "t")).report.time,
            4U + 4);
  EXPECT_EQ(run_trace(options, parse_trace("shared 0 2\n0 2\n", "t")).report.time, 2U + 99);
}

// --- bad text

void expect_bad(const std::string& text, const std::string& found, const std::string& line,
                const std::string& wanted) {
  SCOPED_TRACE(text);
  const Error error = test::refusal([&] { parse_trace(text, "dir/a.trace"); });
  EXPECT_EQ(error.code(), ErrorCode::file) << error.what();
  EXPECT_NE(error.report().operation.find("dir/a.trace"), std::string::npos) << error.what();
  EXPECT_NE(error.report().got.find(found), std::string::npos) << error.what();
  EXPECT_TRUE(error.report().got.ends_with(" at dir/a.trace:" + line)) << error.what();
  EXPECT_NE(error.report().wanted.find(wanted), std::string::npos) << error.what();
}

TEST(Trace, NamesTheLineOfWhatIsWrong) {
  expect_bad("", "no access", "1", "a line of addresses");
  expect_bad("# only\n\n# comments\n", "no access", "3", "a line of addresses");
  expect_bad("0 1\n2 x\n", "`x`", "2", "an address, or `-`");
  expect_bad("0 1\n\n2 -3\n", "`-3`", "3", "from 0 on");
  expect_bad("0 --\n", "`--`", "1", "an address");
  expect_bad("12ab\n", "`12ab`", "1", "an address");
  expect_bad("1.5\n", "`1.5`", "1", "an address");
  expect_bad("1;2\n", "`1;2`", "1", "an address");
  expect_bad("0x\n", "`0x`", "1", "an address");
  expect_bad("0xg\n", "`0xg`", "1", "an address");
  expect_bad("+1\n", "`+1`", "1", "an address");
  expect_bad("9223372036854775808\n", "`9223372036854775808`", "1", "2^63 - 1");
  expect_bad("18446744073709551616\n", "`18446744073709551616`", "1", "2^63 - 1");
  expect_bad("0\n99999999999999999999999999999999999999999999999999999999\n", "...", "2", "2^63 - 1");
  expect_bad("local 1 2\n", "`local`", "1", "global, shared, load, store");
  expect_bad("1 shared 2\n", "`shared`", "1", "at the line's start");
  expect_bad("shared global 2\n", "`global`", "1", "one of global and shared");
  expect_bad("load load 2\n", "`load`", "1", "one of load and store");
  expect_bad("0\nshared\n", "no address", "2", "addresses");
  expect_bad("0\n,\n", "commas", "2", "addresses");
  expect_bad(std::string("0\n1 \0 2\n", 8), "\\x00", "2", "an address");
  expect_bad(std::string("\0", 1), "\\x00", "1", "an address");
  expect_bad("0\n\xff\xfe\n", "\\xff\\xfe", "2", "an address");
  std::string long_line;
  for (std::uint64_t i = 0; i <= kMaxWidth; ++i) long_line += "0 ";
  expect_bad("0\n" + long_line + "\n", "1048577 lanes", "2", "1048576");
}

TEST(Trace, LinesWiderThanTheMachineAreNamed) {
  const Trace trace = parse_trace("0 1\n\n# longer\n0 1 2\n- - - -\n", "wide.trace");
  const Error error = test::refusal([&] { run_trace(machine_of(MachineKind::dmm, 2, 1), trace); });
  EXPECT_EQ(error.code(), ErrorCode::spec);
  EXPECT_EQ(error.report().got, "3 lanes at wide.trace:4");
  EXPECT_NE(error.report().wanted.find("2"), std::string::npos);
  for (const std::uint64_t threads : {3U, 5U}) {
    EXPECT_THROW(run_trace(machine_of(MachineKind::dmm, 4, 1, threads), trace), Error);
  }
  EXPECT_THROW(run_trace(machine_of(MachineKind::dmm, 0, 1), trace), Error);
  EXPECT_THROW(run_trace(machine_of(MachineKind::dmm, 4, 0), trace), Error);
}

// --- files

TEST(Trace, ReadsFilesAndTellsOfThoseItCannot) {
  const std::string path = ::testing::TempDir() + "machine_trace_test." + std::to_string(getpid());
  std::ofstream(path) << "0 1 10 6\n8 9 14 15\n";
  const Trace trace = read_trace(path);
  EXPECT_EQ(trace.name, path);
  EXPECT_EQ(trace.accesses.size(), 2U);
  std::remove(path.c_str());
  for (const std::string& bad : {path, ::testing::TempDir()}) {
    SCOPED_TRACE(bad);
    const Error error = test::refusal([&] { read_trace(bad); });
    EXPECT_EQ(error.code(), ErrorCode::file) << error.what();
    EXPECT_NE(error.report().operation.find(bad), std::string::npos) << error.what();
  }
}

// Many lines in one round, many rounds, and both: a reader or a run that looks at all rounds for every warp
// would take hours.
TEST(Trace, LongFilesTakeLinearTime) {
  std::string text;
  constexpr int lines = 300000;
  for (int i = 0; i < lines; ++i) text += std::to_string(i) + "\n";
  for (int i = 0; i < lines; ++i) text += "\n" + std::to_string(i) + " 5\n";
  const Trace trace = parse_trace(text, "long");
  EXPECT_EQ(trace.rounds.size(), 1U + lines);
  EXPECT_EQ(trace.longest_round, lines);
  const MachineReport report = run_trace(machine_of(MachineKind::umm, 2, 3), trace).report;
  EXPECT_EQ(report.requests, 2U * lines);
  EXPECT_EQ(report.rounds, 1U + lines);
}

}  // namespace machine_trace_test
}  // namespace faro::machine
