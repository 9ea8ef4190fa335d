#include "plan/moved_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "permutation/computed_sides.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/form_to_run.hpp"
#include "plan/planners.hpp"
#include "size_text.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kMostValueBytes = std::uint64_t{1} << 62;
constexpr std::uint64_t kBufferBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kTileBoxBytes = std::uint64_t{128} << 10;  // of a second-level cache
constexpr std::uint64_t kWidestTileUnit = 8;
constexpr std::uint64_t kFewValueBytes = std::uint64_t{128} << 10;  // moved on one thread

std::uint64_t extents_product(const std::vector<std::uint64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

// What a coefficient's values go by: (place / inner) mod extent.
struct PlaceAxis {
  std::uint64_t inner = 1;
  std::uint64_t extent = 1;
};

std::optional<PlaceAxis> place_axis(const Coefficient& of, const std::vector<std::uint64_t>& shape) {
  if (!of.axis) return std::nullopt;
  const auto behind = shape.begin() + static_cast<std::ptrdiff_t>(*of.axis) + 1;
  return PlaceAxis{.inner = extents_product({behind, shape.end()}), .extent = shape[*of.axis]};
}

// --- views

// An axis that reaches over a boundary of the coefficient's becomes two, where that is possible.
std::vector<ValueAxis> split_at(const std::vector<ValueAxis>& axes, std::uint64_t boundary) {
  std::vector<ValueAxis> made;
  for (const ValueAxis& axis : axes) {
    const auto stride = static_cast<std::uint64_t>(std::max<std::int64_t>(axis.strides.out, 1));
    const std::uint64_t inner = boundary / stride;
    const bool splits = axis.strides.out > 0 && boundary % stride == 0 && inner > 1 && inner < axis.extent &&
                        axis.extent % inner == 0;
    if (!splits) {
      made.push_back(axis);
      continue;
    }
    ValueAxis outer{.extent = axis.extent / inner, .strides = axis.strides};
    for (const auto side : {&ValueStrides::in, &ValueStrides::out, &ValueStrides::addend,
                            &ValueStrides::scale, &ValueStrides::offset})
      outer.strides.*side *= static_cast<std::int64_t>(inner);
    made.push_back(outer);
    made.push_back({.extent = inner, .strides = axis.strides});
  }
  return made;
}

// Gives axes the strides by which they go through a coefficient's values. False where some place's value is
// no sum of strides.
bool add_strides(std::vector<ValueAxis>& axes, ValueStrides& first, const PlaceAxis& along,
                 std::int64_t ValueStrides::*side) {
  const std::uint64_t all = along.inner * along.extent;
  axes = split_at(split_at(axes, along.inner), all);
  const auto place = static_cast<std::uint64_t>(first.out);
  std::uint64_t low = place % along.inner;
  std::uint64_t value = place / along.inner % along.extent;
  first.*side = static_cast<std::int64_t>(value);
  for (ValueAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (axis.strides.out <= 0) return false;
    const auto stride = static_cast<std::uint64_t>(axis.strides.out);
    if (stride % all == 0) continue;
    if (stride < along.inner) {
      low += (axis.extent - 1) * stride;
    } else {
      if (stride % along.inner != 0 || stride > all) return false;
      axis.strides.*side = static_cast<std::int64_t>(stride / along.inner);
      value += (axis.extent - 1) * (stride / along.inner);
    }
  }
  return low < along.inner && value < along.extent;
}

// Nothing where factors lie across the axes.
std::optional<ViewsOfValues> views_of_values(const Permutation& form, std::uint64_t batch,
                                             const Arithmetic& arithmetic, const Target& target) {
  ViewsOfValues made;
  for (const Strided& view : views_of(form, batch)) {
    std::vector<ValueAxis> axes;
    for (std::size_t i = 0; i < view.extents.size(); ++i) {
      axes.push_back({.extent = view.extents[i],
                      .strides = {.in = view.in_strides[i],
                                  .out = view.out_strides[i],
                                  .addend = arithmetic.addend ? view.out_strides[i] : 0}});
    }
    ValueStrides first{.in = static_cast<std::int64_t>(view.in_offset),
                       .out = static_cast<std::int64_t>(view.out_offset),
                       .addend = static_cast<std::int64_t>(view.out_offset)};
    for (const auto& [of, side] : {std::pair(&arithmetic.scale, &ValueStrides::scale),
                                   std::pair(&arithmetic.offset, &ValueStrides::offset)}) {
      const auto along = place_axis(*of, arithmetic.shape);
      if (along && !add_strides(axes, first, *along, side)) return std::nullopt;
    }
    made.parts.push_back(on_cpu(make_value_plan(axes, first, arithmetic, target), target));
  }
  return made;
}

// Views of few axes: boxes of many have short rows, and tiles do not.
std::optional<Permutation> as_views(const Permutation& form) {
  constexpr std::size_t kMostAxes = 6;
  if (axis_map(form)) return form;
  const auto* const map = std::get_if<Affine>(&form);
  if (map == nullptr) return std::nullopt;
  auto other = form_of_any_width(*map);
  if (!other) return std::nullopt;
  const auto* const axes = std::get_if<Axes>(&*other);
  if (axes != nullptr && axes->shape().size() > kMostAxes) return std::nullopt;
  return other;
}

// --- tiles

TilesOfValues tiles_of_values(const Affine& given, const MovedValues& values, const Target& target) {
  const std::uint64_t width = values.moved_width();
  TilesOfValues made;
  made.vector_bytes = target.vector_bytes;
  made.unit_bytes = std::min<std::uint64_t>(width, kWidestTileUnit);
  made.unit_bits_per_element = log2_floor(width / made.unit_bytes);
  const Affine map = direct_sum(Affine(made.unit_bits_per_element), given);
  const int unit_bits = log2_floor(made.unit_bytes);
  const Work work{.map = map, .unit_bits = unit_bits};
  const int most = log2_floor(kTileBoxBytes) - unit_bits;
  const int vector = vector_bits(work, target);
  const auto fits = [&](int bits) { return bits <= map.bits() && layout::tile_box_bits(map, bits) <= most; };
  int row_bits = vector;
  while (fits(row_bits + 1)) ++row_bits;
  const int capacity = log2_floor(target.tile_bytes_max) - unit_bits;
  const int segment = longest_segment_bits(map, unit_bits, vector, capacity, target);
  made.box = layout::make_tile_box(
      map, {.segment_bits = std::min(segment, row_bits),
            .row_bits = row_bits,
            .side = values.side == ConvertedSide::read ? layout::BoxSide::source : layout::BoxSide::target});
  made.pass = make_pass(PassKind::tile, map, unit_bits, 1, made.unit_bytes << made.box.tile.segment_bits);
  made.pass.tile = made.box.tile;
  return made;
}

// --- passes

// What the passes are made for, beside the permutation.
struct PassesFor {
  const MovedValues& values;
  const Target& target;
  IndexChoice choice = {};
  Placement placement = Placement::out_of_place;
};

Plan plan_of(const Permutation& form, std::uint64_t arrays, const PassesFor& to) {
  const Problem problem{.permutation = form,
                        .element_bytes = to.values.moved_width(),
                        .batch = arrays,
                        .placement = to.placement};
  if (!std::holds_alternative<Indexed>(form)) return Plan(problem, to.target);
  // It was recognised as nothing that has passes of its own.
  Recognition as_given;
  as_given.permutation = form;
  return Plan(problem, to.target, as_given, to.choice);
}

// The side on which the loop of the passes converts best; nothing where either is as good.
std::optional<ConvertedSide> side_of(const Plan& plan) {
  if (plan.passes().empty()) return std::nullopt;
  const CpuKernel& kernel = plan.passes().front().cpu->kernel;
  // Rows of the input are as short as those of the output, and to convert is more than to move one by one.
  if (std::holds_alternative<CpuModular>(kernel)) return ConvertedSide::read;
  if (const auto* const entries = std::get_if<CpuEntries>(&kernel))
    return entries->way == Way::forwards ? ConvertedSide::read : ConvertedSide::written;
  if (const auto* const computed = std::get_if<CpuComputed>(&kernel)) {
    const bool reads = computed->tiles != nullptr && is_ordered_side(computed->map, ComputedSide::input);
    return reads ? ConvertedSide::read : ConvertedSide::written;
  }
  return std::nullopt;
}

Plan plan_of_passes(const Permutation& form, MovedValues& values, bool must_write, const PassesFor& to) {
  Plan plan = plan_of(form, 1, to);
  const auto side = side_of(plan);
  if (!side || *side == values.side) return plan;
  const auto* const indexed = std::get_if<Indexed>(&form);
  if (must_write && indexed != nullptr) return plan_of(indexed->redirected(Direction::gather), 1, to);
  if (must_write) return plan;  // also a computed map's, whose places come one by one then
  values.side = *side;
  return plan_of(form, 1, to);
}

bool converts(const Pass& pass) {
  const CpuKernel& kernel = pass.cpu->kernel;
  return std::holds_alternative<CpuEntries>(kernel) || std::holds_alternative<CpuModular>(kernel) ||
         std::holds_alternative<CpuComputed>(kernel) || std::holds_alternative<CpuLevel>(kernel) ||
         std::holds_alternative<CpuChunks>(kernel);
}

PassesOfValues passes_of_values(const Permutation& form, MovedValues& values, bool must_write,
                                const PassesFor& to) {
  PassesOfValues made{.plan = plan_of_passes(form, values, must_write, to)};
  const std::vector<Pass>& passes = made.plan.passes();
  if (!std::all_of(passes.begin(), passes.end(), converts))
    fail(ErrorCode::unsupported, "plan", "this method with arithmetic", "direct or partition");
  // Its rows begin anywhere, and are short.
  if (std::holds_alternative<CpuModular>(passes.front().cpu->kernel)) values.streamed = false;
  const bool keeps_out = values.side == ConvertedSide::written &&
                         (values.arithmetic.addend || values.moved_width() != bytes_of(values.arithmetic.to));
  const bool writes_out = std::any_of(passes.begin(), passes.end() - 1,
                                      [](const Pass& pass) { return pass.target == PassBuffer::output; });
  if (keeps_out && writes_out) made.between_bytes = values.count * values.moved_width();
  return made;
}

BufferOfValues buffer_of_values(const Permutation& form, const MovedValues& values, const Target& target) {
  Target alone = target;
  alone.threads = 1;
  const PassesFor to{.values = values, .target = alone};
  const std::uint64_t array_bytes = std::max<std::uint64_t>(values.count * values.moved_width(), 1);
  const std::uint64_t arrays = std::min(values.batch, std::max<std::uint64_t>(kBufferBytes / array_bytes, 1));
  BufferOfValues made{.plan = plan_of(form, arrays, to), .arrays = arrays};
  if (const std::uint64_t rest = values.batch % arrays; rest != 0) made.rest = plan_of(form, rest, to);
  return made;
}

// --- what is asked for

void check_moved(const Problem& problem, const Arithmetic& arithmetic) {
  if (is_no_permutation(problem.permutation)) {
    fail(ErrorCode::value, "plan", "a problem without a permutation", "Problem::permutation",
         "faro::maps has them by name, faro::parse_permutation by their text");
  }
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed != nullptr && !indexed->on_host())
    fail(ErrorCode::unsupported, "plan", "arithmetic by an index array on a device", "one of the host",
         "cuda::to_host() fetches it");
  if (arithmetic.addend && !arithmetic.addend->strides.empty())
    fail(ErrorCode::value, "plan", "strides of an added array",
         "none: it lies as the output of a permutation", "views have them");
  if (problem.placement == Placement::in_place && bytes_of(arithmetic.from) != bytes_of(arithmetic.to)) {
    fail(ErrorCode::value, "plan",
         fmt::format("{} to {} in place", name(arithmetic.from), name(arithmetic.to)),
         "types of one width, or a second array for the result");
  }
}

