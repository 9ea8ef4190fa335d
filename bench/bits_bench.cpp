// bits_bench: elements of 1, 2 and 4 bits permuted on the CPU, by turns with a copy of as many bytes.
// `bits_bench --help` lists the options. What is permuted is the tests' affair.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "faro/measure.hpp"
#include "faro/packed.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(bits_bench: elements smaller than a byte permuted on the CPU, beside a copy of as many bytes

  --log N            arrays of 2^N bytes, or somewhat less                 (default 28)
  --threads COUNT    0: all; 1: by the thread's processor time             (default 1)
  --rounds COUNT     of each work                                          (default 5)
  --maps COUNT       random maps of each kind                              (default 3)
  --only TEXT        works whose names have it in them
  --help
)";

struct Options {
  int log_bytes = 28;
  int threads = 1;
  int rounds = 5;
  std::uint64_t maps = 3;
  std::string only = {};
};

struct Work {
  std::string text;
  std::vector<PackedProblem> problems;
  bool in_place = false;
};

std::vector<Work> works(const Options& options) {
  std::vector<Work> all;
  for (const std::uint32_t bits : {4U, 2U, 1U}) {
    const int n = options.log_bytes + (bits == 4 ? 1 : bits == 2 ? 2 : 3);
    const std::string of = (bits == 4 ? "nibbles, " : bits == 2 ? "pairs, " : "bits, ");
    const auto add = [&](const std::string& text, auto&& make, bool in_place = false) {
      Work work{.text = of + text, .problems = {}, .in_place = in_place};
      for (std::uint64_t seed = 1; seed <= options.maps; ++seed) {
        work.problems.push_back({.permutation = make(seed), .element_bits = bits});
        if (work.problems.size() > 1 && work.problems[0].permutation == work.problems[1].permutation) {
          work.problems.pop_back();
          break;
        }
      }
      all.push_back(std::move(work));
    };
    const auto bmmc = [n](std::uint64_t seed) { return Permutation(maps::random_bmmc(n, seed)); };
    const auto always = [](Permutation map) { return [map](std::uint64_t) { return map; }; };
    const std::string size = " of 2^" + std::to_string(n);
    const std::uint64_t rows = std::uint64_t{1} << n / 2;
    const std::uint64_t columns = std::uint64_t{1} << (n - n / 2);
    const auto axes = [](std::vector<std::uint64_t> extents, std::vector<int> order) {
      return Permutation(Axes(std::move(extents), std::move(order)));
    };
    add("random BMMC" + size, bmmc);
    add("random bit permutation" + size,
        [n](std::uint64_t seed) { return Permutation(maps::random_bpc(n, seed)); });
    add("bit reversal" + size, always(maps::bit_reversal(n)));
    add("transposed, 2^" + std::to_string(n / 2) + " rows" + size, always(axes({rows, columns}, {1, 0})));
    add("transposed, odd: one row less, one column more", always(axes({rows - 1, columns + 1}, {1, 0})));
    const std::uint64_t third = (std::uint64_t{1} << n) / (1023 * 511);
    add("1023 x " + std::to_string(third) + " x 511, (0 2 1)", always(axes({1023, third, 511}, {0, 2, 1})));
    add("the same, (2 1 0)", always(axes({1023, third, 511}, {2, 1, 0})));
    add("the same, (1 0 2)", always(axes({1023, third, 511}, {1, 0, 2})));
    add("rolled by 12345", always(maps::roll(std::uint64_t{1} << n, 12345)));
    add("flipped, 7 elements less", always(maps::flip((std::uint64_t{1} << n) - 7)));
    if (bits == 4) add("AWQ's order", always(parse_permutation("awq(" + std::to_string(1ULL << n) + ")")));
    add("random BMMC, in place," + size, bmmc, true);
  }
  return all;
}

void run_work(const Work& work, const Options& options) {
  std::vector<double> times[2];
  for (const PackedProblem& problem : work.problems) {
    const PackedPlan plan(problem, {.threads = options.threads});
    const io::Buffer in(plan.in_bytes(), io::PageKind::huge);
    const io::Buffer out(plan.out_bytes(), io::PageKind::huge);
    std::memset(in.data(), 1, in.size());
    for (int round = 0; round <= options.rounds; ++round) {
      const auto timed = [&](std::vector<double>& to, auto&& call) {
        const double begin = clock_ms(options.threads == 1);
        call();
        if (round > 0) to.push_back(clock_ms(options.threads == 1) - begin);  // the first touches pages
      };
      timed(times[0], [&] { work.in_place ? plan.run(out.span()) : plan.run(in.span(), out.span()); });
      timed(times[1], [&] { cpu::copy(in.data(), out.data(), in.size(), options.threads); });
    }
  }
  const Timing timings[] = {summarise(times[0]), summarise(times[1])};
  const auto [least, most] = std::minmax_element(times[0].begin(), times[0].end());
  fmt::print("| {} | {:.1f} ({:.1f} - {:.1f}) | {:.1f} | {:.0f}% |\n", work.text, timings[0].median_ms,
             *least, *most, timings[1].median_ms, 100 * timings[1].median_ms / timings[0].median_ms);
  std::fflush(stdout);
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage, [](const CommandLine& line) {
    constexpr int kMostLog = 36;
    Options options;
    line.read({{"--log", [&](const Argument& a) { options.log_bytes = parse_int(a, 20, kMostLog); }},
               {"--threads", [&](const Argument& a) { options.threads = parse_int(a, 0); }},
               {"--rounds", [&](const Argument& a) { options.rounds = parse_int(a, 1); }},
               {"--maps", [&](const Argument& a) { options.maps = parse_count(a, 1); }},
               {"--only", [&](const Argument& a) { options.only = a.text; }}});
    fmt::print("{}, {} threads; medians of {} rounds, least and most, ms\n\n", machine_text(),
               options.threads, options.rounds);
    fmt::print("| map | ms | copy, ms | share |\n|---|---|---|---|\n");
    for (const Work& work : works(options)) {
      if (work.text.find(options.only) != std::string::npos) run_work(work, options);
    }
    return 0;
  });
}
