// Affine passes out of place, ready to run: plain copies, whole segments, tiles, and single elements of small
// arrays. Tiles have files of their own (program.hpp, kernel.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu/tile/program.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cpu {

/// How a copy is put on a CPU.
struct CopyTeam {
  int threads = 1;
  bool streamed = false;
};
void copy_shared(const std::byte* in, std::byte* out, std::uint64_t bytes, CopyTeam team);

/// Whole segments change places.
struct SegmentProgram {
  SegmentProgram(const Pass& pass, std::uint64_t unit_bytes);

  std::uint64_t array_bytes;
  std::uint64_t segment_bytes;
  std::uint64_t segments;  // over all arrays
  int block_bits;
  BlockWalk sources;  // bytes
  BlockWalk targets;  // bytes

  /// Moves segments [begin, end).
  void run(std::uint64_t begin, std::uint64_t end, bool streamed, const std::byte* in, std::byte* out) const;
};

/// Unit by unit in source order: pi(x + 1) is pi(x) with one word XORed in.
struct DirectProgram {
  DirectProgram(const Pass& pass, std::uint64_t unit_bytes);

  std::uint64_t unit_bytes;
  std::uint64_t arrays;
  std::uint64_t units;  // of one array
  BlockWalk targets;    // units

  void run(const std::byte* in, std::byte* out) const { run_arrays(arrays, in, out); }
  /// The first `count` arrays only.
  void run_arrays(std::uint64_t count, const std::byte* in, std::byte* out) const;
};

}  // namespace faro::cpu
