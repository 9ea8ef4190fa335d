// Tiles of x -> (factor x + shift) mod N, whose arrays memory does not hold: parts of the two rectangles of
// an L-shape (faro/permutation/modular.hpp). With c the inverse of the factor and x = i + j c:
//
//     row j        elements i0 … i0 + w - 1      together in the input, from i0 + j c mod N on
//     column i     elements j0 … j0 + h - 1      together in the output, from factor i + j0 + shift mod N on
//
// A tile is w columns x h rows. In a buffer its rows lie in the order of the file, and so do its columns:
// rows that follow one another there, as those of small factors do, are read in one piece. No element is in
// two rows, so that at most one row goes around the end of the array, and one column.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "faro/threads.hpp"
#include "file/tiles.hpp"
#include "io/buffer.hpp"
#include "permutation/modular_cover.hpp"
#include "rounding.hpp"
#include "widths.hpp"

namespace faro::file {
namespace {

__extension__ using ModularProduct = unsigned __int128;

constexpr std::uint64_t kMostModularLines = std::uint64_t{1} << 16;  // of a side: each is found a place

// Lines of equally many elements that begin at equal steps modulo the count.
struct ModularLines {
  std::uint64_t count = 1;  // N
  std::uint64_t first = 0;  // below N
  std::uint64_t step = 0;   // below N
  std::uint64_t lines = 1;
  std::uint64_t length = 1;

  std::uint64_t begin(std::uint64_t line) const {
    return static_cast<std::uint64_t>((static_cast<ModularProduct>(line) * step + first) % count);
  }
};

// One side of a tile: where each of its lines lies in the buffer, and the ranges of the file.
struct ModularSide {
  /// A line that goes around the end: its first `elements` are at `at`, the others at `at_rest`.
  struct Cut {
    std::uint64_t line = 0;
    std::uint64_t elements = 0;
    std::uint64_t at = 0;
    std::uint64_t at_rest = 0;
  };

  std::vector<std::uint64_t> at;  // bytes
  std::optional<Cut> cut;
  std::vector<Rows::Range> ranges;

  ModularSide(const ModularLines& lines, std::uint64_t width, std::uint64_t array_begin) : at(lines.lines) {
    struct Part {
      std::uint64_t begin = 0;  // elements of the file
      std::uint64_t length = 0;
      std::uint64_t line = 0;
      bool is_rest = false;
    };
    std::vector<Part> parts;
    parts.reserve(lines.lines + 1);
    for (std::uint64_t line = 0; line < lines.lines; ++line) {
      const std::uint64_t begin = lines.begin(line);
      const std::uint64_t length = std::min(lines.length, lines.count - begin);
      parts.push_back({.begin = begin, .length = length, .line = line});
      if (length == lines.length) continue;
      FARO_CHECK(!cut);
      cut = Cut{.line = line, .elements = length};
      parts.push_back({.begin = 0, .length = lines.length - length, .line = line, .is_rest = true});
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    std::uint64_t place = 0;
    for (const Part& part : parts) {
      const std::uint64_t offset = array_begin + part.begin * width;
      const std::uint64_t bytes = part.length * width;
      if (!cut || cut->line != part.line) {
        at[part.line] = place;
      } else {
        (part.is_rest ? cut->at_rest : cut->at) = place;
      }
      if (!ranges.empty() && ranges.back().offset + ranges.back().bytes == offset) {
        ranges.back().bytes += bytes;
      } else {
        ranges.push_back({.at = place, .offset = offset, .bytes = bytes});
      }
      place += bytes;
    }
  }

  std::uint64_t total_bytes() const { return ranges.back().at + ranges.back().bytes; }
  std::uint64_t run_bytes() const { return total_bytes() / ranges.size(); }

  Rows rows() const {
    return {.count = 1,
            .bytes = total_bytes(),
            .begin = 0,
            .base = 0,
            .vectors = {},
            .digits = {},
            .unit = 1,
            .ranges = ranges};
  }
};

// A transposition whose rows lie anywhere in one buffer, and whose columns anywhere in the other.
class ModularMove final : public TileMove {
 public:
  ModularMove(ModularSide in, ModularSide out, std::uint64_t width, int threads)
      : in_(std::move(in)), out_(std::move(out)), width_(width), threads_(detail::thread_count(threads)) {}

