// affine_times_bench: predicted times of drawn affine maps on the CPU, beside what they take.
// `affine_times_bench --help` lists the options.
//
// Each map takes turns with a plain copy of as many bytes. Curves are measured first, as `faro tune` does,
// unless --built-in says otherwise. What it moves is the tests' affair.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/tune_affine.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/split_mix.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "tell/prediction.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(affine_times_bench: predicted times of drawn affine maps on the CPU beside what they take

  --seed NUMBER      what is drawn                                     (default 1)
  --count COUNT      of maps                                           (default 100)
  --least, --most SIZE  of an array, powers of two                     (default 1MiB, 256MiB)
  --threads COUNT    0: all; 1: by the thread's processor time         (default 1)
  --rounds COUNT     of each map                                       (default 7)
  --both-ways        times the way that was not chosen, too
  --built-in         by the curves that come with faro of the processor most like this one
  --help
)";

struct AffineOptions {
  std::uint64_t seed = 1;
  int count = 100;
  std::uint64_t least = std::uint64_t{1} << 20;
  std::uint64_t most = std::uint64_t{256} << 20;
  int threads = 1;
  int rounds = 7;
  bool built_in = false;
  bool both_ways = false;
};

AffineOptions affine_options(const CommandLine& line) {
  AffineOptions options;
  options.built_in = line.has("--built-in");
  options.both_ways = line.has("--both-ways");
  line.read({{"--seed", [&](const Argument& a) { options.seed = parse_count(a); }},
             {"--count", [&](const Argument& a) { options.count = parse_int(a, 1); }},
             {"--least", [&](const Argument& a) { options.least = parse_bytes(a, 4096); }},
             {"--most", [&](const Argument& a) { options.most = parse_bytes(a, 4096); }},
             {"--threads", [&](const Argument& a) { options.threads = parse_int(a, 0); }},
             {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1); }}},
            {"--built-in", "--both-ways"});
  return options;
}

struct DrawnMap {
  std::string text;
  Affine map;
  std::uint64_t width = 4;
};

class AffineDraw {
 public:
  explicit AffineDraw(const AffineOptions& options) : options_(options), random_(options.seed) {}

  DrawnMap next() {
    const auto bits_of = [](std::uint64_t bytes) { return static_cast<int>(std::bit_width(bytes)) - 1; };
    const int width_bits = below(5);
    const int bytes_bits =
        bits_of(options_.least) + below(bits_of(options_.most) - bits_of(options_.least) + 1);
    const int n = bytes_bits - width_bits;
    const std::string text = [&] {
      switch (below(6)) {
        case 0:
          return fmt::format("bit_reversal({})", n);
        case 1: {
          const int rows = 1 + below(n - 1);
          return fmt::format("transpose({}, {})", std::uint64_t{1} << rows, std::uint64_t{1} << (n - rows));
        }
        case 2:
          return fmt::format("rotate_bits({}, {})", n, 1 + below(n - 1));
        case 3:
        case 4:
          return fmt::format("random_bpc({}, {})", n, below(1000));
        default:
          return fmt::format("random_bmmc({}, {})", n, below(1000));
      }
    }();
    return {text, std::get<Affine>(parse_permutation(text)), std::uint64_t{1} << width_bits};
  }

 private:
  int below(int most) { return static_cast<int>(random_.next() % static_cast<std::uint64_t>(most)); }

  AffineOptions options_;
  detail::SplitMix64 random_;
};

std::string tile_text(const Pass& pass) {
  if (pass.kind != PassKind::tile) return fmt::format("{} {}", name(pass.kind), pass.segment_bytes);
  const auto apart = [](const auto& rows, std::uint64_t unit) {
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto row : rows) least = std::min<std::uint64_t>(least, row & (~row + 1));
    return least * unit;
  };
  const std::uint64_t unit = pass.segment_bytes >> pass.tile.segment_bits;
  return fmt::format("tile 2^{} x {} B, rows {} B apart", pass.tile.row_bits, pass.segment_bytes,
                     apart(pass.tile.target_rows, unit));
}

void run_times(const AffineOptions& options) {
  Target target = cpu::target(options.threads);
  auto curves = std::make_shared<IndexCalibration>(cpu::nearest_curves());
  if (!options.built_in) {
    curves->source = "tiles measured now, the rest: " + curves->source;
    std::erase_if(curves->curves, [](const IndexCurve& each) { return each.kernel >= IndexKernel::tile; });
    for (IndexCurve& each : cpu::tune_affine({}, target)) curves->curves.push_back(std::move(each));
  }
  target.streaming_bytes = cpu::streaming_bytes(*curves);
  target.index_calibration = std::move(curves);
  const io::Buffer in(options.most);
  const io::Buffer out(options.most);
  AffineDraw draw(options);
  std::vector<double> off;
  std::vector<double> regrets;
  fmt::print("{}, {}\n\n", machine_text(), target.index_calibration->source);
  for (int i = 0; i < options.count; ++i) {
    const DrawnMap drawn = draw.next();
    const Plan plan({.permutation = drawn.map, .element_bytes = drawn.width}, target);
    const cpu::Executor engine(plan);
    const std::uint64_t bytes = total_bytes(plan.problem());
    Target other_target = target;
    other_target.streaming_bytes =
        plan.passes().front().team->streamed ? std::numeric_limits<std::uint64_t>::max() : 0;
    const cpu::Executor other(Plan(plan.problem(), other_target));
    std::vector<double> others;
    std::vector<double> times;
    std::vector<double> copies;
    engine.run(in.data(), out.data());
    for (int round = 0; round < options.rounds; ++round) {
      const auto timed = [&](auto&& call) {
        const int calls = static_cast<int>(std::max<std::uint64_t>(1, (std::uint64_t{8} << 20) / bytes));
        const double begin = clock_ms(options.threads == 1);
        for (int k = 0; k < calls; ++k) call();
        return (clock_ms(options.threads == 1) - begin) / calls;
      };
      times.push_back(timed([&] { engine.run(in.data(), out.data()); }));
      if (options.both_ways) others.push_back(timed([&] { other.run(in.data(), out.data()); }));
      copies.push_back(timed([&] { cpu::copy(in.data(), out.data(), bytes, target.threads); }));
    }
    const auto quarter = [](std::vector<double>& values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 4];
    };
    const double ms = quarter(times);
    if (options.both_ways) regrets.push_back(ms / std::min(ms, quarter(others)));
    const double predicted = predict_us(plan).value_or(0) * 1e-3;
    off.push_back(std::fabs(predicted / ms - 1));
    fmt::print("{:<28} {:>2} B {:>4} MiB  {:>8.3f} ms, predicted {:>8.3f}: {:>5.2f}  copy {:>4.0f}%  {}\n",
               drawn.text, drawn.width, bytes >> 20, ms, predicted, predicted / ms,
               100 * quarter(copies) / ms, tile_text(plan.passes().front()));
    std::fflush(stdout);
  }
  fmt::print("{}", regret_text(std::move(regrets)));
  for (const double within : {0.1, 0.15, 0.2, 0.3}) {
    const auto near = std::count_if(off.begin(), off.end(), [&](double each) { return each <= within; });
    fmt::print("within {:.0f}%: {:.0f}%\n", 100 * within,
               100 * static_cast<double>(near) / static_cast<double>(off.size()));
  }
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage, [](const CommandLine& line) {
    run_times(affine_options(line));
    return 0;
  });
}
