// The sweeps of axes whose fastest is another one on each side: matrices, transposed by squares of bytes, or
// of lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packed/bit_lines.hpp"
#include "packed/bit_runs.hpp"
#include "packed/bit_sweep.hpp"
#include "packed/squares.hpp"
#include "rounding.hpp"

namespace faro::packed {

// Long rows, which the processor fetches by itself, and of the columns one line at a time.
inline constexpr std::uint64_t kRowBytes = 1024;
inline constexpr std::uint64_t kColumnBytes = 64;
inline constexpr std::uint64_t kBytesAhead = 8192;  // fetched: more would share sets of the caches
inline constexpr std::uint64_t kLeastAhead = 8;     // rows
inline constexpr std::uint64_t kMostAhead = 64;
// Where columns do not begin with lines of memory, a tile's have parts that do, a line longer at most.
inline constexpr std::uint64_t kSkewedRowBytes = 256;
inline constexpr std::uint64_t kSkewedColumnBytes = 256;
inline constexpr std::uint64_t kMostPerByte = 8;
// Of a tile, with those that its columns go on in and those of the next one that are fetched.
inline constexpr std::uint64_t kMostRows =
    kMostPerByte * std::max(kColumnBytes, kSkewedColumnBytes) + kLineBits + kMostAhead + kMostPerByte;

// So many rows and columns of a matrix, from row and column on.
struct Tile {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  Place matrix = {};
};

// The axes of matrices: rows, columns, and what there is of both.
class MatrixAxes {
 protected:
  MatrixAxes(const BitAxes& axes, const detail::AxisMap& part, std::size_t fastest_input,
             const std::byte* out)
      : bits_(axes.element_bits),
        in_order_(axes.in_order),
        out_order_(axes.out_order),
        out_bit_(reinterpret_cast<std::uintptr_t>(out) % kLineBytes * kBitsOfByte) {
    detail::AxisMap map = part;
    if (map.axes[fastest_input].in < 0) detail::flip(map, fastest_input);
    first_ = {.in = map.in_first, .out = map.out_first};
    columns_ = map.axes[fastest_input];
    const std::size_t last = std::min(end_to_end(map.axes, 0, bits_), fastest_input);
    for (std::size_t i = 0; i < map.axes.size(); ++i) {
      if (i != fastest_input) (i < last ? rows_ : others_).push_back(map.axes[i]);
    }
    all_rows_ = detail::unit_count(rows_);
  }

  // Where rows from `row` on begin in the input, at `column`: rows of the first axis are a stride apart.
  void find_rows(const Place& matrix, std::uint64_t row, std::uint64_t column,
                 std::span<std::uint64_t> bits) const {
    const std::uint64_t run = rows_.empty() ? 1 : rows_.front().extent;
    while (!bits.empty()) {
      std::int64_t bit = place_of(row, rows_, matrix).in + static_cast<std::int64_t>(column * bits_);
      const std::uint64_t count = std::min<std::uint64_t>(run - row % run, bits.size());
      for (std::uint64_t r = 0; r < count; ++r, bit += rows_.empty() ? 0 : rows_.front().in)
        bits[r] = static_cast<std::uint64_t>(bit);
      row += count;
      bits = bits.subspan(count);
    }
  }

  std::uint32_t bits_;
  BitOrder in_order_;
  BitOrder out_order_;
  std::uint64_t out_bit_;  // of the output's first byte, in its line of memory
  Place first_;
  std::vector<detail::StridedAxis> rows_;  // end to end in the output
  std::uint64_t all_rows_ = 0;
  detail::StridedAxis columns_;  // side by side in the input
  std::vector<detail::StridedAxis> others_;
};

class MatrixSweep : MatrixAxes {
 public:
  MatrixSweep(const BitAxes& axes, const detail::AxisMap& part, std::size_t fastest_input,
              const std::byte* out)
      : MatrixAxes(axes, part, fastest_input, out) {
    per_byte_ = static_cast<std::uint32_t>(kMostPerByte / bits_);
    is_skewed_ = !begins_at(kLineBits) && begins_at(bits_);
    tile_ = {.rows = std::min((is_skewed_ ? kSkewedColumnBytes : kColumnBytes) * per_byte_, all_rows_),
             .columns = std::min((is_skewed_ ? kSkewedRowBytes : kRowBytes) * per_byte_, columns_.extent)};
    more_rows_ = is_skewed_ ? kLineBits / bits_ - 1 : 0;
    down_ = detail::ceil_div(all_rows_, tile_.rows);
    across_ = detail::ceil_div(columns_.extent, tile_.columns);
  }

  std::uint64_t count() const { return detail::unit_count(others_) * down_ * across_; }

