// The transposition in place on a GPU: which sweeps, through how much scratch, and as which launches.
//
//     form           rows are shuffled                 columns are shuffled               scratch
//     whole          an array at a time, in shared memory                                 none
//     resident       in shared memory                  strips in shared memory            none
//     long_rows      segments and stretches, K rows    strips in shared memory            K rows
//                    moving along
//     long_columns   in shared memory                  windows, W columns moving along    W columns
//     huge           by way of a copy of some rows     windows, W columns moving along    both
//
// Elements of one unit of up to 8 bytes go in vectors of 16 (kernels/c2r_vectors.hpp); others, and form
// huge's copies, unit by unit. The view is m x n with rows of n: the array itself (C2R), or with its labels
// exchanged (R2C). Where panels are too narrow to be read as they lie, the rotation is a sweep of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "faro/plan/transpose_plan.hpp"
#include "faro/problem/target.hpp"
#include "kernels/c2r_huge_rows.hpp"
#include "kernels/c2r_long_rows.hpp"
#include "kernels/c2r_rows.hpp"
#include "kernels/c2r_strips.hpp"
#include "kernels/c2r_windows.hpp"
#include "kernels/transpose_whole.hpp"

namespace faro::detail {

/// What the choice depends on; tests make them small.
struct GpuTransposeLimits {
  std::uint64_t shared_bytes = std::uint64_t{227} << 10;  // a block
  std::uint64_t blocks_bytes = std::uint64_t{56} << 10;   // a block, where several shall fit a multiprocessor
  std::uint64_t whole_bytes = std::uint64_t{48} << 10;    // of arrays that a block takes at once
  std::uint64_t strip_bytes = 128;                        // a row of a strip, or a segment
  std::uint64_t strip_bytes_min = 64;
  std::uint64_t panel_bytes_min = 128;                  // panels narrower than this are rotated by a sweep
  std::uint64_t window_rows = 256;                      // with halo
  std::uint64_t tile_bytes = std::uint64_t{32} << 10;   // of strips and stretches in vectors
  std::uint64_t batch_bytes = std::uint64_t{64} << 20;  // of a launch of a sweep that moves along, at least
  std::uint64_t batch_bytes_max = std::uint64_t{128} << 20;  // and a sixteenth of the array, at most
  std::uint64_t copied_bytes = std::uint64_t{16} << 20;      // of rows of form huge
  bool vectors = true;                                       // where elements allow it
  std::uint64_t blocks_max = (std::uint64_t{1} << 31) - 1;
};

GpuTransposeLimits gpu_transpose_limits(const Target& target);

enum class GpuTransposeForm { nothing, whole, resident, long_rows, long_columns, huge };

struct GpuTranspose {
  Rectangle rectangle;
  GpuTransposeForm form = GpuTransposeForm::nothing;
  bool r2c = false;
  std::uint64_t m = 1;  // of the view
  std::uint64_t n = 1;
  bool rotates_apart = false;
  bool vectors = false;  // elements of one unit below 16 bytes: every sweep but rotations alone and rows that
                         // no block holds
  std::uint64_t unit_bytes = 1;
  std::uint32_t units = 1;
  std::uint64_t moved_rows = 0;     // K
  std::uint64_t moved_columns = 0;  // W
  std::uint64_t copied_rows = 0;    // of form huge
  std::uint64_t arrays_at_once = 1;
  std::uint32_t strip = 0;  // columns of a strip or of a window, or of a segment of a long row
  std::uint32_t segment = 0;
  std::uint32_t window_rows = 0;  // without halo
  std::uint32_t row_threads = 0;

  /// Elements of the scratch, of one array.
  std::uint64_t scratch_elements() const { return moved_rows * n + moved_columns * m; }
  /// Lines of max(m, n) elements that are lent, at least.
  std::uint64_t workers() const { return arrays_at_once * (moved_rows + moved_columns) + copied_rows; }
  std::uint64_t workspace_bytes() const {
    return (arrays_at_once * scratch_elements() + copied_rows * n) * rectangle.element_bytes;
  }
  int sweeps() const;
};

/// Errors: ErrorCode::unsupported for shapes past what the kernels count in: columns of 2^31 elements or more
/// on both sides.
GpuTranspose plan_gpu_transpose(const Rectangle& rectangle, const GpuTransposeLimits& limits);

struct GpuHugeStep {
  kernels::C2rHugeRowsParams params;
  bool gathers = false;
};

/// One kernel over the arrays of a group, or a series of equal ones: `repeats` launches, each of the rows or
/// columns after those of the one before, in turns with the `turns` - 1 series that follow this one.
struct GpuTransposeLaunch {
  std::variant<kernels::TransposeWholeParams, kernels::C2rRowsParams, kernels::C2rStripsParams,
               kernels::C2rWindowsParams, kernels::C2rLongRowsParams, GpuHugeStep>
      params;
  std::uint64_t blocks_of_array = 0;  // of TransposeWholeParams: blocks in all
  std::uint32_t threads = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t repeats = 1;
  std::size_t turns = 1;

  /// Whether its kernel moves vectors; else units.
  bool in_vectors() const;
};

/// Launch number `number` of a series, the first being 0.
GpuTransposeLaunch in_series(const GpuTransposeLaunch& launch, std::uint64_t number);

/// Calls take(i, number) for launch `number` of series i, for all, in the order in which they are launched.
/// `series_of(i)`: the series.
template <typename SeriesOf, typename Take>
void for_each_in_turn(std::size_t count, const SeriesOf& series_of, const Take& take) {
  for (std::size_t first = 0; first < count; first += series_of(first).turns) {
    const GpuTransposeLaunch& leader = series_of(first);
    for (std::uint64_t number = 0; number < leader.repeats; ++number) {
      for (std::size_t i = first; i < first + leader.turns; ++i) take(i, number);
    }
  }
}

/// Tells a launch in vectors that the array begins `skew` elements after an address aligned to 16 bytes,
/// which is what it is then given. Returns whether it is one; others take the array as it is.
bool set_skew(GpuTransposeLaunch& launch, std::uint32_t skew);

/// The launches of one group of arrays, as series in order; a group of fewer arrays launches fewer blocks.
/// Groups of `arrays_at_once` follow one another, form whole but one.   Cost: some series, however many
/// launches they are.
std::vector<GpuTransposeLaunch> launches_of(const GpuTranspose& plan);

}  // namespace faro::detail
