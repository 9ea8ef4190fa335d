#include "schedule/regular_graph.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "faro/error.hpp"

namespace faro::schedule {
namespace {

// Joined nodes of one side.
struct Joined {
  std::vector<std::uint32_t> node_of;  // given node -> joined node
  std::vector<std::uint64_t> degrees;  // of the joined ones
};

Joined join_nodes(const std::vector<std::uint32_t>& degrees, std::uint64_t most) {
  Joined joined{.node_of = std::vector<std::uint32_t>(degrees.size()), .degrees = {}};
  for (std::size_t node = 0; node < degrees.size(); ++node) {
    if (joined.degrees.empty() || joined.degrees.back() + degrees[node] > most) joined.degrees.push_back(0);
    joined.degrees.back() += degrees[node];
    joined.node_of[node] = static_cast<std::uint32_t>(joined.degrees.size() - 1);
  }
  return joined;
}

// Lists the given edges in the order of their right nodes, each with its left node in place of the right.
void sort_by_right(const BipartiteGraph& graph, const std::vector<std::uint32_t>& left_node_of,
                   const std::vector<std::uint32_t>& degrees, ListedEdge* out) {
  std::vector<std::uint32_t> place(degrees.size());  // of the next edge of each node
  std::exclusive_scan(degrees.begin(), degrees.end(), place.begin(), std::uint32_t{0});
  for (std::uint64_t e = 0; e < graph.edges(); ++e) {
    out[place[graph.right[e]]++] = {left_node_of[graph.left[e]], static_cast<std::uint32_t>(e)};
  }
}

void check_size(std::uint64_t nodes, std::uint64_t degree) {
  // The matching adds an edge a node.
  if (nodes <= kMostEdges / (degree + 1)) return;
  fail(ErrorCode::value, "colour edges", std::to_string(nodes) + " nodes of degree " + std::to_string(degree),
       "fewer than 2^32 - 16 edges, and one a node to spare");
}

}  // namespace

std::vector<std::uint32_t> degrees_of(std::uint64_t nodes, std::span<const std::uint32_t> ends) {
  std::vector<std::uint32_t> degrees(nodes);
  for (const std::uint32_t node : ends) ++degrees[node];
  return degrees;
}

RegularGraph make_regular(const BipartiteGraph& graph) {
  const std::vector<std::uint32_t> left_degrees = degrees_of(graph.left_nodes, graph.left);
  const std::vector<std::uint32_t> right_degrees = degrees_of(graph.right_nodes, graph.right);
  const std::uint64_t degree = std::max(*std::max_element(left_degrees.begin(), left_degrees.end()),
                                        *std::max_element(right_degrees.begin(), right_degrees.end()));
  Joined left = join_nodes(left_degrees, degree);
  Joined right = join_nodes(right_degrees, degree);
  const std::uint64_t nodes = std::max(left.degrees.size(), right.degrees.size());
  check_size(nodes, degree);
  left.degrees.resize(nodes);
  right.degrees.resize(nodes);

  RegularGraph regular{.nodes = nodes,
                       .degree = degree,
                       .left_node_of = std::move(left.node_of),
                       .right_node_of = std::move(right.node_of)};
  regular.edges = std::make_unique_for_overwrite<ListedEdge[]>(nodes * degree);
  regular.scratch = std::make_unique_for_overwrite<ListedEdge[]>(nodes * degree);
  std::vector<std::uint64_t> end(nodes);  // of what is listed for each left node
  for (std::uint64_t node = 0; node < nodes; ++node) end[node] = node * degree;
  const auto list = [&](std::uint32_t left_node, std::uint32_t right_node, std::uint64_t id) {
    regular.edges[end[left_node]++] = {right_node, static_cast<std::uint32_t>(id)};
  };
  sort_by_right(graph, regular.left_node_of, right_degrees, regular.scratch.get());
  const ListedEdge* given = regular.scratch.get();
  for (std::uint64_t node = 0; node < right_degrees.size(); ++node) {
    for (std::uint32_t i = 0; i < right_degrees[node]; ++i, ++given) {
      list(given->right, regular.right_node_of[node], given->id);
    }
  }
  std::uint32_t right_node = 0;
  std::uint64_t id = graph.edges();
  for (std::uint32_t left_node = 0; left_node < nodes; ++left_node) {
    while (left.degrees[left_node] < degree) {
      while (right.degrees[right_node] == degree) ++right_node;
      list(left_node, right_node, id++);
      ++left.degrees[left_node];
      ++right.degrees[right_node];
    }
  }
  FARO_CHECK(id == regular.edge_count());
  return regular;
}

}  // namespace faro::schedule
