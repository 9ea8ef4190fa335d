// gpu_exchange_bench: rolls, flips and equal axes that change places in place on a GPU, beside a cudaMemcpy
// of the same bytes in the same rounds. `gpu_exchange_bench --help` lists the options.
//
// Every result is verified on the device, element by element, before it is timed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/page.hpp"
#include "bench/gpu/setting.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"
#include "kernels/exchange_params.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr const char* kUsage =
    R"(gpu_exchange_bench: rolls, flips and equal axes that change places in place, beside cudaMemcpy

  --rounds NUMBER  of turns of each case             (default 5)
  --bytes COUNT    of an array, about                (default 256 MiB)
  --tiles LIST     of squares, elements of a side, a column each
  --out FILE       the tables, in Markdown
  --help
)";

struct ExchangeOptions : PageOptions {
  std::uint64_t bytes = std::uint64_t{256} << 20;
  std::vector<std::uint64_t> tiles = {};
};

ExchangeOptions parse(const CommandLine& line) {
  ExchangeOptions options{{.rounds = 5}};
  options.read(line,
               {{"--bytes",
                 [&](const Argument& a) { options.bytes = parse_count(a, 1 << 20, std::uint64_t{1} << 36); }},
                {"--tiles", [&](const Argument& a) { options.tiles = parse_counts(a, 1); }}});
  return options;
}

struct Case {
  std::string what;
  Problem problem;
  std::vector<testing::AxesOracle> oracles;  // that together are the definition
  std::optional<kernels::SquareAxes> squares = {};
};

using Signed = std::int64_t;

// before x count x behind elements, of which the middle axis is moved: a view for each of its two pieces.
Case moved_axis(std::uint64_t before, const Cyclic& move, std::uint64_t behind, std::uint64_t width) {
  Case made{.what = fmt::format("{} {} x {} x {}, {}", move.reversed ? "flip of" : "roll of", before,
                                move.count, behind, move.shift),
            .problem = {.permutation = CyclicAxes({before, move.count, behind}, {0, 1, 2},
                                                  {{.count = before}, move, {.count = behind}}),
                        .element_bytes = width,
                        .placement = Placement::in_place},
            .oracles = {}};
  const auto step = static_cast<Signed>(behind);
  const auto row = static_cast<Signed>(move.count * behind);
  const auto add = [&](std::uint64_t first, std::uint64_t end) {
    if (first == end) return;
    const Strided view{.extents = {before, end - first, behind},
                       .in_strides = {row, step, 1},
                       .out_strides = {row, move.reversed ? -step : step, 1},
                       .in_offset = first * behind,
                       .out_offset = move(first) * behind};
    made.oracles.push_back(testing::axes_oracle(view, width));
  };
  const std::uint64_t cut = move.reversed ? move.shift + 1 : move.count - move.shift;
  add(0, cut);
  add(cut, move.count);
  return made;
}

Case exchanged(std::uint64_t arrays, std::uint64_t side, std::uint64_t between, std::uint64_t parts,
               std::uint64_t width) {
  const std::vector<std::uint64_t> shape{arrays, side, between, side, parts};
  const std::vector<int> order{0, 3, 2, 1, 4};
  return {.what = fmt::format("{} x {} x {} x {} x {}", arrays, side, between, side, parts),
          .problem = {.permutation = Axes(shape, order),
                      .element_bytes = width,
                      .placement = Placement::in_place},
          .oracles = {testing::axes_oracle(shape, order, width)},
          .squares = kernels::SquareAxes{.side = side, .between = between, .element_bytes = width * parts}};
}

std::uint64_t side_of(std::uint64_t elements) {
  std::uint64_t side = 2;
  while ((side + 1) * (side + 1) <= elements) ++side;
  return side;
}

std::vector<Case> cases(std::uint64_t bytes) {
  std::vector<Case> all;
  for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U}) {
    const std::uint64_t count = bytes / width / 9973 * 9973;
    all.push_back(moved_axis(1, {.count = count, .shift = count - 1, .reversed = true}, 1, width));
    all.push_back(moved_axis(1, {.count = count, .shift = 12345}, 1, width));
    all.push_back(moved_axis(count / 9973, {.count = 9973, .shift = 9972, .reversed = true}, 1, width));
    all.push_back(moved_axis(count / 9973, {.count = 9973, .shift = 17}, 1, width));
    all.push_back(moved_axis(1, {.count = 9973, .shift = 9972, .reversed = true}, count / 9973, width));
    all.push_back(moved_axis(1, {.count = 9973, .shift = 1000}, count / 9973, width));
  }
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    const std::uint64_t elements = bytes / width;
    const std::uint64_t side = side_of(elements);
    all.push_back(exchanged(1, side / 32 * 32, 1, 1, width));
    all.push_back(exchanged(1, side / 2 * 2 - 1, 1, 1, width));
    all.push_back(exchanged(1, 1000, elements / 1000000, 1, width));
    all.push_back(exchanged(1, 96, elements / 9216, 1, width));
    all.push_back(exchanged(elements / (75 * 75 * 48), 75, 48, 1, width));
    all.push_back(exchanged(1, 12, elements / 144, 1, width));
  }
  all.push_back(exchanged(1, side_of(bytes / 12), 1, 1, 12));
  all.push_back(exchanged(1, 257, 3, bytes / 4 / 257 / 257 / 3, 4));
  all.push_back(exchanged(1, 800, 1, bytes / 4 / 640000, 4));
  return all;
}

