// The column operations of C2R and R2C for columns of any length, from one place to another: a block moves a
// window of some rows of a strip of columns.
//
// Column j reads, of C2R, row (q(i) + o(j)) mod m, where o(j) is j, j div b or both. So rows i that are next
// to one another in the order of q(i) read rows that overlap, and neighbouring columns differ by a step or
// two:
//
//     source rows of the strip, in order         shared memory         rows i of the result, whole segments
//       base + r0       a . . .                   a . . .
//       base + r0 + 1   b a . .         --->      b a . .       --->   i = q^-1(r0)      a a a a
//       base + r0 + 2   c b a .                   c b a .              i = q^-1(r0 + 1)  b b b b
//       …               . c b a                   . c b a              i = q^-1(r0 + 2)  c c c c
//                       (+ halo rows)
//
// Both sides are whole segments of the strip, and `halo` rows of a window are read again by the next, from
// the cache. R2C does the opposite: it reads segments in the order of q and writes rows in order.
//
// Source and target must not overlap: strips come in batches that move along (c2r_places.hpp).
//
// *In units* the rows that are accessed in the order of q are a list in shared memory.
//
// *In vectors* the rows of a window lie in shared memory as they lie outside (c2r_vectors.hpp), and a table
// says where each begins, of R2C in the opposite order. An element of the result that is one column further
// comes from one row further, C2R, or one less, R2C: one entry further. Where o(j) has a rotation, a table of
// the strip's columns has o(j) - o(first of the strip). Another table has all rows' places outside, of the
// rows that are loaded first, then of those that are stored.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_sweep.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

/// Threads of a block, at most, where a row of the strip has no more units.
inline constexpr std::uint32_t kC2rWindowsThreads = 256;

/// The arrays, or the scratch: element (row, j) at array x stride + row x pitch + j + shift.
struct C2rColumns {
  bool scratch = false;
  std::uint64_t stride = 0;
  std::uint64_t pitch = 0;
  std::int64_t shift = 0;
};

struct C2rWindowsParams : C2rSweepParams {
  std::uint32_t width = 0;  // columns of a strip
  std::uint32_t rows = 0;   // of a window, without halo
  std::uint32_t halo = 0;
  bool shuffles = false;  // rows go by q, and o(j) has j; else it is the rotation alone
  bool rotates = false;   // o(j) has (j + panel_shift) div b
  std::int64_t panel_shift = 0;
  std::uint64_t first_column = 0;
  std::uint64_t columns = 0;  // of the batch
  C2rColumns in;
  C2rColumns out;
  std::uint64_t halo_mod_m = 0;
  std::uint32_t tile = 0;  // where rows begin in shared memory, after the tables
  device::Division64 by_strips;
  device::Division64 by_windows;
  // In units, whose threads are a multiple of width x units.
  std::uint32_t step_rows = 0;      // threads / (width x units)
  device::Division32 by_row_units;  // width x units
  device::Division32 by_units;
  // In vectors.
  std::uint32_t pitch = 0;    // vectors from row to row of the tile
  std::uint32_t begins = 0;   // where the tables begin; lines are the first
  std::uint32_t offsets = 0;  // o(j) - o(first)
  device::Division32 by_row_vectors;

  constexpr std::uint64_t blocks_of_array() const { return by_strips.divisor() * by_windows.divisor(); }
  constexpr std::uint64_t shared_bytes() const {
    const std::uint64_t row = vectors ? std::uint64_t{pitch} * kC2rVectorBytes : width * element_bytes();
    return tile + (rows + halo) * row;
  }
};

/// The largest o(j) - o(first of its strip).
constexpr std::uint32_t c2r_halo(std::uint64_t b, std::uint32_t width, bool shuffles, bool rotates) {
  const std::uint64_t last = width - 1;
  return static_cast<std::uint32_t>((shuffles ? last : 0) + (rotates ? (last + b - 1) / b : 0));
}

/// Fills in what follows from width, rows, columns and the steps, and the threads. Requires: m < 2^31.
constexpr void finish(C2rWindowsParams& p) {
  p.halo = c2r_halo(p.shape.b, p.width, p.shuffles, p.rotates);
  p.halo_mod_m = p.halo % p.shape.m;
  p.by_strips = device::Division64((p.columns + p.width - 1) / p.width);
  p.by_windows = device::Division64((p.shape.m + p.rows - 1) / p.rows);
  if (p.vectors) {
    const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.width, p.unit_bytes));
    p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
    p.by_row_vectors = device::Division32(vectors);
    p.begins = (p.rows + p.halo) * kC2rLineBytes;
    p.offsets = p.begins + 4 * (p.rows + p.halo);
    p.tile = (p.offsets + (p.rotates ? 4 * p.width : 0) + 15) / 16 * 16;
    p.threads = kC2rWindowsThreads;
    return;
  }
  const std::uint32_t row_units = p.width * p.units;
  p.by_row_units = device::Division32(row_units);
  p.by_units = device::Division32(p.units);
  p.tile = (4 * (p.rows + p.halo) + 15) / 16 * 16;
  p.step_rows = row_units < kC2rWindowsThreads ? kC2rWindowsThreads / row_units : 1;
  p.threads = p.step_rows * row_units;
}

