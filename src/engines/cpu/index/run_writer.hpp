// The runs of many chunks, written to their buckets in whole cache lines.
//
//     bucket b in memory     … | line       | line       | line       | …
//     runs of chunks k..     …k-1 kkkkkkkkkkkkkkkkkkkkkkkk(k+1)(k+1)(k+1) …
//
// A run begins and ends within a line. Written by itself it would read and write two lines for their parts;
// but run k + 1 begins where run k ended, so the last line of every bucket waits in a *slot* until the next
// chunk fills it, and memory sees whole lines past the caches. 2^11 slots are 128 KiB, beside a chunk in the
// second-level cache. A thread owns the runs of consecutive chunks: only the first and the last line of each
// bucket may have neighbours, and their bytes are written one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/cpu/cpu_workspace.hpp"

namespace faro::cpu {

/// The runs of one chunk, side by side in a buffer.
struct ChunkRuns {
  const std::byte* buffer = nullptr;       // 64 bytes past the last run may be read
  const std::uint16_t* starts = nullptr;   // elements, a bucket each
  const std::uint32_t* offsets = nullptr;  // elements, within the bucket
  std::uint64_t size = 0;                  // of the chunk, elements
};

enum class LineStores { cached, streamed };

class RunWriter {
 public:
  /// Bytes of memory for so many buckets.
  static std::uint64_t memory_bytes(std::uint64_t buckets) { return faro::detail::run_slots_bytes(buckets); }

  /// `memory`: aligned to 64, kept as long as this.
  RunWriter(std::byte* memory, std::uint32_t buckets, std::uint64_t element_bytes, LineStores stores)
      : slots_(memory),
        owned_(memory + buckets * kLine),
        buckets_(buckets),
        element_bytes_(element_bytes),
        stores_(stores) {}

  /// Begins with the runs of a chunk of the region at `region`, whose buckets are stride_bytes apart.
  void begin(std::byte* region, std::uint64_t stride_bytes, const ChunkRuns& first);
  /// Chunks in order, the first of them the one of begin().
  void write(const ChunkRuns& chunk);
  /// Writes what still waits after the last chunk.
  void finish(const ChunkRuns& last);

  // For the loop in every instruction set.
  static constexpr std::uint64_t kLine = faro::detail::kLineBytes;
  struct State {
    std::byte* slots;
    std::byte* owned;
    std::uintptr_t region;
    std::uint64_t stride_bytes;
    std::uint64_t element_bytes;
    std::uint32_t buckets;
  };

 private:
  State state() const { return {slots_, owned_, region_, stride_bytes_, element_bytes_, buckets_}; }

  std::byte* slots_;
  std::byte* owned_;  // for each bucket, the first byte of its waiting line that is ours
  std::uint32_t buckets_;
  std::uint64_t element_bytes_;
  LineStores stores_;
  std::uintptr_t region_ = 0;
  std::uint64_t stride_bytes_ = 0;
};

}  // namespace faro::cpu
