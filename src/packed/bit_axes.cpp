#include "packed/bit_axes.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>

#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/team.hpp"
#include "packed/bit_lines.hpp"
#include "packed/bit_runs.hpp"
#include "packed/squares.hpp"
#include "rounding.hpp"

namespace faro::packed {
namespace {

using detail::AxisMap;
using detail::StridedAxis;

// Long rows, which the processor fetches by itself, and of the columns one line at a time.
constexpr std::uint64_t kRowBytes = 1024;
constexpr std::uint64_t kColumnBytes = 64;
constexpr std::uint64_t kBytesAhead = 8192;  // fetched: more would share sets of the caches
constexpr std::uint64_t kLeastAhead = 8;     // rows
constexpr std::uint64_t kMostAhead = 64;
// Where columns do not begin with lines of memory, a tile's have parts that do, a line longer at most.
constexpr std::uint64_t kSkewedRowBytes = 256;
constexpr std::uint64_t kSkewedColumnBytes = 256;
constexpr std::uint64_t kRunBits = 8ULL * 16 * 1024;  // of a piece of a long run
constexpr std::uint64_t kLineBytes = 64;
constexpr std::uint64_t kLineBits = 8 * kLineBytes;
constexpr std::uint32_t kMostPerByte = 8;

// The axes of an affine map that only permutes and flips bits.
std::optional<AxisMap> axes_of_bits(const Affine& map) {
  AxisMap axes;
  for (int i = 0; i < map.bits(); ++i) {
    const f2::Word image = map.matrix().column(i);
    if (!f2::is_power_of_two(image)) return std::nullopt;
    StridedAxis axis{.extent = 2, .in = std::int64_t{1} << i, .out = static_cast<std::int64_t>(image)};
    if ((map.complement() & image) != 0) {
      axes.in_first += axis.in;
      axis.in = -axis.in;
    }
    axes.axes.push_back(axis);
  }
  return axes;
}

AxisMap axes_of_cycle(const Cyclic& cycle) {
  const auto count = static_cast<std::int64_t>(cycle.count);
  StridedAxis axis{.extent = cycle.count, .in = 1, .out = 1, .shift = cycle.shift};
  if (!cycle.reversed || count == 0) return {.axes = {axis}};
  // out[j] = in[s - j]: backwards from the end is in[n - 1 - j], so that it is rolled by s + 1.
  axis.in = -1;
  axis.shift = (cycle.shift + 1) % cycle.count;
  return {.axes = {axis}, .in_first = count - 1};
}

std::optional<AxisMap> element_axes(const Permutation& permutation) {
  if (const auto* map = std::get_if<Affine>(&permutation)) return axes_of_bits(*map);
  if (const auto* axes = std::get_if<Axes>(&permutation)) return axes->map();
  if (const auto* axes = std::get_if<CyclicAxes>(&permutation)) return axes->map();
  if (const auto* cycle = std::get_if<Cyclic>(&permutation)) return axes_of_cycle(*cycle);
  return std::nullopt;
}

struct Side {
  const PackedLayout& layout;
  std::int64_t StridedAxis::*stride;
};

// Cuts axes where they leave rows of the side's layout.
std::optional<AxisMap> cut_at_rows(const AxisMap& map, const Side& side) {
  const std::uint64_t row = side.layout.row_elements;
  if (row == 0) return map;
  AxisMap finer = map;
  finer.axes.clear();
  std::uint64_t reach = 0;  // inside of a row
  for (const StridedAxis& axis : map.axes) {
    const auto stride = static_cast<std::uint64_t>(std::abs(axis.*side.stride));
    const bool is_of_rows = stride % row == 0;
    if (is_of_rows || (axis.extent - 1) * stride < row) {
      if (!is_of_rows) reach += (axis.extent - 1) * stride;
      finer.axes.push_back(axis);
      continue;
    }
    if (row % stride != 0) return std::nullopt;
    const auto parts = detail::split(axis, row / stride);
    if (!parts) return std::nullopt;
    reach += row - stride;
    finer.axes.push_back(parts->first);
    finer.axes.push_back(parts->second);
  }
  if (reach >= row) return std::nullopt;
  return finer;
}

std::int64_t stride_in_bits(std::int64_t stride, const PackedLayout& layout, std::uint32_t element_bits) {
  const auto row = static_cast<std::int64_t>(layout.row_elements);
  if (row != 0 && stride % row == 0) return stride / row * static_cast<std::int64_t>(layout.pitch_bits);
  return stride * static_cast<std::int64_t>(element_bits);
}

AxisMap in_bits(AxisMap map, const PackedProblem& problem) {
  for (StridedAxis& axis : map.axes) {
    axis.in = stride_in_bits(axis.in, problem.in, problem.element_bits);
    axis.out = stride_in_bits(axis.out, problem.out, problem.element_bits);
  }
  const auto place = [&](const PackedLayout& layout, std::int64_t first) {
    return static_cast<std::int64_t>(
        packed_position(layout, problem.element_bits, static_cast<std::uint64_t>(first)));
  };
  map.in_first = place(problem.in, map.in_first);
  map.out_first = place(problem.out, map.out_first);
  return map;
}

std::uint64_t magnitude(std::int64_t stride) { return static_cast<std::uint64_t>(std::abs(stride)); }

// The input's fastest axis; nothing where none is dense.
std::optional<std::size_t> fastest_of_input(const AxisMap& map, std::uint32_t element_bits) {
  for (std::size_t i = 0; i < map.axes.size(); ++i) {
    if (magnitude(map.axes[i].in) == element_bits) return i;
  }
  return std::nullopt;
}

std::uint64_t extent_of_fastest(const AxisMap& map, std::uint32_t element_bits) {
  if (map.axes.empty()) return 1;
  const auto input = fastest_of_input(map, element_bits);
  const StridedAxis& output = map.axes.front();
  if (!input || output.out != static_cast<std::int64_t>(element_bits)) return 1;
  return *input == 0 ? output.extent : output.extent * map.axes[*input].extent;
}

// Where the n-th of the units that some axes number lies, on both sides.
struct Place {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
Place place_of(std::uint64_t number, const std::vector<StridedAxis>& axes, Place first) {
  for (const StridedAxis& axis : axes) {
    const auto j = static_cast<std::int64_t>(number % axis.extent);
    number /= axis.extent;
    first.in += j * axis.in;
    first.out += j * axis.out;
  }
  return first;
}

struct Arrays {
  const std::byte* in;
  std::byte* out;
  bool streamed;
};

// --- Runs
// ---------------------------------------------------------------------------------------------------

// Axes whose units of so many bits lie end to end in the output: as many as there are, from axis `first` on.
std::size_t end_to_end(const std::vector<StridedAxis>& axes, std::size_t first, std::uint64_t bits) {
  std::size_t next = first;
  for (; next < axes.size() && axes[next].out == static_cast<std::int64_t>(bits); ++next)
    bits *= axes[next].extent;
  return next;
}

// Runs that lie end to end in the output are brought together, a piece at a time that begins and ends where
// lines of memory do, as far as there is another one beside it.
class RunSweep {
 public:
  RunSweep(const BitAxes& axes, const AxisMap& part, const std::byte* out)
      : axes_(axes),
        first_{.in = part.in_first, .out = part.out_first},
        out_bit_(reinterpret_cast<std::uintptr_t>(out) % kLineBytes * kBitsOfByte) {
    bits_ = part.axes.front().extent * axes.element_bits;
    const std::size_t last = end_to_end(part.axes, 1, bits_);
    runs_.assign(part.axes.begin() + 1, part.axes.begin() + static_cast<std::ptrdiff_t>(last));
    others_.assign(part.axes.begin() + static_cast<std::ptrdiff_t>(last), part.axes.end());
    stretch_bits_ = bits_ * detail::unit_count(runs_);
    backwards_ = part.axes.front().in < 0;
    const bool turns = axes.in_order != axes.out_order;
    turn_ = {.backwards = backwards_, .element_bits = backwards_ != turns ? axes.element_bits : 0};
    pieces_ = detail::ceil_div(stretch_bits_ + kLineBits - 1, kRunBits);
    ahead_ = detail::ceil_div(kBitsAhead, bits_);
  }