namespace detail {

struct C2rWindow {
  std::uint64_t array;
  std::uint64_t column;     // first of the strip
  std::uint32_t row_units;  // of the strip's columns, at most width x units
  std::uint64_t first;      // r0
  std::uint32_t rows;       // at most p.rows
  std::uint32_t start;      // (o(column) + r0) mod m
  std::uint64_t in_panel;   // of column + panel_shift

  constexpr C2rWindow(const C2rWindowsParams& p, std::uint64_t block) {
    const C2rShape& s = p.shape;
    const std::uint64_t window = p.by_strips.divide(block);
    const std::uint64_t in_batch = block * p.width;
    array = p.by_windows.quotient(window);
    first = (window - array * p.by_windows.divisor()) * p.rows;
    const std::uint64_t columns = p.columns - in_batch < p.width ? p.columns - in_batch : p.width;
    row_units = static_cast<std::uint32_t>(columns) * p.units;
    rows = static_cast<std::uint32_t>(s.m - first < p.rows ? s.m - first : p.rows);
    column = p.first_column + in_batch;
    in_panel = column + static_cast<std::uint64_t>(p.panel_shift);
    const std::uint64_t panel = s.by_b.divide(in_panel);
    start = static_cast<std::uint32_t>(
        remainder(s.by_m, first + (p.shuffles ? column : 0) + (p.rotates ? panel : 0)));
  }

  /// o(column + in_strip) - o(column)
  constexpr std::uint32_t offset(const C2rWindowsParams& p, std::uint32_t in_strip) const {
    std::uint32_t result = p.shuffles ? in_strip : 0;
    const std::uint64_t sum = in_panel + in_strip;
    if (p.rotates && sum >= p.shape.b) result += static_cast<std::uint32_t>(p.shape.by_b.quotient(sum));
    return result;
  }

  /// The row that is `slot` after the start.
  constexpr std::uint32_t row_in_order(const C2rWindowsParams& p, std::uint32_t slot) const {
    const auto m = static_cast<std::uint32_t>(p.shape.m);
    std::uint32_t row = start + slot;
    if (row >= m) row -= m;
    return row < m ? row : static_cast<std::uint32_t>(remainder(p.shape.by_m, row));
  }
};

/// The row that is `slot` after the window's first in the order of q; of what R2C reads, after the halo's.
constexpr std::uint32_t c2r_listed_row(const C2rWindowsParams& p, const C2rWindow& window,
                                       std::uint32_t slot) {
  std::uint64_t row = window.first + slot;
  if (p.r2c) row = remainder(p.shape.by_m, row + p.shape.m - p.halo_mod_m);
  if (p.shuffles) row = unordered_row(p.shape, row);
  return static_cast<std::uint32_t>(row);
}

/// The first element of a row of the strip, without the array's skew.
constexpr std::uint64_t c2r_window_element(const C2rWindow& window, const C2rColumns& columns,
                                           std::uint64_t row) {
  return window.array * columns.stride + row * columns.pitch + window.column +
         static_cast<std::uint64_t>(columns.shift);
}

// --- in units

/// A thread's column of the strip, the same in all its rows: no division is left for the loops.
struct C2rWindowThread {
  std::uint32_t unit;    // of the strip's row
  std::uint32_t row;     // first of its rows
  std::uint32_t offset;  // o(its column) - o(the strip's first)

