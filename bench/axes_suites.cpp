#include "bench/axes_suites.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

namespace faro::bench {
namespace {

struct TtcShapes {
  std::vector<int> order;
  std::vector<std::vector<std::uint64_t>> shapes;
};

// P. Springer, J. Hammond, P. Bientinesi, TTC: a high-performance compiler for tensor transpositions, 2017:
// its benchmark, about 52 million elements each, with row-major shapes.
const TtcShapes kTtc[] = {
    {{1, 0}, {{7248, 7248}, {1216, 43408}, {43408, 1216}}},
    {{1, 0, 2}, {{384, 384, 368}, {384, 64, 2144}, {2307, 64, 368}}},
    {{0, 2, 1}, {{355, 384, 384}, {59, 384, 2320}, {59, 2320, 384}}},
    {{2, 1, 0}, {{384, 355, 384}, {384, 59, 2320}, {2320, 59, 384}}},
    {{2, 1, 0, 3}, {{96, 75, 96, 80}, {96, 75, 16, 464}, {582, 75, 16, 80}}},
    {{3, 0, 2, 1}, {{75, 96, 75, 96}, {75, 96, 12, 608}, {75, 608, 12, 96}}},
    {{2, 0, 3, 1}, {{75, 96, 75, 96}, {75, 96, 12, 608}, {75, 608, 12, 96}}},
    {{1, 0, 3, 2}, {{75, 75, 96, 96}, {75, 12, 96, 608}, {75, 12, 608, 96}}},
    {{3, 2, 1, 0}, {{96, 75, 75, 96}, {96, 75, 12, 608}, {608, 75, 12, 96}}},
    {{1, 3, 2, 0, 4}, {{48, 28, 28, 48, 32}, {48, 28, 28, 8, 176}, {298, 28, 28, 8, 32}}},
    {{4, 0, 3, 2, 1}, {{28, 48, 28, 28, 48}, {28, 48, 28, 4, 352}, {28, 352, 28, 4, 48}}},
    {{1, 3, 0, 4, 2}, {{28, 28, 48, 28, 48}, {28, 28, 48, 4, 352}, {28, 28, 352, 4, 48}}},
    {{2, 0, 4, 1, 3}, {{28, 28, 28, 48, 48}, {28, 28, 4, 48, 352}, {28, 28, 4, 352, 48}}},
    {{4, 3, 2, 1, 0}, {{48, 28, 28, 28, 48}, {48, 28, 28, 4, 352}, {352, 28, 28, 4, 48}}},
    {{4, 1, 0, 3, 2, 5}, {{15, 15, 32, 15, 32, 16}, {15, 15, 32, 15, 10, 48}, {15, 15, 103, 15, 10, 16}}},
    {{1, 4, 0, 5, 3, 2}, {{15, 15, 32, 15, 15, 32}, {15, 15, 32, 15, 5, 112}, {15, 15, 112, 15, 5, 32}}},
    {{2, 0, 4, 1, 5, 3}, {{15, 15, 15, 32, 15, 32}, {15, 15, 15, 32, 5, 112}, {15, 15, 15, 112, 5, 32}}},
    {{1, 5, 4, 0, 3, 2}, {{15, 15, 32, 15, 15, 32}, {15, 15, 32, 15, 5, 112}, {15, 15, 112, 15, 5, 32}}},
    {{5, 4, 3, 2, 1, 0}, {{32, 15, 15, 15, 15, 32}, {32, 15, 15, 15, 5, 112}, {112, 15, 15, 15, 5, 32}}},
};

AxesSuite ttc(std::uint64_t element_bytes) {
  AxesSuite suite{.name = fmt::format("ttc, {} byte{}", element_bytes, element_bytes == 1 ? "" : "s"),
                  .shapes = {}};
  for (const TtcShapes& group : kTtc) {
    for (const std::vector<std::uint64_t>& shape : group.shapes) {
      suite.shapes.push_back({.shape = shape, .order = group.order, .element_bytes = element_bytes});
    }
  }
  return suite;
}

std::vector<int> reversed(std::size_t n) {
  std::vector<int> order;
  for (std::size_t a = n; a-- > 0;) order.push_back(static_cast<int>(a));
  return order;
}

AxesSuite ranks() {
  return {.name = "ranks 8 to 28",
          .shapes = {{{5, 3, 2, 4, 35, 33, 37, 40}, reversed(8)},
                     {{5, 3, 2, 4, 35, 33, 37, 40}, {7, 6, 2, 5, 0, 4, 1, 3}},
                     {{2, 3, 4, 3, 2, 2, 3, 2, 20, 18, 22, 24}, reversed(12)},
                     {std::vector<std::uint64_t>(26, 2), reversed(26)},
                     {std::vector<std::uint64_t>(28, 2), reversed(28)},
                     {std::vector<std::uint64_t>(13, 4), reversed(13)},
                     {{10, 10, 10, 10, 10, 10, 10, 10}, reversed(8)},
                     {{10, 10, 10, 10, 10, 10, 10, 10}, {2, 5, 0, 6, 1, 7, 3, 4}}}};
}

AxesSuite primes() {
  return {.name = "primes",
          .shapes = {{std::vector<std::uint64_t>(6, 27), reversed(6)},
                     {std::vector<std::uint64_t>(6, 27), {3, 5, 0, 2, 4, 1}},
                     {std::vector<std::uint64_t>(18, 3), reversed(18)},
                     {{3, 5, 7, 11, 13, 17, 19, 23}, reversed(8)},
                     {{23, 19, 17, 13, 11, 7, 5, 3}, reversed(8)},
                     {{3, 5, 7, 11, 13, 17, 19, 23}, {4, 1, 6, 3, 0, 7, 2, 5}},
                     {{997, 1009, 101}, {2, 1, 0}},
                     {{997, 1009, 101}, {1, 2, 0}},
                     {{997, 1009, 101}, {0, 2, 1}},
                     {{101, 1009, 997}, {1, 0, 2}}}};
}

AxesSuite channels(std::uint64_t element_bytes) {
  AxesSuite suite{.name = fmt::format("channels first and last, {} bytes", element_bytes), .shapes = {}};
  for (const std::uint64_t c : {3U, 4U, 64U, 256U}) {
    const std::uint64_t batch = 512 / c + 8;
    suite.shapes.push_back(
        {.shape = {batch, 224, 224, c}, .order = {0, 3, 1, 2}, .element_bytes = element_bytes});
    suite.shapes.push_back(
        {.shape = {batch, c, 224, 224}, .order = {0, 2, 3, 1}, .element_bytes = element_bytes});
  }
  return suite;
}

AxesSuite attention(std::uint64_t element_bytes) {
  AxesSuite suite{.name = fmt::format("attention, {} bytes", element_bytes),
                  .shapes = {{{8, 4096, 32, 64}, {0, 2, 1, 3}},
                             {{8, 32, 4096, 64}, {0, 2, 1, 3}},
                             {{4, 4096, 32, 128}, {0, 2, 1, 3}},
                             {{4, 4096, 32, 128}, {0, 2, 3, 1}},
                             {{4, 32, 4096, 128}, {0, 1, 3, 2}},
                             {{2, 8192, 3, 32, 128}, {2, 0, 3, 1, 4}}}};
  for (AxesShape& shape : suite.shapes) shape.element_bytes = element_bytes;
  return suite;
}

AxesSuite odd() {
  return {.name = "odd extents",
          .shapes = {{{9, 23, 45, 23, 45, 23}, {3, 2, 0, 5, 1, 4}, 2},
                     {{32, 245, 164, 82}, {0, 2, 1, 3}, 2},
                     {{29, 39, 78, 39, 78}, {2, 0, 4, 1, 3}, 2},
                     {{447, 223, 1342}, {2, 1, 0}, 2},
                     {{33, 33, 9, 9, 33, 33}, reversed(6), 2},
                     {{27, 206, 138, 69}, {0, 2, 1, 3}, 4},
                     {{355, 177, 1065}, {2, 1, 0}, 4},
                     {{215, 27, 54, 215}, reversed(4), 4},
                     {{29, 29, 9, 9, 29, 29}, reversed(6), 4},
                     {{9, 23, 45, 23, 45, 23}, {3, 2, 0, 5, 1, 4}, 1},
                     {{29, 39, 78, 39, 78}, {2, 0, 4, 1, 3}, 1},
                     {{75, 45, 11, 15, 47}, reversed(5), 8}}};
}

// Many arrays that are smaller than a box.
AxesSuite small_arrays() {
  return {.name = "many small arrays",
          .shapes = {{{1600000, 5, 16}, {0, 2, 1}, 4},
                     {{1600000, 5, 15}, {0, 2, 1}, 4},
                     {{8000000, 3, 5}, {0, 2, 1}, 4},
                     {{130000, 24, 40}, {0, 2, 1}, 4},
                     {{50000, 50, 48}, {0, 2, 1}, 4},
                     {{60000, 45, 47}, {0, 2, 1}, 4},
                     {{1300000, 3, 4, 8}, {0, 3, 2, 1}, 4},
                     {{100000, 12, 10, 10}, {0, 3, 1, 2}, 4},
                     {{1300000, 12, 16}, {0, 2, 1}, 2},
                     {{100000, 40, 60}, {0, 2, 1}, 2},
                     {{2600000, 12, 16}, {0, 2, 1}, 1},
                     {{800000, 7, 9}, {0, 2, 1}, 8},
                     {{100000, 14, 12}, {0, 2, 1}, 16},
                     {{20000, 1, 60, 64}, {0, 3, 2, 1}, 4},
                     {{100000, 10, 120}, {0, 2, 1}, 4},
                     {{10000, 101, 113}, {0, 2, 1}, 4},
                     {{12000, 96, 100}, {0, 2, 1}, 4},
                     {{50000, 81, 33}, {0, 2, 1}, 2},
                     {{100000, 5, 7, 11, 3}, {0, 4, 3, 2, 1}, 2},
                     {{300000, 7, 6, 3, 5}, {0, 2, 1, 3, 4}, 1},
                     {{1000000, 9, 11}, {0, 2, 1}, 1}}};
}

// Planes whose sides are a few dozen elements, some just longer than tiles are.
AxesSuite sides() {
  return {.name = "short sides",
          .shapes = {{{26, 34, 68, 34, 68}, {2, 0, 4, 1, 3}, 4},
                     {{29, 39, 78, 39, 78}, {2, 0, 4, 1, 3}, 4},
                     {{75, 45, 11, 15, 47}, reversed(5), 4},
                     {{60, 33, 50, 66, 34}, {2, 0, 4, 1, 3}, 2},
                     {{170, 101, 37, 83}, {0, 3, 1, 2}, 4},
                     {{90, 131, 67, 66}, {2, 0, 3, 1}, 4},
                     {{63, 127, 95, 65}, reversed(4), 4},
                     {{41, 155, 129, 70}, {0, 3, 2, 1}, 2},
                     {{40, 130, 66, 130}, {0, 3, 2, 1}, 8},
                     {{35, 43, 99, 35, 9}, reversed(5), 8},
                     {{66, 34, 131, 197}, {2, 0, 3, 1}, 1},
                     {{200, 3, 98, 250}, {0, 3, 1, 2}, 4},
                     {{9000, 66, 70}, {0, 2, 1}, 4},
                     {{20000, 35, 67}, {0, 2, 1}, 2}}};
}

AxesSuite skinny() {
  return {.name = "skinny",
          .shapes = {{{3, 100000000}, {1, 0}},
                     {{100000000, 3}, {1, 0}},
                     {{7, 30000001}, {1, 0}},
                     {{30000001, 7}, {1, 0}},
                     {{100000, 3, 1000}, {0, 2, 1}},
                     {{5, 1000003, 31}, {0, 2, 1}}}};
}

}  // namespace

std::string AxesShape::text() const {
  return fmt::format("axes({}; {}) of {}", fmt::join(shape, " "), fmt::join(order, " "), element_bytes);
}

std::vector<AxesSuite> axes_suites(const std::vector<std::uint64_t>& widths) {
  std::vector<AxesSuite> suites;
  for (const std::uint64_t width : widths) suites.push_back(ttc(width));
  const auto add = [&](AxesSuite suite, bool in_fours, bool in_twos) {
    suite.in_fours = in_fours;
    suite.in_twos = in_twos;
    suites.push_back(std::move(suite));
  };
  add(ranks(), true, true);
  add(primes(), true, true);
  add(channels(2), false, true);
  add(channels(4), true, false);
  add(attention(2), false, true);
  add(attention(4), true, false);
  add(skinny(), true, true);
  for (AxesSuite& suite : std::vector<AxesSuite>{odd(), sides(), small_arrays()}) {
    suites.push_back(std::move(suite));
  }
  return suites;
}

AxesSuite large_axes(const std::vector<std::uint64_t>& widths) {
  AxesSuite suite{.name = "large", .shapes = {}};
  for (const std::uint64_t width : widths) {
    suite.shapes.push_back({{37, 20000003}, {1, 0}, width});
    suite.shapes.push_back({{20000003, 37}, {1, 0}, width});
    suite.shapes.push_back({{997, 1009, 1013}, reversed(3), width});
    suite.shapes.push_back({std::vector<std::uint64_t>(9, 10), reversed(9), width});
    suite.shapes.push_back({{2307, 64, 368}, {0, 2, 1}, width});
  }
  return suite;
}

AxesSuite drawn_axes(std::uint64_t seed, int count) {
  constexpr std::uint64_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
  constexpr std::uint64_t least_bytes = std::uint64_t{64} << 20;
  AxesSuite suite{.name = fmt::format("drawn, seed {}", seed), .shapes = {}};
  std::mt19937_64 random(seed);
  for (int i = 0; i < count; ++i) {
    AxesShape drawn{.shape = {}, .order = {}, .element_bytes = widths[random() % std::size(widths)]};
    const std::uint64_t elements = least_bytes * (1 + random() % 4) / drawn.element_bytes;
    std::vector<double> parts(2 + random() % 5);
    for (double& part : parts) part = static_cast<double>(10 + random() % 90);
    const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
    std::uint64_t faster = 1;
    for (std::size_t a = 1; a < parts.size(); ++a) {
      const double extent = std::pow(static_cast<double>(elements), parts[a] / all);
      drawn.shape.push_back(std::max<std::uint64_t>(2, static_cast<std::uint64_t>(extent)));
      faster *= drawn.shape.back();
    }
    drawn.shape.insert(drawn.shape.begin(), std::max<std::uint64_t>(2, elements / faster));
    drawn.order.resize(parts.size());
    std::iota(drawn.order.begin(), drawn.order.end(), 0);
    while (std::is_sorted(drawn.order.begin(), drawn.order.end())) {
      std::shuffle(drawn.order.begin(), drawn.order.end(), random);
    }
    suite.shapes.push_back(std::move(drawn));
  }
  return suite;
}

}  // namespace faro::bench
