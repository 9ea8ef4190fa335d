#include "plan/gpu/axes_choice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "kernels/partition_params.hpp"
#include "layout/strided_box.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kAxesVector = 16;

// Units of the arrays that boxes begin with.
struct FirstUnits {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

AxesBoxes::Variant box_variant(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit,
                               bool with_vectors, const AxesVariant& as, const FirstUnits& first = {}) {
  layout::BoxLimits limits{.vectors = with_vectors,
                           .ragged = as.ragged,
                           .threads = kernels::kBoxThreads,
                           .large_threads = kernels::kLargeBoxThreads};
  if (as.box_bytes != 0) {
    limits.best_bytes = as.box_bytes;
    limits.most_bytes = as.box_bytes + as.box_bytes / 2;
  }
  // Of units of 4 bytes and more, boxes of which two fit a multiprocessor: their runs are longer. Narrower
  // units take more instructions, which more warps share (docs/notes/axes-experiments.md).
  constexpr std::uint32_t two_fit = 88 << 10;
  const std::uint32_t most = as.most_box_bytes != 0 ? as.most_box_bytes : unit >= 4 ? two_fit : 0;
  if (most > limits.most_bytes) {
    limits.most_bytes = limits.ragged_bytes = most;
    limits.ragged_shared = most * 5 / 4;
  }
  const layout::StridedBox box = layout::choose_box(axes, static_cast<int>(unit), limits);
  return {.params = kernels::make_axes_box_params(box, first.in, first.out),
          .shape = kernels::box_shape(box),
          .in_run_bytes = box.in.contiguous * unit,
          .out_run_bytes = box.out.contiguous * unit,
          .alignment = with_vectors && !box.ragged ? kAxesVector : unit,
          .box = std::make_shared<const layout::StridedBox>(box)};
}

// `anywhere`: for arrays that are aligned to the unit alone.
kernels::AxesLinesOptions lines_options(std::uint64_t unit, bool anywhere, const AxesVariant& as) {
  const auto width = static_cast<std::uint32_t>(unit);
  kernels::AxesLinesOptions options;
  if (anywhere) options.in_skew = unit < kAxesVector ? width : 0;
  if (anywhere) options.out_skew = width;
  options.plane_shape = as.plane_shape;
  options.band = as.band;
  options.turned = as.turned;
  options.skinny = as.skinny;
  options.skinny_bytes = as.skinny_bytes;
  options.few_vectors = as.few_vectors;
  return options;
}

// The array's own bounds, to which the engine adds where it begins.
AxesLines::Variant as_variant(kernels::AxesLinesChoice choice, const kernels::AxesLinesOptions& options,
                              std::uint64_t unit, bool anywhere) {
  for (std::uint64_t* const at : {&choice.params.in.begin, &choice.params.in.end}) *at -= options.in_skew;
  for (std::uint64_t* const at : {&choice.params.out.begin, &choice.params.out.end}) *at -= options.out_skew;
  return {.choice = choice, .unit_bytes = unit, .anywhere = anywhere};
}

// Nothing where the axes are no such transposes.
std::optional<AxesLines::Variant> lines_variant(const layout::UnitAxes& axes, std::uint64_t unit,
                                                bool anywhere, const AxesVariant& as) {
  const kernels::AxesLinesOptions options = lines_options(unit, anywhere, as);
  const auto choice = kernels::make_axes_lines(axes, static_cast<int>(unit), options);
  if (!choice) return std::nullopt;
  return as_variant(*choice, options, unit, anywhere);
}

// Adds those for other alignments to the first, of the widest unit; false where the element's unit has none.
bool complete(AxesLines& lines, const layout::UnitAxes& wide, const layout::UnitAxes& units,
              std::uint64_t unit, const AxesVariant& as) {
  const std::uint64_t wide_unit = lines.variants.front().unit_bytes;
  const auto add = [&](const layout::UnitAxes& axes, std::uint64_t width, bool anywhere) {
    const auto variant = lines_variant(axes, width, anywhere, as);
    if (variant) lines.variants.push_back(*variant);
    return variant.has_value();
  };
  if (!add(wide, wide_unit, true)) return false;
  return unit == wide_unit || (add(units, unit, false) && add(units, unit, true));
}

// The same axes with units as wide as the fastest axis allows where it stays.
layout::UnitAxes widen_units(layout::UnitAxes axes, std::uint64_t& unit) {
  while (unit < kAxesVector && !axes.shape.empty() &&
         axes.order.back() == static_cast<int>(axes.shape.size()) - 1 && axes.shape.back() % 2 == 0) {
    axes.shape.back() /= 2;
    unit *= 2;
    if (axes.shape.back() == 1) {
      axes.shape.pop_back();
      axes.order.pop_back();
    }
  }
  return axes;
}

// Arrays that are moved unit by unit (docs/notes/axes-experiments.md): those of bytes to 1 MiB, and to 2 MiB
// where nothing moves them by vectors; others to 2 MiB.
constexpr std::uint64_t kFewUnits = 1 << 20;
bool units_are_few(std::uint64_t count, std::uint64_t unit) {
  return count <= (unit == 1 ? kFewUnits : 2 * kFewUnits / unit);
}
bool bytes_are_few(std::uint64_t count, std::uint64_t unit) { return unit == 1 && count <= 2 * kFewUnits; }

// The elements of axes by the widest unit, and by the element's own.
AxesElements elements_of(const std::vector<layout::StridedAxis>& wide, std::uint64_t wide_unit,
                         const std::vector<layout::StridedAxis>& units, std::uint64_t unit,
                         const FirstUnits& first = {}) {
  AxesElements elements;
  const auto add = [&](const std::vector<layout::StridedAxis>& axes, std::uint64_t width) {
    const std::uint64_t narrower = width / unit;
    elements.variants.push_back(
        {.params = kernels::make_axes_elements_params(axes, static_cast<int>(width), first.in / narrower,
                                                      first.out / narrower),
         .unit_bytes = width});
  };
  if (wide_unit != unit) add(wide, wide_unit);
  add(units, unit);
  return elements;
}

// Few rows or columns that are turned in registers.
bool few_at_vectors(const AxesLines& lines) {
  const auto& skinny = lines.variants.front().choice.skinny;
  return skinny && skinny->few > 0;
}

// Of a plane whose sides are so long, lines reach more than boxes do.
constexpr std::uint64_t kLongSide = 256;  // units

std::uint64_t shorter_side(const layout::UnitAxes& axes) {
  const std::uint64_t columns = axes.shape.back();
  const std::uint64_t rows = axes.shape[static_cast<std::size_t>(axes.order.back())];
  return std::min(rows, columns);
}

// Rows of a few hundred bytes: boxes have longer runs, of several of them, where these are whole sectors
// (docs/notes/axes-experiments.md).
bool rows_are_short(const layout::UnitAxes& wide, std::uint64_t wide_unit) {
  const std::uint64_t most_bytes = wide.shape.back() % 2 == 0 ? 512 : 256;
  return wide_unit == kAxesVector && wide.shape.back() * wide_unit <= most_bytes;
}

// Whether planes lie one after another on both sides: a matrix, or a batch of them.
bool lie_together(const layout::UnitAxes& axes) {
  const std::size_t last = axes.shape.size() - 1;
  return static_cast<std::size_t>(axes.order.back()) + 1 == last &&
         axes.order[last - 1] == static_cast<int>(last);
}

// Lines of the largest tiles, of planes whose rows lie apart on both sides, reach less than ragged boxes.
bool has_largest_tiles(const kernels::AxesLinesChoice& choice) {
  constexpr int most_threads = 512;
  return choice.turned && choice.plane && choice.plane->threads > most_threads;
}
bool lines_are_apart(const AxesLines& lines, const layout::UnitAxes& axes) {
  return has_largest_tiles(lines.variants.front().choice) && !lie_together(axes);
}

// Whether a box moves whole vectors on both sides.
bool moves_vectors(const kernels::BoxShape& shape) {
  const int vector = static_cast<int>(kAxesVector);
  return !shape.ragged && shape.unit_bytes * shape.in_vector == vector &&
         shape.unit_bytes * shape.out_vector == vector;
}

// Of a side that is cut into tiles, the bytes of each piece.
double piece_bytes(std::uint64_t bytes, int tile_bytes) {
  return static_cast<double>(bytes) /
         static_cast<double>(ceil_div(bytes, static_cast<std::uint64_t>(tile_bytes)));
}

// Tiles of planes that lie together reach more than boxes where they have 16 KiB and are full; single bytes,
// and rows of 256 bytes, more than ragged boxes in any case (docs/notes/axes-experiments.md).
bool tiles_suit(const kernels::AxesPlaneShape& tile, const layout::UnitAxes& axes,
                const kernels::BoxShape& box) {
  constexpr int least_bytes = 16 << 10;
  constexpr int wide_row = 256;
  if (tile.row_bytes * tile.line_bytes / tile.unit_bytes < least_bytes) return false;
  const auto unit = static_cast<std::uint64_t>(tile.unit_bytes);
  const auto row_axis = static_cast<std::size_t>(axes.order.back());
  const double row = piece_bytes(axes.shape.back() * unit, tile.row_bytes);
  const double column = piece_bytes(axes.shape[row_axis] * unit, tile.line_bytes);
  const double filled = row * column / (tile.row_bytes * tile.line_bytes);
  const bool narrow = tile.row_bytes < wide_row && tile.unit_bytes > 1;
  if (!moves_vectors(box)) return !narrow || filled >= 2.0 / 3;
  return filled >= (narrow ? 0.9 : 0.8);
}

// Tiles cut sides that are a little longer than some of them into short pieces, which boxes join to others:
// of planes whose rows lie apart on a side, where tiles are less than seven tenths full, or pieces no line.
bool lines_are_in_pieces(const AxesLines& lines, const layout::UnitAxes& axes, int unit_bytes) {
  const kernels::AxesLinesChoice& choice = lines.variants.front().choice;
  if (!choice.plane) return false;
  constexpr double line = 128;
  constexpr double full = 0.7;
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  const auto row_axis = static_cast<std::size_t>(axes.order.back());
  const double row = piece_bytes(axes.shape.back() * unit, choice.plane->row_bytes);
  const double column = piece_bytes(axes.shape[row_axis] * unit, choice.plane->line_bytes);
  return std::min(row, column) < line ||
         row * column < full * choice.plane->row_bytes * choice.plane->line_bytes;
}

// Small arrays by the widest unit, and by the element's own; nothing where they are not small, or no batch.
AxesWhole whole_arrays(const layout::UnitAxes& wide, std::uint64_t wide_unit, const layout::UnitAxes& units,
                       std::uint64_t unit, const AxesVariant& as) {
  AxesWhole whole;
  const auto add = [&](const layout::UnitAxes& of, std::uint64_t width) {
    const auto params = kernels::make_axes_whole(of, static_cast<int>(width), as.whole_bytes);
    if (params) whole.variants.push_back({.params = *params, .unit_bytes = width});
  };
  add(wide, wide_unit);
  if (wide_unit != unit && !whole.variants.empty() && as.alternatives) add(units, unit);
  return whole;
}

// Rows of vectors that stay whole: boxes move them, whatever else (measured: 22 and 32% by lines, 89 and 93
// by boxes).
bool rows_are_wide(const layout::UnitAxes& wide, std::uint64_t wide_unit) {
  return wide_unit == kAxesVector && wide.order.back() == static_cast<int>(wide.shape.size()) - 1;
}

// Planes that boxes of whole vectors move faster than tiles do: of 16-byte units, and of 8-byte units whose
// rows lie apart on both sides (docs/notes/axes-experiments.md).
bool boxes_are_ahead(std::uint64_t unit, bool planes_lie_together, const kernels::BoxShape& box) {
  constexpr std::uint64_t half = kAxesVector / 2;
  return moves_vectors(box) && (unit == kAxesVector || (unit == half && !planes_lie_together));
}

// Whether lines move the axes faster than this box: where sides are long, where rows begin between vectors,
// and where a plane of few rows or columns is larger than boxes are (docs/notes/axes-experiments.md).
bool lines_suit(const AxesLines& lines, const layout::UnitAxes& axes, const AxesBoxes::Variant& box) {
  const kernels::BoxShape& shape = box.shape;
  const auto& tile = lines.variants.front().choice.plane;
  if (tile && lie_together(axes)) return tiles_suit(*tile, axes, shape);
  if (shape.ragged && (lines_are_apart(lines, axes) || lines_are_in_pieces(lines, axes, shape.unit_bytes)))
    return false;
  if (!moves_vectors(shape)) return true;
  if (tile) return shorter_side(axes) >= kLongSide;
  // An element of several units is the fastest axis of both sides.
  const std::size_t last = axes.shape.size() - 1;
  const bool stays = axes.order.back() == static_cast<int>(last);
  const std::size_t columns = stays && last > 0 ? last - 1 : last;
  const auto rows = static_cast<std::size_t>(axes.order[columns]);
  const auto element_bytes = (stays ? axes.shape[last] : 1) * static_cast<std::uint64_t>(shape.unit_bytes);
  // Boxes fill a shorter side of so many bytes with vectors, and narrow units earlier.
  const std::uint64_t filled = shape.unit_bytes >= 8 ? 256 : shape.unit_bytes == 4 ? 128 : 64;
  if (std::min(axes.shape[rows], axes.shape[columns]) * element_bytes >= filled) return false;
  constexpr std::uint64_t large_plane = 128 << 10;
  return axes.shape[rows] * axes.shape[columns] * element_bytes >= large_plane;
}

// Gives units of a view as wide as its axes and where it begins allow.
int widen(std::vector<layout::StridedAxis>& axes, std::uint64_t unit, const FirstUnits& first) {
  auto width = static_cast<int>(unit);
  layout::widen_unit(axes, width, static_cast<int>(std::gcd((first.in | first.out) * unit, kAxesVector)));
  return width;
}

// Small arrays of a view, which begin at units; nothing where some arrays' alignment would have none.
std::optional<AxesWhole> whole_arrays_of_view(const std::vector<layout::StridedAxis>& units,
                                              std::uint64_t unit, const FirstUnits& first,
                                              const AxesVariant& as) {
  std::vector<layout::StridedAxis> wide = units;
  const int wide_unit = widen(wide, unit, first);
  AxesWhole whole;
  const auto add = [&](const std::vector<layout::StridedAxis>& axes, int width) {
    const std::uint64_t narrower = static_cast<std::uint64_t>(width) / unit;
    const auto params =
        kernels::make_axes_whole(axes, width, {first.in / narrower, first.out / narrower}, as.whole_bytes);
    if (params)
      whole.variants.push_back({.params = *params, .unit_bytes = static_cast<std::uint64_t>(width)});
    return params.has_value();
  };
  if (!add(wide, wide_unit)) return std::nullopt;
  if (static_cast<std::uint64_t>(wide_unit) != unit && !add(units, static_cast<int>(unit)))
    return std::nullopt;
  return whole;
}

// Boxes that begin at units, and at vectors where these are those of aligned arrays.
AxesBoxes boxes_of_view(const std::vector<layout::StridedAxis>& units, std::uint64_t unit,
                        const FirstUnits& first, const AxesVariant& variant) {
  const std::uint64_t first_bytes = (first.in | first.out) * unit;
  std::vector<layout::StridedAxis> wide = units;
  const int wide_unit = widen(wide, unit, first);
  const auto variant_of = [&](std::vector<layout::StridedAxis> axes, std::uint64_t width, bool vectors) {
    if (axes.empty()) axes.push_back({.extent = 1, .in = 1, .out = 1});  // one unit
    const std::uint64_t narrower = width / unit;
    return box_variant(axes, width, vectors, variant,
                       {.in = first.in / narrower, .out = first.out / narrower});
  };
  const auto widest = static_cast<std::uint64_t>(wide_unit);
  AxesBoxes boxes{{variant_of(wide, widest, first_bytes % kAxesVector == 0)}};
  if (boxes.variants.front().alignment > unit) boxes.variants.push_back(variant_of(units, unit, false));
  return boxes;
}

// Whether a view's planes lie one after another on both sides: nothing but the rows of a plane is between its
// units of the input, and nothing but its lines between those of the output.
bool lie_together(const std::vector<layout::StridedAxis>& axes, const kernels::AxesLinesParams& plane,
                  std::uint64_t unit) {
  const auto size = [](std::int64_t stride) {
    return static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  };
  const std::uint64_t in_pitch = size(static_cast<std::int64_t>(plane.in_pitch)) / unit;
  const std::uint64_t out_pitch = size(static_cast<std::int64_t>(plane.out_pitch)) / unit;
  return std::all_of(axes.begin(), axes.end(), [&](const layout::StridedAxis& axis) {
    return (size(axis.in) == 1 || size(axis.in) >= in_pitch) &&
           (axis.out == 1 || size(axis.out) >= out_pitch);
  });
}

// Lines of a view whose rows are read forwards, or nothing: planes with long sides, as of axes. Elsewhere
// boxes' rows may go on into other axes.
std::optional<AxesLines> lines_of_view(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit,
                                       const FirstUnits& first, const AxesVariant& as) {
  if (as.boxes_only) return std::nullopt;
  AxesLines lines;
  for (const bool anywhere : {false, true}) {
    const kernels::AxesLinesOptions options = lines_options(unit, anywhere, as);
    const auto choice =
        kernels::make_axes_lines(axes, static_cast<int>(unit), {first.in, first.out}, options);
    if (!choice) return std::nullopt;
    const kernels::AxesLinesParams& p = choice->params;
    const bool is_long = p.steps >= kLongSide && p.columns >= kLongSide;
    const bool apart = has_largest_tiles(*choice) && !lie_together(axes, p, unit);
    if (!as.lines_only && !anywhere && (!is_long || apart)) return std::nullopt;
    lines.variants.push_back(as_variant(*choice, options, unit, anywhere));
  }
  return lines;
}

}  // namespace

