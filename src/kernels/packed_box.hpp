// Axes of packed elements box by box, in any order: short axes, odd ones, a few rows or columns.
//
//     box of the array        load     runs of the input, shifted to words, a row each in shared memory
//       out  ->               turn     words of the output's runs: squares of 2^q rows and a word transposed in
//     in  a b c d                      registers where no axis is part of both sides' runs; else element by
//     |   e f g h                      element, from where a table of the output's run says
//     v   i j k l             store    the output's runs, shifted to where they begin
//
// A run of a side is what lies there in one piece: all of its fastest axes but the last of them, of which a
// box has a part. Two axes of 17 x 40 that are the output's fastest are a run of 680 elements; that of the
// input may be 512 elements of a third axis, so that 680 rows of 512 are a box. What the box needs of its
// rows, columns and of the output's run is in tables that each block makes.
//
// Words in which a run begins or ends hold bits of others: bits are put in by atomic operations; words that
// are not wholly in the array are left out (packed_launch.hpp).
//
// Words are in two grids of 2^q lines a group, whose pitches keep lanes in different banks:
//
//     rows       word w of row g 2^q + i at      g group_pitch + i row_pitch + w,        group_pitch = words across
//     columns    word k of column g 2^q + i at   g strip_pitch + i column_pitch + k,     modulo 32
//
// The table of the output's run has a word of its elements every 2^q + 4 entries, for lanes that are words
// apart. Where whole axes fill words after a few steps of the last one the table has these steps alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "faro/device/division.hpp"
#include "kernels/packed_exchange.hpp"
#include "kernels/packed_words.hpp"
#include "permutation/axis_map.hpp"

namespace faro::kernels {

inline constexpr int kMostBoxAxes = 12;
inline constexpr int kMostBoxDigits = 8;

/// Numbers 0, 1 .. of a box's rows, columns or elements, as digits of its axes, the fastest first.
struct PackedBoxDigits {
  struct Digit {
    device::Division32 extent;
    std::int64_t far = 0;   // bits of an array, or rows
    std::int64_t near = 0;  // bits of shared memory
  };
  Digit digits[kMostBoxDigits] = {};
  std::int32_t count = 0;

  constexpr void add(std::uint32_t number, std::int64_t& far, std::int64_t& near) const {
    for (int d = 0; d < count; ++d) {
      const std::uint32_t rest = digits[d].extent.quotient(number);
      const std::int64_t j = number - rest * digits[d].extent.divisor();
      far += j * digits[d].far;
      near += j * digits[d].near;
      number = rest;
    }
  }
};

struct PackedBoxParams {
  struct Axis {
    std::uint64_t extent = 1;
    std::uint32_t part = 1;    // of a box
    device::Division32 boxes;  // along it
    std::int64_t in = 0;       // bits
    std::int64_t out = 0;
  };
  Axis axes[kMostBoxAxes] = {};  // in the order in which boxes are numbered
  std::int32_t count = 0;
  std::int64_t in_first = 0;  // bits, from the base
  std::int64_t out_first = 0;
  PackedBoxDigits rows;      // far: of the input
  PackedBoxDigits columns;   // far: of the output; near: in a row
  PackedBoxDigits elements;  // of the output's run; far: rows; near: in a row
  // Numbers of axes: the last ones of the input's run and the output's, of which a box may have less than a
  // part, and those by which rows and columns are fewer then, if any.
  std::int32_t in_last = 0;
  std::int32_t out_last = 0;
  std::int32_t row_last = -1;
  std::int32_t column_last = -1;
  std::uint32_t rows_of_last = 1;  // for each more of that axis; 1 if there is none
  std::uint32_t columns_of_last = 1;
  std::uint32_t elements_of_last = 1;
  std::uint32_t row_count = 1;
  std::uint32_t column_count = 1;
  std::int64_t span_of_last = 0;  // bits of the input's run for each more of its last axis,
  std::int64_t span = 0;          // and without these
  std::int64_t turned_near =
      0;                        // bits of shared memory for each more of the last axis, if it runs backwards,
  std::int64_t first_near = 0;  // and of the other ones that do
  std::uint64_t backwards = 0;  // bit a: axis a of the input's run begins at its end
  bool by_squares = false;
  std::uint32_t words_across = 1;
  std::uint32_t words_down = 1;
  device::Division32 of_table;  // words of the table,
  std::int64_t table_step = 0;  // and bits of shared memory from one to the one that they stand for next
  std::uint32_t row_pitch = 1;
  std::uint32_t group_pitch = 1;
  std::uint32_t column_pitch = 1;
  std::uint32_t strip_pitch = 1;
  device::Division32 of_row;     // words across
  device::Division32 of_column;  // words down and one more
  device::Division32 of_down;    // words down
  device::Division32 of_word;    // columns of one piece of the further axis
  std::uint64_t number = 1;      // of boxes
};

template <int q>
struct MovePackedBox {
  static constexpr std::uint32_t kThreads = 512;
  static constexpr int kMinBlocks = 2;
  static constexpr std::uint32_t kSide = 1U << q;  // elements of a word
  static constexpr std::uint32_t kElementBits = 32U >> q;
  static constexpr std::uint32_t kAhead = 4;  // words of a thread on their way

