// A partition schedule made on a device, by itself: for tests and benchmarks. What the engine calls is
// make_device_schedule() of device_schedule.hpp. No CUDA header is needed.
#pragma once

#include "engines/cuda/host/device_schedule.hpp"
#include "engines/cuda_index.hpp"
#include "faro/permutation/indexed.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cuda {

/// Equal to schedule::partition_schedule() of the same entries, byte for byte. `times`, unless null: what it
/// took on the device's clock, from the first kernel to the last; steps are count, scan and spread of each
/// level (narrow without levels), then check. Errors: as make_device_schedule().
DevicePartition make_device_partition(const Indexed& indexed, const schedule::PartitionShape& shape,
                                      SchedulingTimes* times = nullptr);

}  // namespace faro::cuda
