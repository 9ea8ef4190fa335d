// How a view is cut into boxes, in which order they come, and how they are read: all that ways of moving them
// share.
//
// A box is written as runs of the output. Where the output begins between lines, and axes of a run lie
// together in it, runs are cut at lines instead (aligned_runs.hpp): the first axis of the grid then stands
// for all of these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "contains.hpp"
#include "engines/cpu/index/aligned_runs.hpp"
#include "engines/cpu/line_gather.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "plan/cpu/cpu_pass.hpp"

namespace faro::cpu {

class AxesBoxes {
 protected:
  static constexpr std::size_t kMaxAxes = StridedNest::kMostAxes;

  using Numbers = std::array<std::uint64_t, kMaxAxes>;
  using Strides = std::array<std::int64_t, kMaxAxes>;
  using AxisList = std::vector<std::size_t>;

  static std::int64_t places(std::uint64_t count) { return static_cast<std::int64_t>(count); }

  // The next digits along `axes`, the first the fastest, and the sums of two kinds of strides for them. False
  // behind the last, where all begin again.
  [[gnu::always_inline]] static bool step(const AxisList& axes, const Numbers& extents,
                                          const Strides& strides_a, const Strides& strides_b,
                                          std::uint64_t* at, std::int64_t& a, std::int64_t& b) {
    for (const std::size_t axis : axes) {
      a += strides_a[axis];
      b += strides_b[axis];
      if (++at[axis] < extents[axis]) return true;
      a -= places(extents[axis]) * strides_a[axis];
      b -= places(extents[axis]) * strides_b[axis];
      at[axis] = 0;
    }
    return false;
  }

  // Calls visit(a, b) for every combination of digits along `axes`, the first the fastest: the sums of two
  // kinds of strides.
  template <typename Visit>
  static void each_place(const AxisList& axes, const Numbers& extents, const Strides& strides_a,
                         const Strides& strides_b, const Visit& visit) {
    // Only what is used is set: for all of it compilers take a string instruction, which waits for streamed
    // stores.
    std::uint64_t at[kMaxAxes];
    for (const std::size_t axis : axes) at[axis] = 0;
    std::int64_t a = 0;
    std::int64_t b = 0;
    do {
      visit(a, b);
    } while (step(axes, extents, strides_a, strides_b, at, a, b));
  }

  static std::uint64_t product(const AxisList& axes, const Numbers& extents) {
    std::uint64_t all = 1;
    for (const std::size_t axis : axes) all *= extents[axis];
    return all;
  }

  // The same sums of one kind of strides as a table, `first` added to each: what is there is repeated an axis
  // at a time, since tables have thousands of places and are made with every program.
  static std::vector<std::int64_t> place_table(const AxisList& axes, const Numbers& extents,
                                               const Strides& strides, std::int64_t first = 0) {
    std::vector<std::int64_t> table(product(axes, extents));
    table.front() = first;
    std::size_t made = 1;
    for (const std::size_t axis : axes) {
      const std::size_t all = made * extents[axis];
      const std::int64_t stride = strides[axis];
      std::int64_t place = first;
      if (made == 1) {  // without waiting for the entry before
        for (std::size_t at = 1; at < all; ++at) table[at] = place += stride;
      } else {
        for (std::size_t at = made; at < all; ++at) table[at] = table[at - made] + stride;
      }
      made = all;
    }
    return table;
  }

  /// `part_bytes`: of the workspace of a thread. Long elements have no boxes.
  AxesBoxes(const detail::CpuAxes& axes, std::uint64_t part_bytes);

  // How an output is cut into boxes.
  struct Grid {
    Numbers boxes{};
    std::uint64_t tasks = 0;
    bool is_cut = false;  // at lines: the first axis stands for all that lie together
    RunCut cut;
  };
  Grid grid_for(const std::byte* out) const;

  // --- boxes

