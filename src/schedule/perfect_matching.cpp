#include "schedule/perfect_matching.hpp"

#include <bit>

#include "faro/error.hpp"

namespace faro::schedule {
namespace {

constexpr std::uint32_t kFalse = 0xffff'ffff;  // in the place of an edge's place

struct WeightedEdge {
  std::uint32_t right;
  std::uint32_t weight;
  std::uint32_t place;
};

// Deals out the edges of odd weight. Returns the half with fewer false ones: 0 the first, 1 the second.
std::uint32_t deal_odd_edges(const std::vector<WeightedEdge>& edges, std::vector<ListedEdge>& odd,
                             EulerSplitter& splitter) {
  odd.clear();
  for (const WeightedEdge& edge : edges) {
    if (edge.weight % 2 == 1) odd.push_back({edge.right, edge.place});
  }
  splitter.choose(odd);
  std::int64_t more_in_first = 0;  // false edges
  for (std::size_t i = 0; i < odd.size(); ++i) {
    if (odd[i].id == kFalse) more_in_first += splitter.choice(i / 2) == i % 2 ? 1 : -1;
  }
  return more_in_first > 0 ? 1 : 0;
}

// Keeps one half of what was dealt out, without the edges of weight 0.
void keep_half(std::vector<WeightedEdge>& edges, std::uint32_t half, const EulerSplitter& splitter) {
  std::size_t kept = 0;
  std::size_t odd = 0;
  for (const WeightedEdge& edge : edges) {
    std::uint32_t weight = edge.weight / 2;
    if (edge.weight % 2 == 1) {
      const std::uint32_t goes_to = splitter.choice(odd / 2) == odd % 2 ? 0 : 1;
      weight += goes_to == half ? 1 : 0;
      ++odd;
    }
    edges[kept] = {edge.right, weight, edge.place};
    kept += weight != 0 ? 1 : 0;
  }
  edges.resize(kept);
}

}  // namespace

std::vector<std::uint32_t> perfect_matching(std::span<const ListedEdge> edges, std::uint64_t degree,
                                            EulerSplitter& splitter) {
  const std::uint64_t nodes = edges.size() / degree;
  const std::uint64_t total = std::bit_ceil(edges.size());  // 2^t
  const auto weight = static_cast<std::uint32_t>(total / degree);
  const auto false_weight = static_cast<std::uint32_t>(total % degree);
  std::vector<WeightedEdge> weighted;
  weighted.reserve(edges.size() + nodes);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    for (std::uint64_t place = node * degree; place < (node + 1) * degree; ++place) {
      weighted.push_back({edges[place].right, weight, static_cast<std::uint32_t>(place)});
    }
    if (false_weight > 0) weighted.push_back({static_cast<std::uint32_t>(node), false_weight, kFalse});
  }
  std::vector<ListedEdge> odd;
  odd.reserve(weighted.size());
  for (std::uint64_t sum = total; sum > 1; sum /= 2) {
    keep_half(weighted, deal_odd_edges(weighted, odd, splitter), splitter);
  }
  FARO_CHECK(weighted.size() == nodes);
  std::vector<std::uint32_t> matching(nodes);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    FARO_CHECK(weighted[node].place / degree == node);
    matching[node] = weighted[node].place;
  }
  return matching;
}

}  // namespace faro::schedule
