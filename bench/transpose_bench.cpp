// transpose_bench: transposition in place of random shapes on the CPU, beside a copy, the out-of-place engine
// and the following of cycles. `transpose_bench --help` lists the options.
//
// Three kinds of shapes: `any` has sides of all magnitudes, `even` a longer side of at most eight times the
// shorter, `narrow` a shorter side below 32. faro, out of place and copy take turns; cycles are followed
// once, by one thread, in the first shapes of each kind. A share is of the copy of as many bytes, which reads
// and writes each once, as a transposition must. Every result is verified.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/cycle_following.hpp"
#include "engines/cpu.hpp"
#include "engines/cpu/pass_program.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(transpose_bench: transposition in place of random shapes on the CPU beside a plain copy

  --bytes SIZE         bytes of an array, about; a power of two                   (default 256MiB)
  --shapes COUNT       of each of three kinds                                     (default 20)
  --shape SHAPE        ROWSxCOLUMNS instead of those, as 5000x4000
  --seed NUMBER        of the shapes                                              (default 1)
  --widths LIST        element widths in bytes                                    (default 4)
  --cycles COUNT       shapes of each kind in which cycles are followed, too      (default 3)
  --threads COUNT      0: all                                                     (default 0)
  --budget-ms NUMBER   of measuring a shape                                       (default 1500)
  --help
)";

constexpr std::uint64_t kLeastBytes = 4096;

struct Shape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

struct Options {
  std::uint64_t bytes = std::uint64_t{256} << 20;
  std::uint64_t shapes = 20;  // of each kind
  std::uint64_t cycles = 3;
  std::uint64_t seed = 1;
  int threads = 0;
  std::vector<std::uint64_t> widths{4};
  double budget_ms = 1500;
  std::optional<Shape> shape;
};

Shape parse_shape(const Argument& argument) {
  const std::vector<Argument> sides = split(argument, 'x');
  if (sides.size() != 2) refuse(argument, "ROWSxCOLUMNS");
  return {.rows = parse_count(sides[0], 1), .columns = parse_count(sides[1], 1)};
}

Options parse(const CommandLine& line) {
  Options options;
  line.read({{"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, kLeastBytes); }},
             {"--shapes", [&](const Argument& a) { options.shapes = parse_count(a); }},
             {"--cycles", [&](const Argument& a) { options.cycles = parse_count(a); }},
             {"--seed", [&](const Argument& a) { options.seed = parse_count(a); }},
             {"--threads", [&](const Argument& a) { options.threads = parse_int(a, 0); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_counts(a, 1); }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }},
             {"--shape", [&](const Argument& a) { options.shape = parse_shape(a); }}});
  return options;
}

enum class Kind { any, even, narrow };
const char* name(Kind kind) { return kind == Kind::any ? "any" : kind == Kind::even ? "even" : "narrow"; }

// About `count` elements; the logarithm of the ratio of its sides is uniform.
Shape draw(Kind kind, std::uint64_t count, std::mt19937_64& random) {
  const double root = std::sqrt(static_cast<double>(count));
  const double least = kind == Kind::even ? root / std::sqrt(8.0) : 2;
  const double most = kind == Kind::narrow ? 31.5 : root;
  const double side = std::exp(std::uniform_real_distribution<>(std::log(least), std::log(most))(random));
  const auto shorter = std::max<std::uint64_t>(2, static_cast<std::uint64_t>(side));
  const std::uint64_t longer = count / shorter - random() % 16;
  return random() % 2 == 0 ? Shape{shorter, longer} : Shape{longer, shorter};
}

