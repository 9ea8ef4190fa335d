// Long runs that change places: every stretch of output is a run's, and is read where the run begins.
//
//     out     | run 3    | run 0 | run 2              | run 1 |        sorted by where they are written
//     begin   0          5       8                    17               so the next one's beginning ends it
//     from    18         0       9                    3
//
// A block moves 1024 vectors of output (moved_vector.hpp), 4 a thread. `first` names, for every stretch of
// 4096 elements of output, the run that its first element belongs to; so the runs of a block are known at
// once, and its threads bring them to shared memory together:
//
//     shared memory   head     how many runs, and the element that begins are counted from
//                     begin    of each, 32 bits; 0 where it is before that element
//                     ahead    of each: how far on in the input it is read, from - begin
//
// There a thread searches, a step a doubling of their number, while the loads of others are under way. Blocks
// of more runs than that holds, or of several arrays of a batch, search in global memory.
//
// Run forwards, a schedule's runs are sorted by target for this; backwards they are sorted already.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kRunsThreads = 256;
inline constexpr int kRunsVectors = 4;  // of a thread
inline constexpr int kRunsStretchBits = 12;
inline constexpr std::uint32_t kRunsTable = 1536;  // runs of a block in shared memory

// Shared memory, in bytes.
inline constexpr std::uint32_t kRunsBegins = 16;
inline constexpr std::uint32_t kRunsAheads = kRunsBegins + kRunsTable * 4;
inline constexpr std::uint32_t kRunsSharedBytes = kRunsAheads + kRunsTable * 8;

// Buffers after the input and the output.
inline constexpr int kRunBegins = 2;  // std::uint64_t, runs: in ascending order, from 0
inline constexpr int kRunFroms = 3;   // std::uint64_t, runs
inline constexpr int kRunFirsts = 4;  // std::uint64_t, stretches + 1; the last is runs - 1

struct RunsParams {
  ArrayBytes in;
  ArrayBytes out;
  device::Division64 array_bytes;  // of one array of the batch
  device::Division64 element_bytes;
  std::uint64_t runs;
  std::uint64_t first_vector;  // of this launch

  constexpr std::uint64_t vectors() const { return (out.end + (kMovedBytes - 1)) / kMovedBytes; }
  constexpr std::uint64_t elements() const { return element_bytes.quotient(array_bytes.divisor()); }
};

/// Stretches of an array of so many elements.
constexpr std::uint64_t run_stretches(std::uint64_t count) {
  return (count + ((std::uint64_t{1} << kRunsStretchBits) - 1)) >> kRunsStretchBits;
}

constexpr device::Packet<8> as_packet(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
}
constexpr std::uint64_t as_number(const device::Packet<8>& packet) {
  return std::uint64_t{packet.unit[1]} << 32 | packet.unit[0];
}

/// The elements of a block, of the array that the first is in.
struct RunsBlock {
  std::uint64_t first = 0;  // first and last vector of all launches
  std::uint64_t array = 0;  // bytes before the array
  std::uint64_t begin = 0;  // elements
  std::uint64_t last = 0;
  bool several = false;  // arrays
};

constexpr RunsBlock runs_block(const RunsParams& p, std::uint64_t block) {
  constexpr std::uint64_t bytes = std::uint64_t{kRunsThreads} * kRunsVectors * kMovedBytes;
  RunsBlock b;
  b.first = p.first_vector + block * kRunsThreads * kRunsVectors;
  const std::uint64_t y = b.first * kMovedBytes;
  std::uint64_t begin = y < p.out.begin ? 0 : y - p.out.begin;
  std::uint64_t last = (y + bytes < p.out.end ? y + bytes : p.out.end) - 1 - p.out.begin;
  const std::uint64_t array = p.array_bytes.divide(begin);
  b.several = p.array_bytes.divide(last) != array;
  b.array = array * p.array_bytes.divisor();
  b.begin = p.element_bytes.quotient(begin);
  b.last = b.several ? p.elements() - 1 : p.element_bytes.quotient(last);
  return b;
}

