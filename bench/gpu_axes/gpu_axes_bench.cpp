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
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "measure.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_axes_bench: permutations of axes on a GPU beside cudaMemcpy

  --suites LIST    of ttc,ranks,primes,channels,attention,skinny     (default all)
  --widths LIST    of elements of the TTC suite, in bytes            (default 1,2,4,8,16)
  --rounds NUMBER  of turns of each shape                            (default 7)
  --as LIST        beside the plan, the same axes moved otherwise: boxes, lines, joined, aligned, small,
                   large, or several of these, boxes+small; a column each
  --out FILE       the tables, in Markdown
  --help
)";

struct AxesOptions {
  std::vector<std::string> suites = {};  // none: all
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int rounds = 7;
  std::vector<std::string> as = {};
  std::string out = {};
  std::string command = {};
};

// A + B + ... : all of them at once.
detail::AxesVariant variant_of(const std::string& words) {
  detail::AxesVariant as;
  std::size_t begin = 0;
  while (begin <= words.size()) {
    const std::size_t end = std::min(words.find('+', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    begin = end + 1;
    if (word == "boxes") {
      as.boxes_only = true;
    } else if (word == "lines") {
      as.lines_only = true;
    } else if (word == "joined") {
      as.skinny = false;
    } else if (word == "aligned") {
      as.ragged = false;
    } else if (word == "small") {
      as.box_bytes = 20 << 10;
    } else if (word == "large") {
      as.box_bytes = 44 << 10;
    } else {
      fail(ErrorCode::value, "--as", word, "boxes, lines, joined, aligned, small or large");
    }
  }
  return as;
}

AxesOptions parse(const CommandLine& line) {
  AxesOptions options;
  options.command = line.text();
  line.read({{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--as", [&](const Argument& a) { options.as = parse_names(a); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, 1000); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

struct TimedAxes {
  double share = 0;                 // of the copy, in percent
  std::vector<double> others = {};  // of options.as
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
    page_.add("\n## " + suite.name + "\n\n| axes | share | ms | plan, us | kernel |" +
              repeated([](const std::string& as) { return " " + as + " |"; }) + "\n|---|---|---|---|---|" +
              repeated([](const std::string&) { return std::string("---|"); }) + "\n");
    std::vector<double> shares;
    for (const AxesShape& shape : suite.shapes) {
      std::fprintf(stderr, "%s\n", shape.text().c_str());
      try {
        const TimedAxes timed = time(shape);
        shares.push_back(timed.share);
        std::string row = fmt::format("| {} | {:.1f}% | {:.3f} | {:.0f} | {} |", shape.text(), timed.share,
                                      timed.milliseconds, timed.plan_us, timed.kernel);
        for (const double other : timed.others) row += fmt::format(" {:.1f}% |", other);
        page_.add(row + "\n");
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
      }
    }
    return shares;
  }

  template <typename TextOf>
  std::string repeated(const TextOf& text_of) const {
    std::string all;
    for (const std::string& as : options_.as) all += text_of(as);
    return all;
  }

  static void verify(const AxesShape& shape, const cuda::DeviceArray& in, const cuda::DeviceArray& out,
                     const std::string& as) {
    const std::uint64_t wrong = testing::misplaced_elements(
        in.data(), out.data(), testing::axes_oracle(shape.shape, shape.order, shape.element_bytes), {});
    if (wrong == 0) return;
    fail(ErrorCode::verification, "gpu_axes_bench", fmt::format("{}{} elements elsewhere", as, wrong),
         "every element in its place");
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
    verify(shape, in, out, "");
    std::vector<cuda::LoadedPasses> others;
    for (const std::string& as : options_.as) {
      others.emplace_back(detail::solve({.count = axes.count(),
                                         .element_bytes = shape.element_bytes,
                                         .batch = 1,
                                         .form = axes,
                                         .axes = variant_of(as)}));
      testing::draw_bytes(out.data(), bytes, 2, {});
      others.back().launch({.in = in.data(), .out = out.data()});
      verify(shape, in, out, as + ": ");
    }
    const int calls = static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / bytes, 1, 20));
    const cuda::StreamClock clock;
    const auto move = [&](Stream stream) { plan.run(in.data(), out.data(), bytes, stream); };
    const auto copy = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); };
    std::vector<double> moving;
    std::vector<double> copying;
    std::vector<std::vector<double>> otherwise(others.size());
    for (int round = 0; round < options_.rounds; ++round) {
      static_cast<void>(clock.milliseconds(1, copy));
      copying.push_back(clock.milliseconds(calls, copy) / calls);
      static_cast<void>(clock.milliseconds(1, move));
      moving.push_back(clock.milliseconds(calls, move) / calls);
      for (std::size_t i = 0; i < others.size(); ++i) {
        const auto other = [&](Stream stream) {
          others[i].launch({.in = in.data(), .out = out.data()}, stream);
        };
        static_cast<void>(clock.milliseconds(1, other));
        otherwise[i].push_back(clock.milliseconds(calls, other) / calls);
      }
    }
    constexpr double percent = 100;
    std::vector<double> shares;
    for (const std::vector<double>& times : otherwise) {
      shares.push_back(percent * median(copying) / median(times));
    }
    return {.share = percent * median(copying) / median(moving),
            .others = std::move(shares),
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
