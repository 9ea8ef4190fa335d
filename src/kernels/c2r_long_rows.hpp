// Shuffles the rows of C2R and R2C that do not fit shared memory, out of place.
//
// Within panel p the target of column p b + k is (r + k m) mod n, r = (i + p) mod m. The targets of
// successive columns are an arithmetic progression with step m that wraps around at the row's end. Each of
// the c panels has `a` progressions, m = a c in all, and any m w consecutive targets, a
// *stretch*, hold w columns of every progression:
//
//     n = 12, m = 3, i = 0            targets 3 .. 8 (w = 2) are
//     progression 0     0  3  6  9               columns 1 2   of progression 0
//     progression 1     1  4  7 10               columns 5 6   of progression 1     (columns are numbered
//     through) progression 2     2  5  8 11               columns 9 10  of progression 2
//
// C2R reads the m segments of w columns, permutes them in shared memory and writes the stretch; R2C reads
// the stretch and writes the segments. A block computes the segments' ends once, by division, and keeps them
// in a table.
//
// Source and target must not overlap, so rows are processed in batches, each of which is written one batch
// further (c2r_places.hpp). The rows of the segments' side have not moved: they lie on the diagonals of
// panels.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"

namespace faro::kernels {

struct C2rLongRowsParams {
  C2rShape shape;
  std::uint32_t units = 1;  // of an element
  std::uint32_t width = 0;  // columns of a segment
  std::uint32_t threads = 0;
  bool r2c = false;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;              // of the batch
  C2rHeld held;                        // the rows of the stretches' side
  std::uint64_t scratch_elements = 0;  // of an array
  std::uint32_t piece_bits = 0;     // log2 of the steps that a segment takes, where it has units for several
  std::uint32_t step_segments = 0;  // segments of a step, where it has few
  std::uint32_t steps = 0;          // of a thread
  device::Division64 by_stretches;
  device::Division64 by_rows;
  device::Division32 by_progressions;  // a
  device::Division32 by_segment;       // width x units
  device::Division32 by_units;

  constexpr std::uint64_t stretch() const { return shape.m * width; }
  constexpr std::uint64_t blocks_of_array() const { return by_stretches.divisor() * by_rows.divisor(); }
  /// The table comes first.
  constexpr std::uint64_t table_bytes() const { return 16 * shape.m; }
  constexpr std::uint64_t shared_bytes(std::uint64_t unit_bytes) const {
    return table_bytes() + (stretch() + stretch() / 32) * units * unit_bytes;
  }
};

/// Fills in what follows from width, a power of two, rows and threads, the most there may be: as many are
/// left as take whole segments, or segments whole steps. Requires: m w < 2^31; units <= threads.
constexpr void finish(C2rLongRowsParams& p) {
  p.by_stretches = device::Division64((p.shape.n + p.stretch() - 1) / p.stretch());
  p.by_rows = device::Division64(p.rows);
  p.by_progressions = device::Division32(static_cast<std::uint32_t>(p.shape.a));
  p.by_segment = device::Division32(p.width * p.units);
  p.by_units = device::Division32(p.units);
  const std::uint32_t segment = p.width * p.units;
  const std::uint32_t most = p.threads;
  p.piece_bits = 0;
  p.step_segments = 1;
  if (segment <= most) {
    p.step_segments = most / segment;
    p.threads = p.step_segments * segment;
  } else {
    for (p.threads = segment; p.threads > most; p.threads /= 2) ++p.piece_bits;
  }
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  p.steps = ((m + p.step_segments - 1) / p.step_segments) << p.piece_bits;
}

namespace detail {

struct C2rStretch {
  std::uint64_t array;  // its number
  std::uint64_t row;    // i
  std::uint64_t begin;  // targets
  std::uint64_t end;

