// Rows of one vector in many arrays, taken and put on a GPU by the same entries: an index array along an
// array's last axis.
//
//     entries  2 0 1       array 0   a b c   -->   c a b
//                          array 1   d e f   -->   f d e        a thread looks 2 up once for several arrays
//
// The arrays of a block are so few that what its warps read of them, a vector here and there, stays in the
// first-level cache until others of its sectors are asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/row_vectors.hpp"

namespace faro::kernels {

inline constexpr int kElementArrays = 4;

/// A row is one of `Vectors` (row_vectors.hpp); kTogether arrays are moved at once, kElementArrays, or 1
/// where those would not stay in the cache.
template <RowDirection kDirection, typename Vectors, int kTogether>
struct MoveElements {
  static constexpr std::uint32_t kThreads = 256;
  static constexpr int kMinBlocks = Vectors::kBytes < 16 ? 4 : 3;
  static constexpr std::uint32_t kEach = kTogether == 1 ? 8 : 4;  // entries of a thread
  static constexpr std::uint64_t kOfBlock = std::uint64_t{kThreads} * kEach;

  RowMoveShape<1> shape;
  std::uint64_t chunks = 1;  // of kOfBlock entries, one after the other, that a block goes through
  device::Division64 parts;  // blocks along the entries
  Vectors way;

  static constexpr std::uint64_t parts_of(std::uint64_t entries, std::uint64_t chunks) {
    const std::uint64_t of_part = kOfBlock * chunks;
    return (entries + of_part - 1) / of_part;
  }
  static constexpr std::uint64_t blocks_for(std::uint64_t entries, std::uint64_t chunks,
                                            std::uint64_t outer) {
    return parts_of(entries, chunks) * ((outer + kTogether - 1) / kTogether);
  }
  constexpr std::uint64_t blocks() const { return blocks_for(shape.entries.count, chunks, shape.outer); }
  constexpr std::uint32_t shared_bytes() const { return 0; }

  template <typename Block>
  constexpr void operator()(Block& block) const {
    if (shape.stopped()) return;
    std::uint64_t part = block.index();
    const std::uint64_t first_array = parts.divide(part) * kTogether;
    FARO_NO_UNROLL
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      const std::uint64_t first = (part * chunks + chunk) * kOfBlock + block.thread();
      if (first >= shape.entries.count) return;
      move(block, first_array, first);
    }
  }

 private:
  template <typename Block>
  constexpr void move(Block& block, std::uint64_t first_array, std::uint64_t first) const {
    constexpr bool kTakes = kDirection == RowDirection::take;
    const std::uint64_t count = shape.entries.count;
    const std::byte* const in = shape.arrays.in[0];
    std::byte* const out = shape.arrays.out[0];
    std::uint64_t row[kEach] = {};
    shape.entries.load_rows(first, kThreads, count, row);
    typename Vectors::Loaded vector[kEach][kTogether] = {};
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t i = first + std::uint64_t{k} * kThreads;
      if (row[k] == kWrongRow && first_array == 0) note_fault(block, &shape.faults->out_of_range, i);
      if (!is_row(row[k])) continue;
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kTogether; ++a) {
        const std::uint64_t array = first_array + a;
        const std::uint64_t at_random = array * shape.entries.rows + row[k];
        if (array < shape.outer)
          vector[k][a] = kTakes ? way.load(in, at_random, array * count + i)
                                : way.load(in, array * count + i, at_random);
      }
    }
    FARO_UNROLL
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const std::uint64_t i = first + std::uint64_t{k} * kThreads;
      const bool filled = kTakes && row[k] == kAbsentRow && shape.fill != RowFill::kept;
      if (i >= count || (!is_row(row[k]) && !filled)) continue;
      FARO_UNROLL
      for (std::uint32_t a = 0; a < kTogether; ++a) {
        const std::uint64_t array = first_array + a;
        if (array >= shape.outer) continue;
        const std::uint64_t to = kTakes ? array * count + i : array * shape.entries.rows + row[k];
        if (!filled || way.fill(vector[k][a], out, to, shape.fill_at(0))) way.store(out, to, vector[k][a]);
      }
    }
  }
};

template <RowDirection kDirection, int kBytes, int kTogether>
using MoveRowElements = MoveElements<kDirection, CopiedVectors<kBytes>, kTogether>;

}  // namespace faro::kernels
