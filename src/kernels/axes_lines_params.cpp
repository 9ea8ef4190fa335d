#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "faro/error.hpp"
#include "kernels/axes_lines_banks.hpp"
#include "kernels/axes_params.hpp"
#include "rounding.hpp"

namespace faro::kernels {
namespace {

using faro::detail::ceil_div;
using faro::detail::round_up;

constexpr std::uint64_t kUsualTileBytes = 32 << 10;
constexpr std::uint64_t kSkinnyTileBytes = 16 << 10;
// The bytes of a band's tiles in one line: those in the next lines still find its sectors in the second-level
// cache.
constexpr std::uint64_t kBandBytes = 8 << 20;
// Tiles are numbered, and their numbers divided, with 31 bits.
constexpr std::uint64_t kMostNumbered = std::uint64_t{1} << 31;

// The two axes that change places, in units; all others are the planes' own numbers.
struct Plane {
  std::size_t row_axis = 0;  // the output's fastest, but for the elements'
  std::size_t column_axis = 0;
  std::uint64_t element_units = 1;
  std::uint64_t unit_bytes = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t in_pitch = 0;  // bytes
  std::uint64_t out_pitch = 0;

  std::uint64_t element_bytes() const { return element_units * unit_bytes; }
  std::uint64_t row_bytes() const { return columns * element_bytes(); }
  std::uint64_t line_bytes() const { return rows * element_bytes(); }
};

std::optional<Plane> plane_of(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit_bytes) {
  const bool stays = axes.front().in == 1;
  if (stays && axes.size() < 3) return std::nullopt;
  Plane plane;
  plane.unit_bytes = unit_bytes;
  plane.element_units = stays ? axes.front().extent : 1;
  plane.row_axis = stays ? 1 : 0;
  const auto is_column = [&](const layout::StridedAxis& axis) {
    return axis.in == static_cast<std::int64_t>(plane.element_units);
  };
  plane.column_axis = static_cast<std::size_t>(
      std::find_if(axes.begin() + (stays ? 1 : 0), axes.end(), is_column) - axes.begin());
  if (plane.row_axis == plane.column_axis) return std::nullopt;
  const layout::StridedAxis& row = axes[plane.row_axis];
  const layout::StridedAxis& column = axes[plane.column_axis];
  plane.rows = row.extent;
  plane.columns = column.extent;
  plane.in_pitch = static_cast<std::uint64_t>(row.in) * unit_bytes;
  plane.out_pitch = static_cast<std::uint64_t>(column.out) * unit_bytes;
  return plane;
}

// A transpose as both kinds of axes give it: all others are the planes' own numbers, the output's fastest
// first.
struct LinesWork {
  struct Axis {
    std::uint64_t extent = 1;
    std::uint64_t in_step = 0;  // bytes, modulo 2^64
    std::uint64_t out_step = 0;
  };
  Plane plane;
  std::vector<Axis> others = {};
  ArrayBytes in{};  // what is reached of the arrays
  ArrayBytes out{};
  std::uint64_t in_first = 0;  // from their begin
  std::uint64_t out_first = 0;
  std::uint64_t moved_bytes = 0;
};

LinesWork work_of(const std::vector<layout::StridedAxis>& axes, const Plane& plane) {
  const std::uint64_t bytes = faro::detail::unit_count(axes) * plane.unit_bytes;
  LinesWork work{.plane = plane};
  work.in = work.out = {.begin = 0, .end = bytes};
  work.moved_bytes = bytes;
  for (std::size_t a = plane.element_units == 1 ? 0 : 1; a < axes.size(); ++a) {
    if (a == plane.row_axis || a == plane.column_axis) continue;
    work.others.push_back({.extent = axes[a].extent,
                           .in_step = static_cast<std::uint64_t>(axes[a].in) * plane.unit_bytes,
                           .out_step = static_cast<std::uint64_t>(axes[a].out) * plane.unit_bytes});
  }
  return work;
}

// What a side of a view reaches beyond its first unit, on both sides, in bytes.
struct Reach {
  std::uint64_t before = 0;
  std::uint64_t behind = 0;
};

template <typename StrideOf>
Reach reach_of(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit_bytes,
               const StrideOf& stride) {
  Reach reach{.before = 0, .behind = unit_bytes};
  for (const layout::StridedAxis& axis : axes) {
    const std::int64_t step = stride(axis);
    const auto size = static_cast<std::uint64_t>(step < 0 ? -step : step);
    (step < 0 ? reach.before : reach.behind) += (axis.extent - 1) * size * unit_bytes;
  }
  return reach;
}

// A view whose rows are read forwards, unit by unit, and whose lines are written so. Nothing where it is
// none, or the input has stride 0 along an axis: boxes read what is repeated once.
std::optional<LinesWork> work_of(const std::vector<layout::StridedAxis>& axes, std::uint64_t unit_bytes,
                                 const ViewFirst& first) {
  if (axes.size() < 2 || axes.size() > kMostAxes || axes.front().out != 1) return std::nullopt;
  LinesWork work;
  Plane& plane = work.plane;
  plane.unit_bytes = unit_bytes;
  const auto column =
      std::find_if(axes.begin() + 1, axes.end(), [](const auto& axis) { return axis.in == 1; });
  if (column == axes.end()) return std::nullopt;
  plane.column_axis = static_cast<std::size_t>(column - axes.begin());
  const auto bytes = [&](std::int64_t units) { return static_cast<std::uint64_t>(units) * unit_bytes; };
  plane.rows = axes.front().extent;
  plane.columns = column->extent;
  plane.in_pitch = bytes(axes.front().in);
  plane.out_pitch = bytes(column->out);
  work.moved_bytes = unit_bytes;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].in == 0) return std::nullopt;
    work.moved_bytes *= axes[a].extent;
    if (a == plane.row_axis || a == plane.column_axis) continue;
    work.others.push_back(
        {.extent = axes[a].extent, .in_step = bytes(axes[a].in), .out_step = bytes(axes[a].out)});
  }
  const Reach in = reach_of(axes, unit_bytes, [](const auto& axis) { return axis.in; });
  const Reach out = reach_of(axes, unit_bytes, [](const auto& axis) { return axis.out; });
  const std::uint64_t in_at = first.in * unit_bytes;
  const std::uint64_t out_at = first.out * unit_bytes;
  work.in = {.begin = in_at - in.before, .end = in_at + in.behind};
  work.out = {.begin = out_at - out.before, .end = out_at + out.behind};
  work.in_first = in.before;
  work.out_first = out.before;
  return work;
}

