#include "bench/gpu/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <utility>

#include "bench/arguments.hpp"
#include "bench/gpu/contestants.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"

namespace faro::bench::gpu {
namespace {

using emit::Rung;

constexpr int kNaiveRounds = 3;  // it takes up to a hundred times as long as the others

// One rung: its kernels, one after the other.
struct Chain {
  std::string name;
  std::size_t first = 0;  // among the map's kernels
  std::size_t count = 1;
};

struct Chains {
  std::vector<Chain> chains;
  std::vector<emit::Source> sources;

  // Nothing where the rung cannot do the factors.
  void add(std::string name, Rung rung, const std::vector<Affine>& factors, const std::string& element) {
    std::vector<emit::Source> own;
    try {
      for (const Affine& factor : factors) {
        own.push_back(emit::emit(factor, {.rung = rung,
                                          .element = element,
                                          .name = fmt::format("kernel_{}", sources.size() + own.size())}));
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unsupported) return;
      throw;
    }
    chains.push_back({.name = std::move(name), .first = sources.size(), .count = own.size()});
    for (emit::Source& source : own) sources.push_back(std::move(source));
  }
};

// A = (U R)(R L P): two tiled maps, the right one first.
std::vector<Affine> factors_of(const Affine& map) {
  const f2::UlpFactors factors = f2::factor_ulp(map.matrix());
  const f2::Matrix reversal = f2::reversal(map.bits());
  return {Affine(reversal * factors.lower * factors.permutation, 0),
          Affine(factors.upper * reversal, map.complement())};
}

Chains chains_of(const Affine& map, const std::string& element) {
  Chains all;
  for (const Rung rung :
       {Rung::naive, Rung::tile, Rung::banks, Rung::iters, Rung::two_pass, Rung::one_pass}) {
    const std::size_t before = all.chains.size();
    all.add(emit::name(rung), rung, {map}, element);
    const bool twice = rung == Rung::tile || rung == Rung::banks;
    if (twice && all.chains.size() == before)
      all.add(fmt::format("{} x 2", emit::name(rung)), rung, factors_of(map), element);
  }
  return all;
}

std::vector<NamedMap> ladder_maps(const MapCounts& counts, int n) {
  std::vector<NamedMap> maps = make_maps(counts, n);
  const auto first_random = std::find_if(maps.begin(), maps.end(),
                                         [](const NamedMap& map) { return map.spec.starts_with("random_"); });
  std::vector<NamedMap> bp;
  for (int seed = 1; seed <= counts.random_bpc; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    bp.push_back({.spec = fmt::format("random_bp({}, {})", n, seed), .map = maps::random_bp(n, number)});
  }
  maps.insert(first_random, bp.begin(), bp.end());
  return maps;
}

struct Work {
  const Options& options;
  std::uint64_t bytes;
  const Arena& arena;
  const cuda::DeviceArray& workspace;
  const cuda::StreamClock& clock;

