#include "plan/value_pieces.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

using Side = std::int64_t ValueStrides::*;

// Axes along which a side has other numbers, the fastest first.
std::vector<std::size_t> axes_of_side(const ValuePlan& plan, Side side) {
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    if (plan.axes[a].strides.*side != 0) order.push_back(a);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(plan.axes[a].strides.*side) < std::abs(plan.axes[b].strides.*side);
  });
  return order;
}

std::uint64_t numbers_along(const std::vector<std::size_t>& axes, const std::vector<std::uint64_t>& part) {
  return std::accumulate(axes.begin(), axes.end(), std::uint64_t{1},
                         [&](std::uint64_t count, std::size_t a) { return count * part[a]; });
}

// Numbers of a side that lie together in a part.
std::uint64_t run_of_part(const ValuePlan& plan, Side side, const std::vector<std::uint64_t>& part) {
  std::uint64_t run = 1;
  for (const std::size_t a : axes_of_side(plan, side)) {
    if (std::abs(plan.axes[a].strides.*side) != static_cast<std::int64_t>(run)) break;
    run *= part[a];
    if (part[a] != plan.axes[a].extent) break;
  }
  return run;
}

// Numbers as bytes, which no conversion changes.
Number as_bytes(Number number) {
  switch (bytes_of(number)) {
    case 1:
      return Number::u8;
    case 2:
      return Number::u16;
    case 4:
      return Number::u32;
    case 8:
      return Number::u64;
    default:
      return Number::c128;
  }
}

std::uint64_t bytes_of_part(const ValuePlan& plan, const std::vector<std::uint64_t>& part) {
  const Arithmetic& of = plan.arithmetic;
  const auto bytes = [&](Side side, Number number) {
    return numbers_along(axes_of_side(plan, side), part) * bytes_of(number);
  };
  return bytes(&ValueStrides::in, of.from) + bytes(&ValueStrides::out, of.to) +
         (of.addend ? bytes(&ValueStrides::addend, of.addend->number) : 0);
}

// Halves the axes after which runs of both sides are the longest, until a part is small enough.
std::vector<std::uint64_t> part_of(const ValuePlan& plan, std::uint64_t most) {
  constexpr std::uint64_t kLongEnough = 64 << 10;  // bytes; longer ones are no faster
  std::vector<std::uint64_t> part;
  for (const ValueAxis& axis : plan.axes) part.push_back(axis.extent);
  while (bytes_of_part(plan, part) > most) {
    std::optional<std::vector<std::uint64_t>> best;
    std::uint64_t best_run = 0;
    std::uint64_t best_extent = 0;
    for (std::size_t a = 0; a < part.size(); ++a) {
      if (part[a] == 1 || plan.axes[a].whole) continue;
      std::vector<std::uint64_t> halved = part;
      halved[a] = ceil_div(part[a], 2);
      const std::uint64_t in = run_of_part(plan, &ValueStrides::in, halved) * bytes_of(plan.arithmetic.from);
      const std::uint64_t out = run_of_part(plan, &ValueStrides::out, halved) * bytes_of(plan.arithmetic.to);
      const std::uint64_t run = std::min({in, out, kLongEnough});
      if (best && (run < best_run || (run == best_run && part[a] <= best_extent))) continue;
      best_run = run;
      best_extent = part[a];
      best = std::move(halved);
    }
    if (!best) break;
    part = *std::move(best);
  }
  return part;
}

}  // namespace

ValuePieces::ValuePieces(const ValuePlan& plan, std::uint64_t piece_bytes, const Target& target)
    : plan_(plan), target_(target), part_(part_of(plan, piece_bytes)) {
  FARO_CHECK(plan.count > 0);
}

std::uint64_t ValuePieces::count() const {
  std::uint64_t pieces = 1;
  for (std::size_t a = 0; a < part_.size(); ++a) pieces *= ceil_div(plan_.axes[a].extent, part_[a]);
  return pieces;
}

std::uint64_t ValuePieces::kind(std::uint64_t index) const {
  std::uint64_t kind = 0;
  for (std::size_t a = 0; a < part_.size(); ++a) {
    const std::uint64_t along = ceil_div(plan_.axes[a].extent, part_[a]);
    const bool last = index % along + 1 == along && plan_.axes[a].extent % part_[a] != 0;
    kind = 2 * kind + (last ? 1 : 0);
    index /= along;
  }
  return kind;
}

ValuePiece ValuePieces::piece(std::uint64_t index) const {
  const Arithmetic& of = plan_.arithmetic;
  std::vector<ValueAxis> axes = plan_.axes;
  std::vector<std::uint64_t> extents;
  ValueStrides first = plan_.first;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::uint64_t along = ceil_div(axes[a].extent, part_[a]);
    const std::uint64_t begin = index % along * part_[a];
    index /= along;
    for (const Side side : {&ValueStrides::in, &ValueStrides::out, &ValueStrides::addend,
                            &ValueStrides::scale, &ValueStrides::offset})
      first.*side += axes[a].strides.*side * static_cast<std::int64_t>(begin);
    axes[a].extent = std::min(part_[a], axes[a].extent - begin);
    extents.push_back(axes[a].extent);
  }
  // The axes as they lie in the host's array of a side, and without gaps.
  std::vector<ValueAxis> dense = axes;
  const auto pack = [&](Side side) {
    std::int64_t stride = 1;
    for (const std::size_t a : axes_of_side(plan_, side)) {
      dense[a].strides.*side = stride;
      stride *= static_cast<std::int64_t>(extents[a]);
    }
  };
  pack(&ValueStrides::in);
  pack(&ValueStrides::out);
  pack(&ValueStrides::addend);
  // A side's own numbers, to or from where they lie without gaps.
  const auto moved = [&](Side side, Number number, bool gathers) {
    std::vector<ValueAxis> own;
    for (const std::size_t a : axes_of_side(plan_, side)) {
      const std::int64_t of_host = axes[a].strides.*side;
      const std::int64_t of_piece = dense[a].strides.*side;
      own.push_back({.extent = extents[a],
                     .strides = {.in = gathers ? of_host : of_piece, .out = gathers ? of_piece : of_host}});
    }
    const ValueStrides at{.in = gathers ? first.*side : 0, .out = gathers ? 0 : first.*side};
    return make_value_plan(own, at, {.from = as_bytes(number), .to = as_bytes(number)}, target_);
  };
  ValuePiece piece{
      .gathered = moved(&ValueStrides::in, of.from, true),
      .gathered_addend = {},
      .changed = make_value_plan(dense, {.scale = first.scale, .offset = first.offset}, of, target_),
      .scattered = moved(&ValueStrides::out, of.to, false)};
  if (of.addend) piece.gathered_addend = moved(&ValueStrides::addend, of.addend->number, true);
  return piece;
}

std::uint64_t ValuePieces::distinct(Side side) const {
  return numbers_along(axes_of_side(plan_, side), part_);
}
std::uint64_t ValuePieces::in_bytes() const {
  return distinct(&ValueStrides::in) * bytes_of(plan_.arithmetic.from);
}
std::uint64_t ValuePieces::addend_bytes() const {
  const auto& addend = plan_.arithmetic.addend;
  return addend ? distinct(&ValueStrides::addend) * bytes_of(addend->number) : 0;
}
std::uint64_t ValuePieces::out_bytes() const {
  return distinct(&ValueStrides::out) * bytes_of(plan_.arithmetic.to);
}

}  // namespace faro::detail
