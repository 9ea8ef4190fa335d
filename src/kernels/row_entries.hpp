// Entries that number rows, in a device's memory, as kernels read them: rows that are there, entries that
// name none, and entries that are wrong, which are told of and never followed.
//
//     entry       3      -1       9 of 4 rows, or -1 where no entry may be absent
//     row         3     kAbsent   kWrong, and its position goes to RowFaults
//
// A kernel here is a value: its arguments, the sizes of its launch and operator()(block), which one thread
// runs, over a block of a GPU or one that is emulated (engines/cuda/kernels/device_block.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "faro/device/memory.hpp"

namespace faro::kernels {

/// In place of a row's number.
inline constexpr std::uint64_t kAbsentRow = ~std::uint64_t{0};
inline constexpr std::uint64_t kWrongRow = ~std::uint64_t{0} - 1;

/// Whether a row's number is one.
constexpr bool is_row(std::uint64_t row) { return row < kWrongRow; }

/// The least positions of entries that are wrong, kNoFault where there are none. In a device's memory.
inline constexpr std::uint64_t kNoFault = ~std::uint64_t{0};
struct RowFaults {
  std::uint64_t out_of_range = kNoFault;
  std::uint64_t twice = kNoFault;  // of Put: an entry whose row another one names
};

/// How an entry is read: as a word that a device loads, or by its bytes.
struct OddWord {};
template <typename Word>
struct EntryWord {
  using Type = Word;
  static constexpr std::uint64_t extended(Word word) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(word));
  }
};
template <>
struct EntryWord<OddWord> {
  using Type = std::uint64_t;
  static constexpr std::uint64_t extended(std::uint64_t word) { return word; }
};

struct RowEntries {
  const void* data = nullptr;  // aligned to an entry
  std::uint64_t count = 0;
  std::uint64_t rows = 0;  // that they number
  std::uint64_t marker = 0;
  std::int32_t bytes = 4;  // 1, 2, 4 or 8
  std::int32_t is_signed = 0;
  std::int32_t has_marker = 0;
  std::int32_t is_big_endian = 0;

  /// Entry i, sign-extended.
  constexpr std::uint64_t entry(std::uint64_t i) const {
    if (is_odd()) return odd_entry(i);
    if (bytes == 8) return static_cast<const std::uint64_t*>(data)[i];
    const std::uint32_t word = static_cast<const std::uint32_t*>(data)[i];
    if (is_signed == 0) return word;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word)));
  }
  constexpr bool is_odd() const { return bytes < 4 || is_big_endian != 0; }
  /// Entry i as `Word`, which is_odd(), bytes and is_signed ask for.
  template <typename Word>
  constexpr typename EntryWord<Word>::Type word(std::uint64_t i) const {
    if constexpr (std::is_same_v<Word, OddWord>) {
      return odd_entry(i);
    } else {
      return static_cast<const Word*>(data)[i];
    }
  }
  constexpr std::uint64_t row_of(std::uint64_t entry) const {
    if (has_marker != 0 && entry == marker) return kAbsentRow;
    return entry < rows ? entry : kWrongRow;
  }
  constexpr std::uint64_t row(std::uint64_t i) const { return row_of(entry(i)); }

  /// Rows of entries first, first + step, …, kAbsentRow from `end` on: all are on their way before the first
  /// is looked at.
  template <std::uint32_t kNumber>
  constexpr void load_rows(std::uint64_t first, std::uint64_t step, std::uint64_t end,
                           std::uint64_t (&row)[kNumber]) const {
    load_rows_at(
        [&](std::uint32_t k) {
          const std::uint64_t i = first + k * step;
          return i < end ? i : kAbsentRow;
        },
        row);
  }
  /// The same of entries number at(k), kAbsentRow for those of that number.
  template <std::uint32_t kNumber, typename At>
  constexpr void load_rows_at(const At& at, std::uint64_t (&row)[kNumber]) const {
    if (is_odd()) {
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kNumber; ++k) {
        const std::uint64_t i = at(k);
        row[k] = i != kAbsentRow ? row_of(odd_entry(i)) : kAbsentRow;
      }
      return;
    }
    if (bytes == 8) return load_rows_as<std::uint64_t>(at, row);
    if (is_signed != 0) return load_rows_as<std::int32_t>(at, row);
    load_rows_as<std::uint32_t>(at, row);
  }

 private:
  // Narrow, or of the other byte order: byte by byte.
  constexpr std::uint64_t odd_entry(std::uint64_t i) const {
    const auto* const all = static_cast<const unsigned char*>(data) + i * static_cast<std::uint64_t>(bytes);
    std::uint64_t value = 0;
    for (std::int32_t b = 0; b < bytes; ++b) {
      const std::int32_t place = is_big_endian != 0 ? bytes - 1 - b : b;
      value |= std::uint64_t{all[b]} << 8 * place;
    }
    const std::int32_t missing = 64 - 8 * bytes;
    if (is_signed == 0 || missing == 0) return value;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << missing) >> missing);
  }

  template <typename Word, std::uint32_t kNumber, typename At>
  constexpr void load_rows_as(const At& at, std::uint64_t (&row)[kNumber]) const {
    const auto* const words = static_cast<const Word*>(data);
    Word word[kNumber] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      const std::uint64_t i = at(k);
      if (i != kAbsentRow) word[k] = words[i];
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kNumber; ++k) {
      const auto extended = static_cast<std::uint64_t>(static_cast<std::int64_t>(word[k]));
      row[k] = at(k) != kAbsentRow ? row_of(extended) : kAbsentRow;
    }
  }
};

/// Notes a position. Most entries are right, so it is looked at before it is written.
template <typename Block>
constexpr void note_fault(Block& block, std::uint64_t* least, std::uint64_t position) {
  if (position < block.read(least)) block.atomic_min(least, position);
}

/// For Put: a bit for each row that an entry names. Those that are named twice and entries that are wrong are
/// noted for good, and for the kernels of this run that follow.
struct MarkRows {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 1;
  static constexpr std::uint64_t kMostBlocks = 2112;  // 16 for each of 132 multiprocessors

  RowEntries entries;
  std::uint32_t* marks = nullptr;   // zeros at first
  std::uint32_t* faulty = nullptr;  // zero at first: whether there is a fault in this run
  RowFaults* faults = nullptr;      // for good

  static constexpr std::uint64_t mark_words(std::uint64_t rows) { return (rows + 31) / 32; }
  constexpr std::uint64_t blocks() const {
    const std::uint64_t needed = (entries.count + kThreads - 1) / kThreads;
    return needed < kMostBlocks ? needed : kMostBlocks;
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    constexpr std::uint32_t kTogether = 4;  // entries of a thread that are on their way
    const std::uint64_t step = block.blocks() * kThreads;
    FARO_NO_UNROLL
    for (std::uint64_t first = block.index() * kThreads + block.thread(); first < entries.count;
         first += kTogether * step) {
      std::uint64_t row[kTogether] = {};
      entries.load_rows(first, step, entries.count, row);
      bool twice[kTogether] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        const std::uint32_t bit = std::uint32_t{1} << row[k] % 32;
        if (is_row(row[k])) twice[k] = (block.atomic_or(marks + row[k] / 32, bit) & bit) != 0;
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        const bool wrong = row[k] == kWrongRow;
        if (!wrong && !twice[k]) continue;
        block.write(faulty, 1);
        note_fault(block, wrong ? &faults->out_of_range : &faults->twice, first + k * step);
      }
    }
  }
};

}  // namespace faro::kernels
