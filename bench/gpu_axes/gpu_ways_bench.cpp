// gpu_ways_bench: every way in which a GPU can move the same axes, for those who fit what ways cost
// (src/plan/gpu/axes_choice.cpp). `gpu_ways_bench --help` lists the options.
//
// Lines of words parted by tabs. Every way is verified before it is timed; which of them is the plan's can be
// asked of any build afterwards, without a GPU (--dry), for shapes follow from their seed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu/turn_clock.hpp"
#include "bench/gpu_axes/box_pass.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/axes.hpp"
#include "faro/permutation/strided.hpp"
#include "gpu/axes_oracle.hpp"
#include "io/npy.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/partition_params.hpp"
#include "layout/box_choice.hpp"
#include "layout/box_search.hpp"
#include "layout/unit_axes.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_ways_bench: every way in which a GPU can move the same axes

  --drawn NUMBER   of shapes: ranks 2 to 6, sides from 2 on, 1 to 16 bytes   (default 100)
  --seed NUMBER    of these                                                  (default 1)
  --axes LIST      before them: 1:16x2032x4:2x0x1, elements of 1 byte, sides, the output's order
  --suites LIST    of ttc,ranks,primes,...,large, behind them                (default none)
  --widths LIST    of elements of the TTC suite, in bytes                    (default 1,2,4,8,16)
  --boxes NUMBER   of each shape, of all kinds                               (default 6)
  --views FILE     views, one a line: bytes of an element, and a text as strided(100 50; 100 2; 50 1)
  --seconds NUMBER after which no other shape is begun                       (default 60)
  --dry            no GPU: which ways there are
  --out FILE       the table; else to standard output
  --help
)";

struct WaysOptions {
  int drawn = 100;
  std::uint64_t seed = 1;
  std::vector<AxesShape> axes = {};
  std::string views = {};
  std::vector<std::string> suites = {};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  int boxes = 6;
  int seconds = 60;
  bool dry = false;
  std::string out = {};
};

AxesShape parse_axes(const Argument& argument) {
  const std::vector<Argument> parts = split(argument, ':');
  if (parts.size() != 3) refuse(argument, "1:16x2032x4:2x0x1");
  AxesShape shape{.shape = {}, .order = {}, .element_bytes = parse_count(parts[0], 1, 64)};
  for (const Argument& extent : split(parts[1], 'x')) shape.shape.push_back(parse_count(extent, 1));
  for (const Argument& axis : split(parts[2], 'x')) shape.order.push_back(parse_int(axis, 0, 63));
  return shape;
}

