// Programs of the HMM that go through the shared memories: a transpose, and any permutation.
//
//     k DMMs, w = 4        global (UMM)        shared (DMM)       global (UMM)
//
//     transpose, tiles     rows of a   --->    0 1 2 3    --->    rows of b: the tile's columns,
//     of w x w                                 7 4 5 6            which lie across the banks
//                                              a b 8 9
//
//     in rows of m         a, s, d     --->    x[i] = a[i]        b[i] = y[i]
//                                              y[d] = x[s]        s, d: a conflict-free schedule of the row
//
// Global memory is only ever read and written in whole groups, shared memory across all banks: one stage for
// every access. A permutation of m x m words is in rows, transpose, in rows, transpose, in rows: five
// kernels, 16 global rounds and 16 shared ones. The schedules are data here, read from global memory.
//
// A block takes b threads; p threads are p/b blocks at a time, of which a DMM gets at most ceil(p / (b k)):
//
//     S(b) = ceil(p / (b k)) b/w stages of a shared round          rows: b = gcd(p, m)
//                                                                  tiles: b = w gcd(p/w, w)
//
// For p = n, k | m and k | (m / w)^2 that is n/(k w), for both.
//
// Source: section 8 of Nakano's memory machines paper asks for this machine; the five kernels are those of
// Kasagi, Nakano and Ito.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"
#include "programs/access.hpp"

namespace faro::programs {

struct SharedTransposeParams {
  AccessParams access;
  std::uint64_t side = 0;   // m
  std::uint64_t width = 1;  // w: tiles of w x w

  constexpr std::uint64_t blocks() const { return side / width * (side / width); }
  constexpr std::uint64_t shared_bytes() const { return 4 * width * width; }
  constexpr std::uint32_t shared_at(std::uint64_t row, std::uint64_t column) const {
    return static_cast<std::uint32_t>(4 * (row * width + (row + column) % width));
  }
};

/// First phase: the tile, its rows rotated, into shared memory.
template <device::Memory Memory>
constexpr void load_tile_rotated(Memory& memory, const SharedTransposeParams& params, std::uint64_t block,
                                 std::uint32_t thread) {
  const std::uint64_t w = params.width;
  const std::uint64_t across = params.side / w;
  for (std::uint64_t e = thread; e < w * w; e += params.access.block_threads) {
    const std::uint64_t x = (block / across * w + e / w) * params.side + block % across * w + e % w;
    memory.template store_shared<4>(params.shared_at(e / w, e % w),
                                    memory.template load_global<4>(params.access.from, 4 * x));
  }
}

/// Second phase: its columns out of it.
template <device::Memory Memory>
constexpr void store_tile_transposed(Memory& memory, const SharedTransposeParams& params, std::uint64_t block,
                                     std::uint32_t thread) {
  const std::uint64_t w = params.width;
  const std::uint64_t across = params.side / w;
  for (std::uint64_t e = thread; e < w * w; e += params.access.block_threads) {
    const std::uint64_t x = (block % across * w + e / w) * params.side + block / across * w + e % w;
    memory.template store_global<4>(params.access.to, 4 * x,
                                    memory.template load_shared<4>(params.shared_at(e % w, e / w)));
  }
}

struct SharedRowsParams {
  AccessParams access;
  std::uint64_t side = 0;  // m
  int source = 0;          // buffers: s and d, columns
  int target = 0;

  constexpr std::uint64_t blocks() const { return access.n / side; }
  constexpr std::uint64_t shared_bytes() const { return 8 * side; }
};

/// First phase: x[i] <- from[i], a row a block.
template <device::Memory Memory>
constexpr void load_row(Memory& memory, const SharedRowsParams& params, std::uint64_t block,
                        std::uint32_t thread) {
  for (std::uint64_t i = thread; i < params.side; i += params.access.block_threads) {
    const std::uint64_t offset = 4 * (block * params.side + i);
    memory.template store_shared<4>(static_cast<std::uint32_t>(4 * i),
                                    memory.template load_global<4>(params.access.from, offset));
  }
}

/// Second phase: y[d] <- x[s].
template <device::Memory Memory>
constexpr void permute_row(Memory& memory, const SharedRowsParams& params, std::uint64_t block,
                           std::uint32_t thread) {
  for (std::uint64_t i = thread; i < params.side; i += params.access.block_threads) {
    const std::uint64_t offset = 4 * (block * params.side + i);
    const std::uint32_t source = memory.template load_global<4>(params.source, offset).unit[0];
    const std::uint32_t target = memory.template load_global<4>(params.target, offset).unit[0];
    const auto word = memory.template load_shared<4>(4 * source);
    memory.template store_shared<4>(static_cast<std::uint32_t>(4 * (params.side + target)), word);
  }
}

/// Third phase: to[i] <- y[i].
template <device::Memory Memory>
constexpr void store_row(Memory& memory, const SharedRowsParams& params, std::uint64_t block,
                         std::uint32_t thread) {
  for (std::uint64_t i = thread; i < params.side; i += params.access.block_threads) {
    const std::uint64_t offset = 4 * (block * params.side + i);
    const auto word = memory.template load_shared<4>(static_cast<std::uint32_t>(4 * (params.side + i)));
    memory.template store_global<4>(params.access.to, offset, word);
  }
}

/// Threads of a block: of the program in rows, and of the transpose.
std::uint64_t row_block_threads(const machine::MachineOptions& machine, std::uint64_t side);
std::uint64_t tile_block_threads(const machine::MachineOptions& machine);

// Exact, on the HMM; l': the shared latency. Errors: as check_sizes; ErrorCode::value where n is no square or
// w does not divide m.

/// (2 (p/w + l - 1) + 2 (S(b) + l' - 1)) n/p
Cost shared_transpose_cost(const machine::MachineOptions& machine, std::uint64_t n);
/// (16 (p/w + l - 1) + 12 (S(b) + l' - 1) + 4 (S(c) + l' - 1)) n/p: rows in blocks of b, tiles of c threads
Cost hmm_permute_cost(const machine::MachineOptions& machine, std::uint64_t n);

}  // namespace faro::programs
