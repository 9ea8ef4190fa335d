// Rows taken and put on a GPU by vectors of 16 bytes and more (narrower: row_walk.hpp): every thread moves a
// few, each of some row, wherever the row lies.
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
// What becomes of a vector on its way is the kernel's parameter: nothing (CopiedVectors, as wide as rows and
// addresses are all multiples of), or its numbers change (row_values.hpp), and are as many on both sides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
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
  std::uint64_t fill_bytes = 32;            // a multiple of 32
  const std::byte* fill_pattern = nullptr;  // aligned to 16; begins anew at each row
  RowFaults* faults = nullptr;
  const std::uint32_t* faulty = nullptr;  // unless null: where an earlier kernel of this run noted a fault,
                                          // nothing is moved

  /// Which of `arrays` a block of the launch is of; its number becomes that among the array's.
  constexpr std::uint64_t array_of(std::uint64_t& block) const {
    return kArrays == 1 ? 0 : blocks_of_array.divide(block);
  }
  /// Rows in order of one of `arrays`.
  constexpr std::uint64_t rows_in_order() const { return outer * count.divisor(); }
  constexpr bool stopped() const { return faulty != nullptr && *faulty != 0; }
  /// What fills a row from so many of its bytes on; null: zeros.
  constexpr const std::byte* fill_at(std::uint64_t bytes) const {
    return fill == RowFill::value ? fill_pattern + bytes % fill_bytes : nullptr;
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
template <int kVectorBytes>
struct CopiedVectors {
  using Loaded = device::Packet<kVectorBytes>;
  static constexpr int kBytes = kVectorBytes;  // at most, of a vector on its way
  static constexpr int kOutBytes = kVectorBytes;

  constexpr Loaded load(const std::byte* in, std::uint64_t from, std::uint64_t /*to*/,
                        std::uint32_t further = 0) const {
    return (reinterpret_cast<const Loaded*>(in) + from)[further];
  }
  constexpr void store(std::byte* out, std::uint64_t to, const Loaded& vector,
                       std::uint32_t further = 0) const {
    (reinterpret_cast<Loaded*>(out) + to)[further] = vector;
  }
  /// Of a row that is filled, with zeros where there is no pattern. Whether the vector is stored later on.
  constexpr bool fill(Loaded& vector, std::byte* /*out*/, std::uint64_t /*to*/,
                      const std::byte* pattern) const {
    if (pattern != nullptr) vector = *reinterpret_cast<const Loaded*>(pattern);
    return true;
  }
};

inline constexpr std::uint32_t kRowThreads = 256;

template <RowDirection kDirection, typename Vectors, int kArrays = 1>
struct MoveRows {
  static constexpr int kBytes = Vectors::kBytes;
  static constexpr std::uint32_t kThreads = kRowThreads;
  /// As many as there are registers for without memory in their place: on an H100 rows of 512 bytes with
  /// entries of 8 are taken at 87% of a copy by 5 blocks of a multiprocessor, at 93 by 6 and at 96 by 8.
  static constexpr int kMinBlocks = (kDirection == RowDirection::take && kArrays == 1) || kBytes > 16 ? 8 : 6;
  static constexpr std::uint32_t kEach = kBytes > 16 ? 1 : 2;  // as far as registers go
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  RowMoveShape<kArrays> shape;
  device::Division64 vectors;  // of a row
  /// Where rows are taken several times: parts of rows so narrow that all rows' parts stay in the cache, one
  /// part of all of them after the other. Vectors of a part, which divides a row; and of one part of all
  /// rows.
  device::Division64 slice;
  device::Division64 all_slices;
  bool sliced = false;
  Vectors way;

  static constexpr std::uint64_t blocks_for(std::uint64_t vectors_in_order) {
    return (vectors_in_order + kOfBlock - 1) / kOfBlock;
  }
  constexpr std::uint64_t vectors_in_order() const { return shape.rows_in_order() * vectors.divisor(); }
  constexpr std::uint64_t blocks() const { return blocks_for(vectors_in_order()) * shape.number; }
  constexpr void set_vectors(std::uint64_t of_row) { vectors = device::Division64(of_row); }
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
    const std::uint64_t array = shape.array_of(of_array);
    const std::byte* const in = shape.arrays.in[array];
    std::byte* const out = shape.arrays.out[array];
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
    typename Vectors::Loaded vector[kEach] = {};
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
        vector[k] = kDirection == RowDirection::take ? way.load(in, at_random[k], in_order[k])
                                                     : way.load(in, in_order[k], at_random[k]);
      } else if (row == kWrongRow) {
        note_fault(block, &shape.faults->out_of_range, shape.position_of(place_of(work).row).entry);
      } else if (kDirection == RowDirection::take && shape.fill != RowFill::kept) {
        moves[k] =
            way.fill(vector[k], out, in_order[k], shape.fill_at(part[k] * std::uint64_t{Vectors::kOutBytes}));
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (moves[k]) way.store(out, kDirection == RowDirection::take ? in_order[k] : at_random[k], vector[k]);
    }
  }
};

}  // namespace faro::kernels