// Whether few rows or columns are moved as a stretch.
bool skinny_suits(const Plane& plane, const AxesLinesOptions& options) {
  return options.skinny && plane.element_units == 1 &&
         plane.unit_bytes < static_cast<std::uint64_t>(kMovedBytes);
}

std::optional<AxesLinesForm> form_of(const Plane& plane, const AxesLinesOptions& options) {
  const std::uint64_t few = std::clamp<std::uint64_t>(64 * plane.unit_bytes, 128, 256);
  // So many rows are read 128 bytes at a time, 256 of 8-byte units.
  const std::uint64_t few_rows = plane.unit_bytes == 8 ? 64 : plane.unit_bytes == 4 ? 128 : 256;
  constexpr std::uint64_t least_plane = 128;
  constexpr std::uint64_t least_long = 512;
  constexpr std::uint64_t most_element = 64;
  if (plane.element_bytes() > most_element) return std::nullopt;
  const bool rows_follow = plane.in_pitch == plane.row_bytes();
  const bool lines_follow = plane.out_pitch == plane.line_bytes();
  if (plane.row_bytes() < few && rows_follow && plane.line_bytes() >= least_long) {
    return AxesLinesForm::few_columns;
  }
  const bool few_lines = skinny_suits(plane, options) ? plane.rows <= few_rows : plane.line_bytes() < few;
  if (few_lines && lines_follow && plane.row_bytes() >= least_long && plane.element_units == 1) {
    return AxesLinesForm::few_rows;
  }
  // Elements of several units have their lines' ends stored unit by unit, which short lines do not bear.
  const std::uint64_t least = plane.element_units == 1 ? least_plane : least_long;
  if (plane.row_bytes() >= least && plane.line_bytes() >= least) return AxesLinesForm::plane;
  return std::nullopt;
}

