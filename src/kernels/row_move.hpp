// Rows taken and put on a GPU: every thread moves a few vectors, each of some row, wherever the row lies.
//
//     rows of 3 vectors, f = 2 0 2        vector   0 1 2   3 4 5   6 7 8
//                                         row      0       1       2        and its part 0 1 2
//     take   reads                                 f(0)=2  f(1)=0  f(2)=2   writes vectors 0 1 2 3 …
//     put    reads vectors 0 1 2 3 …               writes where take reads
//
// On the side in order everything is contiguous; the other side has whole rows. Neighbouring threads take
// neighbouring vectors, whatever the width, so that a long row is shared by blocks and short ones share a
// warp; a thread's own vectors lie a block apart and are all on their way before the first is needed. There
// is no loop: blocks start and end in the order of the array, which keeps what is in flight together.
//
// Vectors are as wide as rows and addresses are all multiples of. Rows at any address (MoveRowBytes) are
// written by aligned vectors, each joined from the two that it straddles; only a row's ends go byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/packet.hpp"
#include "kernels/moved_vector.hpp"
#include "kernels/row_entries.hpp"

namespace faro::kernels {

enum class RowDirection { take, put };

/// What Take writes for an entry that names no row.
enum class RowFill : std::int32_t { kept, zero, value };

/// Arrays that go by the same entries in one launch: the tensors of a cache.
template <int kMost>
struct RowArrays {
  const std::byte* in[kMost] = {};
  std::byte* out[kMost] = {};
};
inline constexpr int kMostRowArrays = 128;

/// What every way of moving rows needs.
template <int kArrays>
struct RowMoveShape {
  RowEntries entries;
  RowArrays<kArrays> arrays;
  device::Division64 count;            // entries: rows in order of an array of rows
  device::Division64 blocks_of_array;  // of the launch
  std::uint64_t outer = 1;             // arrays of rows, one after another
  std::uint64_t number = 1;            // of `arrays`
  std::uint64_t row_bytes = 1;
  RowFill fill = RowFill::kept;
  std::uint64_t fill_bytes = 16;            // a multiple of 16
  const std::byte* fill_pattern = nullptr;  // aligned to 16; begins anew at each row
  RowFaults* faults = nullptr;
  const RowFaults* before = nullptr;  // unless null: where an earlier kernel of this run noted a fault,
                                      // nothing is moved

  /// Rows in order of one of `arrays`.
  constexpr std::uint64_t rows_in_order() const { return outer * count.divisor(); }
  constexpr bool stopped() const {
    return before != nullptr && (before->out_of_range != kNoFault || before->twice != kNoFault);
  }
  /// Position of row `in_order` among the entries, and how many rows at random lie before its array of them.
  struct Position {
    std::uint64_t entry = 0;
    std::uint64_t before = 0;
  };
  constexpr Position position_of(std::uint64_t in_order) const {
    if (outer == 1) return {.entry = in_order, .before = 0};
    const std::uint64_t array = count.divide(in_order);
    return {.entry = in_order, .before = array * entries.rows};
  }
};

/// Vectors of kBytes, of which a row and all addresses are multiples.
template <RowDirection kDirection, int kBytes, int kArrays = 1>
struct MoveRowVectors {
  using Vector = device::Packet<kBytes>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  /// Of a thread: more of narrow ones, as far as registers go.
  static constexpr std::uint32_t kEach = kBytes == 16 ? 2 : 4;
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  RowMoveShape<kArrays> shape;
  device::Division64 vectors;  // of a row

