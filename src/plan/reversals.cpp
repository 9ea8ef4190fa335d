#include "plan/reversals.hpp"

#include <variant>

namespace faro::detail {
namespace {

bool axes_stay(const CyclicAxes& axes) {
  for (std::size_t a = 0; a < axes.order().size(); ++a)
    if (axes.order()[a] != static_cast<int>(a)) return false;
  return true;
}

bool moves(const Cyclic& move) { return move.count >= 2 && (move.reversed || move.shift != 0); }

}  // namespace

bool reverses_in_place(const Problem& problem) {
  if (problem.placement != Placement::in_place) return false;
  const auto* const axes = std::get_if<CyclicAxes>(&problem.permutation);
  return axes != nullptr ? axes_stay(*axes) : std::holds_alternative<Cyclic>(problem.permutation);
}

std::vector<AxisMove> axis_moves(const Problem& problem) {
  std::vector<AxisMove> found;
  if (problem.batch == 0) return found;
  if (const auto* const cyclic = std::get_if<Cyclic>(&problem.permutation)) {
    if (moves(*cyclic)) found.push_back({*cyclic, problem.batch, problem.element_bytes});
    return found;
  }
  const auto& axes = std::get<CyclicAxes>(problem.permutation);
  std::uint64_t before = problem.batch;
  std::uint64_t behind = axes.count() * problem.element_bytes;
  for (std::size_t axis = 0; axis < axes.shape().size(); ++axis) {
    if (behind == 0) return {};
    behind /= axes.shape()[axis];
    if (moves(axes.moves()[axis])) found.push_back({axes.moves()[axis], before, behind});
    before *= axes.shape()[axis];
  }
  return found;
}

std::vector<Cyclic> reversals_of(const Cyclic& move) {
  if (move.reversed) return {move};
  const auto flip = [&](std::uint64_t shift) {
    return Cyclic{.count = move.count, .shift = shift, .reversed = true};
  };
  return {flip(move.count - 1), flip(move.shift - 1)};
}

}  // namespace faro::detail
