// Shuffles the rows of C2R and R2C where a row fits shared memory: one block a row.
//
//     C2R    row, in order  --->  shared[d(j)]  --->  row, in order       both ways compute d(j) of
//     R2C    row, in order  --->  shared[j]     --->  shared[d(j)]        c2r_index.hpp, never its inverse
//
// *In units* a thread takes every `threads`-th column. With j = p b + k, d(j) = ((i + p) mod m + k m) mod n:
// from one of its columns to the next, p, k and k m mod n grow by fixed steps; k m mod n needs no correction
// when k passes b, because b m is a multiple of n. So no element costs a division.
//
// *In vectors* it takes every `threads`-th vector, of which c2r_row_walk.hpp has the places. A vector that
// two panels share, or that the ends of a run cut, is moved element by element.
//
// The places of rows in the array and in the scratch are those that the other sweeps use (c2r_places.hpp).
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_row_walk.hpp"
#include "kernels/c2r_vectors.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

namespace detail {

// --- in units

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
  std::uint32_t target;  // k m mod n
  std::uint32_t base;    // (i + p) mod m mod n

  constexpr C2rTargetWalk(const C2rRowsParams& p, const C2rRow& row, std::uint32_t thread)
      : panels(p, thread),
        target(static_cast<std::uint32_t>(
            remainder(p.shape.by_n, panels.in_panel * remainder(p.shape.by_n, p.shape.m)))),
        base(0) {
    look(p, row);
  }
  constexpr void look(const C2rRowsParams& p, const C2rRow& row) {
    base = row.first_target(p, static_cast<std::uint32_t>(panels.panel));
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
  const C2rHeld& held = into_shared ? p.in.held : p.out.held;
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

// --- in vectors

/// Vectors in flight.
inline constexpr std::uint32_t kC2rRowBatch = 4;

template <int bytes, device::Memory Memory>
constexpr device::Packet<16> load_c2r_row_vector(Memory& memory, const C2rRowWalk<bytes>& walk,
                                                 const C2rRowVector& vector) {
  const std::uint64_t offset = walk.line.offset + std::uint64_t{walk.number} * kC2rVectorBytes;
  const bool some = vector.begin < vector.end;
  device::Packet<16> data{};
  device::converge(memory);
  if (some && !walk.line.careful) {
    data = load_around(memory, walk.line.source(), offset, vector.begin * bytes, vector.end * bytes);
  }
  device::converge(memory);
  if (some && walk.line.careful) {
    UnitQueue queue;
    FARO_NO_UNROLL
    for (std::uint32_t t = 0; t < kC2rVector<bytes>; ++t) {
      device::Packet<bytes> unit{};
      if (t >= vector.begin && t < vector.end) {
        unit = memory.template load_global<bytes>(walk.line.source(), offset + std::uint64_t{t} * bytes);
      } else {
        device::idle(memory);
      }
      queue.push<bytes>(unit);
    }
    data = queue.vector();
  }
  device::converge(memory);
  return data;
}

template <int bytes, bool shuffles, device::Memory Memory>
constexpr void load_c2r_row_side(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  constexpr std::uint32_t v = kC2rVector<bytes>;
  const C2rRow row(p, block);
  C2rRowWalk<bytes> walk(p, p.in, row, shuffles, thread);
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < p.in.vectors; first += kC2rRowBatch * p.threads) {
    device::Packet<16> data[kC2rRowBatch] = {};
    C2rRowVector vector[kC2rRowBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rRowBatch; ++k) {
      vector[k] = C2rRowVector(walk);
      data[k] = load_c2r_row_vector<bytes>(memory, walk, vector[k]);
      walk.step(p, p.in, row, shuffles);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rRowBatch; ++k) {
      device::converge(memory);
      if (vector[k].plain) {
        std::uint32_t slot = vector[k].slot;
        FARO_UNROLL
        for (std::uint32_t t = 0; t < v; ++t) {
          memory.template store_shared<bytes>(c2r_padded(slot) * bytes,
                                              unit_of<bytes>(data[k], static_cast<int>(t)));
          slot = C2rRowWalk<bytes>::next(p, slot, shuffles);
        }
      }
      device::converge(memory);
      if (!vector[k].plain && vector[k].begin < vector[k].end) {
        C2rRowSlots slots(p, row, shuffles, vector[k].column + vector[k].begin);
        C2rUnits units(data[k]);
        FARO_NO_UNROLL
        for (std::uint32_t t = 0; t < vector[k].end; ++t) {
          const auto unit = units.pop<bytes>();
          if (t >= vector[k].begin)
            memory.template store_shared<bytes>(slots.next(p, shuffles) * bytes, unit);
        }
      }
    }
    device::converge(memory);
  }
}

template <int bytes, bool shuffles, device::Memory Memory>
constexpr void store_c2r_row_side(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  constexpr std::uint32_t v = kC2rVector<bytes>;
  const C2rRow row(p, block);
  C2rRowWalk<bytes> walk(p, p.out, row, shuffles, thread);
  FARO_NO_UNROLL
  while (walk.flat < p.out.vectors) {
    const C2rRowVector vector(walk);
    const std::uint64_t offset = walk.line.offset + std::uint64_t{walk.number} * kC2rVectorBytes;
    device::converge(memory);
    if (vector.plain) {
      device::Packet<16> data{};
      std::uint32_t slot = vector.slot;
      FARO_UNROLL
      for (std::uint32_t t = 0; t < v; ++t) {
        device::insert(data, static_cast<int>(t),
                       memory.template load_shared<bytes>(c2r_padded(slot) * bytes));
        slot = C2rRowWalk<bytes>::next(p, slot, shuffles);
      }
      memory.template store_global<16>(walk.line.target(), offset, data);
    }
    device::converge(memory);
    if (!vector.plain && vector.begin < vector.end) {
      C2rRowSlots slots(p, row, shuffles, vector.column + vector.begin);
      FARO_NO_UNROLL
      for (std::uint32_t t = vector.begin; t < vector.end; ++t) {
        memory.template store_global<bytes>(
            walk.line.target(), offset + std::uint64_t{t} * bytes,
            memory.template load_shared<bytes>(slots.next(p, shuffles) * bytes));
      }
    }
    device::converge(memory);
    walk.step(p, p.out, row, shuffles);
  }
}

}  // namespace detail

