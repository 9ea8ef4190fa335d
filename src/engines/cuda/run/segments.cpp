// Ragged rows taken on a stream (engines/cuda_rows.hpp).
#include <string>
#include <utility>

#include "engines/cuda/rows/row_stream.hpp"
#include "engines/cuda/rows/segment_queue.hpp"
#include "engines/cuda/run/row_checks.hpp"
#include "engines/cuda/runtime/calls.hpp"
#include "permutation/index_rows.hpp"

namespace faro::cuda {

struct SegmentsExecutor::State {
  int device;
  Segments segments;
  RowNumbers from;
  DeviceFaults faults;

  TakenSegments taken(std::uint64_t in_elements) const {
    kernels::RowEntries offsets = entries_of(Add{.to = segments.offsets, .rows = Indexed::kMaxCount});
    offsets.has_marker = 0;
    return {.from = entries_of(Add{.to = from, .rows = segments.offsets.count - 1}),
            .offsets = offsets,
            .in_elements = in_elements};
  }

  void require_told(const std::int64_t* offsets) const {
    require_accessible(offsets, "offsets", device);
    require_aligned(address(offsets), sizeof(*offsets), {.operation = "take segments", .what = "offsets"});
  }
};

SegmentsExecutor::SegmentsExecutor(const Segments& segments, const RowNumbers& from, int device) {
  constexpr const char* operation = "take segments";
  const std::uint64_t offsets = segments.offsets.count;
  if (offsets == 0 || segments.element_bytes == 0) {
    fail(ErrorCode::value, operation, "no offsets, or elements of 0 bytes",
         "one more than there are segments, and elements of at least a byte");
  }
  for (const auto& [numbers, rows] :
       {std::pair(segments.offsets, Indexed::kMaxCount), std::pair(from, offsets - 1)})
    faro::detail::require_row_move(Add{.to = numbers, .rows = rows});
  const int ordinal = ordinal_of(device);
  const DeviceGuard guard(ordinal);
  require_device_entries(segments.offsets, operation, "offsets", ordinal);
  require_device_entries(from, operation, "segments", ordinal);
  state_ = std::make_unique<State>(State{
      .device = ordinal, .segments = segments, .from = from, .faults = DeviceFaults(ordinal, operation)});
}

SegmentsExecutor::~SegmentsExecutor() = default;

std::uint64_t SegmentsExecutor::workspace_bytes() const {
  return segments_workspace_bytes(state_->from.count);
}

void SegmentsExecutor::offsets(std::uint64_t in_elements, std::int64_t* to, Stream stream) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  state.require_told(to);
  const RowWorkspace lent(nullptr, workspace_bytes(), state.device, stream);
  RowStream queue(stream, "take segments");
  find_segments(queue, {.taken = state.taken(in_elements), .faults = state.faults.data(), .offsets = to},
                lent.data());
}

void SegmentsExecutor::run(std::span<const std::byte> in, std::span<std::byte> out, std::int64_t* offsets,
                           Stream stream, void* workspace) const {
  const State& state = *state_;
  const DeviceGuard guard(state.device);
  if (!in.empty()) require_accessible(in.data(), "input", state.device);
  if (!out.empty()) require_accessible(out.data(), "output", state.device);
  if (offsets != nullptr) state.require_told(offsets);
  const RowWorkspace lent(workspace, workspace_bytes(), state.device, stream);
  RowStream queue(stream, "take segments");
  const std::uint64_t width = state.segments.element_bytes;
  take_segments(queue,
                {.taken = state.taken(in.size() / width),
                 .faults = state.faults.data(),
                 .element_bytes = width,
                 .out_elements = out.size() / width,
                 .offsets = offsets,
                 .in = in.data(),
                 .out = out.data()},
                lent.data());
}

void SegmentsExecutor::check(Stream stream) const {
  const DeviceGuard guard(state_->device);
  const kernels::RowFaults found = state_->faults.take(stream);
  if (found.out_of_range != kernels::kNoFault) {
    fail(ErrorCode::value, "take segments",
         "a segment that there is none of, or whose offsets go down or past the input, at position " +
             std::to_string(found.out_of_range),
         "segments from 0 to " + std::to_string(state_->segments.offsets.count - 1) +
             " with offsets that never go down",
         "it was taken as empty");
  }
  if (found.twice == kernels::kNoFault) return;
  fail(ErrorCode::value, "take segments", "segments of " + std::to_string(found.twice) + " elements",
       "an output that they fit in", "those that did not were left out");
}

}  // namespace faro::cuda