  std::uint64_t count() const { return detail::unit_count(others_) * pieces_; }
  static constexpr std::uint64_t buffer_bytes() { return 3 * kBufferBytes; }

  void move(const Arrays& arrays, std::uint64_t number, std::byte* buffer) const {
    const Place stretch = place_of(number / pieces_, others_, first_);
    const std::uint64_t into_line = (out_bit_ + static_cast<std::uint64_t>(stretch.out)) % kLineBits;
    const std::uint64_t piece = number % pieces_ * kRunBits;
    // Elements that may be turned are not cut, where they lie across bytes.
    const bool is_cut = !packs_bytes(axes_.element_bits);
    const std::uint64_t skew = is_cut ? into_line : into_line - into_line % axes_.element_bits;
    const std::uint64_t begin = std::max(piece, skew) - skew;
    const std::uint64_t end = std::min(piece + kRunBits - skew, stretch_bits_);
    if (begin >= end) return;
    const std::uint64_t first_place = (into_line + begin) % kLineBits;
    std::uint64_t at = first_place;
    std::uint64_t skipped = begin % bits_;  // of the first run
    for (std::uint64_t run = begin / bits_, left = end - begin; left != 0; ++run) {
      const std::uint64_t bits = std::min(bits_ - skipped, left);
      const Place place = place_of(run, runs_, stretch);
      if (bits_ < kRunBits && !runs_.empty()) fetch_ahead(arrays.in, place);
      append(arrays.in, static_cast<std::uint64_t>(place.in), skipped, bits, buffer, at);
      at += bits;
      left -= bits;
      skipped = 0;
    }
    store_placed_run(buffer, first_place, end - begin, axes_.out_order, arrays.out,
                     static_cast<std::uint64_t>(stretch.out) + begin, arrays.streamed);
  }

