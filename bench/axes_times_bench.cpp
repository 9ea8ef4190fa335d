// axes_times_bench: predicted times of drawn permutations of axes and views on the CPU, beside what they
// take. `axes_times_bench --help` lists the options.
//
// Each problem takes turns with a plain copy of as many bytes, and is predicted by what that copy took, as a
// plan is by the kept curve of a copy. Prices are fitted to this machine before, as `faro tune` does, unless
// --built-in says otherwise. Every result is verified before it is timed, at 2^16 drawn elements:
// all elements are the tests' affair. A set that is timed twice says how well this machine repeats itself.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/tune_axes.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "tell/axes_counts.hpp"
#include "tell/prediction.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(axes_times_bench: predicted times of drawn axes and views on the CPU beside what they take

  --seed NUMBER      what is drawn                                     (default 1)
  --count COUNT      of problems                                       (default 100)
  --least, --most SIZE  of what a problem moves, powers of two         (default 1MiB, 256MiB)
  --threads COUNT    0: all; 1: by the thread's processor time         (default 0)
  --rounds COUNT     of each problem                                   (default 7)
  --turns COUNT      of the whole set, each beside the first           (default 1)
  --both-ways        times the way that was not chosen, too
  --built-in         by the prices that come with faro
  --out FILE         a table, separated by tabs
  --help
)";

struct TimesOptions {
  std::uint64_t seed = 1;
  int count = 100;
  std::uint64_t least = std::uint64_t{1} << 20;
  std::uint64_t most = std::uint64_t{256} << 20;
  int threads = 0;
  int rounds = 7;
  int turns = 1;
  bool built_in = false;
  bool both_ways = false;
  std::string out = {};
  std::string command = {};
};

TimesOptions parse(const CommandLine& line) {
  TimesOptions options;
  options.command = line.text();
  options.built_in = line.has("--built-in");
  options.both_ways = line.has("--both-ways");
  line.read({{"--seed", [&](const Argument& a) { options.seed = parse_count(a); }},
             {"--count", [&](const Argument& a) { options.count = parse_int(a, 1); }},
             {"--least", [&](const Argument& a) { options.least = parse_bytes(a, 4096); }},
             {"--most", [&](const Argument& a) { options.most = parse_bytes(a, 4096); }},
             {"--threads", [&](const Argument& a) { options.threads = parse_int(a, 0); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1); }},
             {"--turns", [&](const Argument& a) { options.turns = parse_int(a, 1); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}},
            {"--built-in", "--both-ways"});
  if (options.least > options.most)
    fail(ErrorCode::usage, "axes_times_bench", "--least above --most", "a range of sizes");
  return options;
}

// --- what is drawn

struct DrawnView {
  std::string what;  // "axes", "padded", "sliced", "flipped", "to padded", "repeated"
  Strided view;
  std::optional<Axes> axes = {};  // where it is dense
  std::uint64_t width = 4;

  std::string text() const { return axes ? to_text(Permutation(*axes)) : to_text(view); }
};

class DrawViews {
 public:
  explicit DrawViews(std::uint64_t seed) : random_(seed) {}

