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
// Taken, rows of 16 bytes and more need not even that (TakeRowVectors): what is written is contiguous, and a
// vector where two rows meet is joined from the four.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
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
  /// As many as there are registers for without memory in their place: on an H100 rows of 512 bytes with
  /// entries of 8 are taken at 87% of a copy by 5 blocks of a multiprocessor, at 93 by 6 and at 96 by 8.
  static constexpr int kMinBlocks =
      kBytes < 16 ? 4 : (kDirection == RowDirection::take && kArrays == 1 ? 8 : 6);
  /// Elements of a thread: more of narrow ones, as far as registers go.
  static constexpr std::uint32_t kEach = kBytes == 16 ? 2 : 4;
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  RowMoveShape<kArrays> shape;
  device::Division64 vectors;  // of a row
  /// Where rows are taken several times: parts of rows so narrow that all rows' parts stay in the cache, one
  /// part of all of them after the other. Vectors of a part, which divides a row; and of one part of all
  /// rows.
  device::Division64 slice;
  device::Division64 all_slices;
  bool sliced = false;

  static constexpr std::uint64_t blocks_for(std::uint64_t vectors_in_order) {
    return (vectors_in_order + kOfBlock - 1) / kOfBlock;
  }
  constexpr std::uint64_t vectors_in_order() const { return shape.rows_in_order() * vectors.divisor(); }
  constexpr std::uint64_t blocks() const { return blocks_for(vectors_in_order()) * shape.number; }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    // Once for all entries of a thread, so that they are on their way together.
    if (shape.entries.is_odd()) return move<OddWord>(block);
    if (shape.entries.bytes == 8) return move<std::uint64_t>(block);
    if (shape.entries.is_signed != 0) return move<std::int32_t>(block);
    move<std::uint32_t>(block);
  }

 private:
  // A vector in the order of work.
  struct Place {
    std::uint64_t row = 0;   // in order
    std::uint64_t part = 0;  // vectors of the row before it
  };
  constexpr Place place_of(std::uint64_t vector) const {
    std::uint64_t part = vector;
    if (!sliced) {
      const std::uint64_t row = vectors.divide(part);
      return {.row = row, .part = part};
    }
    const std::uint64_t before = all_slices.divide(part) * slice.divisor();
    const std::uint64_t row = slice.divide(part);
    return {.row = row, .part = before + part};
  }

  template <typename Word, typename Block>
  constexpr void move(Block& block) const {
    std::uint64_t of_array = block.index();
    const std::uint64_t array = kArrays == 1 ? 0 : shape.blocks_of_array.divide(of_array);
    const auto* const in = reinterpret_cast<const Vector*>(shape.arrays.in[array]);
    auto* const out = reinterpret_cast<Vector*>(shape.arrays.out[array]);
    const std::uint64_t first = of_array * kOfBlock + block.thread();
    const std::uint64_t end = vectors_in_order();

    std::uint64_t in_order[kEach] = {};
    std::uint64_t part[kEach] = {};
    typename EntryWord<Word>::Type entry[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      in_order[k] = first + static_cast<std::uint64_t>(k) * kThreads;
      if (in_order[k] >= end) continue;
      const Place place = place_of(in_order[k]);
      part[k] = place.part;
      if (sliced) in_order[k] = place.row * vectors.divisor() + place.part;
      entry[k] = shape.entries.template word<Word>(shape.position_of(place.row).entry);
    }
    Vector vector[kEach] = {};
    std::uint64_t at_random[kEach] = {};
    bool moves[kEach] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t work = first + static_cast<std::uint64_t>(k) * kThreads;
      if (work >= end) continue;
      const std::uint64_t row = shape.entries.row_of(EntryWord<Word>::extended(entry[k]));
      moves[k] = is_row(row);
      if (is_row(row)) {
        std::uint64_t from = row;
        if (shape.outer != 1) from += shape.position_of(place_of(work).row).before;
        at_random[k] = from * vectors.divisor() + part[k];
        vector[k] = in[kDirection == RowDirection::take ? at_random[k] : in_order[k]];
      } else if (row == kWrongRow) {
        note_fault(block, &shape.faults->out_of_range, shape.position_of(place_of(work).row).entry);
      } else if (kDirection == RowDirection::take && shape.fill != RowFill::kept) {
        moves[k] = true;
        if (shape.fill == RowFill::value) {
          const auto* const from = shape.fill_pattern + part[k] * kBytes % shape.fill_bytes;
          vector[k] = *reinterpret_cast<const Vector*>(from);
        }
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (moves[k]) out[kDirection == RowDirection::take ? in_order[k] : at_random[k]] = vector[k];
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
    const std::uint64_t array = kArrays == 1 ? 0 : shape.blocks_of_array.divide(of_array);
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
