// Boxes of axes that keep their extents, moved around orbits.
//
//     shape 6 6, order 1 0, boxes of 3 x 3       |A B|   step 0   A transposed, to A
//                                                |C D|   step 1   B transposed, to C; C transposed, to B
//                                                        step 2   D transposed, to D
//
// out[j] = in[i] with j[a] = i[order[a]]. The box at origin o with extents e goes to the one at o[order[a]]
// with extents e[order[a]]; where axes of one cycle are cut alike, that is a box, too, and so the boxes are
// permuted. An orbit is as long as the order of the axes' permutation at most: two for a transposition.
#include "file/axes_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostBoxes = std::uint64_t{1} << 23;  // whose numbers take 32 MiB
constexpr double kRunOfDoubleCost = 32 << 10;
constexpr std::uint64_t kRowBytes = 2 * sizeof(Rows::Range);  // in memory, of a row that is read and written

// One move a box, side by side in the buffers.
class OrbitMove final : public TileMove {
 public:
  OrbitMove(std::vector<SharedMove> moves, std::uint64_t box_bytes)
      : moves_(std::move(moves)), box_bytes_(box_bytes) {}
  void run(std::byte* x, std::byte* y) const override {
    for (std::size_t box = 0; box < moves_.size(); ++box)
      moves_[box]->run(x + box * box_bytes_, y + box * box_bytes_);
  }

 private:
  std::vector<SharedMove> moves_;
  std::uint64_t box_bytes_;
};

// The cycle of axes that `axis` is in.
std::vector<std::size_t> cycle_of(const std::vector<int>& order, std::size_t axis) {
  std::vector<std::size_t> cycle;
  for (std::size_t a = axis; cycle.empty() || a != axis; a = static_cast<std::size_t>(order[a]))
    cycle.push_back(a);
  return cycle;
}

// After so many times every axis is where it was.
std::uint64_t order_of(const std::vector<int>& order) {
  std::uint64_t times = 1;
  for (std::size_t a = 0; a < order.size(); ++a)
    times = std::lcm(times, std::uint64_t{cycle_of(order, a).size()});
  return times;
}

Shape moved(const Shape& of, const std::vector<int>& order) {
  Shape to;
  to.reserve(of.size());
  for (const int axis : order) to.push_back(of[static_cast<std::size_t>(axis)]);
  return to;
}

std::uint64_t bytes_of(const Shape& extents, std::uint64_t width) {
  return std::accumulate(extents.begin(), extents.end(), width, std::multiplies<>());
}

// Bytes of a box of the shape that lie together in the file.
std::uint64_t run_of(const Shape& extents, const Shape& shape, std::uint64_t width) {
  std::uint64_t bytes = width;
  for (std::size_t a = shape.size(); a-- > 0;) {
    bytes *= extents[a];
    if (extents[a] < shape[a]) break;
  }
  return bytes;
}