  DrawnView next(std::uint64_t least, std::uint64_t most) {
    static constexpr std::uint64_t kWidths[] = {1, 2, 3, 4, 4, 4, 6, 8, 8, 12, 16, 16, 24, 32, 64};
    DrawnView drawn;
    drawn.width = kWidths[below(std::size(kWidths))];
    const std::size_t rank = 2 + below(5);
    const std::uint64_t bytes = scale(least, most);
    std::vector<std::uint64_t> extents = extents_of(rank, std::max<std::uint64_t>(4, bytes / drawn.width));
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    const std::uint64_t kind = below(10);
    const bool may_stay = kind >= 5;  // a view of rows that stay where they are
    do {
      for (std::size_t i = rank; i-- > 1;) std::swap(order[i], order[below(i + 1)]);
    } while (!may_stay && std::is_sorted(order.begin(), order.end()));
    const std::vector<std::uint64_t> none(rank, 0);
    std::vector<std::uint64_t> room = none;
    switch (kind) {
      case 5:
        drawn.what = "padded";
        room.back() = 1 + below(32);
        drawn.view = roomy(extents, order, room, none);
        break;
      case 6:
        drawn.what = "sliced";
        for (auto& more : room) more = below(9);
        drawn.view = roomy(extents, order, room, none);
        break;
      case 7:
        drawn.what = "flipped";
        drawn.view = roomy(extents, order, none, none);
        for (bool any = false; !any;)
          for (std::size_t a = 0; a < rank; ++a) any = (below(2) == 0 && flip(drawn.view, a)) || any;
        break;
      case 8:
        drawn.what = "to padded";
        room[static_cast<std::size_t>(order.back())] = 1 + below(32);
        drawn.view = roomy(extents, order, none, room);
        break;
      case 9:
        drawn.what = "repeated";
        drawn.view = repeated(extents, order, below(rank));
        break;
      default:
        drawn.what = "axes";
        drawn.view = roomy(extents, order, none, none);
        drawn.axes = Axes(extents, order);
    }
    return drawn;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  double part() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  // Even in the logarithm.
  std::uint64_t scale(std::uint64_t least, std::uint64_t most) {
    const double low = std::log(static_cast<double>(least));
    const double high = std::log(static_cast<double>(most));
    return std::clamp(static_cast<std::uint64_t>(std::exp(low + part() * (high - low))), least, most);
  }

  // Of about so many elements; each is a part of them, even in the logarithm. Of nine shapes three have odd
  // extents, three multiples of 8 where they are long, one powers of two, the others any.
  std::vector<std::uint64_t> extents_of(std::size_t rank, std::uint64_t elements) {
    std::vector<double> cuts(rank);
    double all = 0;
    for (double& cut : cuts) all += cut = 0.15 + part();
    std::vector<std::uint64_t> extents(rank);
    const std::uint64_t kind = below(9);
    for (std::size_t a = 0; a < rank; ++a) {
      const double extent = std::exp(std::log(static_cast<double>(elements)) * cuts[a] / all);
      extents[a] = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(extent));
      if (kind < 3) extents[a] |= 1;
      if (kind >= 3 && kind < 6 && extents[a] >= 16) extents[a] = extents[a] / 8 * 8;
      if (kind == 6) extents[a] = std::bit_floor(extents[a] + extents[a] / 3);
    }
    return extents;
  }

  static Strided roomy(const std::vector<std::uint64_t>& extents, const std::vector<int>& order,
                       const std::vector<std::uint64_t>& in_room,
                       const std::vector<std::uint64_t>& out_room) {
    const std::size_t rank = extents.size();
    Strided view{.extents = extents,
                 .in_strides = std::vector<std::int64_t>(rank),
                 .out_strides = std::vector<std::int64_t>(rank)};
    std::int64_t stride = 1;
    for (std::size_t a = rank; a-- > 0;) {
      view.in_strides[a] = stride;
      stride *= static_cast<std::int64_t>(extents[a] + in_room[a]);
    }
    stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
      const auto a = static_cast<std::size_t>(order[i]);
      view.out_strides[a] = stride;
      stride *= static_cast<std::int64_t>(extents[a] + out_room[a]);
    }
    return view;
  }
  static bool flip(Strided& view, std::size_t axis) {
    if (view.in_strides[axis] < 0) return true;
    view.in_offset += (view.extents[axis] - 1) * static_cast<std::uint64_t>(view.in_strides[axis]);
    view.in_strides[axis] = -view.in_strides[axis];
    return true;
  }
  static Strided repeated(const std::vector<std::uint64_t>& extents, const std::vector<int>& order,
                          std::size_t axis) {
    const std::vector<std::uint64_t> none(extents.size(), 0);
    std::vector<std::uint64_t> once = extents;
    once[axis] = 1;
    Strided view = roomy(once, order, none, none);
    view.out_strides = roomy(extents, order, none, none).out_strides;
    view.extents = extents;
    view.in_strides[axis] = 0;
    return view;
  }

  std::mt19937_64 random_;
};

// --- how it is run

