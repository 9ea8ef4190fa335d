#include "permutation/modular_arithmetic.hpp"

#include <utility>

namespace faro::detail {

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

}  // namespace faro::detail