 private:
  static constexpr std::uint64_t kBitsAhead = 24 * kLineBits;
  static constexpr std::uint64_t kBufferBytes = kRunBits / kBitsOfByte + kLineBytes;

  // Of a run at `first` the bits from `skipped` on, in the output's order.
  void append(const std::byte* in, std::uint64_t first, std::uint64_t skipped, std::uint64_t bits,
              std::byte* buffer, std::uint64_t at) const {
    // Backwards from the last element on: it lies lowest.
    std::uint64_t from = backwards_ ? first + axes_.element_bits - skipped - bits : first + skipped;
    if (turn_.backwards || turn_.element_bits != 0) {
      std::byte* const loaded = buffer + 2 * kBufferBytes;
      if (from % axes_.element_bits != 0) {  // elements lie across bytes
        load_run(in, from, bits, axes_.in_order, loaded);
        in = loaded;
        from = 0;
      }
      in += from / kBitsOfByte;
      from %= kBitsOfByte;
      const std::uint64_t bytes = bytes_of_bits(from + bits);
      std::byte* const turned = buffer + kBufferBytes;
      turn_bytes(reinterpret_cast<const std::uint8_t*>(in), bytes, turn_,
                 reinterpret_cast<std::uint8_t*>(turned));
      if (backwards_) from = bytes * kBitsOfByte - from - bits;
      in = turned;
    }
    append_run(in, from, bits, axes_.out_order, buffer, at);
  }

  // The lines of a run that comes later.
  void fetch_ahead(const std::byte* in, const Place& run) const {
    const std::int64_t later = run.in + static_cast<std::int64_t>(ahead_) * runs_.front().in;
    const std::byte* const from = in + later / static_cast<std::int64_t>(kBitsOfByte);
    for (std::uint64_t byte = 0; byte < bits_ / kBitsOfByte + kLineBytes; byte += kLineBytes)
      __builtin_prefetch(from + byte);
  }

