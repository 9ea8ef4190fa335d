// Shuffles the rows of C2R and R2C that do not fit shared memory, in vectors. It does what c2r_long_rows.hpp
// does unit by unit, with the same segments and stretches.
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
// Every m-th element of a stretch of even m is in few banks, so a vector is left out after every 2^pad.
//
// A stretch ends where its panel of targets does, so that it is one run.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/c2r_index.hpp"
#include "kernels/c2r_long_rows.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_vectors.hpp"

namespace faro::kernels {

struct C2rVectorLongRowsParams {
  C2rShape shape;
  std::uint32_t skew = 0;   // the array begins so many elements after an aligned address
  std::uint32_t width = 0;  // columns of a segment
  std::uint32_t threads = 0;
  bool r2c = false;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;              // of the batch
  C2rHeld held;                        // the rows of the stretches' side
  std::uint64_t scratch_elements = 0;  // of an array
  std::uint32_t pitch = 0;             // vectors from segment to segment of the tile
  std::uint32_t pad = 0;
  std::uint32_t stretch_vectors = 0;  // that a stretch touches, at most
  std::uint32_t tile = 0;             // where it begins, after the tables
  device::Division64 by_stretches;    // of a panel
  device::Division64 by_row_stretches;
  device::Division64 by_rows;
  device::Division32 by_progressions;  // a
  device::Division32 by_m;
  device::Division32 by_segment_vectors;

  constexpr std::uint64_t stretch() const { return shape.m * width; }
  constexpr std::uint64_t blocks_of_array() const { return by_row_stretches.divisor() * by_rows.divisor(); }
  /// Lines of the segments and of the stretch; then where segments begin.
  constexpr std::uint32_t begins() const { return kC2rLineBytes * (static_cast<std::uint32_t>(shape.m) + 1); }
  constexpr std::uint64_t shared_bytes() const {
    const std::uint64_t vectors = r2c ? stretch_vectors + (stretch_vectors >> pad) : shape.m * pitch;
    return tile + vectors * kC2rVectorBytes;
  }
};

/// The tile of the m segments; the stretch has a line as well.
constexpr C2rTile c2r_segments_tile(std::uint64_t m, std::uint64_t element_bytes) {
  return {.rows = m, .lines = m + 1, .element_bytes = element_bytes};
}

/// Fills in what follows from width and rows. Requires: m w < 2^31.
constexpr void finish(C2rVectorLongRowsParams& p, std::uint64_t element_bytes) {
  const C2rShape& s = p.shape;
  const std::uint64_t stretches = (s.b + p.stretch() - 1) / p.stretch();
  const auto vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.width, element_bytes));
  constexpr int eight_vectors = 3;  // all banks
  p.pitch = static_cast<std::uint32_t>(c2r_row_pitch(vectors));
  p.pad = static_cast<std::uint32_t>(std::max(eight_vectors, std::countr_zero(s.m)));  // on the host
  p.tile = static_cast<std::uint32_t>(c2r_segments_tile(s.m, element_bytes).tables_bytes());
  p.stretch_vectors = static_cast<std::uint32_t>(c2r_run_vectors(p.stretch(), element_bytes));
  p.by_stretches = device::Division64(stretches);
  p.by_row_stretches = device::Division64(stretches * s.c);
  p.by_rows = device::Division64(p.rows);
  p.by_progressions = device::Division32(static_cast<std::uint32_t>(s.a));
  p.by_m = device::Division32(static_cast<std::uint32_t>(s.m));
  p.by_segment_vectors = device::Division32(vectors);
}

namespace detail {

struct C2rVectorStretch {
  C2rExtent extent;
  std::uint64_t row;    // i
  std::uint64_t panel;  // of the targets
  std::uint64_t begin;  // targets
  std::uint64_t end;

  constexpr C2rVectorStretch(const C2rVectorLongRowsParams& p, std::uint64_t block)
      : extent(p.by_rows.quotient(p.by_row_stretches.quotient(block)), p.shape.m * p.shape.n,
               p.scratch_elements, p.skew),
        row(0),
        panel(0),
        begin(0),
        end(0) {
    std::uint64_t in_batch = p.by_row_stretches.divide(block);
    p.by_rows.divide(in_batch);
    row = p.first_row + in_batch;
    panel = p.by_stretches.divide(block);
    const std::uint64_t panel_end = (panel + 1) * p.shape.b;
    begin = panel * p.shape.b + block * p.stretch();
    end = panel_end - begin < p.stretch() ? panel_end : begin + p.stretch();
  }

  constexpr C2rRun run(const C2rVectorLongRowsParams& p) const {
    const C2rShape& s = p.shape;
    const bool in_scratch = p.held.in_scratch(row);
    std::uint64_t place = p.held.place(row);
    if (!in_scratch) place = c2r_wrapped(place + panel, s.m);
    return {.first = (in_scratch ? extent.scratch : extent.array) + place * s.n + begin,
            .count = static_cast<std::uint32_t>(end - begin),
            .scratch = in_scratch};
  }
};

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

/// First phase: the tables.
template <int bytes, device::Memory Memory>
constexpr void list_c2r_vector_segments(Memory& memory, const C2rVectorLongRowsParams& p, std::uint64_t block,
                                        std::uint32_t thread) {
  const detail::C2rVectorStretch stretch(p, block);
  const auto m = static_cast<std::uint32_t>(p.shape.m);
  for (std::uint32_t number = thread; number < m; number += p.threads) {
    const detail::C2rSegment segment = detail::c2r_segment(p, stretch, stretch.extent.array, number);
    const C2rRun run{.first = segment.element, .count = segment.count, .scratch = false};
    const C2rLine line = make_c2r_line<bytes>(stretch.extent, run, 0);
    detail::store_c2r_line(memory, 0, segment.slot, line);
    std::uint32_t begin = p.tile + segment.slot * p.pitch * kC2rVectorBytes + line.begin * bytes;
    device::converge(memory);
    for (std::uint32_t entry = segment.slot; entry < m + kC2rVector<bytes> - 1; entry += m) {
      memory.template store_shared<4>(p.begins() + 4 * entry, device::Packet<4>{{begin}});
      begin += bytes;
    }
    device::converge(memory);
  }
  if (thread == p.threads - 1) {
    detail::store_c2r_line(memory, 0, m, make_c2r_line<bytes>(stretch.extent, stretch.run(p), 0));
  }
}

/// Second phase.
template <int bytes, device::Memory Memory>
constexpr void load_c2r_vector_stretch(Memory& memory, const C2rVectorLongRowsParams& p,
                                       std::uint32_t thread) {
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
}

/// Third phase.
template <int bytes, device::Memory Memory>
constexpr void store_c2r_vector_stretch(Memory& memory, const C2rVectorLongRowsParams& p,
                                        std::uint32_t thread) {
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

}  // namespace faro::kernels
