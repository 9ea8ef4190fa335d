// The chunks' kernels, compiled for every instruction set and chosen when they are first called.
#pragma once

#include <complex>
#include <cstddef>

#include "network/cpu_chunks.hpp"

namespace faro::network::cpu {

/// What changes from tile to tile, one entry a step.
struct TileState {
  f2::Word* frames;                      // at the tile's start (start_of); changed by running
  const std::complex<double>* twiddles;  // of Fourier steps: the tile's part
};

/// This machine's vectors.
Vectors vectors();

/// Runs every group of the tile in `buffer`, aligned to kMaxVectorBytes. Requires: a chunk made for these
/// vectors, of a kernel that its name says (unchecked).
void run_exchange(const Chunk& chunk, TileState tile, std::byte* buffer);
void run_hadamard(const Chunk& chunk, TileState tile, std::byte* buffer);
void run_fourier(const Chunk& chunk, TileState tile, std::byte* buffer);

}  // namespace faro::network::cpu