  const BitAxes& axes_;
  std::vector<StridedAxis> runs_;    // end to end in the output
  std::vector<StridedAxis> others_;  // stretches of such
  Place first_;
  std::uint64_t out_bit_;  // of the output's first byte, in its line of memory
  std::uint64_t bits_ = 0;
  std::uint64_t stretch_bits_ = 0;
  std::uint64_t pieces_ = 1;
  std::uint64_t ahead_ = 1;  // runs
  bool backwards_ = false;
  ByteTurn turn_;
};

// --- Matrices
// -----------------------------------------------------------------------------------------------

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
  MatrixAxes(const BitAxes& axes, const AxisMap& part, std::size_t fastest_input, const std::byte* out)
      : bits_(axes.element_bits),
        in_order_(axes.in_order),
        out_order_(axes.out_order),
        out_bit_(reinterpret_cast<std::uintptr_t>(out) % kLineBytes * kBitsOfByte) {
    AxisMap map = part;
    if (map.axes[fastest_input].in < 0) detail::flip(map, fastest_input);
    first_ = {.in = map.in_first, .out = map.out_first};
    columns_ = map.axes[fastest_input];
    const std::size_t last = std::min(end_to_end(map.axes, 0, bits_), fastest_input);
    for (std::size_t i = 0; i < map.axes.size(); ++i) {
      if (i != fastest_input) (i < last ? rows_ : others_).push_back(map.axes[i]);
    }
    all_rows_ = detail::unit_count(rows_);
  }

