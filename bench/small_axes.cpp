#include "bench/small_axes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

namespace faro::bench {
namespace {

constexpr std::uint64_t kMostSmallBytes = 1 << 20;

// A number of 0 to 1.
double drawn_part(std::mt19937_64& random) {
  constexpr double most = 1 << 30;
  return static_cast<double>(random() >> 34) / most;
}

// A multiple of `to`, about as large.
std::uint64_t rounded(double extent, std::uint64_t to) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(extent, 2.0)));
  return std::max(to, (whole + to / 2) / to * to);
}

std::vector<std::uint64_t> draw_extents(double count, std::mt19937_64& random) {
  constexpr double least_part = 0.15;
  std::vector<double> parts(2 + random() % 4);
  for (double& each : parts) each = least_part + drawn_part(random);
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  const std::uint64_t kind = random() % 4;
  std::vector<std::uint64_t> shape;
  for (const double each : parts) {
    const double extent = std::pow(count, each / all);
    std::uint64_t to = 1;
    if (kind == 0) to = extent >= 32 ? 16 : extent >= 8 ? 4 : 1;
    if (kind == 1) to = extent >= 4 ? 2 : 1;
    shape.push_back(rounded(extent, to));
  }
  return shape;
}

}  // namespace

std::vector<AxesShape> small_axes() {
  std::vector<AxesShape> shapes;
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint64_t n : {16U, 32U, 128U, 256U, 512U}) shapes.push_back({{n, n}, {1, 0}, width});
    for (const std::uint64_t n : {500U, 700U, 1000U}) {
      if (n * n * width <= kMostSmallBytes) shapes.push_back({{n, n}, {1, 0}, width});
    }
    shapes.push_back({{100, 333}, {1, 0}, width});
    shapes.push_back({{3, 20000}, {1, 0}, width});
    shapes.push_back({{20000, 3}, {1, 0}, width});
    shapes.push_back({{2, 3, 5, 7, 11, 13}, {5, 4, 3, 2, 1, 0}, width});
    shapes.push_back({{8, 3, 2, 4, 6, 5, 7}, {3, 0, 6, 1, 5, 2, 4}, width});
    shapes.push_back({{40, 30, 50}, {2, 1, 0}, width});
    for (const std::uint64_t n : {10U, 16U, 25U}) {
      shapes.push_back({{n, n, n}, {2, 1, 0}, width});
      shapes.push_back({{n, n, n}, {0, 2, 1}, width});
      shapes.push_back({{4, n, n, n}, {3, 2, 1, 0}, width});
    }
    shapes.push_back({{32, 32, 32}, {2, 1, 0}, width});
    shapes.push_back({{48, 48, 48}, {2, 1, 0}, width});
    if (width <= 2) shapes.push_back({{70, 80, 90}, {2, 1, 0}, width});
    shapes.push_back({{16, 16, 16, 16}, {3, 2, 1, 0}, width});
    shapes.push_back({{2, 128, 8, 64}, {0, 2, 1, 3}, width});
  }
  shapes.push_back({{128, 128, 128}, {2, 1, 0}, 4});
  shapes.push_back({{32, 32, 32, 32}, {3, 2, 1, 0}, 4});
  return shapes;
}

std::vector<AxesShape> drawn_small_axes(int number, std::uint64_t seed) {
  constexpr double least_bytes = 100e3;
  constexpr double most_bytes = kMostSmallBytes;
  constexpr std::uint64_t widths[] = {1, 2, 4, 1, 2, 4, 1, 2, 4, 3, 8, 6};
  std::mt19937_64 random(seed);
  std::vector<AxesShape> shapes;
  while (shapes.size() < static_cast<std::size_t>(number)) {
    AxesShape drawn{.shape = {}, .order = {}, .element_bytes = widths[shapes.size() % std::size(widths)]};
    const auto width = static_cast<double>(drawn.element_bytes);
    drawn.shape =
        draw_extents(least_bytes * std::pow(most_bytes / least_bytes, drawn_part(random)) / width, random);
    drawn.order.resize(drawn.shape.size());
    std::iota(drawn.order.begin(), drawn.order.end(), 0);
    for (std::size_t i = drawn.order.size(); i > 1; --i)
      std::swap(drawn.order[i - 1], drawn.order[random() % i]);
    double bytes = width;
    for (const std::uint64_t extent : drawn.shape) bytes *= static_cast<double>(extent);
    if (bytes < least_bytes || bytes > most_bytes || std::is_sorted(drawn.order.begin(), drawn.order.end()))
      continue;
    shapes.push_back(std::move(drawn));
  }
  return shapes;
}

}  // namespace faro::bench
