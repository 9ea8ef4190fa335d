#include "schedule/euler_split.hpp"

#include <algorithm>

#include "faro/error.hpp"

namespace faro::schedule {

EulerSplitter::EulerSplitter(std::uint64_t right_nodes, std::uint64_t edges)
    : waiting_(right_nodes),
      steps_(std::make_unique_for_overwrite<std::uint32_t[]>(edges + 1)),
      most_edges_(edges) {
  FARO_CHECK(edges <= kMostEdges);
}

void EulerSplitter::find_mates(std::span<const ListedEdge> edges) {
  // What the place past the last is told is never read. No branch, for it would be taken by chance.
  const auto nobody = static_cast<std::uint32_t>(edges.size());
  std::fill(waiting_.begin(), waiting_.end(), nobody);
  std::uint32_t* const waiting = waiting_.data();
  std::uint32_t* const mate = steps_.get();
  for (std::uint32_t place = 0; place < nobody; ++place) {
    const std::uint32_t right = edges[place].right;
    const std::uint32_t other = waiting[right];
    mate[place] = other;
    mate[other] = place;
    waiting[right] = other == nobody ? place : nobody;
  }
}

void EulerSplitter::choose(std::span<const ListedEdge> edges) {
  FARO_CHECK(edges.size() % 2 == 0 && edges.size() <= most_edges_);
  find_mates(edges);
  std::uint32_t* const steps = steps_.get();
  for (std::size_t begin = 0; begin < edges.size(); begin += 2) {
    for (auto place = static_cast<std::uint32_t>(begin); steps[place] < kFirst;) {
      const std::uint32_t next = steps[place ^ 1];
      steps[place] = steps[place ^ 1] = kFirst + (place & 1);
      place = next;
    }
  }
}

void EulerSplitter::split(std::span<const ListedEdge> edges, std::span<ListedEdge> out) {
  FARO_CHECK(out.size() == edges.size());
  choose(edges);
  const std::size_t pairs = edges.size() / 2;
  ListedEdge* const first = out.data();
  ListedEdge* const second = first + pairs;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::uint32_t chosen = choice(i);
    first[i] = edges[2 * i + chosen];
    second[i] = edges[2 * i + 1 - chosen];
  }
}

}  // namespace faro::schedule
