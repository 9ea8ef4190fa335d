// Permutes the columns of C2R and R2C where a strip of whole columns fits shared memory, in place: one block
// a strip.
//
//     C2R    rows r, at their places  --->  shared, in order  --->  row i reads row s_j(i)
//     R2C    row i                    --->  row s_j(i)        --->  rows r, to their places
//
// The places of rows r are on diagonals of panels, displaced, or in the scratch (c2r_places.hpp). A block
// reads its whole strip before it writes, so it overwrites nothing that it still needs. The rotation alone,
// which goes in units, has (i + j div b) mod m as s_j(i).
//
// *In units* a list has q(i) of all rows, and a warp reads s_j(i) at stride width + 1, without conflicts.
//
// *In vectors* rows lie in shared memory as they lie outside (c2r_vectors.hpp), of R2C as row q(i), and a
// table says where each begins. From one column to the next the row that is gathered from is the next one,
// C2R, or the one before, R2C, modulo m. So the table is in that order, and its first entries come again at
// its end: the k-th element of a vector is found by the k-th entry from where the vector begins, without a
// comparison. A second table has all rows' places outside, of the rows that are loaded first, then of those
// that are stored. On diagonals a strip ends where its panel does, so that its part of a row lies in one row.
//
//     m = 5, vectors of 4      entries 0 1 2 3 4 0 1 2        R2C: 4 3 2 1 0 4 3 2
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_sweep.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

/// The tile of columns of m elements, in vectors.
constexpr C2rTile c2r_strip_tile(std::uint64_t m, std::uint64_t element_bytes) {
  return {.rows = m, .lines = m, .element_bytes = element_bytes};
}

struct C2rStripsParams : C2rSweepParams {
  std::uint32_t width = 0;       // columns of a strip
  bool shuffles = false;         // s_j(i); else the rotation alone
  bool diagonal = false;         // rows r lie on diagonals of panels
  C2rHeld held;                  // rows r
  std::uint32_t tile = 0;        // where the strip begins in shared memory, after the tables
  device::Division64 by_blocks;  // of an array
  device::Division32 by_m;
  // In units.
  std::uint32_t step_rows = 0;      // of a thread; its columns are `threads` units apart
  std::uint32_t last_row = 0;       // m, rounded up to step_rows
  std::uint32_t steps = 0;          // of a thread
  device::Division32 by_row_units;  // width x units
  device::Division32 by_units;
  // In vectors.
  std::uint32_t pitch = 0;       // vectors from row to row of the tile
  device::Division64 by_strips;  // of a panel, or of all columns
  device::Division32 by_row_vectors;

  constexpr bool rotates() const { return diagonal || !shuffles; }
  constexpr std::uint64_t blocks_of_array() const { return by_blocks.divisor(); }
  /// Where the table of the rows' places ends, in vectors.
  constexpr std::uint32_t begins() const { return kC2rLineBytes * static_cast<std::uint32_t>(shape.m); }
  /// Row numbers come first in units, the tables in vectors, to a multiple of 16 bytes.
  constexpr std::uint64_t tables_bytes() const {
    return vectors ? c2r_strip_tile(shape.m, unit_bytes).tables_bytes() : (4 * shape.m + 15) / 16 * 16;
  }
  constexpr std::uint64_t shared_bytes() const {
    if (vectors) return c2r_strip_tile(shape.m, unit_bytes).shared_bytes(width);
    return tables_bytes() + shape.m * width * element_bytes();
  }
};

