// Schedules made on a device (device_schedule.hpp), and what is said where that cannot be done.
#include "engines/cuda/index/index_schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engines/cuda/index/index_cuda_device.hpp"
#include "engines/cuda/index/index_schedule_work.hpp"
#include "faro/error.hpp"

namespace faro::cuda {
namespace {

constexpr const char* kMakingSchedule = "make a schedule on the device";
constexpr std::uint64_t kMaxWindow = 32767;  // twice that is the largest shift of 16 bits but one

// A sweep has found that the entries are no permutation: says where. If they are one now, someone writes to
// them.
[[noreturn]] void fail_entries(CudaDevice& device, const EntryView& entries) {
  validate_entries(device, entries);
  fail(ErrorCode::value, kMakingSchedule, "an index array that changed while it was read",
       "one that no work is pending on", "synchronise before planning");
}

std::uint64_t first_far(CudaDevice& device, const EntryView& entries, std::uint64_t window) {
  const DeviceWord<CudaDevice, std::uint64_t> found(device, kNowhere);
  FindFar find;
  find.entries = entries;
  find.window = window;
  find.found = found.data();
  device.run(find);
  return found.get();
}

DeviceWindow make_window(CudaDevice& device, const EntryView& entries, std::uint64_t window) {
  if (window > kMaxWindow) {
    fail(ErrorCode::value, kMakingSchedule, "a window of " + std::to_string(window),
         "at most " + std::to_string(kMaxWindow));
  }
  device.require_memory(entries.count * sizeof(std::uint16_t), "the schedule");
  auto shift = window_on(device, entries, window);
  if (!shift) {
    validate_entries(device, entries);
    const std::uint64_t far = first_far(device, entries, window);
    if (far == kNowhere) fail_entries(device, entries);
    fail(ErrorCode::value, kMakingSchedule,
         "entry " + std::to_string(far) + " = " + std::to_string(detail::entry_at(device, entries, far)),
         "nothing farther than " + std::to_string(window) + " from its own place");
  }
  return {.count = entries.count, .window = static_cast<std::uint32_t>(window), .shift = std::move(*shift)};
}

DeviceRuns make_runs(CudaDevice& device, const EntryView& entries) {
  validate_entries(device, entries);
  RunsArrays<CudaDevice> made = runs_on(device, entries);
  return {.count = entries.count, .source = std::move(made.source), .target = std::move(made.target)};
}

}  // namespace

DevicePartition make_device_partition(const Indexed& indexed, const schedule::PartitionShape& shape,
                                      SchedulingTimes* times) {
  const EntryView entries = entries_on_device(indexed, kMakingSchedule);
  schedule::check_shape(shape);
  if (entries.count != shape.count) {
    fail(ErrorCode::value, kMakingSchedule, "an index array of " + std::to_string(entries.count) + " entries",
         std::to_string(shape.count) + ", the shape's count");
  }
  CudaDevice device(*indexed.device(), kMakingSchedule);
  device.require_memory(partition_bytes_on_device(shape),
                        "a schedule of " + std::to_string(shape.bytes()) + " bytes and what making it takes");
  PartitionWork<CudaDevice> work(device, shape, entries);
  if (times != nullptr) device.keep_times();
  auto made = work.make();
  if (!made) fail_entries(device, entries);
  if (times != nullptr) {
    *times = {};
    for (const CudaDevice::Step& step : device.steps()) {
      times->steps.push_back(step.milliseconds);
      times->milliseconds += step.milliseconds;
    }
  }
  DevicePartition partition{.shape = shape, .levels = {}, .last = std::move(made->last)};
  for (auto& level : made->levels) {
    partition.levels.push_back({.places = std::move(level.places),
                                .starts = std::move(level.starts),
                                .offsets = std::move(level.offsets)});
  }
  return partition;
}

DeviceIndexSchedule make_device_schedule(const IndexCandidate& candidate, const Indexed& indexed,
                                         std::optional<std::uint64_t> window) {
  const EntryView entries = entries_on_device(indexed, kMakingSchedule);
  DeviceIndexSchedule made;
  made.count = indexed.count();
  made.applied = indexed.direction();
  if (candidate.method == IndexMethod::partition) {
    FARO_CHECK(candidate.shape.has_value());
    made.what = make_device_partition(indexed, *candidate.shape);
    return made;
  }
  CudaDevice device(*indexed.device(), kMakingSchedule);
  switch (candidate.method) {
    case IndexMethod::direct:
      if (!indexed.is_checked()) validate_entries(device, entries);
      made.what = DeviceDirect{indexed};
      return made;
    case IndexMethod::window:
      FARO_CHECK(window.has_value());
      made.what = make_window(device, entries, *window);
      return made;
    case IndexMethod::runs:
      made.what = make_runs(device, entries);
      return made;
    default:
      fail(ErrorCode::unsupported, kMakingSchedule, std::string("method ") + name(candidate.method),
           "direct, window, runs or partition", {});
  }
}

}  // namespace faro::cuda