void require_countable(std::uint64_t count, std::uint64_t element_bytes, std::uint64_t batch) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (most / element_bytes / count >= batch) return;
  fail(ErrorCode::unsupported, "plan", "more than 2^62 bytes", "at most 2^62 bytes", "split the batch");
}

AxesChoice choose_axes(const Axes& axes, std::uint64_t element_bytes, std::uint64_t batch,
                       const AxesVariant& variant) {
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  if (axes.count() == 0 || batch == 0) return {.form = AxesCopy{}, .unit_bytes = unit};
  require_countable(axes.count(), element_bytes, batch);
  const layout::UnitAxes units = layout::unit_axes(axes, element_bytes / unit, batch);
  std::uint64_t wide_unit = unit;
  const layout::UnitAxes wide = widen_units(units, wide_unit);
  if (units.shape.size() < 2) return {.form = AxesCopy{units.count() * unit}, .unit_bytes = unit};
  const auto is_small = [&] { return units_are_few(wide.count(), wide_unit); };
  const auto by_units = [&]() -> AxesChoice {
    return {.form = elements_of(layout::strided_axes(wide), wide_unit, layout::strided_axes(units), unit),
            .unit_bytes = unit};
  };
  const bool as_usual = !variant.boxes_only && !variant.lines_only;
  if (variant.elements.value_or(is_small() && as_usual)) return by_units();
  if (!kernels::axes_rows_suit(wide, static_cast<int>(wide_unit)) || rows_are_short(wide, wide_unit)) {
    if (variant.whole.value_or(as_usual)) {
      AxesWhole whole = whole_arrays(wide, wide_unit, units, unit, variant);
      if (!whole.variants.empty()) return {.form = std::move(whole), .unit_bytes = unit};
    }
    AxesLines lines;
    if (variant.lines_only || (!variant.boxes_only && !rows_are_wide(wide, wide_unit))) {
      if (auto first = lines_variant(wide, wide_unit, false, variant)) lines.variants.push_back(*first);
    }
    const bool has_lines = !lines.variants.empty();
    const auto are_complete = [&] {
      return !variant.alternatives || complete(lines, wide, units, unit, variant);
    };
    const bool plane = has_lines && lines.variants.front().choice.plane.has_value();
    const bool long_plane = plane && shorter_side(wide) >= kLongSide && !lines_are_apart(lines, wide);
    const bool narrow = wide_unit < kAxesVector / 2;
    const bool few_bytes = as_usual && !variant.elements && bytes_are_few(wide.count(), wide_unit);
    const auto by_lines = [&]() -> AxesChoice {
      if (few_bytes && !few_at_vectors(lines)) return by_units();
      return {.form = std::move(lines), .unit_bytes = unit};
    };
    if (has_lines && (variant.lines_only || (long_plane && narrow)) && are_complete()) return by_lines();
    AxesBoxes boxes{{box_variant(layout::strided_axes(wide), wide_unit, true, variant)}};
    const AxesBoxes::Variant& box = boxes.variants.front();
    const bool ahead = plane && boxes_are_ahead(wide_unit, lie_together(wide), box.shape);
    if (has_lines && !ahead && (long_plane || lines_suit(lines, wide, box)) && are_complete())
      return by_lines();
    if (few_bytes && box.shape.ragged) return by_units();
    if (boxes.variants.front().alignment > unit && variant.alternatives) {
      boxes.variants.push_back(box_variant(layout::strided_axes(units), unit, false, variant));
    }
    return {.form = std::move(boxes), .unit_bytes = unit};
  }
  AxesRows rows;
  const auto add = [&rows](const layout::UnitAxes& of, std::uint64_t width) {
    rows.variants.push_back(
        {.params = kernels::make_axes_rows_params(of, static_cast<int>(width), 0, 0), .unit_bytes = width});
  };
  if (wide_unit != unit) add(wide, wide_unit);
  add(units, unit);
  return {.form = std::move(rows), .unit_bytes = unit};
}