/// First phase, then the second. Blocks: arrays x m. Threads: params.threads.
template <typename Mover, device::Memory Memory>
constexpr void load_c2r_row(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                            std::uint32_t thread) {
  if constexpr (!Mover::vectors) {
    detail::move_c2r_row<Mover::bytes, true>(memory, p, block, thread);
  } else if (p.r2c) {
    detail::load_c2r_row_side<Mover::bytes, false>(memory, p, block, thread);
  } else {
    detail::load_c2r_row_side<Mover::bytes, true>(memory, p, block, thread);
  }
}
template <typename Mover, device::Memory Memory>
constexpr void store_c2r_row(Memory& memory, const C2rRowsParams& p, std::uint64_t block,
                             std::uint32_t thread) {
  if constexpr (!Mover::vectors) {
    detail::move_c2r_row<Mover::bytes, false>(memory, p, block, thread);
  } else if (p.r2c) {
    detail::store_c2r_row_side<Mover::bytes, true>(memory, p, block, thread);
  } else {
    detail::store_c2r_row_side<Mover::bytes, false>(memory, p, block, thread);
  }
}

template <typename Mover, typename Take>
constexpr void with_phases(const C2rRowsParams& p, const Take& take) {
  take([&p](auto& m, std::uint64_t b, std::uint32_t t) { load_c2r_row<Mover>(m, p, b, t); },
       [&p](auto& m, std::uint64_t b, std::uint32_t t) { store_c2r_row<Mover>(m, p, b, t); });
}

}  // namespace faro::kernels