void check_bytes(const MovedValues& values) {
  const std::uint64_t widest = std::max(bytes_of(values.arithmetic.from), bytes_of(values.arithmetic.to));
  if (values.count != 0 && values.batch > kMostValueBytes / widest / values.count)
    fail(ErrorCode::value, "plan", fmt::format("{} arrays of {} numbers", values.batch, values.count),
         "arrays of at most 2^62 bytes");
}

void check_output_shape(const MovedValues& values) {
  const std::vector<std::uint64_t>& shape = values.arithmetic.shape;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) count = ~std::uint64_t{0};
  }
  if (count == values.numbers()) return;
  fail(ErrorCode::value, "plan",
       fmt::format("an output of shape {} for {} numbers", fmt::join(shape, " x "), values.numbers()),
       fmt::format("a shape of {}", values.numbers()));
}

// Where something is added, or a factor differs along the output.
bool must_be_written(const Arithmetic& arithmetic) {
  return arithmetic.addend || arithmetic.scale.axis || arithmetic.offset.axis;
}

// All but the way, and the side for ways that have a choice.
MovedValues asked_values(const Problem& problem, const Arithmetic& arithmetic, const Target& target) {
  check_moved(problem, arithmetic);
  MovedValues values;
  values.arithmetic = arithmetic;
  values.count = element_count(problem.permutation);
  values.batch = problem.batch;
  check_bytes(values);
  if (values.arithmetic.shape.empty()) values.arithmetic.shape = {values.numbers()};
  check_output_shape(values);
  check(arithmetic, values.arithmetic.shape);
  const bool widens = bytes_of(arithmetic.to) > bytes_of(arithmetic.from);
  values.side = !widens && !must_be_written(arithmetic) ? ConvertedSide::read : ConvertedSide::written;
  values.threads = values.read_bytes() + values.written_bytes() < kFewValueBytes ? 1 : target.threads;
  values.streamed = values.written_bytes() > target.streaming_bytes;
  return values;
}

