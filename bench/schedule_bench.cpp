// schedule_bench: how long edge colouring takes, verified as always, on one core.
//
//     schedule_bench [EDGES]      random regular graphs of about 2^22 edges, or EDGES
//
// For each number of nodes a side the degree is EDGES / nodes, as for a permutation of EDGES elements over so
// many banks; where the degree is a power of two Euler splitting is all there is, one less needs a matching
// at every halving.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro/schedule/edge_colouring.hpp"
#include "faro_build_info.hpp"

namespace faro::bench {
namespace {

struct Shape {
  std::uint64_t nodes;
  std::uint64_t degree;
};

struct Ends {
  std::vector<std::uint32_t> left;
  std::vector<std::uint32_t> right;
};

// The banks of a random permutation's elements, before and after.
Ends random_ends(const Shape& shape) {
  std::vector<std::uint32_t> permutation(shape.nodes * shape.degree);
  std::iota(permutation.begin(), permutation.end(), 0U);
  std::shuffle(permutation.begin(), permutation.end(), std::mt19937(1));
  Ends ends{.left = std::vector<std::uint32_t>(permutation.size()),
            .right = std::vector<std::uint32_t>(permutation.size())};
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    ends.left[i] = static_cast<std::uint32_t>(i % shape.nodes);
    ends.right[i] = static_cast<std::uint32_t>(permutation[i] % shape.nodes);
  }
  return ends;
}

void run(std::uint64_t edges) {
  std::vector<Ends> graphs;
  std::vector<Shape> shapes;
  for (const std::uint64_t nodes : {std::uint64_t{32}, std::uint64_t{2048}, std::uint64_t{65536}}) {
    for (const std::uint64_t less : {std::uint64_t{0}, std::uint64_t{1}}) {
      if (edges / nodes <= 1) continue;
      shapes.push_back({.nodes = nodes, .degree = edges / nodes - less});
      graphs.push_back(random_ends(shapes.back()));
    }
  }
  std::vector<std::function<void()>> contestants;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    contestants.emplace_back([&, i] {
      const auto colouring = schedule::colour_regular_edges({.left_nodes = shapes[i].nodes,
                                                             .right_nodes = shapes[i].nodes,
                                                             .left = graphs[i].left,
                                                             .right = graphs[i].right});
      FARO_CHECK(colouring.colours == shapes[i].degree);
    });
  }
  const std::vector<Timing> timings =
      measure_alternating(contestants, {.budget_ms = 30'000, .max_samples = 9});
  fmt::print("`schedule_bench {}`, commit {}, one thread\n\n", edges, FARO_COMMIT);
  fmt::print(
      "| nodes a side | degree | edges | median ms | spread | ns an edge |\n|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::size_t count = graphs[i].left.size();
    fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:.0f} |\n", shapes[i].nodes, shapes[i].degree, count,
               timings[i].median_ms, timings[i].mad_ms,
               1e6 * timings[i].median_ms / static_cast<double>(count));
  }
}

}  // namespace
}  // namespace faro::bench

int main(int argc, char** argv) {
  try {
    const std::uint64_t edges = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : std::uint64_t{1} << 22;
    if (edges < 64 || edges > std::uint64_t{1} << 30) {
      std::fputs("schedule_bench [EDGES], from 64 to 2^30\n", stderr);
      return 2;
    }
    faro::bench::run(edges);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "schedule_bench: %s\n", error.what());
    return 1;
  }
}
