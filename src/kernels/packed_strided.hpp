// Axes of packed elements whose extents have powers of two in them, by the tiles of packed_affine.hpp.
//
//     4096 x 11008 nibbles       11008 = 43 2^8: 20 bits of an index, and 43 times of all that
//
// Bits of the index have strides, which need be no powers of two: what is XORed for an affine map is added
// here, since each bit leads to places of its own. Inside a tile, in shared memory, nothing is different: the
// low bits of both sides, a segment each, are those of dense rows.
#pragma once

#include <cstdint>
#include <optional>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/packed_affine.hpp"
#include "permutation/axis_map.hpp"

namespace faro::kernels {

inline constexpr int kMostOuterAxes = 8;

struct PackedStridedParams {
  struct Axis {
    device::Division64 extent;
    std::uint64_t in = 0;  // words
    std::uint64_t out = 0;
  };
  PackedAffineParams affine;  // whose places in the arrays are words, to be added up
  Axis outer[kMostOuterAxes] = {};
  std::int32_t outer_count = 0;
  std::uint64_t outers = 1;
  std::uint64_t in_first = 0;  // words
  std::uint64_t out_first = 0;
};

/// The sum of columns[j] over the set bits j < count of x, for a constant `count`.
template <int count>
constexpr std::uint64_t select_sum(const std::uint64_t* columns, std::uint32_t x) {
  std::uint64_t sum = 0;
  FARO_UNROLL
  for (int j = 0; j < count; ++j) sum += (x >> j & 1) != 0 ? columns[j] : 0;
  return sum;
}

/// Where a block begins on both sides, in words.
struct PackedStridedBlock {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};
constexpr PackedStridedBlock strided_block(const PackedStridedParams& params, std::uint64_t block) {
  const AffineTileParams& tile = params.affine.tile;
  PackedStridedBlock begin{params.in_first, params.out_first};
  std::uint64_t outer = block >> tile.block_bits;
  const std::uint64_t number = block ^ outer << tile.block_bits;
  FARO_UNROLL
  for (int d = 0; d < kBlockDigits; ++d) {
    if (d * kBlockDigitBits >= tile.block_bits) break;
    const std::uint64_t digit = number >> d * kBlockDigitBits & (kBlockDigitValues - 1);
    begin.in += tile.block_source[d][digit];
    begin.out += tile.block_target[d][digit];
  }
  for (int a = 0; a < params.outer_count; ++a) {
    const PackedStridedParams::Axis& axis = params.outer[a];
    const std::uint64_t rest = axis.extent.quotient(outer);
    const std::uint64_t j = outer - rest * axis.extent.divisor();
    begin.in += j * axis.in;
    begin.out += j * axis.out;
    outer = rest;
  }
  return begin;
}

/// Where vector `vector` of a side lies in its block, in words; `rows` the strides of the tile's rows.
template <AffineTileShape shape>
constexpr std::uint64_t strided_offset(const std::uint64_t* rows, std::uint32_t vector) {
  constexpr int in_row = shape.segment_bits - shape.vector_bits;
  return select_sum<shape.row_bits>(rows, vector >> in_row) + (low_bits(vector, in_row) << shape.vector_bits);
}

/// Phases 1 and 3, as load_tile and store_tile. Requirements as for these.
template <AffineTileShape shape, device::Memory Memory>
constexpr void load_strided(Memory& memory, const PackedStridedParams& params, std::uint64_t block,
                            std::uint32_t thread) {
  static_assert(shape.vector_bytes() == kMaxVectorBytes && shape.width_bits == kWordBytesBits);
  using Vector = device::Packet<kMaxVectorBytes>;
  const AffineTileParams& tile = params.affine.tile;
  const std::uint64_t source =
      strided_block(params, block).in + strided_offset<shape>(tile.source_row, thread);
  Vector vectors[shape.iterations()];
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint64_t word = source + strided_offset<shape>(tile.source_row, later);
    vectors[i] = memory.template load_global<kMaxVectorBytes>(device::kInput, word << kWordBytesBits);
  }
  const std::uint32_t address = write_address<shape>(tile, thread);
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t first = address ^ write_address<shape>(tile, later);
    const std::uint32_t exchange = low_bits(first, shape.vector_bits);
    device::exchange_units<0>(vectors[i], exchange);
    memory.template store_shared<kMaxVectorBytes>((first ^ exchange) << kWordBytesBits, vectors[i]);
  }
}

