#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/form_to_run.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/index_candidates.hpp"
#include "plan/planners.hpp"
#include "plan/reversals.hpp"
#include "size_text.hpp"

namespace faro {
namespace {

using detail::log2_floor;

bool is_width(std::uint64_t element_bytes) { return element_bytes > 0 && element_bytes <= kMaxElementBytes; }

void check_affine(const Problem& problem) {
  if (!f2::is_power_of_two(problem.element_bytes) || problem.element_bytes > kMaxElementBytes) {
    fail(ErrorCode::value, "plan", "elements of " + std::to_string(problem.element_bytes) + " bytes",
         "a power of two from 1 to " + std::to_string(kMaxElementBytes),
         "rolls, flips, permutations of axes and index arrays take any width up to that, and from file to "
         "file "
         "so do all maps");
  }
  const int n = affine(problem.permutation, "plan").bits();
  if (n > kMaxProblemBits) {
    fail(ErrorCode::value, "plan", "n = " + std::to_string(n),
         "at most " + std::to_string(kMaxProblemBits) + " index bits");
  }
}

bool is_in_place(const Problem& problem) { return problem.placement == Placement::in_place; }

// ", of 11.4 MiB"
std::string size_of_second(const Problem& problem) { return ", of " + size_text(total_bytes(problem)); }

// The problem in the form that it is carried out in. In place, elements of a width that is no power of two
// have a way only in transpositions.
Problem in_form_to_run(Problem problem, const Target& target) {
  const auto* const affine_map = std::get_if<Affine>(&problem.permutation);
  const std::optional<Affine> given = affine_map ? std::optional(*affine_map) : std::nullopt;
  problem = detail::in_form_to_run(std::move(problem), target);
  if (!is_in_place(problem) || std::holds_alternative<Affine>(problem.permutation)) return problem;
  if (given && is_width(problem.element_bytes) && !given->is_identity() && !as_transposition(problem) &&
      !detail::reverses_in_place(problem)) {
    fail(ErrorCode::unsupported, "plan",
         to_text(*given) + " in place, of " + std::to_string(problem.element_bytes) + " bytes",
         "elements whose width is a power of two, or a transposition",
         "other widths need a second array for the result" + size_of_second(problem));
  }
  const auto* const cyclic = std::get_if<Cyclic>(&problem.permutation);
  if (cyclic != nullptr && cyclic->shift == 0 && !cyclic->reversed) {
    problem.permutation = Axes({cyclic->count}, {0});  // one row: nothing moves
  }
  return problem;
}

}  // namespace

Plan::Plan(const Problem& problem, Target target)
    : given_(problem), problem_(problem), target_(std::move(target)) {
  if (problem.view) {
    plan_view();
    return;
  }
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed != nullptr) {
    if (!indexed->on_host()) {
      fail(ErrorCode::value, "plan",
           "an index array in the memory of device " + std::to_string(indexed->device().value_or(0)),
           "one of the host, or its recognition", "faro::plan and faro::plan_only read it where it is");
    }
    const int read_by = target_.engine == Engine::cpu ? target_.threads : 0;
    *this = Plan(problem, target_, recognise(*indexed, read_by));
    return;
  }
  plan_in_its_form();
}

void Plan::plan_in_its_form() {
  problem_ = in_form_to_run(std::move(problem_), target_);
  if (std::holds_alternative<Affine>(problem_.permutation)) return plan_affine();
  plan_other(detail::known_form(problem_.permutation), {});
}

Plan::Plan(const Problem& problem, Target target, Recognition recognition, const IndexChoice& choice)
    : given_(problem), problem_(problem), target_(std::move(target)) {
  if (problem.view)
    fail(ErrorCode::value, "plan", "a method for a strided view", "none", "views have one way");
  const bool was_array = std::holds_alternative<Indexed>(problem.permutation);
  const Recognition told = recognition;
  // A schedule of blocks is of those that it says.
  if (was_array && choice.scheduled && recognition.family == Family::blocks) {
    problem_ = detail::problem_of_blocks(problem_, recognition.blocks);
    recognition.permutation = problem_.permutation;
  }
  if (was_array && choice.empty()) {
    if (recognition.family == Family::exceptions &&
        detail::runs_with_exceptions(problem_, recognition, target_)) {
      exceptions_ = recognition.exceptions;
      problem_.permutation = recognition.permutation;
    } else if (recognition.family == Family::blocks) {
      problem_ = detail::problem_of_block(problem_, recognition);
      recognition = detail::recognition_of_block(problem_, std::move(recognition), target_.threads);
      problem_.permutation = detail::form_to_run(problem_, recognition);
    } else {
      problem_.permutation = detail::form_to_run(problem_, recognition);
    }
  }
  if (was_array && !recognition.findings.empty()) {
    recognition_ = std::make_shared<const Recognition>(told);
  }
  // A method that is asked for is one of axes, rolls and flips as they are given.
  const bool as_given =
      !choice.empty() && !is_in_place(problem_) && !std::holds_alternative<Affine>(problem_.permutation);
  if (!as_given) problem_ = in_form_to_run(std::move(problem_), target_);
  if (std::holds_alternative<Affine>(problem_.permutation)) {
    if (!choice.empty()) {
      fail(ErrorCode::unsupported, "plan", "a method for " + to_text(problem_.permutation),
           "none: affine maps have one way", "index arrays have others");
    }
    plan_affine();
  } else {
    plan_other(std::move(recognition), choice);
  }
  add_patch();
}

