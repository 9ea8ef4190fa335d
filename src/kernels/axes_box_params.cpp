#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "faro/error.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/axes_ragged_box.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

using layout::BoxPart;
using layout::BoxWalk;
using layout::StridedBox;

constexpr std::uint64_t kBoxSectorBytes = 32;

std::size_t numbered(int axis) { return static_cast<std::size_t>(axis); }

// Places in the arrays are in bytes, those of ragged boxes in units.
std::int64_t scale_of(const StridedBox& box) { return box.ragged ? 1 : box.unit_bytes; }

class BoxSideMaker {
 public:
  BoxSideMaker(const StridedBox& box, bool of_input, const std::vector<int>& cuts)
      : box_(box), of_input_(of_input), walk_(of_input ? box.in : box.out), cuts_(cuts) {}

  BoxSide make(AxesBoxParams& params, std::uint32_t first_row) const {
    BoxSide side{};
    make_run(side);
    make_rows(side, params.row, first_row);
    const std::uint32_t near = of_input_ ? 1 : box_.near;
    const std::uint32_t slots = walk_.slots();
    const BoxShape shape = box_shape(box_);
    FARO_CHECK(shape.ragged || walk_.spread == shape.spread(walk_.vector));
    FARO_CHECK(slots >= 1 && slots * near <= box_.threads);
    side.slots = device::Division32(slots);
    side.units = walk_.units;
    side.groups = box_.threads / (slots * near);
    cut(side);
    return side;
  }

 private:
  std::int64_t stride_of(int axis) const {
    const layout::StridedAxis& strides = box_.axes[numbered(axis)];
    return (of_input_ ? strides.in : strides.out) * scale_of(box_);
  }

  void push(BoxDigit* digits, std::int32_t& count, const BoxPart& part) const {
    FARO_CHECK(count < kBoxDigits);
    digits[count++] = {.extent = device::Division32(part.extent),
                       .place = part.place,
                       .stride = part.step * stride_of(part.axis)};
  }

  // The input's slots count vectors, the output's units.
  void make_run(BoxSide& side) const {
    const auto vector = static_cast<std::uint32_t>(walk_.vector);
    if (of_input_ && box_.ragged) return;  // one stretch
    if (!of_input_ || vector == 1) {
      for (const int axis : walk_.run) {
        for (const BoxPart& part : box_.parts_of(axis)) push(side.run, side.run_digits, part);
      }
      return;
    }
    // Axes that lie together are one digit, until whole vectors are full.
    std::uint32_t together = 1;
    std::size_t next = 0;
    while (next < walk_.run.size() && (next == 0 || together % vector != 0)) {
      together *= box_.extent[numbered(walk_.run[next++])];
    }
    side.run[side.run_digits++] = {.extent = device::Division32(together / vector),
                                   .place = box_.grain(),
                                   .stride = static_cast<std::int64_t>(vector) * scale_of(box_)};
    for (; next < walk_.run.size(); ++next) {
      for (const BoxPart& part : box_.parts_of(walk_.run[next])) push(side.run, side.run_digits, part);
    }
  }

  // Digits count rows, the first fastest.
  void make_rows(BoxSide& side, BoxRow* rows, std::uint32_t first) const {
    struct Offset {
      std::int64_t at;
      std::uint32_t place;
    };
    std::vector<Offset> offsets{{0, 0}};
    for (const int axis : walk_.rest) {
      for (const BoxPart& part : box_.parts_of(axis)) {
        const std::size_t inner = offsets.size();
        for (std::uint32_t digit = 1; digit < part.extent; ++digit) {
          const std::int64_t at = std::int64_t{digit} * part.step * stride_of(axis);
          for (std::size_t i = 0; i < inner; ++i) {
            offsets.push_back({offsets[i].at + at, offsets[i].place + digit * part.place});
          }
        }
      }
    }
    FARO_CHECK(first + offsets.size() <= kBoxRows);
    side.rows = static_cast<std::uint32_t>(offsets.size());
    side.first_row = first;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      rows[first + i] = BoxRow::of(offsets[i].at, offsets[i].place);
    }
  }

  // What is left of a side, as steps of the axis that is cut. An axis is cut in words where words lie along
  // it.
  void cut(BoxSide& side) const {
    side.slots_cut = side.rows_cut = kBoxUncut;
    side.slots_step = walk_.units;
    side.rows_step = side.rows;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
      const int axis = cuts_[i];
      const std::uint32_t steps = box_.extent[numbered(axis)] / cut_grain(axis);
      const auto number = static_cast<std::int32_t>(i);
      if (std::find(walk_.run.begin(), walk_.run.end(), axis) != walk_.run.end()) {
        side.slots_cut = number;
        side.slots_step = walk_.units / steps;
      } else if (std::find(walk_.rest.begin(), walk_.rest.end(), axis) != walk_.rest.end()) {
        side.rows_cut = number;
        side.rows_step = side.rows / steps;
      }
    }
  }

 public:
  std::uint32_t cut_grain(int axis) const {
    return box_.words > 1 && axis == box_.in.run.front() ? static_cast<std::uint32_t>(box_.words) : 1;
  }

 private:
  const StridedBox& box_;
  bool of_input_;
  const BoxWalk& walk_;
  const std::vector<int>& cuts_;
};

