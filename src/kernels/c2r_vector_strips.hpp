// The column shuffle of C2R and R2C where a strip of whole columns fits the shared memory, in vectors: what
// c2r_strips.hpp does unit by unit.
//
//     C2R    rows r, at their places  --->  shared, in order     --->  row i gathers from row s_j(i)
//     R2C    row i                    --->  shared, as row q(i)  --->  rows r gather from s_j's inverse
//
// In shared memory rows lie as they lie outside (c2r_vectors.hpp), and a table says where each begins. From
// one column to the next the row that is gathered from is the next one, C2R, or the one before, R2C, modulo
// m. So the table is in that order, and its first entries come again at its end: the k-th element of a vector
// is found by the k-th entry from where the vector begins, without a comparison.
//
//     m = 5, vectors of 4      entries 0 1 2 3 4 0 1 2        R2C: 4 3 2 1 0 4 3 2
//
// A second table has all rows' places outside, of the rows that are loaded first, then of those that are
// stored.
//
// On diagonals a strip ends where its panel does, so that its part of a row lies in one row.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

struct C2rVectorStripsParams {
  C2rShape shape;
  std::uint32_t skew = 0;   // the array begins so many elements after an aligned address
  std::uint32_t width = 0;  // columns of a strip
  std::uint32_t threads = 0;
  bool r2c = false;
  bool diagonal = false;               // rows r lie on diagonals of panels
  C2rHeld held;                        // rows r
  std::uint64_t scratch_elements = 0;  // of an array
  std::uint32_t pitch = 0;             // vectors from row to row of the tile
  std::uint32_t tile = 0;              // where it begins, after the tables
  device::Division64 by_blocks;        // of an array
  device::Division64 by_strips;        // of a panel, or of all columns
  device::Division32 by_m;
  device::Division32 by_row_vectors;

  constexpr std::uint64_t blocks_of_array() const { return by_blocks.divisor(); }
  constexpr std::uint32_t begins() const { return kC2rLineBytes * static_cast<std::uint32_t>(shape.m); }
  constexpr std::uint64_t shared_bytes() const { return tile + shape.m * pitch * kC2rVectorBytes; }
};

/// Of columns of m elements.
constexpr C2rTile c2r_strip_tile(std::uint64_t m, std::uint64_t element_bytes) {
  return {.rows = m, .lines = m, .element_bytes = element_bytes};
}

/// Fills in what follows from width and the steps. Requires: m < 2^26.
constexpr void finish(C2rVectorStripsParams& p, std::uint64_t element_bytes) {
  const std::uint64_t columns = p.diagonal ? p.shape.b : p.shape.n;
  const std::uint64_t strips = (columns + p.width - 1) / p.width;
  const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.width, element_bytes));
  p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
  p.tile = static_cast<std::uint32_t>(c2r_strip_tile(p.shape.m, element_bytes).tables_bytes());
  p.by_strips = device::Division64(strips);
  p.by_blocks = device::Division64(strips * (p.diagonal ? p.shape.c : 1));
  p.by_m = device::Division32(static_cast<std::uint32_t>(p.shape.m));
  p.by_row_vectors = device::Division32(vectors);
}

namespace detail {

struct C2rVectorStrip {
  C2rExtent extent;
  std::uint64_t column;  // first
  std::uint32_t columns;
  std::uint32_t panel;  // of diagonals

  constexpr C2rVectorStrip(const C2rVectorStripsParams& p, std::uint64_t block)
      : extent(p.by_blocks.quotient(block), p.shape.m * p.shape.n, p.scratch_elements, p.skew),
        column(0),
        columns(0),
        panel(0) {
    const C2rShape& s = p.shape;
    std::uint64_t strip = block - p.by_blocks.quotient(block) * p.by_blocks.divisor();
    const std::uint64_t part = p.by_strips.divide(strip);
    const std::uint64_t begin = part * s.b;
    const std::uint64_t end = p.diagonal ? begin + s.b : s.n;
    column = (p.diagonal ? begin : 0) + strip * p.width;
    columns = static_cast<std::uint32_t>(end - column < p.width ? end - column : p.width);
    panel = static_cast<std::uint32_t>(part);
  }