WaysOptions parse(const CommandLine& line) {
  WaysOptions options;
  line.read({{"--drawn", [&](const Argument& a) { options.drawn = parse_int(a, 0, 100000); }},
             {"--seed", [&](const Argument& a) { options.seed = parse_count(a); }},
             {"--axes",
              [&](const Argument& a) {
                for (const Argument& each : split(a)) options.axes.push_back(parse_axes(each));
              }},
             {"--views", [&](const Argument& a) { options.views = a.text; }},
             {"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--boxes", [&](const Argument& a) { options.boxes = parse_int(a, 0, 1000); }},
             {"--seconds", [&](const Argument& a) { options.seconds = parse_int(a, 1, 3600); }},
             {"--dry", [&](const Argument& a) { options.dry = parse_int(a, 0, 1) != 0; }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Half of them with sides that are multiples of 2 to 16, as those that people have.
AxesShape drawn_shape(std::mt19937_64& random) {
  constexpr std::uint64_t widths[] = {1, 1, 2, 2, 3, 4, 4, 6, 8, 16};
  AxesShape drawn{.shape = {}, .order = {}, .element_bytes = widths[random() % std::size(widths)]};
  const auto uniform = [&](double least, double most) {
    return least + (most - least) * static_cast<double>(random() % 65536) / 65536;
  };
  const double bytes = std::exp2(uniform(24, 28.6));
  const std::uint64_t grain = random() % 2 == 0 ? 1 : std::uint64_t{2} << random() % 4;
  const std::size_t rank = 2 + random() % 5;
  const auto grained = [&](double extent) {
    return std::max<std::uint64_t>(
        2, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(extent / static_cast<double>(grain) + 0.5)) *
               grain);
  };
  double left = bytes / static_cast<double>(drawn.element_bytes);
  for (std::size_t a = 0; a + 1 < rank; ++a) {
    const double most = std::max(2.0, std::log2(left) - static_cast<double>(rank - 1 - a));
    drawn.shape.push_back(grained(std::exp2(uniform(1, std::min(most, rank > 3 && a == 0 ? 7.0
                                                                      : rank == 2        ? 14.0
                                                                                         : 11.0)))));
    left /= static_cast<double>(drawn.shape.back());
  }
  drawn.shape.push_back(grained(std::max(2.0, left)));
  std::shuffle(drawn.shape.begin(), drawn.shape.end(), random);
  drawn.order.resize(rank);
  std::iota(drawn.order.begin(), drawn.order.end(), 0);
  while (std::is_sorted(drawn.order.begin(), drawn.order.end())) {
    std::shuffle(drawn.order.begin(), drawn.order.end(), random);
  }
  return drawn;
}

struct Way {
  std::string name;
  std::vector<detail::GpuPass> passes;
};

class WaysBench {
 public:
  explicit WaysBench(const WaysOptions& options) : options_(options) {}

  bool run() {
    line("suite\tshape\tway\tkernel\tprice\tms\tcopy_ms\tshare");
    if (!options_.dry) {
      in_.emplace(kMostBytes);
      out_.emplace(kMostBytes);
      clock_.emplace();
      testing::draw_bytes(in_->data(), kMostBytes, 1, {});
    }
    for (const AxesShape& shape : options_.axes) measure("named", shape);
    measure_views();
    std::mt19937_64 random(options_.seed);
    for (int i = 0; i < options_.drawn; ++i) measure("drawn", drawn_shape(random));
    std::vector<AxesSuite> suites = axes_suites(options_.widths);
    suites.push_back(large_axes(options_.widths));
    for (const AxesSuite& suite : suites) {
      const auto named = [&](const std::string& name) { return suite.name.rfind(name, 0) == 0; };
      if (std::none_of(options_.suites.begin(), options_.suites.end(), named)) continue;
      for (const AxesShape& shape : suite.shapes) measure(suite.name, shape);
    }
    if (!options_.out.empty()) io::write_file(options_.out, text_);
    return failures_ == 0;
  }

 private:
  void line(const std::string& text) {
    if (options_.out.empty()) {
      std::puts(text.c_str());
    } else {
      text_ += text + "\n";
    }
  }

  bool late() const {
    return std::chrono::steady_clock::now() - begin_ > std::chrono::seconds(options_.seconds);
  }

  static std::vector<std::pair<std::string, detail::AxesVariant>> variants(int unit) {
    using Variant = detail::AxesVariant;
    std::vector<std::pair<std::string, Variant>> all = {
        {"plan", {}},
        {"elements", Variant{.elements = true}},
        {"boxes", Variant{.elements = false, .boxes_only = true, .whole = false, .rows = false}},
        {"aligned",
         Variant{.elements = false, .boxes_only = true, .ragged = false, .whole = false, .rows = false}},
        {"registers", Variant{.registers = true}},
        {"whole", Variant{.elements = false, .whole = true, .rows = false}},
        {"rows", Variant{.elements = false, .whole = false, .rows = true}},
        {"lines", Variant{.elements = false, .lines_only = true, .whole = false, .rows = false}},
        {"joined",
         Variant{.elements = false, .lines_only = true, .skinny = false, .whole = false, .rows = false}},
        {"words",
         Variant{
             .elements = false, .lines_only = true, .few_vectors = false, .whole = false, .rows = false}}};
    for (const std::uint32_t bytes : {8, 32}) {
      all.push_back({fmt::format("skinny{}", bytes), Variant{.elements = false,
                                                             .lines_only = true,
                                                             .skinny_bytes = bytes << 10,
                                                             .whole = false,
                                                             .rows = false}});
    }
    const auto add_planes = [&](const auto& shapes, bool turned) {
      int number = 0;
      for (const kernels::AxesPlaneShape& shape : shapes) {
        if (shape.unit_bytes != unit) continue;
        all.push_back({fmt::format("{}{}x{}", turned ? "turned" : "plane", shape.row_bytes, shape.line_bytes),
                       Variant{.plane_shape = number++,
                               .turned = turned,
                               .elements = false,
                               .lines_only = true,
                               .whole = false,
                               .rows = false}});
      }
    };
    for (const std::uint64_t band : {std::uint64_t{1}, std::uint64_t{1} << 30}) {
      all.push_back(
          {fmt::format("band{}", band),
           Variant{.band = band, .elements = false, .lines_only = true, .whole = false, .rows = false}});
    }
    add_planes(kernels::kAxesPlaneShapes, false);
    if (unit < 16) add_planes(kernels::kAxesTurnedShapes, true);
    return all;
  }

  // The cheapest of each pair of runs, and some of either kind whatever they cost.
  std::vector<Way> boxes(const layout::AxisMap& wide) const {
    const int unit = static_cast<int>(wide.unit);
    layout::BoxLimits limits{.threads = kernels::kBoxThreads, .large_threads = kernels::kLargeBoxThreads};
    if (unit >= 4) limits.allow(layout::kTwoFitBytes);
    std::vector<Way> ways;
    std::set<std::tuple<int, int, bool>> runs;
    double least = 0;
    int of_kind[2] = {0, 0};
    for (layout::StridedBox& box : layout::box_candidates(wide.axes, unit, limits)) {
      constexpr int some = 2;
      const bool dear = least > 0 && box.cost > 1.6 * least;
      const int most = dear ? some : options_.boxes * 2 / 3;
      int& like = of_kind[box.ragged ? 1 : 0];
      if (like >= most) continue;
      const auto length = [&](std::uint64_t units) {
        return static_cast<int>(2 * std::log2(static_cast<double>(units)));
      };
      if (!runs.insert({length(box.in.contiguous), length(box.out.contiguous), box.ragged}).second) continue;
      const auto word = static_cast<std::uint32_t>(box.word_bytes());
      const std::uint32_t bytes = box.ragged ? limits.ragged_shared : limits.most_bytes * 5 / 4;
      if (!layout::detail::lay_out(box, std::min(std::uint32_t{1} << 16, bytes / word))) continue;
      if (least == 0) least = box.cost;
      ++like;
      box.cost += layout::detail::price_of_turns(box);
      std::vector<detail::GpuPass> passes;
      passes.push_back(pass_of(box, kernels::make_axes_box_params(box)));
      passes.back().box = std::make_shared<const layout::StridedBox>(box);
      ways.push_back({fmt::format("box {}", fmt::join(box.extent, "x")), std::move(passes)});
    }
    return ways;
  }

  static std::vector<Way> ways_of(const AxesShape& shape, const Axes& axes, int unit) {
    std::vector<Way> ways;
    for (const auto& [name, variant] : variants(unit)) {
      if (name == "elements" &&
          axes.count() * shape.element_bytes / static_cast<std::uint64_t>(unit) >= std::uint64_t{1} << 30)
        continue;
      try {
        ways.push_back({name, detail::solve({.count = axes.count(),
                                             .element_bytes = shape.element_bytes,
                                             .batch = 1,
                                             .form = axes,
                                             .axes = variant})});
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
      }
    }
    return ways;
  }

  void measure(const std::string& suite, const AxesShape& shape) {
    if (!options_.dry && late()) return;
    const Axes axes(shape.shape, shape.order);
    const std::uint64_t unit_bytes = kernels::units_of_element(shape.element_bytes).unit_bytes;
    layout::AxisMap units = layout::unit_axes(axes, shape.element_bytes / unit_bytes, 1);
    units.unit = unit_bytes;
    const layout::AxisMap wide = layout::with_widest_units(units);
    const std::uint64_t bytes = axes.count() * shape.element_bytes;
    if (units.axes.size() < 2 || (!options_.dry && bytes > kMostBytes)) return;
    std::vector<Way> ways = ways_of(shape, axes, static_cast<int>(wide.unit));
    for (Way& way : boxes(wide)) ways.push_back(std::move(way));
    const testing::AxesOracle oracle = testing::axes_oracle(shape.shape, shape.order, shape.element_bytes);
    const double copy_ms =
        time(bytes, 7, [&](Stream stream) { cuda::copy(in_->data(), out_->data(), bytes, stream); });
    std::set<std::string> seen;
    for (Way& way : ways) {
      if (way.passes.size() != 1 || way.passes.front().kernels.empty()) continue;
      const detail::GpuPass& pass = way.passes.front();
      const detail::GpuKernel& kernel = pass.kernels.front();
      const std::string text =
          fmt::format("{} blocks {} shared {}", detail::to_text(kernel), kernel.blocks, kernel.shared_bytes);
      if (way.name == "registers" && !std::holds_alternative<detail::AxesRegistersKernel>(kernel.id))
        continue;
      const double price = pass.box ? pass.box->cost : 0;
      const bool again = way.name != "plan" && way.name.rfind("band", 0) != 0 &&
                         !seen.insert(fmt::format("{} {:.5f}", text, price)).second;
      if (way.name == "plan") {
        line(
            fmt::format("{}\t{}\tplan\t{}\t{:.4f}\t0\t{:.5f}\t0", suite, shape.text(), text, price, copy_ms));
        continue;
      }
      if (again) continue;
      double ms = 0;
      try {
        if (!options_.dry) ms = verified_ms(std::move(way.passes), oracle, bytes);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s %s: %s\n", shape.text().c_str(), way.name.c_str(), error.what());
        ++failures_;
      }
      line(fmt::format("{}\t{}\t{}\t{}\t{:.4f}\t{:.5f}\t{:.5f}\t{:.1f}", suite, shape.text(), way.name, text,
                       price, ms, copy_ms, ms > 0 ? 100 * copy_ms / ms : 0));
    }
  }

  void measure_views() {
    if (options_.views.empty()) return;
    std::ifstream file(options_.views);
    std::uint64_t width = 0;
    for (std::string text; file >> width && std::getline(file, text);)
      measure_view(parse_strided(text), width);
  }

  void measure_view(const Strided& view, std::uint64_t width) {
    if (!options_.dry && late()) return;
    const std::uint64_t bytes = element_count(view) * width;
    if (std::max(in_elements(view), out_elements(view)) * width > kMostBytes) return;
    const Plan plan({.element_bytes = width, .view = view},  // of a permutation, its axes
                    options_.dry ? cuda::target_of_capability(9, 0) : cuda::target());
    if (plan.passes().size() != 1 || plan.passes().front().gpu->kernels.empty()) return;
    using Variant = detail::AxesVariant;
    constexpr std::uint64_t never = std::uint64_t{1} << 50;
    const std::pair<const char*, Variant> variants[] = {
        {"plan", {}},
        {"boxes", Variant{.elements = false, .boxes_only = true, .whole = false, .least_row_bytes = never}},
        {"lines", Variant{.elements = false, .lines_only = true, .whole = false, .least_row_bytes = never}},
        {"whole", Variant{.elements = false, .whole = true, .least_row_bytes = never}},
        {"rows", Variant{.elements = false, .whole = false, .least_row_bytes = 1}},
        {"elements", Variant{.elements = true}}};
    const testing::AxesOracle oracle = testing::axes_oracle(view, width);
    const double copy_ms =
        time(bytes, 7, [&](Stream stream) { cuda::copy(in_->data(), out_->data(), bytes, stream); });
    std::set<std::string> seen;
    for (const auto& [name, variant] : variants) {
      try {
        std::vector<detail::GpuPass> passes;
        passes.push_back(
            std::string_view(name) == "plan"
                ? *plan.passes().front().gpu
                : detail::view_pass(detail::normal_form(detail::axis_map(view)), width, variant));
        const detail::GpuKernel& kernel = passes.front().kernels.front();
        const std::string text = fmt::format("{} blocks {} shared {}", detail::to_text(kernel), kernel.blocks,
                                             kernel.shared_bytes);
        if (!seen.insert(text).second) continue;
        const double price = passes.front().box ? passes.front().box->cost : 0;
        const double ms = options_.dry ? 0 : verified_ms(std::move(passes), oracle, bytes);
        line(fmt::format("view {}\t{}\t{}\t{}\t{:.4f}\t{:.5f}\t{:.5f}\t{:.1f}", width, to_text(view), name,
                         text, price, ms, copy_ms, ms > 0 ? 100 * copy_ms / ms : 0));
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s %s: %s\n", to_text(view).c_str(), name, error.what());
        ++failures_;
      }
    }
  }

  double verified_ms(std::vector<detail::GpuPass> made, const testing::AxesOracle& oracle,
                     std::uint64_t bytes) const {
    const cuda::LoadedPasses passes(std::move(made));
    const auto move = [&](Stream stream) { passes.launch({.in = in_->data(), .out = out_->data()}, stream); };
    testing::draw_bytes(out_->data(), bytes, 2, {});
    move({});
    const std::uint64_t wrong = testing::misplaced_elements(in_->data(), out_->data(), oracle, {});
    if (wrong != 0)
      fail(ErrorCode::verification, "gpu_ways_bench", fmt::format("{} elements elsewhere", wrong),
           "every element in its place");
    return time(bytes, 3, move);
  }

  template <typename Queue>
  double time(std::uint64_t bytes, int rounds, const Queue& queue) const {
    if (options_.dry) return 0;
    constexpr std::uint64_t moved = std::uint64_t{400} << 20;
    const int calls = static_cast<int>(std::clamp<std::uint64_t>(moved / bytes, 1, 8));
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) times.push_back(clock_->milliseconds(calls, queue));
    return median(times);
  }

  WaysOptions options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<cuda::DeviceArray> in_;
  std::optional<cuda::DeviceArray> out_;
  std::optional<TurnClock> clock_;
  std::string text_;
  int failures_ = 0;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::WaysBench>(count, words, gpu::kUsage, gpu::parse);
}
