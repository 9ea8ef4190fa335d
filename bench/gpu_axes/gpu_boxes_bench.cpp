// gpu_boxes_bench: many boxes of each shape beside each other, as a table for fitting the price of a box
// (src/layout/strided_box.cpp) and for finding what it overlooks. `gpu_boxes_bench --help` lists the options.
//
// Lines of words parted by tabs: what a box is like, its price, and its milliseconds beside a copy's. Every
// box is verified before it is timed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/axes_suites.hpp"
#include "bench/gpu/runtime.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_axes/box_pass.hpp"
#include "bench/view_suite.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "io/npy.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/partition_params.hpp"
#include "layout/box_choice.hpp"
#include "layout/box_search.hpp"
#include "layout/strided_box.hpp"
#include "layout/unit_axes.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_boxes_bench: many boxes of each shape beside each other

  --suites LIST    of ttc,ranks,primes,channels,attention,odd,short,...,large,views (default ttc); of views,
                   those that begin at their arrays' first element, and the shapes without gaps
  --only TEXT      shapes whose text has it                          (default all)
  --view TEXT      views whose words have it                         (default all)
  --widths LIST    of elements of the TTC suite and of views, in bytes   (default 4)
  --boxes NUMBER   of each shape, and as many small ones             (default 40)
  --ways NUMBER    of the fastest, moved in all orders and cached in all ways   (default 3)
  --most BYTES     of a box in shared memory                         (default 100000)
  --out FILE       the table; else to standard output
  --help
)";

struct BoxesOptions {
  std::vector<std::string> suites = {"ttc"};
  std::string only = {};
  std::string view = {};
  std::vector<std::uint64_t> widths = {4};
  int boxes = 40;
  int ways = 3;
  int most_bytes = 100000;
  std::string out = {};
};

