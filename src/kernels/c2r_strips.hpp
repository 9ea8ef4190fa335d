// Permutes the columns of C2R and R2C where a strip of whole columns fits shared memory, in place: one block
// a strip.
//
//     C2R    rows r, at their places  --->  shared, in order  --->  row i reads row s_j(i)
//     R2C    row i                    --->  row s_j(i)        --->  rows r, to their places
//
// The places of rows r are on diagonals of panels, displaced, or in the scratch (c2r_places.hpp). A block
// reads its whole strip before it writes, so it overwrites nothing that it still needs. The rotation alone
// has (i + j div b) mod m as s_j(i). A warp reads s_j(i) at stride width + 1, without conflicts.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"

namespace faro::kernels {

struct C2rStripsParams {
  C2rShape shape;
  std::uint32_t units = 1;  // of an element
  std::uint32_t width = 0;  // columns of a strip
  std::uint32_t threads = 0;
  bool r2c = false;
  bool shuffles = false;               // s_j(i); else the rotation alone
  bool diagonal = false;               // rows r lie on diagonals of panels
  C2rHeld held;                        // rows r
  std::uint64_t scratch_elements = 0;  // of an array
  std::uint32_t step_rows = 0;         // of a thread; its columns are `threads` units apart
  std::uint32_t last_row = 0;          // m, rounded up to step_rows
  std::uint32_t steps = 0;             // of a thread
  device::Division64 by_strips;
  device::Division32 by_m;
  device::Division32 by_row_units;  // width x units
  device::Division32 by_units;

  constexpr bool rotates() const { return diagonal || !shuffles; }
  /// Row numbers come first, to a multiple of 16 bytes.
  constexpr std::uint32_t list_bytes() const {
    return (4 * static_cast<std::uint32_t>(shape.m) + 15) / 16 * 16;
  }
  constexpr std::uint64_t shared_bytes(std::uint64_t unit_bytes) const {
    return list_bytes() + shape.m * width * units * unit_bytes;
  }
};

/// Fills in what follows from width and threads, of which it leaves a multiple of a strip's row where that is
/// shorter. Requires: m < 2^30.
constexpr void finish(C2rStripsParams& p) {
  p.by_strips = device::Division64((p.shape.n + p.width - 1) / p.width);
  p.by_m = device::Division32(static_cast<std::uint32_t>(p.shape.m));
  p.by_row_units = device::Division32(p.width * p.units);
  p.by_units = device::Division32(p.units);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  const std::uint32_t row_units = p.width * p.units;
  p.step_rows = row_units < p.threads ? p.threads / row_units : 1;
  if (row_units < p.threads) p.threads = p.step_rows * row_units;
  const std::uint32_t rows = (m + p.step_rows - 1) / p.step_rows;
  p.last_row = rows * p.step_rows;
  p.steps = rows * ((row_units + p.threads - 1) / p.threads);
}

namespace detail {

struct C2rStrip {
  std::uint64_t array;   // its number
  std::uint64_t column;  // first
  std::uint32_t row_units;
  std::uint32_t column_mod_m;
  std::uint64_t panel;
  std::uint64_t in_panel;
  std::uint32_t panel_mod_m;

  constexpr C2rStrip(const C2rStripsParams& p, std::uint64_t block) {
    const C2rShape& s = p.shape;
    array = p.by_strips.divide(block);
    column = block * p.width;
    const std::uint64_t columns = s.n - column < p.width ? s.n - column : p.width;
    row_units = static_cast<std::uint32_t>(columns) * p.units;
    column_mod_m = static_cast<std::uint32_t>(remainder(s.by_m, column));
    in_panel = column;
    panel = s.by_b.divide(in_panel);
    panel_mod_m = static_cast<std::uint32_t>(remainder(s.by_m, panel));
  }

  /// j div b, modulo m, j = column + in_strip.
  constexpr std::uint32_t rotation(const C2rStripsParams& p, std::uint32_t in_strip) const {
    std::uint64_t sum = panel_mod_m;
    if (in_panel + in_strip >= p.shape.b) sum += p.shape.by_b.quotient(in_panel + in_strip);
    return static_cast<std::uint32_t>(sum < p.shape.m ? sum : remainder(p.shape.by_m, sum));
  }
};

/// A thread's elements: down a column of the strip, then down the next of its columns.
struct C2rStripWalk {
  std::uint32_t unit;  // of the strip's row
  std::uint32_t row;
  std::uint32_t rotation;  // of the column
  std::uint32_t offset;    // s_j(i) - q(i), modulo m
  std::uint32_t first_row;

