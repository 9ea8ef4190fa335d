// gpu_axes_bench: permutations of axes on a GPU, as plans run them, beside a cudaMemcpy of the same bytes in
// the same rounds. `gpu_axes_bench --help` lists the options.
//
// Every result is verified on the device, element by element, before it is timed. Figures are shares of the
// copy. Before those that are timed as many calls are left out, for they pay for what the other left in the
// caches, and so that the host queues the others while it runs: what is timed is the device's part alone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_axes/axes_bench.hpp"
#include "bench/gpu_axes/cutensor.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_axes_bench: permutations of axes on a GPU beside cudaMemcpy

  --suites LIST    of ttc,ranks,primes,channels,attention,skinny,odd,short,many,large,views,small
                   (default all)
  --only TEXT      shapes whose text has it                          (default all)
  --view TEXT      views whose words have it                         (default all)
  --widths LIST    of elements of the TTC suite, in bytes            (default 1,2,4,8,16)
  --rounds NUMBER  of turns of each shape                            (default 7)
  --drawn NUMBER   of shapes that are drawn: the suite drawn, and the small arrays (default 0)
  --seed NUMBER    of these                                          (default 1)
  --as LIST        beside the plan, the same axes moved otherwise: boxes, lines, elements, tiles (never
                   elements), joined, words, thick and slim (of few rows and columns, by words or 32 and 8 KiB
                   a block), low, tall and huge (boxes of at most 55, 88 and 120 KiB), aligned,
                   small, large, whole, wide, middle and narrow (of whole arrays, 40, 24 and 12 KiB), parts
                   (never whole), rows (those of views of 64 bytes and more whole), dropped and kept (what
                   boxes move, in the second-level cache), or several of these, boxes+small; a column each
  --peer cutensor  beside it, where the library is found; a column
  --out FILE       the tables, in Markdown
  --help
)";

