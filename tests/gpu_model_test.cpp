// The verification of predictions, without a GPU: reading a profile, and telling agreement from a miss.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/gpu_model/comparison.hpp"
#include "bench/gpu_model/counters.hpp"
#include "bench/gpu_model/profile.hpp"
#include "faro/error.hpp"

namespace faro::bench::gpu_model {
namespace {

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
  EXPECT_EQ(launches[0].counters, (std::vector<double>{4096, 1024}));  // in the order asked for
  EXPECT_EQ(launches[1].kernel, "copy");
  EXPECT_EQ(launches[1].counters, (std::vector<double>{0, 12.5}));
}

std::string refusal(const std::string& csv) {
  try {
    parse_profile(csv, kMetrics);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file);
    return error.what();
  }
  return "";
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
  return of;
}

// What the hardware would count if all were as predicted.
ProfiledLaunch as_predicted(const Case& of) {
  ProfiledLaunch launch{.kernel = "k", .counters = {}};
  for (const Counter& counter : counters()) launch.counters.push_back(counter.predicted(of.predicted));
  return launch;
}

std::size_t index_of(const std::string& title) {
  for (std::size_t i = 0; i < counters().size(); ++i) {
    if (counters()[i].title == title) return i;
  }
  ADD_FAILURE() << title;
  return 0;
}

TEST(GpuModelComparison, EqualMeansEqualAndAHundredthIsAHundredth) {
  const std::vector<Case> cases{case_with(1000, 1000)};
  std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  const auto misses = [&] { return compare(cases, launches).size(); };
  EXPECT_EQ(misses(), 0U);

  double& sectors = launches[0].counters[index_of("sectors loaded")];
  sectors += 1;
  ASSERT_EQ(misses(), 1U);
  EXPECT_EQ(compare(cases, launches)[0].counter, index_of("sectors loaded"));
  EXPECT_NE(miss_table(cases, launches, compare(cases, launches)).find("| 1000 | 1001 |"), std::string::npos);
  EXPECT_NE(case_table(cases, launches).find(" 1000 / **1001** |"), std::string::npos);
  sectors -= 1;

  double& wavefronts = launches[0].counters[index_of("shared load wavefronts")];
  wavefronts = 1010;
  EXPECT_EQ(misses(), 0U);
  EXPECT_NE(summary_table(cases, launches).find("+1.00%"), std::string::npos);
  wavefronts = 989;
  EXPECT_EQ(misses(), 1U);
  wavefronts = 1000;

  // Counted where nothing was predicted.
  launches[0].counters[index_of("store requests")] = 1;
  EXPECT_EQ(misses(), 1U);
}

TEST(GpuModelComparison, WantsALaunchForEachCase) {
  const std::vector<Case> cases{case_with(1, 1), case_with(2, 2)};
  const std::vector<ProfiledLaunch> launches{as_predicted(cases[0])};
  EXPECT_THROW(compare(cases, launches), Error);
}

TEST(GpuModelCounters, AskForEachMetricOnce) {
  const std::string list = metric_list();
  for (const Counter& counter : counters()) {
    const std::size_t first = list.find(counter.metric);
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(list.find(counter.metric, first + 1), std::string::npos) << counter.metric;
  }
}

}  // namespace
}  // namespace faro::bench::gpu_model
