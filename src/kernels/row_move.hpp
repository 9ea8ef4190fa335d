// Rows of any width at any address, taken and put on a GPU; those that are multiples of vectors are moved by
// row_vectors.hpp.
//
// Rows are written by aligned vectors, each joined from the two that it straddles; only a row's ends go byte
// by byte (MoveRowBytes). Taken, rows of 16 bytes and more need not even that (TakeRowVectors): what is
// written is contiguous, and a vector where two rows meet is joined from the four.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/moved_vector.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_vectors.hpp"

namespace faro::kernels {

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
    return (row_bytes + 2 * std::uint64_t{kVectorBytes - 1}) / kVectorBytes;
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
    const std::uint64_t array = shape.array_of(of_array);
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
    const bool whole =
        end - begin == kVectorBytes && from + 2 * std::uint64_t{kVectorBytes} <= in_bytes + by && from >= by;
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

/// Taken rows of at least 16 bytes, at any address. A thread writes aligned vectors of the output, each of
/// one row or where two meet:
///
///     output            | . . a b c d e f | g h i j k A B C |      rows a..k and A.. of the input
///     of the first row                      g h i j k . . .        two vectors of the input, joined
///     of the second                         . . . . . A B C        two others
template <int kArrays = 1>
struct TakeRowVectors {
  using Vector = device::Packet<16>;
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = 4;
  static constexpr std::uint32_t kEach = 2;
  static constexpr std::uint32_t kBytes = 16;
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  RowMoveShape<kArrays> shape;
  device::Division64 row_bytes;
  std::uint64_t in_bytes = 0;

  /// Vectors around so many bytes, wherever they begin.
  static constexpr std::uint64_t vectors_around(std::uint64_t bytes) {
    return (bytes + 2 * std::uint64_t{kBytes - 1}) / kBytes;
  }
  static constexpr std::uint64_t blocks_for(std::uint64_t bytes) {
    return (vectors_around(bytes) + kOfBlock - 1) / kOfBlock;
  }
  constexpr std::uint64_t out_bytes() const { return shape.rows_in_order() * row_bytes.divisor(); }
  constexpr std::uint64_t blocks() const { return blocks_for(out_bytes()) * shape.number; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    std::uint64_t of_array = block.index();
    const std::uint64_t array = shape.array_of(of_array);
    const std::byte* const in = shape.arrays.in[array];
    std::byte* const out = shape.arrays.out[array];
    const std::uint64_t skew = reinterpret_cast<std::uintptr_t>(out) % kBytes;
    const std::uint64_t end = skew + out_bytes();  // counted from an aligned address, as all that follows
    Source source[kEach][2] = {};
    bool whole[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t at =
          (of_array * kOfBlock + static_cast<std::uint64_t>(k) * kThreads + block.thread()) * kBytes;
      if (at >= end) continue;
      whole[k] = at >= skew && at + kBytes <= end;
      if (!whole[k]) {
        std::uint64_t first = at < skew ? 0 : at - skew;
        const auto edge = shape.position_of(row_bytes.divide(first));
        if (shape.entries.row(edge.entry) == kWrongRow)
          note_fault(block, &shape.faults->out_of_range, edge.entry);
        continue;
      }
      std::uint64_t offset = at - skew;
      const std::uint64_t row = row_bytes.divide(offset);
      const std::uint64_t left = row_bytes.divisor() - offset;
      source[k][0] = source_of(block, in, row, offset, 0, left < kBytes ? left : kBytes);
      if (left < kBytes) source[k][1] = source_of(block, in, row + 1, 0, left, kBytes - left);
      whole[k] = source[k][0].fine && (left >= kBytes || source[k][1].fine);
    }
    Vector part[kEach][2] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      FARO_UNROLL
      for (int p = 0; p < 2; ++p) {
        if (whole[k] && source[k][p].number > 0) part[k][p] = source[k][p].load();
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t at =
          (of_array * kOfBlock + static_cast<std::uint64_t>(k) * kThreads + block.thread()) * kBytes;
      if (at >= end) continue;
      if (!whole[k]) {
        move_bytes(in, out, at < skew ? 0 : at - skew, (at + kBytes < end ? at + kBytes : end) - skew);
        continue;
      }
      *reinterpret_cast<Vector*>(out + at - skew) = merged(part[k][0], part[k][1], source[k][0].number);
    }
  }

 private:
  // Bytes place .. place + number - 1 of a vector, from the aligned vectors around where they lie.
  struct Source {
    const Vector* around = nullptr;
    std::uint32_t by = 0;
    std::uint32_t place = 0;
    std::uint32_t number = 0;
    bool fine = false;  // a row that is there, and its vectors within the array

    constexpr Vector load() const {
      Vector low = {};
      Vector high = {};
      if (place < kBytes - by) low = around[0];
      if (place + number > kBytes - by) high = around[1];
      return join<1>(low, high, by);
    }
  };

  template <typename Block>
  constexpr Source source_of(Block& block, const std::byte* in, std::uint64_t in_order, std::uint64_t offset,
                             std::uint64_t place, std::uint64_t number) const {
    const auto at = shape.position_of(in_order);
    const std::uint64_t row = shape.entries.row(at.entry);
    if (row == kWrongRow) note_fault(block, &shape.faults->out_of_range, at.entry);
    if (!is_row(row)) return {};
    const std::uint64_t from = (at.before + row) * row_bytes.divisor() + offset;
    if (from < 2 * std::uint64_t{kBytes} || from + 3 * std::uint64_t{kBytes} > in_bytes)
      return {};  // byte by byte, near the ends
    const std::byte* const first = in + from - place;
    const auto by = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(first) % kBytes);
    return {.around = reinterpret_cast<const Vector*>(first - by),
            .by = by,
            .place = static_cast<std::uint32_t>(place),
            .number = static_cast<std::uint32_t>(number),
            .fine = true};
  }

  // The first `number` bytes of a, and the others of b.
  static constexpr Vector merged(const Vector& a, const Vector& b, std::uint32_t number) {
    if (number >= kBytes) return a;
    Vector made = {};
    FARO_UNROLL
    for (std::uint32_t w = 0; w < 4; ++w) {
      const std::uint32_t bytes = number <= 4 * w ? 0 : number - 4 * w;
      const std::uint32_t mask = bytes >= 4 ? ~std::uint32_t{0} : (std::uint32_t{1} << 8 * bytes) - 1;
      made.unit[w] = (a.unit[w] & mask) | (b.unit[w] & ~mask);
    }
    return made;
  }

  constexpr void move_bytes(const std::byte* in, std::byte* out, std::uint64_t begin,
                            std::uint64_t end) const {
    for (std::uint64_t y = begin; y < end; ++y) {
      std::uint64_t offset = y;
      const auto at = shape.position_of(row_bytes.divide(offset));
      const std::uint64_t row = shape.entries.row(at.entry);
      if (is_row(row)) {
        out[y] = in[(at.before + row) * row_bytes.divisor() + offset];
      } else if (row == kAbsentRow && shape.fill != RowFill::kept) {
        out[y] = shape.fill == RowFill::value ? shape.fill_pattern[offset % shape.fill_bytes] : std::byte{0};
      }
    }
  }
};

}  // namespace faro::kernels