  // Bytes that move() needs: rows of bytes, their transpose, rows of the input that begin inside a byte, and
  // a piece of a column.
  std::uint64_t buffer_bytes() const {
    return 2 * padded_columns() * padded_groups() + kMostPerByte * kRowBytes + kRowBytes;
  }

  void move(const Arrays& arrays, std::uint64_t number, std::byte* buffer) const {
    const Tile tile = tile_at(number);
    const Tile next = number + 1 < count() ? tile_at(number + 1) : tile;
    const ByteRows squares{buffer, padded_columns()};
    const ByteRows turned{buffer + padded_columns() * padded_groups(), padded_groups()};
    std::byte* const loaded = turned.data + padded_columns() * padded_groups();
    const std::uint64_t rows = loaded_rows(tile);
    const std::uint64_t groups = detail::ceil_div(rows, std::uint64_t{per_byte_});
    std::array<std::uint64_t, kMostRows> row_bits;  // and of what is fetched behind them
    const std::uint64_t more = std::min(kMostAhead + kMostPerByte, loaded_rows(next));
    find_rows(tile.matrix, tile.row, tile.column, std::span(row_bits).first(rows));
    find_rows(next.matrix, next.row, next.column, std::span(row_bits).subspan(rows, more));
    const auto known = std::span<const std::uint64_t>(row_bits).first(rows + more);
    for (std::uint64_t group = 0; group < groups; ++group) {
      fetch_rows(arrays.in, tile, known, group * per_byte_);
      make_square_rows(arrays.in, tile, known.first(rows), group, loaded,
                       squares.data + group * squares.pitch);
    }
    transpose_bytes(squares, detail::round_up(groups, kByteTileRows),
                    detail::round_up(bytes_of_bits(tile.columns * bits_) * per_byte_, kByteTileColumns),
                    turned);
    store_columns(arrays, tile, turned, loaded + kMostPerByte * kRowBytes);
  }

 private:
  Tile tile_at(std::uint64_t number) const {
    Tile tile{.row = number % down_ * tile_.rows, .column = number / down_ % across_ * tile_.columns};
    tile.rows = std::min(tile_.rows, all_rows_ - tile.row);
    tile.columns = std::min(tile_.columns, columns_.extent - tile.column);
    tile.matrix = place_of(number / down_ / across_, others_, first_);
    return tile;
  }

  std::uint64_t padded_columns() const {
    return detail::round_up(bytes_of_bits(tile_.columns * bits_) * per_byte_, kByteTileColumns);
  }
  std::uint64_t padded_groups() const {
    return detail::round_up(detail::ceil_div(loaded_rows(tile_), std::uint64_t{per_byte_}), kByteTileRows);
  }

  // A group's rows of further on, or of the beginning of the next tile.
  void fetch_rows(const std::byte* in, const Tile& tile, std::span<const std::uint64_t> row_bits,
                  std::uint64_t first) const {
    const std::uint64_t bits = tile.columns * bits_;
    const std::uint64_t ahead = std::clamp(kBytesAhead / bytes_of_bits(bits), kLeastAhead, kMostAhead);
    const std::uint64_t end = std::min<std::uint64_t>(first + ahead + per_byte_, row_bits.size());
    for (std::uint64_t row = first + ahead; row < end; ++row) {
      const std::byte* const last = in + (row_bits[row] + bits) / kBitsOfByte;
      for (const std::byte* from = in + row_bits[row] / kBitsOfByte; from < last; from += kLineBytes)
        __builtin_prefetch(from);
      __builtin_prefetch(last);
    }
  }

  // Element c of the input's byte row is in half c mod P; an output whose high bits are first has row 0
  // there.
  void make_square_rows(const std::byte* in, const Tile& tile, std::span<const std::uint64_t> row_bits,
                        std::uint64_t group, std::byte* loaded, std::byte* to) const {
    static constexpr std::array<std::byte, kRowBytes> kNoRow{};
    const std::byte* rows[kMostPerByte] = {};
    for (std::uint32_t i = 0; i < per_byte_; ++i) {
      const std::uint64_t row = group * per_byte_ + i;
      const std::uint32_t place = out_order_ == BitOrder::low_first ? i : per_byte_ - 1 - i;
      rows[place] =
          row < row_bits.size() ? row_of(in, tile, row_bits[row], loaded + i * kRowBytes) : kNoRow.data();
    }
    transpose_squares(rows, bytes_of_bits(tile.columns * bits_), bits_, to);
  }

  const std::byte* row_of(const std::byte* in, const Tile& tile, std::uint64_t first,
                          std::byte* loaded) const {
    if (first % kBitsOfByte == 0) return in + first / kBitsOfByte;
    load_run(in, first, tile.columns * bits_, in_order_, loaded);
    return loaded;
  }

