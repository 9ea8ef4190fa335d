// The rows that are shuffled in shared memory (c2r_rows.hpp): their parameters, and where the columns of a
// thread are, in memory and in shared memory, in vectors.
//
// A *side* is where a row lies: the columns in the scratch are one run, and those in the array are, on
// diagonals, a run for every panel of places. Vectors are numbered from the scratch's on; then every panel
// has as many numbers as its run can touch vectors.
//
// With j = p b + k, d(j) = ((i + p) mod m + k m) mod n: from one column of a panel to the next it grows by m
// mod n, and from one of a thread's vectors to the next by a fixed amount too. A thread begins with a
// division or two, and does them again only where another panel or another run begins. A vector that two
// panels share, or that the ends of a run cut, is moved element by element.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_sweep.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

/// Shared memory for a row. Requires: n < 2^31.
constexpr std::uint64_t c2r_rows_shared_bytes(std::uint64_t n, std::uint64_t element_bytes) {
  return (n + n / 32) * element_bytes;
}

/// Where a row is read, or written; its vectors are counted in vectors alone.
struct C2rRowSide {
  C2rHeld held;  // columns
  std::uint32_t first_panel = 0;
  std::uint32_t scratch_vectors = 0;
  std::uint32_t vectors = 0;  // in all
};

struct C2rRowsParams : C2rSweepParams {
  bool diagonal = false;  // rows lie on diagonals of panels
  C2rRowSide in;
  C2rRowSide out;
  std::uint64_t scratch_pitch = 0;  // elements from row to row of the scratch
  // In units.
  std::uint32_t step_panels = 0;    // threads div b
  std::uint32_t step_in_panel = 0;  // threads mod b
  std::uint32_t step_target = 0;    // (threads mod b) m mod n
  // In vectors.
  std::uint32_t m_mod_n = 0;
  std::uint32_t step_slot = 0;  // d, from one of a thread's vectors to the next
  device::Division32 by_run_vectors;
  device::Division32 by_panel;  // b

  constexpr std::uint64_t shared_bytes() const { return c2r_rows_shared_bytes(shape.n, element_bytes()); }
};

/// The vectors of a row, wherever it lies.
constexpr C2rRowSide make_c2r_row_side(const C2rShape& shape, const C2rHeld& held, bool diagonal,
                                       std::uint64_t element_bytes) {
  const std::uint64_t columns = held.end - held.begin;
  C2rRowSide side{.held = held, .first_panel = 0, .scratch_vectors = 0, .vectors = 0};
  if (columns > 0) side.scratch_vectors = static_cast<std::uint32_t>(c2r_run_vectors(columns, element_bytes));
  std::uint64_t runs = columns < shape.n ? 1 : 0;
  if (diagonal && columns < shape.n) {
    const std::uint64_t first = held.shift > 0 ? columns : 0;  // places of the array
    const std::uint64_t last = (held.shift < 0 ? shape.n - columns : shape.n) - 1;
    side.first_panel = static_cast<std::uint32_t>(first / shape.b);
    runs = last / shape.b - first / shape.b + 1;
  }
  side.vectors =
      side.scratch_vectors +
      static_cast<std::uint32_t>(runs * c2r_run_vectors(diagonal ? shape.b : shape.n, element_bytes));
  return side;
}

/// Fills in what follows from the shape, the sides' held columns and threads. Requires: n < 2^31, in vectors
/// 2^28.
constexpr void finish(C2rRowsParams& p) {
  const C2rShape& s = p.shape;
  if (!p.vectors) {
    p.step_panels = static_cast<std::uint32_t>(p.threads / s.b);
    p.step_in_panel = static_cast<std::uint32_t>(p.threads % s.b);
    p.step_target = static_cast<std::uint32_t>(p.step_in_panel % s.n * (s.m % s.n) % s.n);
    return;
  }
  p.in = make_c2r_row_side(s, p.in.held, p.diagonal, p.unit_bytes);
  p.out = make_c2r_row_side(s, p.out.held, p.diagonal, p.unit_bytes);
  p.m_mod_n = static_cast<std::uint32_t>(s.m % s.n);
  const std::uint64_t step = std::uint64_t{p.threads} * (kC2rVectorBytes / p.unit_bytes);
  p.step_slot = static_cast<std::uint32_t>(step % s.n * p.m_mod_n % s.n);
  p.by_run_vectors =
      device::Division32(static_cast<std::uint32_t>(c2r_run_vectors(p.diagonal ? s.b : s.n, p.unit_bytes)));
  p.by_panel = device::Division32(static_cast<std::uint32_t>(s.b));
}