std::string told_way(const ViewsOfValues& way) {
  std::string text;
  for (const ValuePlan& part : way.parts) {
    const std::string told = part.explain();
    text += told.substr(std::min(told.find("boxes"), told.size()));
  }
  return text;
}
std::string told_way(const PlacesOfValues&) {
  return "places          each by itself, for factors lie across the axes\n";
}
std::string told_way(const TilesOfValues& way) {
  const layout::TileBox& box = way.box;
  const int element = way.unit_bits_per_element;
  return fmt::format("boxes           2^{} of 2^{} numbers, in rows of 2^{}, by tiles of {}\n",
                     box.source.boxes.size(), box.box_bits() - element, box.row_bits - element,
                     size_text(way.unit_bytes << box.tile.tile_bits()));
}
std::string told_way(const PassesOfValues& way) {
  std::string text;
  for (const Pass& pass : way.plan.passes())
    text += fmt::format("pass            {}: {}\n", name(pass.kind), pass.what);
  const std::uint64_t bytes = way.plan.workspace_bytes() + way.between_bytes;
  if (bytes != 0) text += fmt::format("memory          {} beside the arrays\n", size_text(bytes));
  return text;
}
std::string told_way(const BufferOfValues& way) {
  return fmt::format("by way of       a buffer in the cache, {} at a time\n",
                     count_text(way.arrays, "array"));
}
std::string told_way(const ValuesInPlace&) {
  return "in place        moved first, and then converted by another sweep\n";
}

}  // namespace

