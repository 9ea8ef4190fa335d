// Permutations of axes, and any strided view, box by box (layout/cache_box.hpp).
//
//     input                          stage                         output
//     rows of the input's run  --->  rows of the output's run ---> the same, streamed as whole lines
//                  transposed in registers, or    while the next box
//                  element by element             is fetched
//
// A place within a box is a sum of digits times strides, on all three sides. What fits the caches as a whole
// has no stage: it is written where it belongs (axes_cached.cpp). What does not is transposed a group of
// columns at a time, a line of each row: while one stage of such columns is filled, the other is written and
// the next box is fetched. Two to eight long rows are interleaved in registers, or taken apart
// (channels.hpp). Elements of a line and more are not transposed, but taken run by run of the output, boxes
// in the input's order; so are those of widths of no register, and those whose runs begin with the same axis
// on both sides.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "engines/cpu/channels.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/element_width.hpp"
#include "engines/cpu/index/axes_boxes.hpp"
#include "engines/cpu/line_gather.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/plane_transpose.hpp"
#include "engines/cpu/team.hpp"
#include "engines/cpu/whole_elements.hpp"
#include "faro/error.hpp"
#include "plan/cpu/axes_runs.hpp"

namespace faro::cpu {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{64} << 10;  // of a long element
constexpr std::uint64_t kMostCachedPiece = std::uint64_t{16}
                                           << 10;  // a copy by itself is as fast from there on

class AxesProgram final : public ElementProgram, private AxesBoxes {
 public:
  AxesProgram(const CpuPass& pass, const detail::CpuAxes& axes)
      : ElementProgram(pass),
        AxesBoxes(axes, pass.run.workspace.part_bytes),
        one_by_one_(axes.one_by_one),
        backwards_rows_(axes.one_by_one && detail::reads_rows_backwards(axes.box)),
        unit_bytes_(one_by_one_ ? detail::bytes_one_by_one(axes.box) : width_) {
    if (move_ == detail::AxesMove::pieces || one_by_one_) order_elements();
    if (move_ == detail::AxesMove::pieces) {
      tasks_ = elements_ * pieces();
    } else if (move_ == detail::AxesMove::lines) {
      units_ = unit_run();
    } else if (move_ == detail::AxesMove::channels) {
      set_channels(axes.box);
    } else {
      set_tables();
    }
  }