void fill(std::byte* data, std::uint64_t bytes) {
  for (std::uint64_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = (i + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(data + i, &word, std::min<std::uint64_t>(8, bytes - i));
  }
}

void verify(const std::string& who, const Shape& shape, std::uint64_t width, const std::byte* in,
            const std::byte* out) {
  for (std::uint64_t i = 0; i < shape.rows; ++i) {
    for (std::uint64_t j = 0; j < shape.columns; ++j) {
      if (std::memcmp(out + (j * shape.rows + i) * width, in + (i * shape.columns + j) * width, width) == 0)
        continue;
      fail(ErrorCode::verification,
           fmt::format("{}: {} x {} of {} bytes", who, shape.rows, shape.columns, width),
           fmt::format("another element at [{}][{}]", j, i), "the transpose",
           "this is a bug; please report it with the command");
    }
  }
}

struct Result {
  double share = 0;         // of a copy
  double out_of_place = 0;  // the same of the out-of-place engine
  double over_cycles = 0;   // 0: not measured
};

Result measure(const Options& options, const Shape& shape, std::uint64_t width, bool with_cycles) {
  const Rectangle rectangle{
      .arrays = 1, .rows = shape.rows, .columns = shape.columns, .element_bytes = width};
  const std::uint64_t bytes = rectangle.bytes();
  const Target target = cpu::target(options.threads);
  const cpu::PassSequence program(
      detail::cpu_sweeps(rectangle, detail::cpu_transpose_workers(rectangle, target.threads)));
  const io::Buffer in(bytes);
  const io::Buffer data(bytes);
  const io::Buffer workspace(std::max<std::uint64_t>(1, program.workspace_bytes()));
  const Recognition known{.family = Family::axes,
                          .permutation = maps::transpose_any(shape.rows, shape.columns),
                          .runs = std::nullopt,
                          .displacement = std::nullopt,
                          .findings = {}};
  const Problem problem{.permutation = known.permutation, .element_bytes = width};
  const cpu::Executor engine(Plan(problem, target, known, {.method = IndexMethod::axes}));
  const io::Buffer lent(std::max<std::uint64_t>(1, engine.workspace_bytes()));

  const auto in_place = [&] { program.run(data.data(), data.data(), workspace.data()); };
  const auto out_of_place = [&] { engine.run(in.data(), data.data(), lent.data()); };
  fill(in.data(), bytes);
  std::memcpy(data.data(), in.data(), bytes);
  in_place();
  verify("in place", shape, width, in.data(), data.data());
  out_of_place();
  verify("out of place", shape, width, in.data(), data.data());
  const std::vector<std::function<void()>> contestants{
      in_place, out_of_place, [&] { cpu::copy(in.data(), data.data(), bytes, target.threads); }};
  const std::vector<Timing> times = measure_alternating(contestants, {.budget_ms = options.budget_ms});
  Result result{.share = times[2].median_ms / times[0].median_ms,
                .out_of_place = times[2].median_ms / times[1].median_ms};
  if (with_cycles) {
    std::vector<std::uint64_t> done;
    std::memcpy(data.data(), in.data(), bytes);
    const auto start = std::chrono::steady_clock::now();
    follow_cycles(data.data(), shape.rows, shape.columns, width, done);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    verify("cycles", shape, width, in.data(), data.data());
    result.over_cycles = elapsed.count() / times[0].median_ms;
  }
  fmt::print("{:>10} x {:<10} {:>3} {:>9.2f} {:>9.2f} {:>7.1f}% {:>7.1f}%  {}\n", shape.rows, shape.columns,
             width, times[0].median_ms, times[2].median_ms, 100 * result.share, 100 * result.out_of_place,
             with_cycles ? fmt::format("{:.1f}", result.over_cycles) : "");
  std::fflush(stdout);
  return result;
}

void measure_kind(const Options& options, Kind kind, std::uint64_t width) {
  std::mt19937_64 random(options.seed);
  std::vector<double> shares;
  std::vector<double> others;
  std::vector<double> over_cycles;
  for (std::uint64_t i = 0; i < options.shapes; ++i) {
    const Shape shape = draw(kind, options.bytes / width, random);
    const Result result = measure(options, shape, width, i < options.cycles);
    shares.push_back(result.share);
    others.push_back(result.out_of_place);
    if (result.over_cycles > 0) over_cycles.push_back(result.over_cycles);
  }
  if (shares.empty()) return;
  fmt::print(
      "{}, {} shapes of {} bytes: median {:.1f}% of a copy, least {:.1f}%; out of place {:.1f}%; "
      "{:.1f} times as fast as following cycles\n\n",
      name(kind), shares.size(), width, 100 * median(shares),
      100 * *std::min_element(shares.begin(), shares.end()), 100 * median(others), median(over_cycles));
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  fmt::print("{}, {}, {} arrays, seed {}\n", cpu::target(options.threads).name, FARO_COMMIT,
             size_text(options.bytes), options.seed);
  fmt::print("{:>10} x {:<10} {:>3} {:>9} {:>9} {:>8} {:>8}  {}\n", "rows", "columns", "B", "ms", "copy ms",
             "share", "out of", "over cycles");
  for (const std::uint64_t width : options.widths) {
    if (options.shape) {
      measure(options, *options.shape, width, options.cycles > 0);
      continue;
    }
    for (const Kind kind : {Kind::any, Kind::even, Kind::narrow}) measure_kind(options, kind, width);
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