  /// The strip's part of row i, which has not moved.
  constexpr C2rRun unmoved(const C2rVectorStripsParams& p, std::uint32_t row) const {
    return {.first = extent.array + row * p.shape.n + column, .count = columns, .scratch = false};
  }
  /// The strip's part of row r, at its place.
  constexpr C2rRun held(const C2rVectorStripsParams& p, std::uint32_t row) const {
    const auto begin = static_cast<std::uint32_t>(p.held.begin);
    const auto rows = static_cast<std::uint32_t>(p.held.end - p.held.begin);
    const bool in_scratch = row - begin < rows;
    std::uint32_t place = in_scratch ? row - begin : row + static_cast<std::uint32_t>(p.held.shift);
    if (p.diagonal && !in_scratch) {
      const auto m = static_cast<std::uint32_t>(p.shape.m);
      place += panel;
      if (place >= m) place -= m;
    }
    return {.first = (in_scratch ? extent.scratch : extent.array) + place * p.shape.n + column,
            .count = columns,
            .scratch = in_scratch};
  }
};

}  // namespace detail

/// First phase: the tables of the rows to load, and of where they will be. Note: the row of the tile.
template <int bytes, device::Memory Memory>
constexpr void list_c2r_strip_in(Memory& memory, const C2rVectorStripsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const detail::C2rVectorStrip strip(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t row = thread; row < m; row += p.threads) {
    std::uint32_t position = row;
    if (p.r2c) position = static_cast<std::uint32_t>(ordered_row(p.shape, row));
    const C2rRun run = p.r2c ? strip.unmoved(p, row) : strip.held(p, row);
    const C2rLine line = make_c2r_line<bytes>(strip.extent, run, position);
    detail::store_c2r_line(memory, 0, row, line);
    const std::uint32_t begin = p.tile + position * p.pitch * kC2rVectorBytes + line.begin * bytes;
    device::converge(memory);
    for (std::uint32_t entry = p.r2c ? m - 1 - position : position; entry < m + kC2rVector<bytes> - 1;
         entry += m) {
      memory.template store_shared<4>(p.begins() + 4 * entry, device::Packet<4>{{begin}});
    }
    device::converge(memory);
  }
}

/// Second phase.
template <int bytes, device::Memory Memory>
constexpr void load_c2r_vector_strip(Memory& memory, const C2rVectorStripsParams& p, std::uint32_t thread) {
  const std::uint32_t all = static_cast<std::uint32_t>(p.shape.m) * p.by_row_vectors.divisor();
  FARO_NO_UNROLL
  for (std::uint32_t first = thread; first < all; first += p.threads) {
    std::uint32_t number = first;
    const C2rLine line = detail::load_c2r_line(memory, 0, p.by_row_vectors.divide(number));
    detail::copy_c2r_vector<bytes>(memory, line, number,
                                   p.tile + (line.note * p.pitch + number) * kC2rVectorBytes);
  }
}

/// Third phase: the table of the rows to store. Note: the entry of the row that column 0 would come from.
template <int bytes, device::Memory Memory>
constexpr void list_c2r_strip_out(Memory& memory, const C2rVectorStripsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const detail::C2rVectorStrip strip(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t row = thread; row < m; row += p.threads) {
    const std::uint32_t entry = p.r2c ? m - 1 - row : static_cast<std::uint32_t>(ordered_row(p.shape, row));
    const C2rRun run = p.r2c ? strip.held(p, row) : strip.unmoved(p, row);
    detail::store_c2r_line(memory, 0, row, make_c2r_line<bytes>(strip.extent, run, entry));
  }
}

/// Fourth phase.
template <int bytes, device::Memory Memory>
constexpr void store_c2r_vector_strip(Memory& memory, const C2rVectorStripsParams& p, std::uint64_t block,
                                      std::uint32_t thread) {
  const detail::C2rVectorStrip strip(p, block);
  const auto column_mod_m = static_cast<std::uint32_t>(detail::remainder(p.shape.by_m, strip.column));
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  const std::uint32_t all = m * p.by_row_vectors.divisor();
  FARO_NO_UNROLL
  for (std::uint32_t first = thread; first < all; first += p.threads) {
    std::uint32_t number = first;
    const C2rLine line = detail::load_c2r_line(memory, 0, p.by_row_vectors.divide(number));
    detail::gather_c2r_vector<bytes>(memory, line, number, [&](std::uint32_t element) {
      std::uint32_t amount = column_mod_m + element;
      p.by_m.divide(amount);
      std::uint32_t entry = line.note + amount;
      if (entry >= m) entry -= m;
      return detail::C2rTableSource<bytes, bytes>{p.begins() + 4 * entry, element * bytes};
    });
  }
}

}  // namespace faro::kernels
