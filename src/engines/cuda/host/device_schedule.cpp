// Schedules sent to a device and fetched from it. What is made there is in index_schedule*.
#include "engines/cuda/host/device_schedule.hpp"

#include "engines/cuda/runtime/device_arrays.hpp"
#include "engines/cuda_index.hpp"

namespace faro::cuda {
namespace {

DeviceDirect send(const schedule::DirectSchedule& direct, Direction applied, int device) {
  const Indexed sent = to_device(direct.indexed, device);
  return {sent.direction() == applied ? sent : sent.inverse()};
}

DeviceWindow send(const schedule::WindowSchedule& window, Direction /*applied*/, int device) {
  return {.count = window.count,
          .window = window.window,
          .shift = DeviceBuffer<std::uint16_t>::of(window.shift, device)};
}

DeviceRuns send(const schedule::RunsSchedule& runs, Direction /*applied*/, int device) {
  return {.count = runs.count,
          .source = DeviceBuffer<std::uint64_t>::of(runs.source, device),
          .target = DeviceBuffer<std::uint64_t>::of(runs.target, device)};
}

DevicePartition send(const schedule::PartitionSchedule& partition, Direction /*applied*/, int device) {
  DevicePartition sent{.shape = partition.shape,
                       .levels = {},
                       .last = DeviceBuffer<std::uint16_t>::of(partition.last, device)};
  for (const schedule::PartitionLevel& level : partition.levels) {
    sent.levels.push_back({.places = DeviceBuffer<std::uint16_t>::of(level.places, device),
                           .starts = DeviceBuffer<std::uint16_t>::of(level.starts, device),
                           .offsets = DeviceBuffer<std::uint32_t>::of(level.offsets, device)});
  }
  return sent;
}

DeviceRowColumn send(const schedule::RowColumnSchedule& matrix, Direction /*applied*/, int device) {
  return {.rows = matrix.rows,
          .columns = matrix.columns,
          .first = DeviceBuffer<std::uint16_t>::of(matrix.first, device),
          .middle = DeviceBuffer<std::uint16_t>::of(matrix.middle, device),
          .last = DeviceBuffer<std::uint16_t>::of(matrix.last, device)};
}

schedule::DirectSchedule fetch(const DeviceDirect& direct) { return {to_host(direct.indexed)}; }

schedule::WindowSchedule fetch(const DeviceWindow& window) {
  return {.count = window.count, .window = window.window, .shift = window.shift.download()};
}

schedule::RunsSchedule fetch(const DeviceRuns& runs) {
  return {.count = runs.count, .source = runs.source.download(), .target = runs.target.download()};
}

schedule::PartitionSchedule fetch(const DevicePartition& partition) {
  schedule::PartitionSchedule fetched{
      .shape = partition.shape, .levels = {}, .last = partition.last.download()};
  for (const DevicePartitionLevel& level : partition.levels) {
    fetched.levels.push_back({.places = level.places.download(),
                              .starts = level.starts.download(),
                              .offsets = level.offsets.download()});
  }
  return fetched;
}

schedule::RowColumnSchedule fetch(const DeviceRowColumn& matrix) {
  return {.rows = matrix.rows,
          .columns = matrix.columns,
          .first = matrix.first.download(),
          .middle = matrix.middle.download(),
          .last = matrix.last.download()};
}

std::uint64_t bytes_of(const DeviceDirect& direct) {
  return direct.indexed.count() * static_cast<unsigned>(direct.indexed.index_type().bytes);
}
std::uint64_t bytes_of(const DeviceWindow& window) { return window.shift.bytes(); }
std::uint64_t bytes_of(const DeviceRuns& runs) { return runs.source.bytes() + runs.target.bytes(); }
std::uint64_t bytes_of(const DevicePartition& partition) {
  std::uint64_t bytes = partition.last.bytes();
  for (const DevicePartitionLevel& level : partition.levels) {
    bytes += level.places.bytes() + level.starts.bytes() + level.offsets.bytes();
  }
  return bytes;
}
std::uint64_t bytes_of(const DeviceRowColumn& matrix) {
  return matrix.first.bytes() + matrix.middle.bytes() + matrix.last.bytes();
}

}  // namespace

std::uint64_t DeviceIndexSchedule::bytes() const {
  return std::visit([](const auto& one) { return bytes_of(one); }, what);
}

DeviceIndexSchedule upload(const schedule::IndexSchedule& schedule, int device) {
  const int ordinal = ordinal_of(device);
  DeviceIndexSchedule sent;
  sent.count = schedule.count;
  sent.applied = schedule.applied;
  sent.fingerprint = schedule.fingerprint;
  std::visit([&](const auto& one) { sent.what = send(one, schedule.applied, ordinal); }, schedule.what);
  return sent;
}

schedule::IndexSchedule download(const DeviceIndexSchedule& schedule) {
  schedule::IndexSchedule fetched{.what = schedule::WindowSchedule{},
                                  .count = schedule.count,
                                  .applied = schedule.applied,
                                  .fingerprint = schedule.fingerprint.value_or(0)};
  std::visit([&](const auto& one) { fetched.what = fetch(one); }, schedule.what);
  return fetched;
}

}  // namespace faro::cuda
