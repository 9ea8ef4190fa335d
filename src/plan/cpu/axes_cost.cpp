// How long permutations of axes take on a CPU, in copies of as many bytes: fitted to drawn shapes by what a
// box does beyond a copy, line by line and square by square (docs/notes/axes-experiments.md).
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "plan/cpu/axes_runs.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

// Whether groups of columns are written in whole lines but for a few: as rows are; or since columns follow
// one another in the output; or since rows that lie together there are cut at lines instead of where an axis
// ends.
bool joins_lines(const layout::CacheBox& box) {
  const TurnedAxes turned = turned_axes(box);
  if (writes_lines(box, turned.rows)) return true;
  auto together = static_cast<std::int64_t>(box.element_bytes);
  bool whole = true;
  std::size_t axis = 0;
  for (; axis < box.axes.size() && box.axes[axis].out == together; ++axis) {
    if (axis == turned.columns.front()) return whole;
    whole = whole && box.extent[axis] == box.axes[axis].extent;
    together *= static_cast<std::int64_t>(box.axes[axis].extent);
  }
  for (; axis < box.axes.size(); ++axis)
    if (static_cast<std::uint64_t>(box.axes[axis].out) % kLineBytes != 0) return false;
  return kLineBytes % box.element_bytes == 0;
}

// What of the lines at both ends of a run of the output is not the run's, as a part of it: such lines go
// through the caches, are read before and written twice.
double ends_of_runs(const layout::CacheBox& box, const std::vector<std::size_t>& run) {
  std::uint64_t apart = kLineBytes;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const bool in_run = contains(run, axis);
    if (in_run && box.extent[axis] == box.axes[axis].extent) continue;
    const auto stride = static_cast<std::uint64_t>(box.axes[axis].out);
    apart = std::gcd(apart, in_run ? box.extent[axis] * stride : stride);
  }
  return static_cast<double>(kLineBytes - apart) / static_cast<double>(bytes_of(box, run));
}

// What lies between rows of the input, as a part of them, up to as much: processors fetch ahead as if rows
// went on.
double gaps_of_input(const layout::CacheBox& box) {
  double span = static_cast<double>(box.element_bytes);
  double read = static_cast<double>(box.element_bytes);
  for (const layout::StridedAxis& axis : box.axes) {
    if (axis.in == 0) continue;
    span += std::abs(static_cast<double>(axis.in)) * static_cast<double>(axis.extent - 1);
    read *= static_cast<double>(axis.extent);
  }
  return std::clamp(span / read - 1, 0.0, 1.0);
}

// What is turned beyond `count` in squares of `size`: those at the end overlap the ones before.
double turned_beyond(std::uint64_t count, std::uint64_t size) {
  if (count < size) return 0;
  return static_cast<double>((count + size - 1) / size * size) / static_cast<double>(count) - 1;
}

double groups_over_copy(const layout::CacheBox& box) {
  constexpr double kLeast = 1.06;
  constexpr double kFarRead = 0.2;  // a page for each row
  constexpr double kFarWritten = 0.11;
  constexpr double kRagged = 0.24;  // runs that begin or end between lines
  constexpr double kEnds = 1.5;
  constexpr double kGaps = 0.3;
  constexpr double kRun = 0.21;         // a line's worth for each run
  constexpr double kFewColumns = 1.44;  // of a group that there are not
  constexpr double kColumns = 0.94;     // turned twice
  constexpr double kRows = 0.38;
  // Squares of other elements than those of 4 bytes, 16 x 16 in registers, take more instructions a byte.
  const auto of_width = [&] {
    switch (box.element_bytes) {
      case 1:
        return 0.59;
      case 2:
        return 0.22;
      case 8:
        return 0.33;
      case 16:
        return 0.77;
      default:
        return 0.0;
    }
  };
  const TurnedAxes turned = turned_axes(box);
  const auto far = [](std::int64_t apart) {
    return std::min(1.0, std::abs(static_cast<double>(apart)) / static_cast<double>(kPageBytes));
  };
  const std::uint64_t columns = bytes_of(box, turned.columns) / box.element_bytes;
  const std::uint64_t rows = bytes_of(box, turned.rows) / box.element_bytes;
  const std::uint64_t group = group_columns(box.element_bytes);
  const std::uint64_t square = std::min<std::uint64_t>(16, kLineBytes / box.element_bytes);
  double over = kLeast + of_width() + kFarRead * far(box.axes[turned.rows.front()].in) +
                kFarWritten * far(box.axes[turned.columns.front()].out) +
                kEnds * ends_of_runs(box, turned.rows) + kGaps * gaps_of_input(box) +
                kRun * static_cast<double>(kLineBytes) / static_cast<double>(rows * box.element_bytes) +
                kColumns * turned_beyond(columns, group) + kRows * turned_beyond(rows, square);
  if (!joins_lines(box)) over += kRagged;
  if (columns < group) over += kFewColumns * (static_cast<double>(group) / static_cast<double>(columns) - 1);
  return over;
}

