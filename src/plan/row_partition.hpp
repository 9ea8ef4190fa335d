// How items are partitioned by key on a GPU (engines/cuda/rows/partition_rows_steps.hpp): digits of keys,
// chunks of items, and the memory that it takes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "rounding.hpp"

namespace faro::detail {

inline constexpr std::uint32_t kPartitionThreads = 256;
inline constexpr std::uint32_t kPartitionRound = 2048;  // items that a block ranks at a time
inline constexpr int kPartitionDigitBits = 8;           // of keys that are partitioned digit by digit
inline constexpr int kRouteBits = 12;                   // of buckets that one pass tells apart

struct RowPartition {
  std::uint64_t items = 0;
  std::uint64_t buckets = 0;
  std::vector<int> digits;   // bits of each, the lowest first
  std::uint32_t rounds = 1;  // of a chunk
  std::uint64_t chunks = 0;
  bool wide = false;  // numbers of items and keys need 64 bits

  int most_bits() const { return digits.empty() ? 0 : *std::max_element(digits.begin(), digits.end()); }
  std::uint64_t word_bytes() const { return wide ? 8 : 4; }

  /// Counts of chunks and buckets, sums of them, where buckets begin.
  std::uint64_t table_bytes() const {
    const std::uint64_t columns = std::uint64_t{1} << most_bits();
    std::uint64_t words = 0;
    for (std::uint64_t rows = chunks; rows > 0; rows = rows > kTileRows ? ceil_div(rows, kTileRows) : 0)
      words += round_up(rows * columns, kAlignedWords);
    words += round_up(columns, kAlignedWords);                               // totals
    return words * word_bytes() + round_up(columns + 2, kAlignedWords) * 8;  // begins, and how many there are
  }
  /// One array of keys or items.
  std::uint64_t pairs_bytes() const { return round_up(items, kAlignedWords) * word_bytes(); }

  static constexpr std::uint64_t kTileRows = 64;
  static constexpr std::uint64_t kAlignedWords = 32;
};

/// `most_bits`: of a digit.
inline RowPartition row_partition(std::uint64_t items, std::uint64_t buckets, int most_bits) {
  RowPartition made{.items = items, .buckets = buckets, .digits = {}};
  const int bits = std::max(static_cast<int>(std::bit_width(std::max<std::uint64_t>(buckets, 1) - 1)), 1);
  const int passes = (bits + most_bits - 1) / most_bits;
  for (int pass = 0; pass < passes; ++pass)
    made.digits.push_back(bits / passes + (pass < bits % passes ? 1 : 0));
  // Enough blocks for any GPU before a block gets more than one round.
  constexpr std::uint64_t kBlocks = 2048;
  constexpr std::uint64_t kMostRounds = 16;
  made.rounds = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(items / (std::uint64_t{kPartitionRound} * kBlocks), 1, kMostRounds));
  made.chunks = ceil_div(items, std::uint64_t{made.rounds} * kPartitionRound);
  constexpr std::uint64_t kMostNarrow = (std::uint64_t{1} << 32) - 2;
  made.wide = items > kMostNarrow || buckets > kMostNarrow;
  return made;
}

}  // namespace faro::detail