ViewChoice choose_view(const Strided& view, std::uint64_t element_bytes, const AxesVariant& variant) {
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  const std::uint64_t per_element = element_bytes / unit;
  std::vector<layout::StridedAxis> units;
  if (per_element > 1) units.push_back({.extent = per_element, .in = 1, .out = 1});
  for (std::size_t a = 0; a < view.extents.size(); ++a) {
    units.push_back({.extent = view.extents[a],
                     .in = view.in_strides[a] * static_cast<std::int64_t>(per_element),
                     .out = view.out_strides[a] * static_cast<std::int64_t>(per_element)});
  }
  units = layout::normal_axes(std::move(units));
  const FirstUnits first{.in = view.in_offset * per_element, .out = view.out_offset * per_element};
  kernels::check_reach(units, static_cast<int>(unit));
  ViewChoice choice;
  std::uint64_t count = 1;
  for (const layout::StridedAxis& axis : units) {
    if (count <= kFewUnits) count *= std::min(axis.extent, kFewUnits + 1);
  }
  if (variant.elements.value_or(units_are_few(count, unit))) {
    std::vector<layout::StridedAxis> wide = units;
    const auto wide_unit = static_cast<std::uint64_t>(widen(wide, unit, first));
    choice.elements = elements_of(wide, wide_unit, units, unit, first);
    return choice;
  }
  choice.rows = kernels::make_view_rows(units, static_cast<int>(unit), {first.in, first.out});
  if (!choice.rows && variant.whole.value_or(true)) {
    choice.whole = whole_arrays_of_view(units, unit, first, variant);
    if (choice.whole) return choice;
  }
  const auto turned = layout::read_forwards(units);
  const std::vector<layout::StridedAxis>& forwards = turned ? turned->axes : units;
  FirstUnits turned_first = first;
  if (turned) {
    turned_first.in += static_cast<std::uint64_t>(turned->in_first);  // modulo 2^64
    turned_first.out += static_cast<std::uint64_t>(turned->out_first);
  }
  if (!choice.rows) {
    choice.lines = lines_of_view(forwards, unit, turned_first, variant);
    if (choice.lines && unit < kAxesVector / 2) return choice;
  }
  choice.boxes = boxes_of_view(units, unit, first, variant);
  if (turned) {
    AxesBoxes of_forwards = boxes_of_view(forwards, unit, turned_first, variant);
    if (of_forwards.variants.front().box->cost < choice.boxes.variants.front().box->cost)
      choice.boxes = std::move(of_forwards);
  }
  if (!choice.lines || variant.lines_only) return choice;
  const bool together = lie_together(forwards, choice.lines->variants.front().choice.params, unit);
  if (boxes_are_ahead(unit, together, choice.boxes.variants.front().shape)) choice.lines.reset();
  return choice;
}

}  // namespace faro::detail
