// The row shuffle of C2R and R2C where a row fits the shared memory, in vectors: what c2r_rows.hpp does unit
// by unit, a block a row.
//
//     C2R    row, in vectors  --->  shared[d(j)]  --->  row, in vectors
//     R2C    row, in vectors  --->  shared[j]     --->  shared[d(j)], gathered into vectors
//
// A vector that two panels share, or that the ends of a run cut, is moved element by element;
// c2r_row_walk.hpp knows where all of them are.
#pragma once

#include <cstdint>

#include "kernels/c2r_row_walk.hpp"
#include "kernels/c2r_vectors.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

namespace detail {

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
constexpr void load_c2r_row_side(Memory& memory, const C2rVectorRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  constexpr std::uint32_t v = kC2rVector<bytes>;
  const C2rVectorRow row(p, block);
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
constexpr void store_c2r_row_side(Memory& memory, const C2rVectorRowsParams& p, std::uint64_t block,
                                  std::uint32_t thread) {
  constexpr std::uint32_t v = kC2rVector<bytes>;
  const C2rVectorRow row(p, block);
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
/// Requires: n < 2^28, shared memory of c2r_rows_shared_bytes (unchecked).
template <int bytes, device::Memory Memory>
constexpr void load_c2r_vector_row(Memory& memory, const C2rVectorRowsParams& p, std::uint64_t block,
                                   std::uint32_t thread) {
  if (p.r2c) {
    detail::load_c2r_row_side<bytes, false>(memory, p, block, thread);
  } else {
    detail::load_c2r_row_side<bytes, true>(memory, p, block, thread);
  }
}
template <int bytes, device::Memory Memory>
constexpr void store_c2r_vector_row(Memory& memory, const C2rVectorRowsParams& p, std::uint64_t block,
                                    std::uint32_t thread) {
  if (p.r2c) {
    detail::store_c2r_row_side<bytes, true>(memory, p, block, thread);
  } else {
    detail::store_c2r_row_side<bytes, false>(memory, p, block, thread);
  }
}

}  // namespace faro::kernels