namespace detail {

struct C2rRow {
  C2rExtent extent;       // in vectors
  std::uint64_t array;    // its first element, in units
  std::uint64_t row;      // i
  std::uint64_t scratch;  // the row's first element there
  std::uint32_t row_mod_n;

  constexpr C2rRow(const C2rRowsParams& p, std::uint64_t block)
      : extent(p.shape.by_m.quotient(block), p.shape.m * p.shape.n, p.scratch_elements, p.skew),
        array(p.shape.by_m.quotient(block) * p.shape.m * p.shape.n),
        row(block - p.shape.by_m.quotient(block) * p.shape.m),
        scratch(extent.scratch + row * p.scratch_pitch),
        row_mod_n(static_cast<std::uint32_t>(remainder(p.shape.by_n, row))) {}

  /// (i + p) mod m mod n: where the first column of panel p goes.
  constexpr std::uint32_t first_target(const C2rRowsParams& p, std::uint32_t panel) const {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    if (row + panel >= p.shape.m) return static_cast<std::uint32_t>(row + panel - p.shape.m);
    const std::uint32_t sum = row_mod_n + panel;
    return sum < n ? sum : sum - n;
  }
};

/// A run of a row, and the column that it begins with.
struct C2rRowRun {
  C2rRun run;
  std::uint32_t column = 0;

  /// Begins at the vector `number` of a side, which becomes the number within the run.
  constexpr C2rRowRun(const C2rRowsParams& p, const C2rRowSide& side, const C2rRow& row,
                      std::uint32_t& number) {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    const auto held = static_cast<std::uint32_t>(side.held.end - side.held.begin);
    if (number < side.scratch_vectors) {
      run = {.first = row.scratch, .count = held, .scratch = true};
      column = static_cast<std::uint32_t>(side.held.begin);
      return;
    }
    number -= side.scratch_vectors;
    std::uint32_t begin = side.held.shift > 0 ? held : 0;  // places
    std::uint32_t end = side.held.shift < 0 ? n - held : n;
    std::uint64_t at_row = row.row;
    if (p.diagonal) {
      const auto b = static_cast<std::uint32_t>(p.shape.b);
      const std::uint32_t panel = side.first_panel + p.by_run_vectors.divide(number);
      at_row = c2r_wrapped(at_row + panel, p.shape.m);
      begin = begin > panel * b ? begin : panel * b;
      end = end < panel * b + b ? end : panel * b + b;
    }
    run = {.first = row.extent.array + at_row * p.shape.n + begin, .count = end - begin, .scratch = false};
    column = begin - static_cast<std::uint32_t>(side.held.shift);
  }
};

/// Where in shared memory a row's columns are, one after another, over as many panels as there are.
struct C2rRowSlots {
  std::uint32_t n;
  std::uint32_t target;   // j; of the shuffle k m mod n
  std::uint32_t step;     // 1; m mod n
  std::uint32_t base;     // 0; (i + p) mod m mod n
  std::uint32_t left;     // columns of the panel
  std::uint32_t to_wrap;  // panels until i + p is m

  constexpr C2rRowSlots(const C2rRowsParams& p, const C2rRow& row, bool shuffles, std::uint32_t column)
      : n(static_cast<std::uint32_t>(p.shape.n)), target(column), step(1), base(0), left(0), to_wrap(0) {
    if (!shuffles) return;
    std::uint32_t in_panel = column;
    std::uint32_t panel = 0;
    if (p.shape.c > 1) panel = p.by_panel.divide(in_panel);
    target = static_cast<std::uint32_t>(remainder(p.shape.by_n, std::uint64_t{in_panel} * p.m_mod_n));
    step = p.m_mod_n;
    left = static_cast<std::uint32_t>(p.shape.b) - in_panel;
    // Below c, and so below n.
    const std::uint64_t sum = row.row + panel;
    constexpr std::uint64_t far = std::uint64_t{1} << 31;
    const std::uint64_t panels = p.shape.m > sum ? p.shape.m - sum : 0;
    to_wrap = static_cast<std::uint32_t>(panels < far ? panels : far);
    base = row.first_target(p, panel);
  }
  constexpr std::uint32_t next(const C2rRowsParams& p, bool shuffles) {
    if (!shuffles) return c2r_padded(target++);
    std::uint32_t slot = base + target;
    if (slot >= n) slot -= n;
    target += step;
    if (target >= n) target -= n;
    if (--left == 0) {
      left = static_cast<std::uint32_t>(p.shape.b);
      ++base;
      --to_wrap;
      if (base == n || to_wrap == 0) base = 0;
    }
    return c2r_padded(slot);
  }
};

/// Vectors of a side, `threads` apart.
template <int bytes>
struct C2rRowWalk {
  static constexpr std::uint32_t v = kC2rVector<bytes>;
  C2rLine line;
  std::uint32_t number = 0;   // of the line's vectors
  std::uint32_t vectors = 0;  // of the run
  std::uint32_t flat = 0;     // of the side's vectors
  // The column of the vector's element 0, whether or not it is the run's.
  std::uint32_t column = 0;
  std::uint32_t slot = 0;
  std::uint32_t left = 0;  // columns to the panel's end

