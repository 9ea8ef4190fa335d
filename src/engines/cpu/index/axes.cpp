// Permutations of axes, box by box (layout/axes_box.hpp): a box is read into a buffer as it lies, and each
// run of the output is put together from there through a table of places that all runs share.
#include <algorithm>
#include <array>
#include <cstring>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

constexpr std::size_t kMaxAxes = 40;                            // extents of at least 2, counts to 2^40
constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;  // of a long segment

using Numbers = std::array<std::uint64_t, kMaxAxes>;

// One side's axes, innermost first.
struct Side {
  std::vector<std::size_t> axes;
  std::size_t joined = 0;  // of them lie in one run
};

class AxesProgram final : public ElementProgram {
 public:
  AxesProgram(const CpuPass& pass, const detail::CpuAxes& axes) : AxesProgram(pass, axes.box, axes.move) {}

  void run(const Step& step) const override {
    const std::uint64_t tasks = !is_long_ ? boxes_ : array_bytes() / width_ * pieces();
    share_out_by_rank(step.arrays * tasks, threads(), [&](Share share) {
      for_each_array(share.begin, share.end, tasks,
                     [&](std::uint64_t array, std::uint64_t first, std::uint64_t last) {
                       const std::uint64_t at = array * array_bytes();
                       if (!is_long_) {
                         move_boxes(first, last, step.in + at, step.out + at, part(step, share.rank));
                       } else {
                         move_pieces(first, last, step.in + at, step.out + at);
                       }
                     });
      finish_streams();
    });
  }

 private:
  AxesProgram(const CpuPass& pass, const layout::AxesBox& box, detail::AxesMove move)
      : ElementProgram(pass),
        width_(box.element_bytes),
        is_long_(move == detail::AxesMove::pieces),
        axes_(box.shape.size()),
        turned_offset_(detail::axes_thread_bytes(box) / 2),
        planes_(move == detail::AxesMove::planes) {
    FARO_CHECK(axes_ <= kMaxAxes);
    std::copy(box.shape.begin(), box.shape.end(), shape_.begin());
    for (std::size_t k = 0; k < axes_; ++k) {
      in_.axes.push_back(axes_ - 1 - k);
      out_.axes.push_back(static_cast<std::size_t>(box.order[axes_ - 1 - k]));
    }
    set_strides(in_, shape_, in_strides_);
    set_strides(out_, shape_, out_strides_);
    if (!is_long_) set_box(box);
  }

  // Strides, in elements, of an array whose axes are these from the innermost on.
  static void set_strides(const Side& side, const Numbers& extents, Numbers& strides) {
    std::uint64_t stride = 1;
    for (const std::size_t axis : side.axes) {
      strides[axis] = stride;
      stride *= extents[axis];
    }
  }

  // Axes that are whole in the box, and one more, are one run in memory.
  void join(Side& side) const {
    for (const std::size_t axis : side.axes) {
      ++side.joined;
      if (box_[axis] < shape_[axis]) break;
    }
  }

  void set_box(const layout::AxesBox& box) {
    std::copy(box.extent.begin(), box.extent.end(), box_.begin());
    join(in_);
    join(out_);
    set_strides(in_, box_, box_strides_);
    for (std::size_t a = 0; a < axes_; ++a) {
      grid_[a] = (shape_[a] + box_[a] - 1) / box_[a];
      boxes_ *= grid_[a];
      box_elements_ *= box_[a];
    }
    each_run(in_, box_, in_strides_, box_strides_,
             [&](std::uint64_t source, std::uint64_t /*place*/) { reads_.push_back(source * width_); });
    std::uint64_t run = 1;
    for (std::size_t k = 0; k < out_.joined; ++k) run *= box_[out_.axes[k]];
    places_.resize(run);
    for (std::uint64_t i = 0; i < run; ++i) {
      std::uint64_t rest = i;
      std::uint64_t place = 0;
      for (std::size_t k = 0; k < out_.joined; ++k) {
        const std::size_t axis = out_.axes[k];
        place += rest % box_[axis] * box_strides_[axis];
        rest /= box_[axis];
      }
      places_[i] = static_cast<std::uint32_t>(place * width_);
    }
    read_bytes_ = run_elements(in_, box_) * width_;
    const std::uint64_t writes = box_elements_ / run;
    reads_per_write_ = (reads_.size() + writes - 1) / writes;
    set_strides(out_, box_, turned_strides_);
    for (const std::size_t axis : in_.axes) {
      if (axis != in_.axes.front() && axis != out_.axes.front()) others_.axes.push_back(axis);
    }
    // Whether every run of a box begins at a line's beginning and ends at one's end.
    whole_lines_ = run * width_ % kLineBytes == 0;
    for (std::size_t k = out_.joined; k < axes_; ++k)
      whole_lines_ = whole_lines_ && out_strides_[out_.axes[k]] * width_ % kLineBytes == 0;
    // Boxes that share lines of the output follow one another; else those that share pages of the input.
    walk_ = whole_lines_ ? in_.axes : out_.axes;
  }

