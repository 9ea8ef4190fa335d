// The inner loop of a tile pass on one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/tile/program.hpp"

namespace faro::cpu {

/// Bytes of the widest register in which units of unit_bytes can be permuted freely on this machine: 64
/// or 16.
std::uint64_t widest_vector_bytes(std::uint64_t unit_bytes);

/// Bytes of the registers that a program runs in on this machine: those of its vectors, or 32, which hold a
/// vector of each of two micro tiles.
std::uint64_t register_bytes(const TileProgram& program);

/// Permutes the tiles of `range`. Requires: `program` made for widest_vector_bytes or 16 (unchecked).
/// Cost: no allocation; at most 20 KiB of stack.
void run_tiles(const TileProgram& program, TileRange range, StoreKind stores, const std::byte* in,
               std::byte* out);

}  // namespace faro::cpu