/// Phase 1: the block's runs. Requires: thread < kRunsThreads, the block's first vector is the array's. Any
/// tables are safe that name runs below `runs` and elements below the count (unchecked); a permutation's give
/// it.
template <device::Memory Memory, typename Table>
constexpr void list_runs(Memory& memory, const RunsParams& p, const Table& table, std::uint64_t block,
                         std::uint32_t thread) {
  const RunsBlock b = runs_block(p, block);
  const std::uint64_t low = table(kRunFirsts, b.begin >> kRunsStretchBits);
  const std::uint64_t high = table(kRunFirsts, (b.last >> kRunsStretchBits) + 1);
  const bool fits = !b.several && high - low < kRunsTable - 1;
  const auto runs = static_cast<std::uint32_t>(fits ? high - low + 1 : 0);
  if (thread == 0) {
    const device::Packet<8> from = as_packet(b.begin);
    memory.template store_shared<16>(0, device::Packet<16>{from.unit[0], from.unit[1], runs, 0});
  } else {
    device::idle(memory);
  }
  // One more, which ends the last.
  FARO_NO_UNROLL
  for (std::uint32_t i = thread; i < runs + 1 && runs > 0; i += kRunsThreads) {
    const bool beyond = low + i >= p.runs;
    const std::uint64_t begin = beyond ? p.elements() : table(kRunBegins, low + i);
    const std::uint64_t from = beyond ? 0 : table(kRunFroms, low + i);
    if constexpr (requires { table.idle(); }) {  // a table whose reads are counted
      if (beyond) table.idle(), table.idle();
    }
    constexpr std::uint64_t far = std::uint64_t{1} << 31;
    const std::uint64_t after = begin < b.begin ? 0 : begin - b.begin;
    memory.template store_shared<4>(kRunsBegins + 4 * i,
                                    device::Packet<4>{static_cast<std::uint32_t>(after < far ? after : far)});
    memory.template store_shared<8>(kRunsAheads + 8 * i, as_packet(from - begin));
  }
}

/// The run of an element, and where it ends, by search of the whole table.
template <typename Table>
constexpr MovedPiece find_run(const RunsParams& p, const Table& table, std::uint64_t y) {
  std::uint64_t within = y - p.out.begin;
  const std::uint64_t array = p.array_bytes.divide(within) * p.array_bytes.divisor();
  const std::uint64_t element = p.element_bytes.quotient(within);
  const std::uint64_t stretch = element >> kRunsStretchBits;
  std::uint64_t low = table(kRunFirsts, stretch);  // begins at or before the element
  std::uint64_t high = table(kRunFirsts, stretch + 1);
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (table(kRunBegins, middle) <= element) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const std::uint64_t begin = table(kRunBegins, low) * p.element_bytes.divisor();
  const std::uint64_t end =
      low + 1 < p.runs ? table(kRunBegins, low + 1) * p.element_bytes.divisor() : p.array_bytes.divisor();
  const std::uint64_t from = table(kRunFroms, low) * p.element_bytes.divisor();
  return {.at = p.in.begin + array + from + (within - begin), .bytes = end - within};
}

/// Phase 2. Requires: as phase 1; vectors past the last are left out.
template <int unit_bytes, device::Memory Memory, typename Table>
constexpr void move_runs(Memory& memory, const RunsParams& p, const Table& table, std::uint64_t block,
                         std::uint32_t thread) {
  const RunsBlock b = runs_block(p, block);
  const auto head = memory.template load_shared<16>(0);
  const std::uint32_t runs = head.unit[2];
  FARO_NO_UNROLL
  for (std::uint32_t i = 0; i < kRunsVectors; ++i) {
    const std::uint64_t vector = b.first + std::uint64_t{i} * kRunsThreads + thread;
    if (vector >= p.vectors()) return;
    if (runs == 0) {
      const auto piece_of = [&](std::uint64_t y) { return find_run(p, table, y); };
      move_output_vector<unit_bytes, false>(memory, p.in, p.out, vector * kMovedBytes, piece_of);
      continue;
    }
    const auto piece_of = [&](std::uint64_t y) -> MovedPiece {
      const std::uint64_t within = y - p.out.begin - b.array;
      const std::uint64_t element = p.element_bytes.quotient(within);
      const auto after = static_cast<std::uint32_t>(element - b.begin);
      std::uint32_t low = 0;
      std::uint32_t high = runs - 1;
      while (low < high) {
        const std::uint32_t middle = high - (high - low) / 2;
        if (memory.template load_shared<4>(kRunsBegins + 4 * middle).unit[0] <= after) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      const std::uint32_t end = memory.template load_shared<4>(kRunsBegins + 4 * low + 4).unit[0];
      const auto ahead_low = memory.template load_shared<4>(kRunsAheads + 8 * low);
      const auto ahead_high = memory.template load_shared<4>(kRunsAheads + 8 * low + 4);
      const std::uint64_t ahead = as_number({ahead_low.unit[0], ahead_high.unit[0]});
      const std::uint64_t at = within + ahead * p.element_bytes.divisor();  // may wrap, and wrap back
      return {.at = p.in.begin + b.array + at, .bytes = (b.begin + end) * p.element_bytes.divisor() - within};
    };
    move_output_vector<unit_bytes, false>(memory, p.in, p.out, vector * kMovedBytes, piece_of);
  }
}

}  // namespace faro::kernels
