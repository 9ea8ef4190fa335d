// axes_bench: permutations of axes on the CPU, as plans run them, beside a plain copy of the same bytes in
// the same rounds. `axes_bench --help` lists the options.
//
// Every result is verified, element by element, before it is timed, those of the peers, too.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_peers.hpp"
#include "bench/axes_suites.hpp"
#include "bench/report.hpp"
#include "bench/view_suite.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "tell/counts/line_counts.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(axes_bench: permutations of axes on the CPU beside a plain copy

  --suites LIST      of ttc,ranks,primes,channels,attention,skinny,odd,many,views
                     (default all)
  --widths LIST      of elements of the TTC suite, in bytes            (default 4)
  --threads COUNT    0: all                                            (default 0)
  --match TEXT       only shapes and views whose line has it
  --clock NAME       wall, or thread: the processor time of one thread, for a busy machine (with --threads 1)
  --budget-ms NUMBER of measuring a shape                              (default 1000)
  --peers LIST       of hptt,onednn,fftw,openblas,mkl,numpy,torch, or none: libraries that do the same
                     (default: those that are installed)
  --out FILE         the tables, in Markdown
  --help
)";

struct AxesOptions {
  std::vector<std::string> suites = {};  // none: all
  std::vector<std::uint64_t> widths = {4};
  int threads = 0;
  double budget_ms = 1000;
  std::string match = {};
  bool thread_clock = false;
  std::vector<std::string> peers = {};  // none: all that are there
  std::string out = {};
  std::string command = {};
};

