#include "permutation/modular_cover.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "permutation/modular_arithmetic.hpp"

namespace faro {
namespace {

using detail::inverse_mod;

// A vector of the lattice of all (i, j) with i + j c = 0 mod N, its signs left out.
struct LatticeVector {
  std::uint64_t i = 0;
  std::uint64_t j = 0;
};

// What touching the lines of both sides costs, in elements: runs longer than `long_run` gain nothing.
double cost_of(const ModularRectangle& rectangle, double long_run) {
  const auto columns = static_cast<double>(rectangle.columns);
  const auto rows = static_cast<double>(rectangle.rows);
  if (columns == 0 || rows == 0) return 0;
  return columns * rows * (1 / std::min(columns, long_run) + 1 / std::min(rows, long_run));
}

// Keeps the cheaper of two covers.
class CheapestCover {
 public:
  explicit CheapestCover(double long_run) : long_run_(long_run) {}

  // The L of the lattice's (l, -y) and (-(l - r), y + q): l x (y + q) without its corner of (l - r) x y.
  void offer(LatticeVector outer, LatticeVector step) {
    const auto [l, y] = outer;
    const auto [r, q] = step;
    offer({{{.first_i = 0, .first_j = 0, .columns = l, .rows = q},
            {.first_i = 0, .first_j = q, .columns = r, .rows = y}}});
    offer({{{.first_i = 0, .first_j = 0, .columns = r, .rows = y + q},
            {.first_i = r, .first_j = 0, .columns = l - r, .rows = q}}});
  }
  void offer(const std::array<ModularRectangle, 2>& cover) {
    const double cost = cost_of(cover[0], long_run_) + cost_of(cover[1], long_run_);
    if (cost >= cost_) return;
    cost_ = cost;
    cover_ = cover;
  }
  const std::array<ModularRectangle, 2>& cover() const { return cover_; }

 private:
  double long_run_;
  double cost_ = std::numeric_limits<double>::infinity();
  std::array<ModularRectangle, 2> cover_;
};

}  // namespace

std::array<ModularRectangle, 2> l_shape(const Modular& map) {
  constexpr double kLongRun = 512;
  return detail::l_shape_for_runs(map, kLongRun);
}

std::array<ModularRectangle, 2> detail::l_shape_for_runs(const Modular& map, double long_run) {
  const std::uint64_t count = map.count;
  CheapestCover cheapest(long_run);
  // One run of the input, whose elements go anywhere.
  cheapest.offer({{{.first_i = 0, .first_j = 0, .columns = count, .rows = 1}, {}}});
  if (count == 1) return cheapest.cover();
  // Euclid's algorithm on the two kinds of vectors, (i, -j) and (i, j): each in turn takes the other away
  // from itself until nothing would be left. A cover belongs to two neighbours of the first kind.
  LatticeVector outer{.i = inverse_mod(map.factor, count), .j = 1};
  LatticeVector step{.i = count, .j = 0};
  while (outer.i != 0 && step.i != 0) {
    const std::uint64_t to_step = step.i / outer.i;
    step = {.i = step.i - to_step * outer.i, .j = step.j + to_step * outer.j};
    if (step.i == 0) {
      // As much of it as leaves something.
      step = {.i = outer.i, .j = step.j - outer.j};
      if (step.j != 0) cheapest.offer(outer, step);
      break;
    }
    const std::uint64_t times = outer.i / step.i;
    // The first, the last, and those where both sides are equally long.
    const std::uint64_t balanced = outer.i > outer.j ? (outer.i - outer.j) / (step.i + step.j) : 0;
    for (const std::uint64_t t :
         {std::uint64_t{0}, times - 1, balanced == 0 ? 0 : balanced - 1, balanced, balanced + 1}) {
      if (t < times) cheapest.offer({.i = outer.i - t * step.i, .j = outer.j + t * step.j}, step);
    }
    outer = {.i = outer.i - times * step.i, .j = outer.j + times * step.j};
  }
  return cheapest.cover();
}

}  // namespace faro