/// Fills in what follows from width, the steps and threads, of which units leave a multiple of a strip's row
/// where that is shorter. Requires: m < 2^30, in vectors 2^26.
constexpr void finish(C2rStripsParams& p) {
  const bool in_panels = p.vectors && p.diagonal;
  const std::uint64_t strips = ((in_panels ? p.shape.b : p.shape.n) + p.width - 1) / p.width;
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  p.tile = static_cast<std::uint32_t>(p.tables_bytes());
  p.by_blocks = device::Division64(strips * (in_panels ? p.shape.c : 1));
  p.by_m = device::Division32(m);
  if (p.vectors) {
    const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.width, p.unit_bytes));
    p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
    p.by_strips = device::Division64(strips);
    p.by_row_vectors = device::Division32(vectors);
    return;
  }
  const std::uint32_t row_units = p.width * p.units;
  p.by_row_units = device::Division32(row_units);
  p.by_units = device::Division32(p.units);
  p.step_rows = row_units < p.threads ? p.threads / row_units : 1;
  if (row_units < p.threads) p.threads = p.step_rows * row_units;
  const std::uint32_t rows = (m + p.step_rows - 1) / p.step_rows;
  p.last_row = rows * p.step_rows;
  p.steps = rows * ((row_units + p.threads - 1) / p.threads);
}

namespace detail {

constexpr std::uint32_t c2r_wrapped_row(std::uint32_t sum, std::uint32_t m) {
  return sum < m ? sum : sum - m;
}

template <typename Mover>
struct C2rStrip {
  std::uint64_t array;      // its number
  std::uint64_t column;     // first
  std::uint32_t columns;    // at most p.width
  std::uint32_t panel = 0;  // of strips of panels

  constexpr C2rStrip(const C2rStripsParams& p, std::uint64_t block) {
    array = p.by_blocks.divide(block);
    column = 0;
    std::uint64_t end = p.shape.n;
    if constexpr (Mover::vectors) {
      panel = static_cast<std::uint32_t>(p.by_strips.divide(block));
      if (p.diagonal) {
        column = panel * p.shape.b;
        end = column + p.shape.b;
      }
    }
    column += block * p.width;
    columns = static_cast<std::uint32_t>(end - column < p.width ? end - column : p.width);
  }
};

/// The places of rows r, C2rHeld::place() in words, modulo 2^32.
struct C2rStripRows {
  std::uint32_t begin;
  std::uint32_t count;
  std::uint32_t shift;
  std::uint32_t m;
  bool diagonal;

  explicit constexpr C2rStripRows(const C2rStripsParams& p)
      : begin(static_cast<std::uint32_t>(p.held.begin)),
        count(static_cast<std::uint32_t>(p.held.end - p.held.begin)),
        shift(static_cast<std::uint32_t>(p.held.shift)),
        m(static_cast<std::uint32_t>(p.shape.m)),
        diagonal(p.diagonal) {}

  constexpr bool in_scratch(std::uint32_t row) const { return row - begin < count; }
  /// The row of the scratch, or of the array, where panels go `rotation` rows down.
  constexpr std::uint32_t place(std::uint32_t row, std::uint32_t rotation) const {
    const std::uint32_t at = in_scratch(row) ? row - begin : row + shift;
    return diagonal && !in_scratch(row) ? c2r_wrapped_row(at + rotation, m) : at;
  }
};

// --- in units

/// A thread's elements: down a column of the strip, then down the next of its columns.
struct C2rStripWalk {
  std::uint64_t in_panel;     // of the strip's first column
  std::uint32_t panel_mod_m;  // of its panel
  std::uint32_t column_mod_m;
  std::uint32_t unit;  // of the strip's row
  std::uint32_t row;
  std::uint32_t rotation;  // of the column
  std::uint32_t offset;    // s_j(i) - q(i), modulo m
  std::uint32_t first_row;

