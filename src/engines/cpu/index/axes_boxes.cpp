#include "engines/cpu/index/axes_boxes.hpp"

#include <cstdlib>
#include <numeric>
#include <utility>

#include "faro/error.hpp"

namespace faro::cpu {

AxesBoxes::AxesBoxes(const detail::CpuAxes& axes, std::uint64_t part_bytes)
    : width_(axes.box.element_bytes),
      move_(axes.move),
      staged_(axes.staged),
      part_bytes_(part_bytes),
      by_input_order_(axes.by_input),
      axes_(axes.box.axes.size()) {
  fetch_.second_level = axes.second_level;
  FARO_CHECK(axes_ <= kMaxAxes);
  for (std::size_t a = 0; a < axes_; ++a) {
    extents_[a] = axes.box.axes[a].extent;
    in_[a] = axes.box.axes[a].in;
    out_[a] = axes.box.axes[a].out;
    elements_ *= extents_[a];
  }
  if (move_ == detail::AxesMove::pieces) return;
  set_box(axes.box);
  if (move_ != detail::AxesMove::lines) set_turned(axes.box);
  set_reads(axes.box);
  set_aligned(axes.box);
  if (move_ == detail::AxesMove::lines) boxes_ahead_ = detail::boxes_ahead(axes.box.elements() * width_);
}

void AxesBoxes::set_box(const layout::CacheBox& box) {
  std::copy(box.extent.begin(), box.extent.end(), box_.begin());
  for (std::size_t a = 0; a < axes_; ++a) {
    grid_[a] = (extents_[a] + box_[a] - 1) / box_[a];
    tasks_ *= grid_[a];
  }
  AxisList out_run = box.out_run();
  out_run.resize(box.out_contiguous());
  for (std::size_t a = 0; a < axes_; ++a)
    (detail::contains(out_run, a) ? written_ : write_rows_).push_back(a);
  if (!staged_ || move_ == detail::AxesMove::groups) {
    to_ = out_;
  } else {
    // Rows of the stage lie as the output's runs do, an odd number of lines apart.
    std::int64_t stride = places(width_);
    for (const std::size_t axis : written_) {
      to_[axis] = stride;
      stride *= places(box_[axis]);
    }
    stride = places(detail::stage_pitch(static_cast<std::uint64_t>(stride)));
    for (const std::size_t axis : write_rows_) {
      to_[axis] = stride;
      stride *= places(box_[axis]);
    }
  }
  // Whether every run of a box begins at a line's beginning and ends at one's end.
  whole_lines_ = product(written_, box_) * width_ % kLineBytes == 0;
  for (const std::size_t axis : write_rows_)
    whole_lines_ = whole_lines_ && static_cast<std::uint64_t>(out_[axis]) % kLineBytes == 0;
  // Boxes that share lines of the output follow one another; else those that share pages of the input;
  // where boxes are fetched as fast as they are transposed, those of both sides in turns, if the plan says no
  // other.
  AxisList out_order(axes_);
  std::iota(out_order.begin(), out_order.end(), std::size_t{0});
  if (move_ == detail::AxesMove::groups && !by_input_order_) {
    for (std::size_t k = 0; k < axes_; ++k) {
      for (const std::size_t axis : {box.in_order[k], out_order[k]})
        if (!detail::contains(walk_, axis)) walk_.push_back(axis);
    }
  } else {
    walk_ = whole_lines_ || by_input_order_ || move_ == detail::AxesMove::lines ? box.in_order : out_order;
  }
}

// Squares in registers go along as much of both runs as has no axis of the other's; else elements along the
// input's run.
void AxesBoxes::set_turned(const layout::CacheBox& box) {
  if (move_ == detail::AxesMove::planes || move_ == detail::AxesMove::groups) {
    detail::TurnedAxes turned = detail::turned_axes(box, !staged_);
    columns_ = std::move(turned.columns);
    rows_ = std::move(turned.rows);
  } else {
    const AxisList in_run = box.in_run();
    columns_ = in_run.empty() ? box.out_run() : in_run;
  }
  for (std::size_t a = 0; a < axes_; ++a) {
    if (!detail::contains(columns_, a) && !detail::contains(rows_, a) && box_[a] > 1) others_.push_back(a);
  }
}

AxesBoxes::PlaneTables AxesBoxes::plane_tables() const {
  PlaneTables tables{.backwards = in_[columns_.front()] < 0,
                     .row_in = place_table(rows_, box_, in_),
                     .column_to = place_table(columns_, box_, to_)};
  if (tables.backwards) std::reverse(tables.column_to.begin(), tables.column_to.end());
  return tables;
}

void AxesBoxes::turn(const PlaneTables& tables, const Numbers& extents, const std::byte* in,
                     std::byte* to) const {
  const std::uint64_t columns = product(columns_, extents);
  const PlaneRows from{.data = in - (tables.backwards ? places((columns - 1) * width_) : 0),
                       .rows = tables.row_in.data(),
                       .count = product(rows_, extents)};
  const std::size_t first = tables.backwards ? tables.column_to.size() - columns : 0;
  transpose_planes(width_, from, {.data = to, .columns = tables.column_to.data() + first, .count = columns},
                   nest(others_, extents, in_, to_));
}

AxesBoxes::UnitRun AxesBoxes::unit_run() const {
  UnitRun run{.in = place_table(written_, box_, in_)};
  if (width_ >= kLineBytes) return run;
  constexpr std::uint64_t kLeastVector = 16;  // bytes
  constexpr std::uint64_t kLeastLoop = 16;    // elements
  const std::size_t first = written_.front();
  const std::uint64_t count = box_[first];
  const std::int64_t step = in_[first];
  run.in_vectors =
      transposes_in_registers(width_) &&
      (step == -places(width_) || step == 2 * places(width_) || step == 4 * places(width_) || step == 0) &&
      count * width_ >= kLeastVector;
  if (run.in_vectors || count >= kLeastLoop) {
    run.segment = count;
    run.step = step;
  } else if (written_.size() > 1 && step == -places(width_) && count * width_ <= kMostBlockBytes &&
             count == extents_[first] && in_[written_[1]] == places(count * width_)) {
    run.in_vectors = true;
    run.segment = count * box_[written_[1]];
    run.block = count;
    run.turned = turned_blocks(run.block, width_);
  }
  return run;
}

AxesBoxes::ReadRun AxesBoxes::read_run(const layout::CacheBox& box, std::size_t least) const {
  ReadRun run;
  std::int64_t last = 0;
  for (const std::size_t axis : box.in_run()) {
    const auto span = static_cast<std::uint64_t>(last - run.first) + width_;
    const auto apart = static_cast<std::uint64_t>(std::abs(in_[axis]));
    if (axis < least || (apart > span && !fetches_gap(span, apart - span))) break;
    const std::int64_t reach = in_[axis] * places(box_[axis] - 1);
    (reach < 0 ? run.first : last) += reach;
    run.axes.push_back(axis);
  }
  run.bytes = static_cast<std::uint64_t>(last - run.first) + width_;
  return run;
}

// Where the lines of a box begin that it is read from.
void AxesBoxes::set_reads(const layout::CacheBox& box) {
  read_ = read_run(box, 0);
  AxisList rest;
  for (const std::size_t axis : box.in_order) {
    if (in_[axis] != 0 && box_[axis] > 1 && !detail::contains(read_.axes, axis)) rest.push_back(axis);
  }
  reads_ = place_table(rest, box_, in_, read_.first);
  const std::uint64_t lines = reads_.size() * (read_.bytes / kLineBytes + 1);
  fetch_.lines_a_line =
      static_cast<double>(lines) / (static_cast<double>(box.elements() * width_) / kLineBytes);
  const std::uint64_t writes = product(write_rows_, box_);
  reads_per_write_ = (reads_.size() + writes - 1) / writes;
}

// Where all that is written of a box is one run along axes that lie together, and every other axis goes
// from line to line, runs can be cut at lines.
void AxesBoxes::set_aligned(const layout::CacheBox& box) {
  const bool groups = move_ == detail::AxesMove::groups;
  if (!staged_ || !(groups || (move_ == detail::AxesMove::lines && width_ >= kLineBytes))) return;
  if (groups && (kLineBytes % width_ != 0 || !others_.empty())) return;
  const AxisList& run = groups ? rows_ : written_;
  const std::uint64_t run_bytes = product(run, box_) * width_;
  cut_places_ = detail::cut_run_places(run_bytes, width_);
  if (run_bytes < kLineBytes || cut_places_ == 0) return;
  const auto across = [&](std::size_t axis) { return box_[axis] > 1 && !detail::contains(run, axis); };
  std::vector<AlignedRuns::Axis> together;
  auto length = places(width_);
  for (std::size_t a = 0; a < axes_ && out_[a] == length && !across(a); ++a) {
    together.push_back({.extent = extents_[a], .in = in_[a]});
    length *= places(extents_[a]);
  }
  const std::size_t first_across = together.size();
  cut_read_ = read_run(box, first_across);
  bool fits = std::all_of(run.begin(), run.end(), [&](std::size_t axis) { return axis < first_across; });
  for (std::size_t a = first_across; a < axes_; ++a) {
    const bool fetched = box_[a] == 1 || in_[a] == 0 || detail::contains(cut_read_.axes, a);
    fits = fits && fetched && static_cast<std::uint64_t>(out_[a]) % kLineBytes == 0;
  }
  if (!fits) return;
  aligned_ = AlignedRuns(std::move(together), width_, run_bytes);
  aligned_axes_ = first_across;
  const std::uint64_t runs = box.elements() / product(run, box_);
  const auto moved = static_cast<double>(runs * width_);
  cut_fetch_ = fetch_;
  const std::uint64_t lines = cut_read_.bytes / kLineBytes + 1;
  cut_fetch_.lines_a_line = static_cast<double>(lines) / (moved / kLineBytes);
}

AxesBoxes::Grid AxesBoxes::grid_for(const std::byte* out) const {
  Grid grid;
  grid.boxes = grid_;
  grid.tasks = tasks_;
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(out) % kLineBytes;
  const bool cuts_elements = move_ == detail::AxesMove::groups && past % width_ != 0;
  if (aligned_axes_ == 0 || !aligned_.any() || cuts_elements || (past == 0 && whole_lines_)) return grid;
  grid.is_cut = true;
  grid.cut = aligned_.cut(out);
  grid.boxes[0] = grid.cut.parts;
  std::fill_n(grid.boxes.begin() + 1, aligned_axes_ - 1, std::uint64_t{1});
  grid.tasks = 1;
  for (std::size_t a = 0; a < axes_; ++a) grid.tasks *= grid.boxes[a];
  return grid;
}

}  // namespace faro::cpu
