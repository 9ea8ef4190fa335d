// The tile and its banks, before and after the swizzle.
//
// A real tile is too large to draw. The drawing shows the tile of the *same map* for segments of 8 or 16
// units and as many banks as one such segment fills, so that a row of the picture is one bank row. Every cell
// is a unit at its place (row, column) and coloured by the bank that holds it; the outlined cells are those
// that one phase touches:
//
//     write   the first source row, dashed        read   the first units of the target, solid
//
// What is said about conflicts is counted from the cells, not taken from theorem 2.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "faro/f2/matrix.hpp"
#include "faro/layout/tile.hpp"
#include "size_text.hpp"
#include "tell/margin_text.hpp"
#include "tell/svg_figures.hpp"

namespace faro::svg {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// A tile small enough to draw, and the machine it is drawn for.
struct SmallTile {
  layout::Tile tile;
  int width_bits = 0;
  machine::MemoryGeometry geometry;
  int lanes = 0;            // of a read phase
  Matrix source_of_target;  // target place to source place
  layout::Xor raw;
  layout::Xor swizzled;

  int word_bits() const { return std::max(0, 2 - width_bits); }  // log2 of the units that share a word
  int bank_bits() const { return tile.segment_bits - word_bits(); }

  /// The coloured bank: a group of them for units wider than a bank.
  std::uint32_t bank(const layout::Xor& layout, Word place) const {
    const std::uint32_t address = layout(static_cast<std::uint32_t>(place));
    return (address & ((1U << tile.segment_bits) - 1)) >> word_bits();
  }
  std::uint32_t word(const layout::Xor& layout, Word place) const {
    return layout(static_cast<std::uint32_t>(place)) >> word_bits();
  }
};

// The largest such tile in which something leaves its segment.
std::optional<SmallTile> small_tile(const Plan& plan, const Pass& pass) {
  SmallTile small;
  small.width_bits = std::countr_zero(plan.unit_bytes());
  if (small.width_bits > 4) return std::nullopt;
  const int most = std::min(small.width_bits < 2 ? 4 : 3, pass.map.bits() / 2);
  for (int s = most; s - small.word_bits() >= 1; --s) {
    if (pass.map.rank_gamma(s) == 0) continue;
    small.tile = layout::make_tile(pass.map, {.segment_bits = s});
    const int row_bytes = 1 << (s + small.width_bits);
    small.geometry.banks = row_bytes / small.geometry.bank_bytes;
    small.geometry.warp_size = small.geometry.banks;
    small.lanes = small.geometry.lanes_per_phase(1 << small.width_bits);

    const int m = small.tile.tile_bits();
    small.source_of_target = small.tile.local.inverse().value();
    const Subspace targets = Subspace::low(m, machine::log2_exact(small.lanes));
    small.swizzled = layout::make_xor({.tile_bits = m,
                                       .width_bits = small.width_bits,
                                       .write = Subspace::low(m, s),
                                       .read = f2::image(small.source_of_target, targets),
                                       .geometry = small.geometry});
    small.raw.tile_bits = m;
    small.raw.bank_row_bits = s;
    return small;
  }
  return std::nullopt;
}

// One phase: a place for every lane.
std::vector<Word> write_phase(const SmallTile& small) {
  std::vector<Word> places;
  for (Word k = 0; k < f2::unit(small.bank_bits()); ++k) places.push_back(k << small.word_bits());
  return places;
}

std::vector<Word> read_phase(const SmallTile& small) {
  const Word shift = small.tile.block_target(0) & f2::low_mask(small.tile.segment_bits);
  std::vector<Word> places;
  for (Word k = 0; k < static_cast<Word>(small.lanes); ++k)
    places.push_back(small.source_of_target * (k ^ shift));
  return places;
}

// The most different words of one bank: how many turns the phase takes.
std::size_t congestion(const SmallTile& small, const layout::Xor& layout, const std::vector<Word>& places) {
  std::vector<std::vector<std::uint32_t>> words(std::size_t{1} << small.bank_bits());
  std::size_t most = 0;
  for (const Word place : places) {
    std::vector<std::uint32_t>& of_bank = words.at(small.bank(layout, place));
    const std::uint32_t word = small.word(layout, place);
    if (std::find(of_bank.begin(), of_bank.end(), word) == of_bank.end()) of_bank.push_back(word);
    most = std::max(most, of_bank.size());
  }
  return most;
}

class TileSection {
 public:
  TileSection(Canvas& canvas, const SmallTile& small) : canvas_(canvas), small_(small) {}

  double draw(double top) {
    const double left_end = grid(kMargin, top, "Before: cell (row, column) lies at row, column", small_.raw);
    const double right_end =
        grid(kWidth / 2 + 10, top, "After: it lies at row, column ^ X row", small_.swizzled);
    return std::max(left_end, right_end);
  }