  // A thread's memory: the box as it was read, and as it is written, of which a run may be enough.
  std::uint64_t stage_offset() const { return turned_offset_; }

  std::uint64_t pieces() const { return (width_ + kPieceBytes - 1) / kPieceBytes; }

  void send(const std::byte* from, std::byte* to, std::uint64_t bytes) const {
    copy_bytes(from, to, bytes, streamed());
  }

  // Long elements, cut into pieces, in the order of the output.
  void move_pieces(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out) const {
    for (std::uint64_t task = first; task < last; ++task) {
      const std::uint64_t begin = task % pieces() * kPieceBytes;
      const std::uint64_t element = task / pieces();
      std::uint64_t rest = element;
      std::uint64_t source = 0;
      for (const std::size_t axis : out_.axes) {
        source += rest % shape_[axis] * in_strides_[axis];
        rest /= shape_[axis];
      }
      send(in + source * width_ + begin, out + element * width_ + begin,
           std::min(kPieceBytes, width_ - begin));
    }
  }

  void move_boxes(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out,
                  std::byte* memory) const {
    Numbers at{};  // the box's number along every axis
    std::uint64_t rest = first;
    for (const std::size_t axis : walk_) {
      at[axis] = rest % grid_[axis];
      rest /= grid_[axis];
    }
    Box box = box_at(at);
    for (std::uint64_t number = first; number < last; ++number) {
      read_box(box, in, out, memory);
      for (const std::size_t axis : walk_) {
        if (++at[axis] < grid_[axis]) break;
        at[axis] = 0;
      }
      const Box next = box_at(at);
      Fetch fetch{.from = in + next.source * width_, .left = number + 1 < last ? reads_.size() : 0};
      if (planes_) {
        write_planes(box, memory, out, fetch);
      } else {
        with_width(width_, [&](auto width) { write_by_table(width, box, memory, out, fetch); });
      }
      box = next;
    }
  }

  struct Box {
    Numbers extents{};
    std::uint64_t source = 0;  // elements, of its first
    std::uint64_t target = 0;
  };
  Box box_at(const Numbers& at) const {
    Box box;
    for (std::size_t a = 0; a < axes_; ++a) {
      const std::uint64_t begin = at[a] * box_[a];
      box.extents[a] = std::min(box_[a], shape_[a] - begin);
      box.source += begin * in_strides_[a];
      box.target += begin * out_strides_[a];
    }
    return box;
  }

  // The next box, fetched run by run while this one is written.
  struct Fetch {
    const std::byte* from;
    std::size_t left;
  };
  void fetch_some(Fetch& fetch) const {
    for (std::size_t i = 0; i < reads_per_write_ && fetch.left > 0; ++i) {
      const std::byte* const run = fetch.from + reads_[--fetch.left];
      for (std::uint64_t at = 0; at < read_bytes_ + kLineBytes - 1; at += kLineBytes)
        __builtin_prefetch(run + at, 0, 2);
    }
  }

  std::uint64_t run_elements(const Side& side, const Numbers& extents) const {
    std::uint64_t run = 1;
    for (std::size_t k = 0; k < side.joined; ++k) run *= extents[side.axes[k]];
    return run;
  }

  // Calls visit(a, b) for every run of a side: the sums of two kinds of strides along its axes past the run.
  template <typename Visit>
  static void each_run(const Side& side, const Numbers& extents, const Numbers& strides_a,
                       const Numbers& strides_b, const Visit& visit) {
    Numbers at{};
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (;;) {
      visit(a, b);
      std::size_t k = side.joined;
      for (; k < side.axes.size(); ++k) {
        const std::size_t axis = side.axes[k];
        a += strides_a[axis];
        b += strides_b[axis];
        if (++at[axis] < extents[axis]) break;
        a -= extents[axis] * strides_a[axis];
        b -= extents[axis] * strides_b[axis];
        at[axis] = 0;
      }
      if (k >= side.axes.size()) return;
    }
  }

