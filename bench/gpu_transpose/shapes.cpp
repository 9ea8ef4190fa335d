#include "bench/gpu_transpose/shapes.hpp"

#include <array>
#include <cmath>
#include <random>

namespace faro::bench::gpu {
namespace {

bool is_prime(std::uint64_t x) {
  for (std::uint64_t d = 2; d * d <= x; ++d) {
    if (x % d == 0) return false;
  }
  return x > 1;
}

std::uint64_t whole_root(std::uint64_t x) {
  return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x)));
}

std::uint64_t prime_below(std::uint64_t x) {
  while (!is_prime(x)) --x;
  return x;
}

// As many columns as the bytes allow.
Rectangle of_rows(std::uint64_t rows, std::uint64_t bytes, std::uint64_t element_bytes) {
  return {.arrays = 1, .rows = rows, .columns = bytes / element_bytes / rows, .element_bytes = element_bytes};
}

Rectangle turned(Rectangle r) {
  std::swap(r.rows, r.columns);
  return r;
}

// In [least, end), the logarithm uniform.
std::uint64_t random_side(std::mt19937_64& random, double least, double end) {
  const double fraction = std::generate_canonical<double, 53>(random);
  return static_cast<std::uint64_t>(least * std::pow(end / least, fraction));
}

ShapeGroup random_group(const ShapeRequest& request) {
  constexpr double least_side = 1000;
  ShapeGroup group{.name = "random", .shapes = {}};
  std::mt19937_64 random(request.seed);
  for (std::uint64_t i = 0; i < request.random; ++i) {
    const std::uint64_t width = i % 2 == 0 ? 4 : 8;
    const double most_side = static_cast<double>(request.bytes / width) / least_side;
    group.shapes.push_back(of_rows(random_side(random, least_side, most_side), request.bytes, width));
  }
  return group;
}

// The shorter side is the rows' and the columns' in turn.
ShapeGroup narrow_group(std::uint64_t bytes) {
  constexpr std::uint64_t count = 40;
  constexpr std::uint64_t seed = 32;
  constexpr double least_side = 32;
  constexpr double end_of_sides = 1000;
  constexpr std::array<std::uint64_t, 5> element_bytes = {1, 2, 4, 8, 16};
  ShapeGroup group{.name = "narrow", .shapes = {}};
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t side = random_side(random, least_side, end_of_sides);
    const Rectangle shape = of_rows(side, bytes - random() % bytes / 64, element_bytes[i % 5]);
    group.shapes.push_back(i / 5 % 2 == 0 ? shape : turned(shape));
  }
  return group;
}

}  // namespace

std::vector<ShapeGroup> shape_groups(const ShapeRequest& request) {
  const std::uint64_t bytes = request.bytes;
  std::vector<ShapeGroup> groups{random_group(request), narrow_group(bytes / 4)};
  ShapeGroup odd{.name = "odd", .shapes = {}};
  ShapeGroup prime{.name = "prime", .shapes = {}};
  for (const std::uint64_t rows : {1001ULL, 3333ULL, 10007ULL, 25001ULL}) {
    Rectangle shape = of_rows(rows, bytes, 4);
    shape.columns -= 1 - shape.columns % 2;
    odd.shapes.push_back(shape);
    shape = of_rows(prime_below(rows), bytes, 4);
    shape.columns = prime_below(shape.columns);
    prime.shapes.push_back(shape);
  }
  ShapeGroup multiple{.name = "multiple", .shapes = {}};
  for (const std::uint64_t times : {2ULL, 3ULL, 10ULL, 100ULL}) {
    const auto side = whole_root(bytes / 4 / times);
    multiple.shapes.push_back({.arrays = 1, .rows = side, .columns = side * times, .element_bytes = 4});
    multiple.shapes.push_back(turned(multiple.shapes.back()));
  }
  ShapeGroup square{.name = "square", .shapes = {}};
  for (const std::uint64_t width : {4ULL, 8ULL}) {
    const auto side = whole_root(bytes / width) - 1;
    square.shapes.push_back({.arrays = 1, .rows = side, .columns = side, .element_bytes = width});
    square.shapes.push_back({.arrays = 1, .rows = side - 8, .columns = side + 8, .element_bytes = width});
  }
  ShapeGroup skinny{.name = "skinny", .shapes = {}};
  for (const std::uint64_t side : {2ULL, 3ULL, 4ULL, 5ULL, 7ULL, 8ULL, 12ULL, 16ULL, 17ULL, 24ULL, 31ULL}) {
    const std::uint64_t width = side % 3 == 0 ? 8 : 4;
    skinny.shapes.push_back(of_rows(side, bytes - width * side, width));
    skinny.shapes.push_back(turned(skinny.shapes.back()));
  }
  ShapeGroup widths{.name = "widths", .shapes = {}};
  for (const std::uint64_t width : {1ULL, 2ULL, 3ULL, 6ULL, 12ULL, 16ULL}) {
    widths.shapes.push_back(of_rows(9973, bytes, width));
  }
  constexpr std::uint64_t huge_rows = 16001;
  widths.shapes.push_back(of_rows(huge_rows, bytes, 16));
  ShapeGroup batches{.name = "batches", .shapes = {}};
  for (const std::uint64_t side : {5ULL, 50ULL, 500ULL, 2500ULL}) {
    Rectangle shape{.arrays = 1, .rows = side, .columns = side * 3 + 1, .element_bytes = 4};
    shape.arrays = bytes / shape.bytes();
    batches.shapes.push_back(shape);
  }
  for (const ShapeGroup& group : {odd, prime, multiple, square, skinny, widths, batches})
    groups.push_back(group);
  return groups;
}

}  // namespace faro::bench::gpu
