// Where each index bit goes.
//
//     source   [x5 x4 | x3 x2 | x1 x0]     column: position inside a segment
//                 \\       |      /         row:    which of the tile's segments
//     target   [y5 y4 | y3 y2 | y1 y0]     block:  which tile
//
// A map that sums bits has no such lines; its matrix takes their place, x0 and y0 in the top left corner as
// in the literature, so that the block whose rank is gamma stands at the lower left.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "size_text.hpp"
#include "tell/margin_text.hpp"
#include "tell/svg_figures.hpp"

namespace faro::svg {
namespace {

enum class BitRole { column, row, block };

std::string_view fill(BitRole role) {
  constexpr std::string_view classes[] = {"column", "row", "block"};
  return classes[static_cast<int>(role)];
}

std::string_view stroke(BitRole role) {
  constexpr std::string_view classes[] = {"column-line", "row-line", "block-line"};
  return classes[static_cast<int>(role)];
}

// For a tile along coordinate directions these are the roles; for others the leading bits of its directions.
std::vector<BitRole> roles(const Pass& pass, std::span<const f2::Word> rows) {
  const bool tiled = pass.kind == PassKind::segments || pass.kind == PassKind::tile;
  const int segment = tiled ? pass.tile.segment_bits : 0;
  std::vector<BitRole> result(static_cast<std::size_t>(pass.map.bits()), BitRole::block);
  std::fill_n(result.begin(), segment, BitRole::column);
  if (tiled) {
    for (const f2::Word v : rows) result[static_cast<std::size_t>(f2::leading_bit(v))] = BitRole::row;
  }
  return result;
}

bool permutes_bits(const Affine& map) {
  const auto columns = map.matrix().column_span();
  return std::all_of(columns.begin(), columns.end(), [](f2::Word c) { return f2::is_power_of_two(c); });
}

std::string_view label_size(double width, std::size_t letters) {
  const double room = width / static_cast<double>(letters);
  return room >= 9 ? "" : room >= 7.5 ? "small" : "tiny";
}

std::string count_bits(int bits) { return count_text(static_cast<std::uint64_t>(bits), "bit"); }

class BitsSection {
 public:
  BitsSection(Canvas& canvas, const Plan& plan, const Pass& pass)
      : canvas_(canvas),
        plan_(plan),
        pass_(pass),
        n_(pass.map.bits()),
        source_(roles(pass, pass.tile.source_rows)),
        target_(roles(pass, pass.tile.target_rows)) {}

  double draw(double top) {
    canvas_.text({kMargin, top}, "heading", "Index bits: out[A x ^ c] = in[x]");
    double y = top + 26;
    if (n_ == 0) {
      canvas_.text({kMargin, y}, "note", "One element: there are no index bits.");
      return y + 24;
    }
    y = legend(y);
    return permutes_bits(pass_.map) ? rows_and_lines(y) : matrix(y);
  }

 private:
  double legend(double y) {
    double x = kMargin;
    const auto entry = [&](std::string_view classes, const std::string& words) {
      canvas_.box({x, y - 10, 14, 14}, classes);
      canvas_.label({x + 20, y - 3}, "", words);
      x += 40 + 7.3 * static_cast<double>(words.size());
    };
    if (pass_.kind == PassKind::tile || pass_.kind == PassKind::segments) {
      entry("column", "column: the place inside a segment");
      if (pass_.tile.row_bits > 0) entry("row", "row: which segment of the tile");
      if (pass_.tile.block_bits() > 0) entry("block", "block: which tile");
    } else {
      entry("block", pass_.kind == PassKind::copy ? "nothing moves" : "moved element by element");
    }
    return y + 26;
  }

  // Bit 0 at the right, as numbers are written.
  Box bit_box(int bit, double y) const {
    const double cell = std::min(40.0, (kWidth - 2 * kMargin - 70) / n_);
    return {kMargin + 70 + cell * (n_ - 1 - bit), y, cell - 2, 30};
  }

  double rows_and_lines(double top) {
    const double source_y =
        plan_.unit_bits_per_element() > 0 || plan_.folded_batch_bits() > 0 ? top + 24 : top;
    const double target_y = source_y + 120;
    if (source_y != top) braces(source_y);
    canvas_.label({kMargin, source_y + 15}, "", "source x");
    canvas_.label({kMargin, target_y + 15}, "", "target y");
    for (int i = 0; i < n_; ++i) {
      const int to = f2::leading_bit(pass_.map.matrix().column(i));
      const Box from_box = bit_box(i, source_y);
      const Box to_box = bit_box(to, target_y);
      const BitRole role = source_[static_cast<std::size_t>(i)];
      canvas_.curve({from_box.centre().x, from_box.y + from_box.height}, {to_box.centre().x, to_box.y},
                    stroke(role));
    }
    for (int i = 0; i < n_; ++i) {
      bit(i, bit_box(i, source_y), source_, "");
      bit(i, bit_box(i, target_y), target_, f2::bit(pass_.map.complement(), i) ? "~" : "");
    }
    double bottom = target_y + 30;
    if (pass_.map.complement() != 0) {
      canvas_.text({kMargin + 70, bottom += 20}, "note small", "~ this bit is flipped by the complement c");
    }
    return bottom + 12;
  }

  void bit(int index, const Box& box, const std::vector<BitRole>& role, std::string_view prefix) {
    canvas_.box(box, fill(role[static_cast<std::size_t>(index)]));
    const std::string words = fmt::format("{}{}", prefix, index);
    canvas_.label(box.centre(), fmt::format("ink middle {}", label_size(box.width, words.size())), words);
  }

