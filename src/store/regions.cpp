#include "store/regions.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "size_text.hpp"
#include "store/scratch.hpp"

namespace faro::store {
namespace {

constexpr std::uint64_t kMostCandidates = std::uint64_t{1} << 15;
constexpr std::size_t kMostOfPairs = 160;  // candidates of each side that are tried with each other's

// What a region may be along one axis: multiples of `unit`, among them those that end where `other` does.
std::vector<std::uint64_t> lengths(std::uint64_t extent, std::uint64_t unit, std::uint64_t other) {
  std::vector<std::uint64_t> found;
  const auto multiples = [&](std::uint64_t first) {
    for (std::uint64_t length = first; length < extent; length *= 2) found.push_back(length);
  };
  multiples(unit);
  const std::uint64_t common = std::gcd(unit, other);
  if (unit / common < detail::ceil_div(extent, other)) multiples(unit / common * other);
  found.push_back(detail::round_up(extent, unit));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Every other one is left out, but for the first and the last.
void thin(std::vector<std::uint64_t>& lengths) {
  std::vector<std::uint64_t> kept;
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    if (l % 2 == 0 || l + 1 == lengths.size()) kept.push_back(lengths[l]);
  }
  lengths = std::move(kept);
}

std::uint64_t region_bytes(const Shape& region, const Relaid& work) {
  // Regions may be longer than the array by a part of a unit.
  double bytes = static_cast<double>(work.element_bytes);
  Shape cut = region;
  for (std::size_t a = 0; a < cut.size(); ++a) {
    cut[a] = std::min(cut[a], work.shape[a]);
    bytes *= static_cast<double>(cut[a]);
  }
  if (bytes > 9e18) return std::numeric_limits<std::uint64_t>::max() / 2;
  return volume(cut) * work.element_bytes;
}

// Regions that the memory holds, of units of the one side and aligned with the other's where that may help.
std::vector<Shape> regions_that_fit(const Relaid& work, const Shape& unit, const Shape& other,
                                    std::uint64_t memory_bytes) {
  const std::size_t rank = work.shape.size();
  std::vector<std::vector<std::uint64_t>> options(rank);
  for (std::size_t a = 0; a < rank; ++a) options[a] = lengths(work.shape[a], unit[a], other[a]);
  const auto combinations = [&] {
    double product = 1;
    for (const auto& each : options) product *= static_cast<double>(each.size());
    return product;
  };
  while (combinations() > static_cast<double>(kMostCandidates)) {
    auto& longest = *std::max_element(options.begin(), options.end(),
                                      [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (longest.size() <= 2) break;
    thin(longest);
  }
  Shape counts(rank);
  for (std::size_t a = 0; a < rank; ++a) counts[a] = options[a].size();
  std::vector<Shape> found;
  Shape step(rank, 0);
  std::uint64_t tried = 0;
  do {
    Shape region(rank);
    for (std::size_t a = 0; a < rank; ++a) region[a] = options[a][step[a]];
    if (region_bytes(region, work) <= memory_bytes) found.push_back(std::move(region));
  } while (++tried < 4 * kMostCandidates && advance(step, counts));
  return found;
}

// The source's unit, along the output's axes.
Shape source_unit(const Relaid& work) { return work.axes.extents(work.source.unit()); }

// What a thread needs beside the region.
std::uint64_t workspace_bytes(const Relaid& work, const Shape& region) {
  return work.source.workspace_bytes(work.axes.extents_back(region)) + work.sink.workspace_bytes(region);
}

std::optional<Regions> cheapest_direct(const Relaid& work, std::uint64_t memory_bytes, int threads) {
  std::optional<Regions> best;
  for (const Shape& region : regions_that_fit(work, work.sink.unit(), source_unit(work), memory_bytes)) {
    const std::uint64_t bytes = region_bytes(region, work);
    if (bytes + static_cast<std::uint64_t>(threads) * workspace_bytes(work, region) > memory_bytes) continue;
    const Cost cost = work.source.cost(work.axes.extents_back(region)) + work.sink.cost(region);
    const bool is_better =
        !best || cost < 0.999 * best->cost || (cost < 1.001 * best->cost && bytes < best->bytes);
    if (is_better) best = Regions{.extents = region, .cost = cost, .bytes = bytes};
  }
  return best;
}

// The candidates that cost least by themselves, the larger ones of them first.
std::vector<Shape> best_of(std::vector<Shape> regions, const std::function<Cost(const Shape&)>& cost,
                           const Relaid& work) {
  std::vector<std::pair<std::pair<Cost, double>, std::size_t>> order;
  for (std::size_t r = 0; r < regions.size(); ++r)
    order.push_back({{cost(regions[r]), -static_cast<double>(region_bytes(regions[r], work))}, r});
  std::sort(order.begin(), order.end());
  std::vector<Shape> best;
  for (std::size_t o = 0; o < std::min(order.size(), kMostOfPairs); ++o)
    best.push_back(regions[order[o].second]);
  return best;
}

struct Distribution {
  ScratchRegions regions;
  Cost cost = 0;
  std::uint64_t bytes = 0;
};

std::optional<Distribution> cheapest_distribution(const Relaid& work, std::uint64_t memory_bytes,
                                                  int threads) {
  const auto team = static_cast<std::uint64_t>(threads);
  const Shape in_unit = source_unit(work);
  const Shape out_unit = work.sink.unit();
  const auto in_cost = [&](const Shape& region) { return work.source.cost(work.axes.extents_back(region)); };
  const auto out_cost = [&](const Shape& region) { return work.sink.cost(region); };
  const auto written = best_of(regions_that_fit(work, in_unit, out_unit, memory_bytes), in_cost, work);
  const auto read = best_of(regions_that_fit(work, out_unit, in_unit, memory_bytes), out_cost, work);
  std::optional<Distribution> best;
  for (const Shape& w : written) {
    const std::uint64_t first =
        region_bytes(w, work) + team * work.source.workspace_bytes(work.axes.extents_back(w));
    if (first > memory_bytes) continue;
    for (const Shape& r : read) {
      Shape piece = w;
      for (std::size_t a = 0; a < piece.size(); ++a) piece[a] = std::min(w[a], r[a]);
      const std::uint64_t pieces = team * region_bytes(piece, work);
      const std::uint64_t second = region_bytes(r, work) + team * work.sink.workspace_bytes(r);
      const std::uint64_t bytes = std::max(first, second) + pieces;
      if (bytes > memory_bytes) continue;
      const Cost cost =
          in_cost(w) + out_cost(r) +
          scratch_cost({.shape = work.shape, .element_bytes = work.element_bytes, .written = w, .read = r});
      if (!best || cost < best->cost) best = Distribution{{w, r}, cost, bytes};
    }
  }
  return best;
}

}  // namespace

Way choose_way(const Relaid& work, std::uint64_t memory_bytes, int threads, const std::string& operation) {
  if (is_empty(work.shape))
    return {.direct = {.extents = work.sink.unit()}, .scratch = std::nullopt, .threads = 1};
  // Fewer threads where their buffers would leave little for a region.
  for (int team = threads; team >= 1; team /= 2) {
    const std::uint64_t beside = static_cast<std::uint64_t>(team) * workspace_bytes(work, work.sink.unit());
    if (team > 1 && beside > memory_bytes / 2) continue;
    const auto direct = cheapest_direct(work, memory_bytes, team);
    const auto distribution = cheapest_distribution(work, memory_bytes, team);
    if (!direct && !distribution) continue;
    if (direct && (!distribution || direct->cost <= distribution->cost)) {
      const std::uint64_t all =
          direct->bytes + static_cast<std::uint64_t>(team) * workspace_bytes(work, direct->extents);
      return {.direct = *direct,
              .scratch = std::nullopt,
              .threads = team,
              .cost = direct->cost,
              .memory_bytes = all};
    }
    return {.direct = {},
            .scratch = distribution->regions,
            .threads = team,
            .cost = distribution->cost,
            .memory_bytes = distribution->bytes};
  }
  const Shape least = work.sink.unit();
  const std::uint64_t needed = region_bytes(least, work) + workspace_bytes(work, least);
  fail(ErrorCode::value, operation, size_text(memory_bytes) + " of memory",
       "at least the " + size_text(needed) + " for a chunk of each side", "--memory, or smaller chunks");
}

}  // namespace faro::store