  void run(std::byte* x, std::byte* y) const override {
    detail::with_width(width_, [&](auto width) { transpose(x, y, width); });
  }

 private:
  template <typename Width>
  void transpose(const std::byte* x, std::byte* y, Width width) const {
    const std::uint64_t rows = in_.at.size();
    const std::uint64_t columns = out_.at.size();
    // The line that is in two pieces is put together before, or taken apart afterwards.
    std::vector<std::byte> row;
    std::vector<std::byte> column;
    std::vector<const std::byte*> from(rows);
    std::vector<std::byte*> to(columns);
    for (std::uint64_t j = 0; j < rows; ++j) from[j] = x + in_.at[j];
    for (std::uint64_t i = 0; i < columns; ++i) to[i] = y + out_.at[i];
    if (in_.cut) {
      row.resize(columns * width_);
      const std::uint64_t first = in_.cut->elements * width_;
      std::memcpy(row.data(), x + in_.cut->at, first);
      std::memcpy(row.data() + first, x + in_.cut->at_rest, row.size() - first);
      from[in_.cut->line] = row.data();
    }
    if (out_.cut) {
      column.resize(rows * width_);
      to[out_.cut->line] = column.data();
    }
    constexpr std::uint64_t kBlockElements = 64;  // of either side: a block stays in a core's first cache
    const std::uint64_t across = detail::ceil_div(columns, kBlockElements);
    const std::uint64_t blocks = across * detail::ceil_div(rows, kBlockElements);
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t block = 0; block < static_cast<std::int64_t>(blocks); ++block) {
      const std::uint64_t first_row = static_cast<std::uint64_t>(block) / across * kBlockElements;
      const std::uint64_t first_column = static_cast<std::uint64_t>(block) % across * kBlockElements;
      const std::uint64_t end_row = std::min(first_row + kBlockElements, rows);
      const std::uint64_t end_column = std::min(first_column + kBlockElements, columns);
      for (std::uint64_t i = first_column; i < end_column; ++i) {
        std::byte* const target = to[i];
        for (std::uint64_t j = first_row; j < end_row; ++j)
          std::memcpy(target + j * width, from[j] + i * width, width);
      }
    }
    if (!out_.cut) return;
    const std::uint64_t first = out_.cut->elements * width_;
    std::memcpy(y + out_.cut->at, column.data(), first);
    std::memcpy(y + out_.cut->at_rest, column.data() + first, column.size() - first);
  }

  ModularSide in_;
  ModularSide out_;
  std::uint64_t width_;
  int threads_;
};

class ModularTiles final : public Tiles {
 public:
  ModularTiles(const Problem& problem, const TileBudget& budget)
      : map_(std::get<Modular>(problem.permutation)),
        undone_(map_.inverse()),
        width_(problem.element_bytes),
        batch_(problem.batch),
        long_run_(std::max<std::uint64_t>(budget.long_run_bytes / width_, 1)),
        threads_(budget.threads) {
    const std::uint64_t elements = budget.tile_bytes / width_;
    FARO_CHECK(elements > 0);
    const auto cover = detail::l_shape_for_runs(
        map_, std::min(std::sqrt(static_cast<double>(elements)), static_cast<double>(long_run_)));
    std::uint64_t most_area = 0;
    for (const ModularRectangle& rectangle : cover) {
      if (rectangle.columns == 0 || rectangle.rows == 0) continue;
      const Part part = cut(rectangle, elements);
      tiles_of_array_ += part.across() * part.down();
      tile_bytes = std::max(tile_bytes, part.columns * part.rows * width_);
      if (rectangle.columns * rectangle.rows > most_area) {
        most_area = rectangle.columns * rectangle.rows;
        const auto [in, out] = sides(part, 0, 0);
        read_run_bytes = in.run_bytes();
        write_run_bytes = out.run_bytes();
        largest_ = part;
      }
      parts_.push_back(part);
    }
  }

  std::uint64_t count() const override { return batch_ * tiles_of_array_; }