  static constexpr std::uint64_t blocks_for(std::uint64_t vectors_in_order) {
    return (vectors_in_order + kOfBlock - 1) / kOfBlock;
  }
  constexpr std::uint64_t vectors_in_order() const { return shape.rows_in_order() * vectors.divisor(); }
  constexpr std::uint64_t blocks() const { return blocks_for(vectors_in_order()) * shape.number; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    std::uint64_t of_array = block.index();
    const std::uint64_t array = kArrays == 1 ? 0 : shape.blocks_of_array.divide(of_array);
    const auto* const in = reinterpret_cast<const Vector*>(shape.arrays.in[array]);
    auto* const out = reinterpret_cast<Vector*>(shape.arrays.out[array]);
    const std::uint64_t first = of_array * kOfBlock + block.thread();
    const std::uint64_t end = vectors_in_order();

    std::uint64_t part[kEach] = {};
    std::uint64_t before[kEach] = {};
    std::uint64_t position[kEach] = {};
    std::uint64_t entry[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      part[k] = first + k * kThreads;
      if (part[k] >= end) continue;
      const auto at = shape.position_of(vectors.divide(part[k]));
      position[k] = at.entry;
      before[k] = at.before;
      entry[k] = shape.entries.entry(at.entry);
    }
    Vector vector[kEach] = {};
    bool moves[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t in_order = first + k * kThreads;
      if (in_order >= end) continue;
      const std::uint64_t row = shape.entries.row_of(entry[k]);
      if (row == kWrongRow) note_fault(block, &shape.faults->out_of_range, position[k]);
      moves[k] = is_row(row);
      if (is_row(row)) {
        // From here on where it is at random.
        before[k] = (before[k] + row) * vectors.divisor() + part[k];
        vector[k] = in[kDirection == RowDirection::take ? before[k] : in_order];
      } else if (kDirection == RowDirection::take && row == kAbsentRow && shape.fill != RowFill::kept) {
        moves[k] = true;
        if (shape.fill == RowFill::value) {
          const auto* const from = shape.fill_pattern + part[k] * kBytes % shape.fill_bytes;
          vector[k] = *reinterpret_cast<const Vector*>(from);
        }
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (moves[k]) out[kDirection == RowDirection::take ? first + k * kThreads : before[k]] = vector[k];
    }
  }
};

/// Rows of any width at any address. A thread writes what a row has of 16 aligned bytes of the output.
///
///     output   |  . . a b c d e f  |  g h i j k l m n  |  o p . . . .      a row from a to p: 3 pieces
template <RowDirection kDirection, int kArrays = 1>
struct MoveRowBytes {
  using Vector = device::Packet<16>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kVectorBytes = 16;

  RowMoveShape<kArrays> shape;
  device::Division64 pieces;  // of a row, wherever it begins
  std::uint64_t in_bytes = 0;

  static constexpr std::uint64_t pieces_of(std::uint64_t row_bytes) {
    return (row_bytes + 2 * (kVectorBytes - 1)) / kVectorBytes;
  }
  static constexpr std::uint64_t blocks_for(std::uint64_t pieces_in_order) {
    return (pieces_in_order + kThreads - 1) / kThreads;
  }
  constexpr std::uint64_t pieces_in_order() const { return shape.rows_in_order() * pieces.divisor(); }
  constexpr std::uint64_t blocks() const { return blocks_for(pieces_in_order()) * shape.number; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    std::uint64_t of_array = block.index();
    const std::uint64_t array = kArrays == 1 ? 0 : shape.blocks_of_array.divide(of_array);
    std::uint64_t piece = of_array * kThreads + block.thread();
    if (piece >= pieces_in_order()) return;
    const std::uint64_t in_order = pieces.divide(piece);
    const auto at = shape.position_of(in_order);
    const std::uint64_t row = shape.entries.row(at.entry);
    if (row == kWrongRow) note_fault(block, &shape.faults->out_of_range, at.entry);
    const bool filled = kDirection == RowDirection::take && row == kAbsentRow && shape.fill != RowFill::kept;
    if (!is_row(row) && !filled) return;
    const std::uint64_t at_random = is_row(row) ? at.before + row : 0;
    const bool takes = kDirection == RowDirection::take;
    std::byte* const to = shape.arrays.out[array] + (takes ? in_order : at_random) * shape.row_bytes;

    // Bytes begin .. end - 1 of the row.
    const std::uint64_t ahead = reinterpret_cast<std::uintptr_t>(to) % kVectorBytes;
    const std::uint64_t begin = piece == 0 ? 0 : piece * kVectorBytes - ahead;
    const std::uint64_t upto = (piece + 1) * kVectorBytes - ahead;
    const std::uint64_t end = upto < shape.row_bytes ? upto : shape.row_bytes;
    if (begin >= end) return;
    if (filled) return fill(to, begin, end);

    const std::byte* const base = shape.arrays.in[array];
    const std::uint64_t from = (takes ? at_random : in_order) * shape.row_bytes + begin;
    // The vectors around it, of which the second must not go past the array.
    const auto by = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(base + from) % kVectorBytes);
    const bool whole = end - begin == kVectorBytes && from + 2 * kVectorBytes <= in_bytes + by && from >= by;
    if (!whole) {
      for (std::uint64_t i = 0; i < end - begin; ++i) to[begin + i] = base[from + i];
      return;
    }
    const auto* const around = reinterpret_cast<const Vector*>(base + from - by);
    *reinterpret_cast<Vector*>(to + begin) = join<1>(around[0], around[1], by);
  }

 private:
  constexpr void fill(std::byte* to, std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t i = begin; i < end; ++i) {
      to[i] = shape.fill == RowFill::value ? shape.fill_pattern[i % shape.fill_bytes] : std::byte{0};
    }
  }
};

}  // namespace faro::kernels
