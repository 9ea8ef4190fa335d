// Index functions of the one-pass tile kernel: who moves what, as XORs. Shared by the device, the tests and
// the machine.
//
// A *vector* is 2^v consecutive elements, what a thread moves between global memory and registers at a time.
// The vectors of a tile are numbered the same way on both sides, and thread t takes vectors t, t + threads, t
// + 2 threads, ...
//
//     place      [ row: r bits | column: s bits                    ]     m = s + r bits, in elements
//                [ row: r bits | vector in row: s - v | component: v ]
//     vector     [ row: r bits | vector in row: s - v ]                  m - v bits
//                [ iteration      | thread            ]                  thread_bits of them are the thread
//
// So lanes run along a row first, then into the next: a warp moves whole segments, as few as it can.
//
// Every function here is linear over F2: f(g ^ h) = f(g) ^ f(h). A kernel therefore evaluates the thread's
// part once and XORs on the parts of the iteration and the component, whose arguments are constants of the
// unrolled loop.
//
// Example, s = 2, r = 1, v = 1, two threads: vectors 0 1 | 2 3 are rows 0 | 1; thread 1 takes vectors 1 and
// 3, the places 2, 3 and 6, 7.
#pragma once

#include <cstdint>

#include "faro/device/memory.hpp"

namespace faro::kernels {

/// The compile-time shape of a tile kernel, all log2. (A __global__ template must take the five numbers and
/// build the shape inside: the host stubs that nvcc 13 writes cannot name an argument of class type.)
struct AffineTileShape {
  int width_bits = 0;    // bytes of an element               0 .. 4
  int segment_bits = 0;  // s, elements of a segment
  int row_bits = 0;      // r, rows of a tile                 up to kMaxRowBits
  int vector_bits = 0;   // v, elements of a vector           up to s, and to 16 bytes
  int thread_bits = 0;   // threads of a block                up to the vectors of a tile

  constexpr int tile_bits() const { return segment_bits + row_bits; }
  constexpr int vector_count_bits() const { return tile_bits() - vector_bits; }
  constexpr int iterations() const { return 1 << (vector_count_bits() - thread_bits); }
  constexpr int components() const { return 1 << vector_bits; }
  constexpr int element_bytes() const { return 1 << width_bits; }
  constexpr int vector_bytes() const { return 1 << (width_bits + vector_bits); }
  constexpr int threads() const { return 1 << thread_bits; }
  constexpr int tile_bytes() const { return 1 << (width_bits + tile_bits()); }

  friend constexpr bool operator==(const AffineTileShape&, const AffineTileShape&) = default;
};

inline constexpr int kMaxBlockBits = 40;
inline constexpr int kMaxRowBits = 10;
inline constexpr int kMaxTileBits = 20;
inline constexpr int kMaxVectorBytes = 16;
inline constexpr int kMaxThreadBits = 10;

/// Whether a kernel of this shape can be compiled.
constexpr bool is_valid(const AffineTileShape& shape) {
  return shape.width_bits >= 0 && shape.width_bits <= 4 && shape.segment_bits >= 0 && shape.row_bits >= 0 &&
         shape.row_bits <= kMaxRowBits && shape.tile_bits() <= kMaxTileBits && shape.vector_bits >= 0 &&
         shape.vector_bits <= shape.segment_bits && shape.vector_bytes() <= kMaxVectorBytes &&
         shape.thread_bits >= 0 && shape.thread_bits <= kMaxThreadBits &&
         shape.thread_bits <= shape.vector_count_bits();
}

/// Block bits are looked up kBlockDigitBits at a time, which costs a thread far less than a step a bit.
inline constexpr int kBlockDigitBits = 4;
inline constexpr int kBlockDigits = kMaxBlockBits / kBlockDigitBits;
inline constexpr int kBlockDigitValues = 1 << kBlockDigitBits;

/// Everything about the map that a kernel needs at run time; passed by value. Made by
/// make_affine_tile_params().
struct AffineTileParams {
  std::uint64_t block_source[kBlockDigits]
                            [kBlockDigitValues];  // [d][v]: layout::Tile::block_source(v << 4 d)
  std::uint64_t block_target[kBlockDigits]
                            [kBlockDigitValues];  // the same of the target, without the complement
  std::uint64_t source_row[kMaxRowBits];          // layout::Tile::source_rows
  std::uint64_t target_row[kMaxRowBits];          // layout::Tile::target_rows
  std::uint32_t swizzle[kMaxTileBits];            // X applied to place bit i
  std::uint32_t
      read_address[kMaxTileBits];  // shared address, in elements, of the element bound for target place bit i
  std::uint64_t complement;        // target of block 0
  std::uint64_t batch;             // arrays, one after another
  std::int32_t index_bits;         // n: an array has 2^n elements
  std::int32_t block_bits;         // an array has 2^block_bits tiles

