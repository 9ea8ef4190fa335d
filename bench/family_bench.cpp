// family_bench: families of shapes on the CPU beside ordinary plans of the same shapes and a plain copy, by
// turns. `family_bench --help` lists the options.
//
// Every result is held against the plan's before anything is timed. What planning takes is the difference of
// calls of new shapes and of the same, on arrays that the caches hold; and by itself, of making an ordinary
// plan.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/family_cases.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "plan/family_plan.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(family_bench: families of shapes on the CPU beside ordinary plans and a copy

  --threads NUMBER     of all contestants                    (default: all)
  --budget-ms NUMBER   of measuring a row of the table       (default 2000)
  --help
)";

struct Options {
  int threads = 0;
  double budget_ms = 2000;
};

Options parse(const CommandLine& line) {
  Options options;
  line.read({{"--threads", [&](const Argument& a) { options.threads = parse_int(a, 1); }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }}});
  return options;
}

double microseconds_of(const std::function<void()>& call, int times) {
  std::vector<double> each;
  for (int n = 0; n < times; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    each.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(each);
}

void measure(const Options& options, const FamilyCase& of) {
  const PlanOptions by{.engine = Engine::cpu, .threads = options.threads};
  const ShapeFamily family(of.map(), by);
  const ExecutablePlan made = plan(Axes(of.extents, of.order), of.width, by);
  const std::uint64_t bytes = family.in_bytes(of.call());
  io::Buffer in(bytes);
  io::Buffer out(bytes);
  io::Buffer expected(bytes);
  for (std::uint64_t at = 0; at < bytes; ++at) in.data()[at] = static_cast<std::byte>(at * 31 >> 5);
  const std::vector<std::uint64_t> extents = of.call();
  family.run(extents, in.data(), out.data());
  made.run(in.data(), expected.data(), bytes);
  if (std::memcmp(out.data(), expected.data(), bytes) != 0)
    fail(ErrorCode::verification, of.what, "another result", "that of an ordinary plan");
  const std::array<std::function<void()>, 3> contestants{
      [&] { family.run(extents, in.data(), out.data()); }, [&] { made.run(in.data(), out.data(), bytes); },
      [&] { cpu::copy(in.data(), out.data(), bytes, options.threads); }};
  const std::vector<Timing> timings = measure_alternating(contestants, {.budget_ms = options.budget_ms});
  // Planning alone: a call's view and the program of it; an ordinary plan.
  const detail::FamilyPlan planned = detail::plan_family(of.map());
  Target target = cpu::target(options.threads);
  cpu::plan_by_curves(target, bytes);
  constexpr int kTimes = 501;
  const double family_us = microseconds_of(
      [&] { static_cast<void>(cpu::FamilyRun(detail::FamilyCall(planned, extents, {}), target)); }, kTimes);
  const double plan_us =
      microseconds_of([&] { static_cast<void>(plan(Axes(of.extents, of.order), of.width, by)); }, kTimes / 5);
  const double copy = timings[2].median_ms;
  fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.0f}% | {:.0f}% | {:.2f} | {:.0f} |\n", of.what,
             of.width, timings[0].median_ms, timings[1].median_ms, copy, 100 * copy / timings[0].median_ms,
             100 * copy / timings[1].median_ms, family_us, plan_us);
  std::fflush(stdout);
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  fmt::print("family_bench, faro {}, {}\n\n", FARO_COMMIT, cpu::target(options.threads).name);
  fmt::print(
      "| family | bytes | family ms | plan ms | copy ms | family | plan | planning a call us | a plan us |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const FamilyCase& of : family_cases()) measure(options, of);
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
