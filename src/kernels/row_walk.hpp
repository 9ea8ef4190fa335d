// Rows of narrow vectors, taken and put on a GPU: neighbouring threads share a row, so that which row a
// thread is in costs no division for each of its vectors (row_vectors.hpp has those of 16 bytes and more).
//
//     rows of 5 vectors, 4 lanes, 2 a lane      lane 0 1 2 3 0    one part a row: a thread looks one entry up
//     rows of 3 vectors, 4 lanes, across        lane 0 1 2 -      a thread's vectors are of several rows
//
// A row's part is as many lanes times as many vectors of each; a long row has several. Short rows take the
// least power of two of lanes that holds them, and a thread has a vector of several rows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "faro/device/division.hpp"
#include "kernels/row_entries.hpp"
#include "kernels/row_vectors.hpp"

namespace faro::kernels {

inline constexpr std::uint32_t kWalkedTogether = 8;  // vectors of a lane that are on their way
inline constexpr std::uint32_t kWalkedRows = 4;      // of a thread, where a row is a vector a lane

/// How threads share rows of so many vectors.
struct RowWalk {
  std::uint32_t lane_bits = 0;
  std::uint32_t each = 0;  // vectors of a lane in one part; 0: one, of several rows
  std::uint64_t parts = 1;

  constexpr std::uint64_t blocks(std::uint64_t rows) const {
    const std::uint64_t of_block = std::uint64_t{kRowThreads >> lane_bits} * (each == 0 ? kWalkedRows : 1);
    return (rows * parts + of_block - 1) / of_block;
  }
};

constexpr std::uint32_t walk_bits(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::bit_width(number));  // on the host
}

/// As measured on an H200 with vectors of 4 and 8 bytes (docs/notes/row-experiments.md): a thread pays its
/// entry back by some vectors, and what is written at random wants longer pieces than what is read so.
constexpr RowWalk row_walk(RowDirection direction, std::uint64_t vectors, std::uint64_t rows) {
  const bool takes = direction == RowDirection::take;
  if (vectors <= (takes ? 8 : 16)) return {.lane_bits = walk_bits(vectors - 1)};
  constexpr std::uint64_t kFewVectors = std::uint64_t{1} << 22;  // which one lane each keeps a GPU busy with
  const std::uint64_t most = rows < kFewVectors / vectors ? kWalkedTogether : 4 * kWalkedTogether;
  const std::uint32_t wanted = walk_bits(vectors / (takes ? 6 : 3)) - 1;
  const std::uint32_t least = takes && vectors <= 32 ? 2 : 3;
  const std::uint32_t lane_bits = wanted < least ? least : wanted > 5 ? 5 : wanted;
  const std::uint64_t parts = (vectors - 1) / (most << lane_bits) + 1;
  return {.lane_bits = lane_bits,
          .each = static_cast<std::uint32_t>((vectors - 1) / (parts << lane_bits) + 1),
          .parts = parts};
}

template <RowDirection kDirection, typename Vectors, int kArrays = 1>
struct WalkRows {
  static constexpr std::uint32_t kThreads = kRowThreads;
  static constexpr int kMinBlocks = 6;

  RowMoveShape<kArrays> shape;
  std::uint64_t vectors = 1;  // of a row
  RowWalk walk;
  device::Division64 parts;  // of a row
  Vectors way;

