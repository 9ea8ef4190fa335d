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
//
// *In units* the stretch lies in order in shared memory, and segments are every m-th element of it.
//
// *In vectors* what is read lies in shared memory as it lies outside (c2r_vectors.hpp):
//
//     C2R    segments     --->  rows of a tile, as they lie  --->  the stretch gathers: elements x, x + 1 …
//                                                                  are in segments x mod m, x + 1 mod m …
//     R2C    the stretch  --->  shared, as it lies           --->  segments gather every m-th element
//
// Segments are numbered by the place in the stretch of their first element, which is below m and differs from
// segment to segment. A table says where in the tile each begins; its first entries come again at its end,
// one element further, so that the k-th element of a vector is found by the k-th entry from where the vector
// begins:
//
//     m = 3, vectors of 4      segment 0 1 2 | 0 1 2        of entries 3, 4, 5 the next element
//
// Every m-th element of a stretch of even m is in few banks, so a vector is left out after every 2^pad. A
// stretch ends where its panel of targets does, so that it is one run.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_sweep.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

/// The tile of the m segments, in vectors; the stretch has a line as well.
constexpr C2rTile c2r_segments_tile(std::uint64_t m, std::uint64_t element_bytes) {
  return {.rows = m, .lines = m + 1, .element_bytes = element_bytes};
}

struct C2rLongRowsParams : C2rSweepParams {
  std::uint32_t width = 0;  // columns of a segment
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;  // of the batch
  C2rHeld held;            // the rows of the stretches' side
  std::uint32_t tile = 0;  // where it begins in shared memory, after the tables
  device::Division64 by_row_stretches;
  device::Division64 by_rows;
  device::Division32 by_progressions;  // a
  // In units.
  std::uint32_t piece_bits = 0;     // log2 of the steps that a segment takes, where it has units for several
  std::uint32_t step_segments = 0;  // segments of a step, where it has few
  std::uint32_t steps = 0;          // of a thread
  device::Division32 by_segment;    // width x units
  device::Division32 by_units;
  // In vectors.
  std::uint32_t pitch = 0;  // vectors from segment to segment of the tile
  std::uint32_t pad = 0;
  std::uint32_t stretch_vectors = 0;  // that a stretch touches, at most
  device::Division64 by_stretches;    // of a panel
  device::Division32 by_m;
  device::Division32 by_segment_vectors;

  constexpr std::uint64_t stretch() const { return shape.m * width; }
  constexpr std::uint64_t blocks_of_array() const { return by_row_stretches.divisor() * by_rows.divisor(); }
  /// Where the segments' and the stretch's lines end, and the table of where segments begin, in vectors.
  constexpr std::uint32_t begins() const { return kC2rLineBytes * (static_cast<std::uint32_t>(shape.m) + 1); }
  constexpr std::uint64_t tables_bytes() const {
    return vectors ? c2r_segments_tile(shape.m, unit_bytes).tables_bytes() : 16 * shape.m;
  }
  constexpr std::uint64_t shared_bytes() const {
    if (!vectors) return tables_bytes() + (stretch() + stretch() / 32) * element_bytes();
    if (!r2c) return c2r_segments_tile(shape.m, unit_bytes).shared_bytes(width);
    const std::uint64_t of_stretch = c2r_run_vectors(stretch(), unit_bytes);
    return tables_bytes() + (of_stretch + (of_stretch >> pad_bits())) * kC2rVectorBytes;
  }
  /// log2 of the vectors after which one is left out: all banks, or what the stride through them repeats.
  constexpr int pad_bits() const {
    constexpr int eight_vectors = 3;
    return std::max(eight_vectors, std::countr_zero(shape.m));  // on the host
  }
};

/// Fills in what follows from width, in units a power of two, rows and threads, which are the most there may
/// be: of units as many are left as take whole segments, or segments whole steps. Requires: m w < 2^31; units
/// <= threads.
constexpr void finish(C2rLongRowsParams& p) {
  const C2rShape& s = p.shape;
  const std::uint64_t stretches = ((p.vectors ? s.b : s.n) + p.stretch() - 1) / p.stretch();
  p.tile = static_cast<std::uint32_t>(p.tables_bytes());
  p.by_row_stretches = device::Division64(stretches * (p.vectors ? s.c : 1));
  p.by_rows = device::Division64(p.rows);
  p.by_progressions = device::Division32(static_cast<std::uint32_t>(s.a));
  const auto m = static_cast<std::uint32_t>(s.m);
  if (p.vectors) {
    const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.width, p.unit_bytes));
    p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
    p.pad = static_cast<std::uint32_t>(p.pad_bits());
    p.stretch_vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.stretch(), p.unit_bytes));
    p.by_stretches = device::Division64(stretches);
    p.by_m = device::Division32(m);
    p.by_segment_vectors = device::Division32(vectors);
    return;
  }
  const std::uint32_t segment = p.width * p.units;
  p.by_segment = device::Division32(segment);
  p.by_units = device::Division32(p.units);
  const std::uint32_t most = p.threads;
  p.piece_bits = 0;
  p.step_segments = 1;
  if (segment <= most) {
    p.step_segments = most / segment;
    p.threads = p.step_segments * segment;
  } else {
    for (p.threads = segment; p.threads > most; p.threads /= 2) ++p.piece_bits;
  }
  p.steps = ((m + p.step_segments - 1) / p.step_segments) << p.piece_bits;
}

