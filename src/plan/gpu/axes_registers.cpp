#include "plan/gpu/axes_registers.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "plan/gpu/lines_or_boxes.hpp"
#include "plan/gpu/tile_digits.hpp"
#include "plan/gpu/value_turns.hpp"

namespace faro::detail {
namespace {

// What a tile takes of a copy's time, by what blocks touch of memory: whole vectors of both sides, half a
// vector of one, a single element of the input. By 1,100 drawn shapes of an H200, so that three of five take
// less, and of single bytes a margin more; where it is above all prices, tiles were behind
// (docs/notes/axes-experiments.md).
struct TurnWeights {
  double least;
  double touched;
};
const TurnWeights& weights_of(const kernels::AxesRegistersShape& shape) {
  constexpr double never = 2 * kAnyPrice;
  static constexpr TurnWeights whole[] = {{1.2, 1.2}, {1.16, 0.93}, {1.14, 0.75}, {1.1, 0.5}};
  static constexpr TurnWeights half[] = {{1.22, 1.2}, {1.24, 0.66}, {1.22, 0.5}, {never, 1}};
  static constexpr TurnWeights single[] = {{1.55, 0.74}, {1.5, 0.5}, {never, 1}, {never, 1}};
  const auto width = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(shape.element_bytes)));
  if (shape.in == 1) return single[width];
  constexpr int vector = static_cast<int>(kAxesVector);
  return (shape.in_bytes() == vector && shape.out_bytes() == vector ? whole : half)[width];
}

std::optional<AxesRegisters> made(const layout::AxisMap& wide, std::uint64_t most_in, double least) {
  std::vector<ValueAxis> axes;
  for (const layout::StridedAxis& axis : wide.axes)
    axes.push_back({.extent = axis.extent, .strides = {.in = axis.in, .out = axis.out}});
  const std::vector<std::size_t> in_order = slowest_last(axes, &ValueStrides::in);
  const std::vector<std::size_t> out_order = slowest_last(axes, &ValueStrides::out);
  const ValueBoxSides sides{.axes = axes,
                            .in_order = in_order,
                            .out_order = out_order,
                            .in_bytes = wide.unit,
                            .out_bytes = wide.unit};
  const std::uint64_t most = kAxesVector / wide.unit;
  const auto turns = make_element_turns(sides, std::min(most, most_in), most, least);
  if (!turns || turns->params.few == 0 || 2 * turns->out_vector < most) return std::nullopt;
  if (2 * turns->in_vector < most && turns->in_vector != 1) return std::nullopt;
  const auto bytes = static_cast<std::int64_t>(wide.unit);
  AxesRegisters registers{.params = {},
                          .shape = {.element_bytes = static_cast<int>(bytes),
                                    .in = static_cast<int>(turns->in_vector),
                                    .out = static_cast<int>(turns->out_vector)}};
  const TurnWeights& weights = weights_of(registers.shape);
  registers.price = weights.least + weights.touched * (turns->price - 1);
  kernels::AxesRegistersParams& p = registers.params;
  p.tiles = turns->params.tiles;
  p.in_pitch = turns->params.row.in * bytes;
  p.out_pitch = turns->params.column.out * bytes;
  for (int a = 0; a < turns->params.grid_axes; ++a) {
    const kernels::ValueBoxParams::GridAxis& axis = turns->params.grid[a];
    p.axis[p.axes++] = {
        .extent = axis.few_boxes, .in_step = axis.step.in * bytes, .out_step = axis.step.out * bytes};
  }
  return registers;
}

}  // namespace

std::optional<AxesRegisters> cheapest_registers(const layout::AxisMap& wide, double least) {
  constexpr std::uint64_t widest = 8;  // bytes: wider units go as they are
  // The lowest of all weights: no order is looked at whose price could not be less.
  constexpr double least_of_vectors = 1.1;
  constexpr double least_of_single = 1.5;
  constexpr double least_touched = 0.5;
  if (wide.unit > widest || wide.axes.size() < 2) return std::nullopt;
  std::optional<AxesRegisters> cheapest;
  for (const std::uint64_t most_in : {kAxesVector, std::uint64_t{1}}) {
    const double lowest = most_in == 1 ? least_of_single : least_of_vectors;
    if (least <= lowest) break;
    auto registers = made(wide, most_in, 1 + (least - lowest) / least_touched);
    if (!registers || registers->price >= least) continue;
    least = registers->price;
    cheapest = registers;
  }
  return cheapest;
}

}  // namespace faro::detail
