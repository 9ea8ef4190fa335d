#include "programs/cost.hpp"

#include <algorithm>
#include <cmath>

#include "faro/error.hpp"

namespace faro::programs {

void check_sizes(const machine::MachineOptions& machine, std::uint64_t n) {
  if (n == 0 || n > kMostElements) {
    fail(ErrorCode::value, "fit a program to the machine", "n = " + std::to_string(n),
         "from 1 to 2^26 = " + std::to_string(kMostElements) + " words");
  }
  machine::check(machine);
  if (n % machine.width != 0) {
    fail(ErrorCode::value, "fit a program to the machine",
         "n = " + std::to_string(n) + " words at width " + std::to_string(machine.width),
         "a multiple of the width: w divides p, and p divides n");
  }
  if (n % machine.threads != 0) {
    fail(ErrorCode::value, "fit a program to the machine",
         "p = " + std::to_string(machine.threads) + " threads for n = " + std::to_string(n) + " words",
         "a number of threads that divides n");
  }
}

std::uint64_t matrix_side(std::uint64_t n) {
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  while (side * side > n) --side;
  while ((side + 1) * (side + 1) <= n) ++side;
  if (side * side != n) {
    fail(
        ErrorCode::value, "fit a program to the machine", "n = " + std::to_string(n),
        "a square: the matrix is m x m",
        "the nearest are " + std::to_string(side * side) + " and " + std::to_string((side + 1) * (side + 1)));
  }
  return side;
}

std::uint64_t lower_bound(const machine::MachineOptions& machine, std::uint64_t n) {
  const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  const Units latency_limit = Units{ceil_div(n, machine.threads)} * Units{machine.latency};
  return std::max(ceil_div(n, machine.width), latency_limit.value);
}

}  // namespace faro::programs
