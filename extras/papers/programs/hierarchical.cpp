#include "programs/hierarchical.hpp"

#include <numeric>
#include <string>

#include "faro/error.hpp"
#include "programs/cost.hpp"

namespace faro::programs {
namespace {

using machine::MachineOptions;

void check(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  if (machine.kind != machine::MachineKind::hmm) {
    fail(ErrorCode::value, "fit a program to the machine",
         "a program of the hmm on the " + std::string(machine::name(machine.kind)), "the hmm");
  }
  const std::uint64_t side = matrix_side(n);
  if (side % machine.width != 0) {
    fail(ErrorCode::value, "fit a program to the machine",
         "m = " + std::to_string(side) + " at width " + std::to_string(machine.width),
         "an m x m matrix whose side m is a multiple of the width");
  }
}

// S(b) + l' - 1
Units shared_round(const MachineOptions& machine, std::uint64_t block_threads) {
  const std::uint64_t blocks = machine.threads / block_threads;
  const std::uint64_t blocks_of_a_dmm = (blocks + machine.dmms - 1) / machine.dmms;
  return Units{blocks_of_a_dmm * (block_threads / machine.width)} + Units{machine.shared_latency - 1};
}

}  // namespace

// Both divide what a block handles, and leave whole waves: p divides m^2 = n.
std::uint64_t row_block_threads(const MachineOptions& machine, std::uint64_t side) {
  return std::gcd(machine.threads, side);
}

std::uint64_t tile_block_threads(const MachineOptions& machine) {
  return machine.width * std::gcd(machine.threads / machine.width, machine.width);
}

Cost shared_transpose_cost(const MachineOptions& machine, std::uint64_t n) {
  check(machine, n);
  const Sizes sizes(machine, n);
  const Units shared = shared_round(machine, tile_block_threads(machine)) * Units{sizes.rounds};
  return {.time = (Units{2} * sizes.sweep() + Units{2} * shared).value,
          .text = "(2 (p/w + l - 1) + 2 (S(b) + l' - 1)) n/p; S(b) = ceil(p/(b k)) b/w, b = w gcd(p/w, w)",
          .source = "Lemma 5.1"};
}

Cost hmm_permute_cost(const MachineOptions& machine, std::uint64_t n) {
  check(machine, n);
  const Sizes sizes(machine, n);
  const Units rows = shared_round(machine, row_block_threads(machine, matrix_side(n)));
  const Units tiles = shared_round(machine, tile_block_threads(machine));
  return {
      .time = (Units{16} * sizes.sweep() + (Units{12} * rows + Units{4} * tiles) * Units{sizes.rounds}).value,
      .text =
          "(16 (p/w + l - 1) + 12 (S(b) + l' - 1) + 4 (S(c) + l' - 1)) n/p; S(b) = ceil(p/(b k)) b/w, "
          "b = gcd(p, m), c = w gcd(p/w, w)",
      .source = "the five kernels of Kasagi, Nakano and Ito"};
}

}  // namespace faro::programs
