#include "faro/permutation/modular.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"
#include "permutation/modular_cover.hpp"

namespace faro {
namespace detail {

std::uint64_t residue(std::int64_t value, std::uint64_t count) {
  if (value >= 0) return static_cast<std::uint64_t>(value) % count;
  const std::uint64_t below = (std::uint64_t{0} - static_cast<std::uint64_t>(value)) % count;
  return below == 0 ? 0 : count - below;
}

std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t count) {
  std::int64_t before = 0;
  std::int64_t factor = 1;
  std::uint64_t rest_before = count;
  std::uint64_t rest = a % count;
  while (rest != 0) {
    const std::uint64_t times = rest_before / rest;
    rest_before = std::exchange(rest, rest_before - times * rest);
    before = std::exchange(factor, before - static_cast<std::int64_t>(times) * factor);
  }
  return residue(before, count);
}

}  // namespace detail

namespace {

using detail::inverse_mod;
using detail::product_mod;
using detail::residue;

// Entries that fill(entries) writes, in words that hold the count.
template <typename Fill>
Indexed filled_entries(const char* operation, std::uint64_t count, const Fill& fill) {
  const bool wide = count > std::uint64_t{1} << 32;
  detail::require_memory(operation, std::to_string(count) + " entries", count * (wide ? 8 : 4) + count / 8);
  const auto filled = [&](auto word) {
    std::vector<decltype(word)> entries(count);
    fill(entries);
    return Indexed(std::move(entries), Direction::scatter);
  };
  return wide ? filled(std::uint64_t{0}) : filled(std::uint32_t{0});
}

std::uint64_t power_mod(std::uint64_t base, std::uint64_t exponent, std::uint64_t count) {
  std::uint64_t result = 1 % count;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = product_mod(result, base, count);
    base = product_mod(base, base, count);
  }
  return result;
}

std::vector<std::uint64_t> prime_divisors(std::uint64_t number) {
  std::vector<std::uint64_t> primes;
  for (std::uint64_t p = 2; p * p <= number; ++p) {
    if (number % p != 0) continue;
    primes.push_back(p);
    while (number % p == 0) number /= p;
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

// Requires: a prime.
std::uint64_t primitive_root(std::uint64_t prime) {
  const std::vector<std::uint64_t> divisors = prime_divisors(prime - 1);
  const auto generates = [&](std::uint64_t g) {
    return std::all_of(divisors.begin(), divisors.end(),
                       [&](std::uint64_t p) { return power_mod(g, (prime - 1) / p, prime) != 1; });
  };
  std::uint64_t g = 1;
  while (!generates(g)) ++g;
  return g;
}

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

std::uint64_t Modular::operator()(std::uint64_t x) const {
  const std::uint64_t product = product_mod(factor, x, count);
  return product >= count - shift ? product - (count - shift) : product + shift;
}

Modular Modular::inverse() const {
  const std::uint64_t undone = inverse_mod(factor, count);
  const std::uint64_t moved = product_mod(undone, shift, count);
  return {.count = count, .factor = undone, .shift = moved == 0 ? 0 : count - moved};
}

Modular compose(const Modular& a, const Modular& b) {
  if (a.count != b.count) {
    fail(ErrorCode::value, "compose",
         "permutations of " + std::to_string(a.count) + " and " + std::to_string(b.count) + " elements",
         "permutations of one size");
  }
  return {.count = a.count, .factor = product_mod(a.factor, b.factor, a.count), .shift = a(b.shift)};
}

Modular Modular::power(std::int64_t k) const {
  Modular base = k < 0 ? inverse() : *this;
  auto left = k < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(k) : static_cast<std::uint64_t>(k);
  Modular result{.count = count, .factor = 1 % count, .shift = 0};
  for (; left != 0; left >>= 1) {
    if ((left & 1) != 0) result = compose(base, result);
    base = compose(base, base);
  }
  return result;
}

Indexed as_index_array(const Modular& map) {
  const Indexed made = filled_entries("multiply", map.count, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    detail::for_each_index(map.count, [&](std::uint64_t x) { entries[x] = static_cast<Word>(map(x)); });
  });
  return made.labelled(to_text(Permutation(map)));
}

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

namespace faro::maps {

namespace {

// `of` is the map that the error is about.
Modular modular_map(const char* of, std::uint64_t count, std::int64_t factor, std::int64_t shift) {
  if (count == 0 || count > Indexed::kMaxCount)
    fail(ErrorCode::value, of, std::to_string(count) + " elements", "from 1 to 2^40 elements");
  const std::uint64_t reduced = residue(factor, count);
  const std::uint64_t divisor = std::gcd(reduced, count);
  if (divisor != 1) {
    fail(ErrorCode::value, of,
         "factor " + std::to_string(factor) + " modulo " + std::to_string(count) +
             ", whose greatest common divisor is " + std::to_string(divisor),
         "a factor without a common divisor: others move several elements to one place");
  }
  return {.count = count, .factor = reduced, .shift = residue(shift, count)};
}

}  // namespace

Modular affine_mod(std::uint64_t count, std::int64_t factor, std::int64_t shift) {
  return modular_map("affine_mod", count, factor, shift);
}

Modular multiply(std::uint64_t count, std::int64_t factor) {
  return modular_map("multiply", count, factor, 0);
}

Indexed good_thomas(std::uint64_t rows, std::uint64_t columns) {
  const std::string asked = std::to_string(rows) + " rows and " + std::to_string(columns) + " columns";
  if (rows == 0 || columns == 0 || rows > Indexed::kMaxCount / columns)
    fail(ErrorCode::value, "good_thomas", asked, "from 1 to 2^40 elements");
  if (const std::uint64_t divisor = std::gcd(rows, columns); divisor != 1) {
    fail(ErrorCode::value, "good_thomas",
         asked + ", whose greatest common divisor is " + std::to_string(divisor),
         "numbers without a common divisor");
  }
  const Indexed made = filled_entries("good_thomas", rows * columns, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    detail::for_each_index(entries.size(), [&](std::uint64_t x) {
      entries[x] = static_cast<Word>(x % rows * columns + x % columns);
    });
  });
  return made.labelled("good_thomas(" + std::to_string(rows) + ", " + std::to_string(columns) + ")");
}

Indexed rader(std::uint64_t prime) {
  if (prime < 2 || prime > Indexed::kMaxCount || prime_divisors(prime).front() != prime)
    fail(ErrorCode::value, "rader", std::to_string(prime) + " elements",
         "a prime number of them, below 2^40");
  const std::uint64_t g = primitive_root(prime);
  const Indexed made = filled_entries("rader", prime, [&](auto& entries) {
    using Word = typename std::remove_reference_t<decltype(entries)>::value_type;
    std::uint64_t at = 1;
    for (std::uint64_t k = 1; k < prime; ++k, at = product_mod(at, g, prime))
      entries[at] = static_cast<Word>(k);
  });
  return made.labelled("rader(" + std::to_string(prime) + ")");
}

}  // namespace faro::maps
