// Transpositions in place: the sweeps over an array, and who takes part in them.
//
//     small     by way of the stack                    at most 4 KiB
//     square    tiles change places                    one sweep
//     C2R       [panels up,] rows, columns             rows <= columns: m = rows, n = columns
//     R2C       columns, rows [, panels down]          rows > columns:  m = columns, n = rows
//
// Two sweeps are the rule: for a common divisor of m and n rows are taken along diagonals, and only narrow
// panels are rotated apart (plan/cpu/transpose_workers.hpp). Where all threads take one row together, row
// k + 1 is shuffled into the place of row k, which is free by then; only the first one goes through the
// borrowed row. So rows lie one place early, and the column shuffle puts that right.
#include <fmt/format.h>

#include <algorithm>

#include "faro/error.hpp"
#include "plan/cpu/cpu_solver.hpp"
#include "rounding.hpp"

namespace faro::detail {
namespace {

constexpr std::uint64_t kStripBytes = std::uint64_t{160} << 10;  // of a strip, in the second-level cache
constexpr std::uint64_t kNarrowRows = 32;
constexpr std::uint64_t kNarrowStripBytes = std::uint64_t{48} << 10;
constexpr std::uint64_t kCachedRowBytes = std::uint64_t{256} << 10;  // moved element by element

// A column's shuffle takes threads with a row of their own each, or a part of the one that all share, of at
// least m elements.
struct ColumnTeam {
  int threads = 1;
  std::uint64_t part_bytes = 0;
};

ColumnTeam column_team(const TransposeWorkers& workers, std::uint64_t m, std::uint64_t n) {
  if (!workers.shared_rows) return {.threads = workers.threads, .part_bytes = workers.row_bytes};
  const std::uint64_t threads = std::min(static_cast<std::uint64_t>(workers.threads), n / m);
  return {.threads = static_cast<int>(threads), .part_bytes = workers.row_bytes / threads};
}

// Columns of a panel that are rotated at a time.
std::uint64_t panel_strip(const StripSizes& sizes, std::uint64_t panels) {
  constexpr std::uint64_t kRotatedBytes = 2048;
  const std::uint64_t rows = std::max<std::uint64_t>(1, std::min(panels - 1, sizes.m / 2));  // kept, at most
  return std::clamp<std::uint64_t>(std::min(kRotatedBytes, sizes.memory_bytes / rows) / sizes.element_bytes,
                                   1, sizes.panel_columns);
}

std::string words_of(const CpuSweep& sweep) {
  switch (sweep.kind) {
    case CpuSweepKind::whole:
      return "transpose whole arrays in the cache";
    case CpuSweepKind::square:
      return "exchange across the diagonal";
    case CpuSweepKind::panels:
      return "rotate columns";
    case CpuSweepKind::columns:
      return "shuffle columns";
    case CpuSweepKind::rows:
    case CpuSweepKind::shared_rows:
      break;
  }
  return std::string("shuffle rows") + (sweep.panels == Panels::along_diagonals ? " along diagonals" : "") +
         (sweep.kind == CpuSweepKind::shared_rows ? ", each to where one was before" : "");
}

std::string sweep_loop(const CpuPass& pass) {
  const auto& sweep = std::get<CpuSweep>(pass.kernel);
  switch (sweep.kind) {
    case CpuSweepKind::whole:
      return "whole arrays by way of the stack";
    case CpuSweepKind::square:
      return "pairs of tiles, turned in registers";
    case CpuSweepKind::panels:
      return fmt::format("panels, {} at a time", count_text(sweep.strip.columns, "column"));
    case CpuSweepKind::rows:
      return sweep.by_blocks ? "rows in blocks" : "rows, element by element";
    case CpuSweepKind::shared_rows:
      return "rows in blocks, each shared out";
    case CpuSweepKind::columns:
      break;
  }
  return fmt::format("strips of {}, {}", count_text(sweep.strip.columns, "column"),
                     sweep.strip.borrowed ? "by way of the borrowed row" : "within themselves");
}

// Rows and columns are bound by instructions, some cycles an element, where a copy takes one for four bytes
// (docs/notes/cpu-experiments.md).
double sweep_over_copy(const CpuPass& pass) {
  constexpr double kTiles = 1.25;
  constexpr double kRotated = 1.5;
  constexpr double kShuffled = 1.2;
  constexpr double kElementBytes = 3;
  switch (std::get<CpuSweep>(pass.kernel).kind) {
    case CpuSweepKind::whole:
    case CpuSweepKind::square:
      return kTiles;
    case CpuSweepKind::panels:
      return kRotated;
    default:
      return kShuffled + kElementBytes / static_cast<double>(pass.element_bytes);
  }
}

}  // namespace

Strip choose_strip(const StripSizes& sizes) {
  const std::uint64_t m = sizes.m;
  const std::uint64_t most_bytes = m < kNarrowRows
                                       ? kNarrowStripBytes / m
                                       : std::clamp(kStripBytes / m, kStripPieceBytes, kMostPieceBytes);
  std::uint64_t columns = std::clamp<std::uint64_t>(
      std::min(sizes.memory_bytes / m, most_bytes) / sizes.element_bytes, 1, sizes.panel_columns);
  // A diagonal that turns more than once is slow to follow.
  if (m * sizes.element_bytes >= 2 * kLineBytes) columns = std::min(columns, m);
  const bool enough_bits = sizes.memory_bytes >= m / 8 + 1;
  if (const std::uint64_t whole = register_columns(sizes.element_bytes, m); whole != 0 && enough_bits) {
    if (columns < whole) return {.columns = whole, .borrowed = false};
    return {.columns = columns / whole * whole, .borrowed = true};
  }
  // The window takes as many pieces as a piece has columns.
  std::uint64_t within = kStripPieceBytes / sizes.element_bytes;
  while (within * within * sizes.element_bytes > kStripWindowBytes) within /= 2;
  const bool whole_lines = (columns + 1) * sizes.element_bytes >= kLineBytes;
  return whole_lines || within > m || !enough_bits ? Strip{.columns = columns, .borrowed = true}
                                                   : Strip{.columns = within, .borrowed = false};
}

std::vector<CpuPass> cpu_sweeps(const Rectangle& rectangle, const TransposeWorkers& workers,
                                std::uint64_t small_bytes) {
  const std::uint64_t m = std::min(rectangle.rows, rectangle.columns);
  const std::uint64_t n = std::max(rectangle.rows, rectangle.columns);
  const std::uint64_t width = rectangle.element_bytes;
  std::vector<CpuPass> sweeps;
  if (rectangle.arrays == 0 || m <= 1) return sweeps;
  const CpuSweep alike{
      .m = m,
      .n = n,
      .between = rectangle.between,
      .r2c = rectangle.rows > rectangle.columns,
      .panels = workers.panels,
      .one_early = workers.shared_rows,
      .by_blocks = n * width > kCachedRowBytes && n / m >= kLeastRun,
      .strip = {},
      .part_bytes = workers.row_bytes,
  };
  const bool small =
      rectangle.between == 1 && rectangle.count() * width <= std::min(small_bytes, kSmallTransposeBytes);
  const bool one_sweep = small || m == n;  // needs no turns: a thread takes its share of the arrays at once
  const CpuRun run{
      .arrays_at_once = one_sweep ? ceil_div(rectangle.arrays, workers.arrays_at_once) : 1,
      .turns_at_once = static_cast<int>(workers.arrays_at_once),
      .workspace = {.part_bytes = workers.row_bytes, .parts = workers.count(), .from_page = false}};
  const auto add = [&](CpuSweepKind kind, int threads) -> CpuSweep& {
    CpuSweep sweep = alike;
    sweep.kind = kind;
    sweeps.push_back({.kind = PassKind::sweep,
                      .kernel = sweep,
                      .source = PassBuffer::data,
                      .target = PassBuffer::data,
                      .arrays = rectangle.arrays,
                      .count = rectangle.count(),
                      .element_bytes = width,
                      .what = words_of(sweep),
                      .threads = threads,
                      .run = run});
    return std::get<CpuSweep>(sweeps.back().kernel);
  };
  if (small) {
    add(CpuSweepKind::whole, 1);
    return sweeps;
  }
  if (m == n) {
    add(CpuSweepKind::square, workers.threads);
    return sweeps;
  }
  FARO_CHECK(workers.row_bytes == n * width);
  FARO_CHECK(m <= ~std::uint32_t{0});
  const ColumnTeam team = column_team(workers, m, n);
  const std::uint64_t panels = std::gcd(m, n);
  StripSizes sizes{
      .m = m, .panel_columns = n / panels, .element_bytes = width, .memory_bytes = team.part_bytes};
  if (workers.panels == Panels::rotated_apart) {
    CpuSweep& rotation = add(CpuSweepKind::panels, team.threads);
    rotation.strip = {.columns = panel_strip(sizes, panels), .borrowed = true};
    rotation.part_bytes = team.part_bytes;
  }
  add(workers.shared_rows ? CpuSweepKind::shared_rows : CpuSweepKind::rows, workers.threads);
  if (workers.panels != Panels::along_diagonals) sizes.panel_columns = n;
  CpuSweep& columns = add(CpuSweepKind::columns, team.threads);
  columns.strip = choose_strip(sizes);
  columns.part_bytes = team.part_bytes;
  if (alike.r2c) std::reverse(sweeps.begin(), sweeps.end());
  return sweeps;
}

const CpuSolver kCpuSweepSolver{
    .makes = is_kernel<CpuSweep>, .loop = sweep_loop, .over_copy = sweep_over_copy};

}  // namespace faro::detail