  constexpr C2rStripWalk(const C2rStripsParams& p, const C2rStrip& strip, std::uint32_t thread)
      : unit(thread), row(p.by_row_units.divide(unit)), rotation(0), offset(0), first_row(row) {
    look(p, strip);
  }
  constexpr void look(const C2rStripsParams& p, const C2rStrip& strip) {
    const std::uint32_t in_strip = p.by_units.quotient(unit);
    rotation = p.rotates() ? strip.rotation(p, in_strip) : 0;
    offset = rotation;
    if (!p.shuffles) return;
    offset = strip.column_mod_m + in_strip;
    p.by_m.divide(offset);
  }
  constexpr void step(const C2rStripsParams& p, const C2rStrip& strip) {
    row += p.step_rows;
    if (row < p.last_row + first_row) return;
    row = first_row;
    unit += p.threads;
    look(p, strip);
  }
};

constexpr std::uint32_t c2r_wrapped_row(std::uint32_t sum, std::uint32_t m) {
  return sum < m ? sum : sum - m;
}

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  // Rows i have not moved and are accessed by the list; rows r are at p.held's places, in order.
  const bool listed = into_shared == p.r2c;
  const C2rStrip strip(p, block);
  C2rStripWalk walk(p, strip, thread);
  const std::uint64_t base = (strip.array * p.shape.m * p.shape.n + strip.column) * p.units * bytes;
  const std::uint64_t scratch = (strip.array * p.scratch_elements + strip.column) * p.units * bytes;
  const std::uint64_t pitch = p.shape.n * p.units * bytes;
  const std::uint32_t row_bytes = p.by_row_units.divisor() * bytes;
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  // C2rHeld::place() in words, modulo 2^32.
  const auto held_begin = static_cast<std::uint32_t>(p.held.begin);
  const auto held_rows = static_cast<std::uint32_t>(p.held.end - p.held.begin);
  const auto shift = static_cast<std::uint32_t>(p.held.shift);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < p.steps; first += kC2rBatch) {
    device::Packet<bytes> data[kC2rBatch] = {};
    std::uint32_t shared[kC2rBatch] = {};
    std::uint64_t at[kC2rBatch] = {};
    bool in_scratch[kC2rBatch] = {};
    bool valid[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      valid[k] = walk.row < m && walk.unit < strip.row_units;
      if (!valid[k]) {
        if (listed) device::idle(memory);
        if (into_shared) device::idle(memory);
      } else {
        std::uint32_t shared_row = walk.row;
        std::uint32_t global_row = walk.row;
        if (listed) {
          const std::uint32_t q = memory.template load_shared<4>(4 * walk.row).unit[0];
          shared_row = c2r_wrapped_row(q + walk.offset, m);
        } else {
          const std::uint32_t from_begin = walk.row - held_begin;
          in_scratch[k] = from_begin < held_rows;
          global_row = in_scratch[k] ? from_begin : walk.row + shift;
          if (p.diagonal && !in_scratch[k]) global_row = c2r_wrapped_row(global_row + walk.rotation, m);
        }
        shared[k] = p.list_bytes() + shared_row * row_bytes + walk.unit * bytes;
        at[k] = (in_scratch[k] ? scratch : base) + global_row * pitch + std::uint64_t{walk.unit} * bytes;
        if constexpr (into_shared) {
          data[k] = memory.template load_global<bytes>(in_scratch[k] ? kC2rScratchIn : kC2rIn, at[k]);
        }
      }
      walk.step(p, strip);
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

}  // namespace detail

/// First phase: q(i) of all rows.
template <device::Memory Memory>
constexpr void list_c2r_columns(Memory& memory, const C2rStripsParams& p, std::uint32_t thread) {
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t row = thread; row < m; row += p.threads) {
    const std::uint64_t from = p.shuffles ? ordered_row(p.shape, row) : row;
    memory.template store_shared<4>(4 * row, device::Packet<4>{{static_cast<std::uint32_t>(from)}});
  }
}
/// Second and third phase.
template <int bytes, device::Memory Memory>
constexpr void load_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                              std::uint32_t thread) {
  detail::move_c2r_strip<bytes, true>(memory, p, block, thread);
}
template <int bytes, device::Memory Memory>
constexpr void store_c2r_strip(Memory& memory, const C2rStripsParams& p, std::uint64_t block,
                               std::uint32_t thread) {
  detail::move_c2r_strip<bytes, false>(memory, p, block, thread);
}

}  // namespace faro::kernels