// What a plan and a view's plan have in common here.
class TimedPlan {
 public:
  TimedPlan(const DrawnView& drawn, const Target& target) {
    if (drawn.axes) {
      plan_ =
          std::make_unique<Plan>(Problem{.permutation = *drawn.axes, .element_bytes = drawn.width}, target);
      engine_ = std::make_unique<cpu::Executor>(*plan_);
    } else {
      view_ = std::make_unique<Plan>(Problem{.element_bytes = drawn.width, .view = drawn.view}, target);
      engine_ = std::make_unique<cpu::Executor>(*view_);
    }
  }

  const cpu::Executor& engine() const { return *engine_; }
  const std::vector<Pass>& passes() const { return plan_ ? plan_->passes() : view_->passes(); }
  std::optional<double> us() const { return plan_ ? PassCounter(*plan_).microseconds() : predict_us(*view_); }

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Plan> view_;
  std::unique_ptr<cpu::Executor> engine_;
};

void verify(const DrawnView& drawn, const std::byte* in, const std::byte* out) {
  constexpr int kElements = 1 << 16;
  std::mt19937_64 random(7);
  const auto width = static_cast<std::int64_t>(drawn.width);
  for (int k = 0; k < kElements; ++k) {
    auto from = static_cast<std::int64_t>(drawn.view.in_offset);
    auto to = static_cast<std::int64_t>(drawn.view.out_offset);
    for (std::size_t a = 0; a < drawn.view.extents.size(); ++a) {
      const auto digit = static_cast<std::int64_t>(random() % drawn.view.extents[a]);
      from += digit * drawn.view.in_strides[a];
      to += digit * drawn.view.out_strides[a];
    }
    if (std::memcmp(in + from * width, out + to * width, drawn.width) != 0)
      fail(ErrorCode::verification, drawn.text(), fmt::format("another element at {}", to),
           fmt::format("the input's element {}", from));
  }
}

// The box and its axes, for whoever fits: extent:stride read:stride written:extent of the box, in bytes.
std::string box_text(const Pass& pass) {
  if (pass.cpu == nullptr) return "";
  const auto* const axes = std::get_if<detail::CpuAxes>(&pass.cpu->kernel);
  if (const auto* const affine = std::get_if<detail::CpuAffine>(&pass.cpu->kernel)) {
    std::string text = fmt::format("{} {} {} rows", name(pass.kind), affine->unit_bytes, pass.segment_bytes);
    for (const auto row : pass.tile.source_rows) text += fmt::format(" {}", row * affine->unit_bytes);
    text += " to";
    for (const auto row : pass.tile.target_rows) text += fmt::format(" {}", row * affine->unit_bytes);
    return text;
  }
  if (axes == nullptr) return name(pass.kind);
  static constexpr const char* kMoves[] = {"pieces", "planes", "table", "lines", "groups", "channels"};
  const layout::CacheBox& box = axes->box;
  std::string text = fmt::format("{} {} {} {}", kMoves[static_cast<std::size_t>(axes->move)],
                                 axes->staged ? 1 : 0, axes->one_by_one ? 1 : 0, box.element_bytes);
  for (std::size_t a = 0; a < box.axes.size(); ++a)
    text += fmt::format(" {}:{}:{}:{}", box.axes[a].extent, box.axes[a].in, box.axes[a].out,
                        box.extent.empty() ? 0 : box.extent[a]);
  text += " |";
  const detail::AxesCounts counts = detail::count_axes(*axes);
  for (const detail::NamedCount& each : detail::kAxesCounts)
    text += fmt::format(" {}={:.6g}", each.name, counts.*each.value);
  return text;
}

// Others only ever add time: the second least of some, or the least.
double quietest(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 8];
}

class TimesBench {
 public:
  explicit TimesBench(const TimesOptions& options)
      : options_(options),
        target_(cpu::target(options.threads)),
        room_(2 * options.most + (std::uint64_t{16} << 20)),
        in_(room_),
        out_(room_) {
    std::mt19937_64 random(options.seed);
    for (std::uint64_t at = 0; at + sizeof(std::uint64_t) <= room_; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random();
      std::memcpy(in_.data() + at, &word, sizeof(word));
    }
  }

