// Rows, columns, rows: every row permuted within itself, then every column, then every row; as published, the
// columns as rows of the transpose.
#include "faro/schedule/row_column.hpp"
#include "kernels/partition_in_global.hpp"
#include "plan/gpu/gpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

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

// A pass of one array at a time, since there is but one workspace.
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
    .passes = row_column_passes,
    .words = [](const GpuPass& /*pass*/, const PassWork& /*work*/) -> std::string {
      return "every column is permuted within itself, strips of columns a block";
    },
    .cost = columns_cost};

}  // namespace faro::detail
