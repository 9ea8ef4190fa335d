// Shuffles the rows of C2R and R2C where a row fits shared memory: one block a row.
//
//     C2R    row, in order  --->  shared[d(j)]  --->  row, in order       both ways compute d(j) of
//     R2C    row, in order  --->  shared[j]     --->  shared[d(j)]        c2r_index.hpp, never its inverse
//
// A thread takes every `threads`-th column. With j = p b + k, d(j) = ((i + p) mod m + k m) mod n: from one of
// its columns to the next, p, k and k m mod n grow by fixed steps; k m mod n needs no correction when k
// passes b, because b m is a multiple of n. So no element costs a division.
//
// The places of rows in the array and in the scratch are those that the other sweeps use (c2r_places.hpp).
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"

namespace faro::kernels {

struct C2rRowsParams {
  C2rShape shape;
  std::uint32_t units = 1;  // of an element
  std::uint32_t threads = 0;
  std::uint32_t step_panels = 0;    // threads div b
  std::uint32_t step_in_panel = 0;  // threads mod b
  std::uint32_t step_target = 0;    // (threads mod b) m mod n
  bool r2c = false;
  bool diagonal = false;  // rows lie on diagonals of panels
  C2rHeld in;             // columns
  C2rHeld out;
  std::uint64_t scratch_pitch = 0;     // elements from row to row of the scratch
  std::uint64_t scratch_elements = 0;  // of an array
};

/// Shared memory for a row. Requires: n < 2^31.
constexpr std::uint64_t c2r_rows_shared_bytes(std::uint64_t n, std::uint64_t element_bytes) {
  return (n + n / 32) * element_bytes;
}

constexpr C2rRowsParams make_c2r_rows_params(const C2rShape& shape, std::uint32_t units,
                                             std::uint32_t threads) {
  C2rRowsParams p;
  p.shape = shape;
  p.units = units;
  p.threads = threads;
  p.step_panels = static_cast<std::uint32_t>(threads / shape.b);
  p.step_in_panel = static_cast<std::uint32_t>(threads % shape.b);
  p.step_target = static_cast<std::uint32_t>(p.step_in_panel % shape.n * (shape.m % shape.n) % shape.n);
  return p;
}

namespace detail {

/// The panel of a column that moves on by `threads` at a time. Columns may begin below 0.
struct C2rPanelWalk {
  std::int32_t panel;
  std::uint32_t in_panel;

  constexpr C2rPanelWalk(const C2rRowsParams& p, std::int64_t column) : panel(0), in_panel(0) {
    const std::uint64_t b = p.shape.b;
    const std::uint64_t below =
        column < 0 ? p.shape.by_b.quotient(static_cast<std::uint64_t>(-column) + b - 1) : 0;
    std::uint64_t rest = static_cast<std::uint64_t>(column) + below * b;
    panel = static_cast<std::int32_t>(p.shape.by_b.divide(rest)) - static_cast<std::int32_t>(below);
    in_panel = static_cast<std::uint32_t>(rest);
  }
  /// Whether it is another panel.
  constexpr bool step(const C2rRowsParams& p) {
    const auto b = static_cast<std::uint32_t>(p.shape.b);
    panel += static_cast<std::int32_t>(p.step_panels);
    in_panel += p.step_in_panel;
    const bool next = in_panel >= b;
    if (next) {
      in_panel -= b;
      ++panel;
    }
    return next || p.step_panels > 0;
  }
};

struct C2rRow {
  std::uint64_t array;    // first element
  std::uint64_t scratch;  // first element of row i
  std::uint64_t row;      // i

  constexpr C2rRow(const C2rRowsParams& p, std::uint64_t block) {
    const std::uint64_t number = p.shape.by_m.quotient(block);
    row = block - number * p.shape.m;
    array = number * p.shape.m * p.shape.n;
    scratch = number * p.scratch_elements + row * p.scratch_pitch;
  }
};

/// Where a thread's columns are. The scratch has row i in its row i; the array, where panels are of the
/// places, not of the columns.
struct C2rPlaceWalk {
  C2rPanelWalk panels;
  std::uint32_t begin;  // columns in the scratch
  std::uint32_t end;
  std::uint64_t origin;  // the element of column 0 of the current panel's row, shift included
  std::uint64_t scratch;

