// Permutations of axes, and any strided view, of arrays that the caches hold: nothing is staged, streamed or
// fetched, and each box is one call, for small arrays are done in less time than a call for each part of them
// would take.
//
//     columns of the input's run, rows of the output's    planes that are transposed in registers
//     two to eight rows, and their elements side by side  channels (channels.hpp)
//     what lies together on both sides, and what is alone units that are copied (unit_copy.hpp)
#include <algorithm>
#include <numeric>
#include <optional>

#include "engines/cpu/channels.hpp"
#include "engines/cpu/index/axes_boxes.hpp"
#include "engines/cpu/line_gather.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/unit_copy.hpp"
#include "faro/error.hpp"

namespace faro::cpu {
namespace {

class CachedAxesProgram final : public ElementProgram, private AxesBoxes {
 public:
  CachedAxesProgram(const CpuPass& pass, const detail::CpuAxes& axes)
      : ElementProgram(pass), AxesBoxes(axes, 0) {
    if (move_ == detail::AxesMove::planes) {
      planes_ = plane_tables();
    } else if (move_ == detail::AxesMove::channels) {
      set_channels(axes.box);
    } else {
      if (move_ == detail::AxesMove::pieces) set_pieces();
      if (move_ == detail::AxesMove::lines) run_ = unit_run();
      order_units();
    }
    // What else is fetched by hand comes later than what the processor fetches by itself.
    constexpr std::uint64_t kLarge = std::uint64_t{1} << 20;
    constexpr std::uint64_t kNarrow = 8;
    fetches_ = move_ == detail::AxesMove::lines && width_ < kNarrow && elements_ * width_ >= kLarge;
  }

  void run(const Step& step) const override {
    FARO_CHECK(step.arrays == pass().arrays);  // the batch is an axis
    share_out(tasks_, threads(), [&](std::uint64_t begin, std::uint64_t end) {
      if (begin < end) move_boxes(begin, end, step.in, step.out);
    });
  }

 private:
  struct PlacedBox {
    Numbers extents;
    std::int64_t source = 0;
    std::int64_t target = 0;
  };

  void set_channels(const layout::CacheBox& box) {
    channel_axes_ = detail::channel_axes(box);
    const auto& [channel, row, parts] = channel_axes_;
    planes_.column_to = place_table({channel}, box_, parts ? out_ : in_);
    channels_.emplace(ChannelShape{.width = width_, .channels = box_[channel], .parts = parts});
    others_.clear();
    for (std::size_t axis = 0; axis < axes_; ++axis)
      if (axis != channel && axis != row) others_.push_back(axis);
  }

  // Long elements have no boxes: all of them are one, or threads have parts of the slowest axis.
  void set_pieces() {
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const bool is_cut = axis + 1 == axes_ && threads() > 1;
      box_[axis] = is_cut ? 1 : extents_[axis];
      grid_[axis] = is_cut ? extents_[axis] : 1;
      tasks_ *= grid_[axis];
      walk_.push_back(axis);
    }
  }

  // Units go in the order of the output, but that a short axis is not the innermost loop.
  void order_units() {
    constexpr std::uint64_t kShort = 8;
    others_.resize(axes_);
    std::iota(others_.begin(), others_.end(), std::size_t{0});
    if (axes_ < 2 || box_[0] >= kShort) return;
    const auto longest = std::max_element(others_.begin(), others_.end(),
                                          [&](std::size_t a, std::size_t b) { return box_[a] < box_[b]; });
    std::rotate(others_.begin(), longest, longest + 1);
  }

  void move_boxes(std::uint64_t begin, std::uint64_t end, const std::byte* in, std::byte* out) const {
    Numbers at;
    std::uint64_t number = begin;
    for (const std::size_t axis : walk_) {
      at[axis] = number % grid_[axis];
      number /= grid_[axis];
    }
    PlacedBox box;
    set_axes(grid_, at, 0, box);
    for (++begin;; ++begin) {
      const bool is_last = begin == end;
      PlacedBox next;
      if (!is_last) {
        for (const std::size_t axis : walk_) {
          if (++at[axis] < grid_[axis]) break;
          at[axis] = 0;
        }
        set_axes(grid_, at, 0, next);
      }
      RowTraffic rows{in + next.source, reads_.data(), reads_.size(), read_.bytes, fetch_};
      move_box(box.extents, in + box.source, out + box.target, fetches_ && !is_last ? &rows : nullptr);
      if (is_last) return;
      box = next;
    }
  }

  void move_box(const Numbers& extents, const std::byte* in, std::byte* out, RowTraffic* fetched) const {
    if (move_ == detail::AxesMove::planes) return turn(planes_, extents, in, out);
    if (move_ == detail::AxesMove::channels) {
      return each_place(others_, extents, in_, out_, [&](std::int64_t source, std::int64_t target) {
        channels_->move({.from = in + source,
                         .to = out + target,
                         .planes = planes_.column_to.data(),
                         .count = extents[channel_axes_.row]});
      });
    }
    if (!run_.in_vectors) {
      return copy_units(in, out, width_, nest(others_, extents, in_, out_), fetched);
    }
    RowTraffic nothing;
    RowTraffic& rows = fetched != nullptr ? *fetched : nothing;
    each_place(write_rows_, extents, in_, out_, [&](std::int64_t source, std::int64_t target) {
      gather_lines({.from = in + source,
                    .places = run_.in.data(),
                    .count = product(written_, extents),
                    .bytes = width_,
                    .to = out + target,
                    .segment = run_.segment,
                    .step = run_.step,
                    .block = run_.block,
                    .turned = run_.turned.data()},
                   rows);
    });
  }

  bool fetches_ = false;  // the next box's rows while one is moved
  PlaneTables planes_;    // of channels: their planes
  detail::ChannelAxes channel_axes_;
  std::optional<Channels> channels_;
  UnitRun run_;
};

}  // namespace

Program cached_axes_program(const CpuPass& pass) {
  return std::make_unique<CachedAxesProgram>(pass, std::get<detail::CpuAxes>(pass.kernel));
}

}  // namespace faro::cpu
