// Sums down the columns of a table in a device's memory, region by region: how lengths of runs become
// offsets.
//
//     regions of 4 rows,     tiles'     scanned, a region     each tile
//     tiles of 2             sums       at a time             from there
//
//       3 1                                                     0 0
//       0 2                    3 3        0 0                   3 1
//       1 0                                                     3 3
//       5 5                    6 5        3 3                   4 3
//
// The tiles' sums are a table of the same kind with fewer rows, so a tall one takes a few steps. A thread has
// one column of a tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/index/index_partition_steps.hpp"
#include "engines/cuda/kernels/device_block.hpp"

namespace faro::cuda {

inline constexpr std::int32_t kTileRowBits = 6;  // rows of a tile, log2

/// A table, row by row, of 2^column_bits columns; a region begins every 2^region_bits rows.
struct Columns {
  std::uint64_t rows = 0;
  std::int32_t column_bits = 0;
  std::int32_t region_bits = 0;

  constexpr std::int32_t tile_bits() const { return region_bits < kTileRowBits ? region_bits : kTileRowBits; }
  constexpr bool is_flat() const { return region_bits <= kTileRowBits; }
  constexpr std::uint64_t tiles() const {
    return (rows + (std::uint64_t{1} << tile_bits()) - 1) >> tile_bits();
  }
  constexpr Columns of_tiles() const {
    return {.rows = tiles(), .column_bits = column_bits, .region_bits = region_bits - tile_bits()};
  }
  /// Where entry (row, column) is.
  constexpr std::uint64_t at(std::uint64_t row, std::uint64_t column) const {
    return (row << column_bits) + column;
  }
  constexpr std::uint64_t tile_end(std::uint64_t tile) const {
    const std::uint64_t end = (tile + 1) << tile_bits();
    return end < rows ? end : rows;
  }
};

/// sums[tile][column] = the tile's column summed.
template <typename Word>
struct SumColumns : PlainKernel<> {
  Columns columns;
  const Word* values = nullptr;
  Word* sums = nullptr;

  constexpr std::uint64_t items() const { return columns.tiles() << columns.column_bits; }
  constexpr std::uint64_t blocks() const { return blocks_of(items()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t item = thread_of(block);
    if (item >= items()) return;
    const std::uint64_t tile = item >> columns.column_bits;
    const std::uint64_t column = item - (tile << columns.column_bits);
    Word sum = 0;
    for (std::uint64_t row = tile << columns.tile_bits(); row < columns.tile_end(tile); ++row) {
      sum += values[columns.at(row, column)];
    }
    sums[item] = sum;
  }
};

/// Replaces every value by the sum of those above it in its region's column. `carries`: of whole tiles, made
/// the same way from SumColumns; null where a tile is a region. Then `totals`, unless null, takes each
/// region's sums.
template <typename Word>
struct ScanColumns : PlainKernel<> {
  Columns columns;
  Word* values = nullptr;
  const Word* carries = nullptr;
  Word* totals = nullptr;

  constexpr std::uint64_t items() const { return columns.tiles() << columns.column_bits; }
  constexpr std::uint64_t blocks() const { return blocks_of(items()); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t item = thread_of(block);
    if (item >= items()) return;
    const std::uint64_t tile = item >> columns.column_bits;
    const std::uint64_t column = item - (tile << columns.column_bits);
    Word sum = carries == nullptr ? 0 : carries[item];
    constexpr std::uint64_t kAhead = 8;  // rows on their way
    std::uint64_t row = tile << columns.tile_bits();
    const std::uint64_t end = columns.tile_end(tile);
    for (; row + kAhead <= end; row += kAhead) {
      Word loaded[kAhead] = {};
      FARO_UNROLL
      for (std::uint64_t k = 0; k < kAhead; ++k) loaded[k] = values[columns.at(row + k, column)];
      FARO_UNROLL
      for (std::uint64_t k = 0; k < kAhead; ++k) {
        values[columns.at(row + k, column)] = sum;
        sum += loaded[k];
      }
    }
    for (; row < end; ++row) {
      const Word value = values[columns.at(row, column)];
      values[columns.at(row, column)] = sum;
      sum += value;
    }
    if (totals != nullptr) totals[item] = sum;
  }
};

/// Whether each bucket of a level gets as many entries as it has places: sums of its regions' columns.
struct CheckTotals : PlainKernel<> {
  LevelShape level;
  const std::uint32_t* totals = nullptr;  // [regions][buckets]
  Fault fault;

  constexpr std::uint64_t regions() const {
    return (level.count + (std::uint64_t{1} << level.region_bits()) - 1) >> level.region_bits();
  }
  constexpr std::uint64_t blocks() const { return blocks_of(regions() << level.level_bits); }

  template <Block B>
  constexpr void operator()(B& block) const {
    const std::uint64_t item = thread_of(block);
    if (item >= regions() << level.level_bits) return;
    const std::uint64_t region = item >> level.level_bits << level.region_bits();
    const auto bucket = static_cast<std::uint32_t>(item & (level.buckets() - 1));
    if (totals[item] != level.bucket_size(region, bucket)) fault.raise(block);
  }
};

}  // namespace faro::cuda