// The axes whose boxes at the end are cut short, p before q.
std::vector<int> cut_axes(const StridedBox& box) {
  std::vector<int> cuts;
  for (const int axis : {box.p, box.q}) {
    const std::size_t a = numbered(axis);
    if (box.axes[a].extent % box.extent[a] != 0 && (cuts.empty() || cuts.front() != axis))
      cuts.push_back(axis);
  }
  return cuts;
}

// In the output's order, so that boxes which share its lines come one after another. Where boxes share lines
// of the input as well, those that do come soon after, so that the second-level cache still has them.
std::vector<int> grid_order(const StridedBox& box) {
  constexpr std::uint64_t line_bytes = 128;
  std::vector<int> order(box.axes.size());
  std::iota(order.begin(), order.end(), 0);
  if (box.ragged) return order;  // as carries go: axes_ragged_box.hpp
  if (box.in.alignment * static_cast<std::uint64_t>(box.unit_bytes) % line_bytes == 0) return order;
  const auto to_front = [&order](int axis) {
    std::rotate(order.begin(), std::find(order.begin(), order.end(), axis),
                std::find(order.begin(), order.end(), axis) + 1);
  };
  to_front(box.p);
  to_front(box.q);
  return order;
}

}  // namespace

BoxShape box_shape(const layout::StridedBox& box) {
  const BoxShape shape{.unit_bytes = box.unit_bytes,
                       .words = box.words,
                       .in_vector = box.in.vector,
                       .out_vector = box.out.vector,
                       .ragged = box.ragged,
                       .threads = static_cast<int>(box.threads),
                       .triples = box.triples};
  FARO_CHECK(std::find(std::begin(kBoxShapes), std::end(kBoxShapes), shape) != std::end(kBoxShapes));
  return shape;
}

// Rows are offsets of 48 bits, with a sign.
void check_reach(const std::vector<layout::StridedAxis>& axes, int unit_bytes) {
  constexpr std::uint64_t most = std::uint64_t{1} << kBoxOffsetBits;
  for (const bool of_input : {true, false}) {
    std::uint64_t reach = 0;  // below 2^62, as the array is
    for (const layout::StridedAxis& axis : axes) {
      const std::int64_t stride = of_input ? axis.in : axis.out;
      reach += (axis.extent - 1) * static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    }
    if (reach < most / static_cast<unsigned>(unit_bytes)) continue;
    fail(ErrorCode::unsupported, "permute axes", "more than 2^47 bytes", "at most 2^47", "split the batch");
  }
}

