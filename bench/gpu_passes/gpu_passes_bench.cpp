// gpu_passes_bench: what the one-pass kernels for axes, rolls, flips, windows and runs reach of the speed of
// a cudaMemcpy of the same bytes on the device, pass by pass and variant by variant. It is for those who tune
// kernels: gpu_transpose_bench and gpu_index_bench measure what users run, plans with their choice of
// kernels. gpu_test verifies these passes. `gpu_passes_bench --help` lists the options.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/permutation.hpp"
#include "gpu/scheduled_passes.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

constexpr const char* kUsage =
    R"(gpu_passes_bench: single passes on a GPU beside cudaMemcpy

  --groups LIST    of transposes,variants,simple                (default all)
  --seed NUMBER    of what is drawn                             (default 1)
  --out FILE       the tables, in Markdown
  --help

transposes  150 shapes of 4 GiB drawn at random, 30 of each width: square, odd, prime, skinny
variants    which kernel, shapes of tiles, orders of blocks: 120 such shapes of 2 GiB, each by every variant
simple      listed permutations of axes, rolls, flips, windows and runs, up to 1 GiB
)";

constexpr std::uint64_t kWidths[] = {1, 2, 4, 8, 16};
constexpr std::uint64_t kSlackBytes = 4096;  // behind an array, for kernels that read whole vectors

struct Options {
  std::vector<std::string> groups = {"transposes", "variants", "simple"};
  std::uint64_t seed = 1;
  std::string out = {};
  std::string command = {};
};

