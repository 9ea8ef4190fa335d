// Permutations of axes, and strided views: one pass, box by box, or piece by piece where elements are long
// (layout/cache_box.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "contains.hpp"
#include "faro/error.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

std::uint64_t bytes_of(const layout::CacheBox& box, const std::vector<std::size_t>& axes) {
  std::uint64_t bytes = box.element_bytes;
  for (const std::size_t axis : axes) bytes *= box.extent[axis];
  return bytes;
}

std::vector<std::size_t> written_axes(const layout::CacheBox& box) {
  std::vector<std::size_t> run = box.out_run();
  run.resize(box.out_contiguous());
  return run;
}

// Registers serve where both sides' runs begin with axes of their own. What is written in runs is else put
// together run by run, where a run is a line at least.
AxesMove move_of(const layout::CacheBox& box) {
  if (box.is_of_long_elements()) return AxesMove::pieces;
  const bool turns = is_turned_width(box.element_bytes) && box.in_contiguous() > 0 &&
                     box.out_contiguous() > 0 && box.in_run().front() != box.out_run().front();
  if (turns) return AxesMove::planes;
  const bool runs = box.out_contiguous() > 0 && bytes_of(box, written_axes(box)) >= kLineBytes;
  return runs ? AxesMove::lines : AxesMove::table;
}

// What is written of a box at a time, and whether that is whole lines where the output begins at one.
bool writes_lines(const layout::CacheBox& box, const std::vector<std::size_t>& run) {
  bool whole = bytes_of(box, run) % kLineBytes == 0;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
    whole =
        whole && (contains(run, axis) || static_cast<std::uint64_t>(box.axes[axis].out) % kLineBytes == 0);
  return whole;
}

// Elements of less than a line that registers do not turn. Runs that begin with the same axis on both sides
// make a box of long rows, or of one; others are read across, a box as the caches hold it.
layout::CacheBox short_lines_box(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                                 const layout::CacheBox& tried, layout::CacheBoxLimits limits) {
  constexpr std::uint64_t kLongRun = 8192;
  constexpr std::uint64_t kSharedRun = 2048;
  constexpr std::uint64_t kCrossRun = 512;
  constexpr std::uint64_t kLeastCrossElements = 32;
  constexpr std::uint64_t kCrossElements = 48;
  if (tried.in_order.front() != 0) {
    limits.out_run_bytes = std::max(kCrossRun, kLeastCrossElements * tried.element_bytes);
    limits.in_run_bytes = std::min(limits.out_run_bytes, kCrossElements * tried.element_bytes);
  } else {
    // Rows that follow one another on both sides are one run.
    const std::uint64_t row_bytes = tried.axes.front().extent * tried.element_bytes;
    const bool follow = tried.axes.size() > 1 && tried.axes[1].in == static_cast<std::int64_t>(row_bytes) &&
                        tried.axes[1].out == tried.axes[1].in;
    limits.out_run_bytes = follow || row_bytes >= kLongRun ? kLongRun : kSharedRun;
    limits.in_run_bytes = limits.out_run_bytes;
  }
  return layout::choose_cache_box(axes, element_bytes, limits);
}

// Boxes of arrays larger than the caches. Lengths of runs as measured (docs/notes/axes-experiments.md): what
// begins and ends between lines is written through the caches at both ends, and wants longer runs.
layout::CacheBox streamed_box(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes) {
  constexpr layout::CacheBoxLimits kLines{.long_bytes = 16384, .in_run_bytes = 384, .out_run_bytes = 384};
  layout::CacheBox box = layout::choose_cache_box(axes, element_bytes, kLines);
  if (box.is_of_long_elements()) return box;
  layout::CacheBoxLimits limits = kLines;
  if (box.element_bytes >= kLineBytes) {
    constexpr std::uint64_t kWideBytes = 256;
    const bool wide = box.element_bytes >= kWideBytes;
    limits.in_run_bytes = wide ? 2048 : 1024;
    limits.out_run_bytes = wide ? 512 : 1024;
    return layout::choose_cache_box(axes, element_bytes, limits);
  }
  if (move_of(box) == AxesMove::lines) return short_lines_box(axes, element_bytes, box, limits);
  if (move_of(box) != AxesMove::planes) return layout::choose_cache_box(axes, element_bytes);
  if (!writes_lines(box, turned_axes(box).rows)) {
    limits.out_run_bytes = 1024;
    box = layout::choose_cache_box(axes, element_bytes, limits);
  }
  // A box of few columns has long rows.
  constexpr std::uint64_t kLeastBytes = 16384;
  while (box.elements() * box.element_bytes < kLeastBytes && limits.out_run_bytes < kLeastBytes) {
    limits.out_run_bytes *= 2;
    box = layout::choose_cache_box(axes, element_bytes, limits);
  }
  // Rows shorter than a line are put together by the box.
  return bytes_of(box, turned_axes(box).rows) < kLineBytes ? layout::choose_cache_box(axes, element_bytes)
                                                           : box;
}

