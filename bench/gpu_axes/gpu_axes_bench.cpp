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
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_axes/cutensor.hpp"
#include "bench/view_suite.hpp"
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

  --suites LIST    of ttc,ranks,primes,channels,attention,skinny,odd,short,many,views,small (default all)
  --only TEXT      shapes whose text has it                          (default all)
  --view TEXT      views whose words have it                         (default all)
  --widths LIST    of elements of the TTC suite, in bytes            (default 1,2,4,8,16)
  --rounds NUMBER  of turns of each shape                            (default 7)
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

struct AxesOptions {
  std::vector<std::string> suites = {};  // none: all
  std::string only = {};
  std::string view = {};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int rounds = 7;
  std::vector<std::string> as = {};
  bool cutensor = false;
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
    } else if (word == "elements") {
      as.elements = true;
    } else if (word == "tiles") {
      as.elements = false;
    } else if (word == "lines") {
      as.lines_only = true;
    } else if (word == "joined") {
      as.skinny = false;
    } else if (word == "words") {
      as.few_vectors = false;
    } else if (word == "thick" || word == "slim") {
      as.skinny_bytes = word == "thick" ? 32 << 10 : 8 << 10;
    } else if (word == "low" || word == "tall" || word == "huge") {
      as.most_box_bytes = word == "low" ? 1 : word == "tall" ? 88 << 10 : 120 << 10;
    } else if (word == "aligned") {
      as.ragged = false;
    } else if (word == "whole" || word == "wide") {
      as.whole = true;
      if (word == "wide") as.whole_bytes = 40 << 10;
    } else if (word == "middle") {
      as.whole = true;
      as.whole_bytes = 24 << 10;
    } else if (word == "narrow") {
      as.whole = true;
      as.whole_bytes = 12 << 10;
    } else if (word == "parts") {
      as.whole = false;
    } else if (word == "rows") {
      as.least_row_bytes = 64;
    } else if (word == "dropped" || word == "kept") {
      as.drops_first = word == "dropped";
    } else if (word == "small") {
      as.box_bytes = 20 << 10;
    } else if (word == "large") {
      as.box_bytes = 44 << 10;
    } else {
      fail(ErrorCode::value, "--as", word,
           "boxes, lines, elements, tiles, joined, words, thick, slim, low, tall, huge, aligned, small, "
           "large, "
           "whole, wide, middle, narrow, parts, rows, dropped or kept");
    }
  }
  return as;
}