  TileWork tile(std::uint64_t number) override {
    const std::uint64_t array = number / tiles_of_array_;
    std::uint64_t rest = number % tiles_of_array_;
    std::size_t which = 0;
    for (; rest >= parts_[which].across() * parts_[which].down(); ++which)
      rest -= parts_[which].across() * parts_[which].down();
    auto [in, out] = sides(parts_[which], rest, array * map_.count * width_);
    TileWork work{.in = in.rows(), .out = out.rows(), .move = nullptr};
    work.move = std::make_shared<ModularMove>(std::move(in), std::move(out), width_, threads_);
    return work;
  }

  TilePlan plan() const override {
    return {.permutation = fmt::format("transpose({}, {})", largest_.rows, largest_.columns),
            .text = fmt::format("{} rows of {} elements in a row of the input, transposed to columns of the "
                                "output, element by element\n",
                                largest_.rows, largest_.columns),
            .json = {}};
  }

 private:
  // A rectangle and how much of it is a tile.
  struct Part {
    ModularRectangle all;
    std::uint64_t columns = 1;
    std::uint64_t rows = 1;
    std::uint64_t across() const { return detail::ceil_div(all.columns, columns); }
    std::uint64_t down() const { return detail::ceil_div(all.rows, rows); }
  };

  // Squares as a rule; where lines of a thin rectangle follow one another, all of its shorter side.
  Part cut(const ModularRectangle& rectangle, std::uint64_t elements) const {
    const std::uint64_t longest = std::min({long_run_, kMostModularLines, elements});
    const auto side = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements))), 1, longest);
    const auto with_columns = [&](std::uint64_t columns) {
      Part part{.all = rectangle, .columns = std::min({columns, rectangle.columns, longest})};
      part.rows = std::min({elements / part.columns, rectangle.rows, longest});
      return part;
    };
    const auto with_rows = [&](std::uint64_t rows) {
      Part part{.all = rectangle, .rows = std::min({rows, rectangle.rows, longest})};
      part.columns = std::min({elements / part.rows, rectangle.columns, longest});
      return part;
    };
    Part best;
    std::uint64_t best_run = 0;
    for (const Part& part :
         {with_columns(side), with_rows(side), with_columns(rectangle.columns), with_rows(rectangle.rows)}) {
      const auto [in, out] = sides(part, 0, 0);
      const std::uint64_t run = std::min(in.run_bytes(), out.run_bytes());
      if (run > best_run) best = part;
      best_run = std::max(best_run, run);
    }
    return best;
  }

  std::pair<ModularSide, ModularSide> sides(const Part& part, std::uint64_t tile,
                                            std::uint64_t array_begin) const {
    const std::uint64_t i = tile % part.across() * part.columns;
    const std::uint64_t j = tile / part.across() * part.rows;
    const std::uint64_t columns = std::min(part.columns, part.all.columns - i);
    const std::uint64_t rows = std::min(part.rows, part.all.rows - j);
    const std::uint64_t first_i = part.all.first_i + i;
    const std::uint64_t first_j = part.all.first_j + j;
    const std::uint64_t count = map_.count;
    const auto sum = [count](ModularProduct a, ModularProduct b, std::uint64_t c) {
      return static_cast<std::uint64_t>((a * b + c) % count);
    };
    const std::uint64_t from = sum(first_j, undone_.factor, first_i);
    const std::uint64_t to = sum(first_i, map_.factor, sum(first_j, 1, map_.shift));
    return {
        ModularSide({.count = count, .first = from, .step = undone_.factor, .lines = rows, .length = columns},
                    width_, array_begin),
        ModularSide({.count = count, .first = to, .step = map_.factor, .lines = columns, .length = rows},
                    width_, array_begin)};
  }

  Modular map_;
  Modular undone_;
  std::uint64_t width_;
  std::uint64_t batch_;
  std::uint64_t long_run_;  // elements
  int threads_;
  std::vector<Part> parts_;
  Part largest_;
  std::uint64_t tiles_of_array_ = 0;
};

}  // namespace

std::unique_ptr<Tiles> tiles_of_modular(const Problem& problem, const TileBudget& budget) {
  return std::make_unique<ModularTiles>(problem, budget);
}

}  // namespace faro::file
