// The verification of predictions, without a GPU: reading a profile, and telling agreement from a miss.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/gpu_model/comparison.hpp"
#include "bench/gpu_model/counters.hpp"
#include "bench/gpu_model/profile.hpp"
#include "faro/error.hpp"
#include "refusal.hpp"

namespace faro::bench::gpu_model {
namespace gpu_model_test {

const std::vector<std::string> kMetrics{"sectors.sum", "requests.sum"};

constexpr const char* kProfile =
    "==PROF== Connected to process 17\n"
    "==PROF== Profiling \"move\": 0%....100%\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"requests.sum\",\"sectors.sum\"\n"
    "\"\",\"\",\"\",\"request\",\"sector\"\n"
    "\"0\",\"17\",\"void move<(int)6>(int, \"\"x\"\", int)\",\"1,024\",\"4096\"\n"
    "\"1\",\"17\",\"copy\",\"12.5\",\"0\"\r\n"
    "==PROF== Disconnected\n";

TEST(GpuModelProfile, ReadsTheLaunchesInOrder) {
  const std::vector<ProfiledLaunch> launches = parse_profile(kProfile, kMetrics);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].kernel, "void move<(int)6>(int, \"x\", int)");
  EXPECT_EQ(launches[0].values,
            (std::map<std::string, double>{{"sectors.sum", 4096}, {"requests.sum", 1024}}));
  EXPECT_EQ(launches[1].kernel, "copy");
  EXPECT_EQ(launches[1].values.at("requests.sum"), 12.5);
}

// What a profiler does not know is 0 where it may miss, and refused where it may not.
TEST(GpuModelProfile, LeavesOutWhatMayMiss) {
  std::vector<std::string> wanted = kMetrics;
  wanted.emplace_back("copied.sum");
  EXPECT_THROW(parse_profile(kProfile, wanted), Error);
  const std::vector<ProfiledLaunch> launches =
      parse_profile(kProfile, wanted, std::vector<std::string>{"copied.sum"});
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].values.at("copied.sum"), 0);
  EXPECT_EQ(launches[0].values.at("sectors.sum"), 4096);
}

TEST(GpuModelProfile, AddsUpTheLaunchesOfACase) {
  const auto launch = [](const char* kernel, double sectors) {
    return ProfiledLaunch{.kernel = kernel, .values = {{"sectors.sum", sectors}}};
  };
  const std::vector<ProfiledLaunch> cases =
      by_case(std::vector{launch("schedule", 7), launch("begin_case_kernel()", 0), launch("spread", 10),
                          launch("place", 20), launch("begin_case_kernel()", 0), launch("copy", 5)},
              "begin_case");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].kernel, "spread");
  EXPECT_EQ(cases[0].launches, 2U);
  EXPECT_EQ(cases[0].values.at("sectors.sum"), 30);
  EXPECT_EQ(cases[1].values.at("sectors.sum"), 5);
}

std::string refusal(const std::string& csv) {
  return test::message_of(ErrorCode::file, [&] { parse_profile(csv, kMetrics); });
}

TEST(GpuModelProfile, RefusesWhatItCannotRead) {
  EXPECT_NE(refusal("").find("no header"), std::string::npos);
  EXPECT_NE(refusal("==PROF== nothing\n").find("no header"), std::string::npos);
  EXPECT_NE(refusal("\"ID\",\"Kernel Name\",\"requests.sum\"\n").find("no column `sectors.sum`"),
            std::string::npos);
  std::string text = kProfile;
  text.replace(text.find("4096"), 4, "n/a ");
  EXPECT_NE(refusal(text).find("line 5"), std::string::npos) << refusal(text);
  text = kProfile;
  text.replace(text.find(",\"4096\""), 7, "");
  EXPECT_NE(refusal(text).find("4 columns"), std::string::npos) << refusal(text);
}

// --- agreement

Case case_with(std::uint64_t sectors, std::uint64_t wavefronts) {
  Case of{.kernel = "k", .spec = "s", .element_bytes = 4, .predicted = {}, .launch = {}};
  of.predicted.global_loads.sectors = sectors;
  of.predicted.shared_loads.wavefronts = wavefronts;
  of.predicted.shared_loads.phases = wavefronts;
  return of;
}