  struct Box {
    Numbers extents{};
    std::int64_t source = 0;  // bytes, of its first element
    std::int64_t target = 0;
    // A run that is cut at lines: its bytes in the row, its elements, and where they lie in the input.
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t run = 0;
    const std::int64_t* places = nullptr;
    std::int64_t run_source = 0;
  };
  // Along axes that go backwards in the input boxes are counted from the output's end: rows of memory that
  // are read downwards cost a quarter more than those that are read upwards.
  std::uint64_t number_of(const Numbers& boxes, const Numbers& at, std::size_t axis) const {
    return in_[axis] < 0 ? boxes[axis] - 1 - at[axis] : at[axis];
  }
  template <typename Placed>
  void set_axes(const Numbers& boxes, const Numbers& at, std::size_t first, Placed& box) const {
    for (std::size_t a = first; a < axes_; ++a) {
      const std::uint64_t begin = number_of(boxes, at, a) * box_[a];
      box.extents[a] = std::min(box_[a], extents_[a] - begin);
      box.source += places(begin) * in_[a];
      box.target += places(begin) * out_[a];
    }
  }
  void set_to(const Grid& grid, const Numbers& at, Box& box) const {
    box.source = 0;
    box.target = 0;
    if (!grid.is_cut) return set_axes(grid.boxes, at, 0, box);
    const std::uint64_t part = number_of(grid.boxes, at, 0);
    box.begin = grid.cut.begin(part);
    box.end = grid.cut.end(part);
    box.target = places(box.begin);
    for (std::size_t a = 0; a < aligned_axes_; ++a) box.extents[a] = 1;
    set_axes(grid.boxes, at, aligned_axes_, box);
  }

  // A box and those after it, the last of which is fetched meanwhile.
  class Boxes {
   public:
    Boxes(const AxesBoxes& boxes, const Grid& grid, Share share, std::byte* stage)
        : boxes_of_(boxes),
          grid_(grid),
          places_(boxes.places_of(stage)),
          left_(share.end - share.begin),
          at_(boxes.box_number(grid, share.begin)),
          known_(std::min(left_, boxes.boxes_ahead_ + 1)) {
      set(boxes_[0]);
      for (std::size_t k = 1; k < known_; ++k) look_ahead(boxes_[k]);
    }
    bool any() const { return left_ > 0; }
    const Box& now() const { return boxes_[now_]; }
    // The one to fetch, if there is one.
    const Box& ahead() const { return boxes_[now_ == 0 ? known_ - 1 : now_ - 1]; }
    bool any_ahead() const { return left_ >= known_ && known_ > 1; }
    void advance() {
      Box& moved = boxes_[now_];
      if (++now_ == known_) now_ = 0;
      if (--left_ >= known_) look_ahead(moved);
    }

   private:
    void look_ahead(Box& box) {
      for (const std::size_t axis : boxes_of_.walk_) {
        if (++at_[axis] < grid_.boxes[axis]) break;
        at_[axis] = 0;
      }
      set(box);
    }
    // Boxes that follow one another across the run have the same places.
    void set(Box& box) {
      boxes_of_.set_to(grid_, at_, box);
      if (!grid_.is_cut) return;
      if (box.places == nullptr || box.begin != held_.begin || box.end != held_.end) {
        const std::uint64_t first = box.begin / boxes_of_.width_;
        held_.begin = box.begin;
        held_.end = box.end;
        held_.run = (box.end - 1) / boxes_of_.width_ + 1 - first;
        if (++free_ == known_) free_ = 0;
        held_.places = places_ + free_ * boxes_of_.cut_places_;
        held_.run_source =
            boxes_of_.aligned_.places(first, held_.run, places_ + free_ * boxes_of_.cut_places_);
      }
      box.run = held_.run;
      box.places = held_.places;
      box.source += held_.run_source;
    }

    const AxesBoxes& boxes_of_;
    const Grid& grid_;
    std::int64_t* places_;
    Box held_;  // the run that was worked out last
    std::size_t free_ = 0;
    std::uint64_t left_;
    Numbers at_;
    std::uint64_t known_;  // boxes: the one that is moved, and those after it
    Box boxes_[detail::kMostBoxesAhead + 1];
    std::size_t now_ = 0;
  };

  // Behind the stages.
  std::int64_t* places_of(std::byte* stage) const {
    if (aligned_axes_ == 0) return nullptr;
    return reinterpret_cast<std::int64_t*>(stage + stages_bytes());
  }
  std::uint64_t stages_bytes() const { return part_bytes_ - detail::places_bytes(cut_places_, boxes_ahead_); }

