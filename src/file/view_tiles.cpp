// Tiles of strided views, of which axes, rolls and flips are made: boxes.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "faro/error.hpp"
#include "file/tiles.hpp"
#include "layout/cache_box.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

using detail::ceil_div;
using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t kFileBlock = 4096;

// The boxes of one view.
class ViewBoxes {
 public:
  ViewBoxes(const Strided& view, std::uint64_t width, const TileBudget& budget, Gaps gaps)
      : width_(width),
        gaps_(gaps),
        budget_(budget),
        in_begin_(view.in_offset * width),
        out_begin_(view.out_offset * width) {
    const std::vector<layout::StridedAxis> axes = detail::normal_form(detail::axis_map(view)).axes;
    // Rows that are read with the gaps between them take more of the budget than a box's elements.
    const std::uint64_t most_bytes = budget.tile_bytes;
    for (std::uint64_t bytes = most_bytes;; bytes = std::max(bytes / 2, width_)) {
      choose_box(axes, bytes);
      Shape origin;
      if (in_rows(origin, extents(0, origin)).total_bytes() <= most_bytes || bytes <= width_) break;
    }
    // Longer rows than are of use overlap less.
    if (rests() && budget.enough_bytes < most_bytes) choose_box(axes, std::max(budget.enough_bytes, width_));
  }

  std::uint64_t count() const { return box_.count(); }

  /// Whether the rows of every box lie in a buffer as they are read and as they are written.
  bool rests() const {
    const auto ascends = [](const layout::StridedAxis& axis) { return axis.in > 0; };
    return gaps_ == Gaps::left_out && std::is_sorted(box_.in_order.begin(), box_.in_order.end()) &&
           std::all_of(box_.axes.begin(), box_.axes.end(), ascends);
  }

  /// How far box `number` goes along each axis.
  Shape extents(std::uint64_t number, Shape& origin) const {
    Shape extents(box_.axes.size());
    origin.assign(box_.axes.size(), 0);
    // The output's slowest axis last: boxes are written in order.
    for (std::size_t a = 0; a < box_.axes.size(); ++a) {
      const std::uint64_t boxes = ceil_div(box_.axes[a].extent, box_.extent[a]);
      origin[a] = number % boxes * box_.extent[a];
      number /= boxes;
      extents[a] = std::min(box_.extent[a], box_.axes[a].extent - origin[a]);
    }
    return extents;
  }

  Rows in_rows(const Shape& origin, const Shape& extents) const {
    const InLayout laid = in_layout(extents);
    Rows rows = one_row(0, laid.row_bytes);
    rows.count = laid.rows;
    rows.digits = laid.digits;
    std::int64_t first = static_cast<std::int64_t>(in_begin_);
    for (std::size_t a = 0; a < box_.axes.size(); ++a) {
      const layout::StridedAxis& axis = box_.axes[a];
      first += static_cast<std::int64_t>(origin[a]) * axis.in;
      if (axis.in < 0) first += static_cast<std::int64_t>(extents[a] - 1) * axis.in;
    }
    rows.begin = static_cast<std::uint64_t>(first);
    return rows;
  }

  Rows out_rows(const Shape& origin, const Shape& extents) const {
    Rows rows = one_row(0, box_.element_bytes);
    rows.begin = out_begin_;
    bool together = true;
    for (std::size_t a = 0; a < box_.axes.size(); ++a) {
      rows.begin += origin[a] * static_cast<std::uint64_t>(box_.axes[a].out);
      together = add(rows, extents[a], box_.axes[a].out, together);
    }
    return rows;
  }

  /// From the input's rows in a buffer to the output's.
  Strided local(const Shape& extents) const {
    const auto rank = box_.axes.size();
    std::vector<std::int64_t> in = in_layout(extents).strides;
    std::vector<std::int64_t> out(rank, 0);
    const std::uint64_t unit = box_.element_bytes / width_;
    Strided view;
    for (std::size_t a = 0; a < rank; ++a) {
      if (box_.axes[a].in >= 0) continue;
      view.in_offset += (extents[a] - 1) * static_cast<std::uint64_t>(in[a]);
      in[a] = -in[a];
    }
    std::uint64_t step = unit;
    for (std::size_t a = 0; a < rank; ++a) {
      out[a] = static_cast<std::int64_t>(step);
      step *= extents[a];
    }
    // Slowest first.
    for (std::size_t a = rank; a-- > 0;) {
      view.extents.push_back(extents[a]);
      view.in_strides.push_back(in[a]);
      view.out_strides.push_back(out[a]);
    }
    view.extents.push_back(unit);
    view.in_strides.push_back(1);
    view.out_strides.push_back(1);
    return view;
  }

