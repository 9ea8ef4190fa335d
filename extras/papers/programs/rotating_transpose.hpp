// The transpose that uses a thread's registers, so that every access is to neighbouring words.
//
// A T x T tile by T groups of threads, each group with T registers. T = 4:
//
//     read round t: group i takes a[t][(t + i) mod 4]        0123   <- round 0, group of each word
//     that is one row of the tile, one stage                 3012   <- round 1
//                                                            2301
//                                                            1230
//     write round t: group i gives b[t][(t - i) mod 4], which it holds as its register (t - i) mod 4
//
// w threads with r registers each make T = sqrt(r w) groups of g = w / T threads: r = w, T = w, g = 1, up to
// r = 1, T = g = sqrt(w). In every round the one thread of a group whose register it is works, the others
// idle. The rows of a tile are aligned T-word pieces, so each round takes one stage a warp.
//
// A matrix of tiles: every tile is transposed where it lies (step 1), then tiles (I, J) and (J, I) change
// places (step 2). Step 2 writes whole groups, 1 stage, but reads g pieces of T words, g stages; the paper
// calls it a plain copy, which it is for r = w. A matrix of one tile needs no step 2.
//
// Matrices are rows x columns, one after another, and need not be square: the same serves rows of a batch.
//
// Source: section 5 of Nakano's memory machines paper, Lemmas 5.2 (r = w) and 5.3.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "programs/access.hpp"

namespace faro::programs {

/// A thread's registers are a local array of this length.
inline constexpr std::uint64_t kMostRegisters = 1024;

/// T and g.
struct RotatingShape {
  std::uint64_t tile = 1;   // T
  std::uint64_t group = 1;  // g
};

/// Errors: ErrorCode::value unless r is from 1 to w and to kMostRegisters, and T and g are integers.
RotatingShape rotating_shape(std::uint64_t width, std::uint64_t registers);

struct RotatingParams {
  AccessParams access;
  std::uint64_t rows = 0;  // of a matrix that is read
  std::uint64_t columns = 0;
  std::uint64_t width = 1;      // w
  std::uint64_t registers = 1;  // r
  RotatingShape shape;

  constexpr bool is_one_tile() const { return rows == shape.tile && columns == shape.tile; }
};

/// Step 1, from `from` to `to`.
template <device::Memory Memory>
constexpr void transpose_tiles(Memory& memory, const RotatingParams& params, std::uint64_t block,
                               std::uint32_t thread) {
  const AccessParams& access = params.access;
  const std::uint64_t tile = params.shape.tile;
  const std::uint64_t i = access.thread_of(block, thread);
  const std::uint64_t group = i % params.width / params.shape.group;
  const std::uint64_t member = i % params.width % params.shape.group;
  const std::uint64_t tiles_across = params.columns / tile;
  device::Packet<4> registers[kMostRegisters];
  for (std::uint64_t t = i / params.width; t < access.n / (tile * tile); t += access.threads / params.width) {
    // Rows of tiles are numbered through all matrices.
    const std::uint64_t corner = t / tiles_across * tile * params.columns + t % tiles_across * tile;
    for (std::uint64_t row = 0; row < tile; ++row) {
      if (row / params.registers != member) {
        device::idle(memory);
        continue;
      }
      const std::uint64_t x = corner + row * params.columns + (row + group) % tile;
      registers[row % params.registers] = memory.template load_global<4>(access.from, 4 * x);
    }
    for (std::uint64_t row = 0; row < tile; ++row) {
      const std::uint64_t held = (row + tile - group) % tile;
      if (held / params.registers != member) {
        device::idle(memory);
        continue;
      }
      const std::uint64_t x = corner + row * params.columns + held;
      memory.template store_global<4>(access.to, 4 * x, registers[held % params.registers]);
    }
  }
}

/// Step 2, from `from` to `to`: what is written are matrices of columns x rows.
template <device::Memory Memory>
constexpr void exchange_tiles(Memory& memory, const RotatingParams& params, std::uint64_t block,
                              std::uint32_t thread) {
  const AccessParams& access = params.access;
  const std::uint64_t tile = params.shape.tile;
  const std::uint64_t size = params.rows * params.columns;
  for (std::uint64_t t = 0; t < access.rounds(); ++t) {
    const std::uint64_t x = t * access.threads + access.thread_of(block, thread);
    const std::uint64_t row = x % size / params.rows;     // of the matrix that is written
    const std::uint64_t column = x % size % params.rows;  // likewise
    const std::uint64_t from = x / size * size + (column / tile * tile + row % tile) * params.columns +
                               row / tile * tile + column % tile;
    memory.template store_global<4>(access.to, 4 * x, memory.template load_global<4>(access.from, 4 * from));
  }
}

/// Parameters for matrices of rows x columns that fill n words, in the buffers that `access` names.
/// Errors: as check_sizes and rotating_shape; ErrorCode::value unless r p divides n, T divides rows and
///         columns, and, unless a matrix is one tile, w divides both.
RotatingParams rotating_params(const machine::MachineOptions& machine, const AccessParams& access,
                               std::uint64_t rows, std::uint64_t columns);

/// Exact, on both machines, on global memory:
/// 2 T (p/w + l - 1) n/(r p), and unless a matrix is one tile + ((g + 1) p/w + 2 (l - 1)) n/p.
/// Errors: as rotating_params.
Cost rotating_transpose_cost(const machine::MachineOptions& machine, std::uint64_t n, std::uint64_t rows,
                             std::uint64_t columns);

}  // namespace faro::programs
