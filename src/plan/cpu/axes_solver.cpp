// Permutations of axes, and strided views: one pass, box by box, or piece by piece where elements are long
// (layout/cache_box.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "contains.hpp"
#include "faro/error.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/cpu/axes_runs.hpp"
#include "plan/cpu/cpu_solver.hpp"

namespace faro::detail {
namespace {

// Whether the output's rows are one element each, again and again, and long.
bool repeats_long_rows(const layout::CacheBox& box) {
  constexpr std::uint64_t kLongRow = 4096;
  return !box.axes.empty() && box.axes.front().in == 0 &&
         box.axes.front().out == static_cast<std::int64_t>(box.element_bytes) &&
         box.axes.front().extent * box.element_bytes >= kLongRow;
}

// The axes of two to eight rows that are interleaved, or taken apart. Either side's rows go upwards.
std::optional<ChannelAxes> find_channels(const layout::CacheBox& box) {
  if (!transposes_in_registers(box.element_bytes) || box.axes.size() < 2) return std::nullopt;
  const auto width = static_cast<std::int64_t>(box.element_bytes);
  const auto is_channel = [](const layout::StridedAxis& axis) { return axis.extent <= kMostChannels; };
  const auto beside = [&](const layout::StridedAxis& channel) {
    return static_cast<std::int64_t>(channel.extent) * width;
  };
  const layout::StridedAxis& first = box.axes[0];
  const layout::StridedAxis& second = box.axes[1];
  if (first.out != width) return std::nullopt;
  if (is_channel(first) && second.out == beside(first) && second.in == width)
    return ChannelAxes{.channel = 0, .row = 1};
  for (std::size_t axis = 1; axis < box.axes.size(); ++axis) {
    const layout::StridedAxis& other = box.axes[axis];
    if (is_channel(other) && other.in == width && first.in == beside(other))
      return ChannelAxes{.channel = axis, .row = 0, .parts = true};
  }
  return std::nullopt;
}

// Makes a box of such rows where they are long enough. Parts of rows begin as far past a line as rows do.
bool make_channels(layout::CacheBox& box, bool past_caches) {
  constexpr std::uint64_t kBoxBytes = std::uint64_t{128} << 10;
  constexpr std::uint64_t kLeastStreamed = 512;
  constexpr std::uint64_t kLeastCached = 128;
  constexpr std::uint64_t kLeastFewCached = 32;
  constexpr std::uint64_t kFewBytes = 4;
  const auto axes = box.is_of_long_elements() ? std::nullopt : find_channels(box);
  if (!axes) return false;
  const std::uint64_t row = box.axes[axes->row].extent;
  const std::uint64_t channels = box.axes[axes->channel].extent;
  // Through the caches squares in registers are faster for short rows, but where they are of few bytes.
  const bool few_bytes = channels * box.element_bytes <= kFewBytes;
  const std::uint64_t least_cached = few_bytes ? kLeastFewCached : kLeastCached;
  if (row * box.element_bytes < (past_caches ? kLeastStreamed : least_cached)) return false;
  // In the caches squares of eight by eight are faster, but of single bytes.
  if (channels == kMostChannels && !past_caches && box.element_bytes > 1) return false;
  // So are other ways where many rows of the output do not meet lines together, and go by way of a stage.
  constexpr std::uint64_t kMany = 6;
  constexpr std::uint64_t kRegister = 16;
  const bool meets = static_cast<std::uint64_t>(box.axes[axes->channel].out) % kLineBytes == 0;
  if (axes->parts && past_caches && !meets && channels >= kMany && channels * box.element_bytes >= kRegister)
    return false;
  std::fill(box.extent.begin(), box.extent.end(), 1);
  box.extent[axes->channel] = channels;
  box.extent[axes->row] = std::min(row, kBoxBytes / (channels * box.element_bytes) / kLineBytes * kLineBytes);
  // As many rows as fill a box, whose cost is felt.
  for (std::size_t axis = 0; !past_caches && axis < box.axes.size() && box.extent[axes->row] == row; ++axis) {
    const std::uint64_t room = kBoxBytes / (box.elements() * box.element_bytes);
    if (axis == axes->channel || axis == axes->row) continue;
    if (room < 2) break;
    box.extent[axis] = std::min(box.axes[axis].extent, room);
    if (box.extent[axis] < box.axes[axis].extent) break;
  }
  return true;
}

// Registers serve where both sides' runs begin with axes of their own. What is written in runs is else put
// together run by run, where a run is a line at least.
AxesMove move_of(const layout::CacheBox& box) {
  if (box.is_of_long_elements()) return AxesMove::pieces;
  const bool turns = is_turned_width(box.element_bytes) && box.in_contiguous() > 0 &&
                     box.out_contiguous() > 0 && box.in_run().front() != box.out_run().front() &&
                     !repeats_long_rows(box);
  if (turns) return AxesMove::planes;
  const bool runs = box.out_contiguous() > 0 && bytes_of(box, written_axes(box)) >= kLineBytes;
  return runs ? AxesMove::lines : AxesMove::table;
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
  if (repeats_long_rows(tried)) {
    limits.out_run_bytes = kLongRun;
    limits.in_run_bytes = kLineBytes;
  } else if (tried.in_order.front() != 0) {
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

// Whether a box is fetched with so many lines between its rows that the first-level cache does not hold it.
bool overflows_with_gaps(const layout::CacheBox& box) {
  constexpr std::uint64_t kShortGap = 256;
  constexpr std::uint64_t kMostBytes = std::uint64_t{40} << 10;
  std::uint64_t stretch = box.element_bytes;
  std::uint64_t own = box.element_bytes;
  for (const std::size_t axis : box.in_run()) {
    const auto apart = static_cast<std::uint64_t>(std::abs(box.axes[axis].in));
    if (apart > stretch + kShortGap) break;
    stretch += apart * (box.extent[axis] - 1);
    own *= box.extent[axis];
  }
  const std::uint64_t gaps = (stretch - std::min(stretch, own)) * (box.elements() * box.element_bytes / own);
  const std::uint64_t bytes = box.elements() * box.element_bytes;
  return gaps > bytes / 10 && bytes + gaps > kMostBytes;
}

// Where boxes are fetched that are read while others are written. A first level of 32 KiB (Zen 4) has no room
// for a box and the next one, and for fewer lines that are under way; with 48 KiB (Zen 5) it is the better
// place, unless the second level is a large one. What reads lines ahead by itself there (Intel's) wants long
// runs, one after another as the input lies, and what is written is as fast in runs of two lines; repeated
// elements are written more than read (docs/notes/axes-experiments.md).
enum class BoxFetch : std::uint8_t { first_level, second_level, large_second_level };
BoxFetch box_fetch(const CoreCaches& caches, const std::vector<layout::StridedAxis>& axes) {
  constexpr std::uint64_t kSmallFirst = std::uint64_t{32} << 10;
  const bool repeats = std::any_of(axes.begin(), axes.end(), [](const auto& axis) { return axis.in == 0; });
  if (caches.has_large_second_level() && !repeats) return BoxFetch::large_second_level;
  const bool small = caches.first_level_bytes != 0 && caches.first_level_bytes <= kSmallFirst;
  return small ? BoxFetch::second_level : BoxFetch::first_level;
}

// Whether the output's two fastest axes are a plane that lies together in the input, too, of short columns
// there.
bool is_plane_together(const layout::CacheBox& box) {
  constexpr std::uint64_t kShort = 384;
  if (box.axes.size() < 2 || box.axes[0].extent * box.element_bytes > kShort) return false;
  const auto apart = [&](std::size_t axis) {
    return static_cast<std::uint64_t>(std::abs(box.axes[axis].in));
  };
  return apart(1) == box.element_bytes && apart(0) == box.axes[1].extent * box.element_bytes;
}

// Boxes of arrays larger than the caches. Lengths of runs as measured (docs/notes/axes-experiments.md): what
// begins and ends between lines is written through the caches at both ends, and wants longer runs. Boxes that
// are fetched into the second level may be longer than the first has room for.
layout::CacheBox streamed_box(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                              BoxFetch fetch) {
  constexpr layout::CacheBoxLimits kLines{.long_bytes = 8192, .in_run_bytes = 384, .out_run_bytes = 384};
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
  // For wide elements a box of such runs is small, and what each box costs is felt.
  constexpr std::uint64_t kWideElement = 8;
  constexpr std::uint64_t kUsualElement = 4;
  const bool long_reads = fetch == BoxFetch::large_second_level;
  if (long_reads) {
    limits.in_run_bytes = 512;
    limits.out_run_bytes = is_plane_together(box) ? kLines.out_run_bytes : 128;
    // Rows that follow one another are read whole, as one run.
    constexpr std::uint64_t kWholeRow = 2560;
    const auto row_bytes = static_cast<std::uint64_t>(std::abs(box.axes.front().in));
    if (row_bytes > limits.in_run_bytes && row_bytes <= kWholeRow) limits.in_run_bytes = row_bytes;
  } else if (box.element_bytes >= kWideElement) {
    limits.in_run_bytes = limits.out_run_bytes = 768;
  }
  if (fetch == BoxFetch::second_level && box.element_bytes >= kUsualElement) limits.out_run_bytes *= 2;
  if (limits.out_run_bytes != kLines.out_run_bytes)
    box = layout::choose_cache_box(axes, element_bytes, limits);
  if (fetch == BoxFetch::first_level && overflows_with_gaps(box)) {
    limits.out_run_bytes /= 2;
    box = layout::choose_cache_box(axes, element_bytes, limits);
  }
  if (!writes_lines(box, turned_axes(box).rows)) {
    limits.out_run_bytes = long_reads ? 512 : 1024;
    box = layout::choose_cache_box(axes, element_bytes, limits);
  }
  // A box of few columns has long rows.
  const std::uint64_t least_bytes = long_reads ? 6144 : 16384;
  while (box.elements() * box.element_bytes < least_bytes && limits.out_run_bytes < least_bytes) {
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

// Elements of whole lines that are streamed one by one as the input has them, each fetched well before:
// faster than boxes, unless they are so short that pages of the output matter. Then what is written side by
// side has to be read soon after one another. Rows that are read backwards are alike, of elements that
// registers turn.
bool goes_one_by_one(const layout::CacheBox& box, AxesMove move) {
  constexpr std::uint64_t kAnywhere = 192;
  constexpr std::uint64_t kLeast = 128;
  constexpr std::uint64_t kMostRow = 8192;
  constexpr std::uint64_t kNear = std::uint64_t{64} << 10;
  if (move != AxesMove::lines) return false;
  const bool backwards = reads_rows_backwards(box);
  if (backwards && !transposes_in_registers(box.element_bytes)) return false;
  const std::uint64_t bytes = bytes_one_by_one(box);
  if (bytes % kLineBytes != 0 || bytes < kLeast || (backwards && bytes > kMostRow)) return false;
  const auto first = box.axes.begin() + (backwards ? 1 : 0);
  const bool lines = std::all_of(first, box.axes.end(), [](const layout::StridedAxis& axis) {
    return static_cast<std::uint64_t>(axis.out) % kLineBytes == 0;
  });
  if (!lines || first == box.axes.end()) return false;
  return bytes >= kAnywhere || static_cast<std::uint64_t>(std::abs(first->in)) <= kNear;
}

// The stage of a thread: a box as it is written, runs of the output one after another; or a run; or groups of
// them.
std::uint64_t stage_bytes_of(const layout::CacheBox& box, AxesMove move) {
  const std::uint64_t run = bytes_of(box, written_axes(box));
  const auto with_places = [&](std::uint64_t bytes, std::uint64_t run_bytes, std::uint64_t ahead) {
    return whole_pages(bytes + places_bytes(cut_run_places(run_bytes, box.element_bytes), ahead));
  };
  if (move == AxesMove::lines) {
    const std::uint64_t ahead = boxes_ahead(box.elements() * box.element_bytes);
    return with_places(cut_run_bytes(run) + 2 * kLineBytes, run, ahead);
  }
  if (move == AxesMove::channels) return whole_pages(channel_stage_bytes());
  if (move == AxesMove::groups) {
    const std::uint64_t rows = bytes_of(box, turned_axes(box).rows);
    return with_places(2 * group_stage_bytes(cut_run_bytes(rows), box.element_bytes), rows, 1);
  }
  return whole_pages(stage_pitch(run) * (box.elements() * box.element_bytes / run));
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
      case AxesMove::channels:
        return channel_axes(axes.box).parts ? "taken apart in registers" : "interleaved in registers";
      default:
        return "element by element";
    }
  };
  std::string boxes = fmt::format("boxes of {} {}, {}", extents_text(axes.box.extent), elements, how());
  if (!axes.one_by_one) return boxes;
  const std::string rows = reads_rows_backwards(axes.box)
                               ? "rows of " + size_text(bytes_one_by_one(axes.box)) + ", turned in registers,"
                               : elements;
  return rows + " one by one in the order of the input; where the output begins between lines, " + boxes;
}

// The axes of like arrays, slowest last, in elements.
std::vector<layout::StridedAxis> axes_of(const CpuWork& work) {
  return layout::unit_axes(std::get<Axes>(work.form), 1, work.batch).axes;
}

// A pass for each view, all with the workspace of the one that wants most.
std::vector<CpuPass> view_passes(const CpuWork& work) {
  std::vector<CpuPass> passes;
  std::uint64_t most = 0;
  for (AxisMap& part : unrolled_parts(std::get<CyclicAxes>(work.form), work.batch)) {
    const AxisMap view = normal_form(std::move(part));
    CpuPass pass = cpu_strided_pass(view.axes, work.element_bytes, work.total_bytes() > work.streaming_bytes,
                                    work.caches);
    pass.in_offset = static_cast<std::uint64_t>(view.in_first) * work.element_bytes;
    pass.out_offset = static_cast<std::uint64_t>(view.out_first) * work.element_bytes;
    pass.part_bytes = unit_count(view.axes) * work.element_bytes;
    most = std::max(most, pass.run.workspace.part_bytes);
    passes.push_back(std::move(pass));
  }
  for (CpuPass& pass : passes) pass.run.workspace.part_bytes = most;
  return passes;
}

}  // namespace

TurnedAxes turned_axes(const layout::CacheBox& box, bool through_caches) {
  std::vector<std::size_t> in = box.in_run();
  in.resize(box.in_contiguous());
  const std::vector<std::size_t> out = written_axes(box);
  FARO_CHECK(!in.empty() && !out.empty() && in.front() != out.front());
  TurnedAxes turned{.columns = {in.front()}, .rows = {out.front()}};
  const std::size_t next = out.size() > 1 ? out[1] : out.front();
  // An axis of both runs is of the rows, which are written as long as they are; in the caches short columns
  // need it more.
  constexpr std::uint64_t kRegister = 16;
  const auto is_of_columns = [&](std::size_t axis) {
    if (axis == out.front()) return false;
    if (axis != next) return true;
    return through_caches && bytes_of(box, turned.columns) < kRegister &&
           bytes_of(box, turned.rows) >= kRegister;
  };
  for (std::size_t k = 1; k < in.size() && is_of_columns(in[k]); ++k) turned.columns.push_back(in[k]);
  for (std::size_t k = 1; k < out.size() && !contains(turned.columns, out[k]); ++k)
    turned.rows.push_back(out[k]);
  return turned;
}

ChannelAxes channel_axes(const layout::CacheBox& box) {
  const auto axes = find_channels(box);
  FARO_CHECK(axes);
  return *axes;
}

CpuPass cpu_strided_pass(const std::vector<layout::StridedAxis>& axes, std::uint64_t element_bytes,
                         bool past_caches, const CoreCaches& caches) {
  const BoxFetch fetch = past_caches ? box_fetch(caches, axes) : BoxFetch::first_level;
  CpuAxes made{.box =
                   past_caches ? streamed_box(axes, element_bytes, fetch) : cached_box(axes, element_bytes)};
  if (make_channels(made.box, past_caches)) {
    made.move = AxesMove::channels;
  } else {
    made.move = past_caches ? streamed_move(made.box) : move_of(made.box);
  }
  made.staged = past_caches && made.move != AxesMove::pieces;
  made.one_by_one = past_caches && goes_one_by_one(made.box, made.move);
  // Rows that are read backwards by themselves are long, and come soon enough.
  const bool reads_backwards = made.move == AxesMove::lines && reads_rows_backwards(made.box);
  made.by_input = fetch == BoxFetch::large_second_level && made.move == AxesMove::groups;
  made.second_level = made.by_input || (fetch == BoxFetch::second_level && !reads_backwards);
  CpuPass pass{.kind = PassKind::axes, .kernel = {}};
  pass.streamed = past_caches;
  if (made.staged) pass.run.workspace.part_bytes = stage_bytes_of(made.box, made.move);
  pass.kernel = std::move(made);
  return pass;
}

const CpuSolver kCpuAxesSolver{
    .passes = [](const CpuWork& work) -> std::vector<CpuPass> {
      if (std::holds_alternative<CyclicAxes>(work.form)) return view_passes(work);
      return {cpu_strided_pass(axes_of(work), work.element_bytes, work.total_bytes() > work.streaming_bytes,
                               work.caches)};
    },
    .makes = is_kernel<CpuAxes>,
    .words = [](const CpuPass& pass) -> std::string {
      return std::get<CpuAxes>(pass.kernel).move == AxesMove::pieces
                 ? "long elements are copied in the order of the input"
                 : "boxes are read as they lie and written as the output lies";
    },
    .loop = axes_loop,
};

}  // namespace faro::detail