 private:
  // How a box's rows of the input lie in a buffer: one behind another, each with the gaps that it is read
  // with.
  struct InLayout {
    std::uint64_t row_bytes = 0;
    std::uint64_t rows = 1;
    std::vector<Rows::Digit> digits{};
    std::vector<std::int64_t> strides{};  // of each axis in the buffer, in elements
  };

  InLayout in_layout(const Shape& extents) const {
    InLayout laid{.row_bytes = box_.element_bytes};
    laid.strides.assign(box_.axes.size(), 0);
    bool together = true;  // so far, one run
    bool is_whole = true;  // and all of its axes
    const auto elements = [this](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes / width_); };
    for (const std::size_t a : box_.in_order) {
      const std::int64_t stride = std::llabs(box_.axes[a].in);
      if (stride == 0) continue;
      const std::uint64_t extent = extents[a];
      const auto step = static_cast<std::uint64_t>(stride);
      if (extent > 1 && together && step == laid.row_bytes) {
        laid.strides[a] = elements(step);
        laid.row_bytes *= extent;
      } else if (extent > 1 && together && is_whole && is_read_through(step, laid.row_bytes)) {
        laid.strides[a] = elements(step);
        laid.row_bytes += (extent - 1) * step;
        together = false;
      } else {
        laid.strides[a] = elements(laid.row_bytes * laid.rows);
        if (extent > 1) {
          laid.digits.push_back({.extent = extent, .stride = stride});
          laid.rows *= extent;
          together = false;
        }
      }
      is_whole = is_whole && extent == box_.axes[a].extent;
    }
    return laid;
  }

  // Whether short runs are read with what lies between them, which no box needs; and those that overlap,
  // once.
  bool is_read_through(std::uint64_t step, std::uint64_t run_bytes) const {
    constexpr std::uint64_t kMostTimes = 8;  // as much as is needed
    constexpr std::uint64_t kShortRun = std::uint64_t{16} << 10;
    return gaps_ == Gaps::may_be_read && run_bytes < kShortRun && step < kMostTimes * run_bytes;
  }

  void choose_box(const std::vector<layout::StridedAxis>& axes, std::uint64_t most_bytes) {
    // Where an axis is whole on one side and cut on the other, longer runs on one side make both longer.
    constexpr double kLess = 0.98;
    double least = std::numeric_limits<double>::infinity();
    for (const double ratio : {1.0, 1.5, 2.0, 3.0, 5.0, 10.0}) {
      for (const double out_over_in : {ratio, 1 / ratio}) {
        layout::CacheBox box = box_of(axes, most_bytes, out_over_in);
        std::swap(box, box_);
        const double cost = cost_of_box();
        if (cost < kLess * least) {
          least = cost;
        } else {
          std::swap(box, box_);
        }
      }
    }
  }

  layout::CacheBox box_of(const std::vector<layout::StridedAxis>& axes, std::uint64_t most_bytes,
                          double out_over_in) const {
    layout::CacheBox box =
        layout::choose_cache_box(axes, width_,
                                 {.most_bytes = most_bytes,
                                  .line_bytes = budget_.read.in_tile(kFileBlock),
                                  .long_bytes = ~std::uint64_t{0},
                                  .most_element_bytes = std::max(width_, most_bytes / 64),
                                  .growth = 1.1,
                                  .out_over_in = out_over_in,
                                  .out_line_bytes = begins_at_blocks(axes) ? out_block() : 0});
    if (box.extent.empty()) box.extent.assign(box.axes.size(), 1);
    return box;
  }

  // Whether rows of the output begin where blocks of the file do, if they are cut there: the part of a block
  // is written by way of the page cache.
  bool begins_at_blocks(const std::vector<layout::StridedAxis>& axes) const {
    const auto is_whole = [this](const layout::StridedAxis& axis) {
      return axis.out == 1 || static_cast<std::uint64_t>(axis.out) * width_ % out_block() == 0;
    };
    return out_begin_ % out_block() == 0 && std::all_of(axes.begin(), axes.end(), is_whole);
  }

  std::uint64_t out_block() const { return budget_.written.in_tile(kFileBlock); }

  // What a whole box costs.
  double cost_of_box() const {
    Shape origin;
    const Shape whole = extents(0, origin);
    return budget_.cost(in_rows(origin, whole).bytes, out_rows(origin, whole).bytes);
  }

  // One more axis of a box's rows, fastest first: part of each row where it goes on where they end.
  static bool add(Rows& rows, std::uint64_t extent, std::int64_t stride, bool together) {
    if (extent == 1) return together;
    if (together && static_cast<std::uint64_t>(stride) == rows.bytes) {
      rows.bytes *= extent;
      return true;
    }
    rows.digits.push_back({.extent = extent, .stride = stride});
    rows.count *= extent;
    return false;
  }

  std::uint64_t width_;
  Gaps gaps_;
  TileBudget budget_;
  std::uint64_t in_begin_;
  std::uint64_t out_begin_;
  layout::CacheBox box_;
};

