// A graph with two sides, as edge colouring takes it (edge_colouring.hpp).
#pragma once

#include <cstdint>
#include <span>

namespace faro::schedule {

/// Edge e joins left node left[e] and right node right[e]. Edges may be parallel.
struct BipartiteGraph {
  std::uint64_t left_nodes = 0;
  std::uint64_t right_nodes = 0;
  std::span<const std::uint32_t> left;
  std::span<const std::uint32_t> right;

  std::uint64_t edges() const { return left.size(); }
};

}  // namespace faro::schedule