  constexpr C2rPlaceWalk(const C2rRowsParams& p, const C2rHeld& held, const C2rRow& row, std::uint32_t thread)
      : panels(p, p.diagonal ? thread + held.shift : 0),
        begin(static_cast<std::uint32_t>(held.begin)),
        end(static_cast<std::uint32_t>(held.end)),
        origin(0),
        scratch(row.scratch - held.begin) {
    look(p, held, row);
  }
  constexpr void look(const C2rRowsParams& p, const C2rHeld& held, const C2rRow& row) {
    std::uint64_t at_row = row.row;
    if (p.diagonal && panels.panel > 0) {
      at_row = c2r_wrapped(at_row + static_cast<std::uint32_t>(panels.panel), p.shape.m);
    }
    origin = row.array + at_row * p.shape.n + static_cast<std::uint64_t>(held.shift);
  }
  constexpr C2rPlace place(std::uint32_t column) const {
    const bool in_scratch = column >= begin && column < end;
    return {(in_scratch ? scratch : origin) + column, in_scratch};
  }
  constexpr void step(const C2rRowsParams& p, const C2rHeld& held, const C2rRow& row) {
    if (p.diagonal && panels.step(p)) look(p, held, row);
  }
};

/// d_i of a thread's columns.
struct C2rTargetWalk {
  C2rPanelWalk panels;
  std::uint32_t target;     // k m mod n
  std::uint32_t row_mod_n;  // i mod n
  std::uint32_t base;       // (i + p) mod m mod n

  constexpr C2rTargetWalk(const C2rRowsParams& p, const C2rRow& row, std::uint32_t thread)
      : panels(p, thread),
        target(static_cast<std::uint32_t>(
            remainder(p.shape.by_n, panels.in_panel * remainder(p.shape.by_n, p.shape.m)))),
        row_mod_n(static_cast<std::uint32_t>(remainder(p.shape.by_n, row.row))),
        base(0) {
    look(p, row);
  }
  constexpr void look(const C2rRowsParams& p, const C2rRow& row) {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    const auto panel = static_cast<std::uint32_t>(panels.panel);
    if (row.row + panel >= p.shape.m) {
      base = static_cast<std::uint32_t>(row.row + panel - p.shape.m);
    } else {
      base = row_mod_n + panel;
      if (base >= n) base -= n;
    }
  }
  constexpr std::uint32_t shuffled(const C2rRowsParams& p) const {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    const std::uint32_t sum = base + target;
    return sum < n ? sum : sum - n;
  }
  constexpr void step(const C2rRowsParams& p, const C2rRow& row) {
    const auto n = static_cast<std::uint32_t>(p.shape.n);
    if (panels.step(p)) look(p, row);
    target += p.step_target;
    if (target >= n) target -= n;
  }
};

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_row(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  constexpr std::uint32_t batch = bytes <= 4 ? kC2rBatch : kC2rBatch / 2;  // what registers hold
  const bool shuffles = into_shared != p.r2c;
  const auto n = static_cast<std::uint32_t>(p.shape.n);
  const C2rHeld& held = into_shared ? p.in : p.out;
  const C2rRow row(p, block);
  C2rPlaceWalk places(p, held, row, thread);
  C2rTargetWalk targets(p, row, thread);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < n; first += batch * p.threads) {
    C2rPlace place[batch] = {};
    std::uint32_t slot[batch] = {};
    std::uint32_t valid = 0;
    FARO_UNROLL
    for (std::uint32_t k = 0; k < batch; ++k) {
      const std::uint32_t column = first + k * p.threads + thread;
      if (column < n) {
        valid = k + 1;
        slot[k] = c2r_padded(shuffles ? targets.shuffled(p) : column) * p.units;
        place[k] = places.place(column);
        places.step(p, held, row);
        if (shuffles) targets.step(p, row);
      }
    }
    FARO_NO_UNROLL
    for (std::uint32_t u = 0; u < p.units; ++u) {
      device::Packet<bytes> data[batch] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < batch; ++k) {
        if (k >= valid) {
          device::idle(memory);
        } else if constexpr (into_shared) {
          data[k] =
              memory.template load_global<bytes>(place[k].source(), (place[k].element * p.units + u) * bytes);
        } else {
          data[k] = memory.template load_shared<bytes>((slot[k] + u) * bytes);
        }
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < batch; ++k) {
        if (k >= valid) {
          device::idle(memory);
        } else if constexpr (into_shared) {
          memory.template store_shared<bytes>((slot[k] + u) * bytes, data[k]);
        } else {
          memory.template store_global<bytes>(place[k].target(), (place[k].element * p.units + u) * bytes,
                                              data[k]);
        }
      }
    }
  }
}

}  // namespace detail

/// First phase, then the second. Blocks: arrays x m. Threads: params.threads.
/// Requires: params of make_c2r_rows_params, n < 2^31, shared memory of c2r_rows_shared_bytes (unchecked).
template <int bytes, device::Memory Memory>
constexpr void load_c2r_row(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  detail::move_c2r_row<bytes, true>(memory, p, block, thread);
}
template <int bytes, device::Memory Memory>
constexpr void store_c2r_row(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                             std::uint32_t thread) {
  detail::move_c2r_row<bytes, false>(memory, p, block, thread);
}

}  // namespace faro::kernels
