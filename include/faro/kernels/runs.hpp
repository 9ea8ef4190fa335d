// Long runs that change places: every stretch of output is a run's, and is read where the run begins.
//
//     out     | run 3    | run 0 | run 2              | run 1 |        sorted by where they are written
//     begin   0          5       8                    17               so the next one's beginning ends it
//     from    18         0       9                    3
//
// A block moves 256 vectors of output (moved_vector.hpp). `first` names, for every stretch of 4096 elements
// of output, the run that its first element belongs to; so a thread searches only the runs of its stretch, a
// step a doubling of their number. A vector that several runs share is put together unit by unit.
//
// Run forwards, a schedule's runs are sorted by target for this; backwards they are sorted already.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/kernels/moved_vector.hpp"

namespace faro::kernels {

inline constexpr int kRunsThreads = 256;
inline constexpr int kRunsStretchBits = 12;

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
};

constexpr std::uint64_t as_number(const device::Packet<8>& packet) {
  return std::uint64_t{packet.unit[1]} << 32 | packet.unit[0];
}

/// Stretches of an array of so many elements.
constexpr std::uint64_t run_stretches(std::uint64_t count) {
  return (count + ((std::uint64_t{1} << kRunsStretchBits) - 1)) >> kRunsStretchBits;
}

/// The whole kernel. Requires: thread < kRunsThreads; vectors past the last are left out. Any tables are safe
/// that name runs below `runs` and elements below the count (unchecked); a permutation's give it.
template <int unit_bytes, device::Memory Memory, typename Table>
constexpr void move_runs(Memory& memory, const RunsParams& p, const Table& table, std::uint64_t block,
                         std::uint32_t thread) {
  const std::uint64_t vector = p.first_vector + block * kRunsThreads + thread;
  if (vector >= p.vectors()) return;
  const auto piece_of = [&](std::uint64_t y) -> MovedPiece {
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
  };
  move_output_vector<unit_bytes, false>(memory, p.in, p.out, vector * kMovedBytes, piece_of);
}

}  // namespace faro::kernels