  constexpr std::uint64_t blocks() const { return batch << block_bits; }
};
static_assert(sizeof(AffineTileParams) <= 4096, "kernel parameters are at most 4 KiB");

/// The XOR of columns[j] over the set bits j < count of x, for a constant `count`.
template <int count, typename Value>
constexpr Value select_xor(const Value* columns, std::uint32_t x) {
  Value sum = 0;
  FARO_UNROLL
  for (int j = 0; j < count; ++j) {
    if ((x >> j & 1) != 0) sum ^= columns[j];
  }
  return sum;
}

constexpr std::uint32_t low_bits(std::uint32_t x, int count) { return x & ((std::uint32_t{1} << count) - 1); }

/// The XOR over the digits d of table[d][digit d of block], for an array's block number.
constexpr std::uint64_t look_up_block(const std::uint64_t (&table)[kBlockDigits][kBlockDigitValues],
                                      int block_bits, std::uint64_t block) {
  std::uint64_t sum = 0;
  FARO_UNROLL
  for (int d = 0; d < kBlockDigits; ++d) {
    if (d * kBlockDigitBits >= block_bits) break;
    sum ^= table[d][block >> d * kBlockDigitBits & (kBlockDigitValues - 1)];
  }
  return sum;
}

/// Where a block's tile begins in the input, in elements from the first array's start. Low s bits zero.
/// Blocks count through the first array's tiles, then the second's.
constexpr std::uint64_t block_source(const AffineTileParams& p, std::uint64_t block) {
  const std::uint64_t array = block >> p.block_bits;
  return look_up_block(p.block_source, p.block_bits, block ^ array << p.block_bits) ^ array << p.index_bits;
}

/// The same in the output; its low s bits are XORed onto the columns.
constexpr std::uint64_t block_target(const AffineTileParams& p, std::uint64_t block) {
  const std::uint64_t array = block >> p.block_bits;
  return look_up_block(p.block_target, p.block_bits, block ^ array << p.block_bits) ^ array << p.index_bits ^
         p.complement;
}

/// Where vector `vector` of the input lies, in elements, to be XORed onto block_source().
template <AffineTileShape shape>
constexpr std::uint64_t source_offset(const AffineTileParams& p, std::uint32_t vector) {
  constexpr int in_row = shape.segment_bits - shape.vector_bits;
  return select_xor<shape.row_bits>(p.source_row, vector >> in_row) ^ low_bits(vector, in_row)
                                                                          << shape.vector_bits;
}

/// Where vector `vector` of the output lies, in elements, to be XORed onto TileBase::target without its low s
/// bits.
template <AffineTileShape shape>
constexpr std::uint64_t target_offset(const AffineTileParams& p, std::uint32_t vector) {
  constexpr int in_row = shape.segment_bits - shape.vector_bits;
  return select_xor<shape.row_bits>(p.target_row, vector >> in_row) ^ low_bits(vector, in_row)
                                                                          << shape.vector_bits;
}

/// The shared address of an input vector's component 0, in elements. Its low v bits, in truth the swizzle of
/// the components, say how the vector's elements are exchanged: component k sits at (address ^ k).
template <AffineTileShape shape>
constexpr std::uint32_t write_address(const AffineTileParams& p, std::uint32_t vector) {
  return vector << shape.vector_bits ^
         select_xor<shape.vector_count_bits()>(p.swizzle + shape.vector_bits, vector);
}

/// The shared address of the element bound for a target place, in elements.
template <AffineTileShape shape>
constexpr std::uint32_t read_address(const AffineTileParams& p, std::uint32_t target_place) {
  return select_xor<shape.tile_bits()>(p.read_address, target_place);
}

// The tile kernels that are compiled ahead of time, by shape.
//
// One list serves three readers, so they cannot disagree: the CUDA engine instantiates its __global__
// functions from it, the planner chooses from it, and the prediction runs its entries on the counting memory.
// docs/notes/cuda-experiments.md tells how the shapes were found.
//
// Which of them a device prefers is a Target's business (engines/cuda/host/device_table.hpp); that all of
// them are right on every device is the tests'.

struct CompiledTile {
  AffineTileShape shape;
  bool blocked = false;  // store phase blocked in registers (affine_tile_blocked.hpp)
  int min_blocks = 1;    // a multiprocessor; bounds the registers of a thread

  friend constexpr bool operator==(const CompiledTile&, const CompiledTile&) = default;
};

/// The kernels of each width, the best for large arrays first. Shapes of vector_bits 0 serve arrays that are
/// aligned to their elements only; the plain shapes of 1 and 2 bytes serve maps that fits_blocked() refuses.
inline constexpr CompiledTile kCompiledTiles[] = {
    // width, s, r, v, threads (all log2)
    {{0, 8, 8, 4, 8}, true, 4},  // 256-byte segments, as in all but the last
    {{0, 8, 8, 4, 9}, false, 3},  {{0, 7, 7, 0, 10}, false, 2}, {{1, 7, 7, 3, 8}, true, 6},
    {{1, 7, 7, 3, 8}, false, 6},  {{1, 7, 7, 0, 10}, false, 2}, {{2, 6, 6, 2, 7}, false, 10},
    {{2, 6, 6, 0, 9}, false, 4},  {{3, 5, 5, 1, 7}, false, 16}, {{3, 5, 5, 0, 8}, false, 8},
    {{4, 4, 4, 0, 7}, false, 16}, {{0, 6, 6, 4, 6}, true, 16},  // small tiles, for small arrays
    {{1, 5, 5, 3, 6}, true, 16},  {{2, 5, 5, 2, 7}, false, 16},
};
inline constexpr auto kCompiledTileCount = sizeof(kCompiledTiles) / sizeof(kCompiledTiles[0]);

}  // namespace faro::kernels