// What a tile's side adds to the bytes that are read: a sector more where it begins anywhere, and, at half
// the price, idle lanes where it ends beyond the plane.
double side_cost(std::uint64_t bytes, int tile_bytes) {
  const auto side = static_cast<double>(tile_bytes);
  const double tiles = std::ceil(static_cast<double>(bytes) / side);
  return std::sqrt(tiles * side / static_cast<double>(bytes)) * (1 + static_cast<double>(kLineSector) / side);
}

// The cheapest of those that rows and lines fill, and of which the array has many; else the smallest.
AxesPlaneShape shape_of(const Plane& plane, std::span<const AxesPlaneShape> all, std::uint64_t bytes,
                        std::optional<int> index) {
  std::vector<AxesPlaneShape> shapes;
  for (const AxesPlaneShape& shape : all) {
    if (static_cast<std::uint64_t>(shape.unit_bytes) == plane.unit_bytes) shapes.push_back(shape);
  }
  if (index)
    return shapes[static_cast<std::size_t>(std::clamp(*index, 0, static_cast<int>(shapes.size()) - 1))];
  constexpr std::uint64_t usual_bytes = 32 << 10;
  constexpr std::uint64_t many = 1024;
  std::optional<AxesPlaneShape> found;
  double least = std::numeric_limits<double>::infinity();
  for (const AxesPlaneShape& shape : shapes) {
    const auto row_bytes = static_cast<std::uint64_t>(shape.row_bytes);
    const auto line_bytes = static_cast<std::uint64_t>(shape.line_bytes);
    const std::uint64_t tile_bytes = row_bytes * line_bytes / plane.unit_bytes;
    if (row_bytes > plane.row_bytes() || line_bytes > plane.line_bytes()) continue;
    if (tile_bytes > usual_bytes && bytes / tile_bytes < many) continue;
    const double cost =
        side_cost(plane.row_bytes(), shape.row_bytes) * side_cost(plane.line_bytes(), shape.line_bytes);
    if (cost >= least) continue;
    least = cost;
    found = shape;
  }
  if (found) return *found;
  return *std::min_element(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) {
    return a.row_bytes * a.line_bytes < b.row_bytes * b.line_bytes;
  });
}

// All steps between rows and between lines, beginnings included, by OR: what divides them divides each.
struct Steps {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

// The axes that are neither rows nor columns. Returns how many planes they number; number_tiles() refuses
// what is more than their divisions take.
std::uint64_t add_axes(AxesLinesParams& p, const LinesWork& work, Steps& steps) {
  std::uint64_t planes = 1;
  for (const LinesWork::Axis& axis : work.others) {
    const std::uint64_t divisor = std::min(axis.extent, kMostNumbered - 1);
    p.axis[p.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(divisor)),
                        .in_step = axis.in_step,
                        .out_step = axis.out_step};
    steps.in |= axis.in_step;
    steps.out |= axis.out_step;
    planes *= axis.extent;
  }
  return planes;
}

// Chooses one of the two kernels for planes, and one of its shapes.
void choose_plane(AxesLinesChoice& choice, const Plane& plane, const Steps& steps, std::uint64_t bytes,
                  const AxesLinesOptions& options) {
  const bool by_vectors = steps.in % kMovedBytes == 0;
  const bool easy = by_vectors && (plane.unit_bytes >= 4 || steps.out % kLineSector == 0);
  const bool wide = plane.unit_bytes == static_cast<std::uint64_t>(kMovedBytes);
  choice.turned = !wide && options.turned.value_or(plane.unit_bytes == 1 || !easy);
  const std::uint64_t word = std::max<std::uint64_t>(4, plane.unit_bytes);
  choice.aligned = choice.turned ? steps.in % word == 0 : by_vectors;
  choice.plane = choice.turned ? shape_of(plane, kAxesTurnedShapes, bytes, options.plane_shape)
                               : shape_of(plane, kAxesPlaneShapes, bytes, options.plane_shape);
}

