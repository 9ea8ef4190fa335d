// What a run of an index plan is lent, counted before anything is made. On a GPU it is one array, or nothing;
// on a CPU
//
//     | thread 0 | thread 1 | … | arrays between passes |        from the beginning of a page on
//
// whose programs (engines/cpu/index_*.cpp) lay out their parts by these functions, so that what a plan says
// is what an executor asks for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "faro/permutation/indexed.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "layout/axes_box.hpp"

namespace faro {
struct IndexCandidate;
}

namespace faro::detail {

struct IndexWork;

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kLineBytes = 64;

/// Lines that bypass the caches are put together in so much; a thread has one such stage.
inline constexpr std::uint64_t kStageBytes = 4096;

/// Buffers of a thread past this are no use: the schedule is then run element by element instead.
inline constexpr std::uint64_t kMostThreadBytes = std::uint64_t{4} << 20;

constexpr std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}
/// Aligned so that threads share neither lines nor pages.
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

/// Two boxes: as it was read, and as it is written.
inline std::uint64_t axes_thread_bytes(const layout::AxesBox& box) {
  return 2 * whole_pages(box.elements() * box.element_bytes);
}

/// Like arrays of like elements.
struct CpuArrays {
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
};

/// A thread's part: the chunk, with a line to be read past its end; the stage; the slots. Behind the threads
/// an array for each of those that share a pass, where passes go back and forth.
struct PartitionWorkspace {
  std::uint64_t stage_offset = 0;
  std::uint64_t slots_offset = 0;
  std::uint64_t thread_bytes = 0;
  std::uint64_t group = 1;  // arrays of the batch that share a pass
  std::uint64_t array_bytes = 0;
};
enum class PassesRun { all, one };
PartitionWorkspace partition_workspace(const schedule::PartitionShape& shape, Direction applied,
                                       CpuArrays arrays, PassesRun passes = PassesRun::all);

/// Rows, columns, rows: a row, or as many columns as a line holds, and the stage.
struct RowColumnWorkspace {
  std::uint64_t strip = 1;  // columns at a time
  std::uint64_t stage_offset = 0;
  std::uint64_t thread_bytes = 0;
};
RowColumnWorkspace row_column_workspace(std::uint64_t rows, std::uint64_t columns,
                                        std::uint64_t element_bytes);

/// The greatest number of bytes that a lender of any alignment must have for this many from a page's
/// beginning on.
constexpr std::uint64_t from_any_address(std::uint64_t bytes) {
  return bytes == 0 ? 0 : bytes + kPageBytes - 1;
}

/// What the executor's workspace_bytes() will be, of the target's engine.
std::uint64_t index_workspace_bytes(const IndexWork& work, const IndexCandidate& candidate);

}  // namespace faro::detail