  // Whether all columns' first bits are multiples of so many, from a line of memory on.
  bool begins_at(std::uint64_t bits) const {
    const auto is_multiple = [&](std::int64_t number) {
      return number % static_cast<std::int64_t>(bits) == 0;
    };
    return is_multiple(static_cast<std::int64_t>(out_bit_) + first_.out) && is_multiple(columns_.out) &&
           std::all_of(others_.begin(), others_.end(),
                       [&](const detail::StridedAxis& axis) { return is_multiple(axis.out); });
  }

  // Rows that a tile has with those that its columns go on in until a line ends.
  std::uint64_t loaded_rows(const Tile& tile) const {
    return std::min(tile.rows + more_rows_, all_rows_ - tile.row);
  }

  // Where the part of a column begins whose tile begins at `row`: in a skewed sweep with a line of memory, so
  // that lines are written whole.
  std::uint64_t part_of(std::uint64_t row, std::uint64_t column_bit) const {
    if (row == 0 || row >= all_rows_ || !is_skewed_) return std::min(row, all_rows_);
    const std::uint64_t into_line = (out_bit_ + column_bit + row * bits_) % kLineBits;
    return std::min(row + (kLineBits - into_line) % kLineBits / bits_, all_rows_);
  }

  void store_columns(const Arrays& arrays, const Tile& tile, const ByteRows& turned, std::byte* piece) const {
    constexpr std::uint64_t kColumns = 64;  // whose lines are stored together
    const std::uint64_t row_bytes = bytes_of_bits(tile.columns * bits_);
    std::array<LineRun, kColumns> lines;
    for (std::uint64_t first = 0; first < tile.columns; first += kColumns) {
      std::size_t count = 0;
      for (std::uint64_t c = first; c < std::min(first + kColumns, tile.columns); ++c) {
        const std::uint64_t half =
            in_order_ == BitOrder::low_first ? c % per_byte_ : per_byte_ - 1 - c % per_byte_;
        const std::byte* const from = turned.data + (half * row_bytes + c / per_byte_) * turned.pitch;
        const auto column_bit = static_cast<std::uint64_t>(
            tile.matrix.out + static_cast<std::int64_t>(tile.column + c) * columns_.out);
        const std::uint64_t begin = part_of(tile.row, column_bit);
        std::uint64_t bits = (part_of(tile.row + tile.rows, column_bit) - begin) * bits_;
        std::uint64_t from_bit = (begin - tile.row) * bits_;
        std::uint64_t to_bit = column_bit + begin * bits_;
        if ((out_bit_ + to_bit) % kLineBits == 0 && bits >= kLineBits) {
          LineRun& run = lines[count++];
          run = {.from = from + from_bit / kBitsOfByte,
                 .to = arrays.out + to_bit / kBitsOfByte,
                 .bytes = bits / kLineBits * kLineBytes,
                 .down = static_cast<int>(from_bit % kBitsOfByte)};
          from_bit += run.bytes * kBitsOfByte;
          to_bit += run.bytes * kBitsOfByte;
          bits -= run.bytes * kBitsOfByte;
        }
        if (bits == 0) continue;
        load_run(from, from_bit, bits, out_order_, piece);
        store_run(piece, bits, out_order_, arrays.out, to_bit, arrays.streamed);
      }
      store_lines(std::span(lines).first(count), out_order_ == BitOrder::low_first, arrays.streamed);
    }
  }

  bool is_skewed_ = false;
  std::uint64_t more_rows_ = 0;
  std::uint32_t per_byte_ = 1;
  Tile tile_;  // the largest
  std::uint64_t down_ = 1;
  std::uint64_t across_ = 1;
};

// The same by squares of lines (bit_lines.hpp): strips of columns, down through many rows, so that lines of
// memory are made of two lines that were turned one after the other.
class LineMatrixSweep : MatrixAxes {
 public:
  LineMatrixSweep(const BitAxes& axes, const detail::AxisMap& part, std::size_t fastest_input,
                  const std::byte* out)
      : MatrixAxes(axes, part, fastest_input, out),
        side_(kLineBits / bits_),
        square_(square_program(bits_, in_order_ != out_order_)),
        strip_(std::min(std::min(kStripSquares * side_, kStripColumns),
                        detail::round_up(columns_.extent, side_))),
        down_(detail::ceil_div(all_rows_, kChunkSquares * side_)),
        across_(detail::ceil_div(columns_.extent, strip_)) {}

  // Whether rows make lines.
  bool is_worth() const { return all_rows_ >= side_; }

  std::uint64_t count() const { return detail::unit_count(others_) * down_ * across_; }
  std::uint64_t buffer_bytes() const { return ((kKeptLines + 1) * strip_ + side_ + 2) * kLineBytes; }