class ViewTiles final : public Tiles {
 public:
  ViewTiles(const std::vector<Strided>& views, std::uint64_t width, const TileBudget& budget, Gaps gaps)
      : width_(width), maker_(budget.moves) {
    placement = Placement::in_place;
    for (const Strided& view : views) {
      if (element_count(view) == 0) continue;
      boxes_.emplace_back(normal_form(view), width, budget, gaps);
      first_.push_back(count_);
      count_ += boxes_.back().count();
      Shape origin;
      const Shape extents = boxes_.back().extents(0, origin);
      const Rows in = boxes_.back().in_rows(origin, extents);
      const Rows out = boxes_.back().out_rows(origin, extents);
      FARO_CHECK(std::max(in.total_bytes(), out.total_bytes()) <= budget.tile_bytes);
      tile_bytes = std::max({tile_bytes, in.total_bytes(), out.total_bytes()});
      const auto shorter = [](std::uint64_t so_far, std::uint64_t bytes) {
        return so_far == 0 ? bytes : std::min(so_far, bytes);
      };
      read_run_bytes = shorter(read_run_bytes, in.bytes);
      write_run_bytes = shorter(write_run_bytes, out.bytes);
      if (!boxes_.back().rests()) placement = Placement::out_of_place;
    }
  }

  std::uint64_t count() const override { return count_; }

  TileWork tile(std::uint64_t number) override {
    const auto after = std::upper_bound(first_.begin(), first_.end(), number);
    const auto view = static_cast<std::size_t>(after - first_.begin()) - 1;
    const ViewBoxes& boxes = boxes_[view];
    Shape origin;
    const Shape extents = boxes.extents(number - first_[view], origin);
    return {.in = boxes.in_rows(origin, extents),
            .out = boxes.out_rows(origin, extents),
            .move = move(view, extents)};
  }

  TilePlan plan() const override {
    Shape origin;
    const Shape extents = boxes_.front().extents(0, origin);
    return maker_->explain({.element_bytes = width_, .view = boxes_.front().local(extents)});
  }

 private:
  SharedMove move(std::size_t view, const Shape& extents) {
    if (placement == Placement::in_place) return resting_move();
    const std::pair key(view, extents);
    const auto found = moves_.find(key);
    if (found != moves_.end()) return found->second;
    if (moves_.size() >= kMostMoves) moves_.clear();
    const Problem problem{.element_bytes = width_, .view = boxes_[view].local(extents)};
    return moves_.emplace(key, maker_->make(problem)).first->second;
  }

  std::uint64_t width_;
  std::shared_ptr<const MoveMaker> maker_;
  std::vector<ViewBoxes> boxes_;
  std::vector<std::uint64_t> first_;  // of each view's boxes, their number among all
  std::uint64_t count_ = 0;
  std::map<std::pair<std::size_t, Shape>, SharedMove> moves_;
};

}  // namespace

std::unique_ptr<Tiles> tiles_of_views(const std::vector<Strided>& views, std::uint64_t element_bytes,
                                      const TileBudget& budget, Gaps gaps) {
  return std::make_unique<ViewTiles>(views, element_bytes, budget, gaps);
}

}  // namespace faro::file