  PackedBoxParams params;
  PackedArray<const std::byte> in;
  PackedArray<std::byte> out;

  constexpr std::uint64_t blocks() const { return params.number; }
  constexpr std::uint32_t shared_bytes() const { return 4 * (grids_at() + row_words() + column_words()); }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::byte* const shared = block.shared();
    if (block.thread() == 0)
      *reinterpret_cast<Box*>(shared) = box_of(static_cast<std::uint32_t>(block.index()));
    block.barrier();
    const Box box = *reinterpret_cast<const Box*>(shared);
    make_tables(shared, box, block.thread());
    block.barrier();
    load(shared, box, block.thread());
    block.barrier();
    if (params.by_squares)
      turn_squares(shared, box, block.thread());
    else
      turn_elements(shared, box, block.thread());
    block.barrier();
    store(block, shared, box);
  }

 private:
  struct Box {
    std::int64_t in = 0;  // bits
    std::int64_t out = 0;
    std::int64_t near = 0;  // of shared memory, where a row's element 0 of all axes lies
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t elements = 1;  // of the output's run
    std::uint32_t words = 1;     // of a row
    bool is_inside = false;      // all words that are loaded are whole in the array
  };

  // --- what lies in shared memory, in words

  static constexpr std::uint32_t kTablePitch = kSide + 4;
  static constexpr std::uint32_t kBoxWords = (sizeof(Box) + 15) / 16 * 4;
  constexpr std::uint32_t columns_at() const { return kBoxWords + 2 * params.row_count; }
  constexpr std::uint32_t nears_at() const { return columns_at() + 2 * params.column_count; }
  constexpr std::uint32_t table_at() const { return (nears_at() + params.column_count + 3) / 4 * 4; }
  constexpr std::uint32_t grids_at() const {
    return table_at() + (params.by_squares ? 0 : params.of_table.divisor() * kTablePitch);
  }
  constexpr std::uint32_t row_words() const { return groups_of(params.row_count) * params.group_pitch; }
  constexpr std::uint32_t column_words() const { return groups_of(params.column_count) * params.strip_pitch; }
  static constexpr std::uint32_t groups_of(std::uint32_t lines) { return (lines + kSide - 1) / kSide; }

  constexpr std::int64_t* rows_of(std::byte* shared) const {
    return reinterpret_cast<std::int64_t*>(shared + std::size_t{4} * kBoxWords);
  }
  constexpr std::int64_t* columns_of(std::byte* shared) const {
    return reinterpret_cast<std::int64_t*>(shared + 4 * columns_at());
  }
  constexpr std::uint32_t* words_of(std::byte* shared, std::uint32_t at) const {
    return reinterpret_cast<std::uint32_t*>(shared + std::size_t{4} * at);
  }
  constexpr std::uint32_t row_at(std::uint32_t row) const {
    return (row >> q) * params.group_pitch + (row & (kSide - 1)) * params.row_pitch;
  }
  constexpr std::uint32_t column_at(std::uint32_t column) const {
    return (column >> q) * params.strip_pitch + (column & (kSide - 1)) * params.column_pitch;
  }

  // --- phases