  constexpr C2rStripWalk(const C2rStripsParams& p, std::uint64_t column, std::uint32_t thread)
      : in_panel(column),
        panel_mod_m(0),
        column_mod_m(static_cast<std::uint32_t>(remainder(p.shape.by_m, column))),
        unit(thread),
        row(p.by_row_units.divide(unit)),
        rotation(0),
        offset(0),
        first_row(row) {
    panel_mod_m = static_cast<std::uint32_t>(remainder(p.shape.by_m, p.shape.by_b.divide(in_panel)));
    look(p);
  }
  constexpr void look(const C2rStripsParams& p) {
    const std::uint32_t in_strip = p.by_units.quotient(unit);
    rotation = p.rotates() ? rotation_of(p, in_strip) : 0;
    offset = rotation;
    if (!p.shuffles) return;
    offset = column_mod_m + in_strip;
    p.by_m.divide(offset);
  }
  /// j div b, modulo m, of the strip's column j.
  constexpr std::uint32_t rotation_of(const C2rStripsParams& p, std::uint32_t in_strip) const {
    std::uint64_t sum = panel_mod_m;
    if (in_panel + in_strip >= p.shape.b) sum += p.shape.by_b.quotient(in_panel + in_strip);
    return static_cast<std::uint32_t>(sum < p.shape.m ? sum : remainder(p.shape.by_m, sum));
  }
  constexpr void step(const C2rStripsParams& p) {
    row += p.step_rows;
    if (row < p.last_row + first_row) return;
    row = first_row;
    unit += p.threads;
    look(p);
  }
};

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  // Rows i have not moved and are accessed by the list; rows r are at p.held's places, in order.
  const bool listed = into_shared == p.r2c;
  const C2rStrip<InUnits<bytes>> strip(p, block);
  C2rStripWalk walk(p, strip.column, thread);
  const std::uint64_t base = (strip.array * p.shape.m * p.shape.n + strip.column) * p.units * bytes;
  const std::uint64_t scratch = (strip.array * p.scratch_elements + strip.column) * p.units * bytes;
  const std::uint64_t pitch = p.shape.n * p.units * bytes;
  const std::uint32_t row_units = strip.columns * p.units;
  const std::uint32_t row_bytes = p.by_row_units.divisor() * bytes;
  const C2rStripRows rows(p);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < p.steps; first += kC2rBatch) {
    device::Packet<bytes> data[kC2rBatch] = {};
    std::uint32_t shared[kC2rBatch] = {};
    std::uint64_t at[kC2rBatch] = {};
    bool in_scratch[kC2rBatch] = {};
    bool valid[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      valid[k] = walk.row < rows.m && walk.unit < row_units;
      if (!valid[k]) {
        if (listed) device::idle(memory);
        if (into_shared) device::idle(memory);
      } else {
        std::uint32_t shared_row = walk.row;
        std::uint32_t global_row = walk.row;
        if (listed) {
          const std::uint32_t q = memory.template load_shared<4>(4 * walk.row).unit[0];
          shared_row = c2r_wrapped_row(q + walk.offset, rows.m);
        } else {
          in_scratch[k] = rows.in_scratch(walk.row);
          global_row = rows.place(walk.row, walk.rotation);
        }
        shared[k] = p.tile + shared_row * row_bytes + walk.unit * bytes;
        at[k] = (in_scratch[k] ? scratch : base) + global_row * pitch + std::uint64_t{walk.unit} * bytes;
        if constexpr (into_shared) {
          data[k] = memory.template load_global<bytes>(in_scratch[k] ? kC2rScratchIn : kC2rIn, at[k]);
        }
      }
      walk.step(p);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      if (!valid[k]) {
        device::idle(memory);
        if (!into_shared) device::idle(memory);
      } else if constexpr (into_shared) {
        memory.template store_shared<bytes>(shared[k], data[k]);
      } else {
        const auto one = memory.template load_shared<bytes>(shared[k]);
        memory.template store_global<bytes>(in_scratch[k] ? kC2rScratchOut : kC2rOut, at[k], one);
      }
    }
  }
}

// --- in vectors

/// The strip's part of row i, which has not moved; else of row r, at its place.
template <int bytes>
constexpr C2rLine c2r_strip_line(const C2rStripsParams& p, const C2rStrip<InVectors<bytes>>& strip,
                                 bool moved, std::uint32_t row, std::uint32_t note) {
  const C2rExtent extent(strip.array, p.shape.m * p.shape.n, p.scratch_elements, p.skew);
  const C2rStripRows rows(p);
  const bool in_scratch = moved && rows.in_scratch(row);
  const std::uint64_t place = moved ? rows.place(row, strip.panel) : row;
  return make_c2r_line<bytes>(
      extent,
      {.first = (in_scratch ? extent.scratch : extent.array) + place * p.shape.n + strip.column,
       .count = strip.columns,
       .scratch = in_scratch},
      note);
}

}  // namespace detail

