// Records of a chunk, sorted by the cells that they go to.
//
//     places      of each record, computed or read                       8 bytes a record
//     entries     |cell 0   |cell 1 |..|                                 tag, payload
//
// A tag is the place in the cell, 2 bytes. The payload is the record itself where it is short, so that it is
// moved once more at the speed of the cache; of a long one its number in the chunk. With payloads of at most
// 4 bytes an entry has 8, which are stored at once. Each thread counts a share of the chunk and then moves
// it, so that none waits for another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "file/places.hpp"
#include "widths.hpp"

namespace faro::file {

/// Bytes that sorting takes, beside a counter a cell and thread.
std::uint64_t sorting_bytes(std::uint64_t record_bytes);

class CellSort {
 public:
  /// What `memory` has to hold for so many records at a time.
  static std::uint64_t bytes(std::uint64_t record_bytes, std::uint64_t most_records) {
    return most_records * sorting_bytes(record_bytes);
  }
  /// Requires: `memory` aligned to 8 bytes (unchecked).
  CellSort(const Places& places, std::uint64_t record_bytes, int cell_bits, std::uint64_t most_records,
           int threads, std::byte* memory);

  /// Sorts records first … first + records - 1, which lie at x and stay there. Returns false where a place is
  /// none.
  bool sort(std::uint64_t first, std::uint64_t records, const std::byte* x);

  /// Entries of a cell: begin(cell) … begin(cell + 1) - 1 of the last sort.
  std::uint64_t begin(std::uint64_t cell) const { return begin_[cell]; }

  std::uint16_t tag(std::uint64_t entry) const {
    std::uint16_t tag = 0;
    std::memcpy(&tag, entries_ + entry * entry_bytes_, sizeof(tag));
    return tag;
  }
  const std::byte* record(std::uint64_t entry) const {
    const std::byte* const payload = entries_ + (entry + 1) * entry_bytes_ - payload_bytes_;
    if (!is_indirect_) return payload;
    std::uint32_t number = 0;
    std::memcpy(&number, payload, sizeof(number));
    return x_ + std::uint64_t{number} * width_;
  }

 private:
  bool find_places(std::uint64_t first, std::uint64_t records);
  void number_cells();
  template <typename Width>
  void move_entries(std::uint64_t records, Width payload_bytes);

  const Places& places_;
  std::uint64_t width_;
  int cell_bits_;
  int threads_;
  std::uint64_t cells_;
  bool is_indirect_;
  std::uint64_t payload_bytes_;
  std::uint64_t entry_bytes_;
  const std::byte* x_ = nullptr;
  std::uint64_t* to_;  // places
  std::byte* entries_;
  std::vector<std::uint32_t> next_;   // of each thread and cell: where its next entry goes
  std::vector<std::uint32_t> begin_;  // of each cell
};

/// A cell's records at their places, and whether each place is taken once.
class CellPlaces {
 public:
  CellPlaces(int cell_bits, std::uint64_t places)
      : places_(places), taken_(((std::uint64_t{1} << cell_bits) + 63) / 64) {}

  /// False where the place is none, or taken.
  bool take(std::uint64_t place) {
    if (place >= places_) return false;
    std::uint64_t& word = taken_[place / 64];
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    const bool is_free = (word & bit) == 0;
    word |= bit;
    return is_free;
  }

 private:
  std::uint64_t places_;
  std::vector<std::uint64_t> taken_;
};

/// The entries of a cell in the order of their tags: sorted by the lower byte, then by the upper.
class CellOrder {
 public:
  explicit CellOrder(int cell_bits);

  /// Calls body(rank, tag, entry) once for each, in no order. Returns false, perhaps after some calls, where
  /// there are more than places, or with kChecks where a tag comes twice.
  template <bool kChecks, typename Body>
  bool rank(const CellSort& sort, std::uint64_t cell, const Body& body) {
    const std::uint64_t begin = sort.begin(cell);
    const std::uint64_t count = sort.begin(cell + 1) - begin;
    if (count > by_entry_.size()) return false;
    std::array<std::uint32_t, kDigits> low{};
    std::array<std::uint32_t, kDigits> high{};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint32_t tag = sort.tag(begin + i);
      by_entry_[i] = tag << 16 | static_cast<std::uint32_t>(i);
      ++low[tag % kDigits];
      ++high[tag / kDigits];
    }
    number(low);
    number(high);
    for (std::uint64_t i = 0; i < count; ++i) by_low_[low[by_entry_[i] >> 16 & 0xff]++] = by_entry_[i];
    std::array<std::uint32_t, kDigits> last;
    if (kChecks) last.fill(~std::uint32_t{0});
    bool is_right = true;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint32_t tag = by_low_[i] >> 16;
      const std::uint32_t digit = tag / kDigits;
      if (kChecks) {
        is_right = is_right && last[digit] != tag;
        last[digit] = tag;
      }
      body(std::uint64_t{high[digit]++}, static_cast<std::uint16_t>(tag), begin + (by_low_[i] & 0xffff));
    }
    return is_right;
  }

 private:
  static constexpr std::size_t kDigits = 256;

  // Counts become the numbers of the first.
  static void number(std::array<std::uint32_t, kDigits>& counts) {
    std::uint32_t at = 0;
    for (std::uint32_t& count : counts) at += std::exchange(count, at);
  }

  std::vector<std::uint32_t> by_entry_;  // tag << 16 | number of the entry in the cell
  std::vector<std::uint32_t> by_low_;
};

}  // namespace faro::file
