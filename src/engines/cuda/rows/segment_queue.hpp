// Ragged rows as a queue of kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/rows/route_queue.hpp"
#include "engines/cuda/rows/segment_steps.hpp"

namespace faro::cuda {

struct SegmentWork {
  TakenSegments taken;
  kernels::RowFaults* faults = nullptr;
  std::uint64_t element_bytes = 1;
  std::uint64_t out_elements = 0;
  std::int64_t* offsets = nullptr;
  const void* in = nullptr;
  void* out = nullptr;
};

inline std::uint64_t segments_workspace_bytes(std::uint64_t taken) {
  return detail::scan_words(taken + 1) * sizeof(std::uint64_t);
}

namespace detail {

// Where each segment begins in the output, and behind the last one where that ends.
template <typename Queue>
void sum_up_segments(WorkspaceQueue<Queue>& queue, const TakenSegments& taken, kernels::RowFaults* faults,
                     std::uint64_t* begins) {
  SizeSegments size;
  size.taken = taken;
  size.faults = faults;
  size.sizes = begins;
  queue.run(size);
  Columns columns{.rows = taken.from.count + 1, .column_bits = 0, .region_bits = 0};
  while (columns.rows > std::uint64_t{1} << columns.region_bits) ++columns.region_bits;
  scan_sizes(queue, columns, begins);
}

}  // namespace detail

/// Writes the segments, the faults and the offsets of `work`. `workspace`: as take_segments.
template <typename Queue>
void find_segments(Queue& queue, const SegmentWork& work, std::byte* workspace) {
  WorkspaceQueue<Queue> lent(queue, workspace, segments_workspace_bytes(work.taken.from.count));
  detail::sum_up_segments(lent, work.taken, work.faults, reinterpret_cast<std::uint64_t*>(work.offsets));
}

/// `workspace`: of segments_workspace_bytes(), aligned to 16.
template <typename Queue>
void take_segments(Queue& queue, const SegmentWork& work, std::byte* workspace) {
  const std::uint64_t taken = work.taken.from.count;
  WorkspaceQueue<Queue> lent(queue, workspace, segments_workspace_bytes(taken));
  const auto sizes = lent.template buffer<std::uint64_t>(taken + 1);
  detail::sum_up_segments(lent, work.taken, work.faults, sizes.data());
  const auto by = [&]<int kBytes>() {
    CopySegments<kBytes> copy;
    copy.taken = work.taken;
    copy.faults = work.faults;
    copy.begins = sizes.data();
    copy.units = work.element_bytes / kBytes;
    copy.out_units = work.out_elements * copy.units;
    copy.offsets = work.offsets;
    copy.in = static_cast<const std::byte*>(work.in);
    copy.out = static_cast<std::byte*>(work.out);
    lent.run(copy);
  };
  const std::uint64_t all = work.element_bytes | reinterpret_cast<std::uintptr_t>(work.in) |
                            reinterpret_cast<std::uintptr_t>(work.out);
  constexpr std::uint64_t kWidest = 16;
  constexpr std::uint64_t kWord = 4;
  constexpr std::uint64_t kHalf = 2;
  if (all % kWidest == 0) return by.template operator()<16>();
  if (all % kWord == 0) return by.template operator()<4>();
  if (all % kHalf == 0) return by.template operator()<2>();
  by.template operator()<1>();
}

}  // namespace faro::cuda
