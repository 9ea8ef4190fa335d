// schedule_bench: how long edge colouring takes, verified as always, on one core.
//
// For each number of nodes a side the degree is EDGES / nodes, as for a permutation of EDGES elements over so
// many banks; where the degree is a power of two Euler splitting is all there is, one less needs a matching
// at every halving.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "bench/arguments.hpp"
#include "faro/error.hpp"
#include "faro/measure.hpp"
#include "faro_build_info.hpp"
#include "schedule/edge_colouring.hpp"

namespace faro::bench {
namespace {

constexpr const char* kUsage =
    R"(schedule_bench [EDGES]: how long edge colouring takes on one core

  EDGES    of each random regular graph, about; 64 to 2^30                        (default 2^22)
  --help
)";

constexpr std::uint64_t kUsualEdges = std::uint64_t{1} << 22;
constexpr std::uint64_t kLeastEdges = 64;
constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 30;

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

int run(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  if (words.size() > 1) refuse({"read the command line", words[1]}, "no more than EDGES");
  const std::uint64_t edges =
      words.empty() ? kUsualEdges : parse_count({"EDGES", words[0]}, kLeastEdges, kMostEdges);
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
  return 0;
}

}  // namespace
}  // namespace faro::bench

int main(int count, char** words) {
  return faro::bench::run_program(count, words, faro::bench::kUsage, faro::bench::run);
}
