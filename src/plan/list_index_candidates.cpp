// Every way of a permutation that is not affine, on either engine: whether it applies, what it moves and
// takes, and the form in which it is left to the solvers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "faro/error.hpp"
#include "faro/schedule/row_column.hpp"
#include "kernels/partition_params.hpp"
#include "plan/index_candidates.hpp"
#include "plan/solved_passes.hpp"
#include "plan/solvers.hpp"
#include "size_text.hpp"

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

namespace {

// --- forms without an index array, each of which has one way

struct FormOfPermutation {
  IndexForm operator()(const Affine& /*map*/) const { return none(); }
  IndexForm operator()(const Indexed& /*array*/) const { return none(); }
  template <typename Form>
  IndexForm operator()(const Form& form) const {
    return form;
  }

  static IndexForm none() {
    FARO_CHECK(false);
    return DirectForm{};
  }
};

// What it takes is counted where it is told.
IndexCandidate structured_candidate(const IndexWork& work) {
  const IndexForm form = std::visit(FormOfPermutation(), work.problem.permutation);
  return with_workspace(work, {.method = solvers_of(form).method, .bytes_moved = 2 * work.array_bytes()});
}

// --- ways of an index array

// Every array is random within itself only: of many small ones each is as fast, an element, as one array of
// the best size up to theirs that fills the machine, and no faster than the copy.
std::optional<double> direct_us(const IndexWork& work) {
  const bool gathers = work.direction() == Direction::gather || work.turns_scatter();
  const IndexKernel kernel = gathers ? IndexKernel::gather : IndexKernel::scatter;
  const std::uint64_t total = work.count() * work.problem.batch;
  const auto whole = work.calibration.predict_us(kernel, work.width(), total);
  if (!whole || work.problem.batch <= 1) return whole;
  constexpr std::uint64_t kFills = std::uint64_t{1} << 20;
  const std::uint64_t size = std::min(total, std::max(work.count(), kFills));
  const double rate = *work.calibration.predict_us(kernel, work.width(), size) / static_cast<double>(size);
  const double least = work.calibration.predict_us(IndexKernel::copy, work.width(), total).value_or(0);
  return std::min(*whole, std::max(least, rate * static_cast<double>(total)));
}

// Entries of a device's memory are checked; a GPU may turn them round.
double direct_schedule_us(const IndexWork& work) {
  const double check = work.is_checked() ? 0 : index_pass_us(work, IndexKernel::check).value_or(0);
  return check + (work.turns_scatter() ? index_pass_us(work, IndexKernel::scatter).value_or(0) : 0);
}

IndexCandidate direct_candidate(const IndexWork& work) {
  const std::uint64_t indices = work.count() * static_cast<std::uint64_t>(work.index_bytes());
  return {.method = IndexMethod::direct,
          .bytes_moved = 2 * work.array_bytes() + indices,
          .schedule_bytes = indices,
          .curve_us = direct_us(work),
          .schedule_us = direct_schedule_us(work)};
}

IndexCandidate window_candidate(const IndexWork& work) {
  IndexCandidate made{.method = IndexMethod::window,
                      .bytes_moved = 2 * work.array_bytes() + kPlaceBytes * work.count(),
                      .schedule_bytes = kPlaceBytes * work.count(),
                      .schedule_us = index_pass_us(work, IndexKernel::copy)};
  constexpr std::uint64_t kMostDisplacement = 32767;  // shifts are 16 bits wide
  const auto displacement = work.recognition.displacement;
  if (!displacement) {
    made.why_not = "elements move further than a tile's margin";
  } else if (*displacement > kMostDisplacement) {
    made.why_not =
        fmt::format("elements move by up to {}, a window has at most {}", *displacement, kMostDisplacement);
  } else if (work.count() <= 4 * *displacement) {
    made.why_not = fmt::format("elements move by up to {}, a good part of the array", *displacement);
  } else if (on_gpu(work.target) && work.target.chunk_bytes_max > 0 &&
             (4 * *displacement + 1) * work.width() > work.target.chunk_bytes_max) {
    made.why_not = fmt::format("margins of {} elements and a tile as long do not fit {}", *displacement,
                               size_text(work.target.chunk_bytes_max));
  } else {
    // Margins are read twice.
    constexpr double kMargins = 1.25;
    made.curve_us = times(streaming_us(work, IndexKernel::window), kMargins);
  }
  return with_workspace(work, std::move(made));
}

IndexCandidate runs_candidate(const IndexWork& work) {
  constexpr std::uint64_t kRunDescriptor = 16;
  IndexCandidate made{.method = IndexMethod::runs, .schedule_us = index_pass_us(work, IndexKernel::copy)};
  const auto count_of_runs = work.recognition.runs;
  if (!count_of_runs || *count_of_runs == 0) {
    made.why_not = "contiguous runs are short";
    made.bytes_moved = 2 * work.array_bytes();
    return made;
  }
  made.schedule_bytes = kRunDescriptor * *count_of_runs + kRunDescriptor / 2;
  made.bytes_moved = 2 * work.array_bytes() + made.schedule_bytes;
  const int run_bits = static_cast<int>(std::bit_width(work.count() / *count_of_runs)) - 1;
  made.curve_us = streaming_us(work, IndexKernel::runs, 0, std::max(0, run_bits));
  return made;
}

IndexCandidate row_column_candidate(const IndexWork& work, IndexMethod method) {
  const bool five = method == IndexMethod::row_column_5;
  const std::uint64_t lists = 3 * kPlaceBytes * work.count();
  IndexCandidate made{.method = method,
                      .passes = five ? 5 : 3,
                      .bytes_moved = (five ? 10 : 6) * work.array_bytes() + lists,
                      .schedule_bytes = lists};
  const std::uint64_t most_columns =
      on_gpu(work.target) && work.target.chunk_bytes_max > 0
          ? std::clamp<std::uint64_t>(work.target.chunk_bytes_max / work.width(), 1,
                                      schedule::kMostMatrixSide)
          : schedule::kMostMatrixSide;
  std::uint64_t columns = std::min(most_columns, work.count());
  while (columns > 0 && work.count() % columns != 0) --columns;
  if (columns == 0 || work.count() / columns > schedule::kMostMatrixSide) {
    made.why_not = fmt::format("{} are no matrix of at most 2^16 rows of at most {}",
                               count_text(work.count(), "element"), count_text(most_columns));
    return made;
  }
  constexpr double kOverCopy = 1.1;
  made.curve_us = times(streaming_us(work, IndexKernel::place), 3);
  if (five && made.curve_us) {
    const auto copy = streaming_us(work, IndexKernel::copy);
    if (copy) *made.curve_us += 2 * kOverCopy * *copy;
  }
  return with_workspace(work, std::move(made));
}

// The array as it is given, on a device wherever it begins there; or as a GPU turns it round, into one of its
// own.
IndexForm direct_form(const IndexWork& work) {
  constexpr std::uint64_t narrow_entries = std::uint64_t{1} << 32;
  if (work.turns_scatter()) return DirectForm{.index_bytes = work.count() > narrow_entries ? 8 : 4};
  const auto* const indexed = std::get_if<Indexed>(&work.problem.permutation);
  const bool elsewhere = indexed != nullptr && !indexed->on_host();
  const auto begin = elsewhere ? reinterpret_cast<std::uintptr_t>(indexed->device_entries()) : 0;
  return DirectForm{.index_bytes = work.index_bytes(), .aligned = begin % kernels::kMovedBytes == 0};
}

MatrixForm matrix_form(const IndexWork& work, IndexMethod method) {
  const schedule::MatrixSides sides = schedule::matrix_sides(work.count());
  return {.rows = static_cast<std::uint32_t>(sides.rows),
          .columns = static_cast<std::uint32_t>(sides.columns),
          .as_published = method == IndexMethod::row_column_5};
}

IndexMethod asked_method(const IndexChoice& choice) {
  const IndexMethod method = choice.method.value_or(IndexMethod::partition);
  if (method != IndexMethod::partition && (choice.chunk_bits || !choice.level_bits.empty())) {
    fail(ErrorCode::value, "plan", fmt::format("sizes of chunks or levels with method {}", name(method)),
         "them with method partition");
  }
  return method;
}

IndexCandidate asked_way(const IndexWork& work, const IndexChoice& choice, IndexMethod method) {
  switch (method) {
    case IndexMethod::direct:
      return direct_candidate(work);
    case IndexMethod::window:
      return window_candidate(work);
    case IndexMethod::runs:
      return runs_candidate(work);
    case IndexMethod::partition:
      return asked_partition(work, choice);
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return row_column_candidate(work, method);
    default:
      break;
  }
  fail(ErrorCode::unsupported, "plan", fmt::format("method {} for an index array", name(method)),
       "direct, window, runs, partition, row_column or row_column_5",
       "what an index array is recognised as is carried out as that without being asked");
}

}  // namespace