AxesOptions parse(const CommandLine& line) {
  AxesOptions options{{.rounds = 7}};
  options.read(line, {{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
                      {"--only", [&](const Argument& a) { options.only = a.text; }},
                      {"--view", [&](const Argument& a) { options.view = a.text; }},
                      {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
                      {"--as", [&](const Argument& a) { options.as = parse_names(a); }},
                      {"--peer",
                       [&](const Argument& a) {
                         if (a.text != "cutensor") refuse(a, "cutensor");
                         options.cutensor = true;
                       }},
                      {"--drawn", [&](const Argument& a) { options.drawn = parse_int(a, 1, 100000); }},
                      {"--seed", [&](const Argument& a) { options.seed = parse_count(a); }}});
  return options;
}

struct TimedAxes {
  double share = 0;                 // of the copy, in percent
  std::vector<double> others = {};  // of options.as
  std::optional<double> peer = {};  // nothing where it refuses the shape
  double milliseconds = 0;
  double plan_us = 0;
  std::string kernel = {};
};

// Shapes that have one figure together.
struct TogetherAxes {
  std::string name;
  std::vector<TimedAxes> timed = {};
};

class AxesBench {
 public:
  explicit AxesBench(const AxesOptions& options) : options_(options) {
    if (options.cutensor) peer_.emplace();
  }

  /// Whether every shape worked.
  bool run() {
    page_.add(
        "# Permutations of axes on a GPU\n\n" + setting_table(make_setting(options_.command)) +
        "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
        "cudaMemcpy of\nthe same bytes in the same rounds. Each turn follows one of the same that is not "
        "counted.\n" +
        (peer_ ? "The peer is " + peer_->version() + ".\n" : std::string()));
    std::string summary =
        "\n| suite | shapes | median | least |" +
        std::string(peer_ ? " peer's median | least | we are behind by more than 2 points |" : "") +
        "\n|---|---|---|---|" + (peer_ ? "---|---|---|" : "") + "\n";
    TogetherAxes fours{.name = "**ranks, primes, channels, attention and skinny together, 4 bytes**"};
    TogetherAxes twos{.name = "**the same with channels and attention of 2 bytes**"};
    std::vector<AxesSuite> suites = axes_suites(options_.widths);
    suites.push_back(large_axes(options_.widths));
    if (options_.drawn > 0) suites.push_back(drawn_axes(options_.seed, options_.drawn));
    for (const AxesSuite& suite : suites) {
      if (!wanted(suite.name)) continue;
      const std::vector<TimedAxes> timed = measure(suite);
      if (!timed.empty()) summary += summary_row(suite.name, timed);
      if (suite.in_fours) fours.timed.insert(fours.timed.end(), timed.begin(), timed.end());
      if (suite.in_twos) twos.timed.insert(twos.timed.end(), timed.begin(), timed.end());
    }
    for (const TogetherAxes& together : {fours, twos}) {
      if (!together.timed.empty()) summary += summary_row(together.name, together.timed);
    }
    page_.add(summary);
    if (wanted("views")) failures_ += measure_views(options_, page_);
    if (wanted("small")) failures_ += measure_small(options_, page_);
    return failures_ == 0;
  }

 private:
  bool wanted(const std::string& suite) const {
    const auto& names = options_.suites;
    return names.empty() || std::any_of(names.begin(), names.end(),
                                        [&](const std::string& name) { return suite.rfind(name, 0) == 0; });
  }

  std::string summary_row(const std::string& name, const std::vector<TimedAxes>& timed) const {
    const auto least = [](const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); };
    std::vector<double> shares;
    std::vector<double> peers;
    int behind = 0;
    for (const TimedAxes& each : timed) {
      shares.push_back(each.share);
      if (!each.peer) continue;
      peers.push_back(*each.peer);
      constexpr double points = 2;
      if (each.share < *each.peer - points) ++behind;
    }
    std::string row =
        fmt::format("| {} | {} | {:.1f}% | {:.1f}% |", name, shares.size(), median(shares), least(shares));
    if (!peers.empty()) {
      row +=
          fmt::format(" {:.1f}% | {:.1f}% | {} of {} |", median(peers), least(peers), behind, peers.size());
    } else if (peer_) {
      row += " - | - | - |";
    }
    return row + "\n";
  }

  std::vector<TimedAxes> measure(const AxesSuite& suite) {
    page_.add("\n## " + suite.name + "\n\n| axes | share | ms | plan, us | kernel |" +
              repeated(options_, [](const std::string& as) { return " " + as + " |"; }) +
              (peer_ ? " peer |" : "") + "\n|---|---|---|---|---|" +
              repeated(options_, [](const std::string&) { return std::string("---|"); }) +
              (peer_ ? "---|" : "") + "\n");
    std::vector<TimedAxes> all;
    for (const AxesShape& shape : suite.shapes) {
      if (shape.text().find(options_.only) == std::string::npos) continue;
      std::fprintf(stderr, "%s\n", shape.text().c_str());
      try {
        const TimedAxes timed = time(shape);
        all.push_back(timed);
        std::string row = fmt::format("| {} | {:.1f}% | {:.3f} | {:.0f} | {} |", shape.text(), timed.share,
                                      timed.milliseconds, timed.plan_us, timed.kernel);
        for (const double other : timed.others) row += fmt::format(" {:.1f}% |", other);
        if (timed.peer) {
          row += fmt::format(" {:.1f}% |", *timed.peer);
        } else if (peer_) {
          row += " refused |";
        }
        page_.add(row + "\n");
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
      }
    }
    return all;
  }

  static void verify(const AxesShape& shape, const cuda::DeviceArray& in, const cuda::DeviceArray& out,
                     const std::string& as) {
    const std::uint64_t wrong = testing::misplaced_elements(
        in.data(), out.data(), testing::axes_oracle(shape.shape, shape.order, shape.element_bytes), {});
    require_none_elsewhere(wrong, as);
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
    if (peer_) make_numbers(in, shape.element_bytes);
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
    const std::optional<Cutensor::Permutation> peer = peer_of(shape);
    if (peer) {
      testing::draw_bytes(out.data(), bytes, 2, {});
      peer->run(in.data(), out.data(), {});
      verify(shape, in, out, "the peer: ");
    }
    const int calls = calls_of(bytes);
    const TurnClock clock;
    const auto move = [&](Stream stream) { plan.run(in.data(), out.data(), bytes, stream); };
    const auto copy = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); };
    std::vector<double> moving;
    std::vector<double> copying;
    std::vector<double> of_peer;
    std::vector<std::vector<double>> otherwise(others.size());
    const auto turn = [&](const auto& queue, std::vector<double>& times) {
      times.push_back(clock.milliseconds(calls, queue));
    };
    for (int round = 0; round < options_.rounds; ++round) {
      turn(copy, copying);
      turn(move, moving);
      for (std::size_t i = 0; i < others.size(); ++i) {
        turn([&](Stream stream) { others[i].launch({.in = in.data(), .out = out.data()}, stream); },
             otherwise[i]);
      }
      if (peer) turn([&](Stream stream) { peer->run(in.data(), out.data(), stream); }, of_peer);
    }
    constexpr double percent = 100;
    std::vector<double> shares;
    for (const std::vector<double>& times : otherwise) {
      shares.push_back(percent * median(copying) / median(times));
    }
    return {
        .share = percent * median(copying) / median(moving),
        .others = std::move(shares),
        .peer = of_peer.empty() ? std::nullopt : std::optional(percent * median(copying) / median(of_peer)),
        .milliseconds = median(moving),
        .plan_us = planning.count(),
        .kernel = kernel_of(planned)};
  }

  // The peer computes with elements, and gives NaNs other bits: no number of 2, 4 or 8 bytes is one.
  static void make_numbers(const cuda::DeviceArray& in, std::uint64_t element_bytes) {
    constexpr int highest = 0x3f;  // exponents of about 1
    const std::uint64_t number = std::min<std::uint64_t>(element_bytes, 8);
    check_cuda(cudaMemset2D(in.data() + (number - 1), number, highest, 1, in.size() / number),
               "cudaMemset2D");
  }

  // Nothing where there is no peer, or it refuses the shape.
  std::optional<Cutensor::Permutation> peer_of(const AxesShape& shape) const {
    if (!peer_) return std::nullopt;
    try {
      return peer_->prepare(shape);
    } catch (const Error& error) {
      std::fprintf(stderr, "  %s\n", error.what());
      return std::nullopt;
    }
  }

  AxesOptions options_;
  std::optional<Cutensor> peer_;
  int failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::AxesBench>(count, words, gpu::kUsage, gpu::parse);
}
