// Edge colourings and what is made of them, against oracles that look at nothing but the ends of the edges.
// Sanitized: never, the same few lines, tables or texts.
#include "schedule/edge_colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "faro/schedule/row_column.hpp"
#include "refusal.hpp"

namespace faro::schedule {
namespace edge_colouring_test {

using List = std::vector<std::uint32_t>;

// Empty if the colouring is proper, uses all of its colours and no more than the largest degree; else why
// not.
std::string fault_of(const List& left, const List& right, const EdgeColouring& colouring) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> at_left;
  std::set<std::pair<std::uint32_t, std::uint32_t>> at_right;
  std::vector<std::uint32_t> left_degree(1);
  std::vector<std::uint32_t> right_degree(1);
  std::set<std::uint32_t> colours;
  if (colouring.colour.size() != left.size()) return "not every edge has a colour";
  for (std::size_t e = 0; e < left.size(); ++e) {
    const std::uint32_t colour = colouring.colour[e];
    const std::string edge = "edge " + std::to_string(e) + " of colour " + std::to_string(colour);
    if (!at_left.insert({left[e], colour}).second) return edge + " meets another at its left node";
    if (!at_right.insert({right[e], colour}).second) return edge + " meets another at its right node";
    left_degree.resize(std::max<std::size_t>(left_degree.size(), left[e] + 1));
    right_degree.resize(std::max<std::size_t>(right_degree.size(), right[e] + 1));
    ++left_degree[left[e]];
    ++right_degree[right[e]];
    colours.insert(colour);
  }
  const std::uint32_t degree = std::max(*std::max_element(left_degree.begin(), left_degree.end()),
                                        *std::max_element(right_degree.begin(), right_degree.end()));
  if (colouring.colours != degree) return "not as many colours as the largest degree";
  if (colours.size() != degree || (degree > 0 && *colours.rbegin() != degree - 1)) return "unused colours";
  return "";
}

// d perfect matchings on `nodes` nodes a side, their edges shuffled: every regular graph is one of these.
std::pair<List, List> regular_graph(std::uint32_t nodes, std::uint32_t degree, std::mt19937& random) {
  List order(std::size_t{nodes} * degree);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  List left(order.size());
  List right(order.size());
  List matching(nodes);
  for (std::uint32_t c = 0; c < degree; ++c) {
    std::iota(matching.begin(), matching.end(), 0U);
    std::shuffle(matching.begin(), matching.end(), random);
    for (std::uint32_t u = 0; u < nodes; ++u) {
      left[order[c * nodes + u]] = u;
      right[order[c * nodes + u]] = matching[u];
    }
  }
  return {left, right};
}

TEST(EdgeColouring, EveryDegreeAndNodeCountWhereSmall) {
  for (std::uint32_t nodes = 1; nodes <= 12; ++nodes) {
    for (std::uint32_t degree = 1; degree <= 40; ++degree) {
      std::mt19937 random(100 * nodes + degree);
      const auto [left, right] = regular_graph(nodes, degree, random);
      const EdgeColouring colouring =
          colour_regular_edges({.left_nodes = nodes, .right_nodes = nodes, .left = left, .right = right});
      ASSERT_EQ(fault_of(left, right, colouring), "") << nodes << " nodes of degree " << degree;
      ASSERT_EQ(colouring.colours, degree);
    }
  }
}

TEST(EdgeColouring, LargerRegularGraphs) {
  struct Case {
    std::uint32_t nodes;
    std::uint32_t degree;
  };
  // Degrees 2^k - 1 need a matching at every halving, 2^k + 1 the largest loan of colours.
  for (const Case& c : {Case{32, 1023}, Case{32, 1025}, Case{31, 1000}, Case{1000, 3}, Case{1000, 31},
                        Case{257, 96}, Case{1, 5000}, Case{3, 3333}, Case{4096, 2}}) {
    std::mt19937 random(c.nodes);
    const auto [left, right] = regular_graph(c.nodes, c.degree, random);
    const EdgeColouring colouring =
        colour_regular_edges({.left_nodes = c.nodes, .right_nodes = c.nodes, .left = left, .right = right});
    EXPECT_EQ(fault_of(left, right, colouring), "") << c.nodes << " nodes of degree " << c.degree;
  }
}

// All edges parallel; edges that go around in circles: the extremes of what the walks meet.
TEST(EdgeColouring, ParallelAndCircularEdges) {
  for (const std::uint32_t nodes : {1U, 2U, 5U, 32U}) {
    for (const std::uint32_t degree : {1U, 2U, 3U, 7U, 64U, 65U}) {
      List left;
      List parallel;
      List circular;
      for (std::uint32_t u = 0; u < nodes; ++u) {
        for (std::uint32_t k = 0; k < degree; ++k) {
          left.push_back(u);
          parallel.push_back(u);
          circular.push_back((u + k) % nodes);
        }
      }
      for (const List& right : {parallel, circular}) {
        EXPECT_EQ(fault_of(left, right,
                           colour_regular_edges(
                               {.left_nodes = nodes, .right_nodes = nodes, .left = left, .right = right})),
                  "")
            << nodes << " nodes of degree " << degree;
      }
    }
  }
}

TEST(EdgeColouring, GraphsThatAreNotRegular) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random()) % bound;
    };
    const std::uint32_t left_nodes = 1 + below(20);
    const std::uint32_t right_nodes = 1 + below(20);
    List left(1 + below(200));
    List right(left.size());
    const bool skewed = seed % 2 == 0;  // many edges at few nodes
    for (std::size_t e = 0; e < left.size(); ++e) {
      left[e] = below(skewed ? 1 + below(left_nodes) : left_nodes);
      right[e] = below(right_nodes);
    }
    const EdgeColouring colouring =
        colour_edges({.left_nodes = left_nodes, .right_nodes = right_nodes, .left = left, .right = right});
    ASSERT_EQ(fault_of(left, right, colouring), "") << "seed " << seed;
  }
  // A star: as many colours as edges, without a table of all nodes times all colours.
  const List hub(100'000);
  List rays(hub.size());
  std::iota(rays.begin(), rays.end(), 0U);
  EXPECT_EQ(colour_edges({.left_nodes = 1, .right_nodes = rays.size(), .left = hub, .right = rays}).colours,
            rays.size());
}