// Elements of a line and more, each with its own. Those that are no whole lines go by way of a stage, and
// where no axes of the output lie together that could be cut at lines, both ends of each are written twice.
double long_lines_over_copy(const CpuAxes& axes) {
  constexpr double kOneByOne = 1.05;
  constexpr double kBoxes = 1.33;
  constexpr double kEnds = 5;
  const layout::CacheBox& box = axes.box;
  if (axes.one_by_one) return kOneByOne + gaps_of_input(box);
  const bool apart = std::any_of(box.axes.begin(), box.axes.end(), [&](const layout::StridedAxis& axis) {
    return static_cast<std::uint64_t>(axis.out) % kLineBytes != 0;
  });
  const std::vector<std::size_t> written = written_axes(box);
  const bool together = !written.empty();
  return kBoxes + gaps_of_input(box) + (apart && !together ? kEnds * ends_of_runs(box, written) : 0);
}

double over_copy_of(const CpuAxes& axes) {
  constexpr double kPieces = 1.03;
  constexpr double kCached = 1.4;   // by way of the caches
  constexpr double kSquares = 3.2;  // by way of a stage as large as a box
  constexpr double kSquaresEnds = 2.8;
  constexpr double kVectors = 1.5;  // runs that are put together in vectors
  constexpr double kElement = 1.2;  // one element after another, and for each
  constexpr double kElementBytes = 19;
  constexpr double kTable = 6;
  const layout::CacheBox& box = axes.box;
  const auto bytes = static_cast<double>(box.element_bytes);
  switch (axes.move) {
    case AxesMove::pieces:
      return kPieces;
    case AxesMove::groups:
      return groups_over_copy(box);
    case AxesMove::planes:
      return axes.staged ? kSquares + kSquaresEnds * ends_of_runs(box, written_axes(box)) : kCached;
    case AxesMove::lines: {
      if (box.element_bytes >= kLineBytes) return long_lines_over_copy(axes);
      const layout::StridedAxis& first = box.axes[written_axes(box).front()];
      const bool in_vectors = transposes_in_registers(box.element_bytes) &&
                              (first.in == -first.out || first.in == 2 * first.out || first.in == 0);
      return in_vectors ? kVectors : kElement + kElementBytes / bytes;
    }
    default:
      return kTable;
  }
}

}  // namespace

double axes_over_copy(const std::vector<CpuPass>& passes) {
  double all = 0;
  double times = 0;
  for (const CpuPass& pass : passes) {
    const auto* const axes = std::get_if<CpuAxes>(&pass.kernel);
    if (axes == nullptr) return 1;
    const double bytes = pass.part_bytes == 0 ? 1 : static_cast<double>(pass.part_bytes);
    all += bytes;
    times += bytes * over_copy_of(*axes);
  }
  return all == 0 ? 1 : times / all;
}

}  // namespace faro::detail
