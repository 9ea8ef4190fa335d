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

#include "engines/cpu/index/aligned_runs.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "plan/cpu/cpu_pass.hpp"

namespace faro::cpu {

class AxesBoxes {
 protected:
  static constexpr std::size_t kMaxAxes = 48;  // extents of at least 2, counts to 2^40

  using Numbers = std::array<std::uint64_t, kMaxAxes>;
  using Strides = std::array<std::int64_t, kMaxAxes>;
  using AxisList = std::vector<std::size_t>;

  static bool contains(const AxisList& axes, std::size_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }

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
    Boxes(const AxesBoxes& boxes, const Grid& grid, Share share, std::byte* stage)
        : boxes_of_(boxes),
          grid_(grid),
          places_(boxes.places_of(stage)),
          left_(share.end - share.begin),
          at_(boxes.box_number(grid, share.begin)) {
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
      for (const std::size_t axis : boxes_of_.walk_) {
        if (++at_[axis] < grid_.boxes[axis]) break;
        at_[axis] = 0;
      }
      set(boxes_[1 - now_]);
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
        free_ = 1 - free_;
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
    Box boxes_[2];
    std::size_t now_ = 0;
  };

  // Behind the stages.
  std::int64_t* places_of(std::byte* stage) const {
    if (aligned_axes_ == 0) return nullptr;
    return reinterpret_cast<std::int64_t*>(stage + stages_bytes());
  }
  std::uint64_t stages_bytes() const { return part_bytes_ - detail::places_bytes(cut_places_); }

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

  // A run that a box is read by: its axes, as many as leave no line between, whichever way they go.
  struct ReadRun {
    AxisList axes;
    std::int64_t first = 0;  // byte, from the first element
    std::uint64_t bytes = 0;
  };
  // Of axes `least` and on alone.
  ReadRun read_run(const layout::CacheBox& box, std::size_t least) const;

  std::uint64_t width_;
  detail::AxesMove move_;
  bool staged_;
  std::uint64_t part_bytes_;  // of a thread's workspace
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

 private:
  void set_box(const layout::CacheBox& box);
  void set_turned(const layout::CacheBox& box);
  void set_reads(const layout::CacheBox& box);
  void set_aligned(const layout::CacheBox& box);
};

}  // namespace faro::cpu