  constexpr C2rWindowThread(const C2rWindowsParams& p, const C2rWindow& window, std::uint32_t thread)
      : unit(thread), row(p.by_row_units.divide(unit)), offset(window.offset(p, p.by_units.quotient(unit))) {}
};

template <int bytes, device::Memory Memory>
constexpr void load_c2r_window_units(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                                     std::uint32_t thread) {
  const C2rWindow window(p, block);
  const C2rWindowThread mine(p, window, thread);
  if (mine.unit >= window.row_units) return;
  const std::uint32_t count = window.rows + p.halo;
  const int buffer = p.in.scratch ? kC2rScratchIn : kC2rIn;
  const std::uint64_t origin = (c2r_window_element(window, p.in, 0) * p.units + mine.unit) * bytes;
  const std::uint64_t pitch = p.in.pitch * p.units * bytes;
  const std::uint32_t to = p.tile + thread * bytes;
  FARO_NO_UNROLL
  for (std::uint32_t first = mine.row; first < count + mine.row; first += kC2rBatch * p.step_rows) {
    device::Packet<bytes> data[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      const std::uint32_t slot = first + k * p.step_rows;
      if (slot >= count) {
        if (p.r2c) device::idle(memory);
        device::idle(memory);
        continue;
      }
      std::uint32_t row = 0;
      if (p.r2c) {
        row = memory.template load_shared<4>(4 * slot).unit[0];
      } else {
        row = window.row_in_order(p, slot);
      }
      data[k] = memory.template load_global<bytes>(buffer, origin + row * pitch);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      const std::uint32_t slot = first + k * p.step_rows;
      if (slot >= count) {
        device::idle(memory);
      } else {
        memory.template store_shared<bytes>(
            to + ((first - mine.row) * p.by_row_units.divisor() + k * p.threads) * bytes, data[k]);
      }
    }
  }
}

template <int bytes, device::Memory Memory>
constexpr void store_c2r_window_units(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                                      std::uint32_t thread) {
  constexpr std::uint32_t batch = 4;
  const C2rWindow window(p, block);
  const C2rWindowThread mine(p, window, thread);
  if (mine.unit >= window.row_units) return;
  const int buffer = p.out.scratch ? kC2rScratchOut : kC2rOut;
  const std::uint64_t origin = (c2r_window_element(window, p.out, 0) * p.units + mine.unit) * bytes;
  const std::uint64_t pitch = p.out.pitch * p.units * bytes;
  const std::uint32_t shift = p.r2c ? p.halo - mine.offset : mine.offset;
  const std::uint32_t from = p.tile + (shift * p.by_row_units.divisor() + thread) * bytes;
  FARO_NO_UNROLL
  for (std::uint32_t first = mine.row; first < window.rows + mine.row; first += batch * p.step_rows) {
    FARO_UNROLL
    for (std::uint32_t k = 0; k < batch; ++k) {
      const std::uint32_t slot = first + k * p.step_rows;
      if (slot >= window.rows) {
        if (!p.r2c) device::idle(memory);
        device::idle(memory);
        device::idle(memory);
        continue;
      }
      std::uint32_t row = 0;
      if (p.r2c) {
        row = window.row_in_order(p, slot);
      } else {
        row = memory.template load_shared<4>(4 * slot).unit[0];
      }
      const auto data = memory.template load_shared<bytes>(
          from + ((first - mine.row) * p.by_row_units.divisor() + k * p.threads) * bytes);
      memory.template store_global<bytes>(buffer, origin + row * pitch, data);
    }
  }
}

// --- in vectors

/// The strip's part of a row, on one side.
template <int bytes>
constexpr C2rLine c2r_window_line(const C2rWindowsParams& p, const C2rWindow& window,
                                  const C2rColumns& columns, std::uint32_t row, std::uint32_t note) {
  const C2rExtent extent(window.array, p.shape.m * p.shape.n, columns.scratch ? columns.stride : 0, p.skew);
  return make_c2r_line<bytes>(
      extent,
      {.first = c2r_window_element(window, columns, row) + (columns.scratch ? 0 : p.skew),
       .count = window.row_units,
       .scratch = columns.scratch},
      note);
}

/// Elements of a row, where o(j) has a rotation.
template <int bytes>
struct C2rRotatedSource {
  std::uint32_t entry;   // of the row's first element
  std::uint32_t offset;  // the table's of the first element
  std::uint32_t at;      // bytes from where rows begin

  template <device::Memory Memory>
  constexpr device::Packet<bytes> element(Memory& memory, std::uint32_t k) const {
    const std::uint32_t further = memory.template load_shared<4>(offset + 4 * k).unit[0];
    const std::uint32_t begin = memory.template load_shared<4>(entry + 4 * further).unit[0];
    return memory.template load_shared<bytes>(begin + at + k * bytes);
  }
};

}  // namespace detail

