#include "tell/axes_counts.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "plan/cpu/axes_runs.hpp"

namespace faro::detail {
namespace {

using AxisNumbers = std::vector<std::size_t>;

// How often boxes of these extents come.
struct LikeBoxes {
  std::vector<std::uint64_t> extents;
  double count = 1;

  double product(const AxisNumbers& axes) const {
    double all = 1;
    for (const std::size_t axis : axes) all *= static_cast<double>(extents[axis]);
    return all;
  }
};

// Whole boxes, and those that are short along each of the axes that are cut.
std::vector<LikeBoxes> like_boxes(const layout::CacheBox& box) {
  std::vector<LikeBoxes> all{{.extents = box.extent}};
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const std::uint64_t whole = box.axes[axis].extent / box.extent[axis];
    const std::uint64_t rest = box.axes[axis].extent % box.extent[axis];
    std::vector<LikeBoxes> next;
    for (const LikeBoxes& each : all) {
      if (whole > 0) {
        next.push_back(each);
        next.back().count *= static_cast<double>(whole);
      }
      if (rest > 0) {
        next.push_back(each);
        next.back().extents[axis] = rest;
      }
    }
    all = std::move(next);
  }
  return all;
}

std::uint64_t magnitude_of(std::int64_t stride) {
  return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

// --- runs of a side

enum class Side { input, output };

std::int64_t stride_of(const layout::CacheBox& box, Side side, std::size_t axis) {
  return side == Side::input ? box.axes[axis].in : box.axes[axis].out;
}

// Axes that leave less than a line between one and the next, fastest first.
AxisNumbers joined_axes(const layout::CacheBox& box, Side side) {
  AxisNumbers order = box.in_order;
  if (side == Side::output) std::iota(order.begin(), order.end(), std::size_t{0});
  AxisNumbers joined;
  std::uint64_t span = box.element_bytes;
  for (const std::size_t axis : order) {
    if (box.extent[axis] == 1 && axis != order.front() && box.axes[axis].extent > 1) break;
    const std::uint64_t stride = magnitude_of(stride_of(box, side, axis));
    if (stride >= span + kLineBytes) break;
    span += stride * (box.extent[axis] - 1);
    joined.push_back(axis);
    if (box.extent[axis] < box.axes[axis].extent) break;
  }
  return joined;
}

// All places of a side's runs are multiples of it, in lines.
std::uint64_t grain_of(const layout::CacheBox& box, Side side, const AxisNumbers& run) {
  std::uint64_t grain = kLineBytes;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const std::uint64_t stride = magnitude_of(stride_of(box, side, axis));
    if (!contains(run, axis)) {
      grain = std::gcd(grain, stride);
    } else if (box.extent[axis] < box.axes[axis].extent) {
      grain = std::gcd(grain, stride * box.extent[axis]);
    }
  }
  return grain;
}

// For a run of so many bytes that begins at any multiple of `grain`: lines that it touches, and those of
// which it has a part.
struct RunLines {
  double touched = 0;
  double in_part = 0;
};
RunLines run_lines(std::uint64_t bytes, std::uint64_t grain) {
  RunLines lines;
  for (std::uint64_t begin = 0; begin < kLineBytes; begin += grain) {
    const std::uint64_t end = begin + bytes;
    const std::uint64_t touched = (end + kLineBytes - 1) / kLineBytes;
    const int ends = (begin != 0 ? 1 : 0) + (end % kLineBytes != 0 ? 1 : 0);
    lines.touched += static_cast<double>(touched);
    lines.in_part += touched == 1 ? std::min(ends, 1) : ends;
  }
  const std::uint64_t whole_places = kLineBytes / grain;
  const auto places = static_cast<double>(whole_places);
  return {.touched = lines.touched / places, .in_part = lines.in_part / places};
}

struct SideRuns {
  double runs = 0;
  double lines = 0;
};
SideRuns runs_of(const layout::CacheBox& box, Side side, const std::vector<LikeBoxes>& boxes) {
  const AxisNumbers run = joined_axes(box, side);
  const std::uint64_t grain = grain_of(box, side, run);
  SideRuns all;
  for (const LikeBoxes& like : boxes) {
    std::uint64_t bytes = box.element_bytes;
    double runs = like.count;
    for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
      const std::uint64_t stride = magnitude_of(stride_of(box, side, axis));
      if (contains(run, axis)) {
        bytes += stride * (like.extents[axis] - 1);
      } else if (stride != 0) {
        runs *= static_cast<double>(like.extents[axis]);
      }
    }
    all.runs += runs;
    all.lines += runs * run_lines(bytes, grain).touched;
  }
  return all;
}

