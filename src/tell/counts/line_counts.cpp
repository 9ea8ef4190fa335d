#include "tell/counts/line_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <variant>
#include <vector>

#include "permutation/computed_map.hpp"
#include "permutation/computed_sides.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/cpu/modular_tiles.hpp"
#include "rounding.hpp"
#include "size_text.hpp"
#include "tell/launch_facts.hpp"

namespace faro::detail {
namespace {

__extension__ using WideCount = unsigned __int128;

constexpr std::uint64_t kCountedRuns = std::uint64_t{1} << 16;

// Bytes that a loop moves one after another.
struct ByteRun {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  std::uint64_t lines() const {
    return bytes == 0 ? 0 : (begin + bytes - 1) / kLineBytes - begin / kLineBytes + 1;
  }
};

// One side of a pass.
struct RunsOfSide {
  std::uint64_t runs = 0;
  std::function<ByteRun(std::uint64_t)> run;
};

struct CountedSides {
  SideLines read;
  SideLines written;
  bool all = true;
  bool bounded = false;
};

SideLines counted(const RunsOfSide& side, bool& all) {
  SideLines lines{.runs = side.runs};
  if (side.runs <= kCountedRuns) {
    for (std::uint64_t i = 0; i < side.runs; ++i) lines.lines += side.run(i).lines();
    return lines;
  }
  all = false;
  std::mt19937_64 random(1);
  const std::uint64_t part = side.runs / kCountedRuns;
  const std::uint64_t longer = side.runs % kCountedRuns;  // parts of one run more
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < kCountedRuns; ++i) {
    const std::uint64_t length = part + (i < longer ? 1 : 0);
    lines.lines += length * side.run(begin + random() % length).lines();
    begin += length;
  }
  return lines;
}

CountedSides counted(const RunsOfSide& read, const RunsOfSide& written) {
  CountedSides sides;
  sides.read = counted(read, sides.all);
  sides.written = counted(written, sides.all);
  return sides;
}

CountedSides both_sides(const RunsOfSide& side) {
  CountedSides sides;
  sides.read = sides.written = counted(side, sides.all);
  return sides;
}

// Runs of so many bytes, one behind another.
RunsOfSide in_order(std::uint64_t runs, std::uint64_t bytes) {
  return {.runs = runs, .run = [bytes](std::uint64_t i) { return ByteRun{i * bytes, bytes}; }};
}

// Runs that begin anywhere, of `bytes` in all: at most a line more than theirs each.
SideLines anywhere(std::uint64_t runs, std::uint64_t bytes) {
  return {.runs = runs, .lines = ceil_div(bytes, kLineBytes) + runs};
}

// --- boxes

// What a box moves of one side at a time: the axes that lie together there, as far as the box reaches; and
// how often that is done, over all boxes.
class BoxRuns {
 public:
  BoxRuns(const layout::CacheBox& box, const std::vector<std::size_t>& run, bool input, std::uint64_t begin)
      : box_(box), input_(input), begin_(begin), step_(box.axes.size(), 1) {
    for (const std::size_t axis : run) step_[axis] = box.extent[axis];
    for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
      runs_ *= ceil_div(box.axes[axis].extent, step_[axis]);
  }

  RunsOfSide side() const {
    return {.runs = runs_, .run = [of = *this](std::uint64_t i) { return of.run(i); }};
  }

 private:
  ByteRun run(std::uint64_t number) const {
    std::uint64_t at = begin_;  // modulo 2^64: axes may be read backwards
    std::uint64_t bytes = box_.element_bytes;
    for (std::size_t axis = 0; axis < box_.axes.size(); ++axis) {
      const layout::StridedAxis& of = box_.axes[axis];
      const std::uint64_t blocks = ceil_div(of.extent, step_[axis]);
      const std::uint64_t first = number % blocks * step_[axis];
      const std::uint64_t length = std::min(step_[axis], of.extent - first);
      number /= blocks;
      const std::int64_t stride = input_ ? of.in : of.out;
      at += (stride < 0 ? first + length - 1 : first) * static_cast<std::uint64_t>(stride);
      bytes *= length;
    }
    return {.begin = at, .bytes = bytes};
  }

