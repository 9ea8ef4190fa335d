// Schedules in a device's memory: schedule/index_schedule.hpp with arrays of the device in place of vectors.
//
//     host index array       --to_device()-->               device index array
//     device index array     --make_device_schedule()-->    DeviceIndexSchedule
//     IndexSchedule          --upload()-->                  DeviceIndexSchedule
//     DeviceIndexSchedule    --download()-->                IndexSchedule
//
// Arrays hold what the host's hold, byte for byte. What plans of index arrays run by is one of these. No CUDA
// header is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/plan/plan.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cuda {

/// An owned array of the device, aligned to 256 bytes; empty by default. Its memory is not cleared.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Errors: ErrorCode::device for less free memory.
  DeviceBuffer(std::uint64_t count, int device)
      : array_(std::in_place, count * sizeof(T), device), count_(count) {}

  T* data() const { return reinterpret_cast<T*>(array_ ? array_->data() : nullptr); }
  std::uint64_t size() const { return count_; }
  std::uint64_t bytes() const { return count_ * sizeof(T); }
  bool empty() const { return count_ == 0; }

  /// Waits. Errors: ErrorCode::device.
  static DeviceBuffer of(const std::vector<T>& values, int device) {
    DeviceBuffer buffer(values.size(), device);
    if (!values.empty()) buffer.array_->upload(values.data());
    return buffer;
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    if (count_ > 0) array_->download(values.data());
    return values;
  }

 private:
  std::optional<DeviceArray> array_;
  std::uint64_t count_ = 0;
};

struct DevicePartitionLevel {
  DeviceBuffer<std::uint16_t> places;
  DeviceBuffer<std::uint16_t> starts;
  DeviceBuffer<std::uint32_t> offsets;
};

struct DevicePartition {
  schedule::PartitionShape shape;
  std::vector<DevicePartitionLevel> levels;
  DeviceBuffer<std::uint16_t> last;
};

/// The index array itself: on the device, and known to be a permutation.
struct DeviceDirect {
  Indexed indexed;
};

struct DeviceWindow {
  std::uint64_t count = 0;
  std::uint32_t window = 0;
  DeviceBuffer<std::uint16_t> shift;
};

struct DeviceRuns {
  std::uint64_t count = 0;
  DeviceBuffer<std::uint64_t> source;  // runs + 1
  DeviceBuffer<std::uint64_t> target;  // runs
};

struct DeviceRowColumn {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  DeviceBuffer<std::uint16_t> first;
  DeviceBuffer<std::uint16_t> middle;
  DeviceBuffer<std::uint16_t> last;
};

struct DeviceIndexSchedule {
  std::variant<DeviceWindow, DeviceDirect, DeviceRuns, DevicePartition, DeviceRowColumn> what;
  std::uint64_t count = 0;
  Direction applied = Direction::scatter;
  std::optional<std::uint64_t> fingerprint = {};  // of the entries; nothing where no host has seen them

  /// Bytes of its arrays. A DeviceDirect counts the index array.
  std::uint64_t bytes() const;
};

/// The schedule of one method, made on the array's device and equal to the host's; returns when it is done.
/// `indexed` need not be a permutation: where it is none, that is found. A DeviceDirect keeps `indexed`,
/// checked. `method` is direct, window, runs or partition, of which partition needs `shape`, and window the
/// largest displacement (`window`): other methods need no schedule, or the host's edge colouring.
/// Errors: ErrorCode::value as cuda::validate(), and where the array is not of the method's kind;
/// ErrorCode::device, saying how much is needed, for too little memory; ErrorCode::unsupported for another
/// method.
DeviceIndexSchedule make_device_schedule(const IndexCandidate& candidate, const Indexed& indexed,
                                         std::optional<std::uint64_t> window);

/// Copies to `device` and waits. Requires: a checked schedule. Errors: ErrorCode::device.
DeviceIndexSchedule upload(const schedule::IndexSchedule& schedule, int device);

/// Copies to the host and waits. A fingerprint that is not known is 0. Errors: ErrorCode::device.
schedule::IndexSchedule download(const DeviceIndexSchedule& schedule);

}  // namespace faro::cuda
