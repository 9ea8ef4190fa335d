// A move of a paged cache as a queue of one kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "engines/cuda/rows/row_queue.hpp"
#include "kernels/cache_move.hpp"
#include "permutation/cache_checks.hpp"
#include "rounding.hpp"

namespace faro::cuda {

/// What one launch needs of a move whose arrays are known.
struct CacheWork {
  CacheMove move;                             // whole layouts
  const kernels::CachePair* pairs = nullptr;  // on the device
  std::uint64_t arrays = 0;
  bool converts = false;
  std::uint64_t piece_numbers = 1;
  std::uint64_t enough_blocks = 4096;  // of threads, for every multiprocessor: above, arrays share them
  kernels::RowFaults* table_faults = nullptr;
  kernels::RowFaults* length_faults = nullptr;
};

/// Numbers of a piece: what both sides have together and aligned, at most 16 bytes, or 8 that are converted.
inline std::uint64_t cache_piece_numbers(const CacheMove& move, std::span<const CacheArrays> arrays,
                                         bool converts) {
  const std::uint64_t widest = std::max(bytes_of(move.from.number), bytes_of(move.to.number));
  std::uint64_t most = 8;
  if (!converts) most = widest >= 16 ? 1 : 16 / widest;
  const auto is_fine = [&](const CacheLayout& side, std::uint64_t numbers) {
    const std::uint64_t bytes = bytes_of(side.number);
    const std::uint64_t unit = std::min<std::uint64_t>(16, numbers * bytes);
    const std::uint64_t strides = (side.blocks > 1 ? side.block_stride : 0) |
                                  (side.block_tokens > 1 ? side.token_stride : 0) |
                                  (move.of.heads > 1 ? side.head_stride : 0) | side.part_stride;
    return side.part % numbers == 0 && strides * bytes % unit == 0 &&
           (numbers == 1 || side.element_stride == 1);
  };
  const auto is_aligned = [](const void* array, const CacheLayout& side, std::uint64_t numbers) {
    const std::uint64_t unit = std::min<std::uint64_t>(16, numbers * bytes_of(side.number));
    return reinterpret_cast<std::uintptr_t>(array) % unit == 0;
  };
  for (std::uint64_t numbers = most; numbers > 1; numbers = converts ? 1 : numbers / 2) {
    bool fine = is_fine(move.from, numbers) && is_fine(move.to, numbers);
    for (const CacheArrays& each : arrays)
      fine = fine && is_aligned(each.in, move.from, numbers) && is_aligned(each.out, move.to, numbers);
    if (fine) return numbers;
  }
  return 1;
}

namespace detail {

inline kernels::CacheSide cache_side(const CacheLayout& layout, std::uint64_t piece_numbers,
                                     const RowNumbers& table, std::uint64_t sequences) {
  const std::uint64_t bytes = bytes_of(layout.number);
  kernels::CacheSide side;
  // No marker: of a cache every entry that is needed has to name a block.
  side.table = {.data = table.data,
                .count = table.count,
                .rows = layout.blocks,
                .bytes = table.type.bytes,
                .is_signed = table.type.is_signed ? 1 : 0,
                .is_big_endian = table.order == ByteOrder::big ? 1 : 0};
  side.columns = table.count / sequences;
  side.block_tokens = device::Division64(layout.block_tokens);
  side.block = layout.block_stride * bytes;
  side.token = layout.token_stride * bytes;
  side.head = layout.head_stride * bytes;
  side.part = layout.part_stride * bytes;
  side.piece = piece_numbers * layout.element_stride * bytes;
  return side;
}

template <typename Word>
kernels::CacheDivisions<Word> cache_divisions(const CacheMove& move, std::uint64_t piece_numbers,
                                              bool heads_inside) {
  const auto by = [](std::uint64_t divisor) { return device::Division<Word>(static_cast<Word>(divisor)); };
  return {.pieces = by(move.of.width / piece_numbers),
          .inner = by(heads_inside ? move.of.heads : move.to.block_tokens),
          .middle = by(heads_inside ? move.to.block_tokens : move.of.heads),
          .from_tokens = by(move.from.block_tokens),
          .from_part = by(move.from.part / piece_numbers),
          .to_part = by(move.to.part / piece_numbers)};
}

// Bytes from a block's first to behind its last, which places within it stay below.
inline std::uint64_t block_reach(const kernels::CacheSide& side, const kernels::CacheShape& shape,
                                 std::uint64_t heads) {
  const std::uint64_t pieces = shape.far.pieces.divisor();
  return side.token * side.block_tokens.divisor() + side.head * heads + (side.part + side.piece) * pieces;
}

}  // namespace detail

/// Requires: what require_cache_move() and require_cache_tables() ask for (unchecked).
template <typename Queue>
void move_cache(Queue& queue, const CacheWork& work, const CacheTables& tables) {
  if (work.arrays == 0 || tables.sequences == 0 || tables.tokens == 0) return;
  const CacheMove& move = work.move;
  kernels::CacheShape shape;
  shape.pairs = work.pairs;
  shape.arrays = work.arrays;
  shape.sequences = device::Division64(tables.sequences);
  shape.heads_inside = move.to.head_stride <= move.to.token_stride;
  shape.far = detail::cache_divisions<std::uint64_t>(move, work.piece_numbers, shape.heads_inside);
  shape.tokens = tables.tokens;
  const RowNumbers& lengths = tables.lengths;
  shape.lengths = {.data = lengths.data,
                   .count = lengths.count,
                   .rows = tables.tokens + 1,
                   .bytes = lengths.type.bytes,
                   .is_signed = lengths.type.is_signed ? 1 : 0,
                   .is_big_endian = lengths.order == ByteOrder::big ? 1 : 0};
  shape.from = detail::cache_side(move.from, work.piece_numbers, tables.from, tables.sequences);
  shape.to = detail::cache_side(move.to, work.piece_numbers, tables.to, tables.sequences);
  shape.all_pieces = shape.pieces_of_sequence();
  constexpr std::uint64_t most_near = std::uint64_t{1} << 31;
  shape.is_near = shape.all_pieces < most_near && tables.tokens < most_near &&
                  move.from.block_tokens < most_near &&
                  detail::block_reach(shape.from, shape, move.of.heads) < most_near &&
                  detail::block_reach(shape.to, shape, move.of.heads) < most_near;
  if (shape.is_near)
    shape.near = detail::cache_divisions<std::uint32_t>(move, work.piece_numbers, shape.heads_inside);
  shape.table_faults = work.table_faults;
  shape.length_faults = work.length_faults;
  const auto run = [&](auto kernel) {
    kernel.shape = shape;
    const std::uint64_t of_block = std::uint64_t{kernel.kThreads} * kernel.kEach;
    const std::uint64_t chunks = faro::detail::ceil_div(shape.all_pieces, of_block);
    kernel.shape.chunks = device::Division64(chunks);
    const std::uint64_t blocks = chunks * tables.sequences * work.arrays;
    kernel.shape.arrays_each =
        std::clamp<std::uint64_t>(blocks / work.enough_blocks, 1, kernels::kMostCacheArrays);
    if constexpr (requires { kernel.in_number; }) {
      kernel.in_number = move.from.number;
      kernel.out_number = move.to.number;
    }
    queue.run(kernel);
  };
  if (work.converts) {
    if (work.piece_numbers == 1) return run(kernels::ConvertCache<1>());
    return run(kernels::ConvertCache<8>());
  }
  switch (work.piece_numbers * bytes_of(move.from.number)) {
    case 16:
      return run(kernels::MoveCache<16>());
    case 8:
      return run(kernels::MoveCache<8>());
    case 4:
      return run(kernels::MoveCache<4>());
    case 2:
      return run(kernels::MoveCache<2>());
    default:
      return run(kernels::MoveCache<1>());
  }
}

}  // namespace faro::cuda
