#include "tell/tile_facts.hpp"

#include <algorithm>
#include <variant>

#include "kernels/axes_turned.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::detail {
namespace {

using kernels::AxesLinesForm;
using kernels::AxesLinesParams;
using kernels::AxesRowsParams;

// Boxes tell the output's slowest axis first.
void sort_axes(BoxFacts& facts) {
  std::stable_sort(
      facts.axes.begin(), facts.axes.end(),
      [](const BoxFacts::Axis& a, const BoxFacts::Axis& b) { return a.out_bytes > b.out_bytes; });
}

std::int64_t as_step(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); }

// Planes, few rows and few columns. Elements of several units are one more axis, which stays.
TileFacts facts_of_lines(const AxesLinesParams& p, std::uint64_t unit) {
  TileFacts facts;
  BoxFacts& box = facts.box;
  box.unit_bytes = unit;
  box.boxes = p.tiles;
  for (std::int32_t a = 0; a < p.axes; ++a) {
    const AxesLinesParams::Axis& axis = p.axis[a];
    box.axes.push_back({.extent = axis.extent.divisor(),
                        .box = 1,
                        .in_bytes = as_step(axis.in_step),
                        .out_bytes = as_step(axis.out_step)});
  }
  const bool few_rows = p.form == AxesLinesForm::few_rows;
  const bool few_columns = p.form == AxesLinesForm::few_columns;
  const std::uint64_t tile_steps = std::min<std::uint64_t>(p.tile_steps, p.steps);
  const std::uint64_t element = p.element_bytes;
  facts.rows = few_rows ? p.rows : tile_steps;
  facts.columns = few_rows ? tile_steps : std::min<std::uint64_t>(p.tile_columns, p.columns);
  facts.row_step = {.in_bytes = as_step(few_rows ? p.in_pitch : p.step_bytes), .out_bytes = as_step(element)};
  facts.column_step = {.in_bytes = as_step(element),
                       .out_bytes = as_step(few_rows ? p.line_step_bytes : p.out_pitch)};
  box.axes.push_back({.extent = few_rows ? p.rows : p.steps,
                      .box = facts.rows,
                      .in_bytes = facts.row_step->in_bytes,
                      .out_bytes = facts.row_step->out_bytes,
                      .in_run = few_columns,
                      .out_run = true});
  box.axes.push_back({.extent = few_rows ? p.steps : p.columns,
                      .box = facts.columns,
                      .in_bytes = facts.column_step->in_bytes,
                      .out_bytes = facts.column_step->out_bytes,
                      .in_run = true,
                      .out_run = few_rows});
  // Read backwards, or from within an array, the first unit is not at either's first place.
  const bool from_the_first = p.in.begin + p.in_first == 0 && p.out.begin + p.out_first == 0 &&
                              facts.row_step->in_bytes >= 0 && facts.column_step->in_bytes >= 0;
  if (!from_the_first) {
    facts.row_step.reset();
    facts.column_step.reset();
  }
  if (element > unit) {
    box.axes.push_back({.extent = element / unit,
                        .box = element / unit,
                        .in_bytes = as_step(unit),
                        .out_bytes = as_step(unit),
                        .in_run = true,
                        .out_run = true});
  }
  sort_axes(box);
  box.in_run_bytes = facts.columns * element * (few_columns ? facts.rows : 1);
  box.out_run_bytes = facts.rows * element * (few_rows ? facts.columns : 1);
  box.in_rows = box.bytes() / box.in_run_bytes;
  box.out_rows = box.bytes() / box.out_run_bytes;
  box.pitch_bytes = p.pitch;
  box.in_shared_memory = true;
  return facts;
}

