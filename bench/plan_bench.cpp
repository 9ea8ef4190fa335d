// plan_bench: how long plans of permutations of axes take to make: every shape of the suites of axes_bench,
// some times each, without running any.
//
//     a GPU of compute capability 9.0     Plan(problem, target), which no GPU is needed for
//     this machine's CPU                  Plan(problem, target)
//     asked for again                     faro::plan() of a problem that is among the 256 plans it keeps, on the CPU
//                                         and, where there is one, on a GPU
//
// A plan is meant to take at most a millisecond, and a tenth of one where it is kept.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro_build_info.hpp"

namespace faro::bench {
namespace {

constexpr double kMostUs = 1000;
constexpr double kMostKeptUs = 100;

constexpr const char* kUsage =
    R"(plan_bench: how long plans of permutations of axes take to make

  --rounds NUMBER      plans of each shape                (default 9)
  --widths LIST        bytes of elements, of suite ttc    (default 1,2,4,8,16)
  --help

Prints the median and the longest of each suite, and every shape whose median is above a millisecond.
)";

struct PlanTimes {
  std::string name;
  double median_us = 0;
  double longest_us = 0;
};

PlanTimes time_plans(const std::string& name, int rounds, const std::function<void()>& make) {
  std::vector<double> us;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    make();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    us.push_back(taken.count());
  }
  std::sort(us.begin(), us.end());
  return {.name = name, .median_us = us[us.size() / 2], .longest_us = us.back()};
}

struct Way {
  std::string name;
  double most_us = kMostUs;
  std::function<PlanTimes(const std::string&, const Problem&)> time;
};

std::string row(const std::string& way, const std::string& suite, double most_us,
                std::vector<PlanTimes> times) {
  const auto above =
      std::count_if(times.begin(), times.end(), [&](const PlanTimes& of) { return of.median_us > most_us; });
  std::sort(times.begin(), times.end(),
            [](const PlanTimes& a, const PlanTimes& b) { return a.median_us < b.median_us; });
  const auto longest = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.longest_us < b.longest_us; });
  return fmt::format("| {} | {} | {} | {:.1f} | {:.1f} | {:.1f} | {} | `{}` |\n", way, suite, times.size(),
                     times[times.size() / 2].median_us, times.back().median_us, longest->longest_us, above,
                     times.back().name);
}

int run(const CommandLine& line) {
  int rounds = 9;
  std::vector<std::uint64_t> widths{1, 2, 4, 8, 16};
  line.read({{"--rounds", [&](const Argument& argument) { rounds = parse_int(argument, 1); }},
             {"--widths", [&](const Argument& argument) { widths = parse_widths(argument); }}});
  const Target gpu = cuda::target_of_capability(9, 0);
  const Target cpu = cpu::target();
  const auto kept = [&](Engine engine) {
    return [rounds, engine](const std::string& name, const Problem& problem) {
      static_cast<void>(plan(problem, {.engine = engine}));
      return time_plans(name, rounds, [&] { static_cast<void>(plan(problem, {.engine = engine})); });
    };
  };
  std::vector<Way> ways{
      {.name = "GPU, capability 9.0",
       .time =
           [&](const std::string& name, const Problem& problem) {
             return time_plans(name, rounds, [&] { static_cast<void>(Plan(problem, gpu)); });
           }},
      {.name = "CPU",
       .time =
           [&](const std::string& name, const Problem& problem) {
             return time_plans(name, rounds, [&] { static_cast<void>(Plan(problem, cpu)); });
           }},
      {.name = "CPU, kept", .most_us = kMostKeptUs, .time = kept(Engine::cpu)}};
  if (cuda::status().available)
    ways.push_back({.name = "GPU, kept", .most_us = kMostKeptUs, .time = kept(Engine::cuda)});
  std::printf("# Planning times of permutations of axes\n\n%s, load %.2f, commit %s, `%s`\n\n",
              machine_text().c_str(), load_average(), FARO_COMMIT, line.text().c_str());
  std::printf(
      "Microseconds; %d plans of each shape.\n\n| for | suite | shapes | median | longest median | longest "
      "plan | medians above the limit | the longest |\n|---|---|---|---|---|---|---|---|\n",
      rounds);
  std::string above;
  for (const Way& way : ways) {
    for (const AxesSuite& suite : axes_suites(widths)) {
      std::vector<PlanTimes> times;
      for (const AxesShape& shape : suite.shapes) {
        const Problem problem{.permutation = Axes(shape.shape, shape.order),
                              .element_bytes = shape.element_bytes};
        times.push_back(way.time(shape.text(), problem));
        if (times.back().median_us > way.most_us)
          above +=
              fmt::format("- {}: `{}`, {:.0f} us\n", way.name, times.back().name, times.back().median_us);
      }
      if (!times.empty()) std::printf("%s", row(way.name, suite.name, way.most_us, times).c_str());
      std::fflush(stdout);
    }
  }
  std::printf("\nAbove %.0f us, kept plans %.0f:\n\n%s", kMostUs, kMostKeptUs,
              above.empty() ? "none\n" : above.c_str());
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage, run);
}
