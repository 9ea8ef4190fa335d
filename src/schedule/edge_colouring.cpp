#include "schedule/edge_colouring.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "faro/error.hpp"
#include "schedule/euler_split.hpp"
#include "schedule/perfect_matching.hpp"
#include "schedule/regular_graph.hpp"

namespace faro::schedule {
namespace {

void check_ends(std::span<const std::uint32_t> ends, std::uint64_t nodes, const std::string& side) {
  for (std::size_t e = 0; e < ends.size(); ++e) {
    if (ends[e] >= nodes) {
      fail(ErrorCode::value, "colour edges",
           side + " node " + std::to_string(ends[e]) + " at edge " + std::to_string(e),
           "a node below " + std::to_string(nodes));
    }
  }
}

void check_graph(const BipartiteGraph& graph) {
  if (graph.left.size() != graph.right.size()) {
    fail(
        ErrorCode::value, "colour edges",
        std::to_string(graph.left.size()) + " left and " + std::to_string(graph.right.size()) + " right ends",
        "one of each for every edge");
  }
  for (const std::uint64_t nodes : {graph.left_nodes, graph.right_nodes}) {
    if (nodes > kMostEdges)
      fail(ErrorCode::value, "colour edges", std::to_string(nodes) + " nodes a side", "fewer than 2^32 - 16");
  }
  if (graph.edges() > kMostEdges)
    fail(ErrorCode::value, "colour edges", std::to_string(graph.edges()) + " edges", "fewer than 2^32 - 16");
  check_ends(graph.left, graph.left_nodes, "left");
  check_ends(graph.right, graph.right_nodes, "right");
}

void check_degrees(std::span<const std::uint32_t> ends, std::uint64_t nodes, std::uint32_t degree,
                   const std::string& side) {
  const std::vector<std::uint32_t> degrees = degrees_of(nodes, ends);
  for (std::uint64_t node = 0; node < nodes; ++node) {
    if (degrees[node] != degree) {
      fail(ErrorCode::value, "colour edges",
           side + " node " + std::to_string(node) + " of degree " + std::to_string(degrees[node]),
           "a regular graph: degree " + std::to_string(degree) + " as left node 0");
    }
  }
}

// Colours regular graphs. The edges of the graph at hand lie at some places of one of two lists, the other
// list is free there, and in the end the same places of the first list hold the colour classes:
//
//     before   [ node 0's edges | node 1's edges | … ]      after   [ class 0 | class 1 | … ]
//                degree of them each                                  an edge for every left node each
class Colourer {
 public:
  explicit Colourer(RegularGraph& graph)
      : nodes_(graph.nodes),
        first_(graph.edges.get()),
        second_(graph.scratch.get()),
        splitter_(nodes_, graph.edge_count() + nodes_) {}

  /// The graph of `degree` whose edges are at `begin` of list `in`.
  void colour(ListedEdge* in, std::uint64_t begin, std::uint64_t degree) {
    if (degree % 2 == 1) {
      set_matching_aside(in + begin, begin, degree);
      --degree;
    }
    if (degree == 0) return;
    ListedEdge* const other = in == first_ ? second_ : first_;
    const std::uint64_t half = degree / 2;
    const std::uint64_t middle = begin + half * nodes_;
    splitter_.split({in + begin, degree * nodes_}, {other + begin, degree * nodes_});
    colour(other, begin, half);
    // So many classes of one half make the other's degree a power of two.
    const std::uint64_t lent = std::bit_ceil(half) - half;
    if (lent == 0) return colour(other, middle, half);
    add_classes(other, middle, half, lent);
    colour(in, middle - lent * nodes_, half + lent);
  }

 private:
  // Makes one graph of the `lent` classes before place `begin` and the graph that begins there in list
  // `from`. It goes to the other list, and begins where the classes begin.
  void add_classes(ListedEdge* from, std::uint64_t begin, std::uint64_t degree, std::uint64_t lent) {
    const std::uint64_t joined = begin - lent * nodes_;
    // Off the list that is written to.
    if (from != first_) std::copy(first_ + joined, first_ + begin, second_ + joined);
    const ListedEdge* const classes = from + joined;
    ListedEdge* to = (from == first_ ? second_ : first_) + joined;
    for (std::uint64_t node = 0; node < nodes_; ++node) {
      for (std::uint64_t c = 0; c < lent; ++c) *to++ = classes[c * nodes_ + node];
      to = std::copy_n(from + begin + node * degree, degree, to);
    }
  }