// What the hardware would count if all were as predicted.
ProfiledLaunch as_predicted(const Case& of) {
  ProfiledLaunch launch{.kernel = "k", .values = {}};
  for (const Counter& counter : counters()) {
    launch.values[counter.metric] = counter.predicted(of.predicted);
    if (!counter.more.empty()) launch.values[counter.more] = 0;
  }
  return launch;
}

const Counter& counter_called(const std::string& title) {
  for (const Counter& counter : counters()) {
    if (counter.title == title) return counter;
  }
  throw std::out_of_range(title);
}

TEST(GpuModelComparison, EqualMeansEqual) {
  const std::vector<Case> cases{case_with(1000, 1000)};
  std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  const auto misses = [&] { return compare(cases, launches); };
  EXPECT_EQ(misses().size(), 0U);

  double& sectors = launches[0].values[counter_called("sectors loaded").metric];
  sectors += 1;
  ASSERT_EQ(misses().size(), 1U);
  EXPECT_EQ(counters()[misses()[0].counter].title, "sectors loaded");
  EXPECT_NE(miss_table(cases, launches, misses()).find("| 1000 | 1001 |"), std::string::npos);
  EXPECT_NE(case_table(cases, launches).find(" 1000 / **1001** |"), std::string::npos);
  EXPECT_NE(summary_table(cases, launches).find("+0.10%"), std::string::npos);
  sectors -= 1;

  // Counted where nothing was predicted.
  launches[0].values[counter_called("store requests").metric] = 1;
  EXPECT_EQ(misses().size(), 1U);
}

// Turns that other traffic took are both wavefronts and conflicts of the pipe; one without the other is a
// miss.
TEST(GpuModelComparison, TurnsOfOthersCancel) {
  const std::vector<Case> cases{case_with(1000, 1000)};
  std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  const Counter& phases = counter_called("shared load phases: the pipe's wavefronts less its conflicts");
  launches[0].values[phases.metric] += 17;
  EXPECT_EQ(compare(cases, launches).size(), 1U);
  launches[0].values[phases.less] += 17;
  EXPECT_EQ(compare(cases, launches).size(), 0U);
}

// Copies past registers are loads, too; what is only shown is no miss, but requests and sectors are required.
TEST(GpuModelComparison, AddsCopiesAndRequiresWhatItMust) {
  std::vector<Case> cases{case_with(1000, 1000)};
  cases[0].family = "partition";
  std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  const Counter& sectors = counter_called("sectors loaded");
  launches[0].values[sectors.metric] = 400;
  launches[0].values[sectors.more] = 600;
  EXPECT_EQ(compare(cases, launches).size(), 0U);
  EXPECT_NE(family_table(cases, launches).find("| partition | 1 | 1 | 1 | 1 |"), std::string::npos);
  launches[0].values[counter_called("shared load wavefronts").metric] += 1;
  EXPECT_EQ(compare(cases, launches).size(), 1U);
  cases[0].shared = SharedCheck::shown;
  EXPECT_EQ(compare(cases, launches).size(), 0U);
  launches[0].values[sectors.more] += 1;
  EXPECT_EQ(compare(cases, launches).size(), 1U);
  EXPECT_NE(family_table(cases, launches).find("| partition | 1 | 1 | 0 | 0 |"), std::string::npos);
}

TEST(GpuModelComparison, WantsALaunchForEachCase) {
  const std::vector<Case> cases{case_with(1, 1), case_with(2, 2)};
  const std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  EXPECT_THROW(compare(cases, launches), Error);
}

TEST(GpuModelCounters, AskForEachMetricOnce) {
  const std::vector<std::string> all = metrics();
  for (const Counter& counter : counters()) {
    EXPECT_EQ(std::count(all.begin(), all.end(), counter.metric), 1) << counter.metric;
    EXPECT_EQ(std::count(all.begin(), all.end(), counter.less), counter.less.empty() ? 0 : 1) << counter.less;
    EXPECT_EQ(std::count(all.begin(), all.end(), counter.more), counter.more.empty() ? 0 : 1) << counter.more;
  }
}

}  // namespace gpu_model_test
}  // namespace faro::bench::gpu_model
