// What the tests of shards on GPUs share: a thread a rank, each with its device and a stream.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "faro/shards.hpp"
#include "gpu/gpu_support.hpp"
#include "shard_support.hpp"

namespace faro::testing {

class GpuShards : public GpuTest {};

// Ranks on the machine's devices in turns.
inline std::vector<int> devices_for(int ranks) {
  const auto count = static_cast<int>(cuda::devices().size());
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % count);
  return devices;
}

// `work` of each rank on a thread of its own, with its device the current one and a stream.
inline void on_devices(
    const std::vector<std::shared_ptr<Communicator>>& communicators, const std::vector<int>& devices,
    const std::function<void(Communicator&, const std::shared_ptr<Communicator>&, OwnStream&)>& work) {
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(communicator->rank())]), "cudaSetDevice");
    OwnStream stream;
    work(*communicator, communicator, stream);
  });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
}

}  // namespace faro::testing