  // Moves one perfect matching to the last class, and closes the gaps in the list.
  void set_matching_aside(ListedEdge* list, std::uint64_t begin, std::uint64_t degree) {
    ListedEdge* const last_class = first_ + begin + (degree - 1) * nodes_;
    if (degree == 1) {
      if (list != last_class) std::copy_n(list, nodes_, last_class);
      return;
    }
    const std::vector<std::uint32_t> places = perfect_matching({list, degree * nodes_}, degree, splitter_);
    std::vector<ListedEdge> matching;
    matching.reserve(nodes_);
    ListedEdge* to = list;
    for (std::uint64_t node = 0; node < nodes_; ++node) {
      ListedEdge* const place = list + places[node];
      matching.push_back(*place);
      to = std::copy(list + node * degree, place, to);
      to = std::copy(place + 1, list + (node + 1) * degree, to);
    }
    std::copy(matching.begin(), matching.end(), last_class);
  }

  std::uint64_t nodes_;
  ListedEdge* first_;
  ListedEdge* second_;
  EulerSplitter splitter_;
};

constexpr std::uint32_t kNoEdge = 0xffff'ffff;

// Colours by the classes that graph.edges holds.
EdgeColouring read_classes(const RegularGraph& graph, std::uint64_t edges) {
  EdgeColouring colouring{.colours = static_cast<std::uint32_t>(graph.degree),
                          .colour = std::vector<std::uint32_t>(edges, kNoEdge)};
  const ListedEdge* edge = graph.edges.get();
  for (std::uint32_t colour = 0; colour < colouring.colours; ++colour) {
    for (std::uint64_t node = 0; node < graph.nodes; ++node, ++edge) {
      if (edge->id < edges) colouring.colour[edge->id] = colour;
    }
  }
  return colouring;
}

// Holds the colours against the ends as they were given: no node twice in a colour. Joined nodes serve for
// the given ones, since one given node is never two of them.
void check_colours(std::span<const std::uint32_t> ends, const std::vector<std::uint32_t>& node_of,
                   std::uint64_t nodes, const EdgeColouring& colouring) {
  std::vector<std::uint64_t> seen(colouring.colours * nodes / 64 + 1);
  for (std::size_t e = 0; e < ends.size(); ++e) {
    FARO_CHECK(colouring.colour[e] < colouring.colours);
    const std::uint64_t bit = colouring.colour[e] * nodes + node_of[ends[e]];
    FARO_CHECK((seen[bit / 64] >> bit % 64 & 1) == 0);
    seen[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
}

EdgeColouring colour_checked(const BipartiteGraph& graph) {
  if (graph.edges() == 0) return {};
  RegularGraph regular = make_regular(graph);
  Colourer(regular).colour(regular.edges.get(), 0, regular.degree);
  EdgeColouring colouring = read_classes(regular, graph.edges());
  check_colours(graph.left, regular.left_node_of, regular.nodes, colouring);
  check_colours(graph.right, regular.right_node_of, regular.nodes, colouring);
  return colouring;
}

}  // namespace

EdgeColouring colour_edges(const BipartiteGraph& graph) {
  check_graph(graph);
  return colour_checked(graph);
}

EdgeColouring colour_regular_edges(const BipartiteGraph& graph) {
  check_graph(graph);
  if (graph.left_nodes > 0) {
    const auto degree =
        static_cast<std::uint32_t>(std::count(graph.left.begin(), graph.left.end(), std::uint32_t{0}));
    check_degrees(graph.left, graph.left_nodes, degree, "left");
    check_degrees(graph.right, graph.right_nodes, degree, "right");
  }
  return colour_checked(graph);
}

}  // namespace faro::schedule