class ExchangeBench {
 public:
  explicit ExchangeBench(const ExchangeOptions& options) : options_(options) {}

  bool run() {
    std::string head = "| case | bytes an element | share | ms | passes | kernel |";
    std::string rule = "|---|---|---|---|---|---|";
    for (const std::uint64_t tile : options_.tiles) {
      head += fmt::format(" tiles of {} |", tile);
      rule += "---|";
    }
    page_.add("# Rolls, flips and equal axes that change places in place on a GPU\n\n" +
              setting_table(make_setting(options_.command)) +
              "\nEvery result was verified before it was timed. Medians of alternating rounds; shares of the "
              "cudaMemcpy of\nthe same bytes in the same rounds.\n\n" +
              head + "\n" + rule + "\n");
    for (const Case& each : cases(options_.bytes)) {
      std::fprintf(stderr, "%s of %llu\n", each.what.c_str(),
                   static_cast<unsigned long long>(each.problem.element_bytes));
      try {
        page_.add(row(each));
      } catch (const std::exception& error) {
        ++failures_;
        page_.add(
            fmt::format("| {} | {} | failed: {} |\n", each.what, each.problem.element_bytes, error.what()));
      }
    }
    return failures_ == 0;
  }

 private:
  struct Arrays {
    std::uint64_t bytes;
    cuda::DeviceArray before;
    cuda::DeviceArray data;

    explicit Arrays(std::uint64_t size) : bytes(size), before(size), data(size) {
      testing::draw_bytes(before.data(), bytes, 1, {});
    }
  };

  static void verify(const Case& of, Arrays& arrays, const cuda::LoadedPasses& passes) {
    cuda::copy(arrays.before.data(), arrays.data.data(), arrays.bytes, {});
    passes.launch({.in = arrays.data.data(), .out = arrays.data.data()}, {});
    for (const testing::AxesOracle& oracle : of.oracles) {
      const std::uint64_t wrong =
          testing::misplaced_elements(arrays.before.data(), arrays.data.data(), oracle, {});
      if (wrong == 0) continue;
      fail(ErrorCode::verification, "gpu_exchange_bench", fmt::format("{} elements elsewhere", wrong),
           "every element in its place");
    }
  }

  std::string row(const Case& of) const {
    const Plan plan(of.problem, cuda::target());
    Arrays arrays(plan.array_bytes());
    std::vector<cuda::LoadedPasses> all;
    all.emplace_back(plan.passes());
    verify(of, arrays, all.front());
    std::vector<bool> measured;
    for (const std::uint64_t tile : options_.tiles) {
      measured.push_back(false);
      if (!of.squares || tile > of.squares->side || of.squares->element_bytes > 64) continue;
      const kernels::SquaresParams params = kernels::make_squares_params(*of.squares, tile);
      constexpr std::uint64_t most = 110 << 10;
      if (params.shared_bytes() > most) continue;
      const std::uint64_t arrays_of = plan.array_bytes() / params.array_bytes;
      const std::uint64_t unit =
          std::min<std::uint64_t>(of.squares->element_bytes & (~of.squares->element_bytes + 1), 16);
      detail::GpuPass pass{
          .kind = PassKind::sweep,
          .kernels = {{.id = detail::SquaresKernel{static_cast<int>(unit), of.squares->element_bytes != unit},
                       .params = params,
                       .blocks = params.blocks() * arrays_of,
                       .first_step = 1,
                       .threads = kernels::kInPlaceThreads,
                       .shared_bytes = params.shared_bytes(),
                       .in_alignment = unit,
                       .out_alignment = unit}},
          .source = PassBuffer::data,
          .target = PassBuffer::data,
          .in_place = true,
          .array_bytes = plan.array_bytes()};
      all.emplace_back(std::vector<detail::GpuPass>{std::move(pass)});
      verify(of, arrays, all.back());
      measured.back() = true;
    }
    const int calls =
        static_cast<int>(std::clamp<std::uint64_t>((std::uint64_t{1} << 30) / arrays.bytes, 1, 8));
    const cuda::StreamClock clock;
    std::vector<double> copying;
    std::vector<std::vector<double>> moving(all.size());
    const auto turn = [&](const auto& queue, std::vector<double>& times) {
      static_cast<void>(clock.milliseconds(1, queue));
      times.push_back(clock.milliseconds(calls, queue) / calls);
    };
    for (int round = 0; round < options_.rounds; ++round) {
      turn([&](Stream s) { cuda::copy(arrays.before.data(), arrays.data.data(), arrays.bytes, s); }, copying);
      for (std::size_t i = 0; i < all.size(); ++i) {
        turn([&](Stream s) { all[i].launch({.in = arrays.data.data(), .out = arrays.data.data()}, s); },
             moving[i]);
      }
    }
    constexpr double percent = 100;
    const auto share = [&](std::size_t i) { return percent * median(copying) / median(moving[i]); };
    std::string text =
        fmt::format("| {} | {} | {:.1f}% | {:.3f} | {} | {} |", of.what, of.problem.element_bytes, share(0),
                    median(moving[0]), plan.passes().size(), plan.passes().front().launch->kernel);
    std::size_t next = 1;
    for (const bool is_measured : measured)
      text += is_measured ? fmt::format(" {:.1f}% |", share(next++)) : " |";
    return text + "\n";
  }

  ExchangeOptions options_;
  int failures_ = 0;
  Page page_{options_.out};
};

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_bench<gpu::ExchangeBench>(count, words, gpu::kUsage, gpu::parse);
}