TEST(EdgeColouring, NoEdges) {
  EXPECT_EQ(colour_edges({}).colours, 0U);
  EXPECT_EQ(colour_regular_edges({.left_nodes = 3, .right_nodes = 2, .left = {}, .right = {}}).colours, 0U);
}

std::string refusal_of(const std::function<void()>& call) { return test::message_of(ErrorCode::value, call); }

TEST(EdgeColouring, RefusesByName) {
  const List two{0, 1};
  const List three{0, 1, 2};
  const List same{1, 1};
  EXPECT_NE(refusal_of([&] {
              colour_edges({.left_nodes = 3, .right_nodes = 3, .left = two, .right = three});
            }).find("2 left and 3 right ends"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              colour_edges({.left_nodes = 2, .right_nodes = 3, .left = three, .right = three});
            }).find("left node 2 at edge 2"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              colour_edges({.left_nodes = 3, .right_nodes = 2, .left = three, .right = three});
            }).find("right node 2 at edge 2"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              colour_regular_edges({.left_nodes = 2, .right_nodes = 2, .left = two, .right = same});
            }).find("right node 0 of degree 0"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] {
              colour_regular_edges({.left_nodes = 3, .right_nodes = 2, .left = two, .right = two});
            }).find("left node 2 of degree 0"),
            std::string::npos);
  // Refused before tables of that length are made.
  EXPECT_NE(refusal_of([&] {
              colour_edges({.left_nodes = 1ULL << 40, .right_nodes = 2, .left = two, .right = two});
            }).find("1099511627776 nodes"),
            std::string::npos);
}

// --- conflict-free schedules

std::string fault_of(const List& permutation, std::uint32_t width, const ConflictFreeSchedule& schedule) {
  std::set<std::uint32_t> sources;
  for (std::size_t group = 0; group < permutation.size(); group += width) {
    std::set<std::uint32_t> from;
    std::set<std::uint32_t> to;
    for (std::size_t x = group; x < group + width; ++x) {
      if (schedule.target[x] != permutation[schedule.source[x]]) return "target is not P o source";
      sources.insert(schedule.source[x]);
      from.insert(schedule.source[x] % width);
      to.insert(schedule.target[x] % width);
    }
    if (from.size() != width) return "two sources share a bank in group " + std::to_string(group / width);
    if (to.size() != width) return "two targets share a bank in group " + std::to_string(group / width);
  }
  return sources.size() == permutation.size() ? "" : "a source is missing";
}

