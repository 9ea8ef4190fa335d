// The column operations of C2R and R2C for columns of any length, in vectors: what c2r_windows.hpp does unit
// by unit, with the same windows and halo.
//
// In shared memory the rows of a window lie as they lie outside (c2r_vectors.hpp), and a table says where
// each begins, of R2C in the opposite order. An element of the result that is one column further comes from
// one row further, C2R, or one less, R2C: one entry further. Where o(j) has a rotation, a table of the
// strip's columns has o(j) - o(first of the strip).
//
// Another table has all rows' places outside, of the rows that are loaded first, then of those that are
// stored.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_vectors.hpp"
#include "kernels/c2r_windows.hpp"

namespace faro::kernels {

struct C2rVectorWindowsParams {
  C2rWindowsParams window;  // of one unit
  std::uint32_t skew = 0;   // the array begins so many elements after an aligned address
  std::uint32_t threads = 0;
  std::uint32_t pitch = 0;    // vectors from row to row of the tile
  std::uint32_t begins = 0;   // where the tables begin; lines are the first
  std::uint32_t offsets = 0;  // o(j) - o(first)
  std::uint32_t tile = 0;     // and what they tell of
  device::Division32 by_row_vectors;

  constexpr std::uint64_t shared_bytes() const {
    return tile + std::uint64_t{window.rows + window.halo} * pitch * kC2rVectorBytes;
  }
};

/// Requires: `window` finished.
constexpr void finish(C2rVectorWindowsParams& p, std::uint64_t element_bytes) {
  const C2rWindowsParams& w = p.window;
  const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(w.width, element_bytes));
  p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
  p.by_row_vectors = device::Division32(vectors);
  p.begins = (w.rows + w.halo) * kC2rLineBytes;
  p.offsets = p.begins + 4 * (w.rows + w.halo);
  p.tile = (p.offsets + (w.rotates ? 4 * w.width : 0) + 15) / 16 * 16;
}

namespace detail {

/// Of a side: the strip's part of a row.
constexpr C2rRun c2r_window_run(const C2rVectorWindowsParams& p, const C2rWindow& window,
                                const C2rColumns& columns, std::uint32_t row) {
  return {.first = window.array * columns.stride + (columns.scratch ? 0 : p.skew) + row * columns.pitch +
                   window.column + static_cast<std::uint64_t>(columns.shift),
          .count = window.row_units,
          .scratch = columns.scratch};
}

/// The row that is `slot` after the window's first in the order of q; of what R2C reads, after the halo's.
constexpr std::uint32_t c2r_listed_row(const C2rWindowsParams& w, const C2rWindow& window,
                                       std::uint32_t slot) {
  std::uint64_t row = window.first + slot;
  if (w.r2c) row = remainder(w.shape.by_m, row + w.shape.m - w.halo_mod_m);
  if (w.shuffles) row = unordered_row(w.shape, row);
  return static_cast<std::uint32_t>(row);
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

/// First phase: the tables of the rows to load, and of where they will be.
template <int bytes, device::Memory Memory>
constexpr void list_c2r_window_in(Memory& memory, const C2rVectorWindowsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  const C2rWindowsParams& w = p.window;
  const detail::C2rWindow window(w, block);
  const C2rExtent extent(window.array, w.shape.m * w.shape.n, w.in.scratch ? w.in.stride : 0, p.skew);
  const std::uint32_t count = window.rows + w.halo;
  for (std::uint32_t slot = thread; slot < count; slot += p.threads) {
    const std::uint32_t row = w.r2c ? detail::c2r_listed_row(w, window, slot) : window.row_in_order(w, slot);
    const C2rLine line = make_c2r_line<bytes>(extent, detail::c2r_window_run(p, window, w.in, row), 0);
    detail::store_c2r_line(memory, 0, slot, line);
    const std::uint32_t entry = w.r2c ? count - 1 - slot : slot;
    memory.template store_shared<4>(
        p.begins + 4 * entry,
        device::Packet<4>{{p.tile + slot * p.pitch * kC2rVectorBytes + line.begin * bytes}});
  }
  device::converge(memory);
  if (!w.rotates) return;
  for (std::uint32_t column = thread; column < window.row_units; column += p.threads) {
    memory.template store_shared<4>(p.offsets + 4 * column, device::Packet<4>{{window.offset(w, column)}});
  }
}

/// Second phase.
template <int bytes, device::Memory Memory>
constexpr void load_c2r_vector_window(Memory& memory, const C2rVectorWindowsParams& p, std::uint64_t block,
                                      std::uint32_t thread) {
  const detail::C2rWindow window(p.window, block);
  const std::uint32_t all = (window.rows + p.window.halo) * p.by_row_vectors.divisor();
  FARO_NO_UNROLL
  for (std::uint32_t first = thread; first < all; first += p.threads) {
    std::uint32_t number = first;
    const std::uint32_t slot = p.by_row_vectors.divide(number);
    const C2rLine line = detail::load_c2r_line(memory, 0, slot);
    detail::copy_c2r_vector<bytes>(memory, line, number,
                                   p.tile + (slot * p.pitch + number) * kC2rVectorBytes);
  }
}

/// Third phase: the table of the rows to store. Note: the entry of the row that the first column comes from.
template <int bytes, device::Memory Memory>
constexpr void list_c2r_window_out(Memory& memory, const C2rVectorWindowsParams& p, std::uint64_t block,
                                   std::uint32_t thread) {
  const C2rWindowsParams& w = p.window;
  const detail::C2rWindow window(w, block);
  const C2rExtent extent(window.array, w.shape.m * w.shape.n, w.out.scratch ? w.out.stride : 0, p.skew);
  for (std::uint32_t slot = thread; slot < window.rows; slot += p.threads) {
    const std::uint32_t row = w.r2c ? window.row_in_order(w, slot) : detail::c2r_listed_row(w, window, slot);
    const std::uint32_t entry = w.r2c ? window.rows - 1 - slot : slot;
    const C2rLine line = make_c2r_line<bytes>(extent, detail::c2r_window_run(p, window, w.out, row), entry);
    detail::store_c2r_line(memory, 0, slot, line);
  }
}

/// Fourth phase.
template <int bytes, device::Memory Memory>
constexpr void store_c2r_vector_window(Memory& memory, const C2rVectorWindowsParams& p, std::uint64_t block,
                                       std::uint32_t thread) {
  const C2rWindowsParams& w = p.window;
  const detail::C2rWindow window(w, block);
  const std::uint32_t all = window.rows * p.by_row_vectors.divisor();
  FARO_NO_UNROLL
  for (std::uint32_t first = thread; first < all; first += p.threads) {
    std::uint32_t number = first;
    const std::uint32_t slot = p.by_row_vectors.divide(number);
    const C2rLine line = detail::load_c2r_line(memory, 0, slot);
    const std::uint32_t entry = p.begins + 4 * line.note;
    if (w.rotates) {
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

}  // namespace faro::kernels
