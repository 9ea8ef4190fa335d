// Rolls and flips in place: pieces of an axis change places end for end, one axis after another.
//
//     flip of 5        0 1 2 3 4     one piece      4 3 2 1 0
//     roll of 5 by 2   0 1 2 3 4     one piece      4 3 2 1 0
//                                    two pieces     3 4 0 1 2
//
// x -> s - x modulo n turns the pieces 0 .. s and s + 1 .. n - 1 end for end, and a roll by k is the one with
// s = n - 1, then the one with s = k - 1. Nothing is borrowed; each sweep reads and writes the array once.
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

// Moves along an axis, of `arrays` arrays of elements that are all that lies behind it.
void add_reversals(const Cyclic& move, std::uint64_t arrays, std::uint64_t element_bytes,
                   std::vector<CpuPass>& passes) {
  const auto add = [&](std::uint64_t shift) {
    CpuPass pass{.kind = PassKind::cyclic, .kernel = CpuReversal{.shift = shift}};
    pass.source = PassBuffer::data;
    pass.target = PassBuffer::data;
    pass.arrays = arrays;
    pass.count = move.count;
    pass.element_bytes = element_bytes;
    passes.push_back(std::move(pass));
  };
  if (move.count < 2) return;
  if (move.reversed) return add(move.shift);
  if (move.shift == 0) return;
  add(move.count - 1);
  add(move.shift - 1);
}

bool axes_stay(const CyclicAxes& axes) {
  for (std::size_t a = 0; a < axes.order().size(); ++a)
    if (axes.order()[a] != static_cast<int>(a)) return false;
  return true;
}

}  // namespace

bool reverses_in_place(const Problem& problem, const Target& target) {
  if (problem.placement != Placement::in_place || target.engine != Engine::cpu) return false;
  const auto* const axes = std::get_if<CyclicAxes>(&problem.permutation);
  return axes != nullptr ? axes_stay(*axes) : std::holds_alternative<Cyclic>(problem.permutation);
}

std::vector<CpuPass> reversals_of(const Problem& problem) {
  std::vector<CpuPass> passes;
  if (const auto* const cyclic = std::get_if<Cyclic>(&problem.permutation)) {
    add_reversals(*cyclic, problem.batch, problem.element_bytes, passes);
    return passes;
  }
  const auto& axes = std::get<CyclicAxes>(problem.permutation);
  std::uint64_t before = problem.batch;
  std::uint64_t behind = axes.count() * problem.element_bytes;
  for (std::size_t axis = 0; axis < axes.shape().size(); ++axis) {
    if (behind == 0) return {};
    behind /= axes.shape()[axis];
    add_reversals(axes.moves()[axis], before, behind, passes);
    before *= axes.shape()[axis];
  }
  return passes;
}

const CpuSolver kCpuReversalSolver{
    .makes = is_kernel<CpuReversal>,
    .words = [](const CpuPass& pass) -> std::string {
      const bool whole = std::get<CpuReversal>(pass.kernel).shift + 1 == pass.count;
      return whole ? "all elements change places end for end" : "two pieces change places end for end";
    },
    .loop = [](const CpuPass&) -> std::string { return "pairs of blocks, vectors reversed"; },
};

}  // namespace faro::detail