  Numbers box_number(const Grid& grid, std::uint64_t number) const {
    Numbers at{};
    for (const std::size_t axis : walk_) {
      at[axis] = number % grid.boxes[axis];
      number /= grid.boxes[axis];
    }
    return at;
  }

  // The rows of the box to fetch, if there is one.
  RowTraffic fetched(const Boxes& boxes, const std::byte* in) const {
    const Box& next = boxes.ahead();
    const bool any = boxes.any_ahead();
    if (next.places != nullptr)
      return {in + next.source + cut_read_.first, next.places, any ? next.run : 0, cut_read_.bytes,
              cut_fetch_};
    return {in + next.source, reads_.data(), any ? reads_.size() : 0, read_.bytes, fetch_};
  }

  // Whether what lies between two stretches of the input is read with them: lines of short gaps are by
  // processors as it is, and where the next stretch follows soon, going on is faster than beginning anew
  // (docs/notes/cpu-experiments.md).
  static bool is_short_gap(std::uint64_t stretch, std::uint64_t gap) {
    constexpr std::uint64_t kShort = 256;
    return gap < kLineBytes || gap <= std::min(kShort, stretch / 2);
  }
  static bool fetches_gap(std::uint64_t stretch, std::uint64_t gap) {
    constexpr std::uint64_t kMost = 2304;
    return is_short_gap(stretch, gap) || gap <= std::min(kMost, stretch / 3);
  }

  // A run of the output: where each of its elements is, and how those along its first axis follow one
  // another, as LineGather has it.
  struct UnitRun {
    std::vector<std::int64_t> in;  // bytes from a box's first element
    bool in_vectors = false;       // vectors have the elements in order, or turn them
    std::uint64_t segment = 1;
    std::int64_t step = 0;
    std::uint64_t block = 0;
    std::array<std::uint8_t, kMostBlockBytes> turned{};
  };
  UnitRun unit_run() const;

  // Where rows and columns of squares lie.
  struct PlaneTables {
    bool backwards = false;  // along the columns, in the input
    std::vector<std::int64_t> row_in;
    std::vector<std::int64_t> column_to;
  };
  PlaneTables plane_tables() const;
  // The planes of a box of these extents, one for each place along the other axes.
  void turn(const PlaneTables& tables, const Numbers& extents, const std::byte* in, std::byte* to) const;

  StridedNest nest(const AxisList& axes, const Numbers& extents, const Strides& in,
                   const Strides& out) const {
    StridedNest made;
    for (const std::size_t axis : axes) made.add(extents[axis], in[axis], out[axis]);
    return made;
  }

  // A run that a box is read by: its axes, as many as leave no gap that is not fetched, whichever way they
  // go.
  struct ReadRun {
    AxisList axes;
    std::int64_t first = 0;  // byte, from the first element
    std::uint64_t bytes = 0;
  };
  // The run of axes `least` and on alone.
  ReadRun read_run(const layout::CacheBox& box, std::size_t least) const;

  std::uint64_t width_;
  detail::AxesMove move_;
  bool staged_;
  std::uint64_t part_bytes_;  // of a thread's workspace
  bool by_input_order_;
  std::size_t axes_;
  std::uint64_t elements_ = 1;
  std::uint64_t tasks_ = 1;  // boxes
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
  bool whole_lines_ = false;         // of the output, where it is aligned
  std::vector<std::int64_t> reads_;  // to the runs it is read by
  ReadRun read_;
  ReadRun cut_read_;
  RowFetch fetch_;
  RowFetch cut_fetch_;
  std::uint64_t reads_per_write_ = 0;
  AlignedRuns aligned_;
  std::size_t aligned_axes_ = 0;  // the first ones, which lie together; 0: runs are not cut at lines
  std::uint64_t cut_places_ = 0;
  std::uint64_t boxes_ahead_ = 1;  // the box that is fetched, from the one that is moved

 private:
  void set_box(const layout::CacheBox& box);
  void set_turned(const layout::CacheBox& box);
  void set_reads(const layout::CacheBox& box);
  void set_aligned(const layout::CacheBox& box);
};

}  // namespace faro::cpu