std::uint64_t span_of(const layout::CacheBox& box, Side side) {
  std::uint64_t span = box.element_bytes;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
    span += magnitude_of(stride_of(box, side, axis)) * (box.axes[axis].extent - 1);
  return span;
}

// --- sets and pages

constexpr std::size_t kMostPlaces = 2048;
constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;

// Where a box's elements lie along some axes, as far as there are not too many.
std::vector<std::int64_t> places_of(const layout::CacheBox& box, Side side, const AxisNumbers& axes) {
  std::vector<std::int64_t> places{0};
  for (const std::size_t axis : axes) {
    const std::size_t before = places.size();
    for (std::uint64_t at = 1; at < box.extent[axis] && places.size() < kMostPlaces; ++at) {
      for (std::size_t i = 0; i < before; ++i)
        places.push_back(places[i] + static_cast<std::int64_t>(at) * stride_of(box, side, axis));
    }
  }
  return places;
}

// In how many parts of so many bytes they lie. Requires: places in order but for a few (unchecked).
double parts_of(const std::vector<std::int64_t>& places, std::uint64_t bytes) {
  const auto number = [&](std::int64_t place) {
    return (place + (std::int64_t{1} << 60)) / static_cast<std::int64_t>(bytes);
  };
  std::vector<std::int64_t> parts(places.size());
  std::transform(places.begin(), places.end(), parts.begin(), number);
  std::sort(parts.begin(), parts.end());
  return static_cast<double>(std::unique(parts.begin(), parts.end()) - parts.begin());
}

// Runs of `bytes` at these places, in lines: what of them is beyond so many that share a set of a cache.
template <std::size_t kSets>
class CacheSets {
 public:
  CacheSets(const std::vector<std::int64_t>& places, std::uint64_t bytes) {
    std::int64_t last = 0;
    for (const std::int64_t place : places) {
      const std::int64_t begin = (place + (std::int64_t{1} << 60)) / static_cast<std::int64_t>(kLineBytes);
      const std::int64_t end = begin + static_cast<std::int64_t>((bytes + kLineBytes - 1) / kLineBytes);
      for (std::int64_t line = begin == last ? begin + 1 : begin; line < end; ++line) {
        ++lines_of_[static_cast<std::size_t>(line) % kSets];
        ++lines_;
      }
      last = end - 1;
    }
  }

  double beyond(std::uint64_t ways) const {
    if (lines_ == 0) return 0;
    std::uint64_t more = 0;
    for (const std::uint64_t lines : lines_of_) more += lines > ways ? lines - ways : 0;
    return static_cast<double>(more) / static_cast<double>(lines_);
  }

 private:
  std::array<std::uint64_t, kSets> lines_of_{};
  std::uint64_t lines_ = 0;
};
// 48 KiB of 12 ways, 1 MiB of 16 ways: those of the processors at hand; others are alike.
constexpr std::uint64_t kWays = 12;
using FirstLevel = CacheSets<64>;
constexpr std::uint64_t kWays2 = 16;
using SecondLevel = CacheSets<1024>;

double clamped(double part) { return std::clamp(part, 0.0, 1.0); }

// --- squares in registers

// A plane of a box: its rows and columns, and whether rows follow one another in the input, columns in what
// is written.
struct Plane {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  bool rows_follow = false;
  bool columns_follow = false;
};