/// First phase. In units q(i) of all rows. In vectors the tables of the rows to load, and of where they will
/// be; note: the row of the tile.
template <typename Mover, device::Memory Memory>
constexpr void list_c2r_strip_in(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  if constexpr (!Mover::vectors) {
    for (std::uint32_t row = thread; row < m; row += p.threads) {
      const std::uint64_t from = p.shuffles ? ordered_row(p.shape, row) : row;
      memory.template store_shared<4>(4 * row, device::Packet<4>{{static_cast<std::uint32_t>(from)}});
    }
  } else {
    const detail::C2rStrip<Mover> strip(p, block);
    for (std::uint32_t row = thread; row < m; row += p.threads) {
      std::uint32_t position = row;
      if (p.r2c) position = static_cast<std::uint32_t>(ordered_row(p.shape, row));
      const C2rLine line = detail::c2r_strip_line<bytes>(p, strip, !p.r2c, row, position);
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
}

/// Second phase.
template <typename Mover, device::Memory Memory>
constexpr void load_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    detail::move_c2r_strip<bytes, true>(memory, p, block, thread);
  } else {
    const std::uint32_t all = static_cast<std::uint32_t>(p.shape.m) * p.by_row_vectors.divisor();
    FARO_NO_UNROLL
    for (std::uint32_t first = thread; first < all; first += p.threads) {
      std::uint32_t number = first;
      const C2rLine line = detail::load_c2r_line(memory, 0, p.by_row_vectors.divide(number));
      detail::copy_c2r_vector<bytes>(memory, line, number,
                                     p.tile + (line.note * p.pitch + number) * kC2rVectorBytes);
    }
  }
}

/// Third phase, in vectors: the table of the rows to store. Note: the entry of the row that column 0 would
/// come from.
template <typename Mover, device::Memory Memory>
constexpr void list_c2r_strip_out(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const detail::C2rStrip<Mover> strip(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t row = thread; row < m; row += p.threads) {
    const std::uint32_t entry = p.r2c ? m - 1 - row : static_cast<std::uint32_t>(ordered_row(p.shape, row));
    detail::store_c2r_line(memory, 0, row, detail::c2r_strip_line<Mover::bytes>(p, strip, p.r2c, row, entry));
  }
  detail::wait_for_copies(memory);
}

/// Last phase.
template <typename Mover, device::Memory Memory>
constexpr void store_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    detail::move_c2r_strip<bytes, false>(memory, p, block, thread);
  } else {
    const detail::C2rStrip<Mover> strip(p, block);
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
        const std::uint32_t entry = detail::c2r_wrapped_row(line.note + amount, m);
        return detail::C2rTableSource<bytes, bytes>{p.begins() + 4 * entry, element * bytes};
      });
    }
  }
}

template <typename Mover, typename Take>
constexpr void with_phases(const C2rStripsParams& p, const Take& take) {
  const auto list = [&p](auto& m, std::uint64_t b, std::uint32_t t) { list_c2r_strip_in<Mover>(m, p, b, t); };
  const auto load = [&p](auto& m, std::uint64_t b, std::uint32_t t) { load_c2r_strip<Mover>(m, p, b, t); };
  const auto store = [&p](auto& m, std::uint64_t b, std::uint32_t t) { store_c2r_strip<Mover>(m, p, b, t); };
  if constexpr (Mover::vectors) {
    take(
        list, load,
        [&p](auto& m, std::uint64_t b, std::uint32_t t) { list_c2r_strip_out<Mover>(m, p, b, t); }, store);
  } else {
    take(list, load, store);
  }
}

}  // namespace faro::kernels