// Boxes of arrays that the caches may hold.
layout::CacheBox cached_box(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes) {
  layout::CacheBox box = layout::choose_cache_box(axes, element_bytes);
  const bool short_lines = move_of(box) == AxesMove::lines && box.element_bytes < kLineBytes;
  return short_lines ? short_lines_box(axes, element_bytes, box, {}) : box;
}

AxesMove streamed_move(const layout::CacheBox& box) {
  const AxesMove move = move_of(box);
  if (move == AxesMove::pieces) return move;
  if (box.element_bytes >= kLineBytes) return AxesMove::lines;
  const bool groups = move == AxesMove::planes && bytes_of(box, turned_axes(box).rows) >= kLineBytes;
  return groups ? AxesMove::groups : move;
}

// Of a thread: a box as it is written, runs of the output one after another; or a run; or groups of them.
std::uint64_t stage_bytes_of(const layout::CacheBox& box, AxesMove move) {
  const std::uint64_t run = bytes_of(box, written_axes(box));
  const auto with_places = [&](std::uint64_t bytes, std::uint64_t run_bytes) {
    return whole_pages(bytes + places_bytes(cut_run_places(run_bytes, box.element_bytes)));
  };
  if (move == AxesMove::lines) return with_places(cut_run_bytes(run) + 2 * kLineBytes, run);
  if (move == AxesMove::groups) {
    const std::uint64_t rows = bytes_of(box, turned_axes(box).rows);
    return with_places(2 * group_stage_bytes(cut_run_bytes(rows), box.element_bytes), rows);
  }
  return whole_pages(stage_pitch(run) * (box.elements() * box.element_bytes / run));
}

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

// Groups of whole lines: the nearer rows lie together on either side, in as few pages as may be, the faster.
double groups_over_copy(const layout::CacheBox& box) {
  constexpr double kLeast = 1.2;
  constexpr double kFarRead = 0.15;  // a page for each row
  constexpr double kFarWritten = 0.1;
  const TurnedAxes turned = turned_axes(box);
  const auto read = static_cast<std::uint64_t>(std::abs(box.axes[turned.rows.front()].in));
  const auto written = static_cast<std::uint64_t>(box.axes[turned.columns.front()].out);
  const auto far = [](std::uint64_t apart) {
    return std::min(1.0, static_cast<double>(apart) / static_cast<double>(kPageBytes));
  };
  return kLeast + kFarRead * far(read) + kFarWritten * far(written);
}

// Elements of a line and more, each with its own; those that are no whole lines go by way of a stage.
double long_lines_over_copy(std::uint64_t element_bytes) {
  constexpr double kLeast = 1.12;
  constexpr double kElementBytes = 25;
  constexpr double kStaged = 1.15;
  const double whole = kLeast + kElementBytes / static_cast<double>(element_bytes);
  return element_bytes % kLineBytes == 0 ? whole : kStaged * whole;
}

double over_copy_of(const CpuAxes& axes) {
  constexpr double kPieces = 1.05;
  constexpr double kGroups = 1.4;   // by way of the caches
  constexpr double kRagged = 1.8;   // that begin or end between lines
  constexpr double kSquares = 2.5;  // by way of a stage as large as a box
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
      return joins_lines(box) ? groups_over_copy(box) : kRagged;
    case AxesMove::planes:
      return axes.staged ? kSquares : kGroups;
    case AxesMove::lines: {
      if (box.element_bytes >= kLineBytes) return long_lines_over_copy(box.element_bytes);
      const layout::StridedAxis& first = box.axes[written_axes(box).front()];
      const bool in_vectors = transposes_in_registers(box.element_bytes) &&
                              (first.in == -first.out || first.in == 2 * first.out || first.in == 0);
      return in_vectors ? kVectors : kElement + kElementBytes / bytes;
    }
    default:
      return kTable;
  }
}

// "64 x 65", slowest of the output first
std::string extents_text(const std::vector<std::uint64_t>& extents) {
  std::string text;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    if (*extent != 1) text += fmt::format("{}{}", text.empty() ? "" : " x ", *extent);
  }
  return text.empty() ? "1" : text;
}

