#include "plan/gpu/axes_choice.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "kernels/partition_params.hpp"
#include "layout/box_choice.hpp"
#include "layout/strided_box.hpp"
#include "plan/gpu/lines_or_boxes.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

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
  // Narrower units take more instructions, which more warps share (docs/notes/axes-experiments.md).
  const std::uint32_t most = as.most_box_bytes != 0 ? as.most_box_bytes
                             : unit >= 4            ? layout::kTwoFitBytes
                                                    : 0;
  if (most > limits.most_bytes) limits.allow(most);
  const layout::StridedBox box = layout::choose_box(axes, static_cast<int>(unit), limits);
  kernels::AxesBoxParams params = kernels::make_axes_box_params(box, first.in, first.out);
  if (as.drops_first) params.in_sectors = params.out_sectors = *as.drops_first ? 1 : 0;
  return {.params = params,
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
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 29;  // that are moved so in any case
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

// Rows of a few hundred bytes: boxes have longer runs, of several of them, where these are whole sectors
// (docs/notes/axes-experiments.md).
bool rows_are_short(const layout::UnitAxes& wide, std::uint64_t wide_unit) {
  const std::uint64_t most_bytes = wide.shape.back() % 2 == 0 ? 512 : 256;
  return wide_unit == kAxesVector && wide.shape.back() * wide_unit <= most_bytes;
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
    const bool long_plane = plane && shorter_side(wide) >= kLongSide &&
                            (!has_largest_tiles(lines.variants.front().choice) || planes_lie_together(wide));
    const bool narrow = wide_unit < kAxesVector / 2;
    const bool few_bytes = as_usual && !variant.elements && bytes_are_few(wide.count(), wide_unit);
    const auto by_lines = [&]() -> AxesChoice {
      if (few_bytes && !few_at_vectors(lines)) return by_units();
      return {.form = std::move(lines), .unit_bytes = unit};
    };
    if (has_lines && (variant.lines_only || (long_plane && narrow)) && are_complete()) return by_lines();
    AxesBoxes boxes{{box_variant(layout::strided_axes(wide), wide_unit, true, variant)}};
    const AxesBoxes::Variant& box = boxes.variants.front();
    if (has_lines && lines_suit(lines, wide, box) && are_complete()) return by_lines();
    const bool countable = units.count() <= kMostUnits;
    if (as_usual && ((countable && boxes_are_tiny(box)) || (few_bytes && box.shape.ragged)))
      return by_units();
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
  choice.rows =
      kernels::make_view_rows(units, static_cast<int>(unit), {first.in, first.out}, variant.least_row_bytes);
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