/// First phase. In units the rows in the order of q that this window has. In vectors the tables of the rows
/// to load, and of where they will be.
template <typename Mover, device::Memory Memory>
constexpr void list_c2r_window_in(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const detail::C2rWindow window(p, block);
  if constexpr (!Mover::vectors) {
    const std::uint32_t count = p.r2c ? window.rows + p.halo : window.rows;
    for (std::uint32_t slot = thread; slot < count; slot += p.threads) {
      memory.template store_shared<4>(4 * slot, device::Packet<4>{{detail::c2r_listed_row(p, window, slot)}});
    }
  } else {
    constexpr int bytes = Mover::bytes;
    const std::uint32_t count = window.rows + p.halo;
    for (std::uint32_t slot = thread; slot < count; slot += p.threads) {
      const std::uint32_t row =
          p.r2c ? detail::c2r_listed_row(p, window, slot) : window.row_in_order(p, slot);
      const C2rLine line = detail::c2r_window_line<bytes>(p, window, p.in, row, 0);
      detail::store_c2r_line(memory, 0, slot, line);
      const std::uint32_t entry = p.r2c ? count - 1 - slot : slot;
      memory.template store_shared<4>(
          p.begins + 4 * entry,
          device::Packet<4>{{p.tile + slot * p.pitch * kC2rVectorBytes + line.begin * bytes}});
    }
    device::converge(memory);
    if (!p.rotates) return;
    for (std::uint32_t column = thread; column < window.row_units; column += p.threads) {
      memory.template store_shared<4>(p.offsets + 4 * column, device::Packet<4>{{window.offset(p, column)}});
    }
  }
}

/// Second phase.
template <typename Mover, device::Memory Memory>
constexpr void load_c2r_window(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    detail::load_c2r_window_units<bytes>(memory, p, block, thread);
  } else {
    const detail::C2rWindow window(p, block);
    const std::uint32_t all = (window.rows + p.halo) * p.by_row_vectors.divisor();
    FARO_NO_UNROLL
    for (std::uint32_t first = thread; first < all; first += p.threads) {
      std::uint32_t number = first;
      const std::uint32_t slot = p.by_row_vectors.divide(number);
      const C2rLine line = detail::load_c2r_line(memory, 0, slot);
      detail::copy_c2r_vector<bytes>(memory, line, number,
                                     p.tile + (slot * p.pitch + number) * kC2rVectorBytes);
    }
  }
}

/// Third phase, in vectors: the table of the rows to store. Note: the entry of the row that the first column
/// comes from.
template <typename Mover, device::Memory Memory>
constexpr void list_c2r_window_out(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                                   std::uint32_t thread) {
  const detail::C2rWindow window(p, block);
  for (std::uint32_t slot = thread; slot < window.rows; slot += p.threads) {
    const std::uint32_t row = p.r2c ? window.row_in_order(p, slot) : detail::c2r_listed_row(p, window, slot);
    const std::uint32_t entry = p.r2c ? window.rows - 1 - slot : slot;
    detail::store_c2r_line(memory, 0, slot,
                           detail::c2r_window_line<Mover::bytes>(p, window, p.out, row, entry));
  }
  detail::wait_for_copies(memory);
}

/// Last phase.
template <typename Mover, device::Memory Memory>
constexpr void store_c2r_window(Memory& memory, const C2rWindowsParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    detail::store_c2r_window_units<bytes>(memory, p, block, thread);
  } else {
    const detail::C2rWindow window(p, block);
    const std::uint32_t all = window.rows * p.by_row_vectors.divisor();
    FARO_NO_UNROLL
    for (std::uint32_t first = thread; first < all; first += p.threads) {
      std::uint32_t number = first;
      const std::uint32_t slot = p.by_row_vectors.divide(number);
      const C2rLine line = detail::load_c2r_line(memory, 0, slot);
      const std::uint32_t entry = p.begins + 4 * line.note;
      if (p.rotates) {
        detail::gather_c2r_vector<bytes>(memory, line, number, [&](std::uint32_t element) {
          return detail::C2rRotatedSource<bytes>{entry, p.offsets + 4 * element, element * bytes};
        });
      } else {
        detail::gather_c2r_vector<bytes>(memory, line, number, [&](std::uint32_t element) {
          return detail::C2rTableSource<bytes, bytes>{entry + 4 * element, element * bytes};
        });
      }
    }
  }
}

template <typename Mover, typename Take>
constexpr void with_phases(const C2rWindowsParams& p, const Take& take) {
  const auto list = [&p](auto& m, std::uint64_t b, std::uint32_t t) {
    list_c2r_window_in<Mover>(m, p, b, t);
  };
  const auto load = [&p](auto& m, std::uint64_t b, std::uint32_t t) { load_c2r_window<Mover>(m, p, b, t); };
  const auto store = [&p](auto& m, std::uint64_t b, std::uint32_t t) { store_c2r_window<Mover>(m, p, b, t); };
  if constexpr (Mover::vectors) {
    take(
        list, load,
        [&p](auto& m, std::uint64_t b, std::uint32_t t) { list_c2r_window_out<Mover>(m, p, b, t); }, store);
  } else {
    take(list, load, store);
  }
}

}  // namespace faro::kernels
