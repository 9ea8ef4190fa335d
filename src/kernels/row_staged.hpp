// Short arrays of short rows, taken and put on a GPU: an index array along an array's last axis, or before a
// few numbers. A block brings some arrays to shared memory as they lie, and writes others, word by word, from
// there.
//
//     entries  2 0 1 1      in      a b c | d e f | g h i     2 arrays of a block, in shared memory
//                           table   2 0 1 1                   where each unit of an array comes from
//                           out     c a b b | f d e e         words of 4 bytes, 4 of which a lane puts together
//
// Everything in global memory is read and written in order; a table is made once a block, which goes through
// many pieces. Put writes whole arrays, too: what no entry names it reads before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_vectors.hpp"

namespace faro::kernels {

/// How such arrays are staged, in units of a row, which are 1, 2, 4 or 8 bytes wide.
struct StagedShape {
  std::uint32_t run = 1;       // of a row
  std::uint32_t staged = 1;    // of an array that is read
  device::Division32 written;  // of one that is written
  std::uint32_t arrays = 1;    // of a piece
  std::uint64_t outer = 1;     // in all
};

inline constexpr std::uint32_t kStagedThreads = 256;
inline constexpr std::uint64_t kMostStagedBlocks = 2112;  // 16 for each of 132 multiprocessors
inline constexpr std::uint32_t kStagedWordBytes = 4;      // of units no wider
inline constexpr std::uint32_t kMostStagedUnits = 16383;  // of an array: four of them are numbered by 16 bits

constexpr std::uint64_t staged_blocks(std::uint64_t outer, std::uint32_t arrays) {
  const std::uint64_t pieces = (outer + arrays - 1) / arrays;
  return pieces < kMostStagedBlocks ? pieces : kMostStagedBlocks;
}
/// Entries of a table for arrays of so many units: a word may begin at the last.
constexpr std::uint32_t staged_table(std::uint32_t written) { return written + kStagedWordBytes - 1; }
constexpr std::uint32_t staged_bytes(std::uint32_t piece_bytes, std::uint32_t written) {
  constexpr std::uint32_t kVectorBytes = 16;
  const std::uint32_t piece = (piece_bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  return piece + (staged_table(written) * 2 + 4 + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
}

template <RowDirection kDirection, int kUnitBytes>
struct MoveStaged {
  using Unit = device::Packet<kUnitBytes>;
  static constexpr int kWordBytes = (kUnitBytes + 3) / 4 * 4;
  static constexpr std::uint32_t kOfWord = kWordBytes / kUnitBytes;
  using Word = device::Packet<kWordBytes>;
  static constexpr std::uint32_t kThreads = kStagedThreads;
  static constexpr int kMinBlocks = 8;

  RowMoveShape<1> shape;
  StagedShape staged;

  constexpr std::uint64_t blocks() const { return staged_blocks(staged.outer, staged.arrays); }
  constexpr std::uint32_t piece_bytes() const { return staged.arrays * staged.staged * kUnitBytes; }
  constexpr std::uint32_t shared_bytes() const {
    return staged_bytes(piece_bytes(), staged.written.divisor());
  }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    const Shared shared{block.shared(), *this};
    make_table(block, shared);
    const bool all = *shared.misses == 0;
    const std::uint64_t pieces = (staged.outer + staged.arrays - 1) / staged.arrays;
    FARO_NO_UNROLL
    for (std::uint64_t piece = block.index(); piece < pieces; piece += block.blocks()) {
      const std::uint64_t first = piece * staged.arrays;
      const std::uint64_t left = staged.outer - first;
      const auto arrays = static_cast<std::uint32_t>(left < staged.arrays ? left : staged.arrays);
      load(block, shared, first, arrays);
      block.barrier();
      std::byte* const to = shape.arrays.out[0] + first * staged.written.divisor() * kUnitBytes;
      if (all) {
        store<false>(block, shared, to, arrays);
      } else {
        store<true>(block, shared, to, arrays);
      }
      block.barrier();
    }
  }

 private:
  static constexpr std::uint16_t kMiss = 0xffff;    // no entry names it, or an absent one that is kept
  static constexpr std::uint16_t kFilled = 0xfffe;  // an absent entry, of a fill

  struct Shared {
    std::byte* units;
    std::uint16_t* table;
    std::uint32_t* misses;

    constexpr Shared(std::byte* memory, const MoveStaged& of)
        : units(memory),
          table(reinterpret_cast<std::uint16_t*>(memory + (of.piece_bytes() + 15) / 16 * 16)),
          misses(reinterpret_cast<std::uint32_t*>(memory + of.shared_bytes() - 4)) {}
  };

  template <typename Block>
  constexpr void make_table(Block& block, const Shared& shared) const {
    const std::uint32_t written = staged.written.divisor();
    if (block.thread() == 0) *shared.misses = 0;
    if constexpr (kDirection == RowDirection::put) {
      for (std::uint32_t x = block.thread(); x < written; x += kThreads) shared.table[x] = kMiss;
    }
    block.barrier();
    for (std::uint64_t i = block.thread(); i < shape.entries.count; i += kThreads) {
      const std::uint64_t row = shape.entries.row(i);
      if (row == kWrongRow && block.index() == 0) note_fault(block, &shape.faults->out_of_range, i);
      const bool filled = row == kAbsentRow && shape.fill != RowFill::kept;
      FARO_NO_UNROLL
      for (std::uint32_t j = 0; j < staged.run; ++j) {
        const auto in_order = static_cast<std::uint32_t>(i) * staged.run + j;
        if constexpr (kDirection == RowDirection::put) {
          if (is_row(row))
            shared.table[static_cast<std::uint32_t>(row) * staged.run + j] =
                static_cast<std::uint16_t>(in_order);
        } else {
          shared.table[in_order] = is_row(row) ? static_cast<std::uint16_t>(row * staged.run + j)
                                   : filled    ? kFilled
                                               : kMiss;
        }
      }
    }
    block.barrier();
    for (std::uint32_t x = block.thread(); x < staged_table(written); x += kThreads) {
      std::uint32_t within = x;
      const std::uint32_t arrays = staged.written.divide(within);
      const std::uint16_t from = shared.table[within];
      if (from >= kFilled) *shared.misses = 1;
      // Behind an array comes the next: those are no one's yet.
      if (x >= written)
        shared.table[x] = from >= kFilled ? from : static_cast<std::uint16_t>(from + arrays * staged.staged);
    }
    block.barrier();
  }

  template <typename Block>
  constexpr void load(Block& block, const Shared& shared, std::uint64_t first, std::uint32_t arrays) const {
    using Vector = device::Packet<16>;
    constexpr std::uint32_t kBatch = 2;
    const std::byte* const from = shape.arrays.in[0] + first * staged.staged * kUnitBytes;
    const std::uint32_t bytes = arrays * staged.staged * kUnitBytes;
    const auto* const in = reinterpret_cast<const Vector*>(from);
    auto* const to = reinterpret_cast<Vector*>(shared.units);
    FARO_NO_UNROLL
    for (std::uint32_t v = block.thread(); v < bytes / 16; v += kBatch * kThreads) {
      Vector vector[kBatch];
      FARO_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        if (v + b * kThreads < bytes / 16) vector[b] = in[v + b * kThreads];
      }
      FARO_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        if (v + b * kThreads < bytes / 16) to[v + b * kThreads] = vector[b];
      }
    }
    const std::uint32_t units = bytes / kUnitBytes;
    for (std::uint32_t x = bytes / 16 * 16 / kUnitBytes + block.thread(); x < units; x += kThreads)
      reinterpret_cast<Unit*>(shared.units)[x] = reinterpret_cast<const Unit*>(from)[x];
  }

