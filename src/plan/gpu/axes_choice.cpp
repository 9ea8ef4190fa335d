#include "plan/gpu/axes_choice.hpp"

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "kernels/group.hpp"
#include "kernels/partition_params.hpp"
#include "layout/box_choice.hpp"
#include "layout/strided_box.hpp"
#include "plan/gpu/axes_registers.hpp"
#include "plan/gpu/lines_or_boxes.hpp"

namespace faro::detail {
namespace {

kernels::ViewFirst first_of(const layout::AxisMap& map) {
  return {.in = static_cast<std::uint64_t>(map.in_first), .out = static_cast<std::uint64_t>(map.out_first)};
}

AxesBoxes::Variant box_variant(const layout::AxisMap& map, bool with_vectors, const AxesVariant& as) {
  const std::uint64_t unit = map.unit;
  layout::BoxLimits limits{.vectors = with_vectors,
                           .ragged = as.ragged,
                           .triples = as.triples && !as.grouped,
                           .threads = kernels::kBoxThreads,
                           .large_threads = kernels::kLargeBoxThreads};
  if (as.box_bytes != 0) {
    limits.best_bytes = as.box_bytes;
    limits.most_bytes = as.box_bytes + as.box_bytes / 2;
  }
  if (as.grouped) {
    // A block looks its array up before it reads anything: boxes of half as much leave memory idle meanwhile.
    constexpr std::uint32_t six_fit_bytes = 30 << 10;
    constexpr std::uint32_t least_bytes = 16 << 10;
    limits.large_threads = kernels::kBoxThreads;
    if (as.box_bytes == 0) limits.allow(six_fit_bytes);
    limits.many_boxes = 1;  // others have more
    limits.least_bytes = as.box_bytes == 0 ? least_bytes : std::min(least_bytes, as.box_bytes);
  }
  // Narrower units take more instructions, which more warps share (docs/notes/axes-experiments.md).
  const std::uint32_t most = as.most_box_bytes != 0     ? as.most_box_bytes
                             : unit >= 4 && !as.grouped ? layout::kTwoFitBytes
                                                        : 0;
  if (most > limits.most_bytes) limits.allow(most);
  const layout::StridedBox box = layout::choose_box(map.axes, static_cast<int>(unit), limits);
  kernels::AxesBoxParams params = kernels::make_axes_box_params(box, first_of(map).in, first_of(map).out);
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

// Elements of several units have none.
bool has_group_kernel(const kernels::AxesLinesChoice& choice) {
  if (choice.skinny) return choice.skinny->few <= kernels::kGroupFewVectors;
  if (!choice.plane) return false;
  return kernels::group_plane_kind({*choice.plane, choice.turned, choice.aligned}) < kernels::kGroupPlanes;
}

// What `make` makes of the options; of a group, by the kernels that groups have, or nothing.
template <typename Make>
std::optional<kernels::AxesLinesChoice> make_lines(kernels::AxesLinesOptions options, const AxesVariant& as,
                                                   const Make& make) {
  std::optional<kernels::AxesLinesChoice> choice = make(options);
  if (!choice || !as.grouped || has_group_kernel(*choice)) return choice;
  if (choice->plane && choice->turned)
    options.plane_shape = kernels::group_turned_shape(choice->plane->unit_bytes);
  if (choice->skinny) options.few_vectors = false;
  choice = make(options);
  return choice && has_group_kernel(*choice) ? choice : std::nullopt;
}

// Nothing where the axes are no such transposes.
std::optional<AxesLines::Variant> lines_variant(const layout::AxisMap& map, bool anywhere,
                                                const AxesVariant& as) {
  const kernels::AxesLinesOptions options = lines_options(map.unit, anywhere, as);
  const auto choice = make_lines(options, as, [&](const kernels::AxesLinesOptions& by) {
    return kernels::make_axes_lines(map.axes, static_cast<int>(map.unit), by);
  });
  if (!choice) return std::nullopt;
  return as_variant(*choice, options, map.unit, anywhere);
}

// Adds those for other alignments to the first, of the widest unit; false where the element's unit has none.
bool complete(AxesLines& lines, const layout::AxisMap& wide, const layout::AxisMap& units,
              const AxesVariant& as) {
  const auto add = [&](const layout::AxisMap& map, bool anywhere) {
    const auto variant = lines_variant(map, anywhere, as);
    if (variant) lines.variants.push_back(*variant);
    return variant.has_value();
  };
  if (!add(wide, true)) return false;
  return units.unit == wide.unit || (add(units, false) && add(units, true));
}

// Arrays that are moved unit by unit (docs/notes/axes-experiments.md): those of bytes to 1 MiB, and to 2 MiB
// where nothing moves them by vectors; others to 2 MiB.
constexpr std::uint64_t kFewUnits = 1 << 20;
bool units_are_few(std::uint64_t count, std::uint64_t unit) {
  return count <= (unit == 1 ? kFewUnits : 2 * kFewUnits / unit);
}
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 29;  // that are moved so in any case
bool bytes_are_few(std::uint64_t count, std::uint64_t unit) { return unit == 1 && count <= 2 * kFewUnits; }

// A warp moves all of a small array, if it can.
kernels::AxesElementsShape group_elements_shape(std::uint64_t count, int unit_bytes) {
  constexpr std::uint64_t two_each = std::uint64_t{2} * kernels::kGroupWarpLanes;
  kernels::AxesElementsShape shape = kernels::usual_elements_shape(1, unit_bytes);
  if (count >= two_each) shape.units = kernels::most_elements_units(unit_bytes);
  return shape;
}

std::uint64_t size_of(std::int64_t stride) {
  return static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
}

// Whether the output's fastest axis has few units, which step further in the input than the many of the next.
bool front_is_few(const std::vector<layout::StridedAxis>& axes) {
  constexpr std::uint64_t few = 4;
  constexpr std::uint64_t many = 128;
  return axes.size() > 1 && axes[0].extent <= few && axes[1].extent >= many && axes[1].in != 0 &&
         size_of(axes[0].in) > size_of(axes[1].in);
}

// In order, but for few single bytes, which are read by words along the next axis.
AxesElements::Variant elements_variant(const layout::AxisMap& map, bool in_order, bool grouped) {
  const int unit = static_cast<int>(map.unit);
  std::optional<kernels::AxesElementsShape> shape;
  if (in_order && !(unit == 1 && front_is_few(map.axes))) shape = kernels::ordered_elements_shape(unit);
  if (grouped) shape = group_elements_shape(unit_count(map.axes), unit);
  return {.params =
              kernels::make_axes_elements_params(map.axes, unit, first_of(map).in, first_of(map).out, shape),
          .unit_bytes = map.unit};
}

// The elements of axes by the widest unit, and by the element's own.
AxesElements elements_of(const layout::AxisMap& wide, const layout::AxisMap& units, const AxesVariant& as,
                         bool in_order = false) {
  AxesElements elements;
  if (wide.unit != units.unit) elements.variants.push_back(elements_variant(wide, in_order, as.grouped));
  elements.variants.push_back(elements_variant(units, in_order, as.grouped));
  return elements;
}

// Few rows or columns that are transposed in registers.
bool few_at_vectors(const AxesLines& lines) {
  const auto& skinny = lines.variants.front().choice.skinny;
  return skinny && skinny->few > 0;
}

// Rows of a few hundred bytes: boxes have longer runs, of several of them, where these are whole sectors
// (docs/notes/axes-experiments.md).
bool rows_are_short(const layout::AxisMap& wide) {
  const std::uint64_t row = wide.axes.front().extent;
  const std::uint64_t most_bytes = row % 2 == 0 ? 512 : 256;
  return wide.unit == kAxesVector && row * wide.unit <= most_bytes;
}

// Rows of vectors that stay whole: boxes move them, whatever else (measured: 22 and 32% by lines, 89 and 93
// by boxes).
bool rows_are_wide(const layout::AxisMap& wide) {
  return wide.unit == kAxesVector && wide.axes.front().in == 1;
}

// Small arrays of elements of three bytes, of which a block would hold a few alone: boxes of triples are
// faster.
bool arrays_of_triples(const layout::AxisMap& wide, std::uint64_t element_bytes) {
  constexpr std::uint64_t most_bytes = 8 << 10;
  return element_bytes == 3 && wide.unit == 1 && unit_count(wide.axes) / wide.axes.back().extent > most_bytes;
}

// Small arrays by the widest unit, and by the element's own, where arrays may be aligned to that alone;
// nothing where they are not small, or no batch, or some arrays' alignment would have none.
std::optional<AxesWhole> whole_arrays(const layout::AxisMap& wide, const layout::AxisMap& units,
                                      bool at_units, const AxesVariant& as) {
  AxesWhole whole;
  const auto add = [&](const layout::AxisMap& map) {
    const auto params =
        kernels::make_axes_whole(map.axes, static_cast<int>(map.unit), first_of(map), as.whole_bytes);
    if (params) whole.variants.push_back({.params = *params, .unit_bytes = map.unit});
    return params.has_value();
  };
  if (!add(wide)) return std::nullopt;
  if (at_units && wide.unit != units.unit && !add(units)) return std::nullopt;
  return whole;
}

// Boxes that begin at units, and at vectors where these are those of aligned arrays.
AxesBoxes boxes_of_view(const layout::AxisMap& units, const AxesVariant& variant) {
  const auto variant_of = [&](layout::AxisMap map, bool vectors) {
    if (map.axes.empty()) map.axes.push_back({.extent = 1, .in = 1, .out = 1});  // one unit
    return box_variant(map, vectors, variant);
  };
  const std::uint64_t first_bytes = (first_of(units).in | first_of(units).out) * units.unit;
  AxesBoxes boxes{{variant_of(layout::with_widest_units(units), first_bytes % kAxesVector == 0)}};
  if (boxes.variants.front().alignment > units.unit) boxes.variants.push_back(variant_of(units, false));
  return boxes;
}

// Whether a view's planes lie one after another on both sides: nothing but the rows of a plane is between its
// units of the input, and nothing but its lines between those of the output.
bool lie_together(const std::vector<layout::StridedAxis>& axes, const kernels::AxesLinesParams& plane,
                  std::uint64_t unit) {
  const std::uint64_t in_pitch = size_of(static_cast<std::int64_t>(plane.in_pitch)) / unit;
  const std::uint64_t out_pitch = size_of(static_cast<std::int64_t>(plane.out_pitch)) / unit;
  return std::all_of(axes.begin(), axes.end(), [&](const layout::StridedAxis& axis) {
    return (size_of(axis.in) == 1 || size_of(axis.in) >= in_pitch) &&
           (axis.out == 1 || size_of(axis.out) >= out_pitch);
  });
}

// Lines of a view whose rows are read forwards, or nothing: planes with long sides, as of axes. Elsewhere
// boxes' rows may go on into other axes.
std::optional<AxesLines::Variant> line_of_view(const layout::AxisMap& view, bool anywhere,
                                               const AxesVariant& as) {
  const kernels::AxesLinesOptions options = lines_options(view.unit, anywhere, as);
  const auto choice = make_lines(options, as, [&](const kernels::AxesLinesOptions& by) {
    return kernels::make_view_lines(view.axes, static_cast<int>(view.unit), first_of(view), by);
  });
  if (!choice) return std::nullopt;
  const kernels::AxesLinesParams& p = choice->params;
  const bool is_long = p.steps >= kLongSide && p.columns >= kLongSide;
  const bool apart = has_largest_tiles(*choice) && !lie_together(view.axes, p, view.unit);
  if (!as.lines_only && (!is_long || apart)) return std::nullopt;
  return as_variant(*choice, options, view.unit, anywhere);
}

// Whether threads that count along a view's output read neighbours, which no box joins to more: axes ascend
// in steps on both sides, or the output's fastest has the shortest of the input's, with gaps, or the next to
// few.
bool is_in_order(const layout::AxisMap& map) {
  std::vector<layout::StridedAxis> axes = map.axes;
  if (axes.empty() || axes.front().out != 1 || unit_count(axes) >= 2 * kMostUnits) return false;
  if (front_is_few(axes)) axes.erase(axes.begin());
  const std::uint64_t step = size_of(axes.front().in);
  if (step == 0) return axes.size() == 1;
  if (step == 1) return kernels::steps_ascend(axes);
  return std::all_of(axes.begin(), axes.end(),
                     [&](const auto& axis) { return axis.in == 0 || size_of(axis.in) >= step; });
}

// Whether a map leaves out nothing of either side, and reads forwards.
bool is_all_of_both(const layout::AxisMap& map) {
  return std::all_of(map.axes.begin(), map.axes.end(), [](const auto& axis) { return axis.in > 0; }) &&
         whole(map).has_value();
}

std::optional<AxesLines> lines_of_view(const layout::AxisMap& view, const AxesVariant& as) {
  if (as.boxes_only) return std::nullopt;
  auto aligned = line_of_view(view, false, as);
  if (!aligned) return std::nullopt;
  AxesVariant any = as;  // whatever the first one is long enough for
  any.lines_only = true;
  auto anywhere = line_of_view(view, true, any);
  if (!anywhere) return std::nullopt;
  return AxesLines{{*aligned, *anywhere}};
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
  layout::AxisMap units = layout::unit_axes(axes, element_bytes / unit, batch);
  units.unit = unit;
  const layout::AxisMap wide = layout::with_widest_units(units);
  if (units.axes.size() < 2) return {.form = AxesCopy{unit_count(units.axes) * unit}, .unit_bytes = unit};
  const std::uint64_t wide_count = unit_count(wide.axes);
  const auto by_units = [&]() -> AxesChoice {
    return {.form = elements_of(wide, units, variant), .unit_bytes = unit};
  };
  const bool as_usual = !variant.boxes_only && !variant.lines_only;
  if (variant.elements.value_or(units_are_few(wide_count, wide.unit) && as_usual)) return by_units();
  const bool by_rows = kernels::axes_rows_suit(wide.axes, static_cast<int>(wide.unit)) &&
                       variant.rows.value_or(!rows_are_short(wide));
  if (!by_rows) {
    if (variant.whole.value_or(as_usual && !arrays_of_triples(wide, element_bytes)) &&
        wide.axes.size() >= 3) {
      if (auto whole = whole_arrays(wide, units, variant.alternatives, variant))
        return {.form = *std::move(whole), .unit_bytes = unit};
    }
    AxesLines lines;
    if (variant.lines_only || (!variant.boxes_only && !rows_are_wide(wide))) {
      if (auto first = lines_variant(wide, false, variant)) lines.variants.push_back(*first);
    }
    const bool has_lines = !lines.variants.empty();
    const auto are_complete = [&] { return !variant.alternatives || complete(lines, wide, units, variant); };
    const bool plane = has_lines && lines.variants.front().choice.plane.has_value();
    const bool long_plane =
        plane && shorter_side(wide.axes) >= kLongSide &&
        (!has_largest_tiles(lines.variants.front().choice) || planes_lie_together(wide.axes));
    const bool narrow = wide.unit < kAxesVector / 2;
    const bool few_bytes = as_usual && !variant.elements && bytes_are_few(wide_count, wide.unit);
    const bool may_turn = variant.registers.value_or(as_usual && !variant.grouped);
    const auto or_registers = [&](AxesChoice choice, double price) {
      if (may_turn) choice.registers = cheapest_registers(wide, variant.registers ? kAnyPrice : price);
      return choice;
    };
    const auto by_lines = [&]() -> AxesChoice {
      if (few_bytes && !few_at_vectors(lines)) return by_units();
      const double price = price_of_few(lines, wide.axes);
      return or_registers({.form = std::move(lines), .unit_bytes = unit}, price);
    };
    if (has_lines && (variant.lines_only || (long_plane && narrow)) && are_complete()) return by_lines();
    AxesBoxes boxes{{box_variant(wide, true, variant)}};
    const AxesBoxes::Variant& box = boxes.variants.front();
    if (has_lines && lines_suit(lines, wide.axes, box) && are_complete()) return by_lines();
    const bool countable = unit_count(units.axes) <= kMostUnits;
    if (as_usual && !variant.grouped &&
        ((countable && boxes_are_tiny(box)) || (few_bytes && box.shape.ragged)))
      return few_bytes ? by_units() : or_registers(by_units(), box.box->cost);
    const double price = price_of_boxes(box);
    if (boxes.variants.front().alignment > unit && variant.alternatives)
      boxes.variants.push_back(box_variant(units, false, variant));
    return or_registers({.form = std::move(boxes), .unit_bytes = unit}, price);
  }
  AxesRows rows;
  const auto add = [&rows](const layout::AxisMap& of) {
    rows.variants.push_back(
        {.params = kernels::make_axes_rows_params(of.axes, static_cast<int>(of.unit), 0, 0),
         .unit_bytes = of.unit});
  };
  if (wide.unit != unit) add(wide);
  add(units);
  return {.form = std::move(rows), .unit_bytes = unit};
}

ViewChoice choose_view(const AxisMap& view, std::uint64_t element_bytes, const AxesVariant& variant) {
  const std::uint64_t unit = kernels::units_of_element(element_bytes).unit_bytes;
  layout::AxisMap elements = view;
  elements.unit = element_bytes;
  const layout::AxisMap units = normal_form(unfolded(std::move(elements), element_bytes / unit));
  kernels::check_reach(units.axes, static_cast<int>(unit));
  const layout::AxisMap wide = layout::with_widest_units(units);
  ViewChoice choice;
  std::uint64_t count = 1;
  for (const layout::StridedAxis& axis : units.axes) {
    if (count <= kFewUnits) count *= std::min(axis.extent, kFewUnits + 1);
  }
  if (variant.elements.value_or(units_are_few(count, unit))) {
    choice.elements = elements_of(wide, units, variant);
    return choice;
  }
  choice.rows =
      kernels::make_view_rows(units.axes, static_cast<int>(unit), first_of(units), variant.least_row_bytes);
  constexpr std::uint64_t narrow = 4;  // bytes: rows as small arrays have vectors nevertheless
  if ((!choice.rows || choice.rows->alignment <= narrow) && variant.whole.value_or(true)) {
    choice.whole = whole_arrays(wide, units, true, variant);
    if (choice.whole) return choice;
  }
  if (!choice.rows && variant.elements.value_or(true) && is_in_order(units)) {
    choice.elements = elements_of(wide, units, variant, true);
    return choice;
  }
  const auto turned = layout::read_forwards(units);
  const layout::AxisMap& forwards = turned ? *turned : units;
  if (!choice.rows) {
    choice.lines = lines_of_view(forwards, variant);
    if (choice.lines && unit < kAxesVector / 2) return choice;
  }
  choice.boxes = boxes_of_view(units, variant);
  if (turned) {
    AxesBoxes of_forwards = boxes_of_view(forwards, variant);
    if (of_forwards.variants.front().box->cost < choice.boxes.variants.front().box->cost)
      choice.boxes = std::move(of_forwards);
  }
  if (!choice.lines || variant.lines_only) return choice;
  const bool together = lie_together(forwards.axes, choice.lines->variants.front().choice.params, unit);
  if (boxes_are_ahead(unit, together, choice.boxes.variants.front().shape)) choice.lines.reset();
  return choice;
}

namespace {

AxesElements::Variant quick_elements(const AxisMap& units, std::uintptr_t in, std::uintptr_t out,
                                     bool in_order) {
  const layout::AxisMap wide = layout::with_widest_units(units);
  return elements_variant((in | out) % wide.unit == 0 ? wide : units, in_order, false);
}

// Few elements, or rows, without a kernel where these are not aligned; nothing where it is neither.
std::optional<QuickChoice> elements_or_rows(const AxisMap& units, std::uintptr_t in, std::uintptr_t out) {
  const auto unit = static_cast<int>(units.unit);
  kernels::check_reach(units.axes, unit);
  if (units_are_few(unit_count(units.axes), units.unit)) return quick_elements(units, in, out, false);
  constexpr std::uint64_t least_row_bytes = 128;  // boxes that are searched for join shorter rows than 513
  const auto rows = kernels::make_view_rows(units.axes, unit, first_of(units), least_row_bytes);
  if (!rows) return std::nullopt;
  return (in | out) % rows->alignment == 0 ? QuickChoice(*rows) : QuickChoice();
}

}  // namespace

QuickChoice choose_quick_rows(const AxisMap& units, std::uintptr_t in, std::uintptr_t out) {
  return elements_or_rows(units, in, out).value_or(QuickChoice());
}

QuickChoice choose_quickly(const AxisMap& units, std::uintptr_t in, std::uintptr_t out) {
  if (const auto found = elements_or_rows(units, in, out)) return *found;
  if (!is_all_of_both(units) && is_in_order(units)) return quick_elements(units, in, out, true);
  const auto turned = layout::read_forwards(units);
  const bool aligned = in % kAxesVector == 0 && out % kernels::kLineSector == 0;
  const layout::AxisMap& forwards = turned ? *turned : units;
  if (auto line = line_of_view(forwards, !aligned, {})) return *line;
  const auto suits = [&](const std::optional<AxesLines::Variant>& line) {
    return line && lines_are_filled(line->choice, forwards.axes);
  };
  if (auto plane = line_of_view(forwards, !aligned, {.lines_only = true, .skinny = false}); suits(plane))
    return *plane;
  constexpr std::uint64_t few_side = 8;  // units
  if (units.axes.size() < 2 || !is_all_of_both(units) || shorter_side(units.axes) > few_side)
    return std::monostate();
  if (auto few = lines_variant(units, !aligned, {}); suits(few)) return *few;
  return std::monostate();
}

}  // namespace faro::detail