  int run() {
    fmt::print("{}; {}; commit {}; load {:.1f} before; `{}`\n", machine_text(), target_.name, FARO_COMMIT,
               load_average(), options_.command);
    DrawViews draw(options_.seed);
    while (static_cast<int>(drawn_.size()) < options_.count) {
      DrawnView next = draw.next(options_.least, options_.most);
      const std::uint64_t moved = element_count(next.view) * next.width;
      const bool fits = std::max(in_elements(next.view), out_elements(next.view)) * next.width <= room_;
      if (fits && moved >= options_.least / 2 && moved <= options_.most * 2)
        drawn_.push_back(std::move(next));
    }
    if (!options_.built_in) prices_ = cpu::tune_axes({}, target_);
    measure_copies();
    table_ += "turn\tnumber\twhat\tproblem\twidth\tbytes\tthreads\tms\tcopy_ms\tpredicted_ms\tbox\n";
    std::vector<std::vector<double>> ratios(drawn_.size());
    std::vector<double> off;
    std::vector<double> regrets;
    std::map<std::string, std::vector<double>> off_of;
    for (int turn = 0; turn < options_.turns; ++turn) {
      for (std::size_t k = 0; k < drawn_.size(); ++k) {
        const DrawnView& drawn = drawn_[k];
        const Row row = time(drawn);
        table_ += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.5f}\t{:.5f}\t{}\t{}\n", turn, k, drawn.what,
                              drawn.text(), drawn.width, row.bytes, target_.threads, row.ms, row.copy_ms,
                              row.predicted_ms ? fmt::format("{:.5f}", *row.predicted_ms) : "", row.box);
        ratios[k].push_back(row.ms / row.copy_ms);
        if (options_.both_ways) regrets.push_back(row.ms / std::min(row.ms, row.other_ms));
        if (!row.predicted_ms) continue;
        off.push_back(*row.predicted_ms / row.ms - 1);
        off_of[drawn.what].push_back(off.back());
        off_of[fmt::format("{} bytes", drawn.width)].push_back(off.back());
        off_of[row.bytes > target_.streaming_bytes ? "past the caches" : "through the caches"].push_back(
            off.back());
      }
      if (!options_.out.empty()) io::write_file(options_.out, table_);
    }
    std::string text =
        "| problems | | within 10% | within 15% | within 20% | median off | least | most "
        "|\n|---|---|---|---|---|---|---|---|\n";
    text += line("all", off);
    for (const auto& [name, values] : off_of) text += line(name, values);
    if (options_.turns > 1) {
      std::vector<double> repeated;
      for (const auto& of : ratios)
        for (std::size_t turn = 1; turn < of.size(); ++turn) repeated.push_back(of[turn] / of[0] - 1);
      text += line("measured again, beside the first time", repeated);
    }
    std::fputs((text + regret_text(std::move(regrets))).c_str(), stdout);
    return 0;
  }

 private:
  struct Row {
    std::uint64_t bytes = 0;
    double ms = 0;
    double copy_ms = 0;
    double other_ms = 0;
    std::optional<double> predicted_ms = {};
    std::string box = {};
  };

  static std::string line(const std::string& name, std::vector<double> off) {
    if (off.empty()) return "";
    const auto within = [&](double most) {
      return std::count_if(off.begin(), off.end(), [&](double x) { return std::abs(x) <= most; });
    };
    std::vector<double> far;
    for (const double x : off) far.push_back(std::abs(x));
    constexpr double percent = 100;
    return fmt::format("| {} | {} | {} | {} | {} | {:.1f}% | {:+.1f}% | {:+.1f}% |\n", name, off.size(),
                       within(0.1), within(0.15), within(0.2), percent * median(far),
                       percent * *std::min_element(off.begin(), off.end()),
                       percent * *std::max_element(off.begin(), off.end()));
  }

  // Milliseconds of a call; so many in a row that a clock can tell.
  double once(const std::function<void()>& call, int calls) const {
    const bool of_thread = target_.threads == 1;
    const double begin = clock_ms(of_thread);
    for (int k = 0; k < calls; ++k) call();
    return (clock_ms(of_thread) - begin) / calls;
  }

  // The copy of all sizes, as `faro tune` keeps it.
  void measure_copies() {
    constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 16;
    for (std::uint64_t bytes = kLeastBytes; bytes <= options_.most * 2; bytes *= 2) {
      const auto copy = [&] { cpu::copy(in_.data(), out_.data(), bytes, target_.threads); };
      copy();
      std::vector<double> times;
      for (int round = 0; round < 5; ++round) times.push_back(once(copy, calls_of(copy)));
      copies_.points.push_back({.elements = bytes / kCurveBytes, .microseconds = quietest(times) * 1e3});
      if (!options_.out.empty()) table_ += fmt::format("# copy {} {:.5f}\n", bytes, quietest(times));
    }
  }
  // The same as it is in these rounds.
  std::shared_ptr<const IndexCalibration> curves_by(std::uint64_t bytes, double copy_ms) const {
    TimeCurve copies = copies_;
    const double now = copy_ms * 1e3 / copies_.microseconds(std::max<std::uint64_t>(1, bytes / kCurveBytes));
    for (TimeCurve::Point& point : copies.points) point.microseconds *= now;
    auto curves = std::make_shared<IndexCalibration>(cpu::nearest_curves());
    if (!options_.built_in) curves->axes = prices_;
    std::erase_if(curves->curves, [](const IndexCurve& of) { return of.kernel == IndexKernel::copy; });
    curves->curves.push_back(
        {.kernel = IndexKernel::copy, .element_bytes = kCurveBytes, .curve = std::move(copies)});
    return curves;
  }

  // So many calls that a clock can tell what they take.
  int calls_of(const std::function<void()>& call) const {
    constexpr double kLeastMs = 2;
    return static_cast<int>(std::clamp(std::ceil(kLeastMs / std::max(once(call, 1), 1e-3)), 1.0, 1000.0));
  }

  Row time(const DrawnView& drawn) {
    Row row{.bytes = element_count(drawn.view) * drawn.width};
    const TimedPlan plan(drawn, target_);
    const io::Buffer lent(std::max<std::uint64_t>(1, plan.engine().workspace_bytes()));
    const std::function<void()> permute = [&] { plan.engine().run(in_.data(), out_.data(), lent.data()); };
    const std::function<void()> copy = [&] {
      cpu::copy(in_.data(), out_.data(), row.bytes, target_.threads);
    };
    permute();
    verify(drawn, in_.data(), out_.data());
    const int calls = calls_of(permute);
    const int copies = calls_of(copy);
    Target other_target = target_;
    other_target.streaming_bytes =
        row.bytes > target_.streaming_bytes ? std::numeric_limits<std::uint64_t>::max() : 0;
    const TimedPlan other_plan(drawn, other_target);
    const io::Buffer other_lent(std::max<std::uint64_t>(1, other_plan.engine().workspace_bytes()));
    const std::function<void()> other = [&] {
      other_plan.engine().run(in_.data(), out_.data(), other_lent.data());
    };
    std::vector<double> times;
    std::vector<double> copy_times;
    std::vector<double> other_times;
    for (int round = 0; round < options_.rounds; ++round) {
      times.push_back(once(permute, calls));
      if (options_.both_ways) other_times.push_back(once(other, calls));
      copy_times.push_back(once(copy, copies));
    }
    row.ms = quietest(std::move(times));
    row.copy_ms = quietest(std::move(copy_times));
    if (options_.both_ways) row.other_ms = quietest(std::move(other_times));
    Target target = target_;
    target.index_calibration = curves_by(row.bytes, row.copy_ms);
    const TimedPlan predicted(drawn, target);
    if (const auto us = predicted.us()) row.predicted_ms = *us * 1e-3;
    for (const Pass& pass : predicted.passes()) row.box += (row.box.empty() ? "" : "; ") + box_text(pass);
    return row;
  }

  static constexpr int kCurveBytes = 16;

  TimesOptions options_;
  Target target_;
  TimeCurve copies_;
  std::vector<PriceFactor> prices_;
  std::string table_;
  std::uint64_t room_;
  io::Buffer in_;
  io::Buffer out_;
  std::vector<DrawnView> drawn_;
};

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage,
                     [](const CommandLine& line) { return TimesBench(parse(line)).run(); });
}