  template <bool kMisses, typename Block>
  constexpr void store(Block& block, const Shared& shared, std::byte* to, std::uint32_t arrays) const {
    const std::uint32_t units = arrays * staged.written.divisor();
    constexpr std::uint32_t kBatch = 2;
    auto* const out = reinterpret_cast<Word*>(to);
    const std::uint32_t words = units / kOfWord;
    FARO_NO_UNROLL
    for (std::uint32_t word = block.thread(); word < words; word += kBatch * kThreads) {
      Word made[kBatch] = {};
      FARO_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        const std::uint32_t at = word + b * kThreads;
        if (at >= words) continue;
        if constexpr (kMisses) made[b] = out[at];
        make_word<kMisses>(shared, at * kOfWord, made[b]);
      }
      FARO_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        if (word + b * kThreads < words) out[word + b * kThreads] = made[b];
      }
    }
    for (std::uint32_t x = words * kOfWord + block.thread(); x < units; x += kThreads) {
      Unit& unit = reinterpret_cast<Unit*>(to)[x];
      Unit made = unit;
      take_unit<kMisses>(shared, x, made);
      unit = made;
    }
  }

  // The units from number `first` of the piece on.
  template <bool kMisses>
  constexpr void make_word(const Shared& shared, std::uint32_t first, Word& word) const {
    std::uint32_t within = first;
    const std::uint32_t base = staged.written.divide(within) * staged.staged;
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kOfWord; ++k) {
      const std::uint32_t from = shared.table[within + k];
      Unit unit{};
      if (kMisses && from >= kFilled) {
        if (from == kMiss) continue;
        std::uint32_t of_array = within + k;
        static_cast<void>(staged.written.divide(of_array));
        unit = filled(of_array);
      } else {
        unit = reinterpret_cast<const Unit*>(shared.units)[base + from];
      }
      set(word, k, unit);
    }
  }
  template <bool kMisses>
  constexpr void take_unit(const Shared& shared, std::uint32_t number, Unit& unit) const {
    std::uint32_t within = number;
    const std::uint32_t base = staged.written.divide(within) * staged.staged;
    const std::uint32_t from = shared.table[within];
    if (kMisses && from >= kFilled) {
      if (from == kFilled) unit = filled(within);
    } else {
      unit = reinterpret_cast<const Unit*>(shared.units)[base + from];
    }
  }

  constexpr Unit filled(std::uint32_t of_array) const {
    const std::byte* const pattern = shape.fill_at(std::uint64_t{of_array % staged.run} * kUnitBytes);
    return pattern == nullptr ? Unit{} : *reinterpret_cast<const Unit*>(pattern);
  }

  static constexpr void set(Word& word, std::uint32_t k, const Unit& unit) {
    if constexpr (kOfWord == 1) {
      word = unit;
    } else {
      constexpr std::uint32_t kBits = 8 * kUnitBytes;
      constexpr std::uint32_t kMask = (std::uint32_t{1} << kBits) - 1;
      word.unit[0] = (word.unit[0] & ~(kMask << kBits * k)) | std::uint32_t{unit.unit[0]} << kBits * k;
    }
  }
};

}  // namespace faro::kernels