void check_width(const Problem& problem) {
  if (problem.element_bytes == 0 || problem.element_bytes > kMaxElementBytes) {
    fail(ErrorCode::value, "plan", "elements of " + std::to_string(problem.element_bytes) + " bytes",
         "1 to " + std::to_string(kMaxElementBytes) + " bytes");
  }
  static_cast<void>(total_bytes(problem));
}

IndexCandidate only_candidate(const IndexWork& work, const IndexChoice& choice) {
  IndexCandidate only = structured_candidate(work);
  if (choice.empty()) return only;
  const IndexMethod method = asked_method(choice);
  if (only.method == method) return only;
  fail(ErrorCode::unsupported, "plan",
       fmt::format("method {} for {}", name(method), to_text(work.problem.permutation)),
       fmt::format("method {}", name(only.method)), "index arrays have the others");
}

std::vector<IndexCandidate> index_candidates(const IndexWork& work) {
  std::vector<IndexCandidate> all{direct_candidate(work), window_candidate(work), runs_candidate(work)};
  for (IndexCandidate& each : partition_candidates(work)) all.push_back(std::move(each));
  for (const IndexMethod method : {IndexMethod::row_column, IndexMethod::row_column_5}) {
    all.push_back(row_column_candidate(work, method));
    if (std::string& why = all.back().why_not; why.empty())
      why = "taken only on request, because its edge colouring takes long";
  }
  return all;
}

IndexCandidate asked_candidate(const IndexWork& work, const IndexChoice& choice) {
  IndexCandidate made = asked_way(work, choice, asked_method(choice));
  if (choice.scheduled) made.why_not.clear();
  if (made.why_not.empty()) return made;
  fail(ErrorCode::unsupported, "plan", fmt::format("method {}", name(made.method)), "a method that applies",
       made.why_not);
}

IndexForm form_of(const IndexWork& work, const IndexCandidate& candidate) {
  switch (candidate.method) {
    case IndexMethod::direct:
      return direct_form(work);
    case IndexMethod::window:
      return WindowForm{static_cast<std::uint32_t>(work.recognition.displacement.value_or(0))};
    case IndexMethod::runs:
      return RunsForm{work.recognition.runs.value_or(0)};
    case IndexMethod::partition:
      return *candidate.shape;
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return matrix_form(work, candidate.method);
    default:
      break;
  }
  return std::visit(FormOfPermutation(), work.problem.permutation);
}

std::vector<Pass> passes_of(const IndexWork& work, const IndexCandidate& chosen) {
  return on_gpu(work.target) ? gpu_passes_of(work, chosen) : cpu_passes_of(work, chosen);
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
