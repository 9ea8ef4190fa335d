// What a run on a CPU is lent: a part for each thread, and behind them the arrays between passes.
//
//     | part of thread 0 | part of thread 1 | … | arrays between passes |
//
// Parts of most passes begin at pages, so that threads share neither lines nor pages; those of a
// transposition in place are rows, one after another from any address on. Solvers lay out the parts, and the
// engine's loops find their buffers by the same functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "faro/schedule/index_schedule.hpp"
#include "layout/cache_box.hpp"
#include "permutation/computed_map.hpp"

namespace faro::detail {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kLineBytes = 64;

/// Lines that bypass the caches are put together in so much; a thread has one such stage.
inline constexpr std::uint64_t kStageBytes = 4096;

/// Buffers of a thread past this are no use: the schedule is then run element by element instead.
inline constexpr std::uint64_t kMostThreadBytes = std::uint64_t{4} << 20;

constexpr std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}
constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// A stage that holds an element at least.
constexpr std::uint64_t stage_bytes(std::uint64_t element_bytes) {
  return std::max(kStageBytes, element_bytes);
}

/// Slots for the lines that wait, one a bucket, and a byte each for where they begin.
constexpr std::uint64_t run_slots_bytes(std::uint64_t buckets) { return buckets * (kLineBytes + 1); }

/// Whether a thread can hold so many elements at once.
constexpr bool fits_caches(std::uint64_t elements, std::uint64_t element_bytes) {
  return elements <= kMostThreadBytes / element_bytes;
}

/// From a row of a box's stage to the next: an odd number of lines, which fall in different sets of a cache;
/// rows of less than a line follow one another.
constexpr std::uint64_t stage_pitch(std::uint64_t row_bytes) {
  return row_bytes < kLineBytes ? row_bytes
                                : whole_lines(row_bytes) / kLineBytes / 2 * 2 * kLineBytes + kLineBytes;
}

/// Columns that a box's rows are transposed to at a time: a line of each row, but no more than a stage in the
/// first-level cache may have.
inline constexpr std::uint64_t kMostGroupColumns = 32;
constexpr std::uint64_t group_columns(std::uint64_t element_bytes) {
  return std::min(kMostGroupColumns, kLineBytes / element_bytes);
}
/// Two stages of such columns: one is filled while the other is written. A run lies in it as far past a line
/// as in the output.
constexpr std::uint64_t group_stage_bytes(std::uint64_t run_bytes, std::uint64_t element_bytes) {
  return whole_lines(group_columns(element_bytes) * stage_pitch(run_bytes + kLineBytes)) + kLineBytes;
}

/// Rows that are interleaved in registers, or taken apart; and what is put together of them where the output
/// meets no lines.
inline constexpr std::uint64_t kMostChannels = 8;
inline constexpr std::uint64_t kChannelStageBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t channel_stage_bytes() { return kChannelStageBytes + 2 * kMostChannels * kLineBytes; }

/// Where a run is cut at lines of the output instead of where an axis ends: it is up to two lines longer.
constexpr std::uint64_t cut_run_bytes(std::uint64_t run_bytes) { return run_bytes + 2 * kLineBytes; }
/// While a box is taken run by run, a later one is fetched: of small boxes one further away than the next,
/// which would come too late (docs/notes/cpu-experiments.md).
inline constexpr std::uint64_t kMostBoxesAhead = 16;
constexpr std::uint64_t boxes_ahead(std::uint64_t box_bytes) {
  constexpr std::uint64_t kBytesAhead = std::uint64_t{16} << 10;
  return std::clamp<std::uint64_t>(kBytesAhead / box_bytes, 1, kMostBoxesAhead);
}

/// The places in the input of a run's elements, of each box up to the one that is fetched. None for runs of
/// many, whose ends cost little.
constexpr std::uint64_t cut_run_places(std::uint64_t run_bytes, std::uint64_t element_bytes) {
  constexpr std::uint64_t kMost = 2048;
  const std::uint64_t places = cut_run_bytes(run_bytes) / element_bytes + 2;
  return places > kMost ? 0 : places;
}
constexpr std::uint64_t places_bytes(std::uint64_t places, std::uint64_t ahead) {
  return (ahead + 1) * places * sizeof(std::int64_t);
}

struct CpuWorkspace {
  std::uint64_t part_bytes = 0;     // of a thread
  std::uint64_t parts = 0;          // threads that have one
  std::uint64_t between_bytes = 0;  // of the arrays between passes
  bool from_page = true;            // the first part begins at a page

  std::uint64_t threads_bytes() const { return part_bytes * parts; }
  std::uint64_t bytes() const { return threads_bytes() + between_bytes; }
  /// What a lender of any alignment must have.
  std::uint64_t lent_bytes() const { return bytes() == 0 || !from_page ? bytes() : bytes() + kPageBytes - 1; }
};

/// A thread's part in a partition's passes: the chunk, with a line to be read past its end; the stage; the
/// slots.
struct ChunkPart {
  std::uint64_t stage_offset = 0;
  std::uint64_t slots_offset = 0;
  std::uint64_t bytes = 0;
};
ChunkPart chunk_part(const schedule::PartitionShape& shape, std::uint64_t element_bytes);

/// In rows, columns, rows: a row, or as many columns as a line holds, and the stage.
struct MatrixPart {
  std::uint64_t strip = 1;  // columns at a time
  std::uint64_t stage_offset = 0;
  std::uint64_t bytes = 0;
};
MatrixPart matrix_part(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes);

/// A thread's part of a computed map's tiles: the buffer, the runs and the leaves.
class ComputedPart {
 public:
  ComputedPart(const ComputedTiles& tiles, std::uint64_t element_bytes, std::byte* memory = nullptr)
      : memory_(memory),
        places_(whole_lines(tiles.sizes().buffer * element_bytes)),
        runs_(tiles.sizes().runs),
        leaves_(tiles.leaves()) {}

  std::uint64_t bytes() const {
    return whole_pages(places_ + runs_ * sizeof(ComputedRun) + leaves_ * sizeof(ComputedLeaf));
  }
  std::byte* places() const { return memory_; }
  std::span<ComputedRun> runs() const { return {reinterpret_cast<ComputedRun*>(memory_ + places_), runs_}; }
  std::span<ComputedLeaf> leaves() const {
    return {reinterpret_cast<ComputedLeaf*>(memory_ + places_ + runs_ * sizeof(ComputedRun)), leaves_};
  }

 private:
  std::byte* memory_;
  std::uint64_t places_;  // bytes
  std::uint64_t runs_;
  std::uint64_t leaves_;
};

}  // namespace faro::detail