  constexpr C2rStretch(const C2rLongRowsParams& p, std::uint64_t block) {
    std::uint64_t in_batch = p.by_stretches.divide(block);
    array = p.by_rows.divide(in_batch);
    row = p.first_row + in_batch;
    begin = block * p.stretch();
    end = p.shape.n - begin < p.stretch() ? p.shape.n : begin + p.stretch();
  }
};

/// The columns of one progression within one stretch.
struct C2rSegment {
  std::uint64_t element;  // of the array's memory
  std::uint32_t count;
  std::uint32_t slot;  // of the first in the stretch; the others are m apart
};

/// Of the array whose first element is `array`.
template <typename Params, typename Stretch>
constexpr C2rSegment c2r_segment(const Params& p, const Stretch& stretch, std::uint64_t array,
                                 std::uint32_t number) {
  const C2rShape& s = p.shape;
  std::uint32_t progression = number;
  const std::uint32_t panel = p.by_progressions.divide(progression);
  const std::uint64_t row = c2r_wrapped(stretch.row + panel, s.m);
  // The least k with row + k m >= x.
  const auto first_at = [&](std::uint64_t x) { return x > row ? s.by_m.quotient(x - row + s.m - 1) : 0; };
  const std::uint64_t before = progression * s.n;
  const std::uint64_t begin = first_at(stretch.begin + before);
  const std::uint64_t end = first_at(stretch.end + before);
  return {.element = array + row * s.n + panel * s.b + begin,
          .count = static_cast<std::uint32_t>(end - begin),
          .slot = static_cast<std::uint32_t>(row + begin * s.m - before - stretch.begin)};
}

template <device::Memory Memory>
constexpr C2rSegment load_c2r_segment(Memory& memory, std::uint32_t number) {
  const auto packet = memory.template load_shared<16>(16 * number);
  return {.element = std::uint64_t{packet.unit[1]} << 32 | packet.unit[0],
          .count = packet.unit[2],
          .slot = packet.unit[3]};
}

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_segments(Memory& memory, const C2rLongRowsParams& p, std::uint32_t thread) {
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  const auto tile = static_cast<std::uint32_t>(p.table_bytes());
  std::uint32_t first_rest = thread;
  const std::uint32_t first_number = p.by_segment.divide(first_rest);
  const std::uint32_t pieces = (std::uint32_t{1} << p.piece_bits) - 1;
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < p.steps; first += kC2rBatch) {
    device::Packet<bytes> data[kC2rBatch] = {};
    std::uint32_t shared[kC2rBatch] = {};
    std::uint64_t unit[kC2rBatch] = {};
    bool valid[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      const std::uint32_t number = ((first + k) >> p.piece_bits) * p.step_segments + first_number;
      if (number >= m) {
        device::idle(memory);
        if (into_shared) device::idle(memory);
        continue;
      }
      const C2rSegment segment = load_c2r_segment(memory, number);
      std::uint32_t rest = first_rest + ((first + k) & pieces) * p.threads;
      const std::uint32_t column = p.by_units.divide(rest);
      valid[k] = column < segment.count;
      shared[k] = tile + (c2r_padded(segment.slot + column * m) * p.units + rest) * bytes;
      unit[k] = (segment.element + column) * p.units + rest;
      if constexpr (into_shared) {
        if (valid[k]) {
          data[k] = memory.template load_global<bytes>(kC2rIn, unit[k] * bytes);
        } else {
          device::idle(memory);
        }
      }
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
        memory.template store_global<bytes>(kC2rOut, unit[k] * bytes, one);
      }
    }
  }
}

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_stretch(Memory& memory, const C2rLongRowsParams& p, const C2rStretch& stretch,
                                std::uint32_t thread) {
  const C2rShape& s = p.shape;
  const auto tile = static_cast<std::uint32_t>(p.table_bytes());
  const bool in_scratch = p.held.in_scratch(stretch.row);
  const std::uint64_t row = p.held.place(stretch.row);
  std::uint64_t in_panel = stretch.begin;
  const std::uint64_t panel = s.by_b.divide(in_panel);
  const std::uint64_t array = stretch.array * s.m * s.n;
  // Of the panel in which the stretch begins, which it seldom leaves.
  const std::uint64_t here = in_scratch ? stretch.array * p.scratch_elements + row * s.n
                                        : array + c2r_wrapped(row + panel, s.m) * s.n;
  const std::uint64_t left = in_scratch ? s.n : s.b - in_panel;
  const auto all = static_cast<std::uint32_t>(stretch.end - stretch.begin) * p.units;
  FARO_NO_UNROLL
  for (std::uint32_t first = 0; first < all; first += kC2rBatch * p.threads) {
    device::Packet<bytes> data[kC2rBatch] = {};
    std::uint32_t shared[kC2rBatch] = {};
    std::uint64_t unit[kC2rBatch] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      std::uint32_t rest = first + k * p.threads + thread;
      if (rest >= all) {
        device::idle(memory);
        continue;
      }
      const std::uint32_t column = p.by_units.divide(rest);
      std::uint64_t element = here + stretch.begin + column;
      if (column >= left) {
        const std::uint64_t rotation = panel + s.by_b.quotient(in_panel + column);
        element = array + c2r_wrapped(row + rotation, s.m) * s.n + stretch.begin + column;
      }
      unit[k] = element * p.units + rest;
      shared[k] = tile + (c2r_padded(column) * p.units + rest) * bytes;
      if constexpr (into_shared) {
        data[k] = memory.template load_global<bytes>(in_scratch ? kC2rScratchIn : kC2rIn, unit[k] * bytes);
      } else {
        data[k] = memory.template load_shared<bytes>(shared[k]);
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
      if (first + k * p.threads + thread >= all) {
        device::idle(memory);
      } else if constexpr (into_shared) {
        memory.template store_shared<bytes>(shared[k], data[k]);
      } else {
        memory.template store_global<bytes>(in_scratch ? kC2rScratchOut : kC2rOut, unit[k] * bytes, data[k]);
      }
    }
  }
}

}  // namespace detail

/// First phase: the segments' table.
template <device::Memory Memory>
constexpr void list_c2r_segments(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const detail::C2rStretch stretch(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t number = thread; number < m; number += p.threads) {
    const detail::C2rSegment segment =
        detail::c2r_segment(p, stretch, stretch.array * p.shape.m * p.shape.n, number);
    memory.template store_shared<16>(
        16 * number,
        device::Packet<16>{{static_cast<std::uint32_t>(segment.element),
                            static_cast<std::uint32_t>(segment.element >> 32), segment.count, segment.slot}});
  }
}

/// Second and third phase.
template <int bytes, device::Memory Memory>
constexpr void load_c2r_stretch(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  if (p.r2c) {
    detail::move_c2r_stretch<bytes, true>(memory, p, detail::C2rStretch(p, block), thread);
  } else {
    detail::move_c2r_segments<bytes, true>(memory, p, thread);
  }
}
template <int bytes, device::Memory Memory>
constexpr void store_c2r_stretch(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  if (p.r2c) {
    detail::move_c2r_segments<bytes, false>(memory, p, thread);
  } else {
    detail::move_c2r_stretch<bytes, false>(memory, p, detail::C2rStretch(p, block), thread);
  }
}

}  // namespace faro::kernels
