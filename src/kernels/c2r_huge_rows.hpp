// Shuffles the rows of C2R and R2C where a row does not fit shared memory and the shorter side is too long
// for the segments of c2r_long_rows.hpp. A few rows are copied, in order, to a buffer, and gathered from
// there.
//
// The copies are small enough to stay in the second-level cache. So the gather, which reads a sector for
// every element, uses that cache's bandwidth and not the memory's.
#pragma once

#include <cstdint>

#include "kernels/c2r_index.hpp"
#include "kernels/c2r_places.hpp"
#include "kernels/c2r_sweep.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kC2rHugeThreads = 256;

struct C2rHugeRowsParams : C2rSweepParams {
  bool diagonal = false;  // rows lie on diagonals of panels
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;  // of the batch
  C2rHeld in;              // columns
  C2rHeld out;
  std::uint64_t scratch_pitch = 0;
  device::Division64 by_pieces;

  constexpr std::uint64_t piece() const { return std::uint64_t{kC2rBatch} * kC2rHugeThreads; }
  constexpr std::uint64_t blocks() const { return by_pieces.divisor() * rows; }
};

constexpr void finish(C2rHugeRowsParams& p) {
  p.threads = kC2rHugeThreads;
  p.by_pieces = device::Division64((p.shape.n * p.units + p.piece() - 1) / p.piece());
}

/// One phase, of one array. `gathers`: from the copies to the rows; else the other way, in order.
template <int bytes, bool gathers, device::Memory Memory>
constexpr void move_c2r_huge_row(Memory& memory, const C2rHugeRowsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const C2rShape& s = p.shape;
  const std::uint64_t in_batch = p.by_pieces.divide(block);
  const std::uint64_t row = p.first_row + in_batch;
  const C2rHeld& held = gathers ? p.out : p.in;
  device::Packet<bytes> data[kC2rBatch] = {};
  std::uint64_t from[kC2rBatch] = {};
  std::uint64_t to[kC2rBatch] = {};
  bool in_scratch[kC2rBatch] = {};
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
    const std::uint64_t at = block * p.piece() + std::uint64_t{k} * kC2rHugeThreads + thread;
    if (at >= s.n * p.units) {
      device::idle(memory);
      continue;
    }
    const std::uint64_t column = at / p.units;
    const std::uint64_t unit = at - column * p.units;
    in_scratch[k] = held.in_scratch(column);
    const std::uint64_t at_column = held.place(column);
    const std::uint64_t at_row = p.diagonal && !in_scratch[k] ? rotated_row(s, row, at_column) : row;
    const std::uint64_t place = at_row * (in_scratch[k] ? p.scratch_pitch : s.n) + at_column;
    std::uint64_t copied = column;
    if constexpr (gathers) {
      copied = p.r2c ? shuffled_column(s, row, column) : unshuffled_column(s, row, column);
    }
    copied += in_batch * s.n;
    from[k] = (gathers ? copied : place) * p.units + unit;
    to[k] = (gathers ? place : copied) * p.units + unit;
    const int source = gathers ? kC2rRowsIn : in_scratch[k] ? kC2rScratchIn : kC2rIn;
    data[k] = memory.template load_global<bytes>(source, from[k] * bytes);
  }
  FARO_UNROLL
  for (std::uint32_t k = 0; k < kC2rBatch; ++k) {
    if (block * p.piece() + std::uint64_t{k} * kC2rHugeThreads + thread >= s.n * p.units) {
      device::idle(memory);
      continue;
    }
    const int target = !gathers ? kC2rRowsOut : in_scratch[k] ? kC2rScratchOut : kC2rOut;
    memory.template store_global<bytes>(target, to[k] * bytes, data[k]);
  }
}

}  // namespace faro::kernels