namespace detail {

template <typename Mover>
struct C2rStretch {
  std::uint64_t array;      // its number
  std::uint64_t row;        // i
  std::uint64_t panel = 0;  // of the targets, in vectors
  std::uint64_t begin = 0;  // targets
  std::uint64_t end;

  constexpr C2rStretch(const C2rLongRowsParams& p, std::uint64_t block) {
    std::uint64_t in_batch = p.by_row_stretches.divide(block);
    array = p.by_rows.divide(in_batch);
    row = p.first_row + in_batch;
    end = p.shape.n;
    if constexpr (Mover::vectors) {
      panel = p.by_stretches.divide(block);
      begin = panel * p.shape.b;
      end = begin + p.shape.b;
    }
    begin += block * p.stretch();
    if (end - begin > p.stretch()) end = begin + p.stretch();
  }
};

/// The columns of one progression within one stretch.
struct C2rSegment {
  std::uint64_t element;  // of the array's memory
  std::uint32_t count;
  std::uint32_t slot;  // of the first in the stretch; the others are m apart
};

/// Moves the array whose first element is `array`.
template <typename Mover>
constexpr C2rSegment c2r_segment(const C2rLongRowsParams& p, const C2rStretch<Mover>& stretch,
                                 std::uint64_t array, std::uint32_t number) {
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

// --- in units

template <device::Memory Memory>
constexpr C2rSegment load_c2r_segment(Memory& memory, std::uint32_t number) {
  const auto packet = memory.template load_shared<16>(16 * number);
  return {.element = std::uint64_t{packet.unit[1]} << 32 | packet.unit[0],
          .count = packet.unit[2],
          .slot = packet.unit[3]};
}
template <device::Memory Memory>
constexpr void store_c2r_segment(Memory& memory, std::uint32_t number, const C2rSegment& segment) {
  memory.template store_shared<16>(
      16 * number,
      device::Packet<16>{{static_cast<std::uint32_t>(segment.element),
                          static_cast<std::uint32_t>(segment.element >> 32), segment.count, segment.slot}});
}

template <int bytes, bool into_shared, device::Memory Memory>
constexpr void move_c2r_segments(Memory& memory, const C2rLongRowsParams& p, std::uint32_t thread) {
  const auto m = static_cast<std::uint32_t>(p.shape.m);
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
      shared[k] = p.tile + (c2r_padded(segment.slot + column * m) * p.units + rest) * bytes;
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
constexpr void move_c2r_stretch(Memory& memory, const C2rLongRowsParams& p,
                                const C2rStretch<InUnits<bytes>>& stretch, std::uint32_t thread) {
  const C2rShape& s = p.shape;
  const bool in_scratch = p.held.in_scratch(stretch.row);
  const std::uint64_t row = p.held.place(stretch.row);
  std::uint64_t in_panel = stretch.begin;
  const std::uint64_t panel = s.by_b.divide(in_panel);
  const std::uint64_t array = stretch.array * s.m * s.n;
  // The panel in which the stretch begins, which it seldom leaves.
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
      shared[k] = p.tile + (c2r_padded(column) * p.units + rest) * bytes;
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

// --- in vectors

template <int bytes>
constexpr C2rLine c2r_stretch_line(const C2rLongRowsParams& p, const C2rStretch<InVectors<bytes>>& stretch,
                                   const C2rExtent& extent) {
  const C2rShape& s = p.shape;
  const bool in_scratch = p.held.in_scratch(stretch.row);
  std::uint64_t place = p.held.place(stretch.row);
  if (!in_scratch) place = c2r_wrapped(place + stretch.panel, s.m);
  return make_c2r_line<bytes>(
      extent,
      {.first = (in_scratch ? extent.scratch : extent.array) + place * s.n + stretch.begin,
       .count = static_cast<std::uint32_t>(stretch.end - stretch.begin),
       .scratch = in_scratch},
      0);
}

/// Elements of a segment, every m-th of a stretch as it lay.
template <int bytes>
struct C2rSegmentSource {
  std::uint32_t tile;
  std::uint32_t at;  // bytes, of the first
  std::uint32_t step;
  std::uint32_t pad;

  template <device::Memory Memory>
  constexpr device::Packet<bytes> element(Memory& memory, std::uint32_t k) const {
    const std::uint32_t byte = at + k * step;
    const std::uint32_t left_out = (byte / kC2rVectorBytes >> pad) * kC2rVectorBytes;
    return memory.template load_shared<bytes>(tile + byte + left_out);
  }
};

}  // namespace detail

/// First phase: the tables of the segments, and in vectors of the stretch.
template <typename Mover, device::Memory Memory>
constexpr void list_c2r_segments(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const detail::C2rStretch<Mover> stretch(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  if constexpr (!Mover::vectors) {
    const std::uint64_t array = stretch.array * p.shape.m * p.shape.n;
    for (std::uint32_t number = thread; number < m; number += p.threads) {
      detail::store_c2r_segment(memory, number, detail::c2r_segment(p, stretch, array, number));
    }
  } else {
    constexpr int bytes = Mover::bytes;
    const C2rExtent extent(stretch.array, p.shape.m * p.shape.n, p.scratch_elements, p.skew);
    for (std::uint32_t number = thread; number < m; number += p.threads) {
      const detail::C2rSegment segment = detail::c2r_segment(p, stretch, extent.array, number);
      const C2rRun run{.first = segment.element, .count = segment.count, .scratch = false};
      const C2rLine line = make_c2r_line<bytes>(extent, run, 0);
      detail::store_c2r_line(memory, 0, segment.slot, line);
      std::uint32_t begin = p.tile + segment.slot * p.pitch * kC2rVectorBytes + line.begin * bytes;
      device::converge(memory);
      for (std::uint32_t entry = segment.slot; entry < m + kC2rVector<bytes> - 1; entry += m) {
        memory.template store_shared<4>(p.begins() + 4 * entry, device::Packet<4>{{begin}});
        begin += bytes;
      }
      device::converge(memory);
    }
    if (thread == p.threads - 1)
      detail::store_c2r_line(memory, 0, m, detail::c2r_stretch_line(p, stretch, extent));
  }
}

/// Second phase.
template <typename Mover, device::Memory Memory>
constexpr void load_c2r_stretch(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    if (p.r2c) {
      detail::move_c2r_stretch<bytes, true>(memory, p, detail::C2rStretch<Mover>(p, block), thread);
    } else {
      detail::move_c2r_segments<bytes, true>(memory, p, thread);
    }
  } else {
    const auto m = static_cast<std::uint32_t>(p.shape.m);
    const std::uint32_t all = p.r2c ? p.stretch_vectors : m * p.by_segment_vectors.divisor();
    FARO_NO_UNROLL
    for (std::uint32_t first = thread; first < all; first += p.threads) {
      std::uint32_t number = first;
      std::uint32_t segment = m;  // the stretch
      std::uint32_t to = number + (number >> p.pad);
      if (!p.r2c) {
        segment = p.by_segment_vectors.divide(number);
        to = segment * p.pitch + number;
      }
      const C2rLine line = detail::load_c2r_line(memory, 0, segment);
      detail::copy_c2r_vector<bytes>(memory, line, number, p.tile + to * kC2rVectorBytes);
    }
    detail::wait_for_copies(memory);
  }
}

/// Third phase.
template <typename Mover, device::Memory Memory>
constexpr void store_c2r_stretch(Memory& memory, const C2rLongRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  constexpr int bytes = Mover::bytes;
  if constexpr (!Mover::vectors) {
    if (p.r2c) {
      detail::move_c2r_segments<bytes, false>(memory, p, thread);
    } else {
      detail::move_c2r_stretch<bytes, false>(memory, p, detail::C2rStretch<Mover>(p, block), thread);
    }
  } else {
    const auto m = static_cast<std::uint32_t>(p.shape.m);
    const C2rLine stretch = detail::load_c2r_line(memory, 0, m);
    if (p.r2c) {
      FARO_NO_UNROLL
      for (std::uint32_t first = thread; first < m * p.by_segment_vectors.divisor(); first += p.threads) {
        std::uint32_t number = first;
        const std::uint32_t slot = p.by_segment_vectors.divide(number);
        const C2rLine line = detail::load_c2r_line(memory, 0, slot);
        detail::gather_c2r_vector<bytes>(memory, line, number, [&](std::uint32_t element) {
          return detail::C2rSegmentSource<bytes>{p.tile, (stretch.begin + slot + element * m) * bytes,
                                                 m * bytes, p.pad};
        });
      }
    } else {
      FARO_NO_UNROLL
      for (std::uint32_t number = thread; number < p.stretch_vectors; number += p.threads) {
        detail::gather_c2r_vector<bytes>(memory, stretch, number, [&](std::uint32_t element) {
          const std::uint32_t at = p.by_m.divide(element) * bytes;
          return detail::C2rTableSource<bytes, 0>{p.begins() + 4 * element, at};
        });
      }
    }
  }
}

template <typename Mover, typename Take>
constexpr void with_phases(const C2rLongRowsParams& p, const Take& take) {
  take([&p](auto& m, std::uint64_t b, std::uint32_t t) { list_c2r_segments<Mover>(m, p, b, t); },
       [&p](auto& m, std::uint64_t b, std::uint32_t t) { load_c2r_stretch<Mover>(m, p, b, t); },
       [&p](auto& m, std::uint64_t b, std::uint32_t t) { store_c2r_stretch<Mover>(m, p, b, t); });
}

}  // namespace faro::kernels
