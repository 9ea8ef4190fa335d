#include "programs/permute.hpp"

#include <vector>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "programs/cost.hpp"

namespace faro::programs {

using machine::MachineKind;

Cost scheduled_permute_cost(const machine::MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  if (machine.kind != MachineKind::dmm) {
    fail(ErrorCode::value, "fit a program to the machine",
         "the conflict-free schedule on the " + std::string(machine::name(machine.kind)), "the dmm");
  }
  return {.time = (Units{2} * Sizes(machine, n).sweep()).value,
          .text = "2 (p/w + l - 1) n/p",
          .source = "Theorem 6.3"};
}

Cost direct_permute_cost(const machine::MachineOptions& machine, std::span<const std::uint32_t> target) {
  check_sizes(machine, target.size());
  const Sizes sizes(machine, target.size());
  machine::TurnCounter turns(machine.width);
  std::vector<std::uint64_t> words(machine.width);
  std::uint64_t stages = 0;
  for (std::size_t first = 0; first < target.size(); first += machine.width) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = target[first + i];
    stages += machine.kind == MachineKind::dmm ? turns.by_bank(words) : turns.by_group(words);
  }
  return {.time = (sizes.sweep() + Units{stages} + Units{sizes.hidden} * Units{sizes.rounds}).value,
          .text = "(p/w + l - 1) n/p + (l - 1) n/p + (stages of the writes, counted)",
          .source = "section 6, the straightforward program"};
}

}  // namespace faro::programs
