// machine_bench: how many accesses of lanes the memory machines simulate in a second, on one core.
//
// Everything goes through the interface that programs use, data moved: contiguous, stride and random accesses
// on the DMM and the UMM, and a whole kernel of the CUDA engine, the bit reversal of 2^24 4-byte elements, on
// a hierarchical machine of an H200's shape. Results are verified before anything is timed.
#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/report.hpp"
#include "faro/error.hpp"
#include "faro/machine/memory_machine.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/affine_tile.hpp"

namespace faro::bench {
namespace {

using machine::MachineKind;
using machine::MachineOptions;
using machine::MachineReport;
using machine::MemoryMachine;

constexpr int kElementBits = 20;  // of the access patterns
constexpr std::uint64_t kElements = std::uint64_t{1} << kElementBits;
constexpr std::uint64_t kThreads = std::uint64_t{1} << 14;
constexpr int kKernelBits = 24;

struct Case {
  std::string name;
  std::function<MachineReport()> run;
};

enum class Pattern { contiguous, stride, random };

const char* name(Pattern pattern) {
  switch (pattern) {
    case Pattern::contiguous:
      return "contiguous";
    case Pattern::stride:
      return "stride n / p";
    case Pattern::random:
      return "random";
  }
  return "";
}

// The word that a thread reads in a round.
template <Pattern pattern>
std::uint64_t word_at(std::uint64_t round, std::uint64_t thread) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const std::uint64_t i = round * kThreads + thread;
  if constexpr (pattern == Pattern::contiguous) return i;
  if constexpr (pattern == Pattern::stride) return thread * (kElements / kThreads) + round;
  return ((i * odd) ^ (i * odd) >> 29) * odd >> (64 - kElementBits);
}

// Every thread reads n / p words of an array that holds its own indices.
template <Pattern pattern>
MachineReport read_words(std::span<std::uint32_t> data, MachineKind kind, bool overlap) {
  MemoryMachine machine({.kind = kind,
                         .width = 32,
                         .latency = 100,
                         .threads = kThreads,
                         .registers = 0,
                         .dmms = 1,
                         .shared_latency = 1,
                         .word_bytes = 4,
                         .overlap = overlap,
                         .timeline_units = 0});
  machine.add_buffer(std::as_writable_bytes(data));
  std::uint64_t differences = 0;
  machine.run({}, [&](MemoryMachine& m, std::uint64_t, std::uint32_t thread) {
    for (std::uint64_t round = 0; round < kElements / kThreads; ++round) {
      const std::uint64_t word = word_at<pattern>(round, thread);
      differences |= m.load_global<4>(0, 4 * word).unit[0] ^ word;
    }
  });
  FARO_CHECK(machine.report().accesses == kElements && differences == 0);
  return machine.report();
}

Affine reversal() { return {f2::reversal(kKernelBits), 0}; }

// The kernel that the CUDA engine runs for large arrays of 4-byte elements.
MachineReport reverse_bits(std::span<std::uint32_t> in, std::span<std::uint32_t> out, bool overlap) {
  constexpr kernels::AffineTileShape shape{2, 6, 6, 2, 7};
  const layout::Tile tile =
      layout::make_tile(reversal(), {.segment_bits = shape.segment_bits, .min_row_bits = shape.row_bits});
  const auto params = kernels::make_affine_tile_params(tile, shape, 1);
  MemoryMachine machine({.kind = MachineKind::hmm,
                         .width = 32,
                         .latency = 600,
                         .threads = 132 * 2048,
                         .registers = 0,
                         .dmms = 132,
                         .shared_latency = 30,
                         .word_bytes = 4,
                         .overlap = overlap,
                         .timeline_units = 0});
  machine.add_buffer(std::as_writable_bytes(in));
  machine.add_buffer(std::as_writable_bytes(out));
  machine.run(
      {.blocks = params.blocks(), .threads = shape.threads(), .shared_bytes = shape.tile_bytes()},
      [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
        kernels::load_tile<shape>(m, params, block, thread);
      },
      [&](MemoryMachine& m, std::uint64_t block, std::uint32_t thread) {
        kernels::store_tile<shape>(m, params, block, thread);
      });
  return machine.report();
}

constexpr const char* kUsage =
    R"(machine_bench: accesses a second that the memory machines simulate, on one core

  --help

It takes no other options, and 20 seconds to measure.
)";

int run(const CommandLine& line) {
  line.read({});
  std::vector<std::uint32_t> in(std::size_t{1} << kKernelBits);
  std::iota(in.begin(), in.end(), 0U);
  std::vector<std::uint32_t> out(in.size());
  reverse_bits(in, out, false);
  const Affine map = reversal();
  for (std::size_t x = 0; x < in.size(); ++x) FARO_CHECK(out[map(x)] == in[x]);

  std::vector<Case> cases;
  const auto add = [&]<Pattern pattern>(MachineKind kind, bool overlap) {
    const std::string label =
        fmt::format("{} | {}{}", name(pattern), machine::name(kind), overlap ? ", overlap" : "");
    cases.push_back({label, [&in, kind, overlap] {
                       return read_words<pattern>(std::span(in).first(kElements), kind, overlap);
                     }});
  };
  for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm}) {
    add.template operator()<Pattern::contiguous>(kind, false);
    add.template operator()<Pattern::stride>(kind, false);
    add.template operator()<Pattern::random>(kind, false);
  }
  add.template operator()<Pattern::random>(MachineKind::dmm, true);
  for (const bool overlap : {false, true}) {
    cases.push_back({fmt::format("tile kernel, bit reversal, n = 24 | hmm{}", overlap ? ", overlap" : ""),
                     [&in, &out, overlap] { return reverse_bits(in, out, overlap); }});
  }

  std::vector<MachineReport> reports(cases.size());
  std::vector<std::function<void()>> contestants;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    contestants.emplace_back([&, i] { reports[i] = cases[i].run(); });
  }
  const double load = load_average();
  const std::vector<Timing> timings =
      measure_alternating(contestants, {.budget_ms = 20000, .min_samples = 3, .max_samples = 21});

  fmt::print("| program | machine | accesses | ms | +- | million accesses / s | simulated time |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Timing& t = timings[i];
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {} |\n", cases[i].name, reports[i].accesses,
               t.median_ms, t.mad_ms, static_cast<double>(reports[i].accesses) / t.median_ms / 1e3,
               reports[i].time);
  }
  fmt::print("\n{}; one thread; load average before {:.1f}\n\nCommit {}; command `machine_bench`\n",
             machine_text(), load, FARO_COMMIT);
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
