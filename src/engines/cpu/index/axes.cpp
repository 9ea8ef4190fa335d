// Permutations of axes, and any strided view, box by box (layout/cache_box.hpp).
//
//     input                          stage                         output
//     rows of the input's run  --->  rows of the output's run ---> the same, streamed as whole lines
//                  turned in registers, or        while the next box
//                  element by element             is fetched
//
// A place within a box is a sum of digits times strides, on all three sides. What fits the caches as a whole
// has no stage: it is written where it belongs. What does not is turned a group of columns at a time, a line
// of each row: while one stage of such columns is filled, the other is written and the next box is fetched.
// Elements of a line and more are not turned, but taken run by run of the output, boxes in the input's order;
// so are those of widths of no register, and those whose runs begin with the same axis on both sides.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/index/aligned_runs.hpp"
#include "engines/cpu/line_gather.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

constexpr std::size_t kMaxAxes = 48;                            // extents of at least 2, counts to 2^40
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;  // of a long element

using Numbers = std::array<std::uint64_t, kMaxAxes>;
using Strides = std::array<std::int64_t, kMaxAxes>;
using AxisList = std::vector<std::size_t>;

bool contains(const AxisList& axes, std::size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::int64_t places(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// Calls visit(a, b) for every combination of digits along `axes`, the first the fastest: the sums of two
// kinds of strides.
template <typename Visit>
void each_place(const AxisList& axes, const Numbers& extents, const Strides& strides_a,
                const Strides& strides_b, const Visit& visit) {
  // Only what is used is set: for all of it compilers take a string instruction, which waits for streamed
  // stores.
  std::uint64_t at[kMaxAxes];
  for (const std::size_t axis : axes) at[axis] = 0;
  std::int64_t a = 0;
  std::int64_t b = 0;
  for (;;) {
    visit(a, b);
    std::size_t k = 0;
    for (; k < axes.size(); ++k) {
      const std::size_t axis = axes[k];
      a += strides_a[axis];
      b += strides_b[axis];
      if (++at[axis] < extents[axis]) break;
      a -= places(extents[axis]) * strides_a[axis];
      b -= places(extents[axis]) * strides_b[axis];
      at[axis] = 0;
    }
    if (k >= axes.size()) return;
  }
}

std::uint64_t product(const AxisList& axes, const Numbers& extents) {
  std::uint64_t all = 1;
  for (const std::size_t axis : axes) all *= extents[axis];
  return all;
}

class AxesProgram final : public ElementProgram {
 public:
  AxesProgram(const CpuPass& pass, const detail::CpuAxes& axes)
      : ElementProgram(pass),
        width_(axes.box.element_bytes),
        move_(axes.move),
        staged_(axes.staged),
        axes_(axes.box.axes.size()) {
    FARO_CHECK(axes_ <= kMaxAxes);
    for (std::size_t a = 0; a < axes_; ++a) {
      extents_[a] = axes.box.axes[a].extent;
      in_[a] = axes.box.axes[a].in;
      out_[a] = axes.box.axes[a].out;
      elements_ *= extents_[a];
    }
    if (move_ == detail::AxesMove::pieces) {
      tasks_ = elements_ * pieces();
      return;
    }
    set_box(axes.box);
    set_tables(axes.box);
    set_reads(axes.box);
    set_aligned(axes.box);
  }

  void run(const Step& step) const override {
    FARO_CHECK(step.arrays == pass().arrays);  // the batch is an axis
    const Grid grid = grid_for(step.out);
    share_out_by_rank(grid.tasks, threads(), [&](Share share) {
      if (share.begin < share.end) {
        std::byte* const stage = part(step, share.rank);
        switch (move_) {
          case detail::AxesMove::pieces:
            move_pieces(share.begin, share.end, step.in, step.out);
            break;
          case detail::AxesMove::groups:
            move_groups(grid, share, step.in, step.out, stage);
            break;
          case detail::AxesMove::lines:
            move_lines(grid, share, step.in, step.out, stage);
            break;
          default:
            move_boxes(grid, share, step.in, step.out, stage);
        }
      }
      finish_streams();
    });
  }

 private:
  void set_box(const layout::CacheBox& box) {
    std::copy(box.extent.begin(), box.extent.end(), box_.begin());
    for (std::size_t a = 0; a < axes_; ++a) {
      grid_[a] = (extents_[a] + box_[a] - 1) / box_[a];
      tasks_ *= grid_[a];
    }
    AxisList out_run = box.out_run();
    out_run.resize(box.out_contiguous());
    for (std::size_t a = 0; a < axes_; ++a) (contains(out_run, a) ? written_ : write_rows_).push_back(a);
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
    // where boxes are fetched as fast as they are turned, those of both sides in turns.
    AxisList out_order(axes_);
    std::iota(out_order.begin(), out_order.end(), std::size_t{0});
    if (move_ == detail::AxesMove::groups) {
      for (std::size_t k = 0; k < axes_; ++k) {
        for (const std::size_t axis : {box.in_order[k], out_order[k]})
          if (!contains(walk_, axis)) walk_.push_back(axis);
      }
    } else {
      walk_ = whole_lines_ || move_ == detail::AxesMove::lines ? box.in_order : out_order;
    }
  }

  // Squares in registers go along as much of both runs as has no axis of the other's; else elements along
  // the input's run.
  void set_tables(const layout::CacheBox& box) {
    if (move_ == detail::AxesMove::lines) return set_units();
    const AxisList in_run = box.in_run();
    if (move_ == detail::AxesMove::planes || move_ == detail::AxesMove::groups) {
      detail::TurnedAxes turned = detail::turned_axes(box);
      columns_ = std::move(turned.columns);
      rows_ = std::move(turned.rows);
      backwards_ = in_[columns_.front()] < 0;
      each_place(rows_, box_, in_, to_, [&](std::int64_t in, std::int64_t) { row_in_.push_back(in); });
    } else {
      columns_ = in_run.empty() ? box.out_run() : in_run;
    }
    each_place(columns_, box_, in_, to_, [&](std::int64_t in, std::int64_t to) {
      column_in_.push_back(in);
      column_to_.push_back(to);
    });
    if (backwards_) std::reverse(column_to_.begin(), column_to_.end());
    for (std::size_t a = 0; a < axes_; ++a) {
      if (!contains(columns_, a) && !contains(rows_, a) && box_[a] > 1) others_.push_back(a);
    }
  }

  // A run of the output: where each of its elements is, and how those along its first axis follow one
  // another.
  void set_units() {
    each_place(written_, box_, in_, to_, [&](std::int64_t in, std::int64_t) { unit_in_.push_back(in); });
    if (width_ >= kLineBytes) return;
    constexpr std::uint64_t kLeastVector = 16;  // bytes
    constexpr std::uint64_t kLeastLoop = 16;    // elements
    const std::size_t first = written_.front();
    const std::uint64_t count = box_[first];
    const std::int64_t step = in_[first];
    const bool in_vectors = transposes_in_registers(width_) &&
                            (step == -places(width_) || step == 2 * places(width_) || step == 0) &&
                            count * width_ >= kLeastVector;
    if (in_vectors || count >= kLeastLoop) {
      segment_ = count;
      step_ = step;
    } else if (written_.size() > 1 && step == -places(width_) && count * width_ <= kMostBlockBytes &&
               count == extents_[first] && in_[written_[1]] == places(count * width_)) {
      segment_ = count * box_[written_[1]];
      block_ = count;
      turned_ = turned_blocks(block_, width_);
    }
  }

  // A run that a box is read by: its axes, as many as leave no line between, whichever way they go.
  struct ReadRun {
    AxisList axes;
    std::int64_t first = 0;  // byte, from the first element
    std::uint64_t bytes = 0;
  };
  // Of axes `least` and on alone.
  ReadRun read_run(const layout::CacheBox& box, std::size_t least) const {
    ReadRun run;
    std::int64_t last = 0;
    for (const std::size_t axis : box.in_run()) {
      const std::int64_t span = last - run.first + places(width_);
      if (axis < least || std::abs(in_[axis]) >= span + places(kLineBytes)) break;
      const std::int64_t reach = in_[axis] * places(box_[axis] - 1);
      (reach < 0 ? run.first : last) += reach;
      run.axes.push_back(axis);
    }
    run.bytes = static_cast<std::uint64_t>(last - run.first) + width_;
    return run;
  }

  // Where the lines of a box begin that it is read from.
  void set_reads(const layout::CacheBox& box) {
    read_ = read_run(box, 0);
    fetch_.backwards = move_ == detail::AxesMove::lines && !read_.axes.empty() && in_[read_.axes.front()] < 0;
    AxisList rest;
    for (const std::size_t axis : box.in_order) {
      if (in_[axis] != 0 && box_[axis] > 1 && !contains(read_.axes, axis)) rest.push_back(axis);
    }
    each_place(rest, box_, in_, in_,
               [&](std::int64_t in, std::int64_t) { reads_.push_back(in + read_.first); });
    const std::uint64_t lines = reads_.size() * (read_.bytes / kLineBytes + 1);
    fetch_.lines_a_line =
        static_cast<double>(lines) / (static_cast<double>(box.elements() * width_) / kLineBytes);
    const std::uint64_t writes = product(write_rows_, box_);
    reads_per_write_ = (reads_.size() + writes - 1) / writes;
  }

  // Where all that is written of a box is one run along axes that lie together, and every other axis goes
  // from line to line, runs can be cut at lines.
  void set_aligned(const layout::CacheBox& box) {
    const bool groups = move_ == detail::AxesMove::groups;
    if (!staged_ || !(groups || (move_ == detail::AxesMove::lines && width_ >= kLineBytes))) return;
    if (groups && (kLineBytes % width_ != 0 || !others_.empty())) return;
    const AxisList& run = groups ? rows_ : written_;
    const std::uint64_t run_bytes = product(run, box_) * width_;
    cut_places_ = detail::cut_run_places(run_bytes, width_);
    if (run_bytes < kLineBytes || cut_places_ == 0) return;
    const auto across = [&](std::size_t axis) { return box_[axis] > 1 && !contains(run, axis); };
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
      const bool fetched = box_[a] == 1 || in_[a] == 0 || contains(cut_read_.axes, a);
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

  // How an output is cut into boxes.
  struct Grid {
    Numbers boxes{};
    std::uint64_t tasks = 0;
    bool is_cut = false;  // at lines: the first axis stands for all that lie together
    RunCut cut;
  };
  Grid grid_for(const std::byte* out) const {
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

  // --- long elements, cut into pieces, in the order of the output

  std::uint64_t pieces() const { return (width_ + kPieceBytes - 1) / kPieceBytes; }

  void move_pieces(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out) const {
    const std::uint64_t each = pieces();
    Numbers at{};
    std::int64_t source = 0;
    std::int64_t target = 0;
    std::uint64_t rest = first / each;
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      at[axis] = rest % extents_[axis];
      rest /= extents_[axis];
      source += places(at[axis]) * in_[axis];
      target += places(at[axis]) * out_[axis];
    }
    std::uint64_t piece = first % each;
    for (std::uint64_t task = first; task < last; ++task) {
      const std::uint64_t begin = piece * kPieceBytes;
      copy_bytes(in + source + begin, out + target + begin, std::min(kPieceBytes, width_ - begin),
                 streamed());
      if (++piece < each) continue;
      piece = 0;
      for (std::size_t axis = 0; axis < axes_; ++axis) {
        source += in_[axis];
        target += out_[axis];
        if (++at[axis] < extents_[axis]) break;
        source -= places(extents_[axis]) * in_[axis];
        target -= places(extents_[axis]) * out_[axis];
        at[axis] = 0;
      }
    }
  }

  // --- boxes

  struct Box {
    Numbers extents{};
    std::int64_t source = 0;  // bytes, of its first element
    std::int64_t target = 0;
    // Of a run that is cut at lines: its bytes in the row, its elements, and where they lie in the input.
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t run = 0;
    const std::int64_t* places = nullptr;
    std::int64_t run_source = 0;
  };
  void set_to(const Grid& grid, const Numbers& at, Box& box) const {
    box.source = 0;
    box.target = 0;
    std::size_t a = 0;
    if (grid.is_cut) {
      box.begin = grid.cut.begin(at[0]);
      box.end = grid.cut.end(at[0]);
      box.target = places(box.begin);
      for (; a < aligned_axes_; ++a) box.extents[a] = 1;
    }
    for (; a < axes_; ++a) {
      const std::uint64_t begin = at[a] * box_[a];
      box.extents[a] = std::min(box_[a], extents_[a] - begin);
      box.source += places(begin) * in_[a];
      box.target += places(begin) * out_[a];
    }
  }

  // A box and the one after it, which is fetched meanwhile.
  class Boxes {
   public:
    Boxes(const AxesProgram& program, const Grid& grid, Share share, std::byte* stage)
        : program_(program),
          grid_(grid),
          places_(program.places_of(stage)),
          left_(share.end - share.begin),
          at_(program.box_number(grid, share.begin)) {
      set(boxes_[0]);
      look_ahead();
    }
    bool any() const { return left_ > 0; }
    bool is_last() const { return left_ == 1; }
    const Box& now() const { return boxes_[now_]; }
    const Box& next() const { return boxes_[1 - now_]; }
    void advance() {
      now_ = 1 - now_;
      if (--left_ > 0) look_ahead();
    }

   private:
    void look_ahead() {
      for (const std::size_t axis : program_.walk_) {
        if (++at_[axis] < grid_.boxes[axis]) break;
        at_[axis] = 0;
      }
      set(boxes_[1 - now_]);
    }
    // Boxes that follow one another across the run have the same places.
    void set(Box& box) {
      program_.set_to(grid_, at_, box);
      if (!grid_.is_cut) return;
      if (box.places == nullptr || box.begin != held_.begin || box.end != held_.end) {
        const std::uint64_t first = box.begin / program_.width_;
        held_.begin = box.begin;
        held_.end = box.end;
        held_.run = (box.end - 1) / program_.width_ + 1 - first;
        free_ = 1 - free_;
        held_.places = places_ + free_ * program_.cut_places_;
        held_.run_source = program_.aligned_.places(first, held_.run, places_ + free_ * program_.cut_places_);
      }
      box.run = held_.run;
      box.places = held_.places;
      box.source += held_.run_source;
    }

    const AxesProgram& program_;
    const Grid& grid_;
    std::int64_t* places_;
    Box held_;  // the run that was worked out last
    std::size_t free_ = 0;
    std::uint64_t left_;
    Numbers at_;
    Box boxes_[2];
    std::size_t now_ = 0;
  };

  // Behind the stages.
  std::int64_t* places_of(std::byte* stage) const {
    if (aligned_axes_ == 0) return nullptr;
    return reinterpret_cast<std::int64_t*>(stage + stages_bytes());
  }
  std::uint64_t stages_bytes() const {
    return pass().run.workspace.part_bytes - detail::places_bytes(cut_places_);
  }

  void move_boxes(const Grid& grid, Share share, const std::byte* in, std::byte* out,
                  std::byte* stage) const {
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      std::byte* const to = staged_ ? stage : out + box.target;
      if (staged_ && !whole_lines_) fetch_ends(box, out);
      if (move_ == detail::AxesMove::planes) {
        turn(box, in + box.source, to);
      } else {
        with_width(width_, [&](auto width) { move_by_table(width, box, in + box.source, to); });
      }
      if (staged_) write(box, stage, out, {in + boxes.next().source, boxes.is_last() ? 0 : reads_.size()});
    }
  }

  void turn(const Box& box, const std::byte* in, std::byte* to) const {
    const std::uint64_t columns = product(columns_, box.extents);
    const PlaneRows from{.data = in - (backwards_ ? places((columns - 1) * width_) : 0),
                         .rows = row_in_.data(),
                         .count = product(rows_, box.extents)};
    const PlaneColumns target{.data = to,
                              .columns = column_to_.data() + (backwards_ ? column_to_.size() - columns : 0),
                              .count = columns};
    each_place(others_, box.extents, in_, to_, [&](std::int64_t source, std::int64_t place) {
      transpose_runs(width_, {from.data + source, from.rows, from.count},
                     {target.data + place, target.columns, target.count});
    });
  }

  template <typename Width>
  void move_by_table(Width width, const Box& box, const std::byte* in, std::byte* to) const {
    const std::uint64_t columns = product(columns_, box.extents);
    const std::int64_t* const column_in = column_in_.data();
    const std::int64_t* const column_to = column_to_.data();
    each_place(others_, box.extents, in_, to_, [&](std::int64_t source, std::int64_t place) {
      const std::byte* const row = in + source;
      std::byte* const target = to + place;
      for (std::uint64_t i = 0; i < columns; ++i) width.move(row + column_in[i], target + column_to[i]);
    });
  }

  Numbers box_number(const Grid& grid, std::uint64_t number) const {
    Numbers at{};
    for (const std::size_t axis : walk_) {
      at[axis] = number % grid.boxes[axis];
      number /= grid.boxes[axis];
    }
    return at;
  }

  // The rows of the box that is moved next, if there is one.
  RowTraffic fetched(const Boxes& boxes, const std::byte* in) const {
    const Box& next = boxes.next();
    if (next.places != nullptr) {
      return {in + next.source + cut_read_.first, next.places, boxes.is_last() ? 0 : next.run,
              cut_read_.bytes, cut_fetch_};
    }
    return {in + next.source, reads_.data(), boxes.is_last() ? 0 : reads_.size(), read_.bytes, fetch_};
  }

  // --- a run of the output at a time

  void move_lines(const Grid& grid, Share share, const std::byte* in, std::byte* out,
                  std::byte* stage) const {
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      RowTraffic rows = fetched(boxes, in);
      const std::uint64_t units = grid.is_cut ? box.run : product(written_, box.extents);
      const std::int64_t* const from = grid.is_cut ? box.places : unit_in_.data();
      const std::uint64_t skipped = grid.is_cut ? box.begin % width_ : 0;
      const std::uint64_t left_out = grid.is_cut ? (width_ - box.end % width_) % width_ : 0;
      each_place(write_rows_, box.extents, in_, out_, [&](std::int64_t source, std::int64_t target) {
        gather_lines({.from = in + box.source + source,
                      .places = from,
                      .count = units,
                      .bytes = width_,
                      .skipped = skipped,
                      .left_out = left_out,
                      .to = out + box.target + target,
                      .stage = staged_ ? stage : nullptr,
                      .segment = segment_,
                      .step = step_,
                      .block = block_,
                      .turned = turned_.data()},
                     rows);
      });
      rows.fetch_rest();
    }
  }

  // --- boxes in groups of columns

  struct Stages {
    std::byte* stage[2];
    std::size_t filled = 0;
  };

  void move_groups(const Grid& grid, Share share, const std::byte* in, std::byte* out,
                   std::byte* stage) const {
    Stages stages{.stage = {stage, stage + stages_bytes() / 2 / kLineBytes * kLineBytes}};
    Traffic traffic;
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      traffic.rows = fetched(boxes, in);
      each_place(others_, box.extents, in_, out_, [&](std::int64_t source, std::int64_t target) {
        turn_columns(box, in + box.source + source, out + box.target + target, stages, traffic);
      });
      traffic.rows.fetch_rest();
    }
    finish_runs(traffic.runs);
  }

  // All columns of a box, group by group. The last group may begin among columns of the one before.
  void turn_columns(const Box& box, const std::byte* in, std::byte* out, Stages& stages,
                    Traffic& traffic) const {
    const std::uint64_t columns = product(columns_, box.extents);
    const bool is_cut = box.places != nullptr;
    const std::uint64_t rows = is_cut ? box.run : product(rows_, box.extents);
    const std::int64_t* const row_in = is_cut ? box.places : row_in_.data();
    const std::uint64_t size = std::min(columns, detail::group_columns(width_));
    const std::byte* const first_row = backwards_ ? in - places((columns - 1) * width_) : in;
    const std::int64_t* const column_out = column_to_.data() + (backwards_ ? column_to_.size() - columns : 0);
    for (std::uint64_t first = 0; first < columns; first += size) {
      const std::uint64_t begin = std::min(first, columns - size);
      Group group = group_of(out, column_out + begin, size, rows * width_, first - begin);
      std::byte* const stage = stages.stage[stages.filled];
      stages.filled = 1 - stages.filled;
      transpose_runs(width_, {.data = first_row + begin * width_, .rows = row_in, .count = rows},
                     {.data = stage, .columns = group.places, .count = size}, traffic);
      finish_runs(traffic.runs);
      for (std::uint64_t run = 0; run < group.runs; ++run)
        traffic.runs.runs[run] = {.from = stage + group.run_places[run], .to = group.targets[run]};
      start_runs(traffic.runs, group.runs, group.run_bytes);
    }
  }

  // Where columns lie in a stage: as far past a line as in the output. Those that follow one another there,
  // up or down, are one run.
  struct Group {
    std::int64_t places[detail::kMostGroupColumns];
    std::int64_t run_places[detail::kMostGroupColumns];
    std::byte* targets[detail::kMostGroupColumns];
    std::uint64_t runs = 0;
    std::uint64_t run_bytes = 0;
  };
  Group group_of(std::byte* out, const std::int64_t* column_out, std::uint64_t size, std::uint64_t bytes,
                 std::uint64_t written_before) const {
    Group group;
    const auto past_line = [](const std::byte* to) {
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLineBytes);
    };
    const std::int64_t step = size > 1 ? column_out[1] - column_out[0] : 0;
    bool follow = std::abs(step) == places(bytes);
    for (std::uint64_t c = 2; c < size && follow; ++c) follow = column_out[c] - column_out[c - 1] == step;
    if (follow) {
      const std::int64_t lowest = std::min(column_out[0], column_out[size - 1]);
      const std::int64_t past = past_line(out + lowest);
      for (std::uint64_t c = 0; c < size; ++c) group.places[c] = past + column_out[c] - lowest;
      const std::uint64_t first = step > 0 ? written_before : size - 1;
      group.runs = 1;
      group.run_bytes = bytes * (size - written_before);
      group.run_places[0] = group.places[first];
      group.targets[0] = out + column_out[first];
    } else {
      const auto pitch = places(detail::stage_pitch(bytes + kLineBytes));
      group.run_bytes = bytes;
      for (std::uint64_t c = 0; c < size; ++c) {
        std::byte* const target = out + column_out[c];
        group.places[c] = places(c) * pitch + past_line(target);
        if (c < written_before) continue;
        group.run_places[group.runs] = group.places[c];
        group.targets[group.runs++] = target;
      }
    }
    for (std::uint64_t run = 0; run < group.runs; ++run) {
      // What is no whole line goes through the caches: it is there by the time that the group is turned.
      const std::byte* const end = group.targets[run] + group.run_bytes;
      if (past_line(group.targets[run]) != 0) __builtin_prefetch(group.targets[run], 1, 3);
      if (past_line(end) != 0) __builtin_prefetch(end - 1, 1, 3);
    }
    return group;
  }

  // The next box, fetched row by row while this one is written.
  struct Fetch {
    const std::byte* from;
    std::size_t left;
  };
  void fetch_some(Fetch& fetch) const {
    for (std::size_t i = 0; i < reads_per_write_ && fetch.left > 0; ++i) {
      const std::byte* const run = fetch.from + reads_[--fetch.left];
      for (std::uint64_t at = 0; at < read_.bytes + kLineBytes - 1; at += kLineBytes)
        __builtin_prefetch(run + at, 0, 2);
    }
  }

  // The line in which a run ends is shared with the next box, so it is written through the caches.
  void fetch_ends(const Box& box, const std::byte* out) const {
    const auto run = places(product(written_, box.extents) * width_);
    each_place(write_rows_, box.extents, out_, out_, [&](std::int64_t target, std::int64_t) {
      __builtin_prefetch(out + box.target + target + run - 1, 1, 2);
    });
  }

  void write(const Box& box, const std::byte* stage, std::byte* out, Fetch fetch) const {
    const std::uint64_t bytes = product(written_, box.extents) * width_;
    std::byte* const to = out + box.target;
    const bool past_caches = streamed() && bytes >= kLineBytes;
    each_place(write_rows_, box.extents, to_, out_, [&](std::int64_t place, std::int64_t target) {
      fetch_some(fetch);
      copy_bytes(stage + place, to + target, bytes, past_caches);
    });
  }

  std::uint64_t width_;
  detail::AxesMove move_;
  bool staged_;
  std::size_t axes_;
  std::uint64_t elements_ = 1;
  std::uint64_t tasks_ = 1;  // boxes, or pieces
  Numbers extents_{};
  Strides in_{};
  Strides out_{};
  Numbers box_{};
  Strides to_{};  // of the stage, or of the output
  Numbers grid_{};
  AxisList walk_;        // axes, the one that boxes follow first
  AxisList written_;     // a run of the output
  AxisList write_rows_;  // all others
  AxisList columns_;     // along the input's run
  AxisList rows_;        // along the output's, of a square in registers
  AxisList others_;
  bool backwards_ = false;            // along the columns, in the input
  bool whole_lines_ = false;          // of the output, where it is aligned
  std::vector<std::int64_t> row_in_;  // bytes from a box's first element
  std::vector<std::int64_t> unit_in_;
  std::uint64_t segment_ = 1;  // of those, as LineGather has it
  std::int64_t step_ = 0;
  std::uint64_t block_ = 0;
  std::array<std::uint8_t, kMostBlockBytes> turned_{};
  std::vector<std::int64_t> column_in_;
  std::vector<std::int64_t> column_to_;
  std::vector<std::int64_t> reads_;  // to the runs it is read by
  ReadRun read_;
  ReadRun cut_read_;
  RowFetch fetch_;
  RowFetch cut_fetch_;
  std::uint64_t reads_per_write_ = 0;
  AlignedRuns aligned_;
  std::size_t aligned_axes_ = 0;  // the first ones, which lie together; 0: runs are not cut at lines
  std::uint64_t cut_places_ = 0;
};

}  // namespace

Program axes_program(const CpuPass& pass) {
  return std::make_unique<AxesProgram>(pass, std::get<detail::CpuAxes>(pass.kernel));
}

}  // namespace faro::cpu
