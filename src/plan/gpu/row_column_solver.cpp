// Rows, columns, rows: every row permuted within itself, then every column, then every row; as published, the
// columns as rows of the transpose.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/partition_in_global.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"
#include "schedule/row_column.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

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

std::vector<IndexCandidate> row_column_candidates(const IndexWork& work) {
  std::vector<IndexCandidate> candidates;
  if (!is_array(work)) return candidates;
  for (const IndexMethod method : {IndexMethod::row_column, IndexMethod::row_column_5}) {
    IndexCandidate made = row_column_candidate(work, method);
    if (made.why_not.empty()) made.why_not = "taken only on request, because its edge colouring takes long";
    candidates.push_back(std::move(made));
  }
  return candidates;
}

IndexForm row_column_form(const IndexWork& work, const IndexCandidate& candidate) {
  const schedule::MatrixSides sides = schedule::matrix_sides(work.count());
  return MatrixForm{.rows = static_cast<std::uint32_t>(sides.rows),
                    .columns = static_cast<std::uint32_t>(sides.columns),
                    .as_published = candidate.method == IndexMethod::row_column_5};
}

GpuPass columns_pass(const PassWork& work) {
  const auto& matrix = std::get<MatrixForm>(work.form);
  const kernels::ElementUnits units = work.units();
  kernels::ColumnsParams params{
      .rows = matrix.rows,
      .columns = matrix.columns,
      .strip = kernels::columns_strip(matrix.rows, matrix.columns, work.element_bytes, work.shared_bytes),
      .strips = 0,
      .units = units.units};
  const bool fits = params.strip > 0;
  if (fits) params.strips = (matrix.columns + params.strip - 1) / params.strip;
  GpuKernel kernel{
      .id = ColumnsKernel{static_cast<int>(units.unit_bytes), work.way, !fits},
      .params = params,
      .blocks = fits ? params.strips : ceil_div(work.count * units.units, kernels::kInGlobalThreads),
      .threads = static_cast<int>(fits ? kernels::kColumnsThreads : kernels::kInGlobalThreads),
      .shared_bytes = params.strip * work.element_bytes * matrix.rows,
      .in_alignment = units.unit_bytes,
      .out_alignment = units.unit_bytes};
  return {.kind = PassKind::columns,
          .kernels = {kernel},
          .tables = {{TableKind::middle}},
          .in_place = fits,
          .blocks_of_one_array = true};
}

// Of one array at a time, since there is but one workspace.
GpuPass transpose_pass(const PassWork& work, const Axes& axes) {
  PassWork of_one = work;
  of_one.form = axes;
  of_one.batch = 1;
  return axes_passes(of_one).front();
}

// Strips of a line or less, each row of a strip by itself: of what lines have beyond the strip, a fifth is
// read and written in vain; and nothing is loaded while the one block that a multiprocessor holds stores.
// Without shared memory elements of a sector and more are read where they lie.
std::optional<double> columns_cost(const CountedPass& of) {
  constexpr double kClocked = 0.2;
  if (std::get<ColumnsKernel>(of.pass.gpu->kernels.front().id).in_global) {
    return overlapped_us(of, {.bytes = 1.83, .clocked = 0});
  }
  constexpr double warp_bytes = 512;
  constexpr double cycles = 66;  // for what a warp moves in vectors
  return overlapped_us(of, {.bytes = 1.443, .load_lines = 0.129, .store_lines = 0.129, .clocked = kClocked},
                       {.processors = cycles * of.moved_bytes() / warp_bytes});
}

}  // namespace

std::vector<GpuPass> row_column_passes(const PassWork& work) {
  const auto& matrix = std::get<MatrixForm>(work.form);
  const bool forwards = work.way == Way::forwards;
  std::vector<GpuPass> passes{
      chunk_pass(work, matrix.columns, forwards ? TableKind::first : TableKind::last)};
  if (matrix.as_published) {
    const Axes transpose({matrix.rows, matrix.columns}, {1, 0});
    passes.push_back(transpose_pass(work, transpose));
    passes.push_back(chunk_pass(work, matrix.rows, TableKind::middle));
    passes.push_back(transpose_pass(work, transpose.inverse()));
  } else {
    passes.push_back(columns_pass(work));
  }
  passes.push_back(chunk_pass(work, matrix.columns, forwards ? TableKind::last : TableKind::first));
  return passes;
}

const GpuSolver kRowColumnSolver{
    .makes = [](PassKind kind) { return kind == PassKind::columns; },
    .is_method =
        [](IndexMethod method) {
          return method == IndexMethod::row_column || method == IndexMethod::row_column_5;
        },
    .candidates = row_column_candidates,
    .asked =
        [](const IndexWork& work, const IndexChoice& choice) {
          return required(row_column_candidate(work, *choice.method), choice);
        },
    .form = row_column_form,
    .has_form = has_form<MatrixForm>,
    .passes = row_column_passes,
    .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
      return "every column is permuted within itself, strips of columns a block";
    },
    .cost = columns_cost};

}  // namespace faro::detail