// Where a kernel of these keeps a unit; the row's own element units lie one behind another.
void place_units(TileFacts& facts, const GpuKernel& kernel, const AxesLinesParams& p) {
  const std::uint64_t element = p.element_bytes;
  if (const auto* const plane = std::get_if<AxesPlaneKernel>(&kernel.id)) {
    const kernels::AxesPlaneShape shape = plane->shape;
    facts.address = [shape](std::uint64_t row, std::uint64_t column) {
      // As kernels::PlaneLayout has it, whose shape is a constant.
      const auto units = static_cast<std::uint64_t>(kernels::kMovedBytes / shape.unit_bytes);
      const std::uint64_t exchange = (row / units & 7) * static_cast<std::uint64_t>(kernels::kMovedBytes);
      return row * static_cast<std::uint64_t>(shape.row_bytes) +
             (column * static_cast<std::uint64_t>(shape.unit_bytes) ^ exchange);
    };
    facts.box.pitch_bytes = static_cast<std::uint64_t>(shape.row_bytes);
  } else if (const auto* const turned = std::get_if<AxesTurnedKernel>(&kernel.id)) {
    const kernels::AxesPlaneShape shape = turned->shape;
    facts.holds_lines = true;
    facts.address = [shape, pitch = p.pitch](std::uint64_t row, std::uint64_t column) {
      // As kernels::TurnedLayout::line().
      const auto unit = static_cast<std::uint64_t>(shape.unit_bytes);
      const std::uint64_t in_word = std::max<std::uint64_t>(4, unit) / unit;
      const auto columns = static_cast<std::uint64_t>(shape.columns());
      return (column % in_word * (columns / in_word) + column / in_word) * pitch + row * unit;
    };
  } else {
    const bool few_rows = p.form == AxesLinesForm::few_rows;
    const auto* const skinny = std::get_if<AxesSkinnyKernel>(&kernel.id);
    const bool exchanged = skinny == nullptr || skinny->shape.exchanged;
    facts.holds_lines = skinny != nullptr && few_rows;
    const bool by_pitch = skinny == nullptr && p.form != AxesLinesForm::few_columns;
    const std::uint64_t row_step = by_pitch ? p.pitch : few_rows ? element : facts.columns * element;
    const std::uint64_t column_step = facts.holds_lines ? facts.rows * element : element;
    facts.box.pitch_bytes = facts.holds_lines ? column_step : row_step;
    const std::uint64_t base =
        facts.holds_lines ? p.pitch : 0;  // as kernels::skinny_base() of the first tile
    facts.address = [=, exchange = p.exchange](std::uint64_t row, std::uint64_t column) {
      const auto at = static_cast<std::uint32_t>(base + row * row_step + column * column_step);
      return std::uint64_t{exchanged ? exchange.place(at) : at};
    };
  }
}

// Rows that change places whole: those along the output's fastest axis are drawn.
TileFacts facts_of_rows(const AxesRowsParams& p, std::uint64_t unit) {
  TileFacts facts;
  facts.rows_stay = true;
  BoxFacts& box = facts.box;
  const std::uint64_t row_bytes = p.row_bytes.divisor();
  box.unit_bytes = unit;
  box.in_run_bytes = box.out_run_bytes = row_bytes;
  box.axes.push_back({.extent = row_bytes / unit,
                      .box = row_bytes / unit,
                      .in_bytes = as_step(unit),
                      .out_bytes = as_step(unit),
                      .in_run = true,
                      .out_run = true});
  std::uint64_t out_step = row_bytes;
  for (std::int32_t a = 0; a < p.axes; ++a) {
    const std::uint64_t extent = p.axis[a].extent.divisor();
    box.axes.push_back({.extent = extent,
                        .box = 1,
                        .in_bytes = as_step(p.axis[a].in_stride),
                        .out_bytes = as_step(out_step)});
    box.boxes *= extent;
    out_step *= extent;
  }
  sort_axes(box);
  facts.columns = row_bytes / unit;
  facts.column_step = {.in_bytes = as_step(unit), .out_bytes = as_step(unit)};
  facts.row_step = TileFacts::Steps{};
  if (p.axes > 0) {
    facts.rows = p.axis[0].extent.divisor();
    facts.row_step = {.in_bytes = as_step(p.axis[0].in_stride), .out_bytes = as_step(row_bytes)};
  }
  return facts;
}

}  // namespace

std::optional<TileFacts> tile_facts(const Pass& pass) {
  if (pass.gpu == nullptr || pass.gpu->box != nullptr || pass.gpu->kernels.empty()) return std::nullopt;
  const GpuKernel& kernel = pass.gpu->kernels.front();
  if (const auto* const rows = std::get_if<AxesRowsKernel>(&kernel.id)) {
    return facts_of_rows(std::get<AxesRowsParams>(kernel.params),
                         static_cast<std::uint64_t>(rows->unit_bytes));
  }
  std::uint64_t unit = 0;
  if (const auto* const plane = std::get_if<AxesPlaneKernel>(&kernel.id))
    unit = static_cast<std::uint64_t>(plane->shape.unit_bytes);
  if (const auto* const turned = std::get_if<AxesTurnedKernel>(&kernel.id))
    unit = static_cast<std::uint64_t>(turned->shape.unit_bytes);
  if (const auto* const skinny = std::get_if<AxesSkinnyKernel>(&kernel.id))
    unit = static_cast<std::uint64_t>(skinny->shape.unit_bytes);
  if (const auto* const lines = std::get_if<AxesLinesKernel>(&kernel.id))
    unit = static_cast<std::uint64_t>(lines->unit_bytes);
  if (unit == 0) return std::nullopt;
  const auto& p = std::get<AxesLinesParams>(kernel.params);
  TileFacts facts = facts_of_lines(p, unit);
  place_units(facts, kernel, p);
  return facts;
}

}  // namespace faro::detail