AxesBoxParams make_axes_box_params(const layout::StridedBox& box, std::uint64_t in_first,
                                   std::uint64_t out_first) {
  check_reach(box.axes, box.unit_bytes);
  AxesBoxParams params{};
  const std::vector<int> cuts = cut_axes(box);
  const BoxSideMaker in(box, true, cuts);
  params.in = in.make(params, 0);
  params.out = BoxSideMaker(box, false, cuts).make(params, params.in.rows);
  for (const int axis : grid_order(box)) {
    const std::size_t a = numbered(axis);
    const layout::StridedAxis& of = box.axes[a];
    const std::uint32_t part = box.extent[a];
    if (part == of.extent) continue;
    FARO_CHECK(params.grid_axes < kMostAxes);
    const auto cut = std::find(cuts.begin(), cuts.end(), axis);
    AxesBoxParams::GridAxis& grid = params.grid[params.grid_axes++];
    const std::uint64_t count = faro::detail::ceil_div(of.extent, part);
    grid = {.boxes = device::Division32(count >> 31 == 0 ? static_cast<std::uint32_t>(count) : 1),
            .cut = kBoxUncut,
            .count = count,
            .in_step = static_cast<std::int64_t>(part) * of.in * scale_of(box),
            .out_step = static_cast<std::int64_t>(part) * of.out * scale_of(box)};
    if (cut == cuts.end()) continue;
    const std::uint32_t grain = in.cut_grain(axis);
    grid.cut = static_cast<std::int32_t>(cut - cuts.begin());
    params.cut[grid.cut] = {.extent = of.extent / grain, .box = part / grain};
  }
  FARO_CHECK(box.shared_words <= kBoxMaxPlace + 1);
  params.box_bytes = box.shared_words * static_cast<std::uint32_t>(box.word_bytes());
  if (box.skewed) {
    params.skews = kBoxSectorBytes - 1;
    params.box_bytes += kBoxSectorBytes;
  }
  // The fastest digits of the output's run hold whole vectors.
  const std::vector<BoxPart> fastest = box.parts_of(box.out.run.front());
  if (!fastest.empty() && fastest.front().extent % static_cast<std::uint32_t>(box.out.vector) == 0) {
    params.vector_step = fastest.front().place;
  }
  if (box.words > 1) {
    params.turned_step = box.axes[numbered(box.in.run.front())].out * box.unit_bytes;
  }
  while (1U << params.near_bits < box.near) ++params.near_bits;
  params.unit_bytes = static_cast<std::uint32_t>(box.unit_bytes);
  if (box.ragged) {
    params.halo = box.halo;
    params.chain_axes = box.halo > 0 ? static_cast<std::int32_t>(box.chain) : 0;
    params.halo_place = box.shared_words;
    params.box_bytes += box.halo_words() * params.unit_bytes;
    params.halo_rows = box.halo_rows;
    params.stretch = static_cast<std::uint32_t>(box.out.spread);
    params.pieces = device::Division32(box.out.pieces);
    FARO_CHECK(box.near * box.out.slots() == kRaggedWarp);
    FARO_CHECK(box.shared_words + box.halo_words() <= kBoxMaxPlace + 1);
  }
  params.common = static_cast<std::uint32_t>(faro::detail::round_up(params.box_bytes, kMovedBytes));
  params.box_bytes = params.common + (box.ragged ? kRaggedBoxBytes : kBoxOriginBytes);
  if (box.ragged)
    params.box_bytes += ragged_list_bytes(box.unit_bytes, box.triples, box.out.units + box.halo);
  const auto scale = static_cast<std::uint64_t>(scale_of(box));
  params.in_first = in_first * scale;
  params.out_first = out_first * scale;
  params.in_begin = in_first;
  params.in_end = in_first + 1;
  for (const layout::StridedAxis& axis : box.axes) {
    const std::uint64_t reach = (axis.extent - 1) * static_cast<std::uint64_t>(axis.in);  // modulo 2^64
    (axis.in < 0 ? params.in_begin : params.in_end) += reach;
  }
  const auto unit = static_cast<std::uint64_t>(box.unit_bytes);
  // What is dropped first never displaces what an earlier kernel left in the second-level cache, which half
  // sectors of narrow units need less than wider ones need the room (docs/notes/axes-experiments.md).
  constexpr std::uint64_t narrow = 2;
  // Dropped on one side only costs more than on both or none.
  const auto is_sectors = [&](std::uint64_t alignment) { return alignment * unit % kBoxSectorBytes == 0; };
  const bool drops_first =
      unit <= narrow && is_sectors(box.out.alignment) && (box.ragged || is_sectors(box.in.alignment));
  params.in_sectors = params.out_sectors = drops_first ? 1 : 0;
  params.tiles = box.boxes();
  return params;
}

}  // namespace faro::kernels