Blocks Plan::blocks() const {
  const std::uint64_t together = problem_.element_bytes / std::max<std::uint64_t>(given_.element_bytes, 1);
  const std::uint64_t repeats = given_.batch == 0 ? 1 : problem_.batch / given_.batch;
  return {.repeats = repeats, .together = together};
}

// Where the others' passes brought wrong elements, which are as many.
void Plan::add_patch() {
  if (exceptions_.empty() || given_.batch == 0) return;
  Pass pass =
      target_.engine == Engine::cuda
          ? detail::gpu_patch(exceptions_, given_)
          : detail::cpu_patch(exceptions_, given_, passes_.empty() ? nullptr : passes_.back().cpu.get());
  passes_.push_back(std::move(pass));
}

void Plan::plan_in_place(const IndexChoice& choice) {
  if (problem_.element_bytes == 0) fail(ErrorCode::value, "plan", "elements of 0 bytes", "at least a byte");
  const bool on_gpu = target_.engine == Engine::cuda;
  if (choice.empty() && !as_transposition(problem_) && detail::reverses_in_place(problem_)) {
    array_bytes_ = total_bytes(problem_);
    unit_bytes_ = problem_.element_bytes & (~problem_.element_bytes + 1);
    if (on_gpu) unit_bytes_ = std::min(unit_bytes_, target_.unit_bytes_max);
    passes_ = on_gpu ? detail::gpu_reversals(problem_, target_) : detail::cpu_reversals(problem_, target_);
    return;
  }
  if (!choice.empty() || !as_transposition(problem_)) {
    fail(ErrorCode::unsupported, "plan",
         to_text(problem_.permutation) + " in place" + (choice.empty() ? "" : ", by a given method"),
         "an affine map over F2, the transposition of an array of rows x columns, rolls and flips of axes, "
         "or two equal axes that change places",
         "other permutations need a second array for the result" + size_of_second(problem_));
  }
  transpose_plan_ = std::make_shared<const TransposePlan>(problem_, target_);
  passes_ = transpose_plan_->passes();
}

void Plan::plan_other(Recognition recognition, const IndexChoice& choice) {
  if (target_.tile) {
    fail(ErrorCode::unsupported, "plan", "a tile kernel for " + to_text(problem_.permutation),
         "a tile kernel for affine maps only");
  }
  if (is_in_place(problem_)) {
    plan_in_place(choice);
  } else if (std::holds_alternative<Indexed>(problem_.permutation)) {
    index_plan_ = std::make_shared<const IndexPlan>(problem_, target_, std::move(recognition), choice);
    passes_ = index_plan_->passes();
  } else {
    detail::check_width(problem_);
    const detail::IndexWork work{.problem = problem_,
                                 .target = target_,
                                 .recognition = recognition,
                                 .calibration = curves_of(target_),
                                 .repeats = choice.repeats};
    IndexCandidate way = detail::only_candidate(work, choice);
    passes_ = detail::passes_of(work, way);
    way.solved.reset();
    way_ = std::make_shared<const IndexCandidate>(std::move(way));
  }
  array_bytes_ = total_bytes(problem_);
  unit_bytes_ =
      std::min<std::uint64_t>(problem_.element_bytes & (~problem_.element_bytes + 1), target_.unit_bytes_max);
}

void Plan::plan_affine() {
  check_affine(problem_);
  array_bytes_ = total_bytes(problem_);
  unit_bytes_ = std::min(problem_.element_bytes, target_.unit_bytes_max);
  unit_bits_per_element_ = log2_floor(problem_.element_bytes) - log2_floor(unit_bytes_);
  if (problem_.batch == 0) return;

  const Affine map = direct_sum(Affine(unit_bits_per_element_), affine(problem_.permutation, "plan"));
  const detail::Work work{.map = map, .unit_bits = log2_floor(unit_bytes_), .arrays = problem_.batch};
  detail::Planned planned;
  if (is_in_place(problem_)) {
    if (map.is_identity()) return;
    planned = target_.engine == Engine::cuda ? detail::plan_in_place_for_gpu(work, target_)
                                             : detail::plan_in_place_for_cpu(work, target_);
  } else if (map.is_identity()) {
    // A copy of everything at once, however many arrays there are.
    planned.passes = {detail::make_pass(PassKind::copy, map, work.unit_bits, work.arrays, array_bytes_)};
  } else {
    planned = target_.engine == Engine::cuda ? detail::plan_for_gpu(work, target_)
                                             : detail::plan_for_cpu(work, target_);
  }
  passes_ = std::move(planned.passes);
  for (Pass& pass : passes_) {
    if (target_.engine != Engine::cuda) {
      detail::put_on_cpu(pass, detail::cpu_affine_pass(pass, unit_bytes_, target_));
      continue;
    }
    pass.gpu = std::make_shared<const detail::GpuPass>(detail::affine_pass(pass, work.unit_bits));
    pass.source = pass.gpu->source;
    pass.target = pass.gpu->target;
  }
  folded_batch_bits_ = planned.folded_batch_bits;
}

}  // namespace faro