// The 4 x 4 transpose on 4 banks: each diagonal of the matrix is a group.
TEST(ConflictFree, WorkedExample) {
  const List permutation{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const ConflictFreeSchedule schedule = conflict_free_schedule(permutation, 4);
  EXPECT_EQ(fault_of(permutation, 4, schedule), "");
  for (std::size_t x = 0; x < 16; ++x) EXPECT_EQ(schedule.source[x] % 4, x % 4);  // in the order of the banks
}

TEST(ConflictFree, AnyPermutation) {
  struct Case {
    std::uint32_t n;
    std::uint32_t width;
  };
  for (const Case& c : {Case{1, 1}, Case{7, 7}, Case{7, 1}, Case{12, 6}, Case{60, 12}, Case{96, 32},
                        Case{1024, 32}, Case{4095, 5}, Case{3 * 1024, 32}}) {
    for (std::uint32_t seed = 0; seed < 10; ++seed) {
      std::mt19937 random(seed);
      List permutation(c.n);
      std::iota(permutation.begin(), permutation.end(), 0U);
      if (seed > 0) std::shuffle(permutation.begin(), permutation.end(), random);
      EXPECT_EQ(fault_of(permutation, c.width, conflict_free_schedule(permutation, c.width)), "")
          << "n " << c.n << " width " << c.width << " seed " << seed;
    }
  }
}

TEST(ConflictFree, RefusesByName) {
  const List twice{0, 1, 1, 2};
  const List beyond{0, 1, 4, 2};
  const List fine{3, 2, 1, 0};
  EXPECT_NE(refusal_of([&] { conflict_free_schedule(twice, 2); }).find("1 at place 2"), std::string::npos);
  EXPECT_NE(refusal_of([&] { conflict_free_schedule(beyond, 2); }).find("4 at place 2"), std::string::npos);
  EXPECT_NE(refusal_of([&] { conflict_free_schedule(fine, 3); }).find("4 elements over 3 banks"),
            std::string::npos);
  EXPECT_NE(refusal_of([&] { conflict_free_schedule(fine, 0); }).find("0 banks"), std::string::npos);
}

// --- row, column, row

TEST(RowColumnRow, IsThePermutationInThreeSteps) {
  struct Case {
    std::uint32_t matrices;
    std::uint32_t rows;
    std::uint32_t columns;
  };
  for (const Case& c : {Case{1, 4, 4}, Case{1, 1, 5}, Case{1, 5, 1}, Case{3, 4, 6}, Case{1, 32, 32},
                        Case{2, 27, 9}, Case{5, 8, 64}}) {
    SCOPED_TRACE(std::to_string(c.matrices) + " matrices of " + std::to_string(c.rows) + " x " +
                 std::to_string(c.columns));
    std::mt19937 random(c.rows);
    const std::uint32_t size = c.rows * c.columns;
    List permutation(c.matrices * size);
    std::iota(permutation.begin(), permutation.end(), 0U);
    for (std::uint32_t begin = 0; begin < permutation.size(); begin += size) {
      std::shuffle(permutation.begin() + begin, permutation.begin() + begin + size, random);
    }
    const RowColumnRow steps = row_column_row(permutation, c.rows, c.columns);
    const auto transpose = [&](std::uint32_t x) {
      const std::uint32_t in = x % size;
      return x - in + in % c.columns * c.rows + in / c.columns;
    };
    List transpose_back(permutation.size());
    for (std::uint32_t x = 0; x < permutation.size(); ++x) transpose_back[transpose(x)] = x;
    for (std::uint32_t x = 0; x < permutation.size(); ++x) {
      const std::uint32_t first = steps.first[x];
      const std::uint32_t middle = steps.middle[transpose(first)];
      const std::uint32_t before_last = transpose_back[middle];
      EXPECT_EQ(first / c.columns, x / c.columns);
      EXPECT_EQ(middle / c.rows, transpose(first) / c.rows);
      EXPECT_EQ(steps.last[before_last] / c.columns, before_last / c.columns);
      EXPECT_EQ(steps.last[before_last], permutation[x]);
    }
  }
}

TEST(RowColumnRow, RefusesByName) {
  const List swap{1, 0, 2, 3, 4, 5, 7, 6};
  const List across{4, 1, 2, 3, 0, 5, 6, 7};
  EXPECT_NE(refusal_of([&] { row_column_row(swap, 3, 2); }).find("whole matrices"), std::string::npos);
  EXPECT_NE(refusal_of([&] { row_column_row(across, 2, 2); }).find("place 0 to 4"), std::string::npos);
  EXPECT_NO_THROW(row_column_row(swap, 2, 2));
}

}  // namespace edge_colouring_test
}  // namespace faro::schedule