  constexpr Box box_of(std::uint32_t number) const {
    Box box{.in = params.in_first, .out = params.out_first, .near = params.first_near};
    std::int64_t low = 0;
    std::int64_t high = kElementBits;
    std::uint32_t parts[kMostBoxAxes] = {};
    for (int a = 0; a < params.count; ++a) {
      const PackedBoxParams::Axis& axis = params.axes[a];
      const std::uint32_t rest = axis.boxes.quotient(number);
      const std::uint64_t first = std::uint64_t{number - rest * axis.boxes.divisor()} * axis.part;
      number = rest;
      const std::uint64_t left = axis.extent - first;
      parts[a] = left < axis.part ? static_cast<std::uint32_t>(left) : axis.part;
      box.in += static_cast<std::int64_t>(first) * axis.in;
      box.out += static_cast<std::int64_t>(first) * axis.out;
      const std::int64_t reach = std::int64_t{parts[a] - 1} * axis.in;
      (reach < 0 ? low : high) += reach;
    }
    box.is_inside = holds(box.in + low) && holds(box.in + high + kWordBits);
    box.rows = params.row_last < 0 ? params.row_count : params.rows_of_last * parts[params.row_last];
    box.columns =
        params.column_last < 0 ? params.column_count : params.columns_of_last * parts[params.column_last];
    box.elements = params.elements_of_last * parts[params.out_last];
    // Runs of rows begin at their lowest bit.
    for (int a = 0; a < params.count; ++a) {
      if ((params.backwards >> a & 1) == 0) continue;
      box.in += std::int64_t{parts[a] - 1} * params.axes[a].in;
    }
    box.near += std::int64_t{parts[params.in_last] - 1} * params.turned_near;
    const std::int64_t bits = params.span + std::int64_t{parts[params.in_last] - 1} * params.span_of_last;
    box.words = static_cast<std::uint32_t>((bits + kWordBits - 1) / kWordBits);
    return box;
  }

  constexpr bool holds(std::int64_t bit) const {
    return bit >= 0 && in.holds_word(static_cast<std::uint64_t>(bit) / kWordBits);
  }

  constexpr void make_tables(std::byte* shared, const Box& box, std::uint32_t thread) const {
    std::int64_t none = 0;
    for (std::uint32_t r = thread; r < box.rows; r += kThreads) {
      std::int64_t far = box.in;
      params.rows.add(r, far, none);
      rows_of(shared)[r] = far;
    }
    for (std::uint32_t c = thread; c < box.columns; c += kThreads) {
      std::int64_t far = box.out;
      std::int64_t near = box.near;
      params.columns.add(c, far, near);
      columns_of(shared)[c] = far;
      words_of(shared, nears_at())[c] = static_cast<std::uint32_t>(near);
    }
    if (params.by_squares) return;
    for (std::uint32_t p = thread; p < params.of_table.divisor() * kSide; p += kThreads) {
      std::int64_t row = 0;
      std::int64_t near = 0;
      params.elements.add(p < box.elements ? p : 0, row, near);
      words_of(shared, table_at())[(p >> q) * kTablePitch + (p & (kSide - 1))] =
          static_cast<std::uint32_t>(kWordBits) * row_at(static_cast<std::uint32_t>(row)) +
          static_cast<std::uint32_t>(near);
    }
  }

