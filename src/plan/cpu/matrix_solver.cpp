// Rows, columns, rows: every row permuted within itself, then every column, then every row; as published, the
// columns as rows of the transpose. Rows and columns run in place after the first pass. Where a thread cannot
// hold a row, or a strip of columns, elements are gathered one by one.
#include <fmt/format.h>

#include <algorithm>

#include "faro/permutation/affine.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

CpuPass rows_pass(const CpuWork& work, std::uint64_t rows, std::uint64_t columns, const MatrixPart& part,
                  TableKind places) {
  return {.kind = work.way == Way::forwards ? PassKind::place : PassKind::pick,
          .kernel = CpuRows{.rows = rows, .columns = columns, .way = work.way, .part = part},
          .source = PassBuffer::output,
          .target = PassBuffer::output,
          .tables = {{places}}};
}

// Between the output and the workspace.
CpuPass turning_pass(const CpuWork& work, const Axes& axes, PassBuffer source, PassBuffer target) {
  CpuWork turning = work;
  turning.form = axes;
  CpuPass pass = kCpuAxesSolver.passes(turning).front();
  pass.source = source;
  pass.target = target;
  return pass;
}

std::vector<CpuPass> matrix_passes_on_cpu(const CpuWork& work) {
  const auto& matrix = std::get<MatrixForm>(work.form);
  const std::uint64_t rows = matrix.rows;
  const std::uint64_t columns = matrix.columns;
  const MatrixPart part = matrix_part(rows, columns, work.element_bytes);
  if (!fits_caches(columns, work.element_bytes) || !fits_caches(rows * part.strip, work.element_bytes)) {
    return {cpu_gather_by_schedule(work)};
  }
  const bool forwards = work.way == Way::forwards;
  std::vector<CpuPass> passes{
      rows_pass(work, rows, columns, part, forwards ? TableKind::first : TableKind::last)};
  passes.front().source = PassBuffer::input;
  CpuRun run{.workspace = {.part_bytes = part.bytes}};
  if (matrix.as_published) {
    passes.push_back(
        turning_pass(work, maps::transpose_any(rows, columns), PassBuffer::output, PassBuffer::workspace));
    passes.push_back(rows_pass(work, columns, rows, part, TableKind::middle));
    passes.back().source = passes.back().target = PassBuffer::workspace;
    passes.push_back(
        turning_pass(work, maps::transpose_any(columns, rows), PassBuffer::workspace, PassBuffer::output));
    for (const CpuPass& each : passes) {
      run.workspace.part_bytes = std::max(run.workspace.part_bytes, each.run.workspace.part_bytes);
    }
    run.workspace.between_bytes = work.total_bytes();
  } else {
    passes.push_back({.kind = PassKind::columns,
                      .kernel = CpuColumns{.rows = rows, .columns = columns, .way = work.way, .part = part},
                      .source = PassBuffer::output,
                      .target = PassBuffer::output,
                      .tables = {{TableKind::middle}}});
  }
  passes.push_back(rows_pass(work, rows, columns, part, forwards ? TableKind::last : TableKind::first));
  for (CpuPass& pass : passes) pass.run = run;
  return passes;
}

std::string matrix_loop(const CpuPass& pass) {
  if (const auto* const rows = std::get_if<CpuRows>(&pass.kernel)) {
    return fmt::format("{} by places, rows of {}", rows->way == Way::forwards ? "scatter" : "gather",
                       count_text(rows->columns, "element"));
  }
  const auto& columns = std::get<CpuColumns>(pass.kernel);
  return fmt::format("{} by places, strips of {}", columns.way == Way::forwards ? "scatter" : "gather",
                     count_text(columns.part.strip, "column"));
}

}  // namespace

MatrixPart matrix_part(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes) {
  MatrixPart made;
  made.strip = std::max<std::uint64_t>(1, kLineBytes / element_bytes);
  made.stage_offset = whole_pages(std::max({columns, rows, rows * made.strip}) * element_bytes);
  made.bytes = made.stage_offset + whole_pages(stage_bytes(element_bytes));
  return made;
}

const CpuSolver kCpuMatrixSolver{
    .passes = matrix_passes_on_cpu,
    .makes = is_kernel<CpuRows, CpuColumns>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::holds_alternative<CpuRows>(pass.kernel)
                 ? "every row is permuted within itself"
                 : "every column is permuted within itself, strips of columns at a time";
    },
    .loop = matrix_loop,
};

}  // namespace faro::detail