  void read_box(const Box& box, const std::byte* in, const std::byte* out, std::byte* memory) const {
    const std::uint64_t bytes = run_elements(in_, box.extents) * width_;
    const std::byte* const from = in + box.source * width_;
    if (!whole_lines_) fetch_ends(box, out);
    each_run(in_, box.extents, in_strides_, box_strides_, [&](std::uint64_t source, std::uint64_t place) {
      std::memcpy(memory + place * width_, from + source * width_, bytes);
    });
  }

  // The line in which a run ends is shared with the next box, so it is written through the caches.
  void fetch_ends(const Box& box, const std::byte* out) const {
    const std::uint64_t run = run_elements(out_, box.extents);
    each_run(out_, box.extents, out_strides_, box_strides_,
             [&](std::uint64_t target, std::uint64_t /*place*/) {
               __builtin_prefetch(out + (box.target + target + run) * width_ - 1, 1, 2);
             });
  }

  template <typename Width>
  void write_by_table(Width width, const Box& box, std::byte* memory, std::byte* out, Fetch& fetch) const {
    const std::uint64_t bytes = width.bytes();
    const std::uint64_t run = run_elements(out_, box.extents);
    const std::uint32_t* const places = places_.data();
    std::byte* const stage = memory + stage_offset();
    const bool past_caches = streamed();
    each_run(out_, box.extents, box_strides_, out_strides_, [&](std::uint64_t place, std::uint64_t target) {
      fetch_some(fetch);
      const std::byte* const from = memory + place * bytes;
      std::byte* const line = out + (box.target + target) * bytes;
      std::byte* const to = past_caches ? stage : line;
      for (std::uint64_t i = 0; i < run; ++i) width.move(from + places[i], to + i * bytes);
      if (past_caches) copy_streamed(stage, line, run * bytes);
    });
  }

  // Plane by plane into a second box, which lies as the output does.
  void write_planes(const Box& box, std::byte* memory, std::byte* out, Fetch& fetch) const {
    std::byte* const turned = memory + stage_offset();
    const std::size_t rows = out_.axes.front();
    const std::size_t columns = in_.axes.front();
    each_run(others_, box.extents, box_strides_, turned_strides_, [&](std::uint64_t place, std::uint64_t to) {
      transpose_plane(width_, {memory + place * width_, box_strides_[rows] * width_}, box.extents[rows],
                      box.extents[columns], {turned + to * width_, turned_strides_[columns] * width_});
    });
    const std::uint64_t bytes = run_elements(out_, box.extents) * width_;
    const bool past_caches = streamed();
    each_run(out_, box.extents, turned_strides_, out_strides_,
             [&](std::uint64_t place, std::uint64_t target) {
               fetch_some(fetch);
               const std::byte* const from = turned + place * width_;
               std::byte* const to = out + (box.target + target) * width_;
               copy_bytes(from, to, bytes, past_caches);
             });
  }

  std::uint64_t width_;
  bool is_long_;  // elements that need no box
  std::size_t axes_;
  std::uint64_t turned_offset_;  // of the second box, in a thread's part
  bool planes_;                  // boxes are transposed in registers
  Numbers shape_{};
  Numbers in_strides_{};
  Numbers out_strides_{};
  Numbers box_{};
  Numbers box_strides_{};     // of a box as it is read
  Numbers turned_strides_{};  // and as it is written
  Numbers grid_{};
  Side in_;
  Side out_;
  Side others_;                        // neither side's innermost
  std::vector<std::size_t> walk_;      // axes, the one that boxes follow first
  std::vector<std::uint64_t> reads_;   // bytes from a box's first element to the runs it is read by
  std::vector<std::uint32_t> places_;  // bytes within the box, of a run of the output
  bool whole_lines_ = false;           // of the output, where it is aligned
  std::uint64_t read_bytes_ = 0;
  std::uint64_t reads_per_write_ = 0;
  std::uint64_t boxes_ = 1;
  std::uint64_t box_elements_ = 1;
};

}  // namespace

Program axes_program(const CpuPass& pass) {
  return std::make_unique<AxesProgram>(pass, std::get<detail::CpuAxes>(pass.kernel));
}

}  // namespace faro::cpu
