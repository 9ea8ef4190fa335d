#include "plan/index_workspace.hpp"

#include <variant>

#include "plan/gpu/gpu_pass.hpp"
#include "plan/index_candidates.hpp"
#include "schedule/row_column.hpp"

namespace faro::detail {
namespace {

// Small arrays of a batch share a pass, as many as these bytes hold.
constexpr std::uint64_t kGroupBytes = std::uint64_t{8} << 20;

struct Bytes {
  std::uint64_t of_a_thread = 0;
  std::uint64_t between_passes = 0;
};

Bytes partition_bytes(const IndexWork& work, const schedule::PartitionShape& shape) {
  if (!fits_caches(std::min(shape.chunk_elements(), shape.count), work.width())) return {};
  const PartitionWorkspace made =
      partition_workspace(shape, work.direction(), {work.width(), work.problem.batch});
  return {.of_a_thread = made.thread_bytes, .between_passes = made.array_bytes};
}

Bytes row_column_bytes(const IndexWork& work, IndexMethod method) {
  const schedule::MatrixSides sides = schedule::matrix_sides(work.count());
  if (sides.columns == 0) return {};
  const RowColumnWorkspace made = row_column_workspace(sides.rows, sides.columns, work.width());
  if (!fits_caches(sides.columns, work.width()) || !fits_caches(sides.rows * made.strip, work.width()))
    return {};
  if (method == IndexMethod::row_column) return {.of_a_thread = made.thread_bytes};
  const auto transpose = [&](std::uint64_t rows, std::uint64_t columns) {
    return axes_thread_bytes(layout::choose_axes_box(maps::transpose_any(rows, columns), work.width()));
  };
  return {.of_a_thread = std::max({made.thread_bytes, transpose(sides.rows, sides.columns),
                                   transpose(sides.columns, sides.rows)}),
          .between_passes = work.array_bytes() * work.problem.batch};
}

Bytes bytes_of(const IndexWork& work, const IndexCandidate& candidate) {
  switch (candidate.method) {
    case IndexMethod::cyclic: {
      const auto* const cyclic = std::get_if<Cyclic>(&work.problem.permutation);
      const bool reversed = cyclic != nullptr && cyclic->reversed;
      return {.of_a_thread = reversed ? whole_pages(stage_bytes(work.width())) : 0};
    }
    case IndexMethod::axes: {
      const auto* const axes = std::get_if<Axes>(&work.problem.permutation);
      if (axes == nullptr) return {};
      return {.of_a_thread = axes_thread_bytes(layout::choose_axes_box(*axes, work.width()))};
    }
    case IndexMethod::window:
      return {.of_a_thread = whole_pages(stage_bytes(work.width()))};
    case IndexMethod::partition:
      return candidate.shape ? partition_bytes(work, *candidate.shape) : Bytes{};
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return row_column_bytes(work, candidate.method);
    case IndexMethod::direct:
    case IndexMethod::runs:
      break;
  }
  return {};
}

std::uint64_t cpu_workspace_bytes(const IndexWork& work, const IndexCandidate& candidate) {
  if (work.array_bytes() * work.problem.batch == 0) return 0;
  const Bytes bytes = bytes_of(work, candidate);
  const auto threads = static_cast<std::uint64_t>(std::max(1, work.target.threads));
  return from_any_address(bytes.of_a_thread * threads + bytes.between_passes);
}

// What the passes are lent.
std::uint64_t gpu_workspace_bytes(const IndexWork& work, const IndexCandidate& candidate) {
  const bool through_levels = candidate.method == IndexMethod::partition ||
                              candidate.method == IndexMethod::row_column ||
                              candidate.method == IndexMethod::row_column_5;
  return through_levels ? workspace_bytes(solve(work_of(work, candidate))) : 0;
}

}  // namespace

PartitionWorkspace partition_workspace(const schedule::PartitionShape& shape, Direction applied,
                                       CpuArrays arrays, PassesRun passes) {
  const std::uint64_t chunk_bytes = std::min(shape.chunk_elements(), shape.count) * arrays.element_bytes;
  const std::uint64_t one_array = shape.count * arrays.element_bytes;
  std::uint32_t buckets = 0;
  for (int level = 0; level < shape.levels(); ++level) buckets = std::max(buckets, shape.buckets(level));
  PartitionWorkspace made;
  made.stage_offset = whole_lines(chunk_bytes + kLineBytes);
  made.slots_offset = made.stage_offset + whole_lines(stage_bytes(arrays.element_bytes));
  made.thread_bytes = whole_pages(made.slots_offset + run_slots_bytes(buckets));
  made.group = std::max<std::uint64_t>(1, arrays.batch);
  // The last pass forwards runs in place; the first backwards has the input to leave alone.
  const int most_levels_without = applied == Direction::scatter ? 1 : 0;
  if (passes == PassesRun::one || shape.levels() <= most_levels_without) return made;
  if (one_array != 0) made.group = std::clamp<std::uint64_t>(kGroupBytes / one_array, 1, made.group);
  made.array_bytes = made.group * one_array;
  return made;
}

RowColumnWorkspace row_column_workspace(std::uint64_t rows, std::uint64_t columns,
                                        std::uint64_t element_bytes) {
  RowColumnWorkspace made;
  made.strip = std::max<std::uint64_t>(1, kLineBytes / element_bytes);
  made.stage_offset = whole_pages(std::max({columns, rows, rows * made.strip}) * element_bytes);
  made.thread_bytes = made.stage_offset + whole_pages(stage_bytes(element_bytes));
  return made;
}

std::uint64_t index_workspace_bytes(const IndexWork& work, const IndexCandidate& candidate) {
  return work.target.engine == Engine::cuda ? gpu_workspace_bytes(work, candidate)
                                            : cpu_workspace_bytes(work, candidate);
}

}  // namespace faro::detail