BoxesOptions parse(const CommandLine& line) {
  BoxesOptions options;
  line.read({{"--suites", [&](const Argument& a) { options.suites = parse_names(a); }},
             {"--only", [&](const Argument& a) { options.only = a.text; }},
             {"--view", [&](const Argument& a) { options.view = a.text; }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--boxes", [&](const Argument& a) { options.boxes = parse_int(a, 1, 100000); }},
             {"--ways", [&](const Argument& a) { options.ways = parse_int(a, 0, 1000); }},
             {"--most", [&](const Argument& a) { options.most_bytes = parse_int(a, 4096, 220 << 10); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

// In which order boxes follow one another, and whether the second-level cache keeps what it has.
struct Way {
  int order = 0;  // as planned; the output's; the box's cut axes first; the input's
  int keep = 0;   // as planned; nothing; the input; the output; both
};

struct TriedBox {
  layout::StridedBox box;
  std::string text;
  double ms = 0;
};

class BoxesBench {
 public:
  explicit BoxesBench(const BoxesOptions& options) : options_(options) {}

  bool run() {
    line(
        "suite\tshape\tplanned\tunit\twords\tragged\thalo\tin_vector\tout_vector\tin_run\tout_run\tin_units\t"
        "out_units\tin_align\tout_align\tin_slots\tout_slots\tnear\tbox_bytes\tshared\tin_rows\tout_rows\t"
        "boxes\tcongestion\tprice\tstretch\torder\tkeep\tms\tcopy_"
        "ms\tshare\textents\tp\tq\tresident\tregisters");
    std::vector<AxesSuite> suites = axes_suites(options_.widths);
    suites.push_back(large_axes(options_.widths));
    for (const AxesSuite& suite : suites) {
      const auto named = [&](const std::string& name) { return suite.name.rfind(name, 0) == 0; };
      if (std::none_of(options_.suites.begin(), options_.suites.end(), named)) continue;
      for (const AxesShape& shape : suite.shapes) {
        if (shape.text().find(options_.only) == std::string::npos) continue;
        attempt(shape.text(), [&] { measure(suite.name, task_of(shape)); });
      }
    }
    const auto& asked = options_.suites;
    if (std::find(asked.begin(), asked.end(), "views") != asked.end()) measure_views();
    return failures_ == 0;
  }

 private:
  // What is moved: its text, its axes in the widest units, and what is checked.
  struct Task {
    std::string text;
    std::vector<layout::StridedAxis> axes = {};
    int unit = 1;
    std::uint64_t bytes = 0;  // that are written
    std::uint64_t in_bytes = 0;
    std::uint64_t out_bytes = 0;
    testing::AxesOracle oracle;
  };

  static Task task_of(const AxesShape& shape) {
    const Axes axes(shape.shape, shape.order);
    const std::uint64_t unit_bytes = kernels::units_of_element(shape.element_bytes).unit_bytes;
    const std::uint64_t bytes = axes.count() * shape.element_bytes;
    return made(layout::unit_axes(axes, shape.element_bytes / unit_bytes, 1), unit_bytes,
                {.text = shape.text(),
                 .bytes = bytes,
                 .in_bytes = bytes,
                 .out_bytes = bytes,
                 .oracle = testing::axes_oracle(shape.shape, shape.order, shape.element_bytes)});
  }

  // The task's axes in the widest units.
  static Task made(const layout::AxisMap& units, std::uint64_t unit_bytes, Task task) {
    const layout::AxisMap wide = layout::with_widest_units({.axes = units.axes, .unit = unit_bytes});
    task.axes = wide.axes;
    task.unit = static_cast<int>(wide.unit);
    return task;
  }

  static Task task_of(const ViewCase& each) {
    const std::uint64_t width = each.plain.element_bytes;
    const std::uint64_t unit_bytes = kernels::units_of_element(width).unit_bytes;
    layout::AxisMap elements = detail::axis_map(each.view);
    elements.unit = width;
    return made(detail::normal_form(detail::unfolded(std::move(elements), width / unit_bytes)), unit_bytes,
                {.text = each.plain.text() + ", " + each.what,
                 .bytes = element_count(each.view) * width,
                 .in_bytes = in_elements(each.view) * width,
                 .out_bytes = out_elements(each.view) * width,
                 .oracle = testing::axes_oracle(each.view, width)});
  }

  void attempt(const std::string& text, const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", text.c_str(), error.what());
      ++failures_;
    }
  }

  void measure_views() {
    std::string plain;
    for (const ViewCase& each : view_cases(options_.widths)) {
      if (each.plain.text().find(options_.only) == std::string::npos) continue;
      if (each.plain.text() != std::exchange(plain, each.plain.text())) {
        attempt(plain, [&] { measure("views", task_of(each.plain)); });
      }
      if (each.what.find(options_.view) == std::string::npos || each.view.in_offset != 0) continue;
      attempt(each.what, [&] { measure("views", task_of(each)); });
    }
  }

  void line(const std::string& text) {
    if (options_.out.empty()) {
      std::puts(text.c_str());
      return;
    }
    text_ += text + "\n";
    if (text_.size() - kept_ < 20000 && kept_ != 0) return;
    keep();
  }
  void keep() {
    kept_ = text_.size();
    if (!options_.out.empty()) io::write_file(options_.out, text_);
  }

  // Some of every kind: the cheapest of each pair of runs, then the cheapest of all; as many again of those
  // that are cheap where small boxes are.
  std::vector<layout::StridedBox> chosen(const std::vector<layout::StridedAxis>& axes, int unit,
                                         layout::BoxLimits limits) const {
    std::vector<layout::StridedBox> result;
    Extents extents;
    choose_some(layout::box_candidates(axes, unit, limits), static_cast<std::size_t>(options_.boxes), result,
                extents);
    constexpr std::uint32_t small = 8 << 10;
    limits.best_bytes = small;
    choose_some(layout::box_candidates(axes, unit, limits), 2 * static_cast<std::size_t>(options_.boxes),
                result, extents);
    return result;
  }

  using Extents = std::set<std::pair<std::vector<std::uint32_t>, bool>>;
  static void choose_some(const std::vector<layout::StridedBox>& all, std::size_t most,
                          std::vector<layout::StridedBox>& result, Extents& extents) {
    std::set<std::tuple<std::uint64_t, std::uint64_t, bool>> runs;
    const std::size_t before = result.size();
    most = std::max(most, before) - before;
    for (const bool of_new_runs : {true, false}) {
      const std::size_t limit = of_new_runs ? most * 3 / 4 : most;
      for (const layout::StridedBox& box : all) {
        if (result.size() - before >= limit || box.cost > all.front().cost * 1.6) break;
        if (extents.count({box.extent, box.ragged}) != 0) continue;
        if (of_new_runs && !runs.insert({box.in.contiguous, box.out.contiguous, box.ragged}).second) continue;
        extents.insert({box.extent, box.ragged});
        result.push_back(box);
      }
    }
  }

  static void set_way(kernels::AxesBoxParams& params, const layout::StridedBox& box, const Way& way) {
    if (way.keep > 0) {
      params.in_sectors = way.keep == 2 || way.keep == 4 ? 0 : 1;
      params.out_sectors = way.keep == 3 || way.keep == 4 ? 0 : 1;
    }
    if (way.order == 0 || box.ragged) return;
    auto* const end = params.grid + params.grid_axes;
    const auto out_first = [](const auto& a, const auto& b) { return a.out_step < b.out_step; };
    const auto in_first = [](const auto& a, const auto& b) {
      return std::abs(a.in_step) < std::abs(b.in_step);
    };
    if (way.order == 3) {
      std::sort(params.grid, end, in_first);
      return;
    }
    std::sort(params.grid, end, out_first);
    if (way.order == 1) return;
    const auto to_front = [&](int axis) {
      const std::int64_t step =
          box.axes[static_cast<std::size_t>(axis)].out * box.extent[static_cast<std::size_t>(axis)];
      auto* const found = std::find_if(params.grid, end, [&](const auto& a) { return a.out_step == step; });
      if (found != end) std::rotate(params.grid, found, found + 1);
    };
    to_front(box.p);
    to_front(box.q);
  }

  struct Arrays {
    cuda::DeviceArray in;
    cuda::DeviceArray out;
    std::uint64_t bytes = 0;  // that are written
  };

  // Times a call that follows as many of its own, which follow as many copies: what an earlier kernel left in
  // the second-level cache is the usual case.
  double time(const Arrays& arrays, const std::function<void(Stream)>& queue, int rounds) const {
    const int calls =
        static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{800} << 20) / arrays.bytes, 1, 8));
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
      static_cast<void>(clock_.milliseconds(1, [&](Stream stream) {
        for (int call = 0; call < calls; ++call)
          cuda::copy(arrays.in.data(), arrays.out.data(), arrays.bytes, stream);
        for (int call = 0; call < calls; ++call) queue(stream);
        check_cuda(cudaEventRecord(begin_.event, stream.handle()), "cudaEventRecord");
        for (int call = 0; call < calls; ++call) queue(stream);
        check_cuda(cudaEventRecord(end_.event, stream.handle()), "cudaEventRecord");
      }));
      float elapsed = 0;
      check_cuda(cudaEventElapsedTime(&elapsed, begin_.event, end_.event), "cudaEventElapsedTime");
      times.push_back(static_cast<double>(elapsed) / calls);
    }
    return median(times);
  }

  double time(const Arrays& arrays, const Task* verified, const layout::StridedBox& box, const Way& way,
              std::string& resources) {
    kernels::AxesBoxParams params = kernels::make_axes_box_params(box);
    set_way(params, box, way);
    const cuda::LoadedPasses passes({pass_of(box, params)});
    const auto move = [&](Stream stream) {
      passes.launch({.in = arrays.in.data(), .out = arrays.out.data()}, stream);
    };
    if (verified != nullptr) {
      testing::draw_bytes(arrays.out.data(), arrays.out.size(), 2, {});
      move({});
      const std::uint64_t wrong =
          testing::misplaced_elements(arrays.in.data(), arrays.out.data(), verified->oracle, {});
      if (wrong != 0) {
        std::fprintf(stderr, "box %s: %llu elements elsewhere\n",
                     fmt::format("{}", fmt::join(box.extent, " ")).c_str(),
                     static_cast<unsigned long long>(wrong));
        ++failures_;
      }
    }
    const cuda::KernelResources& of = passes.resources().front();
    resources = fmt::format("{}\t{}", of.blocks_per_multiprocessor, of.registers);
    return time(arrays, move, 3);
  }

  void measure(const std::string& suite, const Task& task) {
    std::fprintf(stderr, "%s\n", task.text.c_str());
    const std::vector<layout::StridedAxis>& strided = task.axes;
    const int unit = task.unit;
    const std::uint64_t bytes = task.bytes;
    const Arrays arrays{.in = cuda::DeviceArray(std::max(bytes, task.in_bytes)),
                        .out = cuda::DeviceArray(std::max(bytes, task.out_bytes)),
                        .bytes = bytes};
    testing::draw_bytes(arrays.in.data(), arrays.in.size(), 1, {});
    const auto copy = [&](Stream stream) { cuda::copy(arrays.in.data(), arrays.out.data(), bytes, stream); };
    const double copy_ms = time(arrays, copy, 7);

    layout::BoxLimits usual;
    if (unit >= 4) usual.allow(layout::kTwoFitBytes);
    const layout::StridedBox planned = layout::choose_box(strided, unit, usual);
    layout::BoxLimits limits;
    limits.most_bytes = static_cast<std::uint32_t>(options_.most_bytes);
    limits.ragged_bytes = limits.most_bytes;
    std::vector<layout::StridedBox> boxes = chosen(strided, unit, limits);
    boxes.insert(boxes.begin(), planned);
    std::vector<TriedBox> tried;
    bool is_planned = true;
    for (layout::StridedBox& box : boxes) {
      const bool first = std::exchange(is_planned, false);
      if (!first && box.extent == planned.extent && box.ragged == planned.ragged) continue;
      const auto word = static_cast<std::uint32_t>(box.word_bytes());
      const std::uint32_t most =
          std::min(std::uint32_t{1} << 16, std::min(227U << 10, limits.most_bytes * 5 / 4) / word);
      if (!first && !layout::detail::lay_out(box, most)) continue;
      std::string resources;
      const double ms = time(arrays, &task, box, {}, resources);
      const std::string text = suite + "\t" + task.text + "\t" + (first ? "1" : "0") + "\t" + features(box);
      row(text, box, {}, ms, copy_ms, resources);
      tried.push_back({.box = std::move(box), .text = text, .ms = ms});
    }
    std::stable_sort(tried.begin() + 1, tried.end(),
                     [](const auto& a, const auto& b) { return a.ms < b.ms; });
    for (std::size_t i = 0; i < tried.size() && i <= static_cast<std::size_t>(options_.ways); ++i) {
      if (options_.ways == 0) break;
      for (const int order : {1, 2, 3}) {
        if (tried[i].box.ragged && order > 1) break;
        for (const int keeps : {1, 2, 3, 4}) {
          const Way way{.order = order, .keep = keeps};
          std::string resources;
          const double ms = time(arrays, nullptr, tried[i].box, way, resources);
          row(tried[i].text, tried[i].box, way, ms, copy_ms, resources);
        }
      }
    }
    const double again_ms = time(arrays, copy, 7);
    std::fprintf(stderr, "  copy %.4f, again %.4f ms\n", copy_ms, again_ms);
    keep();
  }

  void row(const std::string& text, const layout::StridedBox& box, const Way& way, double ms, double copy_ms,
           const std::string& resources) {
    line(fmt::format("{}\t{}\t{}\t{:.5f}\t{:.5f}\t{:.1f}\t{}\t{}\t{}\t{}", text, way.order, way.keep, ms,
                     copy_ms, 100 * copy_ms / ms, fmt::join(box.extent, " "), box.p, box.q, resources));
  }

  static std::string features(const layout::StridedBox& box) {
    const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
    const std::uint64_t units = box.units();
    const kernels::AxesBoxParams params = kernels::make_axes_box_params(box);
    return fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.3f}\t{:.4f}\t{}",
        unit, box.words, box.ragged ? 1 : 0, box.halo, box.in.vector, box.out.vector,
        box.in.contiguous * unit, box.out.contiguous * unit, box.in.units, box.out.units,
        box.in.alignment * unit, box.out.alignment * unit, box.in.slots(), box.out.slots(), box.near,
        units * unit, params.shared_bytes(), params.in.rows, params.out.rows, box.boxes(), box.congestion,
        box.cost, box.out.spread);
  }

  struct TimedEvent {
    TimedEvent() { check_cuda(cudaEventCreate(&event), "cudaEventCreate"); }
    TimedEvent(const TimedEvent&) = delete;
    TimedEvent& operator=(const TimedEvent&) = delete;
    ~TimedEvent() { static_cast<void>(cudaEventDestroy(event)); }
    cudaEvent_t event = nullptr;
  };

  BoxesOptions options_;
  cuda::StreamClock clock_;
  TimedEvent begin_;
  TimedEvent end_;
  std::string text_;
  std::size_t kept_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::BoxesBench>(count, words, gpu::kUsage, gpu::parse);
}