std::string axes_loop(const CpuPass& pass) {
  const auto& axes = std::get<CpuAxes>(pass.kernel);
  if (axes.move == AxesMove::pieces) return "runs of " + size_text(axes.box.element_bytes);
  const std::string elements = axes.box.element_bytes == pass.element_bytes
                                   ? "elements"
                                   : "units of " + size_text(axes.box.element_bytes);
  const auto how = [&]() -> const char* {
    switch (axes.move) {
      case AxesMove::groups:
        return "turned in registers while others are read and written";
      case AxesMove::planes:
        return "turned in registers";
      case AxesMove::lines:
        return "run by run";
      default:
        return "element by element";
    }
  };
  return fmt::format("boxes of {} {}, {}", extents_text(axes.box.extent), elements, how());
}

// The axes of like arrays, slowest last, in elements.
std::vector<layout::StridedAxis> axes_of(const CpuWork& work) {
  return layout::strided_axes(layout::unit_axes(std::get<Axes>(work.form), 1, work.batch));
}

// A pass for each view, all with the workspace of the one that wants most.
std::vector<CpuPass> view_passes(const CpuWork& work) {
  std::vector<CpuPass> passes;
  std::uint64_t most = 0;
  for (const Strided& part : views_of(std::get<CyclicAxes>(work.form), work.batch)) {
    const Strided view = normal_form(part);
    std::vector<layout::StridedAxis> axes;
    for (std::size_t axis = 0; axis < view.extents.size(); ++axis)
      axes.push_back(
          {.extent = view.extents[axis], .in = view.in_strides[axis], .out = view.out_strides[axis]});
    CpuPass pass = cpu_strided_pass(layout::normal_axes(std::move(axes)), work.element_bytes,
                                    work.total_bytes() > work.streaming_bytes);
    pass.in_offset = view.in_offset * work.element_bytes;
    pass.out_offset = view.out_offset * work.element_bytes;
    pass.part_bytes = element_count(view) * work.element_bytes;
    most = std::max(most, pass.run.workspace.part_bytes);
    passes.push_back(std::move(pass));
  }
  for (CpuPass& pass : passes) pass.run.workspace.part_bytes = most;
  return passes;
}

}  // namespace

TurnedAxes turned_axes(const layout::CacheBox& box) {
  std::vector<std::size_t> in = box.in_run();
  in.resize(box.in_contiguous());
  const std::vector<std::size_t> out = written_axes(box);
  FARO_CHECK(!in.empty() && !out.empty() && in.front() != out.front());
  TurnedAxes turned{.columns = {in.front()}, .rows = {out.front()}};
  const std::size_t next = out.size() > 1 ? out[1] : out.front();
  for (std::size_t k = 1; k < in.size() && in[k] != next && in[k] != out.front(); ++k)
    turned.columns.push_back(in[k]);
  for (std::size_t k = 1; k < out.size() && !contains(turned.columns, out[k]); ++k)
    turned.rows.push_back(out[k]);
  return turned;
}

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

CpuPass cpu_strided_pass(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                         bool past_caches) {
  CpuAxes made{.box = past_caches ? streamed_box(axes, element_bytes) : cached_box(axes, element_bytes)};
  made.move = past_caches ? streamed_move(made.box) : move_of(made.box);
  made.staged = past_caches && made.move != AxesMove::pieces;
  CpuPass pass{.kind = PassKind::axes, .kernel = {}};
  pass.streamed = past_caches;
  if (made.staged) pass.run.workspace.part_bytes = stage_bytes_of(made.box, made.move);
  pass.kernel = std::move(made);
  return pass;
}

const CpuSolver kCpuAxesSolver{
    .has_form = [](const IndexForm& form) { return has_form<Axes>(form) || has_form<CyclicAxes>(form); },
    .passes = [](const CpuWork& work) -> std::vector<CpuPass> {
      if (has_form<CyclicAxes>(work.form)) return view_passes(work);
      return {cpu_strided_pass(axes_of(work), work.element_bytes, work.total_bytes() > work.streaming_bytes)};
    },
    .makes = is_kernel<CpuAxes>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::get<CpuAxes>(pass.kernel).move == AxesMove::pieces
                 ? "long elements are copied in the order of the output"
                 : "boxes are read as they lie and written as the output lies";
    },
    .loop = axes_loop,
};

}  // namespace faro::detail