  // Which bits are not the problem's own.
  void braces(double y) {
    const auto brace = [&](int low, int count, const std::string& words) {
      if (count == 0) return;
      const Box right = bit_box(low, y);
      const Box left = bit_box(low + count - 1, y);
      canvas_.line({left.x, y - 6}, {right.x + right.width, y - 6}, "rule");
      canvas_.label({(left.x + right.x + right.width) / 2, y - 15}, "note small middle", words);
    };
    const int units = plan_.unit_bits_per_element();
    const int folded = plan_.folded_batch_bits();
    brace(0, units, units > 2 ? "unit in element" : "unit");
    brace(units, n_ - units - folded, n_ - units - folded > 3 ? "element in array" : "element");
    brace(n_ - folded, folded, "array of batch");
  }

  double matrix(double top) {
    const double cell = std::min(24.0, 480.0 / n_);
    const double x0 = kMargin + 64;
    const double y0 = top + 34;
    canvas_.label({x0 - 34, y0 + cell * n_ / 2}, "end", "y =");
    canvas_.label({x0 + cell * n_ / 2, top - 2}, "middle", "A x");
    canvas_.label({x0 + cell * (n_ + 1.5), top - 2}, "middle", "^ c");
    for (int j = 0; j < n_; ++j) {
      header(j, {x0 + cell * j, y0 - 24, cell - 1, 20}, source_);
      header(j, {x0 - 28, y0 + cell * j, 24, cell - 1}, target_);
      for (int i = 0; i < n_; ++i)
        entry(i, pass_.map.matrix().at(i, j), j, {x0 + cell * j, y0 + cell * i, cell, cell});
      entry(j, f2::bit(pass_.map.complement(), j), n_, {x0 + cell * (n_ + 1), y0 + cell * j, cell, cell});
    }
    const int s = segment_bits();
    if (s > 0 && s < n_) canvas_.box({x0, y0 + cell * s, cell * s, cell * (n_ - s)}, "outline");
    const double notes_end = notes(x0 + cell * (n_ + 2) + 30, y0 + 12);
    return std::max(y0 + cell * n_, notes_end) + 12;
  }

  int segment_bits() const {
    const bool tiled = pass_.kind == PassKind::segments || pass_.kind == PassKind::tile;
    return tiled ? pass_.tile.segment_bits : 0;
  }

  void header(int index, const Box& box, const std::vector<BitRole>& role) {
    canvas_.box(box, fill(role[static_cast<std::size_t>(index)]));
    const double room = std::min(box.width, box.height);
    if (room < 12 && index % 2 != 0) return;
    canvas_.label(box.centre(), fmt::format("ink middle {}", room >= 17 ? "small" : "tiny"),
                  fmt::format("{}", index));
  }

  // Ones that stay inside the segment, ones that leave it (they make the rank), and the others.
  void entry(int row, bool one, int column, const Box& box) {
    const int s = segment_bits();
    const bool low = column < s;
    canvas_.box(box, !one ? "zero" : !low ? "one" : row < s ? "one-low" : "one-spread");
  }

  double notes(double x, double y) {
    const auto line = [&](std::string_view classes, const std::string& words) {
      canvas_.text({x, y}, classes, words);
      y += 19;
    };
    const bool roomy = x < kWidth - 320;
    if (!roomy) return y;
    line("note", "Row i: the bits of x whose sum is bit i of y.");
    const int units = plan_.unit_bits_per_element();
    const int folded = plan_.folded_batch_bits();
    if (units > 0) line("note", fmt::format("Lowest {}: which unit of an element.", count_bits(units)));
    if (folded > 0) line("note", fmt::format("Highest {}: which array of the batch.", count_bits(folded)));
    if (segment_bits() == 0) return y;
    const int s = segment_bits();
    line("note", fmt::format("Columns 0 to {}: the directions of a segment.", s - 1));
    if (s < n_) {
      const int rank = pass_.map.rank_gamma(s);
      line("note", "Outlined: how they leave the target's segments.");
      const std::uint64_t rows = std::uint64_t{1} << pass_.tile.row_bits;
      if (rank == 0 && rows == 1) {
        line("note", "All zero: they do not, and a tile is one segment.");
      } else if (rank == pass_.tile.row_bits) {
        line("note", fmt::format("Its rank, gamma = {}, makes {} rows a tile.", rank, rows));
      } else {  // in place, where the tile also holds what it is written to, and in kernels that want more
                // rows
        line("note", fmt::format("Its rank, gamma, is {}; the tile has {} rows.", rank, rows));
      }
    }
    if (pass_.tile.row_bits > 0) {
      y += 6;
      line("", "The tile's rows start at the XORs of");
      const auto pair = [&](std::string_view classes, const std::string& source, const std::string& target) {
        canvas_.text({x + 110, y}, classes, source);
        canvas_.text({x + 220, y}, classes, target);
        y += 18;
      };
      pair("small end note", "source", "target");
      constexpr int most = 10;
      const int shown = std::min(pass_.tile.row_bits, most);
      for (int i = 0; i < shown; ++i) {
        const auto k = static_cast<std::size_t>(i);
        pair("mono small end", detail::hex(pass_.tile.source_rows[k]),
             detail::hex(pass_.tile.target_rows[k]));
      }
      if (shown < pass_.tile.row_bits)
        line("note small", fmt::format("and {} more", pass_.tile.row_bits - shown));
    }
    return y;
  }

  Canvas& canvas_;
  const Plan& plan_;
  const Pass& pass_;
  int n_;
  std::vector<BitRole> source_;
  std::vector<BitRole> target_;
};

}  // namespace

double draw_index_bits(Canvas& canvas, const Plan& plan, const Pass& pass, double top) {
  return BitsSection(canvas, plan, pass).draw(top);
}

}  // namespace faro::svg
