// Maps that are computed: the way of a CPU. For a GPU they are index arrays, which the other solvers take.
#include "faro/error.hpp"
#include "plan/gpu/gpu_solver.hpp"

namespace faro::detail {
namespace {

std::vector<IndexCandidate> computed_candidates(const IndexWork& work) {
  if (!std::holds_alternative<Computed>(work.problem.permutation) || is_array(work)) return {};
  IndexCandidate made = structured_candidate(work, IndexMethod::computed);
  constexpr double kOverTiles = 1.5;  // a look-up an element, and runs of a tile's side
  made.curve_us = times(made.curve_us, kOverTiles);
  return {std::move(made)};
}

}  // namespace

const GpuSolver kComputedSolver{
    .makes = [](PassKind kind) { return kind == PassKind::computed; },
    .is_method = [](IndexMethod method) { return method == IndexMethod::computed; },
    .candidates = computed_candidates,
    .form = [](const IndexWork& work, const IndexCandidate& /*candidate*/) -> IndexForm {
      return form_of<Computed>(work);
    },
    .has_form = has_form<Computed>,
    .passes = [](const PassWork& /*work*/) -> std::vector<GpuPass> {
      FARO_CHECK(false);  // only a CPU has a candidate
      return {};
    },
    .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string { return {}; },
    .cost = [](const CountedPass& pass) { return cost_us(pass, {}); }};

}  // namespace faro::detail