std::uint32_t turned_pitch(const AxesPlaneShape& shape) {
  const auto vectors = (static_cast<std::uint32_t>(shape.line_bytes) + kLineSector) / kMovedBytes;
  return static_cast<std::uint32_t>(vectors | 1) * kMovedBytes;
}

// How much a tile has of a line and of a row.
struct TileSizes {
  std::uint64_t steps = 0;
  std::uint64_t columns = 1;
};

// Whole chunks of a row, or of a line, of a stretch.
std::uint64_t chunk_bytes(const Plane& plane) { return 32 * std::max<std::uint64_t>(4, plane.unit_bytes); }

// Whether few rows or columns go by vectors: nothing but the stretch begins between them. `between`: steps
// from plane to plane, and how far the arrays begin past a vector, by OR.
bool few_vectors_suit(const Plane& plane, AxesLinesForm form, std::uint64_t between,
                      const AxesLinesOptions& options) {
  constexpr auto vector = static_cast<std::uint64_t>(kMovedBytes);
  const bool by_rows = form == AxesLinesForm::few_rows;
  const std::uint64_t few = by_rows ? plane.rows : plane.columns;
  const std::uint64_t along =
      by_rows ? plane.row_bytes() | plane.in_pitch : plane.line_bytes() | plane.out_pitch;
  return options.few_vectors && plane.unit_bytes <= 2 && few >= kLeastFewVectors && few <= kMostFewVectors &&
         (along | between) % vector == 0;
}

// A vector of each row a thread, once or several times.
TileSizes few_vectors_sizes(const Plane& plane, AxesLinesForm form, std::uint64_t tile_bytes) {
  const bool by_rows = form == AxesLinesForm::few_rows;
  const std::uint64_t few = by_rows ? plane.rows : plane.columns;
  constexpr std::uint64_t round_bytes = std::uint64_t{kAxesSkinnyThreads} * kMovedBytes;
  const std::uint64_t rounds = std::max<std::uint64_t>(tile_bytes / (few * round_bytes), 1);
  return {.steps = rounds * round_bytes / plane.unit_bytes, .columns = by_rows ? 1 : plane.columns};
}

// Bytes of a tile of few rows or columns. Rows are read 512 bytes at a time, as far as that many fit; a
// block's warps have 32 parts under way at a time, so that some more than 32 want more parts of each row. By
// 26 arrays of an H200: 37 rows of 4 bytes reach 77% in tiles of 16 KiB, 88 in tiles of 32 and 92 in tiles of
// 56, 53 rows 79, 95 and 92.
std::uint64_t skinny_tile_bytes(const Plane& plane, AxesLinesForm form) {
  constexpr std::uint64_t part = 512;
  constexpr std::uint64_t large = 32 << 10;
  constexpr std::uint64_t largest = 56 << 10;
  constexpr std::uint64_t few = 8;
  constexpr std::uint64_t together = 32;
  const std::uint64_t rows = plane.rows;
  if (form != AxesLinesForm::few_rows || plane.unit_bytes > 4 || rows * part > large) return kSkinnyTileBytes;
  if (plane.unit_bytes < 4) return rows > together ? large : kSkinnyTileBytes;
  if (rows <= few) return kSkinnyTileBytes;
  return rows > together && rows < together * 8 / 5 ? largest : large;
}

TileSizes skinny_sizes(const Plane& plane, AxesLinesForm form, std::uint64_t tile_bytes) {
  const bool by_rows = form == AxesLinesForm::few_rows;
  const std::uint64_t chunk = chunk_bytes(plane);
  const std::uint64_t chunks = tile_bytes / (by_rows ? plane.rows : plane.columns) / chunk;
  const std::uint64_t whole = chunks < 4 ? std::max<std::uint64_t>(chunks, 1) : (chunks + 1) / 4 * 4;
  return {.steps = whole * chunk / plane.unit_bytes, .columns = by_rows ? 1 : plane.columns};
}