// What the engine's transposing of it takes (engines/cpu/plane_transpose.cpp).
void add_squares(std::uint64_t width, const Plane& plane, double times, AxesCounts& counts) {
  constexpr std::uint64_t kRegister = 16;
  constexpr std::uint64_t kLargeSide = 16;
  const auto up = [](std::uint64_t count, std::uint64_t side) {
    const std::uint64_t sides = (count + side - 1) / side;
    return static_cast<double>(sides);
  };
  const std::uint64_t side = kRegister / width;
  const auto add_blocks = [&](double blocks) {
    constexpr std::array kBlocks{&AxesCounts::blocks_1, &AxesCounts::blocks_2, &AxesCounts::blocks_4,
                                 &AxesCounts::blocks_8, &AxesCounts::blocks_16};
    counts.*kBlocks.at(static_cast<std::size_t>(std::countr_zero(width))) +=
        times * static_cast<double>(side) * blocks;
  };
  if (width == 4 && plane.rows >= kLargeSide && plane.columns >= kLargeSide) {
    counts.squares +=
        times * static_cast<double>(kLargeSide) * up(plane.rows, kLargeSide) * up(plane.columns, kLargeSide);
  } else if (plane.rows >= 4 * side && plane.columns >= side) {
    add_blocks(up(plane.rows, 4 * side) * up(plane.columns, side));
  } else if (plane.columns < side && plane.rows_follow && plane.rows >= 5 * side) {
    add_blocks(2 * up(plane.rows, 4 * side));  // 16 bytes of each row are loaded, and some are stored
  } else if (plane.rows < side && plane.columns_follow && plane.columns >= 2 * side) {
    counts.small_squares += times * static_cast<double>(side) * up(plane.columns, side);
  } else {
    std::uint64_t small = side;
    while (small > 1 && (plane.rows < small || plane.columns < small)) small /= 2;
    if (small > 1)
      counts.small_squares +=
          times * static_cast<double>(small) * up(plane.rows, small) * up(plane.columns, small);
    else
      counts.single += times * static_cast<double>(plane.rows * plane.columns);
  }
}

// The axis along which a run's elements follow one another in the output.
const layout::StridedAxis& first_written(const CpuAxes& axes) {
  return axes.box.axes[written_axes(axes.box).front()];
}

void add_gathered(const CpuAxes& axes, double elements, AxesCounts& counts) {
  constexpr std::uint64_t kLeastLoop = 16;
  const std::uint64_t width = axes.box.element_bytes;
  if (axes.one_by_one) {
    counts.placed += elements * static_cast<double>(width) / static_cast<double>(bytes_one_by_one(axes.box));
    return;
  }
  const bool stepped = width < kLineBytes && axes.box.extent[written_axes(axes.box).front()] >= kLeastLoop;
  (stepped ? counts.stepped : counts.placed) += elements;
  if (!stepped && width < kLineBytes && !std::has_single_bit(width)) counts.odd_placed += elements;
  if (width % kLineBytes != 0) counts.odd_lines = counts.lines;
}

// --- all of it

// Whether runs are cut at lines (engines/cpu/index/axes_boxes.cpp).
bool cuts_runs(const CpuAxes& axes, const AxisNumbers& run, const AxisNumbers& others) {
  const layout::CacheBox& box = axes.box;
  const bool groups = axes.move == AxesMove::groups;
  const bool may =
      axes.staged && (groups || (axes.move == AxesMove::lines && box.element_bytes >= kLineBytes));
  if (!may || (groups && kLineBytes % box.element_bytes != 0)) return false;
  if (groups && std::any_of(others.begin(), others.end(), [&](auto axis) { return box.extent[axis] > 1; }))
    return false;
  if (writes_lines(box, written_axes(box))) return false;
  const std::uint64_t run_bytes = bytes_of(box, run);
  if (run_bytes < kLineBytes || cut_run_places(run_bytes, box.element_bytes) == 0) return false;
  std::size_t together = 0;
  std::uint64_t length = box.element_bytes;
  for (; together < box.axes.size() && box.axes[together].out == static_cast<std::int64_t>(length);
       ++together) {
    if (box.extent[together] > 1 && !contains(run, together)) break;
    length *= box.axes[together].extent;
  }
  if (std::any_of(run.begin(), run.end(), [&](std::size_t axis) { return axis >= together; })) return false;
  for (std::size_t axis = together; axis < box.axes.size(); ++axis)
    if (magnitude_of(box.axes[axis].out) % kLineBytes != 0) return false;
  return length >= 2 * (run_bytes / kLineBytes * kLineBytes + kLineBytes);
}

}  // namespace

bool gathers_in_vectors(const CpuAxes& axes) {
  constexpr std::uint64_t kLeastVector = 16;
  if (axes.move != AxesMove::lines || !transposes_in_registers(axes.box.element_bytes)) return false;
  const layout::StridedAxis& first = first_written(axes);
  const bool alike = first.in == -first.out || first.in == 2 * first.out || first.in == 0;
  return alike && axes.box.extent[written_axes(axes.box).front()] * axes.box.element_bytes >= kLeastVector;
}

