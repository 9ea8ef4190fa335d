#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "plan/index_candidates.hpp"
#include "plan/solved_passes.hpp"

namespace faro::detail {

Direction IndexWork::direction() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr ? Direction::scatter : indexed->direction();
}

int IndexWork::index_bytes() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr ? 0 : indexed->index_type().bytes;
}

bool IndexWork::is_checked() const {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr || indexed->is_checked();
}

bool IndexWork::turns_scatter() const {
  constexpr std::uint64_t kLeastScattered = 64;
  return on_gpu(target) && direction() == Direction::scatter && width() < kLeastScattered && repeats != 1;
}

std::optional<double> streaming_us(const IndexWork& work, IndexKernel kernel, int chunk_bits, int run_bits) {
  return work.calibration.predict_us(kernel, work.width(), work.count() * work.problem.batch, chunk_bits,
                                     run_bits);
}

std::optional<double> index_pass_us(const IndexWork& work, IndexKernel kernel, int chunk_bits) {
  return work.calibration.predict_us(kernel, static_cast<std::uint64_t>(work.index_bytes()), work.count(),
                                     chunk_bits);
}

std::optional<double> times(std::optional<double> us, double factor) {
  if (us) *us *= factor;
  return us;
}

IndexCandidate with_workspace(const IndexWork& work, IndexCandidate made) {
  if (on_gpu(work.target) && made.passes == 1 && made.method != IndexMethod::partition) return made;
  SolvedPasses solved;
  if (on_gpu(work.target)) {
    solved.gpu = solve(work_of(work, made));
    made.workspace_bytes = workspace_bytes(solved.gpu);
  } else {
    solved.cpu = solve(cpu_work_of(work, made));
    if (!solved.cpu.empty()) made.workspace_bytes = solved.cpu.front().run.workspace.lent_bytes();
  }
  made.solved = std::make_shared<const SolvedPasses>(std::move(solved));
  return made;
}

// The only way of its problem. On a CPU its time is that of a copy, of which loops reach about nine tenths,
// and boxes of axes what their kind does; a GPU's passes are counted.
IndexCandidate structured_candidate(const IndexWork& work, IndexMethod method) {
  constexpr double kOverCopy = 1.1;
  IndexCandidate made = with_workspace(work, {.method = method, .bytes_moved = 2 * work.array_bytes()});
  if (on_gpu(work.target)) return made;
  made.curve_us = method == IndexMethod::axes ? axes_us(made.solved->cpu, work.calibration)
                                              : times(streaming_us(work, IndexKernel::copy), kOverCopy);
  return made;
}

IndexCandidate required(IndexCandidate made, const IndexChoice& choice) {
  if (choice.scheduled) made.why_not.clear();
  if (made.why_not.empty()) return made;
  fail(ErrorCode::unsupported, "plan", fmt::format("method {}", name(made.method)), "a method that applies",
       made.why_not);
}

std::vector<IndexCandidate> index_candidates(const IndexWork& work) {
  std::vector<IndexCandidate> all;
  for (const GpuSolver* const solver : index_solvers()) {
    for (IndexCandidate& each : solver->candidates(work)) all.push_back(std::move(each));
  }
  FARO_CHECK(!all.empty());
  return all;
}

IndexCandidate asked_candidate(const IndexWork& work, const IndexChoice& choice) {
  const IndexMethod method = choice.method.value_or(IndexMethod::partition);
  if (method != IndexMethod::partition && (choice.chunk_bits || !choice.level_bits.empty())) {
    fail(ErrorCode::value, "plan", fmt::format("sizes of chunks or levels with method {}", name(method)),
         "them with method partition");
  }
  if (!is_array(work)) {
    IndexCandidate only = index_candidates(work).front();
    if (only.method == method) return only;
    fail(ErrorCode::unsupported, "plan",
         fmt::format("method {} for {}", name(method), to_text(work.problem.permutation)),
         fmt::format("method {}", name(only.method)), "index arrays have the others");
  }
  for (const GpuSolver* const solver : index_solvers()) {
    if (solver->asked != nullptr && solver->is_method(method)) return solver->asked(work, choice);
  }
  fail(ErrorCode::unsupported, "plan", fmt::format("method {} for an index array", name(method)),
       "direct, window, runs, partition, row_column or row_column_5",
       "what an index array is recognised as is carried out as that without being asked");
}

}  // namespace faro::detail

namespace faro {

std::string to_text(const IndexCandidate& candidate) {
  std::string text = name(candidate.method);
  if (!candidate.shape) return text;
  text += fmt::format(", chunks of 2^{} elements", candidate.shape->chunk_bits);
  const std::vector<int>& levels = candidate.shape->level_bits;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? ", levels of " : i + 1 == levels.size() ? " and " : ", ", levels[i]);
  }
  return levels.empty() ? text : text + (levels == std::vector{1} ? " bit" : " bits");
}

}  // namespace faro