template <AffineTileShape shape, device::Memory Memory>
constexpr void store_strided(Memory& memory, const PackedStridedParams& params, std::uint64_t block,
                             std::uint32_t thread) {
  using Vector = device::Packet<kMaxVectorBytes>;
  const AffineTileParams& tile = params.affine.tile;
  const std::uint64_t target =
      strided_block(params, block).out + strided_offset<shape>(tile.target_row, thread);
  const std::uint32_t address = read_address<shape>(tile, thread << shape.vector_bits);
  FARO_UNROLL
  for (int i = 0; i < shape.iterations(); ++i) {
    const std::uint32_t later = static_cast<std::uint32_t>(i) << shape.thread_bits;
    const std::uint32_t first = address ^ read_address<shape>(tile, later << shape.vector_bits);
    Vector vector{};
    FARO_UNROLL
    for (int k = 0; k < shape.components(); ++k) {
      const std::uint32_t word = first ^ read_address<shape>(tile, static_cast<std::uint32_t>(k));
      vector.unit[k] = memory.template load_shared<4>(word << kWordBytesBits).unit[0];
    }
    const std::uint64_t word = target + strided_offset<shape>(tile.target_row, later);
    memory.template store_global<kMaxVectorBytes>(device::kOutput, word << kWordBytesBits, vector);
  }
}

/// As affine_squares() and affine_words(), from where the block begins on that side, in words.
template <PackedAffineShape shape>
constexpr auto strided_squares(const PackedAffineParams& params, std::uint64_t begin, std::uint32_t thread) {
  constexpr int v = shape.words.vector_bits;
  const std::uint64_t first =
      (begin << kWordBytesBits) + select_sum<shape.words.thread_bits>(params.group_source + v, thread);
  return [&params, first](std::uint32_t w) {
    return first + select_sum<shape.word_index_bits>(params.word_source, w);
  };
}
template <PackedAffineShape shape>
constexpr auto strided_words(const PackedAffineParams& params, std::uint64_t begin, std::uint32_t thread) {
  const auto offset = [&params](std::uint32_t vector) {
    constexpr AffineTileShape words = shape.other();
    constexpr int in_row = words.segment_bits - words.vector_bits;
    return select_sum<words.row_bits>(params.tile.target_row, vector >> in_row) +
           (std::uint64_t{low_bits(vector, in_row)} << (words.vector_bits + kWordBytesBits));
  };
  const std::uint64_t first = (begin << kWordBytesBits) + offset(thread);
  return [offset, first](std::uint32_t later) { return first + offset(later); };
}

template <std::size_t index>
struct MovePackedStrided {
  static constexpr CompiledPackedTile kTile = kPackedTiles[index];
  static constexpr PackedAffineShape kShape = kTile.shape;
  static constexpr std::uint32_t kThreads = static_cast<std::uint32_t>(kShape.words.threads());
  static constexpr int kMinBlocks = kTile.min_blocks;

  PackedStridedParams params;
  const std::byte* in = nullptr;  // both aligned to vectors
  std::byte* out = nullptr;

  constexpr std::uint64_t blocks() const { return params.outers << params.affine.tile.block_bits; }
  constexpr std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(kShape.words.tile_bytes());
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if constexpr (requires { block.is_streaming(); }) {
      block.streamed(in, out, [&](auto& memory) { move(block, memory); });
    } else {
      device::DirectMemory memory{in, out, block.shared()};
      move(block, memory);
    }
  }

 private:
  template <typename Block, typename Memory>
  constexpr void move(Block& block, Memory& memory) const {
    if constexpr (kShape.squares == PackedSquares::loaded) {
      const PackedStridedBlock begin = strided_block(params, block.index());
      load_squares<kShape, SquareSteps::transpose>(
          memory, params.affine, block.index(), block.thread(),
          strided_squares<kShape>(params.affine, begin.in, block.thread()));
      block.barrier();
      store_words<kShape>(memory, params.affine.tile, block.thread(), 0,
                          strided_words<kShape>(params.affine, begin.out, block.thread()));
    } else if constexpr (kShape.squares == PackedSquares::stored) {
      const PackedStridedBlock begin = strided_block(params, block.index());  // of the way back
      load_words<kShape>(memory, params.affine.tile, block.thread(), 0,
                         strided_words<kShape>(params.affine, begin.out, block.thread()));
      block.barrier();
      store_squares<kShape, SquareSteps::transpose>(
          memory, params.affine, block.index(), block.thread(),
          strided_squares<kShape>(params.affine, begin.in, block.thread()));
    } else {
      load_strided<kShape.words>(memory, params, block.index(), block.thread());
      block.barrier();
      exchange_words<kShape>(memory, params.affine, block.index(), block.thread());
      block.barrier();
      store_strided<kShape.words>(memory, params, block.index(), block.thread());
    }
  }
};
static_assert(sizeof(MovePackedStrided<0>) <= 4096, "kernel parameters are at most 4 KiB");

/// Nothing where the shape does not fit: strides in bits that are negative or no whole vectors past the
/// segments, other segments than dense ones, fewer bits than a tile has, more than kMostOuterAxes odd parts.
/// Requires: a part in normal form (permutation/axis_map.hpp), strides in bits.
std::optional<PackedStridedParams> make_packed_strided_params(const faro::detail::AxisMap& part,
                                                              std::uint32_t element_bits,
                                                              const PackedAffineShape& shape);

}  // namespace faro::kernels