// As long runs as the budget has room for: the last axis first, with those that it changes places with.
Shape box_of(const NamedAxes& axes, std::uint64_t width, std::uint64_t budget_bytes) {
  const Shape& shape = axes.shape;
  const std::uint64_t most_boxes = order_of(axes.order);
  Shape extents(shape.size(), 1);
  const auto fits = [&] {
    const std::uint64_t bytes = bytes_of(extents, width);
    return most_boxes * (bytes + bytes / run_of(extents, shape, width) * kRowBytes) <= budget_bytes;
  };
  for (std::size_t a = shape.size(); a-- > 0;) {
    if (extents[a] > 1) continue;  // in the cycle of one behind it
    const std::vector<std::size_t> cycle = cycle_of(axes.order, a);
    const auto set = [&](std::uint64_t extent) {
      for (const std::size_t axis : cycle) extents[axis] = extent;
    };
    std::uint64_t least = 1;  // which fits, or nothing does
    for (std::uint64_t most = shape[a]; least < most;) {
      const std::uint64_t middle = least + (most - least + 1) / 2;
      set(middle);
      if (fits()) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    set(detail::ceil_div(shape[a], detail::ceil_div(shape[a], least)));  // as many boxes, all of one size
    if (extents[a] < shape[a]) break;
  }
  return extents;
}

// Both reflections of each cycle, the first first.
std::vector<NamedAxes> swaps_of(const NamedAxes& axes) {
  NamedAxes first = axes;
  NamedAxes second = axes;
  std::vector<bool> seen(axes.order.size(), false);
  for (std::size_t a = 0; a < seen.size(); ++a) {
    if (seen[a]) continue;
    const std::vector<std::size_t> cycle = cycle_of(axes.order, a);
    const std::size_t length = cycle.size();
    for (std::size_t i = 0; i < length; ++i) {
      seen[cycle[i]] = true;
      first.order[cycle[i]] = static_cast<int>(cycle[(length + 1 - i) % length]);
      second.order[cycle[i]] = static_cast<int>(cycle[(length - i) % length]);
    }
  }
  return {first, second};
}

class AxesSteps final : public Steps {
 public:
  AxesSteps(const NamedAxes& axes, const Problem& problem, std::uint64_t budget_bytes,
            std::shared_ptr<const MoveMaker> maker)
      : problem_{.permutation = Axes(axes.shape, axes.order),
                 .element_bytes = problem.element_bytes,
                 .batch = problem.batch},
        shape_(axes.shape),
        order_(axes.order),
        array_bytes_(bytes_of(axes.shape, problem.element_bytes)),
        maker_(std::move(maker)),
        extents_(box_of(axes, problem.element_bytes, budget_bytes)) {
    for (std::size_t a = 0; a < shape_.size(); ++a)
      boxes_.push_back(detail::ceil_div(shape_[a], extents_[a]));
    find_heads();
    step_bytes = order_of(order_) * box_bytes(extents_);
    run_bytes = run(extents_);
    if (step_bytes > budget_bytes) {
      fail(ErrorCode::value, "plan in place", "memory for " + size_text(budget_bytes) + " at a time",
           fmt::format("for {} elements of {}", order_of(order_), size_text(problem.element_bytes)));
    }
  }

  std::uint64_t count() const override { return problem_.batch * heads_.size(); }
  const Problem& problem() const override { return problem_; }

  TileWork step(std::uint64_t number, bool is_undone) override {
    const std::uint64_t begin = number / heads_.size() * array_bytes_;
    const Shape head = place_of(heads_[number % heads_.size()]);
    std::vector<Shape> orbit;  // of places in the grid of boxes
    for (Shape place = head; orbit.empty() || place != head; place = moved(place, order_))
      orbit.push_back(place);
    TileWork work{.in = Rows{}, .out = Rows{}, .move = nullptr};
    std::vector<SharedMove> moves;
    for (std::size_t i = 0; i < orbit.size(); ++i) {
      const Shape& next = orbit[(i + 1) % orbit.size()];
      add_rows(work.in, is_undone ? next : orbit[i], begin);
      add_rows(work.out, is_undone ? orbit[i] : next, begin);
      moves.push_back(move(extents_at(orbit[i]), is_undone));
    }
    work.move = std::make_shared<OrbitMove>(std::move(moves), box_bytes(extents_at(head)));
    return work;
  }

 private:
  std::uint64_t box_bytes(const Shape& extents) const {
    return file::bytes_of(extents, problem_.element_bytes);
  }
  std::uint64_t run(const Shape& extents) const {
    return file::run_of(extents, shape_, problem_.element_bytes);
  }

  // The first box of each orbit in which anything moves.
  void find_heads() {
    std::uint64_t count = 1;
    for (const std::uint64_t boxes : boxes_) {
      if (boxes > kMostBoxes / count) {
        fail(ErrorCode::unsupported, "plan in place", fmt::format("more than {} boxes", kMostBoxes), "fewer",
             "more memory makes fewer");
      }
      count *= boxes;
    }
    for (std::uint64_t number = 0; number < count; ++number) {
      const Shape head = place_of(number);
      bool is_first = true;
      Shape place = moved(head, order_);
      const bool is_alone = place == head;
      for (; is_first && place != head; place = moved(place, order_)) is_first = number_of(place) > number;
      if (is_first && !(is_alone && is_still(extents_at(head))))
        heads_.push_back(static_cast<std::uint32_t>(number));
    }
  }

  // Whether a box that goes to its own place is as it was.
  bool is_still(const Shape& extents) const { return Axes(extents, order_).is_identity(); }

  Shape place_of(std::uint64_t number) const {
    Shape place(boxes_.size());
    for (std::size_t a = boxes_.size(); a-- > 0; number /= boxes_[a]) place[a] = number % boxes_[a];
    return place;
  }

  std::uint64_t number_of(const Shape& place) const {
    std::uint64_t number = 0;
    for (std::size_t a = 0; a < boxes_.size(); ++a) number = number * boxes_[a] + place[a];
    return number;
  }

  Shape extents_at(const Shape& place) const {
    Shape extents;
    for (std::size_t a = 0; a < place.size(); ++a)
      extents.push_back(std::min(extents_[a], shape_[a] - place[a] * extents_[a]));
    return extents;
  }

  // The rows of a box of one array, behind those that are there.
  void add_rows(Rows& rows, const Shape& place, std::uint64_t begin) const {
    const Shape extents = extents_at(place);
    const std::uint64_t bytes = run(extents);
    const std::uint64_t count = box_bytes(extents) / bytes;
    std::uint64_t at = rows.ranges.empty() ? 0 : rows.total_bytes();
    rows.ranges.reserve(rows.ranges.size() + count);
    std::size_t rank = shape_.size();  // of the axes that distinguish rows
    for (std::uint64_t within = problem_.element_bytes; within < bytes;) within *= extents[--rank];
    for (std::uint64_t row = 0; row < count; ++row, at += bytes) {
      std::uint64_t left = row;
      std::uint64_t offset = 0;
      std::uint64_t stride = problem_.element_bytes;
      for (std::size_t a = shape_.size(); a-- > 0; stride *= shape_[a]) {
        std::uint64_t index = place[a] * extents_[a];
        if (a < rank) {
          index += left % extents[a];
          left /= extents[a];
        }
        offset += index * stride;
      }
      rows.ranges.push_back({.at = at, .offset = begin + offset, .bytes = bytes});
    }
  }

  SharedMove move(const Shape& extents, bool is_undone) {
    SharedMove& found = moves_[{extents, is_undone}];
    if (found != nullptr) return found;
    const Axes axes(extents, order_);
    SharedMove made = maker_->make(
        {.permutation = is_undone ? axes.inverse() : axes, .element_bytes = problem_.element_bytes});
    if (moves_.size() > kMostMoves) moves_.clear();
    return moves_[{extents, is_undone}] = std::move(made);
  }

  Problem problem_;
  Shape shape_;
  std::vector<int> order_;
  std::uint64_t array_bytes_;
  std::shared_ptr<const MoveMaker> maker_;
  Shape extents_;  // of a whole box
  Shape boxes_;    // along each axis
  std::vector<std::uint32_t> heads_;
  std::map<std::pair<Shape, bool>, SharedMove> moves_;
};

}  // namespace