TileSizes sizes_of(const Plane& plane, AxesLinesForm form, const std::optional<AxesPlaneShape>& shape) {
  const auto sectors = [](std::uint64_t bytes) { return kLineSector / std::gcd(kLineSector, bytes); };
  if (shape) {
    return {.steps = static_cast<std::uint64_t>(shape->steps()),
            .columns = static_cast<std::uint64_t>(shape->columns())};
  }
  const std::uint64_t element = plane.element_bytes();
  if (form == AxesLinesForm::few_columns) {
    const std::uint64_t wanted = kUsualTileBytes / plane.row_bytes();
    return {.steps = round_up(std::max<std::uint64_t>(wanted, 1), sectors(element)),
            .columns = plane.columns};
  }
  if (form == AxesLinesForm::few_rows) {
    const std::uint64_t wanted = kUsualTileBytes / plane.line_bytes();
    return {.steps = round_up(std::max<std::uint64_t>(wanted, 1), sectors(plane.line_bytes())), .columns = 1};
  }
  constexpr std::uint64_t side_bytes = 384;
  return {.steps = round_up(ceil_div(side_bytes, element), sectors(element)),
          .columns = ceil_div(side_bytes, element)};
}

// False where there are too many.
bool number_tiles(AxesLinesParams& p, std::uint64_t along, std::uint64_t across, std::uint64_t planes,
                  std::uint64_t band) {
  constexpr std::uint64_t most = kMostNumbered;
  if (along >= most || across >= most || planes >= most || along * across >= most ||
      along * across * planes >= most) {
    return false;
  }
  const auto division = [](std::uint64_t by) { return device::Division32(static_cast<std::uint32_t>(by)); };
  const std::uint64_t whole = std::min(along, band);
  const std::uint64_t bands = ceil_div(along, whole);
  p.bands = static_cast<std::uint32_t>(bands);
  p.band = division(whole);
  p.last_band = division(along - (bands - 1) * whole);
  p.band_tiles = division(whole * across);
  p.plane_tiles = division(along * across);
  p.tiles = along * across * planes;
  return true;
}

// The same of one that goes by vectors.
void choose_few_vectors(AxesLinesChoice& choice, const Plane& plane, std::uint64_t steps) {
  AxesLinesParams& p = choice.params;
  const bool by_rows = p.form == AxesLinesForm::few_rows;
  const std::uint64_t few = by_rows ? plane.rows : plane.columns;
  choice.skinny = AxesSkinnyShape{.unit_bytes = static_cast<int>(plane.unit_bytes),
                                  .by_rows = by_rows,
                                  .exchanged = few % 2 == 0,
                                  .few = static_cast<int>(few)};
  // Vectors of a line of banks exchange places by the line's number, for 6 by that of a pair of lines: what
  // eight lanes access is in one bank each, or two.
  p.exchange = {.shift = few == 6 ? 4U : 3U, .mask = few % 2 == 0 ? 0x70U : 0};
  p.pitch = 0;
  p.shared_bytes = static_cast<std::uint32_t>(steps * plane.unit_bytes * few);
}

// Where the stretch is in shared memory, and which kernel moves it.
void choose_skinny(AxesLinesChoice& choice, const Plane& plane, std::uint64_t most_steps) {
  AxesLinesParams& p = choice.params;
  const bool by_rows = p.form == AxesLinesForm::few_rows;
  const std::uint64_t word = std::max<std::uint64_t>(4, plane.unit_bytes);
  const std::uint64_t few = by_rows ? plane.rows : plane.columns;
  const std::uint64_t side_bytes = by_rows ? most_steps * plane.unit_bytes : p.tile_bytes;
  const std::uint64_t chunks = ceil_div(side_bytes, chunk_bytes(plane));
  AxesSkinnyShape shape{.unit_bytes = static_cast<int>(plane.unit_bytes),
                        .by_rows = by_rows,
                        .exchanged = false,
                        .chunks = by_rows && chunks < 8 && chunks % 4 != 0 ? 1 : 4};
  const auto parts = static_cast<std::uint32_t>(ceil_div(chunks, static_cast<std::uint64_t>(shape.chunks)));
  p.row_slots = p.line_slots = device::Division32(parts);
  // What precedes a tile in its rows' words, and what follows it.
  const std::uint64_t others = by_rows && word > plane.unit_bytes ? word * few : 0;
  p.pitch = static_cast<std::uint32_t>(round_up(others, kMovedBytes));
  constexpr std::uint32_t line_of_banks = 128;
  p.shared_bytes = static_cast<std::uint32_t>(
      round_up(p.pitch + kLineSector + most_steps * plane.unit_bytes * few + others, line_of_banks));
  if (by_rows && skinny_copied(shape) && word > plane.unit_bytes)  // words that wait
    p.shared_bytes +=
        static_cast<std::uint32_t>(few) * parts * static_cast<std::uint32_t>(shape.chunks) * line_of_banks;
  choice.skinny = choose_skinny_banks(p, shape);
}

