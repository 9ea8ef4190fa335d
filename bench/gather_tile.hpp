// Gather tile: the rung of the ladder below faro's CPU engine, kept to be measured against.
//
// It already has the one idea that matters, a tile that is read and written in whole segments
// (layout/tile.hpp):
//
//     in      2^r rows of 2^s elements --read-->  buffer of tile b+1   rows of the next tile are prefetched
//     out     2^r rows of 2^s elements <-stream-  buffer of tile b     64-byte lines, gathered by element
//
// What it lacks is what the engine adds: a permutation in registers instead of one load for every element,
// segments and tiles chosen by a model, and an order of the blocks that reuses page translations. Its own
// segment and tile are therefore free parameters; a fair comparison tries all of shapes() and takes the best.
//
// AVX-512, power-of-two arrays, 64-byte aligned, at least one tile for each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "io/buffer.hpp"

namespace faro::bench {

class GatherTile {
 public:
  /// Tiles of 2^row_bits rows, each a segment of 2^segment_bits elements.
  struct Shape {
    int segment_bits = 0;  // s
    int row_bits = 0;      // r, at least s
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  /// Whether this processor has the instructions.
  static bool available();

  /// Segments of 64 bytes to 1 KiB, s and s + 1 row bits, tiles to 256 KiB: two of those fill a large L2.
  static std::vector<Shape> shapes(std::uint64_t element_bytes);

  /// Makes the tables, and two buffers a thread. threads: 0 is what OpenMP would use.
  /// Requires: available(), a shape of shapes(element_bytes) whose tile fits the array (checked).
  GatherTile(const Affine& map, std::uint64_t element_bytes, Shape shape, int threads = 0);

  /// out[pi(x)] = in[x]. Requires: both 64-byte aligned, no overlap, one run at a time (unchecked).
  void run(const void* in, void* out) const;

  /// What a block's addresses and a line's gathers are made of; offsets in elements.
  struct Tables {
    int segment_bits = 0;
    std::uint64_t complement = 0;
    std::vector<std::uint64_t> block_sources;  // a vector for each block bit
    std::vector<std::uint64_t> block_targets;
    std::vector<std::uint64_t> source_rows;   // 2^r offsets, low s bits zero
    std::vector<std::uint64_t> target_rows;   // 2^r offsets, low s bits zero
    std::vector<std::uint32_t> row_place;     // 2^r: place in the buffer of each target row's column 0
    std::vector<std::uint32_t> column_place;  // 2^s: what a target column adds to that, by XOR
  };

 private:
  std::uint64_t element_bytes_ = 0;
  int threads_ = 1;
  Tables tables_;
  std::uint64_t arena_bytes_ = 0;  // of one thread
  io::Buffer arenas_;
};

/// "64 B x 32": bytes of a segment and rows of a tile.
std::string to_text(GatherTile::Shape shape, std::uint64_t element_bytes);

}  // namespace faro::bench
