// The timeline: the papers' figures stage by stage; for random programs, that it adds up to the report, that
// a cut one is the beginning of the whole one, and that no memory admits two stages at once.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "faro/machine/round_timer.hpp"
#include "faro/machine/timeline.hpp"
#include "faro/machine/trace.hpp"
#include "text_search.hpp"

namespace faro::machine {
namespace machine_timeline_test {

MachineOptions machine_of(MachineKind kind, std::uint64_t width, std::uint64_t latency) {
  MachineOptions options;
  options.kind = kind;
  options.width = width;
  options.latency = latency;
  options.threads = 0;
  options.timeline_units = 1000;
  return options;
}

constexpr const char* kFigure4 = "0 1 10 6\n8 9 14 15\n";

TEST(Timeline, Figure4OnTheDmm) {
  const TraceRun run = run_trace(machine_of(MachineKind::dmm, 4, 3), parse_trace(kFigure4, "figure 4"));
  EXPECT_EQ(timeline_text(run.timeline),
            "DMM, w = 4, l = 3: 5 time units\n"
            "unit  enters           bank  0  1  2  3  stage 1  2  3\n"
            "   1  warp 0, round 0        0  1  6  .        W0 .  .\n"
            "   2  warp 0, round 0        .  . 10  .        W0 W0 .\n"
            "   3  warp 1, round 0        8  9 14 15        W1 W0 W0\n"
            "   4  .                      .  .  .  .        .  W1 W0\n"
            "   5  .                      .  .  .  .        .  .  W1\n");
}

TEST(Timeline, Figure4OnTheUmm) {
  const TraceRun run = run_trace(machine_of(MachineKind::umm, 4, 3), parse_trace(kFigure4, "figure 4"));
  EXPECT_EQ(timeline_text(run.timeline),
            "UMM, w = 4, l = 3: 7 time units\n"
            "unit  enters           bank  0  1  2  3  stage 1  2  3\n"
            "   1  warp 0, round 0        0  1  .  .        W0 .  .\n"
            "   2  warp 0, round 0        .  .  6  .        W0 W0 .\n"
            "   3  warp 0, round 0        .  . 10  .        W0 W0 W0\n"
            "   4  warp 1, round 0        8  9  .  .        W1 W0 W0\n"
            "   5  warp 1, round 0        .  . 14 15        W1 W1 W0\n"
            "   6  .                      .  .  .  .        .  W1 W1\n"
            "   7  .                      .  .  .  .        .  .  W1\n");
}

// Nakano, Matsumae and Ito 2014: words 7 and 15 share bank 3.
TEST(Timeline, Figure3OfTheSecondPaper) {
  const TraceRun run =
      run_trace(machine_of(MachineKind::dmm, 4, 5), parse_trace("7 5 15 0\n10 11 12 9\n", "figure 3"));
  EXPECT_EQ(timeline_text(run.timeline),
            "DMM, w = 4, l = 5: 7 time units\n"
            "unit  enters           bank  0  1  2  3  stage 1  2  3  4  5\n"
            "   1  warp 0, round 0        0  5  .  7        W0 .  .  .  .\n"
            "   2  warp 0, round 0        .  .  . 15        W0 W0 .  .  .\n"
            "   3  warp 1, round 0       12  9 10 11        W1 W0 W0 .  .\n"
            "   4  .                      .  .  .  .        .  W1 W0 W0 .\n"
            "   5  .                      .  .  .  .        .  .  W1 W0 W0\n"
            "   6  .                      .  .  .  .        .  .  .  W1 W0\n"
            "   7  .                      .  .  .  .        .  .  .  .  W1\n");
}

TEST(Timeline, SaysWhereItIsCutAndJoinsLongWaits) {
  MachineOptions options = machine_of(MachineKind::dmm, 2, 500);
  options.timeline_units = 600;
  const TraceRun run = run_trace(options, parse_trace("0 2\n\n1 -\n", "two rounds"));
  EXPECT_EQ(timeline_text(run.timeline),
            "DMM, w = 2, l = 500: the first 600 of 1001 time units\n"
            "   unit  enters           bank 0 1\n"
            "      1  warp 0, round 0       0 .\n"
            "      2  warp 0, round 0       2 .\n"
            "  3-501  .                     . .\n"
            "    502  warp 0, round 1       . 1\n"
            "503-600  .                     . .\n");
}

TEST(Timeline, EveryMemoryOfAnHmm) {
  MachineOptions options = machine_of(MachineKind::hmm, 2, 2);
  options.dmms = 2;
  const TraceRun run = run_trace(options, parse_trace("0 1\nshared 0 2\n", "both memories"));
  EXPECT_EQ(timeline_text(run.timeline),
            "UMM of the HMM, w = 2, l = 2: 2 time units\n"
            "unit  enters           bank 0 1  stage 1  2\n"
            "   1  warp 0, round 0       0 1        W0 .\n"
            "   2  .                     . .        .  W0\n"
            "\n"
            "DMM 1 of the HMM, w = 2, l = 1: 2 time units\n"
            "unit  enters           bank 0 1  stage 1\n"
            "   1  warp 1, round 0       0 .        W1\n"
            "   2  warp 1, round 0       2 .        W1\n");
}

TEST(Timeline, WideMachinesListTheirWords) {
  const TraceRun run = run_trace(machine_of(MachineKind::umm, 100, 2), parse_trace("5 3 199 5\n", "wide"));
  EXPECT_EQ(timeline_text(run.timeline),
            "UMM, w = 100, l = 2: 3 time units\n"
            "unit  enters           words  stage 1  2\n"
            "   1  warp 0, round 0  3 5          W0 .\n"
            "   2  warp 0, round 0  199          W0 W0\n"
            "   3  .                             .  W0\n");
}

TEST(Timeline, NothingRecorded) {
  MachineOptions options = machine_of(MachineKind::dmm, 4, 3);
  options.timeline_units = 0;
  const TraceRun run = run_trace(options, parse_trace(kFigure4, "figure 4"));
  EXPECT_TRUE(run.timeline.stages.empty());
  EXPECT_NE(timeline_text(run.timeline).find("nothing was recorded"), std::string::npos);
  EXPECT_NE(timeline_svg(run.timeline).find("</svg>"), std::string::npos);
}

// --- random programs

std::string random_trace(std::mt19937_64& random, std::uint64_t width) {
  std::string text;
  const std::uint64_t rounds = 1 + random() % 6;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t warps = 1 + random() % 5;
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
      if (random() % 3 == 0) text += "shared ";
      for (std::uint64_t lane = 0; lane < width; ++lane) {
        text += (random() % 4 == 0 ? "-" : std::to_string(random() % 40)) + " ";
      }
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

bool same(const TimelineStage& a, const TimelineStage& b) {
  return a.unit == b.unit && a.memory == b.memory && a.warp == b.warp && a.round == b.round &&
         a.words == b.words;
}

TEST(Timeline, AddsUpToTheReportAndIsCutAnywhere) {
  constexpr unsigned seed = 21;
  std::mt19937_64 random(seed);
  int cut = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    MachineOptions options =
        machine_of(static_cast<MachineKind>(random() % 3), 1 + random() % 6, 1 + random() % 5);
    if (options.kind == MachineKind::hmm) {
      options.dmms = 1 + random() % 3;
      options.shared_latency = 1 + random() % 3;
    }
    const std::string text = random_trace(random, options.width);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial) + ", " +
                 std::string(name(options.kind)) + "\n" + text);
    const Trace trace = parse_trace(text, "random");
    const TraceRun whole = run_trace(options, trace);
    ASSERT_EQ(whole.timeline.time, whole.report.time);
    ASSERT_EQ(whole.timeline.stages.size(), whole.report.stages);
    ASSERT_FALSE(whole.timeline.is_cut());

