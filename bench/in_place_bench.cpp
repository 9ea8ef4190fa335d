// in_place_bench: affine maps in place on the CPU beside the same maps out of place and a plain copy, by
// turns. `in_place_bench --help` lists the options.
//
// Every map is verified before it is timed, then timed on the array that it keeps permuting. Shares are of
// the copy's speed; every pass in place is one sweep of the memory, as a copy is.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "engines/cpu.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/permutation.hpp"
#include "faro/plan/plan.hpp"
#include "faro_build_info.hpp"
#include "io/buffer.hpp"
#include "oracle.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(in_place_bench: affine maps in place on the CPU beside the same maps out of place and a plain copy

  --bytes SIZE         bytes of an array, a power of two: 256MiB, 1GiB, 2^30      (default 1GiB)
  --widths LIST        element widths in bytes                                    (default 1,4,16)
  --maps LIST          such as bit_reversal(28);random_bmmc(28, 1)                (default a dozen of the array's size)
  --budget-ms NUMBER   of measuring a map                                         (default 3000)
  --help
)";

constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 12;

struct Options {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::vector<std::uint64_t> widths{1, 4, 16};
  std::vector<std::string> maps;  // empty: maps_of the size
  double budget_ms = 3000;
};

Options parse(const CommandLine& line) {
  Options options;
  line.read({{"--bytes", [&](const Argument& a) { options.bytes = parse_bytes(a, kLeastBytes); }},
             {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
             {"--maps",
              [&](const Argument& a) {
                for (const Argument& map : split(a, ';')) options.maps.emplace_back(map.text);
              }},
             {"--budget-ms", [&](const Argument& a) { options.budget_ms = parse_int(a, 1); }}});
  return options;
}

// Those of one pass first.
std::vector<std::string> maps_of(int n) {
  const int half = n / 2;
  std::vector<std::string> list{fmt::format("bit_reversal({})", n), fmt::format("reverse({})", n),
                                fmt::format("swap_bits({}, 0, {})", n, n - 1),
                                fmt::format("xor({}, {})", n, f2::unit(n - 1) | 1)};
  list.push_back(fmt::format("transpose({}, {})", f2::unit(half), f2::unit(n - half)));
  list.push_back(fmt::format("shuffle({})", n));
  for (int seed = 1; seed <= 3; ++seed) list.push_back(fmt::format("random_bpc({}, {})", n, seed));
  for (int seed = 1; seed <= 3; ++seed) list.push_back(fmt::format("random_bmmc({}, {})", n, seed));
  return list;
}

void require_right(const Problem& problem, const std::byte* in, const std::byte* out) {
  const auto wrong = find_mismatch(problem, in, out);
  if (!wrong) return;
  fail(ErrorCode::verification, "verify " + to_text(problem.permutation), to_text(*wrong),
       "out[pi(x)] = in[x]", "this is a bug; please report it with the command");
}

struct Arrays {
  io::Buffer in;
  io::Buffer out;
};

void measure(const Options& options, const Arrays& arrays, std::uint64_t width, const std::string& spec) {
  const std::byte* const in = arrays.in.data();
  std::byte* const out = arrays.out.data();
  Problem problem{.permutation = parse_permutation(spec), .element_bytes = width};
  const std::uint64_t bytes = total_bytes(problem);
  if (bytes > options.bytes) refuse({"--maps", spec}, "maps of at most --bytes, at every width");
  const cpu::Executor two_arrays(Plan(problem, cpu::target()));
  problem.placement = Placement::in_place;
  const Plan plan(problem, cpu::target());
  const cpu::Executor one_array(plan);
  std::memcpy(out, in, bytes);
  one_array.run_in_place(out);
  require_right(problem, in, out);
  const std::vector<std::function<void()>> contestants{[&] { cpu::copy(in, out, bytes); },
                                                       [&] { two_arrays.run(in, out); },
                                                       [&] { one_array.run_in_place(out); }};
  const std::vector<Timing> times = measure_alternating(contestants, {.budget_ms = options.budget_ms});
  const double copy = times[0].median_ms;
  fmt::print("{:>3}  {:<24} {:>6} {:>9.2f} {:>9.0f}% {:>8.0f}% {:>8.2f}\n", width, spec, plan.passes().size(),
             copy, 100 * copy / times[1].median_ms, 100 * copy / times[2].median_ms,
             times[2].median_ms / times[1].median_ms);
  std::fflush(stdout);
}

int run(const CommandLine& line) {
  const Options options = parse(line);
  const Arrays arrays{.in = io::Buffer(options.bytes), .out = io::Buffer(options.bytes)};
  for (std::uint64_t at = 0; at + 8 <= options.bytes; at += 8) {
    const std::uint64_t word = (at + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(arrays.in.data() + at, &word, sizeof(word));
  }
  fmt::print("{}, {}, {}\n", size_text(options.bytes), cpu::target().name, FARO_COMMIT);
  fmt::print("{:>3}  {:<24} {:>6} {:>9} {:>10} {:>9} {:>8}\n", "B", "map", "passes", "copy ms", "two arrays",
             "in place", "times");
  for (const std::uint64_t width : options.widths) {
    const int n = f2::leading_bit(options.bytes / width);
    for (const std::string& spec : options.maps.empty() ? maps_of(n) : options.maps)
      measure(options, arrays, width, spec);
  }
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