AxesOptions parse(const CommandLine& line) {
  AxesOptions options;
  options.command = line.text();
  line.read({{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--threads", [&](const Argument& a) { options.threads = parse_int(a, 0); }},
             {"--match", [&](const Argument& a) { options.match = a.text; }},
             {"--clock",
              [&](const Argument& a) {
                if (a.text != "wall" && a.text != "thread") refuse(a, "wall or thread");
                options.thread_clock = a.text == "thread";
              }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }},
             {"--peers", [&](const Argument& a) { options.peers = parse_names(a); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

// Numbers, none of which is a NaN that arithmetic might change, or so small that it takes a peer a trap: with
// one in 128 of them, HPTT took a third longer on a Xeon.
void fill(std::byte* data, std::uint64_t bytes, std::uint64_t width) {
  std::uint64_t state = 1;
  for (std::uint64_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    state = state * 0x9e3779b97f4a7c15 + 0x632be59bd9b4e019;
    const std::uint64_t word = width == 8 ? ((state >> 8) & 0x3fffffffffffffff) | 0x2000000000000000
                                          : ((state >> 8) & 0x3fffffff3fffffff) | 0x2000000020000000;
    std::memcpy(data + at, &word, std::min<std::uint64_t>(sizeof(word), bytes - at));
  }
}

// The definition, in the order of the input.
void verify(const char* who, const AxesShape& shape, const std::byte* in, const std::byte* out) {
  const std::size_t rank = shape.shape.size();
  std::vector<std::uint64_t> steps(rank);
  std::uint64_t count = 1;
  for (auto k = shape.order.rbegin(); k != shape.order.rend(); ++k) {
    const auto axis = static_cast<std::size_t>(*k);
    steps[axis] = count;
    count *= shape.shape[axis];
  }
  std::vector<std::uint64_t> at(rank, 0);
  std::uint64_t target = 0;
  const std::uint64_t width = shape.element_bytes;
  for (std::uint64_t x = 0; x < count; ++x) {
    if (std::memcmp(in + x * width, out + target * width, width) != 0) {
      fail(ErrorCode::verification, std::string(who) + ": " + shape.text(),
           fmt::format("another element at {}", target), fmt::format("the input's element {}", x));
    }
    for (std::size_t axis = rank; axis-- > 0;) {
      target += steps[axis];
      if (++at[axis] < shape.shape[axis]) break;
      target -= steps[axis] * shape.shape[axis];
      at[axis] = 0;
    }
  }
}

void verify_view(const Strided& view, std::uint64_t width, const std::byte* in, const std::byte* out) {
  std::vector<std::uint64_t> at(view.extents.size(), 0);
  auto from = static_cast<std::int64_t>(view.in_offset);
  auto to = static_cast<std::int64_t>(view.out_offset);
  const auto bytes = static_cast<std::int64_t>(width);
  for (std::size_t axis = 0; axis < at.size();) {
    if (std::memcmp(in + from * bytes, out + to * bytes, width) != 0)
      fail(ErrorCode::verification, to_text(view), fmt::format("another element at {}", to),
           fmt::format("the input's element {}", from));
    for (axis = at.size(); axis-- > 0;) {
      from += view.in_strides[axis];
      to += view.out_strides[axis];
      if (++at[axis] < view.extents[axis]) break;
      from -= view.in_strides[axis] * static_cast<std::int64_t>(at[axis]);
      to -= view.out_strides[axis] * static_cast<std::int64_t>(at[axis]);
      at[axis] = 0;
    }
  }
}

std::vector<Timing> measure_by(bool thread_clock, const std::vector<std::function<void()>>& contestants,
                               const MeasureOptions& options) {
  if (!thread_clock) return measure_alternating(contestants, options);
  std::vector<TimedRun> timed;
  for (const auto& run : contestants) {
    timed.emplace_back([&run](int calls) {
      const double begin = clock_ms(true);
      for (int call = 0; call < calls; ++call) run();
      return clock_ms(true) - begin;
    });
  }
  return measure_alternating(timed, options);
}

// Lines that passes read and write.
std::pair<double, double> lines_of(const std::vector<Pass>& passes) {
  std::pair<double, double> lines{0, 0};
  for (const Pass& pass : passes) {
    if (const auto counts = detail::count_lines(pass, nullptr)) {
      lines.first += static_cast<double>(counts->read.lines);
      lines.second += static_cast<double>(counts->written.lines);
    }
  }
  return lines;
}

// What lies together in a view's input with gaps of at most 256 bytes, over what of that is the view's.
double with_short_gaps(const Strided& view, std::uint64_t width) {
  constexpr std::uint64_t kShortGap = 256;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> axes;  // bytes apart, extent
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    const auto apart = static_cast<std::uint64_t>(std::abs(view.in_strides[a])) * width;
    if (apart != 0 && view.extents[a] > 1) axes.emplace_back(apart, view.extents[a]);
  }
  std::sort(axes.begin(), axes.end());
  std::uint64_t stretch = width;
  std::uint64_t own = width;
  for (const auto& [apart, extent] : axes) {
    if (apart > stretch + kShortGap) break;
    stretch += apart * (extent - 1);
    own *= extent;
  }
  return std::max(1.0, static_cast<double>(stretch) / static_cast<double>(own));
}

class AxesBench {
 public:
  explicit AxesBench(const AxesOptions& options) : options_(options), target_(cpu::target(options.threads)) {
    if (options.peers != std::vector<std::string>{"none"}) peers_ = axes_peers(options.peers);
  }

  /// Whether every shape worked.
  bool run() {
    add(fmt::format(
        "# Permutations of axes on a CPU\n\n{}; {}; commit {}; load {:.1f} before; `{}`\n\n"
        "Every result was verified before it was timed. Medians of alternating rounds{}; shares are "
        "of the plain copy of the\nsame bytes in the same rounds. Peers: {}.\n",
        machine_text(), target_.name, FARO_COMMIT, load_average(), options_.command,
        options_.thread_clock ? ", in processor time of one thread" : "", peer_names()));
    std::string summary = "\n| suite | shapes | median | least |\n|---|---|---|---|\n";
    for (const AxesSuite& suite : axes_suites(options_.widths)) {
      if (!wants(suite.name)) continue;
      const std::vector<double> shares = measure(suite);
      if (shares.empty()) continue;
      summary += fmt::format("| {} | {} | {:.1f}% | {:.1f}% |\n", suite.name, shares.size(), median(shares),
                             *std::min_element(shares.begin(), shares.end()));
    }
    if (!over_peers_.empty())
      summary += fmt::format("\nThe best peer's time over faro's, {} shapes: median {:.2f}, least {:.2f}.\n",
                             over_peers_.size(), median(over_peers_),
                             *std::min_element(over_peers_.begin(), over_peers_.end()));
    if (wants("views")) summary += time_views();
    add(summary);
    return failures_ == 0;
  }

 private:
  bool wants(const std::string& suite) const {
    const auto& names = options_.suites;
    return names.empty() || std::any_of(names.begin(), names.end(),
                                        [&](const auto& name) { return suite.rfind(name, 0) == 0; });
  }

  std::string peer_names() const {
    std::string names;
    for (const auto& peer : peers_) names += (names.empty() ? "" : ", ") + peer->name();
    return names.empty() ? "none is installed" : names;
  }

  bool matches(const std::string& line) const { return line.find(options_.match) != std::string::npos; }

  // Views, each beside the same shape without gaps, flips and repeats; shares of the bytes that a view moves.
  std::string time_views() {
    add("\n## Views\n\nBy lines: what the shape without would reach if it had as many lines of memory to "
        "read and "
        "write as the view, those in gaps of\nthe input of 256 bytes and less with them, which a processor "
        "fetches unasked.\n\n"
        "| shape | bytes an element | view | share | the shape without | beside it | by lines |\n"
        "|---|---|---|---|---|---|---|\n");
    std::vector<double> beside;
    int as_lines_allow = 0;
    for (const ViewCase& each : view_cases({2, 4})) {
      if (!matches(each.plain.text() + ", " + each.what)) continue;
      try {
        const ViewShares shares = time_view(each);
        constexpr double kNear = 5;  // points
        beside.push_back(shares.view - shares.plain);
        if (beside.back() < -kNear && shares.view > shares.by_lines - kNear) ++as_lines_allow;
        add(fmt::format("| {} | {} | {} | {:.1f}% | {:.1f}% | {:+.1f} | {:.1f}% |\n", each.plain.text(),
                        each.plain.element_bytes, each.what, shares.view, shares.plain, beside.back(),
                        shares.by_lines));
      } catch (const std::exception& error) {
        ++failures_;
        add(fmt::format("| {} | {} | failed: {} | | | |\n", each.plain.text(), each.what, error.what()));
      }
    }
    if (beside.empty()) return "";
    const auto far = std::count_if(beside.begin(), beside.end(), [](double points) { return points < -5; });
    return fmt::format(
        "\nViews beside the same shapes without: median {:+.1f} points, least {:+.1f}; {} of {} are "
        "more than 5 points slower, {} of those within 5 points of what their lines allow.\n",
        median(beside), *std::min_element(beside.begin(), beside.end()), far, beside.size(), as_lines_allow);
  }

  // Shares of a copy, in percent.
  struct ViewShares {
    double view = 0;
    double plain = 0;
    double by_lines = 0;
  };
  ViewShares time_view(const ViewCase& each) {
    const std::uint64_t width = each.plain.element_bytes;
    const Plan view({.element_bytes = width, .view = each.view}, target_);
    const Plan plain({.permutation = Axes(each.plain.shape, each.plain.order), .element_bytes = width},
                     target_);
    const cpu::Executor of_view(view);
    const cpu::Executor of_plain(plain);
    const std::uint64_t bytes = view.array_bytes();
    const io::Buffer in(std::max(bytes, view.in_bytes()));
    const io::Buffer out(std::max(bytes, view.out_bytes()));
    const io::Buffer lent(
        std::max({std::uint64_t{1}, of_view.workspace_bytes(), of_plain.workspace_bytes()}));
    fill(in.data(), in.size(), width);
    of_view.run(in.data(), out.data(), lent.data());
    verify_view(each.view, width, in.data(), out.data());
    const std::vector<std::function<void()>> contestants{
        [&] { of_view.run(in.data(), out.data(), lent.data()); },
        [&] { of_plain.run(in.data(), out.data(), lent.data()); },
        [&] { cpu::copy(in.data(), out.data(), bytes, target_.threads); }};
    const std::vector<Timing> times =
        measure_by(options_.thread_clock, contestants, {.budget_ms = options_.budget_ms});
    constexpr double percent = 100;
    const double plain_share = percent * times[2].median_ms / times[1].median_ms;
    const auto [read, written] = lines_of(view.passes());
    const auto [plain_read, plain_written] = lines_of(plain.passes());
    const double lines = read * with_short_gaps(each.view, width) + written;
    return {.view = percent * times[2].median_ms / times[0].median_ms,
            .plain = plain_share,
            .by_lines = lines == 0 ? 0 : plain_share * (plain_read + plain_written) / lines};
  }

  std::vector<double> measure(const AxesSuite& suite) {
    add("\n## " + suite.name +
        "\n\n| axes | share | ms | copy, ms | best peer | over it | plan, us | loop |\n" +
        "|---|---|---|---|---|---|---|---|\n");
    std::vector<double> shares;
    for (const AxesShape& shape : suite.shapes) {
      if (!matches(shape.text())) continue;
      try {
        shares.push_back(time(shape));
      } catch (const std::exception& error) {
        ++failures_;
        add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
      }
    }
    return shares;
  }

  double time(const AxesShape& shape) {
    const Problem problem{.permutation = Axes(shape.shape, shape.order),
                          .element_bytes = shape.element_bytes};
    const std::uint64_t bytes = total_bytes(problem);
    const auto begin = std::chrono::steady_clock::now();
    const Plan plan(problem, target_);
    const std::chrono::duration<double, std::micro> planning = std::chrono::steady_clock::now() - begin;
    const cpu::Executor engine(plan);
    const io::Buffer in(bytes);
    const io::Buffer out(bytes);
    const io::Buffer lent(std::max<std::uint64_t>(1, engine.workspace_bytes()));
    fill(in.data(), bytes, shape.element_bytes);
    std::vector<std::function<void()>> contestants{
        [&] { engine.run(in.data(), out.data(), lent.data()); },
        [&] { cpu::copy(in.data(), out.data(), bytes, target_.threads); }};
    std::vector<std::string> names{"faro", "copy"};
    for (const auto& peer : peers_) {
      auto run = peer->prepare(shape, {in.data(), out.data(), target_.threads});
      if (!run) continue;
      std::fill_n(out.data(), bytes, std::byte{0xff});
      run();
      verify(peer->name().c_str(), shape, in.data(), out.data());
      names.push_back(peer->name());
      contestants.push_back(std::move(run));
    }
    std::fill_n(out.data(), bytes, std::byte{0xff});
    contestants.front()();
    verify("faro", shape, in.data(), out.data());
    const std::vector<Timing> times =
        measure_by(options_.thread_clock, contestants, {.budget_ms = options_.budget_ms});
    constexpr double percent = 100;
    const auto share = [&](std::size_t i) { return percent * times[1].median_ms / times[i].median_ms; };
    const Pass* const pass = plan.passes().empty() ? nullptr : &plan.passes().front();
    std::size_t best = 1;
    for (std::size_t i = 2; i < times.size(); ++i) {
      if (best == 1 || times[i].median_ms < times[best].median_ms) best = i;
    }
    const double over = times[best].median_ms / times[0].median_ms;
    if (best > 1) over_peers_.push_back(over);
    add(fmt::format("| {} | {:.1f}% | {:.2f} | {:.2f} | {} | {} | {:.0f} | {} |\n", shape.text(), share(0),
                    times[0].median_ms, times[1].median_ms,
                    best > 1 ? fmt::format("{} {:.1f}%", names[best], share(best)) : "",
                    best > 1 ? fmt::format("{:.2f}", over) : "", planning.count(),
                    pass != nullptr && pass->team ? pass->team->kernel : "none"));
    return share(0);
  }

  void add(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    text_ += text;
    if (!options_.out.empty()) io::write_file(options_.out, text_);
  }

  AxesOptions options_;
  Target target_;
  std::vector<std::unique_ptr<AxesPeer>> peers_;
  std::vector<double> over_peers_;  // of each shape that a peer takes: the best of them over faro
  int failures_ = 0;
  std::string text_;
};

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage,
                     [](const CommandLine& line) { return AxesBench(parse(line)).run() ? 0 : 1; });
}