  constexpr void load(std::byte* shared, const Box& box, std::uint32_t thread) const {
    std::uint32_t* const grid = words_of(shared, grids_at());
    const std::uint32_t number = box.rows * params.words_across;
    for (std::uint32_t n = thread; n < number; n += kAhead * kThreads) {
      std::uint32_t low[kAhead] = {};
      std::uint32_t high[kAhead] = {};
      std::uint32_t to[kAhead] = {};
      std::uint32_t into[kAhead] = {};
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) {
        const std::uint32_t at = n + a * kThreads;
        const std::uint32_t row = params.of_row.quotient(at);
        const std::uint32_t w = at - row * params.words_across;
        if (at >= number || w >= box.words) continue;
        const std::int64_t bit = rows_of(shared)[row] + std::int64_t{w} * kWordBits;
        constexpr int kShift = 5;
        const auto word = static_cast<std::uint64_t>(bit >> kShift);  // downwards, too, before the array
        into[a] = static_cast<std::uint32_t>(bit) % kWordBits;
        to[a] = row_at(row) + w + 1;
        if (box.is_inside) {
          const auto* const from = reinterpret_cast<const std::uint32_t*>(in.base + 4 * word);
          low[a] = from[0];
          high[a] = from[1];
        } else {
          low[a] = load_raw(in, word);
          high[a] = load_raw(in, word + 1);
        }
      }
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kAhead; ++a) {
        if (to[a] == 0) continue;
        if (in.high_first) {
          low[a] = turned_bytes(low[a]);
          high[a] = turned_bytes(high[a]);
        }
        std::uint32_t value = shifted_out(low[a], high[a], into[a]);
        if (in.high_first != out.high_first) value = turned_elements(value, kElementBits);
        grid[to[a] - 1] = value;
      }
    }
  }

  // Rows behind the last one are what was there, and become elements that are not stored.
  constexpr void turn_squares(std::byte* shared, const Box& box, std::uint32_t thread) const {
    const std::uint32_t* const from = words_of(shared, grids_at());
    std::uint32_t* const to = words_of(shared, grids_at() + row_words());
    const std::uint32_t groups = groups_of(box.elements);
    for (std::uint32_t n = thread; n < groups * params.words_across; n += kThreads) {
      const std::uint32_t group = params.of_row.quotient(n);
      const std::uint32_t w = n - group * params.words_across;
      if (w >= box.words) continue;
      std::uint32_t words[kSide];
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        words[i] = from[group * params.group_pitch + i * params.row_pitch + w];
      detail::transpose_words<q>(words);
      FARO_UNROLL
      for (std::uint32_t i = 0; i < kSide; ++i)
        to[w * params.strip_pitch + i * params.column_pitch + group] = words[i];
    }
  }

  constexpr void turn_elements(std::byte* shared, const Box& box, std::uint32_t thread) const {
    const std::uint32_t* const from = words_of(shared, grids_at());
    const std::uint32_t* const table = words_of(shared, table_at());
    std::uint32_t* const to = words_of(shared, grids_at() + row_words());
    // Lanes that are columns side by side read the same words.
    const std::uint32_t across = params.of_word.divisor();
    for (std::uint32_t n = thread; n < params.words_down * params.column_count; n += kThreads) {
      const std::uint32_t line = params.of_word.quotient(n);
      const std::uint32_t piece = params.of_down.quotient(line);
      const std::uint32_t k = line - piece * params.words_down;
      const std::uint32_t c = n - line * across + piece * across;
      if (c >= box.columns || k * kSide >= box.elements) continue;
      const std::uint32_t step = params.of_table.quotient(k);
      const std::uint32_t* const places =
          table + std::size_t{k - step * params.of_table.divisor()} * kTablePitch;
      const std::uint32_t first =
          words_of(shared, nears_at())[c] + step * static_cast<std::uint32_t>(params.table_step);
      std::uint32_t value = 0;
      const auto put = [&](std::uint32_t i) {
        const std::uint32_t bit = first + places[i];
        value = shifted_out(value, from[bit / kWordBits] >> bit % kWordBits, kElementBits);
      };
      const std::uint32_t left = box.elements - k * kSide;
      if (left >= kSide) {
        FARO_UNROLL
        for (std::uint32_t i = 0; i < kSide; ++i) put(i);
      } else {
        FARO_NO_UNROLL
        for (std::uint32_t i = 0; i < left; ++i) put(i);
        value >>= (kSide - left) * kElementBits;
      }
      to[column_at(c) + k] = value;
    }
  }

  template <typename Block>
  constexpr void store(Block& block, std::byte* shared, const Box& box) const {
    const std::uint32_t* const from = words_of(shared, grids_at() + row_words());
    const std::uint32_t bits = box.elements * kElementBits;
    const std::uint32_t across = params.words_down + 1;
    for (std::uint32_t n = block.thread(); n < box.columns * across; n += kThreads) {
      const std::uint32_t c = params.of_column.quotient(n);
      const std::uint32_t k = n - c * across;
      const auto first = static_cast<std::uint64_t>(columns_of(shared)[c]);
      const auto phase = static_cast<std::uint32_t>(first % kWordBits);
      const std::uint32_t end = phase + bits;  // from the first word on
      if (k * kWordBits >= end) continue;
      const std::uint32_t at = column_at(c) + k;
      const std::uint32_t low = k > 0 ? from[at - 1] : 0;
      std::uint32_t value = shifted_in(low, k < params.words_down ? from[at] : 0, phase);
      std::uint32_t mask = ~std::uint32_t{0};
      if (k == 0) mask <<= phase;
      if ((k + 1) * kWordBits > end) mask &= low_ones(end - k * kWordBits);
      if (out.high_first) {
        value = turned_bytes(value);
        mask = turned_bytes(mask);
      }
      const std::uint64_t word = first / kWordBits + k;
      if (mask == ~std::uint32_t{0}) {
        *reinterpret_cast<std::uint32_t*>(out.base + 4 * word) = value;
      } else if (out.holds_word(word)) {
        put_bits(block, out, word, value, mask);
      }
    }
  }
};
static_assert(sizeof(MovePackedBox<5>) <= 4096, "kernel parameters are at most 4 KiB");

/// Boxes of a part in normal form (permutation/axis_map.hpp), whose strides are bits, by MovePackedBox<q>.
/// Elements of other than 1, 2 and 4 bits, and those that do not lie at whole elements, are so many bits by
/// themselves, the last one first where `turned`. Nothing where a part is small, the output has no runs, or
/// too many axes.
struct PackedBox {
  int q = 5;
  PackedBoxParams params;
};
std::optional<PackedBox> make_packed_box(const faro::detail::AxisMap& part, std::uint32_t element_bits,
                                         bool turned);

}  // namespace faro::kernels
