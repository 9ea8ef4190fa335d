#include "bench/gpu/small_arrays.hpp"

#include <bit>
#include <cstdio>

#include "bench/arguments.hpp"
#include "bench/gpu/contestants.hpp"
#include "bench/gpu/copy_kernels.hpp"
#include "bench/gpu/runtime.hpp"
#include "faro/faro.hpp"

namespace faro::bench::gpu {
namespace {

// A graph that calls run(in, out, stream) on each of the arena's first slots.
template <typename Run>
Graph graph_of(const Arena& arena, std::uint64_t bytes, const Run& run) {
  return Graph([&](Stream stream) {
    for (std::uint64_t slot = 0; slot < kGraphCalls; ++slot) {
      run(arena.in(slot, bytes), arena.out(slot, bytes), stream);
    }
  });
}

}  // namespace

Rows measure_small_arrays(const Options& options, std::uint64_t bytes, const Arena& arena) {
  const cuda::StreamClock clock;
  const Graph memcpy_graph = graph_of(arena, bytes, [&](const std::byte* in, std::byte* out, Stream stream) {
    cuda::copy(in, out, bytes, stream);
  });
  const Graph copy_graph = graph_of(arena, bytes, [&](const std::byte* in, std::byte* out, Stream stream) {
    vector_copy(in, out, bytes, stream);
  });
  Rows rows;
  for (const std::uint64_t element_bytes : options.widths) {
    for (const NamedMap& map : make_maps(options.maps, std::countr_zero(bytes / element_bytes))) {
      Problem problem{.permutation = map.map, .element_bytes = element_bytes};
      const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
      const Graph faro_graph = graph_of(
          arena, bytes,
          [&](const std::byte* in, std::byte* out, Stream stream) { plan.run(in, out, bytes, stream); });
      arena.poison(bytes * kGraphCalls);
      faro_graph.launch({});
      problem.batch = kGraphCalls;  // the slots follow one another
      arena.verify(problem);

      const auto contestant = [&](const char* name, const Graph& graph) {
        return Contestant{.name = name,
                          .queue = [&graph](Stream stream) { graph.launch(stream); },
                          .calls = kGraphCalls,
                          .rounds = options.rounds};
      };
      const std::vector<Contestant> contestants{contestant("faro", faro_graph),
                                                contestant("cudaMemcpy", memcpy_graph),
                                                contestant("vector copy", copy_graph)};
      const std::vector<Timing> timings = take_turns(clock, contestants);
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        rows.push_back({.spec = map.spec,
                        .element_bytes = element_bytes,
                        .bytes = bytes,
                        .contestant = contestants[i].name,
                        .kernel = i == 0 ? kernel_text(plan.plan()) : "",
                        .timing = timings[i]});
      }
    }
    std::fprintf(stderr, "%s, %2d bytes\n", size_text(bytes).c_str(), static_cast<int>(element_bytes));
  }
  return rows;
}

}  // namespace faro::bench::gpu