std::optional<AxesLinesChoice> make_lines(const LinesWork& work, AxesLinesForm form,
                                          const AxesLinesOptions& options) {
  const Plane& plane = work.plane;
  const std::uint64_t unit = plane.unit_bytes;
  AxesLinesChoice choice{};
  AxesLinesParams& p = choice.params;
  const bool by_columns = form == AxesLinesForm::few_rows;
  p.form = form;
  p.in = {.begin = options.in_skew + work.in.begin, .end = options.in_skew + work.in.end};
  p.out = {.begin = options.out_skew + work.out.begin, .end = options.out_skew + work.out.end};
  p.in_first = work.in_first;
  p.out_first = work.out_first;
  // Where each side begins past a vector or sector: the skew, and the view's own.
  Steps steps{.in = options.in_skew | (work.in.begin + work.in_first),
              .out = options.out_skew | (work.out.begin + work.out_first)};
  const std::uint64_t planes = add_axes(p, work, steps);
  const bool skinny = form != AxesLinesForm::plane && skinny_suits(plane, options);
  const bool by_few = skinny && few_vectors_suit(plane, form, steps.in | steps.out, options);
  // Rows end with whole words or vectors, too: padded ones may not.
  steps.in |= plane.in_pitch | (form == AxesLinesForm::plane ? plane.row_bytes() : 0);
  steps.out |= by_columns ? 0 : plane.out_pitch;
  const std::uint64_t ragged = by_few || steps.out % kLineSector == 0 ? 0 : kLineSector - unit;
  if (form == AxesLinesForm::plane && plane.element_units == 1) {
    choose_plane(choice, plane, steps, work.moved_bytes, options);
  }
  const std::uint64_t skinny_bytes =
      options.skinny_bytes == 0 ? skinny_tile_bytes(plane, form) : options.skinny_bytes;
  const TileSizes tile = by_few   ? few_vectors_sizes(plane, form, skinny_bytes)
                         : skinny ? skinny_sizes(plane, form, skinny_bytes)
                                  : sizes_of(plane, form, choice.plane);
  const std::uint64_t element = plane.element_bytes();
  const std::uint64_t in_line = by_columns ? plane.line_bytes() : element;  // of a step

  p.steps = by_columns ? plane.columns : plane.rows;
  p.columns = by_columns ? 1 : plane.columns;
  p.in_pitch = plane.in_pitch;
  p.out_pitch = plane.out_pitch;
  p.line_bytes = by_columns ? plane.line_bytes() * plane.columns : plane.line_bytes();
  p.step_bytes = by_columns ? element : plane.in_pitch;
  p.rows = by_columns ? static_cast<std::uint32_t>(plane.rows) : 1;
  p.line_step_bytes = static_cast<std::uint32_t>(in_line);
  p.element_bytes = static_cast<std::uint32_t>(element);
  p.tile_steps = static_cast<std::uint32_t>(tile.steps);
  p.tile_columns = static_cast<std::uint32_t>(tile.columns);
  p.tile_bytes = static_cast<std::uint32_t>(tile.steps * in_line);
  // Transposed in whole groups of rows, the halo is a group as well.
  p.halo = static_cast<std::uint32_t>(choice.turned && ragged > 0 ? kLineSector / unit
                                                                  : ceil_div(ragged, in_line));
  const std::uint64_t along = ceil_div(p.line_bytes + ragged, p.tile_bytes);
  const std::uint64_t across = ceil_div(p.columns, tile.columns);
  const std::uint64_t most_band =
      std::max<std::uint64_t>(kBandBytes / (std::uint64_t{p.tile_bytes} * tile.columns), 1);
  constexpr std::uint64_t memory_bytes = 64;  // at once
  const bool by_vectors = choice.aligned && !choice.turned;
  const bool apart = by_vectors && p.halo == 0 && steps.in % memory_bytes == 0;
  const std::uint64_t usual = apart ? along : ceil_div(along, ceil_div(along, most_band));
  if (!number_tiles(p, along, across, planes, options.band == 0 ? usual : options.band)) return std::nullopt;

  const std::uint64_t most_steps = std::min<std::uint64_t>(p.steps, tile.steps + p.halo);
  const std::uint64_t most_columns = std::min(plane.columns, tile.columns);
  const std::uint64_t rows = by_columns ? plane.rows : form == AxesLinesForm::few_columns ? 1 : most_steps;
  const std::uint64_t row_bytes =
      form == AxesLinesForm::plane ? most_columns * element : most_steps * p.step_bytes;
  p.row_slots = device::Division32(static_cast<std::uint32_t>(ceil_div(row_bytes, kMovedBytes)));
  p.line_slots = device::Division32(p.tile_bytes / kMovedBytes);
  p.digit0 = device::Division32(static_cast<std::uint32_t>(by_columns ? plane.rows : plane.element_units));
  p.line_stride = p.element_bytes;
  const auto least_pitch = static_cast<std::uint32_t>(round_up(row_bytes, kMovedBytes));
  p.stride0 = by_columns ? least_pitch : static_cast<std::uint32_t>(unit);
  p.stride1 = by_columns                           ? p.element_bytes
              : form == AxesLinesForm::few_columns ? static_cast<std::uint32_t>(plane.in_pitch)
                                                   : least_pitch;
  p.pitch = least_pitch;
  if (choice.turned) {
    p.pitch = turned_pitch(*choice.plane);
    p.shared_bytes = p.pitch * p.tile_columns;
    return choice;
  }
  if (by_few) {
    choose_few_vectors(choice, plane, tile.steps);
    return choice;
  }
  if (skinny) {
    choose_skinny(choice, plane, most_steps);
    return choice;
  }
  if (choice.plane) {
    p.pitch = static_cast<std::uint32_t>(choice.plane->row_bytes);
  } else {
    choose_lines_banks(p, static_cast<int>(unit), form == AxesLinesForm::few_columns ? 1 : 8);
  }
  constexpr std::uint64_t line_of_banks = 128;
  p.shared_bytes = static_cast<std::uint32_t>(round_up(rows * p.pitch, line_of_banks));
  return choice;
}

}  // namespace

std::optional<AxesLinesChoice> make_axes_lines(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const AxesLinesOptions& options) {
  FARO_CHECK(axes.size() >= 2 && axes.size() <= kMostAxes);
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  check_size(axes, unit);
  const std::optional<Plane> plane = plane_of(axes, unit);
  if (!plane) return std::nullopt;
  const std::optional<AxesLinesForm> form = form_of(*plane, options);
  if (!form) return std::nullopt;
  return make_lines(work_of(axes, *plane), *form, options);
}

std::optional<AxesLinesChoice> make_view_lines(const std::vector<layout::StridedAxis>& axes, int unit_bytes,
                                               const ViewFirst& first, const AxesLinesOptions& options) {
  const std::optional<LinesWork> work = work_of(axes, static_cast<std::uint64_t>(unit_bytes), first);
  if (!work || form_of(work->plane, options) != AxesLinesForm::plane) return std::nullopt;
  return make_lines(*work, AxesLinesForm::plane, options);
}

}  // namespace faro::kernels