    std::set<std::pair<std::uint64_t, std::uint64_t>> taken;
    std::map<std::uint64_t, std::uint64_t> ends;  // of rounds: when the last stage is through
    std::uint64_t end = 0;
    for (const TimelineStage& stage : whole.timeline.stages) {
      ASSERT_TRUE(taken.insert({stage.memory, stage.unit}).second)
          << "two stages enter in unit " << stage.unit;
      const std::uint64_t latency = stage.memory == 0 ? options.latency : options.shared_latency;
      end = std::max(end, stage.unit + latency - 1);
      ends[stage.round] = std::max(ends[stage.round], stage.unit + latency - 1);
      if (stage.round > 0) {
        ASSERT_GT(stage.unit, ends.at(stage.round - 1));
      }
      const bool banked = options.kind == MachineKind::dmm || stage.memory != 0;
      std::set<std::uint64_t> places;
      for (const std::uint64_t word : stage.words) {
        places.insert(banked ? word % options.width : word / options.width);
      }
      ASSERT_EQ(places.size(), banked ? stage.words.size() : 1);
    }
    ASSERT_EQ(end, whole.report.time);
    ASSERT_EQ(ends.size(), whole.report.rounds);

    options.timeline_units = random() % (whole.report.time + 1);
    const TraceRun part = run_trace(options, trace);
    std::size_t expected = 0;
    for (const TimelineStage& stage : whole.timeline.stages) {
      if (stage.unit > options.timeline_units) continue;
      ASSERT_LT(expected, part.timeline.stages.size());
      ASSERT_TRUE(same(stage, part.timeline.stages[expected])) << "cut after " << options.timeline_units;
      ++expected;
    }
    ASSERT_EQ(part.timeline.stages.size(), expected) << "cut after " << options.timeline_units;
    cut += part.timeline.is_cut() ? 1 : 0;
  }
  EXPECT_GT(cut, 1000);
}

// --- the drawing

using test::occurrences;

TEST(Timeline, DrawsACellForEveryRequestAndEveryStageOfThePipeline) {
  const TraceRun run = run_trace(machine_of(MachineKind::dmm, 4, 3), parse_trace(kFigure4, "figure 4"));
  const std::string svg = timeline_svg(run.timeline);
  EXPECT_TRUE(svg.starts_with("<?xml"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  // 8 requests; 3 stages in 3 units each. The others of 5 x 4 and of 5 x 3 cells are empty.
  EXPECT_EQ(occurrences(svg, "class=\"bank b0\""), 4U + 6 + 1);  // warp 0, and the legend
  EXPECT_EQ(occurrences(svg, "class=\"bank b1\""), 4U + 3 + 1);
  EXPECT_EQ(occurrences(svg, "class=\"zero\""), 5U * 4 - 8 + 5U * 3 - 9 + 1);
  EXPECT_EQ(occurrences(svg, ">Memory pipeline: 5 time units<"), 2U);  // of the file and drawn
  EXPECT_EQ(occurrences(timeline_svg(run.timeline, "stride"), ">stride: 5 time units<"), 2U);
  EXPECT_EQ(occurrences(svg, ">warp 1<"), 1U);
  EXPECT_EQ(occurrences(svg, ">nothing<"), 1U);
  EXPECT_EQ(occurrences(svg, "<title>warp 1, round 0: 8 9 14 15</title>"), 4U + 3);
}

}  // namespace machine_timeline_test
}  // namespace faro::machine