 private:
  double grid(double left, double top, std::string_view heading, const layout::Xor& layout) {
    const int columns = 1 << small_.tile.segment_bits;
    const int rows = 1 << small_.tile.row_bits;
    const double cell = columns > 8 ? 24 : 30;
    const double x0 = left + 36;
    const double y0 = top + 14;
    canvas_.text({left, top}, "", heading);
    const std::vector<Word> writes = write_phase(small_);
    const std::vector<Word> reads = read_phase(small_);
    const auto row_of = [&](Word place) { return static_cast<int>(place) / columns; };
    const auto column_of = [&](Word place) { return static_cast<int>(place) % columns; };
    const auto box = [&](Word place) {
      return Box{x0 + cell * column_of(place), y0 + cell * row_of(place), cell, cell};
    };
    for (Word place = 0; place < f2::unit(small_.tile.tile_bits()); ++place) {
      const bool read = std::find(reads.begin(), reads.end(), place) != reads.end();
      const bool touched = read || row_of(place) == 0;
      const Box at = box(place).grown(-1);
      const std::uint32_t bank = small_.bank(layout, place);
      const Word target = (small_.tile.local * place) ^
                          (small_.tile.block_target(0) & f2::low_mask(small_.tile.segment_bits));
      canvas_.box(at, fmt::format("bank b{}{}", bank, touched ? "" : " faint"),
                  fmt::format("row {}, column {}: bank {}; goes to row {}, column {}", row_of(place),
                              column_of(place), bank_name(bank), row_of(target), column_of(target)));
      canvas_.label(at.centre(), fmt::format("middle small {}", touched ? "ink" : "note"), bank_name(bank));
    }
    for (const Word place : reads) canvas_.box(box(place).grown(-2), "read");
    canvas_.box(Box{x0, y0, cell * columns, cell}.grown(2), "write");
    for (int row = 0; row < rows; ++row) {
      canvas_.label({x0 - 8, y0 + cell * (row + 0.5)}, "end note small", fmt::format("{}", row));
    }
    double y = y0 + cell * rows + 26;
    y = phase(left, y, "write", layout, writes);
    return phase(left, y, "read", layout, reads);
  }

  // The banks that the lanes of one phase ask for, in lane order.
  double phase(double left, double y, std::string_view name, const layout::Xor& layout,
               const std::vector<Word>& places) {
    constexpr double cell = 24;
    canvas_.label({left, y + cell / 2}, "note", name);
    canvas_.box({left + 42, y + 3, 14, cell - 6}, name);
    double x = left + 70;
    for (const Word place : places) {
      const std::uint32_t bank = small_.bank(layout, place);
      canvas_.box({x, y, cell - 2, cell - 2}, fmt::format("bank b{}", bank));
      canvas_.label({x + cell / 2 - 1, y + cell / 2 - 1}, "ink middle small", bank_name(bank));
      x += cell;
    }
    const std::size_t turns = congestion(small_, layout, places);
    canvas_.label({x + 8, y + cell / 2 - 1}, turns == 1 ? "good" : "bad",
                  turns == 1 ? "1 turn: no conflict" : fmt::format("{} turns: lanes wait", turns));
    return y + cell + 8;
  }

  // A unit wider than a bank is named after the first of its banks.
  std::string bank_name(std::uint32_t bank) const {
    return fmt::format("{}", bank << std::max(0, small_.width_bits - 2));
  }

  Canvas& canvas_;
  const SmallTile& small_;
};

std::string swizzle_text(const SmallTile& small) {
  std::string text = "X:";
  for (int i = 0; i < small.tile.row_bits; ++i) {
    text += fmt::format("{} row bit {} -> {}", i == 0 ? "" : ",", i, detail::hex(small.swizzled.mask[i]));
  }
  return text;
}

// One line each.
std::array<std::string, 2> captions(const SmallTile& small, const Plan& plan) {
  const std::string unit = plan.unit_bits_per_element() > 0 ? "unit" : "element";
  const std::string bank = small.width_bits > 2 ? "the first of its banks" : "its bank";
  return {
      fmt::format("The same map, drawn small: segments of {} {}s of {}, {} banks of 4 bytes. The number and "
                  "colour of "
                  "a cell are {}.",
                  1 << small.tile.segment_bits, unit, size_text(plan.unit_bytes()), small.geometry.banks,
                  bank),
      fmt::format(
          "Dashed: one phase of the write, a source row. Solid: one phase of the read, {}s that lie together "
          "in the target.",
          unit)};
}

}  // namespace

double draw_tile_banks(Canvas& canvas, const Plan& plan, const Pass& pass, double top) {
  canvas.line({kMargin, top - 22}, {kWidth - kMargin, top - 22}, "rule");
  double y = top + 6;
  canvas.text({kMargin, y}, "heading", "Banks of the tile: lanes that meet in one bank wait for each other");
  y += 24;
  const bool moves_inside = pass.kind == PassKind::tile || pass.kind == PassKind::direct;
  const std::optional<SmallTile> small = moves_inside ? small_tile(plan, pass) : std::nullopt;
  if (!small) {
    canvas.text(
        {kMargin, y}, "note",
        moves_inside
            ? "In a small tile of this map nothing leaves its row of banks, so there is nothing to swizzle."
            : "Nothing moves inside a segment, so there is no tile and nothing to swizzle.");
    return y + 10;
  }
  for (const std::string& caption : captions(*small, plan)) {
    canvas.text({kMargin, y}, "note", caption);
    y += 19;
  }
  y = TileSection(canvas, *small).draw(y + 13);
  canvas.text({kMargin, y + 14}, "mono small note", swizzle_text(*small));
  return y + 20;
}

}  // namespace faro::svg