  constexpr C2rRowWalk(const C2rRowsParams& p, const C2rRowSide& side, const C2rRow& row, bool shuffles,
                       std::uint32_t thread)
      : flat(thread) {
    begin_run(p, side, row, shuffles);
  }
  constexpr void begin_run(const C2rRowsParams& p, const C2rRowSide& side, const C2rRow& row, bool shuffles) {
    line = {};
    number = flat;
    vectors = ~std::uint32_t{0};
    if (flat >= side.vectors) return;
    vectors = flat < side.scratch_vectors ? side.scratch_vectors : p.by_run_vectors.divisor();
    const C2rRowRun run(p, side, row, number);
    line = make_c2r_line<bytes>(row.extent, run.run, 0);
    column = run.column + number * v - line.begin;
    look(p, row, shuffles);
  }
  constexpr void look(const C2rRowsParams& p, const C2rRow& row, bool shuffles) {
    slot = column;
    left = v;
    if (!shuffles) return;
    const std::uint32_t before = number == 0 ? line.begin : 0;
    const auto b = static_cast<std::uint32_t>(p.shape.b);
    std::uint32_t in_panel = column + before;
    std::uint32_t panel = 0;
    if (p.shape.c > 1) panel = p.by_panel.divide(in_panel);
    left = b - in_panel + before;
    // b columns earlier k m mod n is the same.
    const std::uint64_t columns = in_panel + std::uint64_t{v} * b - before;
    const auto target = static_cast<std::uint32_t>(remainder(p.shape.by_n, columns * p.m_mod_n));
    slot = wrapped(p, row.first_target(p, panel) + target);
  }
  constexpr void step(const C2rRowsParams& p, const C2rRowSide& side, const C2rRow& row, bool shuffles) {
    flat += p.threads;
    number += p.threads;
    if (number >= vectors) {
      begin_run(p, side, row, shuffles);
      return;
    }
    const std::uint32_t columns = p.threads * v;
    column += columns;
    if (!shuffles) {
      slot += columns;
    } else if (left > columns) {
      left -= columns;
      slot = wrapped(p, slot + p.step_slot);
    } else if (line.end > number * v) {
      look(p, row, shuffles);
    }
  }
  /// Where the next column goes, within a panel.
  static constexpr std::uint32_t next(const C2rRowsParams& p, std::uint32_t slot, bool shuffles) {
    return shuffles ? wrapped(p, slot + p.m_mod_n) : slot + 1;
  }
  static constexpr std::uint32_t wrapped(const C2rRowsParams& p, std::uint32_t slot) {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    return slot < n ? slot : slot - n;
  }
};

/// One of them, while it is on its way.
struct C2rRowVector {
  std::uint32_t column = 0;
  std::uint32_t slot = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool plain = false;  // whole, of one panel

  constexpr C2rRowVector() = default;
  template <int bytes>
  explicit constexpr C2rRowVector(const C2rRowWalk<bytes>& walk) : column(walk.column), slot(walk.slot) {
    const C2rLineVector<bytes> vector(walk.line, walk.number);
    begin = vector.begin;
    end = vector.end;
    plain = vector.whole() && walk.left >= kC2rVector<bytes>;
  }
};

/// The units of a vector, one after another: no register is indexed, so a loop over them need not be
/// unrolled.
struct C2rUnits {
  std::uint64_t low;
  std::uint64_t high;

  explicit constexpr C2rUnits(const device::Packet<16>& vector)
      : low(std::uint64_t{vector.unit[1]} << 32 | vector.unit[0]),
        high(std::uint64_t{vector.unit[3]} << 32 | vector.unit[2]) {}

  template <int bytes>
  constexpr device::Packet<bytes> pop() {
    device::Packet<bytes> unit{};
    if constexpr (bytes >= 8) {
      unit = {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32)}};
      low = high;
    } else {
      constexpr int bits = 8 * bytes;
      using Unit = typename device::Packet<bytes>::Unit;
      unit.unit[0] = static_cast<Unit>(low);
      low = low >> bits | high << (64 - bits);
      high >>= bits;
    }
    return unit;
  }
};

}  // namespace detail

}  // namespace faro::kernels