AxesCounts count_axes(const CpuAxes& axes) {
  const layout::CacheBox& box = axes.box;
  AxesCounts counts;
  double elements = 1;
  for (const layout::StridedAxis& axis : box.axes) elements *= static_cast<double>(axis.extent);
  constexpr auto kLine = static_cast<double>(kLineBytes);
  const double bytes = elements * static_cast<double>(box.element_bytes);
  counts.lines = bytes / kLine;
  const auto span_in = static_cast<double>(span_of(box, Side::input));
  const auto span_out = static_cast<double>(span_of(box, Side::output));
  counts.gap_lines = counts.lines * clamped(span_in / bytes - 1);
  if (box.is_of_long_elements()) {
    counts.lines_held = std::min(counts.lines, span_in / kLine + 1);
    counts.lines_written = counts.lines;
    counts.reads = counts.writes = counts.placed = elements;
    return counts;
  }

  const std::vector<LikeBoxes> boxes = like_boxes(box);
  const SideRuns read = runs_of(box, Side::input, boxes);
  const SideRuns written = runs_of(box, Side::output, boxes);
  counts.reads = read.runs;
  counts.lines_held = std::min(read.lines, span_in / kLine + 1);
  counts.lines_written = written.lines;
  counts.read_beyond = std::max(0.0, read.lines - counts.lines);
  counts.written_beyond = std::max(0.0, written.lines - counts.lines);

  const bool turns = axes.move == AxesMove::planes || axes.move == AxesMove::groups;
  const AxisNumbers out_run = written_axes(box);
  const TurnedAxes turned = turns ? turned_axes(box) : TurnedAxes{};
  const AxisNumbers& run = turns ? turned.rows : out_run;
  AxisNumbers across;  // from one run of the output to the next
  AxisNumbers others;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const bool is_column = turns && contains(turned.columns, axis);
    if (turns ? is_column : !contains(out_run, axis)) across.push_back(axis);
    if (turns && !is_column && !contains(turned.rows, axis)) others.push_back(axis);
  }
  const bool is_cut = cuts_runs(axes, run, others);
  const std::uint64_t grain = grain_of(box, Side::output, run);
  // Columns that follow one another in the output are one run.
  const bool follow = axes.move == AxesMove::groups &&
                      magnitude_of(box.axes[turned.columns.front()].out) == bytes_of(box, turned.rows);
  double all_boxes = 0;
  for (const LikeBoxes& like : boxes) {
    all_boxes += like.count;
    const auto rows = static_cast<std::uint64_t>(like.product(run));
    std::uint64_t run_bytes = rows * box.element_bytes;
    double runs = like.count;
    for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
      if (!contains(run, axis)) runs *= static_cast<double>(like.extents[axis]);
    if (turns) {
      const auto columns = static_cast<std::uint64_t>(like.product(turned.columns));
      const std::uint64_t at_once =
          axes.move == AxesMove::groups ? std::min(columns, group_columns(box.element_bytes)) : columns;
      const std::uint64_t times_read = (columns + at_once - 1) / at_once;
      const double groups = runs / static_cast<double>(columns) * static_cast<double>(times_read);
      const bool rows_follow =
          box.axes[turned.rows.front()].in == static_cast<std::int64_t>(at_once * box.element_bytes);
      const bool columns_follow =
          magnitude_of(box.axes[turned.columns.front()].out) == rows * box.element_bytes;
      add_squares(
          box.element_bytes,
          {.rows = rows, .columns = at_once, .rows_follow = rows_follow, .columns_follow = columns_follow},
          groups, counts);
      counts.groups += groups;
      if (follow) {
        runs = groups;
        run_bytes *= at_once;
      }
    }
    counts.writes += runs;
    if (!is_cut) counts.parts += runs * run_lines(run_bytes, grain).in_part;
  }
  if (axes.move == AxesMove::lines) add_gathered(axes, elements, counts);
  if (axes.move == AxesMove::table || axes.move == AxesMove::channels) counts.placed = elements;

  // What lies where.
  const auto of_lines = [&](double part) { return counts.lines * part; };
  const auto apart = [](std::int64_t stride) {
    return std::min(1.0, static_cast<double>(magnitude_of(stride)) / static_cast<double>(kPageBytes));
  };
  if (turns) {
    counts.paged_rows = of_lines(apart(box.axes[turned.rows.front()].in));
    counts.paged_columns = of_lines(apart(box.axes[turned.columns.front()].out));
  }
  // Some of the last level is others'.
  constexpr double kHeld = 12 << 20;
  constexpr double kBeyond = 20 << 20;
  const double far = clamped((span_in + span_out - kHeld) / kBeyond);
  counts.far_in = counts.lines_held * far;
  counts.far_out = counts.lines_written * far;
  counts.far_reads = counts.reads * far;
  counts.far_parts = counts.parts * clamped((span_out - kHeld) / kBeyond);
  const std::vector<std::int64_t> columns = places_of(box, Side::output, across);
  const auto runs = static_cast<double>(columns.size());
  counts.paged_writes = counts.writes * parts_of(columns, kPageBytes) / runs;
  if (columns.size() > 1)
    counts.spread_parts = counts.parts * (parts_of(columns, kLargePage) - 1) / (runs - 1);
  const FirstLevel sets_of_columns(columns, 1);
  counts.columns_in_sets = of_lines(sets_of_columns.beyond(kWays));
  counts.columns_in_full_sets = of_lines(sets_of_columns.beyond(2 * kWays));
  const AxisNumbers in_run = joined_axes(box, Side::input);
  AxisNumbers rows;
  for (const std::size_t axis : box.in_order)
    if (!contains(in_run, axis) && box.axes[axis].in != 0 && box.extent[axis] > 1) rows.push_back(axis);
  std::uint64_t row_bytes = box.element_bytes;
  for (const std::size_t axis : in_run) row_bytes += magnitude_of(box.axes[axis].in) * (box.extent[axis] - 1);
  const std::vector<std::int64_t> row_places = places_of(box, Side::input, rows);
  const FirstLevel sets_of_box(row_places, row_bytes);
  counts.box_in_sets = of_lines(sets_of_box.beyond(kWays));
  counts.box_in_full_sets = of_lines(sets_of_box.beyond(2 * kWays));
  counts.box_in_sets_2 = of_lines(SecondLevel(row_places, row_bytes).beyond(kWays2));
  constexpr double kFirstLevel = 48 << 10;
  counts.spilled = of_lines(clamped(2 * read.lines / all_boxes * kLine / kFirstLevel - 0.5));
  const bool is_far = magnitude_of(box.axes.front().in) > box.element_bytes + kPageBytes;
  if (is_cut && !turns && is_far && columns.size() > 1) {
    const auto width = static_cast<double>(box.element_bytes);
    counts.cut_elements = of_lines(width / (static_cast<double>(bytes_of(box, run)) + width));
  }
  return counts;
}

