// How items are partitioned by key on a GPU (engines/cuda/rows/partition_rows_steps.hpp): digits of keys,
// chunks of items, and the memory that it takes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "faro/permutation/take.hpp"
#include "rounding.hpp"

namespace faro::detail {

inline constexpr std::uint32_t kPartitionThreads = 256;
inline constexpr std::uint32_t kPartitionRound = 2048;  // items that a block ranks at a time
inline constexpr int kPartitionDigitBits = 8;           // of keys that are partitioned digit by digit
inline constexpr int kRouteBits = 12;                   // of buckets that one pass tells apart

// For numbers that are partitioned into bins: rows of the output whose sums a warp keeps in shared memory.
inline constexpr std::uint32_t kBinThreads = 512;
inline constexpr std::uint32_t kBinRound = 8192;
inline constexpr int kBinDigitBits = 10;
inline constexpr int kBinRowBits = 10;  // of the rows of a bin, at most

struct RowPartition {
  std::uint64_t items = 0;
  std::uint64_t buckets = 0;
  std::vector<int> digits;   // bits of each, the lowest first
  std::uint32_t rounds = 1;  // of a chunk
  std::uint64_t chunks = 0;
  bool wide = false;  // numbers of items and keys need 64 bits
  std::uint32_t round_items = kPartitionRound;
  int bin_bits = 0;  // the lowest ones of a key, which no digit has: items of a bin stay in their order

  /// Whether items end in bins, rather than sorted.
  bool binned() const { return round_items == kBinRound; }

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

namespace row_partition_detail {

inline void set_digits(RowPartition& made, int bits, int most_bits) {
  const int passes = std::max((bits + most_bits - 1) / most_bits, 1);
  for (int pass = 0; pass < passes; ++pass)
    made.digits.push_back(bits / passes + (pass < bits % passes ? 1 : 0));
}

// A block gets more than one round only where the table of counts would be too large: what neighbouring
// chunks send to a bucket then lies side by side and is written at about the same time, so that sectors that
// they share meet in the cache. On an H200 2^29 pairs went to 1024 buckets in 8.9 ms by 16 rounds a block and
// in 5.0 by one.
inline void set_chunks(RowPartition& made, std::uint64_t blocks) {
  constexpr std::uint64_t kMostRounds = 16;
  made.rounds = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(made.items / (made.round_items * blocks), 1, kMostRounds));
  made.chunks = ceil_div(made.items, std::uint64_t{made.rounds} * made.round_items);
  constexpr std::uint64_t kMostNarrow = (std::uint64_t{1} << 32) - 2;
  made.wide = made.items > kMostNarrow || made.buckets > kMostNarrow;
}

inline int key_bits(std::uint64_t buckets) {
  return std::max(static_cast<int>(std::bit_width(std::max<std::uint64_t>(buckets, 1) - 1)), 1);
}

}  // namespace row_partition_detail

/// `most_bits`: of a digit.
inline RowPartition row_partition(std::uint64_t items, std::uint64_t buckets, int most_bits) {
  RowPartition made{.items = items, .buckets = buckets, .digits = {}};
  row_partition_detail::set_digits(made, row_partition_detail::key_bits(buckets), most_bits);
  constexpr std::uint64_t kBlocks = 2048;
  constexpr std::uint64_t kBlocksOfFew = 32768;
  row_partition_detail::set_chunks(made, most_bits <= kPartitionDigitBits ? kBlocksOfFew : kBlocks);
  return made;
}

/// Into bins of 2^bin_bits keys: as many bins as one pass tells apart before they have more than one key.
inline RowPartition bin_partition(std::uint64_t items, std::uint64_t rows) {
  RowPartition made{.items = items, .buckets = rows, .digits = {}, .round_items = kBinRound};
  const int bits = row_partition_detail::key_bits(rows);
  made.bin_bits = std::clamp(bits - kBinDigitBits, 0, kBinRowBits);
  row_partition_detail::set_digits(made, bits - made.bin_bits, kBinDigitBits);
  constexpr std::uint64_t kBlocks = 65536;
  row_partition_detail::set_chunks(made, kBlocks);
  return made;
}

/// How rows that are added are brought together. `carried`: they are numbers of at most 4 bytes, one a row,
/// which travel with their keys. Those go to bins, unless there are too few of them for most bins to get any.
inline RowPartition added_partition(std::uint64_t items, std::uint64_t rows, bool carried) {
  constexpr std::uint64_t kLeastBinned = std::uint64_t{1} << 16;
  constexpr std::uint64_t kLeastOfRow = 4;  // rows for each item, at most
  RowPartition binned = bin_partition(items, rows);
  if (carried && !binned.wide && items >= kLeastBinned && items >= rows / kLeastOfRow) return binned;
  return row_partition(items, rows, kPartitionDigitBits);
}
/// The partition of what is added in such a layout.
RowPartition added_partition(const Add& add, const RowLayout& layout);

}  // namespace faro::detail