  layout::CacheBox box_;
  bool input_;
  std::uint64_t begin_;
  std::vector<std::uint64_t> step_;
  std::uint64_t runs_ = 1;
};

// --- a multiplication modulo the count

// Rows of its tiles on one side: those of the input step by the inverse factor, those of the output by the
// factor; a row that reaches the array's end goes on at its beginning, which is another run.
RunsOfSide modular_runs(const CpuPass& pass, const Modular& map, bool input) {
  struct Part {
    ModularTiles tiles;
    std::uint64_t runs = 0;
  };
  std::vector<Part> parts;
  std::uint64_t runs = 0;
  for (const ModularRectangle& rectangle : l_shape(map)) {
    if (rectangle.rows == 0 || rectangle.columns == 0) continue;
    const ModularTiles tiles(rectangle, pass.element_bytes);
    const std::uint64_t of_part =
        input ? tiles.across() * rectangle.rows : ceil_div(rectangle.rows, tiles.rows) * rectangle.columns;
    parts.push_back({tiles, of_part});
    runs += of_part;
  }
  const std::uint64_t undone = map.inverse().factor;
  const auto run = [=, bytes = pass.element_bytes](std::uint64_t number) {
    std::uint64_t at = number % runs;
    const std::uint64_t array = number / runs * map.count;
    for (const Part& part : parts) {
      if (at >= part.runs) {
        at -= part.runs;
        continue;
      }
      const ModularRectangle& all = part.tiles.all;
      const auto modulo = [&map](WideCount x) { return static_cast<std::uint64_t>(x % map.count); };
      std::uint64_t first = 0;
      std::uint64_t length = 0;
      if (input) {
        const std::uint64_t i = at % part.tiles.across() * part.tiles.columns;
        const std::uint64_t j = at / part.tiles.across();
        first = modulo(all.first_i + i + WideCount{all.first_j + j} * undone);
        length = std::min(part.tiles.columns, all.columns - i);
      } else {
        const std::uint64_t i = at % all.columns;
        const std::uint64_t j = at / all.columns * part.tiles.rows;
        const std::uint64_t source = modulo(all.first_i + i + WideCount{all.first_j + j} * undone);
        first = modulo(WideCount{source} * map.factor + map.shift);
        length = std::min(part.tiles.rows, all.rows - j);
      }
      length = std::min(length, map.count - first);
      return ByteRun{(array + first) * bytes, length * bytes};
    }
    return ByteRun{};
  };
  return {.runs = runs * pass.arrays, .run = run};
}

// --- every loop

struct SidesOf {
  const Pass& shown;
  const CpuPass& pass;
  const Indexed* array;

  std::uint64_t bytes() const { return pass.arrays * pass.array_bytes(); }

  // In order on both sides, array by array.
  CountedSides whole_arrays() const { return both_sides(in_order(pass.arrays, pass.array_bytes())); }

