// Entries of any of the types that rows are numbered by, read in blocks as 64-bit numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "faro/permutation/take.hpp"

namespace faro::detail {

/// In place of a row's number where an entry names none.
inline constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

/// Whether entries may have such a width.
inline bool is_entry_width(int bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/// Checks everything but the entries. Errors: ErrorCode::value for entries of another width than 1, 2, 4 or 8
/// bytes, a null pointer, more than 2^40 rows.
void require_row_move(const RowMove& move);

/// row_numbers() of a move that is changed.
RowNumbers& entries_of(RowMove& move);

class RowReader {
 public:
  explicit RowReader(const RowMove& move)
      : numbers_(row_numbers(move)), rows_(numbered_rows(move)), marker_(absent_marker(move)) {}

  std::uint64_t count() const { return numbers_.count; }

  /// Entry i, sign-extended. Requires: i < count() (unchecked).
  std::uint64_t entry(std::uint64_t i) const {
    std::uint64_t value = 0;
    with_entries([&](auto load) { value = load(i); });
    return value;
  }

  /// Writes the rows of entries first .. first + n - 1, kNoRow where there is none. Returns whether all are
  /// rows that there are or absent; of those that are not, row 0 is written, or kNoRow where there are no
  /// rows. Requires: within count() (unchecked).
  bool read(std::uint64_t first, std::uint64_t n, std::uint64_t* rows) const {
    bool fine = true;
    with_entries([&](auto load) {
      std::uint64_t wrong = 0;
      const std::uint64_t instead = rows_ == 0 ? kNoRow : 0;
      if (marker_) {
        const std::uint64_t marker = *marker_;
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::uint64_t value = load(first + i);
          const bool absent = value == marker;
          const bool out_of_range = !absent && value >= rows_;
          wrong |= out_of_range ? 1 : 0;
          rows[i] = absent ? kNoRow : out_of_range ? instead : value;
        }
      } else {
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::uint64_t value = load(first + i);
          wrong |= value >= rows_ ? 1 : 0;
          rows[i] = value >= rows_ ? instead : value;
        }
      }
      fine = wrong == 0;
    });
    return fine;
  }

  /// Looks at entries first .. first + n - 1, which may name no row: whether each is a row, and how many
  /// do not follow the one before them. `before`: what the first would follow. In vectors, without comparing:
  /// a number that is none of 0 .. rows - 1, and any difference but 0, shows in a top bit.
  /// Requires: rows, n > 0, within count() (unchecked).
  bool sum_up(std::uint64_t first, std::uint64_t n, std::uint64_t before, std::uint64_t* runs) const {
    constexpr int kTopBit = 63;
    bool inside = true;
    with_entries([&](auto load) {
      const std::uint64_t last = rows_ - 1;
      std::uint64_t outside = (last - load(first)) | load(first);
      std::uint64_t begun = load(first) == before + 1 ? 0 : 1;
#pragma omp simd reduction(| : outside) reduction(+ : begun)
      for (std::uint64_t i = first + 1; i < first + n; ++i) {
        const std::uint64_t value = load(i);
        outside |= (last - value) | value;
        const std::uint64_t apart = value - load(i - 1) - 1;
        begun += (apart | (0 - apart)) >> kTopBit;
      }
      *runs += begun;
      inside = outside >> kTopBit == 0;
    });
    return inside;
  }

 private:
  template <typename Word>
  static Word swapped(Word word) {
    if constexpr (sizeof(Word) == 8)
      return static_cast<Word>(__builtin_bswap64(static_cast<std::uint64_t>(word)));
    if constexpr (sizeof(Word) == 4)
      return static_cast<Word>(__builtin_bswap32(static_cast<std::uint32_t>(word)));
    if constexpr (sizeof(Word) == 2)
      return static_cast<Word>(__builtin_bswap16(static_cast<std::uint16_t>(word)));
    return word;
  }

  template <typename Word, bool kSwapped, typename Use>
  void use_words(const Use& use) const {
    const auto* const bytes = static_cast<const std::byte*>(numbers_.data);
    use([bytes](std::uint64_t i) {
      Word word;
      std::memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
      if constexpr (kSwapped) word = swapped(word);
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(word));
    });
  }

  template <typename Use>
  void with_entries(const Use& use) const {
    numbers_.order == ByteOrder::big ? with_entries_as<true>(use) : with_entries_as<false>(use);
  }

  template <bool kSwapped, typename Use>
  void with_entries_as(const Use& use) const {
    const bool is_signed = numbers_.type.is_signed;
    switch (numbers_.type.bytes) {
      case 8:
        return use_words<std::int64_t, kSwapped>(use);
      case 4:
        return is_signed ? use_words<std::int32_t, kSwapped>(use) : use_words<std::uint32_t, kSwapped>(use);
      case 2:
        return is_signed ? use_words<std::int16_t, kSwapped>(use) : use_words<std::uint16_t, kSwapped>(use);
      default:
        return is_signed ? use_words<std::int8_t, kSwapped>(use) : use_words<std::uint8_t, kSwapped>(use);
    }
  }

  RowNumbers numbers_;
  std::uint64_t rows_;
  std::optional<std::uint64_t> marker_;
};

}  // namespace faro::detail
