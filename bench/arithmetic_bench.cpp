// arithmetic_bench: views whose numbers are changed while they are moved, on the CPU, by turns with the plain
// permutation of as many elements of the wider type, and with a copy of that many bytes.
// `arithmetic_bench --help` lists the options. What it computes is the tests' affair.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/arithmetic_work.hpp"
#include "bench/report.hpp"
#include "engines/cpu.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(arithmetic_bench: numbers changed while they are moved, beside the plain permutation of the wider type

  --threads COUNT    0: all; 1: by the thread's processor time         (default 1)
  --rounds COUNT     of each row                                       (default 7)
  --only TEXT        rows whose first columns have it, joined by a blank
  --help
)";

std::vector<ArithmeticWork> works() {
  const Strided pixels = permuted({20, 1024, 1024, 3}, {0, 3, 1, 2});
  const Strided square = permuted({8192, 8192}, {1, 0});
  const Coefficient channels{.values = {0.1, 0.2, 0.3}, .axis = 1};
  const Addend half{.number = Number::f32, .beta = 0.5};
  return {
      {"20 x 1024 x 1024 x 3 to channels first",
       pixels,
       {.from = Number::u8, .to = Number::f32, .scale = channels, .offset = channels}},
      {"the same", pixels, {.from = Number::u8, .to = Number::f16, .scale = channels, .offset = channels}},
      {"8192 x 8192 transposed", square, {.from = Number::f32, .to = Number::bf16}},
      {"the same", square, {.from = Number::f32, .to = Number::f16}},
      {"the same", square, {.from = Number::f16, .to = Number::f32}},
      {"the same", square, {.from = Number::bf16, .to = Number::f8_e4m3fn, .scale = {.values = {0.5}}}},
      {"2 A^T + 0.5 C, 8192 x 8192",
       square,
       {.from = Number::f32, .to = Number::f32, .scale = {.values = {2.0}}, .addend = half}},
      {"4096 x 8192 conjugate transposed",
       permuted({4096, 8192}, {1, 0}),
       {.from = Number::c64, .to = Number::c64, .function = Function::conjugate}},
      {"2^26 in order", permuted({std::uint64_t{1} << 26}, {0}), {.from = Number::f32, .to = Number::bf16}},
      {"4 x 4096 x 32 x 128, (0 2 1 3)",
       permuted({4, 4096, 32, 128}, {0, 2, 1, 3}),
       {.from = Number::f32, .to = Number::bf16}},
      {"56 x 56 x 56 x 32 x 8 reversed",
       permuted({56, 56, 56, 32, 8}, {4, 3, 2, 1, 0}),
       {.from = Number::f32, .to = Number::f16}},
  };
}

void run_work(const ArithmeticWork& work, int threads, int rounds) {
  const std::uint64_t count = element_count(work.view);
  const std::uint64_t wide = std::max(bytes_of(work.arithmetic.from), bytes_of(work.arithmetic.to));
  const io::Buffer in(count * wide);
  const io::Buffer out(count * wide);
  const io::Buffer addend(work.arithmetic.addend ? count * bytes_of(work.arithmetic.addend->number) : 0);
  std::memset(in.data(), 0, in.size());
  std::memset(addend.data(), 0, addend.size());
  const PlanOptions options{.engine = Engine::cpu, .threads = threads};
  const ExecutableArithmetic changed = plan(work.view, work.arithmetic, options);
  const ExecutablePlan plain = plan(work.view, wide, options);
  std::vector<double> times[3];
  for (int round = 0; round <= rounds; ++round) {
    const auto timed = [&](std::vector<double>& to, auto&& call) {
      const double begin = clock_ms(threads == 1);
      call();
      if (round > 0) to.push_back(clock_ms(threads == 1) - begin);  // the first touches pages
    };
    const NumberArray added = addend.size() == 0 ? NumberArray{} : NumberArray{addend.data(), count};
    timed(times[0], [&] { changed.run({in.data(), count}, out.data(), count, added); });
    timed(times[1], [&] { plain.run(in.data(), count, out.data(), count); });
    timed(times[2], [&] { cpu::copy(in.data(), out.data(), count * wide, threads); });
  }
  const Timing timings[] = {summarise(times[0]), summarise(times[1]), summarise(times[2])};
  fmt::print("| {} | {} to {} |", work.text, name(work.arithmetic.from), name(work.arithmetic.to));
  for (const Timing& each : timings) fmt::print(" {:.1f} ({:.1f}) |", each.median_ms, each.mad_ms);
  fmt::print(" {:.2f} |\n", timings[0].median_ms / timings[1].median_ms);
  std::fflush(stdout);
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, kUsage, [](const CommandLine& line) {
    int threads = 1;
    int rounds = 7;
    std::string only;
    line.read({{"--threads", [&](const Argument& a) { threads = parse_int(a, 0); }},
               {"--rounds", [&](const Argument& a) { rounds = parse_int(a, 1); }},
               {"--only", [&](const Argument& a) { only = a.text; }}},
              {});
    fmt::print("{}, {} threads; medians of {} rounds and their median deviation, ms\n\n", machine_text(),
               threads, rounds);
    fmt::print("| work | types | changed | plain, wider type | copy, wider type | changed / plain |\n");
    fmt::print("|---|---|---|---|---|---|\n");
    for (const ArithmeticWork& work : works()) {
      const std::string types = fmt::format("{} to {}", name(work.arithmetic.from), name(work.arithmetic.to));
      if ((work.text + " " + types).find(only) != std::string::npos) run_work(work, threads, rounds);
    }
    return 0;
  });
}