  std::uint32_t bits_;
  BitOrder in_order_;
  BitOrder out_order_;
  std::uint64_t out_bit_;  // of the output's first byte, in its line of memory
  Place first_;
  std::vector<StridedAxis> rows_;  // end to end in the output
  std::uint64_t all_rows_ = 0;
  StridedAxis columns_;  // side by side in the input
  std::vector<StridedAxis> others_;
};

class MatrixSweep : MatrixAxes {
 public:
  MatrixSweep(const BitAxes& axes, const AxisMap& part, std::size_t fastest_input, const std::byte* out)
      : MatrixAxes(axes, part, fastest_input, out) {
    per_byte_ = kMostPerByte / bits_;
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
    const std::uint64_t groups = detail::ceil_div(loaded_rows(tile), std::uint64_t{per_byte_});
    for (std::uint64_t group = 0; group < groups; ++group) {
      fetch_rows(arrays.in, tile, next, group * per_byte_);
      make_square_rows(arrays.in, tile, group, loaded, squares.data + group * squares.pitch);
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

  std::uint64_t bit_of_row(const Tile& tile, std::uint64_t row) const {
    return static_cast<std::uint64_t>(place_of(tile.row + row, rows_, tile.matrix).in) + tile.column * bits_;
  }

  // A group's rows of further on, or of the beginning of the next tile.
  void fetch_rows(const std::byte* in, const Tile& tile, const Tile& next, std::uint64_t first) const {
    const std::uint64_t row_bits = tile.columns * bits_;
    const std::uint64_t ahead = std::clamp(kBytesAhead / bytes_of_bits(row_bits), kLeastAhead, kMostAhead);
    for (std::uint64_t row = first + ahead; row < first + ahead + per_byte_; ++row) {
      const std::uint64_t bit =
          row < loaded_rows(tile) ? bit_of_row(tile, row) : bit_of_row(next, row - loaded_rows(tile));
      const std::byte* const end = in + (bit + row_bits) / kBitsOfByte;
      for (const std::byte* from = in + bit / kBitsOfByte; from < end; from += kLineBytes)
        __builtin_prefetch(from);
      __builtin_prefetch(end);
    }
  }

  // Element c of the input's byte row is in half c mod P; an output whose high bits are first has row 0
  // there.
  void make_square_rows(const std::byte* in, const Tile& tile, std::uint64_t group, std::byte* loaded,
                        std::byte* to) const {
    static constexpr std::array<std::byte, kRowBytes> kNoRow{};
    const std::byte* rows[kMostPerByte] = {};
    for (std::uint32_t i = 0; i < per_byte_; ++i) {
      const std::uint64_t row = group * per_byte_ + i;
      const std::uint32_t place = out_order_ == BitOrder::low_first ? i : per_byte_ - 1 - i;
      rows[place] = row < loaded_rows(tile) ? row_of(in, tile, row, loaded + i * kRowBytes) : kNoRow.data();
    }
    transpose_squares(rows, bytes_of_bits(tile.columns * bits_), bits_, to);
  }

  const std::byte* row_of(const std::byte* in, const Tile& tile, std::uint64_t row, std::byte* loaded) const {
    const std::uint64_t first = bit_of_row(tile, row);
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
                       [&](const StridedAxis& axis) { return is_multiple(axis.out); });
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
  LineMatrixSweep(const BitAxes& axes, const AxisMap& part, std::size_t fastest_input, const std::byte* out)
      : MatrixAxes(axes, part, fastest_input, out),
        side_(kLineBits / bits_),
        square_(square_program(bits_, in_order_ != out_order_)),
        strip_(std::min(kStripSquares * side_, detail::round_up(columns_.extent, side_))),
        down_(detail::ceil_div(all_rows_, kChunkSquares * side_)),
        across_(detail::ceil_div(columns_.extent, strip_)) {}

  // Whether rows make lines, and are read by more than a few of them, or lie close together.
  bool is_worth() const {
    constexpr std::uint64_t kCloseBits = std::uint64_t{8} * 4096;
    const bool is_close = rows_.size() == 1 && magnitude(rows_[0].in) <= kCloseBits;
    return all_rows_ >= side_ && (columns_.extent >= kStripSquares * side_ || is_close);
  }

  std::uint64_t count() const { return detail::unit_count(others_) * down_ * across_; }
  std::uint64_t buffer_bytes() const { return (3 * strip_ + side_ + 2) * kLineBytes; }

  void move(const Arrays& arrays, std::uint64_t number, std::byte* buffer) const {
    const Place matrix = place_of(number / down_ / across_, others_, first_);
    const std::uint64_t first_row = number % down_ * kChunkSquares * side_;
    const std::uint64_t first_column = number / down_ % across_ * strip_;
    const std::uint64_t rows = std::min(kChunkSquares * side_, all_rows_ - first_row);
    const std::uint64_t columns = std::min(strip_, columns_.extent - first_column);
    const std::uint64_t squares = detail::ceil_div(columns, side_);
    auto* const lines =
        reinterpret_cast<LineImage*>(detail::round_up(reinterpret_cast<std::uintptr_t>(buffer), kLineBytes));
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
    for (std::uint64_t line = 0; line * side_ < rows + side_; ++line) {
      const std::uint64_t left = rows - std::min(rows, line * side_);
      const std::uint64_t there = std::min(side_, left);
      const std::uint64_t known = std::min(2 * side_, left);
      std::copy_n(row_bits.begin() + static_cast<std::ptrdiff_t>(side_), line == 0 ? 0 : there,
                  row_bits.begin());
      for (std::uint64_t r = line == 0 ? 0 : side_; r < known; ++r)
        row_bits[r] = bit_of_row(matrix, first_row + line * side_ + r, first_column);
      if (there != 0) {
        load_squares({.in = arrays.in,
                      .first_bits = row_bits.data(),
                      .rows = there,
                      .rows_after = known - there,
                      .bits = columns * bits_,
                      .is_high_first = in_order_ == BitOrder::high_first},
                     side_, loaded);
        for (std::uint64_t s = 0; s < squares; ++s)
          turn_square(square_, loaded + s * side_, lines, kept.lines + 2 * s * side_);
      }
      kept.line = line;
      if ((line > 0 || is_aligned) && (line + 1) * side_ <= rows) {
        packed::store_columns(kept);
      } else {
        store_parts(kept, rows * bits_);
      }
      keep_lines(kept);
    }
  }

 private:
  static constexpr std::uint64_t kStripSquares = 8;   // that lie side by side
  static constexpr std::uint64_t kChunkSquares = 32;  // one below the other

  std::uint64_t bit_of_row(const Place& matrix, std::uint64_t row, std::uint64_t column) const {
    const std::int64_t in = rows_.size() == 1 ? matrix.in + static_cast<std::int64_t>(row) * rows_[0].in
                                              : place_of(row, rows_, matrix).in;
    return static_cast<std::uint64_t>(in) + column * bits_;
  }

  // A line that columns begin or end in, of which the first `bits` are there.
  void store_parts(const KeptColumns& kept, std::uint64_t bits) const {
    std::array<std::byte, kLineBytes> made;
    for (std::uint64_t c = 0; c < kept.count; ++c) {
      const std::uint64_t column_bit = kept.first_bit + c * kept.pitch_bits;
      const std::uint64_t into_line = (out_bit_ + column_bit) % kLineBits;
      const std::uint64_t skipped = kept.line == 0 ? into_line : 0;
      const std::uint64_t begin = kept.line * kLineBits + skipped - into_line;
      const std::uint64_t end = std::min(bits, (kept.line + 1) * kLineBits - into_line);
      if (end <= begin) continue;
      make_column(kept, c, made.data());
      store_placed_run(made.data(), skipped, end - begin, out_order_, kept.out, column_bit + begin, false);
    }
  }

  std::uint64_t side_;  // of a square, elements
  BitLines square_;
  std::uint64_t strip_;  // columns
  std::uint64_t down_;
  std::uint64_t across_;
};

template <typename Sweep>
void share_sweep(const Sweep& sweep, std::uint64_t buffer_bytes, const Arrays& arrays, int threads) {
  cpu::share_out(sweep.count(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    for (std::uint64_t i = begin; i < end; ++i) sweep.move(arrays, i, buffer.get());
    if (arrays.streamed) cpu::finish_streams();
  });
}

}  // namespace

std::optional<BitAxes> bit_axes(const PackedProblem& problem) {
  std::optional<AxisMap> map = element_axes(problem.permutation);
  if (!map) return std::nullopt;
  const bool turns = problem.in.order != problem.out.order;
  if (!packs_bytes(problem.element_bits) && turns) return std::nullopt;
  const auto count = static_cast<std::int64_t>(element_count(problem.permutation));
  if (problem.batch > 1) map->axes.push_back({.extent = problem.batch, .in = count, .out = count});
  if (problem.in.row_elements == 0 && problem.out.row_elements == 0) *map = detail::normal_form(*map);
  BitAxes axes{
      .element_bits = problem.element_bits, .in_order = problem.in.order, .out_order = problem.out.order};
  map = cut_at_rows(*map, {problem.in, &StridedAxis::in});
  if (map) map = cut_at_rows(*map, {problem.out, &StridedAxis::out});
  if (!map) return std::nullopt;
  for (const AxisMap& part : detail::unrolled(in_bits(*map, problem))) {
    axes.parts.push_back(detail::normal_form(part));
  }
  return axes;
}

std::uint64_t elements_at_once(const BitAxes& axes) {
  std::uint64_t elements = 0;
  std::uint64_t steps = 0;
  for (const AxisMap& part : axes.parts) {
    const std::uint64_t count = detail::unit_count(part.axes);
    if (count == 0) continue;
    // What is turned round, or transposed, is made of elements within bytes.
    const bool is_run =
        part.axes.empty() || part.axes.front().in == static_cast<std::int64_t>(axes.element_bits);
    const bool is_packed = is_run || packs_bytes(axes.element_bits);
    if (!is_packed) return 1;
    elements += count;
    steps += detail::ceil_div(count, extent_of_fastest(part, axes.element_bits));
  }
  return steps == 0 ? 1 : elements / steps;
}

bool has_runs(const BitAxes& axes) {
  return std::all_of(axes.parts.begin(), axes.parts.end(), [&](const AxisMap& part) {
    return fastest_of_input(part, axes.element_bits) == std::size_t{0};
  });
}

void move_axes(const BitAxes& axes, const std::byte* in, std::byte* out, bool streamed, int threads) {
  const Arrays arrays{.in = in, .out = out, .streamed = streamed};
  const auto element = static_cast<std::int64_t>(axes.element_bits);
  for (AxisMap part : axes.parts) {
    if (detail::unit_count(part.axes) == 0) continue;
    if (extent_of_fastest(part, axes.element_bits) == 1) {
      part.axes.insert(part.axes.begin(),
                       {.extent = 1, .in = element, .out = element});  // runs of one element
    }
    const std::size_t fastest = fastest_of_input(part, axes.element_bits).value();
    if (fastest == 0) {
      share_sweep(RunSweep(axes, part, out), RunSweep::buffer_bytes(), arrays, threads);
      continue;
    }
    if (has_bit_lines()) {
      const LineMatrixSweep sweep(axes, part, fastest, out);
      if (sweep.is_worth()) {
        share_sweep(sweep, sweep.buffer_bytes(), arrays, threads);
        continue;
      }
    }
    const MatrixSweep sweep(axes, part, fastest, out);
    share_sweep(sweep, sweep.buffer_bytes(), arrays, threads);
  }
}

}  // namespace faro::packed
