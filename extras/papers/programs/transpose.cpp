#include "programs/transpose.hpp"

#include <algorithm>
#include <vector>

#include "programs/cost.hpp"
#include "programs/progressions.hpp"

namespace faro::programs {
namespace {

using machine::MachineKind;
using machine::MachineOptions;

// A warp's elements, up to where k or the column wraps around: k_begin .. k_end - 1 of row j.
struct Piece {
  std::uint64_t j;
  std::uint64_t k_begin;
  std::uint64_t k_end;
};

// Calls visit(pieces) for each warp's elements in turn; pieces end where a row does, and, for
// `at_diagonal`, where j + k reaches m.
template <typename Visit>
void for_each_warp(std::uint64_t side, std::uint64_t width, bool at_diagonal, Visit visit) {
  std::vector<Piece> pieces;
  for (std::uint64_t first = 0; first < side * side; first += width) {
    pieces.clear();
    for (std::uint64_t x = first; x < first + width;) {
      const std::uint64_t j = x / side;
      const std::uint64_t k = x % side;
      std::uint64_t end = std::min(side, k + first + width - x);
      if (at_diagonal && k < side - j) end = std::min(end, side - j);
      pieces.push_back({j, k, end});
      x += end - k;
    }
    visit(pieces);
  }
}

// All stages of one sweep over the matrix, whose warp accesses visit address(j, k) with this step in k.
template <typename Address>
std::uint64_t stages_of_sweep(const MachineOptions& machine, std::uint64_t side, std::uint64_t step,
                              bool at_diagonal, Address address) {
  ProgressionStages stages(machine.kind, machine.width);
  std::vector<Progression> progressions;
  std::uint64_t sum = 0;
  for_each_warp(side, machine.width, at_diagonal, [&](const std::vector<Piece>& pieces) {
    progressions.clear();
    for (const Piece& piece : pieces) {
      progressions.push_back({address(piece.j, piece.k_begin), step, piece.k_end - piece.k_begin});
    }
    sum += stages(progressions);
  });
  return sum;
}

// Two rounds for every element, of so many stages in all.
std::uint64_t time_of(const MachineOptions& machine, std::uint64_t n, std::uint64_t stages) {
  const Sizes sizes(machine, n);
  return (Units{stages} + Units{2} * Units{sizes.rounds} * Units{sizes.hidden}).value;
}

constexpr const char* kCounted =
    "n/w + (stages of the reads, progression by progression) + 2 (l - 1) n/p; w does not divide m";
constexpr const char* kCountedBoth =
    "(stages of reads and writes, progression by progression) + 2 (l - 1) n/p; w does not divide m";

}  // namespace

Cost straightforward_transpose_cost(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  const std::uint64_t m = matrix_side(n);
  const std::uint64_t writes = n / machine.width;
  if (m % machine.width == 0) {
    return {.time = time_of(machine, n, writes + n),
            .text = "((w + 1) p/w + 2 (l - 1)) n/p",
            .source = "section 5"};
  }
  const std::uint64_t reads =
      stages_of_sweep(machine, m, m, false, [&](std::uint64_t j, std::uint64_t k) { return k * m + j; });
  return {.time = time_of(machine, n, writes + reads), .text = kCounted, .source = "section 5"};
}

Cost diagonal_transpose_cost(const MachineOptions& machine, std::uint64_t n) {
  check_sizes(machine, n);
  const std::uint64_t m = matrix_side(n);
  if (m % machine.width == 0) {
    const bool banked = machine.kind == MachineKind::dmm;
    return {.time = time_of(machine, n, banked ? 2 * (n / machine.width) : 2 * n),
            .text = banked ? "2 (p/w + l - 1) n/p" : "2 (p + l - 1) n/p",
            .source = "Lemma 5.1"};
  }
  const std::uint64_t reads = stages_of_sweep(
      machine, m, m + 1, true, [&](std::uint64_t j, std::uint64_t k) { return k * m + (j + k) % m; });
  const std::uint64_t writes = stages_of_sweep(
      machine, m, m + 1, true, [&](std::uint64_t j, std::uint64_t k) { return (j + k) % m * m + k; });
  return {.time = time_of(machine, n, reads + writes), .text = kCountedBoth, .source = "Lemma 5.1"};
}

}  // namespace faro::programs