std::uint64_t MovedValues::read_bytes() const {
  const std::uint64_t addend = arithmetic.addend ? bytes_of(arithmetic.addend->number) : 0;
  return numbers() * (bytes_of(arithmetic.from) + addend);
}
std::uint64_t MovedValues::written_bytes() const { return numbers() * bytes_of(arithmetic.to); }

MovedValues make_moved_values(const Problem& problem, const Arithmetic& arithmetic, const Target& target,
                              const IndexChoice& choice) {
  MovedValues values = asked_values(problem, arithmetic, target);
  if (values.numbers() == 0) return values;
  if (problem.placement == Placement::in_place) {
    values.streamed = false;
    values.way = ValuesInPlace{
        plan_of(problem.permutation, problem.batch,
                {.values = values, .target = target, .choice = choice, .placement = Placement::in_place})};
    return values;
  }
  const Permutation form = normal_form(problem.permutation, target.threads);
  if (const auto axes = as_views(form)) {
    if (auto views = views_of_values(*axes, values.batch, values.arithmetic, target)) {
      values.way = *std::move(views);
    } else {
      values.way = PlacesOfValues{inverse(*axes)};
    }
    return values;
  }
  if (choice.empty() && values.count * values.moved_width() <= kBufferBytes) {
    values.way = buffer_of_values(form, values, target);
    return values;
  }
  if (const auto* const map = std::get_if<Affine>(&form)) {
    values.way = tiles_of_values(*map, values, target);
    return values;
  }
  values.way = passes_of_values(form, values, must_be_written(arithmetic),
                                {.values = values, .target = target, .choice = choice});
  return values;
}

std::optional<MovedValues> make_moved_views(const Problem& problem, const Arithmetic& arithmetic,
                                            const Target& target) {
  MovedValues values = asked_values(problem, arithmetic, target);
  if (values.numbers() == 0) return values;
  if (problem.placement == Placement::in_place) return std::nullopt;
  const auto axes = as_views(normal_form(problem.permutation, target.threads));
  auto views = axes ? views_of_values(*axes, values.batch, values.arithmetic, target) : std::nullopt;
  if (!views) return std::nullopt;
  values.way = *std::move(views);
  return values;
}

std::string MovedValues::explain() const {
  std::string text = told_arithmetic(arithmetic, numbers(), read_bytes(), written_bytes());
  if (numbers() == 0) return text;
  text += std::visit([](const auto& each) { return told_way(each); }, way);
  if (std::holds_alternative<ViewsOfValues>(way) || std::holds_alternative<ValuesInPlace>(way)) return text;
  return text + fmt::format("converted       as they are {}{}\n",
                            side == ConvertedSide::read ? "read" : "written",
                            streamed ? ", past the caches" : "");
}

}  // namespace faro::detail