const std::array<NamedCount, 37> kAxesCounts{{
    {"lines", &AxesCounts::lines},
    {"lines_held", &AxesCounts::lines_held},
    {"lines_written", &AxesCounts::lines_written},
    {"read_beyond", &AxesCounts::read_beyond, true},
    {"written_beyond", &AxesCounts::written_beyond, true},
    {"gap_lines", &AxesCounts::gap_lines},
    {"reads", &AxesCounts::reads, true},
    {"far_reads", &AxesCounts::far_reads},
    {"writes", &AxesCounts::writes},
    {"paged_writes", &AxesCounts::paged_writes, true},
    {"parts", &AxesCounts::parts, true},
    {"far_parts", &AxesCounts::far_parts},
    {"spread_parts", &AxesCounts::spread_parts},
    {"groups", &AxesCounts::groups},
    {"squares", &AxesCounts::squares},
    {"blocks_1", &AxesCounts::blocks_1},
    {"blocks_2", &AxesCounts::blocks_2},
    {"blocks_4", &AxesCounts::blocks_4},
    {"blocks_8", &AxesCounts::blocks_8},
    {"blocks_16", &AxesCounts::blocks_16},
    {"small_squares", &AxesCounts::small_squares},
    {"single", &AxesCounts::single},
    {"placed", &AxesCounts::placed},
    {"stepped", &AxesCounts::stepped},
    {"odd_placed", &AxesCounts::odd_placed},
    {"odd_lines", &AxesCounts::odd_lines},
    {"columns_in_sets", &AxesCounts::columns_in_sets, true},
    {"columns_in_full_sets", &AxesCounts::columns_in_full_sets, true},
    {"box_in_sets", &AxesCounts::box_in_sets, true},
    {"box_in_full_sets", &AxesCounts::box_in_full_sets, true},
    {"box_in_sets_2", &AxesCounts::box_in_sets_2},
    {"spilled", &AxesCounts::spilled, true},
    {"far_in", &AxesCounts::far_in},
    {"far_out", &AxesCounts::far_out},
    {"paged_rows", &AxesCounts::paged_rows},
    {"paged_columns", &AxesCounts::paged_columns},
    {"cut_elements", &AxesCounts::cut_elements},
}};

}  // namespace faro::detail
