#include "packed/bit_axes.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "packed/bit_lines.hpp"
#include "packed/matrix_sweeps.hpp"
#include "packed/run_sweep.hpp"
#include "rounding.hpp"

namespace faro::packed {
namespace {

using detail::AxisMap;
using detail::StridedAxis;

// The axes of an affine map that only permutes and flips bits.
std::optional<AxisMap> axes_of_bits(const Affine& map) {
  AxisMap axes;
  for (int i = 0; i < map.bits(); ++i) {
    const f2::Word image = map.matrix().column(i);
    if (!f2::is_power_of_two(image)) return std::nullopt;
    StridedAxis axis{.extent = 2, .in = std::int64_t{1} << i, .out = static_cast<std::int64_t>(image)};
    if ((map.complement() & image) != 0) {
      axes.in_first += axis.in;
      axis.in = -axis.in;
    }
    axes.axes.push_back(axis);
  }
  return axes;
}

AxisMap axes_of_cycle(const Cyclic& cycle) {
  const auto count = static_cast<std::int64_t>(cycle.count);
  StridedAxis axis{.extent = cycle.count, .in = 1, .out = 1, .shift = cycle.shift};
  if (!cycle.reversed || count == 0) return {.axes = {axis}};
  // out[j] = in[s - j]: backwards from the end is in[n - 1 - j], so that it is rolled by s + 1.
  axis.in = -1;
  axis.shift = (cycle.shift + 1) % cycle.count;
  return {.axes = {axis}, .in_first = count - 1};
}

std::optional<AxisMap> element_axes(const Permutation& permutation) {
  if (const auto* map = std::get_if<Affine>(&permutation)) return axes_of_bits(*map);
  if (const auto* axes = std::get_if<Axes>(&permutation)) return axes->map();
  if (const auto* axes = std::get_if<CyclicAxes>(&permutation)) return axes->map();
  if (const auto* cycle = std::get_if<Cyclic>(&permutation)) return axes_of_cycle(*cycle);
  return std::nullopt;
}

struct Side {
  const PackedLayout& layout;
  std::int64_t StridedAxis::*stride;
};

// Cuts axes where they leave rows of the side's layout.
std::optional<AxisMap> cut_at_rows(const AxisMap& map, const Side& side) {
  const std::uint64_t row = side.layout.row_elements;
  if (row == 0) return map;
  AxisMap finer = map;
  finer.axes.clear();
  std::uint64_t reach = 0;  // inside of a row
  for (const StridedAxis& axis : map.axes) {
    const auto stride = static_cast<std::uint64_t>(std::abs(axis.*side.stride));
    const bool is_of_rows = stride % row == 0;
    if (is_of_rows || (axis.extent - 1) * stride < row) {
      if (!is_of_rows) reach += (axis.extent - 1) * stride;
      finer.axes.push_back(axis);
      continue;
    }
    if (row % stride != 0) return std::nullopt;
    const auto parts = detail::split(axis, row / stride);
    if (!parts) return std::nullopt;
    reach += row - stride;
    finer.axes.push_back(parts->first);
    finer.axes.push_back(parts->second);
  }
  if (reach >= row) return std::nullopt;
  return finer;
}

std::int64_t stride_in_bits(std::int64_t stride, const PackedLayout& layout, std::uint32_t element_bits) {
  const auto row = static_cast<std::int64_t>(layout.row_elements);
  if (row != 0 && stride % row == 0) return stride / row * static_cast<std::int64_t>(layout.pitch_bits);
  return stride * static_cast<std::int64_t>(element_bits);
}

AxisMap in_bits(AxisMap map, const PackedProblem& problem) {
  for (StridedAxis& axis : map.axes) {
    axis.in = stride_in_bits(axis.in, problem.in, problem.element_bits);
    axis.out = stride_in_bits(axis.out, problem.out, problem.element_bits);
  }
  const auto place = [&](const PackedLayout& layout, std::int64_t first) {
    return static_cast<std::int64_t>(
        packed_position(layout, problem.element_bits, static_cast<std::uint64_t>(first)));
  };
  map.in_first = place(problem.in, map.in_first);
  map.out_first = place(problem.out, map.out_first);
  return map;
}

std::uint64_t magnitude(std::int64_t stride) { return static_cast<std::uint64_t>(std::abs(stride)); }

// The input's fastest axis; nothing where none is dense.
std::optional<std::size_t> fastest_of_input(const AxisMap& map, std::uint32_t element_bits) {
  for (std::size_t i = 0; i < map.axes.size(); ++i) {
    if (magnitude(map.axes[i].in) == element_bits) return i;
  }
  return std::nullopt;
}

std::uint64_t extent_of_fastest(const AxisMap& map, std::uint32_t element_bits) {
  if (map.axes.empty()) return 1;
  const auto input = fastest_of_input(map, element_bits);
  const StridedAxis& output = map.axes.front();
  if (!input || output.out != static_cast<std::int64_t>(element_bits)) return 1;
  return *input == 0 ? output.extent : output.extent * map.axes[*input].extent;
}

template <typename Sweep>
void share_sweep(const Sweep& sweep, std::uint64_t buffer_bytes, const Arrays& arrays, int threads) {
  cpu::share_out(sweep.count(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    for (std::uint64_t i = begin; i < end; ++i) sweep.move(arrays, i, buffer.get());
    if (arrays.streamed) cpu::finish_streams();
  });
}

}  // namespace

std::optional<BitAxes> bit_axes(const PackedProblem& problem) {
  std::optional<AxisMap> map = element_axes(problem.permutation);
  if (!map) return std::nullopt;
  const bool turns = problem.in.order != problem.out.order;
  if (!packs_bytes(problem.element_bits) && turns) return std::nullopt;
  const auto count = static_cast<std::int64_t>(element_count(problem.permutation));
  if (problem.batch > 1) map->axes.push_back({.extent = problem.batch, .in = count, .out = count});
  if (problem.in.row_elements == 0 && problem.out.row_elements == 0) *map = detail::normal_form(*map);
  BitAxes axes{
      .element_bits = problem.element_bits, .in_order = problem.in.order, .out_order = problem.out.order};
  map = cut_at_rows(*map, {problem.in, &StridedAxis::in});
  if (map) map = cut_at_rows(*map, {problem.out, &StridedAxis::out});
  if (!map) return std::nullopt;
  for (const AxisMap& part : detail::unrolled(in_bits(*map, problem))) {
    axes.parts.push_back(detail::normal_form(part));
  }
  return axes;
}

std::uint64_t elements_at_once(const BitAxes& axes) {
  std::uint64_t elements = 0;
  std::uint64_t steps = 0;
  for (const AxisMap& part : axes.parts) {
    const std::uint64_t count = detail::unit_count(part.axes);
    if (count == 0) continue;
    // What is turned round, or transposed, is made of elements within bytes.
    const bool is_run =
        part.axes.empty() || part.axes.front().in == static_cast<std::int64_t>(axes.element_bits);
    const bool is_packed = is_run || packs_bytes(axes.element_bits);
    if (!is_packed) return 1;
    elements += count;
    steps += detail::ceil_div(count, extent_of_fastest(part, axes.element_bits));
  }
  return steps == 0 ? 1 : elements / steps;
}

bool has_runs(const BitAxes& axes) {
  return std::all_of(axes.parts.begin(), axes.parts.end(), [&](const AxisMap& part) {
    return fastest_of_input(part, axes.element_bits) == std::size_t{0};
  });
}

void move_axes(const BitAxes& axes, const std::byte* in, std::byte* out, bool streamed, int threads) {
  const Arrays arrays{.in = in, .out = out, .streamed = streamed};
  const auto element = static_cast<std::int64_t>(axes.element_bits);
  for (AxisMap part : axes.parts) {
    if (detail::unit_count(part.axes) == 0) continue;
    if (extent_of_fastest(part, axes.element_bits) == 1) {
      part.axes.insert(part.axes.begin(),
                       {.extent = 1, .in = element, .out = element});  // runs of one element
    }
    const std::size_t fastest = fastest_of_input(part, axes.element_bits).value();
    if (fastest == 0) {
      share_sweep(RunSweep(axes, part, out), RunSweep::buffer_bytes(), arrays, threads);
      continue;
    }
    if (has_bit_lines()) {
      const LineMatrixSweep sweep(axes, part, fastest, out);
      if (sweep.is_worth()) {
        share_sweep(sweep, sweep.buffer_bytes(), arrays, threads);
        continue;
      }
    }
    const MatrixSweep sweep(axes, part, fastest, out);
    share_sweep(sweep, sweep.buffer_bytes(), arrays, threads);
  }
}

}  // namespace faro::packed