std::optional<NamedAxes> kept_axes(const Axes& axes) {
  // Axes are cut wherever the other side has a border between two, until both sides have the same.
  NamedAxes kept{.shape = axes.shape(), .order = axes.order()};
  for (;;) {
    // From the fastest axis on, the first that is another on the other side.
    std::size_t i = kept.shape.size();
    const auto in = [&kept](std::size_t a) { return kept.shape[a]; };
    const auto out = [&](std::size_t a) { return in(static_cast<std::size_t>(kept.order[a])); };
    while (i > 0 && in(i - 1) == out(i - 1)) --i;
    if (i == 0) return kept;
    const std::uint64_t shorter = std::min(in(i - 1), out(i - 1));
    const std::uint64_t longer = std::max(in(i - 1), out(i - 1));
    if (longer % shorter != 0) return std::nullopt;
    kept = kept.split(in(i - 1) == longer ? i - 1 : static_cast<std::size_t>(kept.order[i - 1]), shorter);
  }
}

std::vector<std::unique_ptr<Steps>> passes_of_axes(const NamedAxes& axes, const Problem& problem,
                                                   std::uint64_t budget_bytes,
                                                   const std::shared_ptr<const MoveMaker>& maker) {
  const std::uint64_t width = problem.element_bytes;
  const auto cost = [&](const NamedAxes& pass) {
    const Shape box = box_of(pass, width, budget_bytes);
    return 1 + kRunOfDoubleCost / static_cast<double>(run_of(box, pass.shape, width));
  };
  std::vector<NamedAxes> passes{axes};
  if (order_of(axes.order) > 2) {
    std::vector<NamedAxes> swaps = swaps_of(axes);
    if (cost(swaps.front()) + cost(swaps.back()) < cost(axes)) passes = std::move(swaps);
  }
  std::vector<std::unique_ptr<Steps>> made;
  made.reserve(passes.size());
  for (const NamedAxes& pass : passes)
    made.push_back(std::make_unique<AxesSteps>(pass, problem, budget_bytes, maker));
  return made;
}

}  // namespace faro::file
