// Shards on one GPU, or on all there are: each rank's output against the whole by the definition. On one GPU
// the ranks are streams of it, which exercises everything but the links.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "faro/peers.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro::testing {
namespace {

class GpuShards : public GpuTest {};

// Ranks on the machine's devices in turns.
std::vector<int> devices_for(int ranks) {
  const auto count = static_cast<int>(cuda::devices().size());
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % count);
  return devices;
}

// Runs three times without waiting in between, the input changed by nobody: the last result is looked at.
void expect_peers(ShardProblem problem, int ranks) {
  problem.shards.ranks = ranks;
  const std::vector<int> devices = devices_for(ranks);
  PeerShards peers(problem, devices);
  const WholeArray whole(problem, element_count(problem.permutation));
  std::vector<std::unique_ptr<cuda::DeviceArray>> arrays;
  std::vector<std::unique_ptr<OwnStream>> own;
  std::vector<const void*> ins;
  std::vector<void*> outs;
  std::vector<Stream> streams;
  for (int rank = 0; rank < ranks; ++rank) {
    const int device = devices[static_cast<std::size_t>(rank)];
    check_cuda(cudaSetDevice(device), "cudaSetDevice");
    own.push_back(std::make_unique<OwnStream>());
    streams.emplace_back(own.back()->get());
    const std::vector<std::byte> in = whole.in_part(rank);
    ASSERT_EQ(in.size(), peers.plan(rank).in_bytes());
    arrays.push_back(std::make_unique<cuda::DeviceArray>(std::max<std::uint64_t>(in.size(), 1), device));
    if (!in.empty()) arrays.back()->upload(in.data());
    ins.push_back(arrays.back()->data());
    arrays.push_back(std::make_unique<cuda::DeviceArray>(
        std::max<std::uint64_t>(peers.plan(rank).out_bytes(), 1), device));
    outs.push_back(arrays.back()->data());
  }
  for (int run = 0; run < 3; ++run) peers.run(ins, outs, streams);
  for (int rank = 0; rank < ranks; ++rank) {
    check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(rank)]), "cudaSetDevice");
    own[static_cast<std::size_t>(rank)]->wait();
    const std::vector<std::byte> wanted = whole.out_part(rank);
    ASSERT_EQ(wanted.size(), peers.plan(rank).out_bytes());
    if (wanted.empty()) continue;
    std::vector<std::byte> out(arrays[2 * static_cast<std::size_t>(rank) + 1]->size());
    arrays[2 * static_cast<std::size_t>(rank) + 1]->download(out.data());
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin())) << peers.plan(rank).explain();
  }
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
}

TEST_F(GpuShards, AffineMapsWithAnyRankBits) {
  std::mt19937_64 random(23);
  for (int trial = 0; trial < 24; ++trial) {
    const int n = 12 + static_cast<int>(random() % 6);
    const int g = 1 + trial % 3;
    ShardProblem problem{
        .permutation = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()),
        .element_bytes = std::uint64_t{1} << (trial % 5),
        .shards = {}};
    std::vector<int> bits;
    for (int i = 0; i < g; ++i) bits.push_back((trial + 5 * i) % n);
    if (trial % 3 != 0) problem.shards.in = ShardBits{bits};
    if (trial % 4 == 1) problem.shards.out = ShardBits{bits};
    expect_peers(problem, 1 << g);
  }
}

TEST_F(GpuShards, SlabsBlocksAndIndexArrays) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const std::vector<int>& order : {std::vector<int>{1, 0, 2}, {2, 0, 1}, {0, 2, 1}}) {
      const NamedAxes axes{.shape = {37, 50, 21}, .order = order};
      expect_peers({.permutation = Axes(axes.shape, axes.order),
                    .element_bytes = 4,
                    .shards = {.ranks = 1, .rank = 0, .in = ShardAxis{ranks % 3}, .out = ShardAxis{0}},
                    .axes = axes},
                   ranks);
    }
    expect_peers({.permutation = maps::roll(100003, 777), .element_bytes = 8, .shards = {}}, ranks);
    expect_peers({.permutation = maps::flip(4099), .element_bytes = 2, .shards = {}}, ranks);
    expect_peers({.permutation = Indexed::random(50021, 3), .element_bytes = 4, .shards = {}}, ranks);
  }
}

TEST_F(GpuShards, WhatIsWrongIsRefusedBeforeAnythingIsQueued) {
  PeerShards peers({.permutation = maps::bit_reversal(12), .element_bytes = 4, .shards = {}}, {0, 0});
  const cuda::DeviceArray array(16384, 0);
  const std::vector<const void*> ins{array.data(), nullptr};
  const std::vector<void*> outs{array.data() + 8192, array.data() + 8192};
  const std::vector<Stream> streams(2);
  const auto refused = [&](std::span<const Stream> with) {
    return test::message_of(ErrorCode::value, [&] { peers.run(ins, outs, with); });
  };
  EXPECT_NE(refused(streams).find("rank 1: run shards: got a null input"), std::string::npos);
  EXPECT_NE(refused({}).find("0 streams"), std::string::npos);
  // It is of use after that.
  const std::vector<const void*> both{array.data(), array.data()};
  const std::vector<void*> apart{array.data() + 8192, array.data() + 8192};
  peers.run(both, apart, streams);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

// The figure that two GPUs would be measured by; on one, what packing, copying and unpacking cost together.
TEST_F(GpuShards, LargeTransposeOfSlabs) {
  expect_peers({.permutation = maps::transpose(1024, 2048), .element_bytes = 4, .shards = {}}, 2);
}

}  // namespace
}  // namespace faro::testing