  void move(const Arrays& arrays, std::uint64_t number, std::byte* buffer) const {
    const Place matrix = place_of(number / down_ / across_, others_, first_);
    const std::uint64_t first_row = number % down_ * kChunkSquares * side_;
    const std::uint64_t first_column = number / down_ % across_ * strip_;
    const std::uint64_t rows = std::min(kChunkSquares * side_, all_rows_ - first_row);
    const std::uint64_t columns = std::min(strip_, columns_.extent - first_column);
    const std::uint64_t squares = detail::ceil_div(columns, side_);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer);
    auto* const lines =
        reinterpret_cast<LineImage*>(buffer + (detail::round_up(address, kLineBytes) - address));
    LineImage* const loaded = lines + side_;
    KeptColumns kept{
        .lines = loaded + strip_,
        .count = columns,
        .out = arrays.out,
        .line_bit = out_bit_,
        .first_bit =
            static_cast<std::uint64_t>(matrix.out + static_cast<std::int64_t>(first_column) * columns_.out +
                                       static_cast<std::int64_t>(first_row * bits_)),
        .pitch_bits = static_cast<std::uint64_t>(columns_.out),
        .is_high_first = out_order_ == BitOrder::high_first,
        .streamed = arrays.streamed,
    };
    const bool is_aligned = ((out_bit_ + kept.first_bit) | kept.pitch_bits) % kLineBits == 0;
    // Of the rows of a square, and of the next one.
    std::array<std::uint64_t, 2 * kLineBits> row_bits;
    const auto load = [&](std::uint64_t line, std::uint64_t slot) {
      const std::uint64_t left = rows - std::min(rows, line * side_);
      const std::uint64_t there = std::min(side_, left);
      const std::uint64_t known = std::min(2 * side_, left);
      std::copy_n(row_bits.begin() + static_cast<std::ptrdiff_t>(side_), line == 0 ? 0 : there,
                  row_bits.begin());
      const std::uint64_t found = line == 0 ? 0 : std::min(side_, known);
      find_rows(matrix, first_row + line * side_ + found, first_column,
                std::span(row_bits).first(known).subspan(found));
      if (there == 0) return;
      load_squares({.in = arrays.in,
                    .first_bits = row_bits.data(),
                    .rows = there,
                    .rows_after = known - there,
                    .bits = columns * bits_,
                    .is_high_first = in_order_ == BitOrder::high_first},
                   side_, loaded);
      for (std::uint64_t s = 0; s < squares; ++s)
        turn_square(square_, loaded + s * side_, lines, kept.lines + kKeptLines * s * side_ + slot);
    };
    const auto is_whole = [&](std::uint64_t line) {
      return (line > 0 || is_aligned) && (line + 1) * side_ <= rows;
    };
    constexpr std::uint64_t kNew = kKeptLines - 1;
    for (; kept.line * side_ < rows + side_; kept.line += kNew) {
      for (std::uint64_t slot = 0; slot < kNew; ++slot) load(kept.line + slot, slot + 1);
      if (is_whole(kept.line) && is_whole(kept.line + kNew - 1)) {
        packed::store_columns(kept, 0, kNew);
      } else {
        for (std::uint64_t slot = 0; slot < kNew; ++slot) {
          is_whole(kept.line + slot) ? packed::store_columns(kept, slot, 1)
                                     : store_parts(kept, slot, rows * bits_);
        }
      }
      keep_lines(kept);
    }
  }

 private:
  static constexpr std::uint64_t kStripSquares = 8;     // that lie side by side
  static constexpr std::uint64_t kStripColumns = 2048;  // of which lines are kept
  static constexpr std::uint64_t kChunkSquares = 32;    // one below the other

  // A line that columns begin or end in, of which the first `bits` are there.
  void store_parts(const KeptColumns& kept, std::uint64_t slot, std::uint64_t bits) const {
    std::array<std::byte, kLineBytes> made;
    const std::uint64_t line = kept.line + slot;
    for (std::uint64_t c = 0; c < kept.count; ++c) {
      const std::uint64_t column_bit = kept.first_bit + c * kept.pitch_bits;
      const std::uint64_t into_line = (out_bit_ + column_bit) % kLineBits;
      const std::uint64_t skipped = line == 0 ? into_line : 0;
      const std::uint64_t begin = line * kLineBits + skipped - into_line;
      const std::uint64_t end = std::min(bits, (line + 1) * kLineBits - into_line);
      if (end <= begin) continue;
      make_column(kept, c, slot, made.data());
      store_placed_run(made.data(), skipped, end - begin, out_order_, kept.out, column_bit + begin, false);
    }
  }

  std::uint64_t side_;  // of a square, elements
  BitLines square_;
  std::uint64_t strip_;  // columns
  std::uint64_t down_;
  std::uint64_t across_;
};

}  // namespace faro::packed
