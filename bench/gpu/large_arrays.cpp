#include "bench/gpu/large_arrays.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "bench/arguments.hpp"
#include "bench/gpu/contestants.hpp"
#include "bench/gpu/copy_kernels.hpp"
#include "faro/faro.hpp"

namespace faro::bench::gpu {
namespace {

constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostCalls = 16;
// It takes up to a hundred times as long as the others.
constexpr int kNaiveRounds = 3;

struct Work {
  const Options& options;
  std::uint64_t bytes;
  const Arena& arena;
  const cuda::StreamClock& clock;

  std::uint64_t calls() const {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(kSampleBytes / bytes, 1, kMostCalls);
    return std::min(wanted, arena.bytes() / bytes);
  }

  // A contestant that calls run(in, out, stream) on each slot.
  template <typename Run>
  Contestant contestant(std::string name, int rounds, const Run& run) const {
    return {.name = std::move(name),
            .queue =
                [this, run](Stream stream) {
                  for (std::uint64_t slot = 0; slot < calls(); ++slot) {
                    run(arena.in(slot, bytes), arena.out(slot, bytes), stream);
                  }
                },
            .calls = static_cast<int>(calls()),
            .rounds = rounds};
  }
};

Rows measure_map(const Work& work, const Affine& map, const std::string& spec, std::uint64_t element_bytes) {
  const Problem problem{.permutation = map, .element_bytes = element_bytes};
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
  const cuda::NaiveExecutor naive(problem);
  const std::uint64_t bytes = work.bytes;

  work.arena.poison(bytes);
  plan.run(work.arena.in(0, bytes), work.arena.out(0, bytes), bytes);
  work.arena.verify(problem);

  const int rounds = work.options.rounds;
  const std::vector<Contestant> contestants{
      work.contestant("faro", rounds,
                      [&](const std::byte* in, std::byte* out, Stream s) { plan.run(in, out, bytes, s); }),
      work.contestant("cudaMemcpy", rounds,
                      [&](const std::byte* in, std::byte* out, Stream s) { cuda::copy(in, out, bytes, s); }),
      work.contestant("vector copy", rounds,
                      [&](const std::byte* in, std::byte* out, Stream s) { vector_copy(in, out, bytes, s); }),
      work.contestant("scalar copy", rounds,
                      [&](const std::byte* in, std::byte* out, Stream s) {
                        scalar_copy(in, out, bytes, element_bytes, s);
                      }),
      work.contestant("naive", std::min(rounds, kNaiveRounds),
                      [&](const std::byte* in, std::byte* out, Stream s) { naive.run(in, out, s); })};
  const std::vector<Timing> timings = take_turns(work.clock, contestants);
  Rows rows;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    rows.push_back({.spec = spec,
                    .element_bytes = element_bytes,
                    .bytes = bytes,
                    .contestant = contestants[i].name,
                    .kernel = i == 0 ? kernel_text(plan.plan()) : "",
                    .timing = timings[i]});
  }
  return rows;
}

// Maps that need no tile: whole segments of 4 KiB and half of the array change places, and nothing does.
std::vector<NamedMap> maps_without_tile(int n, std::uint64_t element_bytes) {
  constexpr std::uint64_t kSegmentBytes = 4096;
  const int kept = std::countr_zero(kSegmentBytes / element_bytes);
  std::vector<NamedMap> maps;
  for (const Affine& map : {direct_sum(Affine(kept), maps::bit_reversal(n - kept)),
                            maps::xor_mask(n, f2::unit(n - 1)), maps::identity(n)}) {
    maps.push_back({.spec = to_text(Permutation(map)), .map = map});
  }
  return maps;
}

}  // namespace

Rows measure_large_arrays(const Options& options, std::uint64_t bytes, const Arena& arena) {
  const cuda::StreamClock clock;
  const Work work{options, bytes, arena, clock};
  Rows rows;
  for (const std::uint64_t element_bytes : options.widths) {
    const int n = std::countr_zero(bytes / element_bytes);
    std::vector<NamedMap> maps = make_maps(options.maps, n);
    const std::size_t tabled = maps.size();
    for (NamedMap& map : maps_without_tile(n, element_bytes)) maps.push_back(std::move(map));
    for (std::size_t i = 0; i < maps.size(); ++i) {
      Rows of_map = measure_map(work, maps[i].map, maps[i].spec, element_bytes);
      std::fprintf(stderr, "%s, %2d bytes  %-32s %9.4f ms  %5.1f%% of cudaMemcpy\n", size_text(bytes).c_str(),
                   static_cast<int>(element_bytes), maps[i].spec.c_str(), of_map[0].timing.median_ms,
                   100 * of_map[1].timing.median_ms / of_map[0].timing.median_ms);
      for (Row& row : of_map) {
        row.beside = i >= tabled;
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

}  // namespace faro::bench::gpu
