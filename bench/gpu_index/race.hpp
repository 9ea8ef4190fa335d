// What the benchmark's two tables share: random arrays on the device, contestants, and the race.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/runtime.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"

namespace faro::bench::gpu {

struct Contestant {
  std::string name;
  std::function<void(Stream)> queue;
};

/// Alternating rounds on the device's clock, in the order given. `repeats`: so many runs are captured into a
/// graph and timed together, so that launches of small kernels do not wait for the host.
inline std::vector<Timing> race(const std::vector<Contestant>& contestants, double budget_ms,
                                int repeats = 1) {
  const cuda::StreamClock clock;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<TimedRun> runs;
  for (const Contestant& contestant : contestants) {
    if (repeats == 1) {
      runs.push_back([&](int calls) { return clock.milliseconds(calls, contestant.queue); });
      continue;
    }
    graphs.push_back(std::make_unique<Graph>([&](Stream stream) {
      for (int i = 0; i < repeats; ++i) contestant.queue(stream);
    }));
    const Graph* const graph = graphs.back().get();
    runs.push_back([&clock, graph, repeats](int calls) {
      return clock.milliseconds(calls, [graph](Stream stream) { graph->launch(stream); }) / repeats;
    });
  }
  MeasureOptions options;
  options.budget_ms = budget_ms;
  options.min_samples = 5;
  options.min_sample_ms = 0.5;
  return measure_alternating(std::span<const TimedRun>(runs), options);
}

/// One size of the second table: every compiled kernel of every pass of one shape, by itself.
struct KernelsRequest {
  int count_bits = 28;
  std::uint64_t element_bytes = 4;
  int chunk_bits = 14;
  std::vector<int> level_bits;
};

/// Markdown rows: pass, kernel, milliseconds, GB/s of useful bytes and schedule, times a copy.
std::string kernels_table(const KernelsRequest& request, double budget_ms);

/// The third table: maps of about 2^bits elements, at most 2^31, named and as 32-bit index arrays on the
/// device, which are then recognised: times of both, and their ratio.
std::string recognised_table(int bits, const std::vector<std::uint64_t>& widths, double budget_ms);

}  // namespace faro::bench::gpu