  constexpr std::uint64_t blocks() const { return walk.blocks(shape.rows_in_order()) * shape.number; }
  /// A row's vectors, after the shape is given.
  constexpr void set_vectors(std::uint64_t of_row) {
    vectors = of_row;
    walk = row_walk(kDirection, of_row, shape.rows_in_order());
    parts = device::Division64(walk.parts);
  }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    std::uint64_t of_array = block.index();
    const std::uint64_t array = shape.array_of(of_array);
    const Moved moved{shape.arrays.in[array], shape.arrays.out[array],
                      block.thread() & ((std::uint32_t{1} << walk.lane_bits) - 1)};
    const std::uint64_t group = block.thread() >> walk.lane_bits;
    const std::uint64_t groups = kThreads >> walk.lane_bits;
    if (walk.each == 0) return across(block, moved, of_array * groups * kWalkedRows + group, groups);
    along(block, moved, of_array * groups + group);
  }

 private:
  static constexpr bool kTakes = kDirection == RowDirection::take;
  struct Moved {
    const std::byte* in;
    std::byte* out;
    std::uint32_t lane;
  };

  // The lane's vector of several rows, so many apart.
  template <typename Block>
  constexpr void across(Block& block, const Moved& moved, std::uint64_t first, std::uint64_t step) const {
    if (moved.lane >= vectors) return;
    const std::uint64_t rows = shape.rows_in_order();
    std::uint64_t row[kWalkedRows] = {};
    shape.entries.load_rows_at(
        [&](std::uint32_t k) {
          const std::uint64_t at = first + k * step;
          return at < rows ? shape.position_of(at).entry : kAbsentRow;
        },
        row);
    typename Vectors::Loaded vector[kWalkedRows] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWalkedRows; ++k) {
      if (!is_row(row[k])) continue;
      const std::uint64_t in_order = (first + k * step) * vectors + moved.lane;
      row[k] = (row[k] + shape.position_of(first + k * step).before) * vectors + moved.lane;
      vector[k] = kTakes ? way.load(moved.in, row[k], in_order) : way.load(moved.in, in_order, row[k]);
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kWalkedRows; ++k) {
      const std::uint64_t at = first + k * step;
      if (at >= rows) return;
      const std::uint64_t in_order = at * vectors + moved.lane;
      if (is_row(row[k])) {
        way.store(moved.out, kTakes ? in_order : row[k], vector[k]);
      } else {
        pass_over(block, row[k], moved, at, moved.lane);
      }
    }
  }

  // The lane's vectors of one part of a row.
  template <typename Block>
  constexpr void along(Block& block, const Moved& moved, std::uint64_t part) const {
    const std::uint64_t in_order = parts.divide(part);
    if (in_order >= shape.rows_in_order()) return;
    const auto [entry, before] = shape.position_of(in_order);
    const std::uint64_t row = shape.entries.row(entry);
    const std::uint32_t lane_bits = walk.lane_bits;
    const std::uint64_t whole = std::uint64_t{walk.each} << lane_bits;
    const std::uint64_t begin = part * whole;
    const std::uint64_t rest = vectors - begin;
    const auto end = static_cast<std::uint32_t>(rest < whole ? rest : whole);
    if (!is_row(row)) {
      for (std::uint32_t i = moved.lane; i < end; i += 1U << lane_bits)
        pass_over(block, row, moved, in_order, begin + i);
      return;
    }
    const std::uint64_t at_random = (row + before) * vectors + begin;
    const std::uint64_t from = kTakes ? at_random : in_order * vectors + begin;
    const std::uint64_t to = kTakes ? in_order * vectors + begin : at_random;
    FARO_NO_UNROLL
    for (std::uint32_t first = moved.lane; first < end; first += kWalkedTogether << lane_bits) {
      typename Vectors::Loaded vector[kWalkedTogether] = {};
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kWalkedTogether; ++k) {
        const std::uint32_t i = first + (k << lane_bits);
        if (i < end) vector[k] = way.load(moved.in, from, to, i);
      }
      FARO_UNROLL
      for (std::uint32_t k = 0; k < kWalkedTogether; ++k) {
        const std::uint32_t i = first + (k << lane_bits);
        if (i < end) way.store(moved.out, to, vector[k], i);
      }
    }
  }

  // A vector of an entry that names no row.
  template <typename Block>
  constexpr void pass_over(Block& block, std::uint64_t row, const Moved& moved, std::uint64_t in_order,
                           std::uint64_t part) const {
    if (row == kWrongRow)
      return note_fault(block, &shape.faults->out_of_range, shape.position_of(in_order).entry);
    if (!kTakes || shape.fill == RowFill::kept) return;
    typename Vectors::Loaded vector = {};
    const std::uint64_t to = in_order * vectors + part;
    if (way.fill(vector, moved.out, to, shape.fill_at(part * std::uint64_t{Vectors::kOutBytes})))
      way.store(moved.out, to, vector);
  }
};

/// Narrower ones are walked.
inline constexpr int kLeastUnwalkedBytes = 16;

/// By vectors of whatever width.
template <RowDirection kDirection, typename Vectors, int kArrays = 1>
using VectorRows =
    std::conditional_t<(Vectors::kBytes < kLeastUnwalkedBytes), WalkRows<kDirection, Vectors, kArrays>,
                       MoveRows<kDirection, Vectors, kArrays>>;
template <RowDirection kDirection, int kBytes, int kArrays = 1>
using MoveRowVectors = VectorRows<kDirection, CopiedVectors<kBytes>, kArrays>;

/// Blocks of a launch that moves rows of so many vectors of so many bytes.
constexpr std::uint64_t vector_row_blocks(RowDirection direction, int bytes, std::uint64_t rows,
                                          std::uint64_t vectors) {
  if (bytes < kLeastUnwalkedBytes) return row_walk(direction, vectors, rows).blocks(rows);
  return bytes == kLeastUnwalkedBytes
             ? MoveRows<RowDirection::take, CopiedVectors<16>>::blocks_for(rows * vectors)
             : MoveRows<RowDirection::take, CopiedVectors<32>>::blocks_for(rows * vectors);
}

}  // namespace faro::kernels