Options parse(const CommandLine& line) {
  Options options;
  options.command = line.text();
  const auto read_groups = [&](const Argument& list) {
    const std::vector<std::string> all = options.groups;
    options.groups.clear();
    for (const Argument& part : split(list)) {
      if (std::find(all.begin(), all.end(), part.text) == all.end()) {
        refuse(part, "groups that --help lists");
      }
      options.groups.emplace_back(part.text);
    }
  };
  line.read({{"--groups", read_groups},
             {"--seed", [&](const Argument& a) { options.seed = parse_count(a); }},
             {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}

/// The time of a call: the median of so many times three calls.
double median_ms(const std::function<void(Stream)>& queue, int rounds) {
  constexpr int calls = 3;
  const cuda::StreamClock clock;
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(clock.milliseconds(calls, queue) / calls);
  return median(times);
}

struct Variant {
  const char* name;
  detail::AxesVariant as;
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {{.name = "usual", .as = {}},
                                           {.name = "shape 1", .as = {.plane_shape = 1}},
                                           {.name = "band 64", .as = {.band = 64}},
                                           {.name = "band 512", .as = {.band = 512}},
                                           {.name = "one band", .as = {.band = 1 << 30}},
                                           {.name = "joined", .as = {.skinny = false}},
                                           {.name = "lines only", .as = {.lines_only = true}}};
  return all;
}

struct AxesCase {
  std::vector<std::uint64_t> shape;
  std::vector<int> order;
};

const std::vector<AxesCase>& listed_axes() {
  static const std::vector<AxesCase> all = {
      {{16384, 16384}, {1, 0}},
      {{12345, 6789}, {1, 0}},
      {{12344, 6784}, {1, 0}},
      {{1000, 1000}, {1, 0}},
      {{3, 1 << 25}, {1, 0}},
      {{1 << 25, 3}, {1, 0}},
      {{31, 8000003}, {1, 0}},
      {{8000003, 31}, {1, 0}},
      {{100, 3, 50, 7, 500}, {2, 0, 3, 1, 4}},
      {{500, 100, 3, 50, 7}, {4, 2, 0, 3, 1}},
      {{4096, 4096, 3}, {1, 0, 2}},
      {{512, 512, 100}, {1, 0, 2}},
      {{4096, 17, 3, 300}, {3, 1, 0, 2}},
  };
  return all;
}

cuda::LoadedPasses axes_pass(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                             const detail::AxesVariant& variant = {}) {
  return cuda::LoadedPasses(detail::solve({.count = axes.count(),
                                           .element_bytes = element_bytes,
                                           .batch = batch,
                                           .form = axes,
                                           .axes = variant}));
}

cuda::LoadedPasses cyclic_pass(const Cyclic& cyclic, std::uint64_t element_bytes, std::uint64_t batch) {
  return cuda::LoadedPasses(
      detail::solve({.count = cyclic.count, .element_bytes = element_bytes, .batch = batch, .form = cyclic}));
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), random_(options.seed) {}

  void run() {
    page_.add("# Single passes on a GPU\n\n" + setting_table(make_setting(options_.command)) +
              "\nShares of the cudaMemcpy of the same bytes.\n");
    for (const std::string& group : options_.groups) {
      if (group == "transposes") measure_transposes();
      if (group == "variants") measure_variants();
      if (group == "simple") measure_simple();
    }
    if (!options_.out.empty()) io::write_file(options_.out, page_.text());
  }

 private:
  struct Arrays {
    explicit Arrays(std::uint64_t bytes) : in(bytes + kSlackBytes), out(bytes + kSlackBytes) {}
    DeviceArray in;
    DeviceArray out;
  };

  // A transposition of nearly so many bytes, whose sides are drawn by their logarithms.
  Axes draw_transpose(std::uint64_t bytes, std::uint64_t width) {
    const double bits = std::log2(static_cast<double>(bytes / width));
    const double share = std::uniform_real_distribution<double>(0.05, 0.95)(random_);
    const auto rows = static_cast<std::uint64_t>(std::exp2(bits * share));
    return Axes({rows, bytes / width / rows}, {1, 0});
  }

  static double copy_ms(std::uint64_t bytes, const Arrays& arrays, int rounds) {
    return median_ms([&](Stream s) { cuda::copy(arrays.in.data(), arrays.out.data(), bytes, s); }, rounds);
  }

  static double pass_ms(const cuda::LoadedPasses& pass, const Arrays& arrays, int rounds) {
    return median_ms([&](Stream s) { pass.launch({.in = arrays.in.data(), .out = arrays.out.data()}, s); },
                     rounds);
  }

  void begin_rows(const char* title) {
    page_.add(fmt::format(
        "\n## {}\n\n| pass | element bytes | ms | share of a copy | registers | blocks | local bytes "
        "|\n|---|---|---|---|---|---|---|\n",
        title));
  }

  // A row of the table; per cent of the copy.
  double add_row(const std::string& what, std::uint64_t width, const cuda::LoadedPasses& pass,
                 std::uint64_t bytes, const Arrays& arrays) {
    constexpr int rounds = 5;
    const double copy = copy_ms(bytes, arrays, rounds);
    const double mine = pass_ms(pass, arrays, rounds);
    const std::vector<cuda::KernelResources> kernels = pass.resources();
    const cuda::KernelResources resources = kernels.empty() ? cuda::KernelResources{} : kernels.front();
    page_.add(fmt::format("| {} | {} | {:.4g} | {:.1f}% | {} | {} | {} |\n", what, width, mine,
                          100 * copy / mine, resources.registers, resources.blocks_per_multiprocessor,
                          resources.local_bytes));
    return 100 * copy / mine;
  }

  void add_worst_and_median(const std::string& of, const std::vector<double>& shares) {
    page_.add(fmt::format("| **{}: worst {:.1f}%, median {:.1f}%** | | | | | | |\n", of,
                          *std::min_element(shares.begin(), shares.end()), median(shares)));
  }

  // Transposes of any shape, out of place.
  void measure_transposes() {
    constexpr std::uint64_t bytes = std::uint64_t{1} << 32;
    constexpr int shapes = 30;
    const Arrays arrays(bytes);
    begin_rows("Transposes of random shapes");
    std::vector<double> all;
    for (const std::uint64_t width : kWidths) {
      std::vector<double> shares;
      for (int i = 0; i < shapes; ++i) {
        const Axes axes = draw_transpose(bytes, width);
        shares.push_back(add_row(to_text(Permutation(axes)), width, axes_pass(axes, width, 1),
                                 axes.count() * width, arrays));
      }
      all.insert(all.end(), shares.begin(), shares.end());
      add_worst_and_median(fmt::format("{} bytes", width), shares);
    }
    add_worst_and_median("all widths", all);
  }

  // What is compared before a choice is made. A line a shape, then a line a width: shares of a copy, in the
  // order of the variants, and the best of them.
  void measure_variants() {
    constexpr std::uint64_t bytes = std::uint64_t{1} << 31;
    constexpr int shapes = 24;
    const Arrays arrays(bytes);
    std::string head = "\n## Variants\n\n| transpose | element bytes |";
    std::string rule = "|---|---|";
    for (const Variant& variant : variants()) {
      head += fmt::format(" {} |", variant.name);
      rule += "---|";
    }
    page_.add(head + " best |\n" + rule + "---|\n");
    std::vector<std::vector<double>> all(variants().size() + 1);
    for (const std::uint64_t width : kWidths) {
      std::vector<std::vector<double>> of_width(all.size());
      for (int i = 0; i < shapes; ++i) add_shares(draw_transpose(bytes, width), width, arrays, of_width);
      add_medians(fmt::format("**median** | {}", width), of_width);
      for (std::size_t v = 0; v < all.size(); ++v) {
        all[v].insert(all[v].end(), of_width[v].begin(), of_width[v].end());
      }
    }
    add_medians("**median** | all", all);
  }

  void add_shares(const Axes& axes, std::uint64_t width, const Arrays& arrays,
                  std::vector<std::vector<double>>& shares) {
    constexpr int rounds = 3;
    const double copy = copy_ms(axes.count() * width, arrays, rounds);
    std::string row = fmt::format("| {} | {} |", to_text(Permutation(axes)), width);
    double best = 0;
    for (std::size_t v = 0; v < variants().size(); ++v) {
      const cuda::LoadedPasses pass = axes_pass(axes, width, 1, variants()[v].as);
      const double share = 100 * copy / pass_ms(pass, arrays, rounds);
      shares[v].push_back(share);
      best = std::max(best, share);
      row += fmt::format(" {:.1f} |", share);
    }
    shares.back().push_back(best);
    page_.add(row + fmt::format(" {:.1f} |\n", best));
  }

  void add_medians(const std::string& name, const std::vector<std::vector<double>>& shares) {
    std::string row = fmt::format("| {} |", name);
    for (const std::vector<double>& of_variant : shares) row += fmt::format(" {:.1f} |", median(of_variant));
    page_.add(row + "\n");
  }

  void measure_simple() {
    constexpr std::uint64_t bytes = std::uint64_t{1} << 30;
    const Arrays arrays(bytes);
    begin_rows("Axes");
    for (const AxesCase& listed : listed_axes()) {
      for (const std::uint64_t width : kWidths) {
        const Axes axes(listed.shape, listed.order);
        const std::uint64_t total = axes.count() * width;
        const std::uint64_t batch = total > bytes ? 0 : std::max<std::uint64_t>(1, bytes / 4 / total);
        if (batch == 0) continue;
        add_row(fmt::format("{}, batch {}", to_text(Permutation(axes)), batch), width,
                axes_pass(axes, width, batch), total * batch, arrays);
      }
    }
    begin_rows("Rolls and flips");
    for (const std::uint64_t width : {1U, 2U, 4U, 12U, 16U}) {
      const std::uint64_t count = bytes / width;
      for (const bool reversed : {false, true}) {
        for (const std::uint64_t shift : {count / 2, std::uint64_t{12345}}) {
          add_row(fmt::format("{} by {}", reversed ? "flip" : "roll", shift), width,
                  cyclic_pass({.count = count, .shift = shift, .reversed = reversed}, width, 1),
                  count * width, arrays);
        }
      }
    }
    begin_rows("Windows and runs");
    for (const std::uint64_t width : {1U, 4U, 16U}) {
      const std::uint64_t count = bytes / 4 / width;
      for (const std::uint32_t window : {31U, 1000U, 8191U}) measure_window(count, window, width, arrays);
      for (const std::uint64_t run : {16U, 64U, 257U, 4096U}) measure_runs(count / run, run, width, arrays);
    }
  }

  void measure_window(std::uint64_t count, std::uint32_t window, std::uint64_t width, const Arrays& arrays) {
    std::vector<std::uint64_t> from(count);  // what element i of the output is of the input
    std::iota(from.begin(), from.end(), std::uint64_t{0});
    for (std::uint64_t begin = 0; begin < count; begin += window + 1) {
      const std::uint64_t end = std::min<std::uint64_t>(count, begin + window + 1);
      std::shuffle(from.begin() + static_cast<std::ptrdiff_t>(begin),
                   from.begin() + static_cast<std::ptrdiff_t>(end), random_);
    }
    std::vector<std::uint16_t> shift(count);
    for (std::uint64_t i = 0; i < count; ++i) shift[i] = static_cast<std::uint16_t>(from[i] + window - i);
    cuda::DeviceIndexSchedule schedule;
    schedule.what = cuda::DeviceWindow{
        .count = count, .window = window, .shift = cuda::DeviceBuffer<std::uint16_t>::of(shift, 0)};
    schedule.count = count;
    for (const Direction applied : {Direction::scatter, Direction::gather}) {
      schedule.applied = applied;
      const testing::ScheduledPasses pass(schedule, {.element_bytes = width});
      add_row(fmt::format("window {} {}", window, name(applied)), width, pass.passes(), count * width,
              arrays);
    }
  }

  void measure_runs(std::uint64_t number, std::uint64_t run, std::uint64_t width, const Arrays& arrays) {
    std::vector<std::uint64_t> source(number + 1);
    std::vector<std::uint64_t> target(number);
    for (std::uint64_t r = 0; r <= number; ++r) source[r] = r * run;
    for (std::uint64_t r = 0; r < number; ++r) target[r] = r * run;
    std::shuffle(target.begin(), target.end(), random_);
    cuda::DeviceIndexSchedule schedule;
    schedule.what = cuda::DeviceRuns{.count = number * run,
                                     .source = cuda::DeviceBuffer<std::uint64_t>::of(source, 0),
                                     .target = cuda::DeviceBuffer<std::uint64_t>::of(target, 0)};
    schedule.count = number * run;
    const testing::ScheduledPasses pass(schedule, {.element_bytes = width});
    add_row(fmt::format("runs of {}", run), width, pass.passes(), number * run * width, arrays);
  }

  Options options_;
  std::mt19937_64 random_;
  Page page_;
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::Bench>(count, words, gpu::kUsage, gpu::parse);
}