  void run(const Step& step) const override {
    FARO_CHECK(step.arrays == pass().arrays);  // the batch is an axis
    if (goes_one_by_one(step.out)) {
      share_out_by_rank(elements_ * width_ / unit_bytes_, threads(), [&](Share share) {
        move_elements(share, step.in, step.out);
        finish_streams();
      });
      return;
    }
    const Grid grid = grid_for(step.out);
    share_out_by_rank(grid.tasks, threads(), [&](Share share) {
      if (share.begin < share.end) {
        std::byte* const stage = part(step, share.rank);
        switch (move_) {
          case detail::AxesMove::pieces:
            move_pieces(share.begin, share.end, step.in, step.out);
            break;
          case detail::AxesMove::groups:
            move_groups(grid, share, step, stage);
            break;
          case detail::AxesMove::channels:
            move_channels(grid, share, step, stage);
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
  // Where rows and columns of squares lie, or elements along the input's run.
  void set_tables() {
    if (move_ == detail::AxesMove::planes || move_ == detail::AxesMove::groups) {
      planes_ = plane_tables();
    } else {
      column_in_ = place_table(columns_, box_, in_);
      column_to_ = place_table(columns_, box_, to_);
    }
  }

  void set_channels(const layout::CacheBox& box) {
    channel_axes_ = detail::channel_axes(box);
    const auto& [channel, row, parts] = channel_axes_;
    column_to_ = place_table({channel}, box_, parts ? out_ : in_);
    channels_.emplace(ChannelShape{.width = width_, .channels = box_[channel], .parts = parts});
  }

  // --- elements by themselves

  // In the order of the input and upwards in it, what is repeated first: reads that go on are the faster,
  // streamed stores may go anywhere.
  void order_elements() {
    for (std::size_t axis = backwards_rows_ ? 1 : 0; axis < axes_; ++axis) by_input_.push_back(axis);
    std::stable_sort(by_input_.begin(), by_input_.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(in_[a]) < std::abs(in_[b]); });
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      upwards_in_[axis] = std::abs(in_[axis]);
      upwards_out_[axis] = in_[axis] < 0 ? -out_[axis] : out_[axis];
    }
    constexpr std::uint64_t kLongStretch = std::uint64_t{128} << 10;  // what lies behind it hardly matters
    std::uint64_t stretch = unit_bytes_;
    for (const std::size_t axis : by_input_) {
      const auto apart = static_cast<std::uint64_t>(upwards_in_[axis]);
      if (stretch >= kLongStretch) break;
      if (apart > stretch && !is_short_gap(stretch, apart - stretch)) {
        is_broken_ = true;
        if (!fetches_gap(stretch, apart - stretch)) break;
        gaps_[axis] = apart - stretch;
      }
      stretch += apart * (extents_[axis] - 1);
    }
  }

  struct Element {
    Numbers at{};
    std::int64_t source = 0;  // of its lowest byte
    std::int64_t target = 0;
    std::uint64_t gap = 0;  // bytes before it that are fetched with it
  };
  Element element(std::uint64_t number) const {
    Element found;
    if (backwards_rows_) found.source = -places(unit_bytes_ - width_);
    for (const std::size_t axis : by_input_) {
      found.at[axis] = number % extents_[axis];
      number /= extents_[axis];
      const std::int64_t digit = places(in_[axis] < 0 ? extents_[axis] - 1 - found.at[axis] : found.at[axis]);
      found.source += digit * in_[axis];
      found.target += digit * out_[axis];
    }
    return found;
  }
  // So many that follow one another along the first axis.
  std::uint64_t alike(const Element& now) const {
    const std::size_t axis = by_input_.front();
    return extents_[axis] - now.at[axis];
  }
  // Requires: no more than are equally far apart.
  void advance(Element& now, std::uint64_t count = 1) const {
    now.gap = 0;
    for (const std::size_t axis : by_input_) {
      now.source += places(count) * upwards_in_[axis];
      now.target += places(count) * upwards_out_[axis];
      now.at[axis] += count;
      if (now.at[axis] < extents_[axis]) {
        now.gap = gaps_[axis];
        return;
      }
      now.source -= places(extents_[axis]) * upwards_in_[axis];
      now.target -= places(extents_[axis]) * upwards_out_[axis];
      now.at[axis] = 0;
      count = 1;
    }
  }

  // Long ones are cut into pieces.
  std::uint64_t pieces() const { return (width_ + kPieceBytes - 1) / kPieceBytes; }

  void move_pieces(std::uint64_t first, std::uint64_t last, const std::byte* in, std::byte* out) const {
    const std::uint64_t each = pieces();
    Element now = element(first / each);
    std::uint64_t piece = first % each;
    for (std::uint64_t task = first; task < last; ++task) {
      const std::uint64_t begin = piece * kPieceBytes;
      const std::uint64_t bytes = std::min(kPieceBytes, width_ - begin);
      copy_bytes(in + now.source + begin, out + now.target + begin, bytes, streamed());
      if (++piece < each) continue;
      piece = 0;
      advance(now);
    }
  }

  // Whole lines, while later elements are fetched: further ahead than a processor looks by itself, and that
  // it does only where elements lie together. What follows along one axis is one call, which keeps all places
  // in registers: stores of other things stand in line with the streamed ones.
  bool goes_one_by_one(const std::byte* out) const {
    return one_by_one_ && reinterpret_cast<std::uintptr_t>(out) % kLineBytes == 0;
  }
  void move_elements(Share share, const std::byte* in, std::byte* out) const {
    constexpr std::uint64_t kBytesAhead = 8192;
    const std::uint64_t bytes_ahead = is_broken_ ? kBytesAhead / 2 : kBytesAhead;
    const std::uint64_t left = share.end - share.begin;
    const std::uint64_t ahead = std::min(left, std::max<std::uint64_t>(1, bytes_ahead / unit_bytes_));
    const std::size_t axis = by_input_.front();
    Element now = element(share.begin);
    Element fetched = element(share.begin + ahead);
    for (std::uint64_t done = 0; done < left;) {
      const bool fetches = done + ahead < left;
      std::uint64_t count = std::min(left - done, alike(now));
      if (fetches) count = std::min({count, left - ahead - done, alike(fetched)});
      stream_elements({.from = in + now.source,
                       .to = out + now.target,
                       .fetched = in + (fetches ? fetched.source : now.source),
                       .gap = fetches ? fetched.gap : 0,
                       .gaps = gaps_[axis],
                       .from_step = upwards_in_[axis],
                       .to_step = upwards_out_[axis],
                       .count = count,
                       .bytes = unit_bytes_,
                       .broken = is_broken_,
                       .turned_bytes = backwards_rows_ ? width_ : 0});
      done += count;
      advance(now, count);
      if (fetches) advance(fetched, count);
    }
  }

  // --- boxes

  void move_boxes(const Grid& grid, Share share, const std::byte* in, std::byte* out,
                  std::byte* stage) const {
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      if (!whole_lines_) fetch_ends(box, out);
      if (move_ == detail::AxesMove::planes) {
        turn(planes_, box.extents, in + box.source, stage);
      } else {
        with_width(width_, [&](auto width) { move_by_table(width, box, in + box.source, stage); });
      }
      write(box, stage, out, {in + boxes.ahead().source, boxes.any_ahead() ? reads_.size() : 0});
    }
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

  // --- rows of a few channels

  void move_channels(const Grid& grid, Share share, const Step& step, std::byte* stage) const {
    // Numbers that are changed are so from the stage on, in the first-level cache.
    const auto change = [&](const std::byte* from, const std::byte* to, std::uint64_t bytes) {
      const std::uint64_t width = bytes_of(step.written->program().from);
      step.written->write(from, static_cast<std::uint64_t>(to - step.out) / width, bytes / width);
    };
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      const Channels::Move move{.from = step.in + box.source,
                                .to = step.out + box.target,
                                .planes = column_to_.data(),
                                .count = box.extents[channel_axes_.row]};
      if (step.written == nullptr) {
        channels_->stream(move, stage);
      } else {
        channels_->by_stage(move, stage, change);
      }
    }
  }

  // --- a run of the output at a time

  void move_lines(const Grid& grid, Share share, const std::byte* in, std::byte* out,
                  std::byte* stage) const {
    for (Boxes boxes(*this, grid, share, stage); boxes.any(); boxes.advance()) {
      const Box& box = boxes.now();
      RowTraffic rows = fetched(boxes, in);
      const std::uint64_t units = grid.is_cut ? box.run : product(written_, box.extents);
      const std::int64_t* const from = grid.is_cut ? box.places : units_.in.data();
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
                      .stage = stage,
                      .segment = units_.segment,
                      .step = units_.step,
                      .block = units_.block,
                      .turned = units_.turned.data()},
                     rows);
      });
      rows.fetch_rest();
    }
  }

  // --- boxes in groups of columns

  // Where columns lie in a stage: as far past a line as in the output. Those that follow one another there,
  // up or down, are one run.
  struct Group {
    std::int64_t places[detail::kMostGroupColumns];
    const std::int64_t* from_places = nullptr;  // of runs
    const std::int64_t* to_places = nullptr;
    std::int64_t pitch = 0;  // of columns that all begin at lines; 0: of others
    std::uint64_t columns = 0;
    std::uint64_t runs = 0;
    std::uint64_t run_bytes = 0;
  };
  // One is filled while the other is written.
  struct Stages {
    std::byte* stage[2];
    Group groups[2];
    std::size_t filled = 0;
  };

  void move_groups(const Grid& grid, Share share, const Step& step, std::byte* stage) const {
    const std::byte* const in = step.in;
    std::byte* const out = step.out;
    Stages stages{.stage = {stage, stage + stages_bytes() / 2 / kLineBytes * kLineBytes}, .groups = {}};
    Traffic traffic;
    if (step.written != nullptr)
      traffic.runs.changed = {
          .program = &step.written->program(), .first = step.written->first_written(), .origin = out};
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
    const std::int64_t* const row_in = is_cut ? box.places : planes_.row_in.data();
    const std::uint64_t size = std::min(columns, detail::group_columns(width_));
    const std::byte* const first_row = planes_.backwards ? in - places((columns - 1) * width_) : in;
    const std::int64_t* const column_out =
        planes_.column_to.data() + (planes_.backwards ? planes_.column_to.size() - columns : 0);
    for (std::uint64_t first = 0; first < columns; first += size) {
      const std::uint64_t begin = std::min(first, columns - size);
      std::byte* const stage = stages.stage[stages.filled];
      Group& group = stages.groups[stages.filled];
      stages.filled = 1 - stages.filled;
      set_group(group, out, column_out + begin, size, rows * width_, first - begin);
      ChangedRuns& changed = traffic.runs.changed;
      if (changed.first.addend != nullptr) {
        changed.next_places = group.to_places;
        changed.next_first = out - changed.origin;
        changed.next_count = group.runs;
      }
      transpose_runs(width_, {.data = first_row + begin * width_, .rows = row_in, .count = rows},
                     {.data = stage, .columns = group.places, .count = size}, traffic);
      finish_runs(traffic.runs);
      traffic.runs.base = {.from = stage, .to = out};
      traffic.runs.from_places = group.from_places;
      traffic.runs.to_places = group.to_places;
      start_runs(traffic.runs, group.runs, group.run_bytes);
    }
  }

  // The group's runs, kept by `group` as long as they are written.
  void set_group(Group& group, std::byte* out, const std::int64_t* column_out, std::uint64_t size,
                 std::uint64_t bytes, std::uint64_t written_before) const {
    const auto past_line = [](const std::byte* to) {
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLineBytes);
    };
    const std::int64_t step = size > 1 ? column_out[1] - column_out[0] : 0;
    bool follow = std::abs(step) == places(bytes);
    for (std::uint64_t c = 2; c < size && follow; ++c) follow = column_out[c] - column_out[c - 1] == step;
    std::int64_t past = 0;
    if (follow) {
      const std::int64_t lowest = std::min(column_out[0], column_out[size - 1]);
      past = past_line(out + lowest);
      for (std::uint64_t c = 0; c < size; ++c) group.places[c] = past + column_out[c] - lowest;
      const std::uint64_t first = step > 0 ? written_before : size - 1;
      group.runs = 1;
      group.run_bytes = bytes * (size - written_before);
      group.from_places = group.places + first;
      group.to_places = column_out + first;
      group.pitch = 0;
    } else {
      const auto pitch = places(detail::stage_pitch(bytes + kLineBytes));
      for (std::uint64_t c = 0; c < size; ++c) past |= past_line(out + column_out[c]);
      // All columns at lines are where they were in the group before.
      if (past != 0 || group.pitch != pitch || group.columns != size) {
        for (std::uint64_t c = 0; c < size; ++c)
          group.places[c] = places(c) * pitch + past_line(out + column_out[c]);
        group.pitch = past == 0 ? pitch : 0;
        group.columns = size;
      }
      group.run_bytes = bytes;
      group.runs = size - written_before;
      group.from_places = group.places + written_before;
      group.to_places = column_out + written_before;
    }
    if (past == 0 && group.run_bytes % kLineBytes == 0) return;
    for (std::uint64_t run = 0; run < group.runs; ++run) {
      // What is no whole line goes through the caches: it is there by the time that the group is transposed.
      const std::byte* const begin = out + group.to_places[run];
      const std::byte* const end = begin + group.run_bytes;
      if (past_line(begin) != 0) __builtin_prefetch(begin, 1, 3);
      if (past_line(end) != 0) __builtin_prefetch(end - 1, 1, 3);
    }
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

  bool one_by_one_ = false;
  bool backwards_rows_ = false;   // one by one, of rows that are read backwards
  std::uint64_t unit_bytes_ = 0;  // of an element by itself, or of such a row
  AxisList by_input_;             // for elements by themselves, and the steps along these
  Strides upwards_in_{};
  Strides upwards_out_{};
  bool is_broken_ = false;  // gaps of the input are not short
  Numbers gaps_{};          // that are fetched, bytes, before the next along an axis
  PlaneTables planes_;
  UnitRun units_;
  detail::ChannelAxes channel_axes_;
  std::optional<Channels> channels_;
  std::vector<std::int64_t> column_in_;
  std::vector<std::int64_t> column_to_;  // of channels: their planes
};

}  // namespace

Program axes_program(const CpuPass& pass) {
  const auto& axes = std::get<detail::CpuAxes>(pass.kernel);
  const bool are_long =
      axes.move == detail::AxesMove::pieces && (pass.streamed || axes.box.element_bytes > kMostCachedPiece);
  const bool through_caches = !axes.staged && !are_long;
  if (through_caches) return cached_axes_program(pass);
  return std::make_unique<AxesProgram>(pass, axes);
}

}  // namespace faro::cpu
