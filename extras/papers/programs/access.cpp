#include "programs/access.hpp"

#include <algorithm>
#include <numeric>

#include "programs/cost.hpp"

namespace faro::programs {

Cost contiguous_cost(const machine::MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  return {.time = Sizes(machine, n).sweep().value, .text = "(p/w + l - 1) n/p", .source = "Theorem 3.1"};
}

Cost stride_cost(const machine::MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  const Sizes sizes(machine, n);
  const std::uint64_t stride = n / machine.threads;
  if (machine.kind == machine::MachineKind::dmm) {
    return {.time = sizes.sweep(std::gcd(stride, machine.width)).value,
            .text = "(gcd(n/p, w) p/w + l - 1) n/p",
            .source = "Theorem 3.1"};
  }
  return {.time = sizes.sweep(std::min(stride, machine.width)).value,
          .text = "(min(n/p, w) p/w + l - 1) n/p",
          .source = "Theorem 3.1"};
}

Cost copy_cost(const machine::MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  return {.time = (Units{2} * Sizes(machine, n).sweep()).value,
          .text = "2 (p/w + l - 1) n/p",
          .source = "Corollary 3.2"};
}

}  // namespace faro::programs
