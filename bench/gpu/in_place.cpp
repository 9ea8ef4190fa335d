#include "bench/gpu/in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <utility>

#include "bench/arguments.hpp"
#include "bench/gpu/contestants.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "kernels/in_place_tiles.hpp"

namespace faro::bench::gpu {
namespace {

// Rows and columns change places; of an odd number of bits two such matrices, one behind the other.
Affine square_transpose(int n) {
  const std::uint64_t side = f2::unit(n / 2);
  return direct_sum(maps::transpose(side, side), Affine(n % 2));
}

Affine cnot(int n, int control, int target) {
  f2::Matrix a = f2::Matrix::identity(n);
  a.set_column(control, f2::unit(control) | f2::unit(target));
  return {a, 0};
}

std::vector<NamedMap> in_place_maps(const MapCounts& counts, int n) {
  std::vector<NamedMap> maps;
  const auto add = [&](std::string spec, Affine map) {
    maps.push_back({.spec = std::move(spec), .map = std::move(map)});
  };
  if (counts.bit_reversal > 0) add(fmt::format("bit_reversal({})", n), maps::bit_reversal(n));
  if (counts.transpose > 0) {
    add(n % 2 == 0 ? "square transpose" : "two square transposes", square_transpose(n));
    add(fmt::format("swap_bits({}, 0, {})", n, n - 1), maps::swap_bits(n, 0, n - 1));
    add(fmt::format("swap_bits({}, {}, {})", n, n - 2, n - 1), maps::swap_bits(n, n - 2, n - 1));
    add(fmt::format("reverse({})", n), maps::reverse(n));
    add(fmt::format("X on bit {}", n - 1), maps::xor_mask(n, f2::unit(n - 1)));
    add(fmt::format("CNOT from {} to 0", n - 1), cnot(n, n - 1, 0));
    add(fmt::format("CNOT from 0 to {}", n - 1), cnot(n, 0, n - 1));
  }
  MapCounts random = counts;
  random.bit_reversal = 0;
  random.transpose = 0;
  for (NamedMap& map : make_maps(random, n)) maps.push_back(std::move(map));
  return maps;
}

std::string text(const Plan& plan) {
  std::string kernels;
  for (const Pass& pass : plan.passes()) {
    if (!kernels.empty()) kernels += "; ";
    if (pass.launch->tile) {
      kernels += fmt::format("{}{}, {} x {} of {} bytes", pass.launch->tile->blocked ? "blocked " : "",
                             size_text(static_cast<std::uint64_t>(pass.launch->tile->shape.tile_bytes())),
                             pass.orbits->orbit_tiles, f2::unit(pass.tile.row_bits), pass.segment_bytes);
    } else {
      kernels += fmt::format("{} of {}", name(pass.kind), size_text(pass.segment_bytes));
    }
  }
  return fmt::format("{}: {}", plan.passes().size(), kernels);
}

Rows measure_map(const Options& options, const Arena& arena, const cuda::StreamClock& clock,
                 const NamedMap& map, const Problem& problem) {
  Target target = cuda::target();
  if (options.tile) target.tile = kernels::kInPlaceTiles[*options.tile];
  const Plan plan(problem, std::move(target));
  const cuda::Executor executor(plan);
  const std::uint64_t bytes = plan.array_bytes();
  const std::byte* const in = arena.in(0, bytes);
  std::byte* const data = arena.out(0, bytes);

  arena.poison(bytes);
  cuda::copy(in, data, bytes);
  executor.run(data);
  arena.verify(problem);

  const std::vector<Contestant> contestants{
      {.name = "faro", .queue = [&](Stream s) { executor.run(data, s); }, .rounds = options.rounds},
      {.name = "cudaMemcpy",
       .queue = [&](Stream s) { cuda::copy(in, data, bytes, s); },
       .rounds = options.rounds}};
  const std::vector<Timing> timings = take_turns(clock, contestants);
  Rows rows;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    rows.push_back({.spec = map.spec,
                    .element_bytes = problem.element_bytes,
                    .bytes = bytes,
                    .contestant = contestants[i].name,
                    .kernel = i == 0 ? text(plan) : "",
                    .timing = timings[i]});
  }
  return rows;
}

double share(const Rows& rows, std::size_t i) {
  return rows.at(i + 1).timing.median_ms / rows.at(i).timing.median_ms;
}

}  // namespace

Rows measure_in_place(const Options& options, std::uint64_t bytes, const Arena& arena) {
  const cuda::StreamClock clock;
  Rows rows;
  for (const std::uint64_t element_bytes : options.widths) {
    if (options.tile &&
        kernels::kInPlaceTiles[*options.tile].shape.width_bits != std::countr_zero(element_bytes)) {
      continue;
    }
    const int n = std::countr_zero(bytes / element_bytes);
    for (const NamedMap& map : in_place_maps(options.maps, n)) {
      const Problem problem{
          .permutation = map.map, .element_bytes = element_bytes, .placement = Placement::in_place};
      Rows of_map;
      try {
        of_map = measure_map(options, arena, clock, map, problem);
      } catch (const Error& error) {
        if (!options.tile || error.code() != ErrorCode::unsupported) throw;
        std::fprintf(stderr, "%2d bytes  %-28s %s\n", static_cast<int>(element_bytes), map.spec.c_str(),
                     error.what());
        continue;
      }
      std::fprintf(stderr, "%s, %2d bytes  %-28s %9.4f ms  %5.1f%% of cudaMemcpy  %s\n",
                   size_text(bytes).c_str(), static_cast<int>(element_bytes), map.spec.c_str(),
                   of_map[0].timing.median_ms, 100 * share(of_map, 0), of_map[0].kernel.c_str());
      rows.insert(rows.end(), of_map.begin(), of_map.end());
    }
  }
  return rows;
}

std::string in_place_table(const Rows& rows) {
  std::string table =
      "| element bytes | map | passes: kernels | ms | GB/s | share of cudaMemcpy | mad "
      "|\n|---|---|---|---|---|---|---|\n";
  std::map<std::pair<std::uint64_t, char>, std::vector<double>> groups;
  for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
    const Row& row = rows[i];
    groups[{row.element_bytes, row.kernel.front()}].push_back(share(rows, i));
    table += fmt::format("| {} | {} | {} | {:.4f} | {:.0f} | {:.1f}% | {:.1f}% |\n", row.element_bytes,
                         row.spec, row.kernel, row.timing.median_ms, gb_per_s(row), 100 * share(rows, i),
                         100 * row.timing.mad_ms / row.timing.median_ms);
  }
  table += "\n| element bytes | passes | maps | worst | median | best |\n|---|---|---|---|---|---|\n";
  for (const auto& [key, shares] : groups) {
    const auto [worst, best] = std::minmax_element(shares.begin(), shares.end());
    table += fmt::format("| {} | {} | {} | {:.1f}% | {:.1f}% | {:.1f}% |\n", key.first, key.second,
                         shares.size(), 100 * *worst, 100 * median(shares), 100 * *best);
  }
  return table;
}

}  // namespace faro::bench::gpu