  void run(const std::vector<cuda::EmittedExecutor>& kernels, const Chain& chain, Stream stream) const {
    const std::byte* const in = arena.in(0, bytes);
    std::byte* const out = arena.out(0, bytes);
    if (chain.count == 1) return kernels[chain.first].run(in, out, workspace.data(), stream);
    kernels[chain.first].run(in, workspace.data(), nullptr, stream);
    kernels[chain.first + 1].run(workspace.data(), out, nullptr, stream);
  }
};

Rows measure_map(const Work& work, const NamedMap& map, std::uint64_t element_bytes) {
  constexpr std::array kElements{"uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint4"};
  const Problem problem{.permutation = map.map, .element_bytes = element_bytes};
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
  Chains chains = chains_of(map.map, kElements[static_cast<std::size_t>(std::countr_zero(element_bytes))]);
  const std::vector<cuda::EmittedExecutor> kernels = cuda::make_emitted_executors(std::move(chains.sources));

  const std::byte* const in = work.arena.in(0, work.bytes);
  std::byte* const out = work.arena.out(0, work.bytes);
  const int rounds = work.options.rounds;
  std::vector<Contestant> contestants{
      {.name = "faro", .queue = [&](Stream s) { plan.run(in, out, work.bytes, s); }, .rounds = rounds},
      {.name = "cudaMemcpy",
       .queue = [&](Stream s) { cuda::copy(in, out, work.bytes, s); },
       .rounds = rounds}};
  for (const Chain& chain : chains.chains) {
    work.arena.poison(work.bytes);
    work.run(kernels, chain, {});
    work.arena.verify(problem);
    contestants.push_back({.name = chain.name,
                           .queue = [&](Stream s) { work.run(kernels, chain, s); },
                           .rounds = chain.name == "naive" ? std::min(rounds, kNaiveRounds) : rounds});
  }
  const std::vector<Timing> timings = take_turns(work.clock, contestants);
  Rows rows;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    rows.push_back({.spec = map.spec,
                    .element_bytes = element_bytes,
                    .bytes = work.bytes,
                    .contestant = contestants[i].name,
                    .kernel = i == 0 ? kernel_text(plan.plan()) : "",
                    .timing = timings[i]});
  }
  return rows;
}

// --- the table

struct Cell {
  std::vector<double> shares;
  std::vector<double> ms;
  double scatter = 0;  // the largest mad of a map, of its median
};

std::string family_of(const Row& row) { return row.spec.substr(0, row.spec.find('(')); }

}  // namespace

Rows measure_ladder(const Options& options, std::uint64_t bytes, const Arena& arena) {
  const cuda::StreamClock clock;
  const cuda::DeviceArray workspace(bytes);
  const Work work{options, bytes, arena, workspace, clock};
  Rows rows;
  for (const std::uint64_t element_bytes : options.widths) {
    for (const NamedMap& map : ladder_maps(options.maps, std::countr_zero(bytes / element_bytes))) {
      const Rows of_map = measure_map(work, map, element_bytes);
      std::fprintf(stderr, "%s, %2d bytes  %-24s", size_text(bytes).c_str(), static_cast<int>(element_bytes),
                   map.spec.c_str());
      for (const Row& row : of_map) {
        std::fprintf(stderr, "  %s %.1f%%", row.contestant.c_str(),
                     100 * of_map[1].timing.median_ms / row.timing.median_ms);
      }
      std::fputc('\n', stderr);
      rows.insert(rows.end(), of_map.begin(), of_map.end());
    }
  }
  return rows;
}

std::string ladder_table(const Rows& rows) {
  std::vector<std::string> order;  // of the lines, as they come
  std::map<std::string, Cell> cells;
  double copy_ms = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (row.contestant == "faro") copy_ms = rows.at(i + 1).timing.median_ms;
    const std::string line =
        fmt::format("| {} | {} | {} |", row.element_bytes, family_of(row), row.contestant);
    if (!cells.contains(line)) order.push_back(line);
    Cell& cell = cells[line];
    cell.shares.push_back(copy_ms / row.timing.median_ms);
    cell.ms.push_back(row.timing.median_ms);
    cell.scatter = std::max(cell.scatter, row.timing.mad_ms / row.timing.median_ms);
  }
  std::string table =
      "| element bytes | family | kernel | maps | share of cudaMemcpy, median map | worst map | best map | "
      "ms, median "
      "map | mad of a map, at most |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const std::string& line : order) {
    const Cell& cell = cells.at(line);
    table += fmt::format(
        "{} {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.4f} | {:.1f}% |\n", line, cell.ms.size(),
        100 * median(cell.shares), 100 * *std::min_element(cell.shares.begin(), cell.shares.end()),
        100 * *std::max_element(cell.shares.begin(), cell.shares.end()), median(cell.ms), 100 * cell.scatter);
  }
  return table;
}

}  // namespace faro::bench::gpu