  CountedSides operator()(const CpuAffine& /*its segments are aligned to themselves*/) const {
    CountedSides sides;
    const std::uint64_t lines = std::max<std::uint64_t>(1, ceil_div(shown.segment_bytes, kLineBytes));
    sides.read = {.runs = shown.segments_read, .lines = shown.segments_read * lines};
    sides.written = {.runs = shown.segments_written, .lines = shown.segments_written * lines};
    return sides;
  }
  CountedSides operator()(const CpuAxes& axes) const {
    const layout::CacheBox& box = axes.box;
    std::vector<std::size_t> in;
    std::vector<std::size_t> out;
    if (!box.is_of_long_elements()) {
      in = box.in_run();
      in.resize(box.in_contiguous());
      out = box.out_run();
      out.resize(box.out_contiguous());
    }
    return counted(BoxRuns(box, in, true, pass.in_offset).side(),
                   BoxRuns(box, out, false, pass.out_offset).side());
  }
  // Two pieces of each array change places, or are read backwards.
  CountedSides operator()(const CpuCyclic& loop) const {
    const Cyclic& cyclic = loop.cyclic;
    const std::uint64_t low = cyclic.reversed ? cyclic.shift + 1 : pass.count - cyclic.shift;
    const std::uint64_t low_written = cyclic.reversed ? low : cyclic.shift;
    return counted(pieces(std::min(low, pass.count)), pieces(std::min(low_written, pass.count)));
  }
  CountedSides operator()(const CpuReversal& loop) const {
    return both_sides(pieces(std::min(loop.shift + 1, pass.count)));
  }
  CountedSides operator()(const CpuModular& loop) const {
    return counted(modular_runs(pass, loop.map, true), modular_runs(pass, loop.map, false));
  }
  // One side in the order of tiles, of the other the runs of all tiles, or of some evenly chosen.
  CountedSides operator()(const CpuComputed& loop) const {
    if (loop.tiles == nullptr) {
      CountedSides sides;
      sides.written = counted(in_order(pass.arrays, pass.array_bytes()), sides.all);
      sides.read = anywhere(pass.arrays * pass.count, bytes());
      sides.bounded = true;
      return sides;
    }
    CountedSides sides;
    const ComputedTiles::Sizes& sizes = loop.tiles->sizes();
    const bool gathers = is_ordered_side(loop.map, ComputedSide::output);
    const std::uint64_t tiles = pass.arrays * (pass.count / sizes.tile);
    (gathers ? sides.written : sides.read) =
        counted(in_order(tiles, sizes.tile * pass.element_bytes), sides.all);
    (gathers ? sides.read : sides.written) = runs_of_tiles(*loop.tiles, tiles, sides.all);
    return sides;
  }
  CountedSides operator()(const CpuPatch& patch) const {
    const auto side = [&](std::uint64_t Exception::*place) {
      return RunsOfSide{
          .runs = patch.exceptions.size() * patch.batch, .run = [this, &patch, place](std::uint64_t i) {
            const std::uint64_t number = i % patch.exceptions.size();
            const std::uint64_t at = i / patch.exceptions.size() * pass.count;
            return ByteRun{(at + patch.exceptions[number].*place) * pass.element_bytes, pass.element_bytes};
          }};
    };
    return counted(side(&Exception::source), side(&Exception::target));
  }
  CountedSides operator()(const CpuEntries& entries) const {
    const bool forwards = entries.way == Way::forwards;
    const bool known = array != nullptr && array->on_host() && !entries.from_schedule &&
                       array->count() == pass.count && way_of(array->direction()) == entries.way;
    CountedSides sides;
    SideLines& straight = forwards ? sides.read : sides.written;
    SideLines& random = forwards ? sides.written : sides.read;
    straight = counted(in_order(pass.arrays, pass.array_bytes()), sides.all);
    if (!known) {
      random = anywhere(pass.arrays * pass.count, bytes());
      if (kLineBytes % pass.element_bytes == 0) random.lines = random.runs;  // none lies in two
      sides.bounded = true;
      return sides;
    }
    random = counted({.runs = pass.arrays * pass.count,
                      .run =
                          [this](std::uint64_t i) {
                            const std::uint64_t at =
                                i / pass.count * pass.count + array->entry(i % pass.count);
                            return ByteRun{at * pass.element_bytes, pass.element_bytes};
                          }},
                     sides.all);
    return sides;
  }
  CountedSides operator()(const CpuWindow& /*what a window holds stays in the caches*/) const {
    return whole_arrays();
  }
  CountedSides operator()(const CpuRuns& loop) const {
    const SideLines runs = anywhere(pass.arrays * loop.runs, bytes());
    CountedSides sides = whole_arrays();
    (loop.way == Way::forwards ? sides.written : sides.read) = runs;
    sides.bounded = true;
    return sides;
  }
  // Chunks in order, and the runs that they have in each bucket.
  CountedSides operator()(const CpuLevel& loop) const {
    const std::uint64_t chunks = ceil_div(pass.count, loop.shape.chunk_elements());
    CountedSides sides = whole_arrays();
    (loop.way == Way::forwards ? sides.written : sides.read) =
        anywhere(pass.arrays * chunks * loop.shape.buckets(loop.level), bytes());
    sides.bounded = true;
    return sides;
  }
  CountedSides operator()(const CpuChunks& loop) const {
    const std::uint64_t chunk = loop.shape.chunk_elements();
    const std::uint64_t chunks = ceil_div(pass.count, chunk);
    return both_sides({.runs = pass.arrays * chunks, .run = [this, chunk, chunks](std::uint64_t i) {
                         const std::uint64_t first = i % chunks * chunk;
                         return ByteRun{(i / chunks * pass.count + first) * pass.element_bytes,
                                        std::min(chunk, pass.count - first) * pass.element_bytes};
                       }});
  }
  CountedSides operator()(const CpuRows& loop) const {
    return both_sides(in_order(pass.arrays * loop.rows, loop.columns * pass.element_bytes));
  }
  CountedSides operator()(const CpuColumns& loop) const {
    return both_sides(strips(loop.rows, loop.columns, loop.columns, loop.part.strip));
  }
  CountedSides operator()(const CpuSweep& sweep) const {
    constexpr std::uint64_t tile_row_bytes = 128;  // of pairs of tiles
    switch (sweep.kind) {
      case CpuSweepKind::whole:
        return whole_arrays();
      case CpuSweepKind::rows:
      case CpuSweepKind::shared_rows:
        return both_sides(in_order(pass.arrays * sweep.rows(), sweep.columns() * pass.element_bytes));
      case CpuSweepKind::square: {
        const std::uint64_t tile = std::max<std::uint64_t>(1, tile_row_bytes / pass.element_bytes);
        return both_sides(strips(sweep.m, sweep.n * sweep.between, sweep.n, tile));
      }
      case CpuSweepKind::panels:
      case CpuSweepKind::columns:
        break;
    }
    const std::uint64_t panel =
        sweep.panels == Panels::along_diagonals ? sweep.n / std::gcd(sweep.m, sweep.n) : sweep.n;
    return both_sides(strips(sweep.m, sweep.n, panel, sweep.strip.columns));
  }

