// gpu_axes_bench: permutations of axes on a GPU, as plans run them, beside a cudaMemcpy of the same bytes in
// the same rounds. `gpu_axes_bench --help` lists the options.
//
// Every result is verified on the device, element by element, before it is timed. Figures are shares of the
// copy; the first run of every turn is left out, for it pays for what the other left in the caches.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "measure.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_axes_bench: permutations of axes on a GPU beside cudaMemcpy

  --suites LIST    of ttc,ranks,primes,channels,attention,skinny     (default all)
  --widths LIST    of elements of the TTC suite, in bytes            (default 1,2,4,8,16)
  --rounds NUMBER  of turns of each shape                            (default 7)
  --out FILE       the tables, in Markdown
  --help
)";

struct AxesOptions {
  std::vector<std::string> suites = {};  // none: all
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int rounds = 7;
  std::string out = {};
  std::string command = {};
};

AxesOptions parse(const CommandLine& line) {
  AxesOptions options;
  options.command = line.text();
  line.read({{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, 1000); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

struct TimedAxes {
  double share = 0;  // of the copy, in percent
  double milliseconds = 0;
  double plan_us = 0;
  std::string kernel = {};
};

class AxesBench {
 public:
  explicit AxesBench(const AxesOptions& options) : options_(options) {}

  /// Whether every shape worked.
  bool run() {
    page_.add("# Permutations of axes on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
              "cudaMemcpy of\nthe same bytes in the same rounds.\n");
    std::string summary = "\n| suite | shapes | median | least |\n|---|---|---|---|\n";
    for (const AxesSuite& suite : axes_suites(options_.widths)) {
      if (!wanted(suite)) continue;
      const std::vector<double> shares = measure(suite);
      if (shares.empty()) continue;
      summary += fmt::format("| {} | {} | {:.1f}% | {:.1f}% |\n", suite.name, shares.size(), median(shares),
                             *std::min_element(shares.begin(), shares.end()));
    }
    page_.add(summary);
    return failures_ == 0;
  }

 private:
  bool wanted(const AxesSuite& suite) const {
    const auto& names = options_.suites;
    return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return suite.name.rfind(name, 0) == 0;
           });
  }

  std::vector<double> measure(const AxesSuite& suite) {
    page_.add("\n## " + suite.name +
              "\n\n| axes | share | ms | plan, us | kernel |\n|---|---|---|---|---|\n");
    std::vector<double> shares;
    for (const AxesShape& shape : suite.shapes) {
      std::fprintf(stderr, "%s\n", shape.text().c_str());
      try {
        const TimedAxes timed = time(shape);
        shares.push_back(timed.share);
        page_.add(fmt::format("| {} | {:.1f}% | {:.3f} | {:.0f} | {} |\n", shape.text(), timed.share,
                              timed.milliseconds, timed.plan_us, timed.kernel));
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
      }
    }
    return shares;
  }

  TimedAxes time(const AxesShape& shape) const {
    const Axes axes(shape.shape, shape.order);
    const Problem problem{.permutation = axes, .element_bytes = shape.element_bytes};
    const std::uint64_t bytes = total_bytes(problem);
    const auto begin = std::chrono::steady_clock::now();
    const Plan planned(problem, cuda::target());
    const std::chrono::duration<double, std::micro> planning = std::chrono::steady_clock::now() - begin;
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
    const cuda::DeviceArray in(bytes);
    const cuda::DeviceArray out(bytes);
    testing::draw_bytes(in.data(), bytes, 1, {});
    testing::draw_bytes(out.data(), bytes, 2, {});
    plan.run(in.data(), out.data(), bytes);
    const std::uint64_t wrong = testing::misplaced_elements(
        in.data(), out.data(), testing::axes_oracle(shape.shape, shape.order, shape.element_bytes), {});
    if (wrong > 0) {
      fail(ErrorCode::verification, "gpu_axes_bench", fmt::format("{} elements elsewhere", wrong),
           "every element in its place");
    }
    const int calls = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / bytes, 1, 20));
    const cuda::StreamClock clock;
    const auto move = [&](Stream stream) { plan.run(in.data(), out.data(), bytes, stream); };
    const auto copy = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); };
    std::vector<double> moving;
    std::vector<double> copying;
    for (int round = 0; round < options_.rounds; ++round) {
      static_cast<void>(clock.milliseconds(1, copy));
      copying.push_back(clock.milliseconds(calls, copy) / calls);
      static_cast<void>(clock.milliseconds(1, move));
      moving.push_back(clock.milliseconds(calls, move) / calls);
    }
    constexpr double percent = 100;
    return {.share = percent * median(copying) / median(moving),
            .milliseconds = median(moving),
            .plan_us = planning.count(),
            .kernel = kernel_of(planned)};
  }

  static std::string kernel_of(const Plan& plan) {
    if (plan.passes().empty()) return "none";
    const Pass& pass = plan.passes().front();
    return pass.launch && !pass.launch->kernel.empty() ? pass.launch->kernel : name(pass.kind);
  }

  AxesOptions options_;
  int failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage,
                     [](const CommandLine& line) { return gpu::AxesBench(gpu::parse(line)).run() ? 0 : 1; });
}