AxesOptions parse(const CommandLine& line) {
  AxesOptions options;
  options.command = line.text();
  line.read({{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--only", [&](const Argument& a) { options.only = a.text; }},
             {"--view", [&](const Argument& a) { options.view = a.text; }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--as", [&](const Argument& a) { options.as = parse_names(a); }},
             {"--peer",
              [&](const Argument& a) {
                if (a.text != "cutensor") refuse(a, "cutensor");
                options.cutensor = true;
              }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1, 1000); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
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

// A turn: what a call takes of a stream that is never idle.
class TurnClock {
 public:
  TurnClock() {
    check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  TurnClock(const TurnClock&) = delete;
  TurnClock& operator=(const TurnClock&) = delete;
  ~TurnClock() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }

  /// Milliseconds of one of `calls`, which follow as many that are not counted: what is timed first after
  /// other work reads up to a point less.
  template <typename Queue>
  double milliseconds(int calls, const Queue& queue) const {
    static_cast<void>(clock_.milliseconds(1, [&](Stream stream) {
      for (int call = 0; call < calls; ++call) queue(stream);
      check_cuda(cudaEventRecord(begin_, stream.handle()), "cudaEventRecord");
      for (int call = 0; call < calls; ++call) queue(stream);
      check_cuda(cudaEventRecord(end_, stream.handle()), "cudaEventRecord");
    }));
    float elapsed = 0;
    check_cuda(cudaEventElapsedTime(&elapsed, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(elapsed) / calls;
  }

 private:
  cuda::StreamClock clock_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
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
    for (const AxesSuite& suite : axes_suites(options_.widths)) {
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
    if (wanted("views")) measure_views();
    if (wanted("small")) measure_small();
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
              repeated([](const std::string& as) { return " " + as + " |"; }) + (peer_ ? " peer |" : "") +
              "\n|---|---|---|---|---|" + repeated([](const std::string&) { return std::string("---|"); }) +
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

  // --- views

  void measure_views() {
    page_.add(
        "\n## views, beside the same shape without\n\nShares of the cudaMemcpy of as many bytes as are "
        "written. Of gaps alone: rows of the same bytes, as far apart, in their order.\n\n| shape | view | "
        "share "
        "| the shape's | points | gaps alone |" +
        repeated([](const std::string& as) { return " " + as + " |"; }) + "\n|---|---|---|---|---|---|" +
        repeated([](const std::string&) { return std::string("---|"); }) + "\n");
    int far = 0;
    int count = 0;
    double worst = std::numeric_limits<double>::infinity();
    for (const ViewCase& each : view_cases(options_.widths)) {
      if (each.plain.text().find(options_.only) == std::string::npos ||
          each.what.find(options_.view) == std::string::npos)
        continue;
      std::fprintf(stderr, "%s, %s\n", each.plain.text().c_str(), each.what.c_str());
      try {
        const auto [view, plain, in_order, others] = time_view(each);
        std::string row =
            fmt::format("| {} | {} | {:.1f}% | {:.1f}% | {:+.1f} | {} |", each.plain.text(), each.what, view,
                        plain, view - plain, in_order ? fmt::format("{:.1f}%", *in_order) : "");
        for (const double share : others) row += fmt::format(" {:.1f}% |", share);
        page_.add(row + "\n");
        constexpr double points = 5;
        ++count;
        far += view < plain - points ? 1 : 0;
        worst = std::min(worst, view - plain);
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | {} | failed: {} |\n", each.plain.text(), each.what, error.what()));
      }
    }
    page_.add(fmt::format("\nMore than 5 points below the shape without: {} of {}; the furthest {:+.1f}.\n",
                          far, count, worst));
  }

  // Shares of the copy of the view and of its shape without gaps, flips and repeats, and of the view moved
  // otherwise.
  struct ViewShares {
    double view;
    double plain;
    std::optional<double> in_order;  // of rows with the same gaps
    std::vector<double> others;
  };

  // The view's rows in the order of the side that has gaps, between them and an array without; nothing where
  // neither has any.
  static std::optional<Strided> rows_in_order(const Strided& view) {
    const bool in_gaps = in_elements(view) > element_count(view);
    if (!in_gaps && out_elements(view) == element_count(view)) return std::nullopt;
    const std::vector<std::int64_t>& strides = in_gaps ? view.in_strides : view.out_strides;
    std::vector<std::size_t> order(strides.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
    Strided rows;
    for (const std::size_t axis : order) {
      rows.extents.push_back(view.extents[axis]);
      rows.in_strides.push_back(strides[axis]);
    }
    rows.out_strides.resize(order.size());
    std::int64_t stride = 1;
    for (std::size_t a = order.size(); a-- > 0;) {
      rows.out_strides[a] = stride;
      stride *= static_cast<std::int64_t>(rows.extents[a]);
    }
    if (!in_gaps) std::swap(rows.in_strides, rows.out_strides);
    return rows;
  }
  ViewShares time_view(const ViewCase& each) const {
    const std::uint64_t width = each.plain.element_bytes;
    const ExecutableStridedPlan moved = faro::plan(each.view, width, {.engine = Engine::cuda});
    const Problem problem{.permutation = Axes(each.plain.shape, each.plain.order), .element_bytes = width};
    const ExecutablePlan plain = faro::plan(problem, {.engine = Engine::cuda});
    const std::uint64_t bytes = total_bytes(problem);
    const std::uint64_t in_elements = faro::in_elements(each.view);
    const std::uint64_t out_elements = faro::out_elements(each.view);
    const cuda::DeviceArray in(std::max(bytes, in_elements * width));
    const cuda::DeviceArray out(std::max(bytes, out_elements * width));
    testing::draw_bytes(in.data(), in.size(), 1, {});
    testing::draw_bytes(out.data(), out.size(), 2, {});
    const auto move = [&](Stream stream) {
      moved.run(in.data(), in_elements, out.data(), out_elements, stream);
    };
    move({});
    const std::uint64_t wrong =
        testing::misplaced_elements(in.data(), out.data(), testing::axes_oracle(each.view, width), {});
    if (wrong != 0) {
      fail(ErrorCode::verification, "gpu_axes_bench", fmt::format("{} elements elsewhere", wrong),
           "every element in its place");
    }
    const TurnClock clock;
    const auto copy = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); };
    const auto shape = [&](Stream stream) { plain.run(in.data(), out.data(), bytes, stream); };
    const int calls = calls_of(bytes);
    std::vector<double> moving;
    std::vector<double> copying;
    std::vector<double> without;
    std::vector<cuda::LoadedPasses> others;
    others.reserve(options_.as.size());
    for (const std::string& as : options_.as) {
      others.emplace_back(
          std::vector<detail::GpuPass>{detail::view_pass(normal_form(each.view), width, variant_of(as))});
    }
    std::optional<cuda::LoadedPasses> rows;
    if (const auto in_order = rows_in_order(each.view)) {
      rows.emplace(std::vector<detail::GpuPass>{
          detail::view_pass(normal_form(*in_order), width, {.least_row_bytes = 1})});
    }
    std::vector<double> ordered;
    std::vector<std::vector<double>> otherwise(others.size());
    const auto turn = [&](const auto& queue, std::vector<double>& times) {
      times.push_back(clock.milliseconds(calls, queue));
    };
    for (int round = 0; round < options_.rounds; ++round) {
      turn(copy, copying);
      turn(move, moving);
      turn(shape, without);
      if (rows) {
        turn([&](Stream stream) { rows->launch({.in = in.data(), .out = out.data()}, stream); }, ordered);
      }
      for (std::size_t i = 0; i < others.size(); ++i) {
        turn([&](Stream stream) { others[i].launch({.in = in.data(), .out = out.data()}, stream); },
             otherwise[i]);
      }
    }
    constexpr double percent = 100;
    ViewShares shares{.view = percent * median(copying) / median(moving),
                      .plain = percent * median(copying) / median(without),
                      .in_order = {},
                      .others = {}};
    if (rows) shares.in_order = percent * median(copying) / median(ordered);
    for (const std::vector<double>& times : otherwise) {
      shares.others.push_back(percent * median(copying) / median(times));
    }
    return shares;
  }

  // --- small arrays

  void measure_small() {
    page_.add(
        "\n## small arrays\n\nMicroseconds of a call among 64 of a graph, each on arrays of its own, and "
        "those of a "
        "cudaMemcpy in its\nplace.\n\n| axes | KiB | us | copy | beyond | kernel |" +
        repeated([](const std::string& as) { return " " + as + ", beyond |"; }) +
        "\n|---|---|---|---|---|---|" + repeated([](const std::string&) { return std::string("---|"); }) +
        "\n");
    beyond_ = 0;
    for (const AxesShape& shape : small_shapes()) {
      if (shape.text().find(options_.only) == std::string::npos) continue;
      std::fprintf(stderr, "%s\n", shape.text().c_str());
      try {
        time_small(shape);
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
      }
    }
    page_.add(fmt::format("\nFurthest beyond a copy, of arrays to 1 MiB: {:+.2f} us.\n", beyond_));
  }

  static constexpr std::uint64_t kCountedBytes = 1 << 20;  // of small arrays that have to be near a copy

  static std::vector<AxesShape> small_shapes() {
    std::vector<AxesShape> shapes;
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      for (const std::uint64_t n : {16U, 32U, 128U, 256U, 512U}) shapes.push_back({{n, n}, {1, 0}, width});
      for (const std::uint64_t n : {500U, 700U, 1000U}) {
        if (n * n * width <= kCountedBytes) shapes.push_back({{n, n}, {1, 0}, width});
      }
      shapes.push_back({{100, 333}, {1, 0}, width});
      shapes.push_back({{3, 20000}, {1, 0}, width});
      shapes.push_back({{20000, 3}, {1, 0}, width});
      shapes.push_back({{2, 3, 5, 7, 11, 13}, {5, 4, 3, 2, 1, 0}, width});
      shapes.push_back({{8, 3, 2, 4, 6, 5, 7}, {3, 0, 6, 1, 5, 2, 4}, width});
      shapes.push_back({{40, 30, 50}, {2, 1, 0}, width});
      for (const std::uint64_t n : {10U, 16U, 25U}) {
        shapes.push_back({{n, n, n}, {2, 1, 0}, width});
        shapes.push_back({{n, n, n}, {0, 2, 1}, width});
        shapes.push_back({{4, n, n, n}, {3, 2, 1, 0}, width});
      }
      shapes.push_back({{32, 32, 32}, {2, 1, 0}, width});
      shapes.push_back({{48, 48, 48}, {2, 1, 0}, width});
      if (width <= 2) shapes.push_back({{70, 80, 90}, {2, 1, 0}, width});
      shapes.push_back({{16, 16, 16, 16}, {3, 2, 1, 0}, width});
      shapes.push_back({{2, 128, 8, 64}, {0, 2, 1, 3}, width});
    }
    shapes.push_back({{128, 128, 128}, {2, 1, 0}, 4});
    shapes.push_back({{32, 32, 32, 32}, {3, 2, 1, 0}, 4});
    return shapes;
  }

  void time_small(const AxesShape& shape) {
    constexpr std::uint64_t slots = 64;
    const Problem problem{.permutation = Axes(shape.shape, shape.order),
                          .element_bytes = shape.element_bytes};
    const std::uint64_t bytes = total_bytes(problem);
    const std::uint64_t apart = (bytes + 255) / 256 * 256;
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
    const cuda::DeviceArray in(slots * apart);
    const cuda::DeviceArray out(slots * apart);
    testing::draw_bytes(in.data(), in.size(), 1, {});
    testing::draw_bytes(out.data(), out.size(), 2, {});
    const auto each = [&](const auto& queue) {
      return [&, queue](Stream stream) {
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
          queue(in.data() + slot * apart, out.data() + slot * apart, stream);
        }
      };
    };
    const Graph moving(each(
        [&](const std::byte* from, std::byte* to, Stream stream) { plan.run(from, to, bytes, stream); }));
    std::vector<cuda::LoadedPasses> others;
    std::vector<std::unique_ptr<Graph>> otherwise;
    others.reserve(options_.as.size());
    for (const std::string& as : options_.as) {
      others.emplace_back(detail::solve({.count = bytes / shape.element_bytes,
                                         .element_bytes = shape.element_bytes,
                                         .batch = 1,
                                         .form = Axes(shape.shape, shape.order),
                                         .axes = variant_of(as)}));
      otherwise.push_back(std::make_unique<Graph>(
          each([&other = others.back()](const std::byte* from, std::byte* to, Stream stream) {
            other.launch({.in = from, .out = to}, stream);
          })));
    }
    const Graph copying(each(
        [&](const std::byte* from, std::byte* to, Stream stream) { cuda::copy(from, to, bytes, stream); }));
    moving.launch({});
    for (const std::uint64_t slot : {std::uint64_t{0}, slots - 1}) {
      const std::uint64_t wrong = testing::misplaced_elements(
          in.data() + slot * apart, out.data() + slot * apart,
          testing::axes_oracle(shape.shape, shape.order, shape.element_bytes), {});
      if (wrong != 0) {
        fail(ErrorCode::verification, "gpu_axes_bench", fmt::format("{} elements elsewhere", wrong),
             "every element in its place");
      }
    }
    const TurnClock clock;
    std::vector<double> moved;
    std::vector<double> copied;
    std::vector<std::vector<double>> times_of_others(others.size());
    const auto turn = [&](const Graph& graph, std::vector<double>& times) {
      times.push_back(clock.milliseconds(4, [&](Stream stream) { graph.launch(stream); }) / slots * 1e3);
    };
    for (int round = 0; round < options_.rounds; ++round) {
      turn(copying, copied);
      turn(moving, moved);
      for (std::size_t i = 0; i < others.size(); ++i) turn(*otherwise[i], times_of_others[i]);
    }
    if (bytes <= kCountedBytes) beyond_ = std::max(beyond_, median(moved) - median(copied));
    std::string row = fmt::format("| {} | {:.1f} | {:.2f} | {:.2f} | {:+.2f} | {} |", shape.text(),
                                  static_cast<double>(bytes) / 1024, median(moved), median(copied),
                                  median(moved) - median(copied), kernel_of(Plan(problem, cuda::target())));
    for (const std::vector<double>& times : times_of_others) {
      row += fmt::format(" {:+.2f} |", median(times) - median(copied));
    }
    page_.add(row + "\n");
  }

  static int calls_of(std::uint64_t bytes) {
    return static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / bytes, 1, 20));
  }

  static std::string kernel_of(const Plan& plan) {
    if (plan.passes().empty()) return "none";
    const Pass& pass = plan.passes().front();
    return pass.launch && !pass.launch->kernel.empty() ? pass.launch->kernel : name(pass.kind);
  }

  AxesOptions options_;
  std::optional<Cutensor> peer_;
  int failures_ = 0;
  double beyond_ = 0;  // microseconds of the slowest small array
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage,
                     [](const CommandLine& line) { return gpu::AxesBench(gpu::parse(line)).run() ? 0 : 1; });
}