 private:
  SideLines runs_of_tiles(const ComputedTiles& of, std::uint64_t tiles, bool& all) const {
    std::vector<ComputedRun> runs(of.sizes().runs);
    std::vector<ComputedLeaf> leaves(of.leaves());
    const std::uint64_t of_array = pass.count / of.sizes().tile;
    const std::uint64_t seen = std::min(tiles, std::max<std::uint64_t>(1, kCountedRuns / runs.size()));
    all = all && seen == tiles;
    SideLines lines;
    for (std::uint64_t i = 0; i < seen; ++i) {
      const auto part = [&](std::uint64_t k) {
        return static_cast<std::uint64_t>(WideCount{tiles} * k / seen);
      };
      const std::uint64_t tile = part(i);
      const std::uint64_t as_many = part(i + 1) - tile;
      const std::uint64_t begin = tile / of_array * pass.count;
      const std::size_t found = of.tile(tile % of_array, runs, leaves);
      lines.runs += as_many * found;
      for (const ComputedRun& run : std::span(runs).first(found)) {
        const ByteRun moved{(begin + run.place) * pass.element_bytes, run.elements * pass.element_bytes};
        lines.lines += as_many * moved.lines();
      }
    }
    return lines;
  }
  // The pieces 0 .. first - 1 and first .. count - 1 of every array.
  RunsOfSide pieces(std::uint64_t first) const {
    const std::uint64_t of_array = first == 0 || first == pass.count ? 1 : 2;
    return {.runs = pass.arrays * of_array, .run = [this, first, of_array](std::uint64_t i) {
              const std::uint64_t array_of_run = i / of_array * pass.count;
              const bool second = i % of_array == 1;
              const std::uint64_t length = of_array == 1 ? pass.count : second ? pass.count - first : first;
              return ByteRun{(array_of_run + (second ? first : 0)) * pass.element_bytes,
                             length * pass.element_bytes};
            }};
  }
  // Rows of `columns` elements, in panels that are cut into strips.
  RunsOfSide strips(std::uint64_t rows, std::uint64_t columns, std::uint64_t panel,
                    std::uint64_t strip) const {
    const std::uint64_t wide = std::max<std::uint64_t>(1, std::min(strip, panel));
    const std::uint64_t of_panel = ceil_div(panel, wide);
    const std::uint64_t of_row = columns / panel * of_panel;
    return {.runs = pass.arrays * rows * of_row, .run = [=, bytes = pass.element_bytes](std::uint64_t i) {
              const std::uint64_t row = i / of_row;
              const std::uint64_t within = i % of_row % of_panel * wide;
              const std::uint64_t first = i % of_row / of_panel * panel + within;
              return ByteRun{(row * columns + first) * bytes, std::min(wide, panel - within) * bytes};
            }};
  }
};

}  // namespace

std::optional<LineCounts> count_lines(const Pass& pass, const Indexed* array) {
  if (pass.cpu == nullptr) return std::nullopt;
  const CountedSides sides = std::visit(SidesOf{pass, *pass.cpu, array}, pass.cpu->kernel);
  LineCounts counts{.read = sides.read, .written = sides.written, .bounded = sides.bounded};
  for (const PassTable& table : pass.tables) counts.tables += ceil_div(table.bytes, kLineBytes);
  counts.counted =
      sides.all ? "all runs" : fmt::format("{} runs of a side, one of each of as many parts", kCountedRuns);
  if (sides.bounded) counts.counted += "; at most, whatever the index array says";
  return counts;
}

std::optional<LineCounts> count_lines(const Plan& plan, std::size_t pass) {
  return count_lines(plan.passes().at(pass), std::get_if<Indexed>(&plan.problem().permutation));
}

double lines_over_least(const SideLines& side, std::uint64_t bytes) {
  if (side.lines == 0 || bytes == 0) return 1;
  return static_cast<double>(side.lines) / static_cast<double>(ceil_div(bytes, kLineBytes));
}

std::string lines_text(const LineCounts& counts, std::uint64_t bytes_read, std::uint64_t bytes_written) {
  const auto side = [](const char* of_bytes, const SideLines& lines, std::uint64_t bytes) {
    return fmt::format("{}{} in {}, {}", count_text(lines.lines), of_bytes, count_text(lines.runs, "run"),
                       least_text(lines_over_least(lines, bytes)));
  };
  std::string text = "reads " + side(" of 64 bytes", counts.read, bytes_read) + "; writes " +
                     side("", counts.written, bytes_written);
  if (counts.tables > 0) text += "; " + count_text(counts.tables) + " of tables";
  return text;
}

}  // namespace faro::detail
