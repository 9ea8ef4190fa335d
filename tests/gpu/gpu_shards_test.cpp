// Shards on one GPU, or on all there are: each rank's output against the whole by the definition. On one GPU
// the ranks are streams of it, which exercises everything but the links.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/communicator.hpp"
#include "faro/shards.hpp"
#include "gpu/gpu_shards_support.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kGuard = 64;

// Ways that all have to give the same: stores, slices, messages one after the other.
const std::vector<ShardWays> kWays{
    {}, {.slice_bits = 2}, {.stores = false, .slice_bits = 2}, {.stores = false, .slice_bits = 0}};

// Runs three times without waiting in between, the input changed by nobody: the last result is looked at.
void expect_peers(ShardProblem problem, int ranks, const ShardWays& ways, std::uint64_t skew) {
  problem.shards.ranks = ranks;
  const std::vector<int> devices = devices_for(ranks);
  PeerShards peers(problem, devices, {}, ways);
  const WholeParts whole(problem);
  std::vector<std::unique_ptr<GuardedPart>> sources;
  std::vector<std::unique_ptr<GuardedPart>> targets;
  std::vector<std::unique_ptr<OwnStream>> own;
  std::vector<const void*> ins;
  std::vector<void*> outs;
  std::vector<Stream> streams;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    check_cuda(cudaSetDevice(devices[rank]), "cudaSetDevice");
    own.push_back(std::make_unique<OwnStream>());
    streams.emplace_back(own.back()->get());
    const ShardPlan& plan = peers.plan(static_cast<int>(rank));
    ASSERT_EQ(whole.in[rank].size(), plan.in_bytes());
    sources.push_back(std::make_unique<GuardedPart>(whole.in[rank], devices[rank], skew));
    ins.push_back(sources.back()->data());
    const std::vector<std::byte> nothing(plan.out_bytes(), kUnwritten);
    targets.push_back(std::make_unique<GuardedPart>(nothing, devices[rank], skew));
    outs.push_back(targets.back()->data());
  }
  for (int run = 0; run < 3; ++run) peers.run(ins, outs, streams);
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    check_cuda(cudaSetDevice(devices[rank]), "cudaSetDevice");
    own[rank]->wait();
    targets[rank]->expect(whole.out[rank], peers.sharded(static_cast<int>(rank)).explain());
  }
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
}

void expect_peers(const ShardProblem& problem, int ranks) {
  for (const ShardWays& ways : kWays) expect_peers(problem, ranks, ways, 0);
  expect_peers(problem, ranks, {}, problem.element_bytes % 16);  // arrays that no vector fits
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

// Cuts of several axes, blocks dealt out, boxes, copies, ranks that hold nothing, islands.
TEST_F(GpuShards, DrawnDistributions) {
  for (std::uint64_t seed = 0; seed < 160 && !HasFailure(); ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 6);
    const ShardProblem problem = drawn_mesh(seed, ranks, seed % 8 == 0 ? 1 : 5);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + mesh_oracle::label(problem));
    expect_peers(problem, ranks, kWays[seed % kWays.size()], 0);
    expect_peers(problem, ranks, {}, problem.element_bytes % 16);
    expect_peers(problem, ranks, {.stores = false}, 0);
  }
}

// Stores whose rows may be packed in few bytes, messages in as many rounds as the bound takes.
TEST_F(GpuShards, DrawnDistributionsWithinMemory) {
  bool goes_in_rounds = false;
  for (std::uint64_t seed = 3000; seed < 3060 && !HasFailure(); ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 6);
    const ShardProblem problem = drawn_mesh(seed, ranks, 5);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + mesh_oracle::label(problem));
    std::uint64_t messages = 1;
    std::uint64_t most = 0;
    bool has_views = true;
    for (int rank = 0; rank < ranks; ++rank) {
      ShardProblem mine = problem;
      mine.shards.rank = rank;
      const ShardPlan plan(mine);
      has_views = has_views && plan.method() == ShardMethod::mesh;
      messages = std::max<std::uint64_t>(
          messages, plan.sends().size() + plan.receives().size() + plan.passed_on().receives.size());
      most = std::max(most, plan.workspace_bytes());
    }
    if (!has_views) continue;
    const ShardWays within{.memory_bytes = messages * problem.element_bytes + seed * 7919 % (most + 1)};
    expect_peers(problem, ranks, within, 0);
    ShardWays sent = within;
    sent.stores = false;
    expect_peers(problem, ranks, sent, 0);
    PeerShards peers(problem, devices_for(ranks), {}, sent);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(peers.sharded(rank).workspace_bytes(), within.memory_bytes);
      goes_in_rounds = goes_in_rounds || peers.sharded(rank).rounds() > 1;
    }
  }
  EXPECT_TRUE(goes_in_rounds);
}

TEST_F(GpuShards, OtherDistributionsAreRefusedOnAllRanks) {
  const auto communicators = peer_communicators(devices_for(2), std::chrono::seconds(20));
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    check_cuda(cudaSetDevice(communicator->device()), "cudaSetDevice");
    const NamedAxes axes{.shape = {64, 32}, .order = {0, 1}};
    ShardProblem problem{.permutation = Axes(axes.shape, axes.order),
                         .element_bytes = 4,
                         .shards = {.ranks = 2, .rank = communicator->rank()},
                         .axes = axes};
    problem.shards.in = parse_distribution("mesh 2; axis 0 over 0");
    problem.shards.out = parse_distribution(communicator->rank() == 0 ? "mesh 2; axis 1 over 0" : "mesh 2");
    const ShardedPlan plan(ShardPlan(problem), communicator);
  });
  for (const auto& each : thrown)
    EXPECT_NE(text_of(each).find("every rank has to ask for the same problem"), std::string::npos)
        << text_of(each);
}

TEST_F(GpuShards, WhatIsWrongIsRefusedBeforeAnythingIsQueued) {
  PeerShards peers({.permutation = maps::bit_reversal(12), .element_bytes = 4, .shards = {}}, {0, 0});
  const cuda::DeviceArray array(24576, 0);
  const std::vector<const void*> ins{array.data(), nullptr};
  const std::vector<void*> outs{array.data() + 8192, array.data() + 16384};
  const std::vector<Stream> streams(2);
  const auto refused = [&](std::span<const Stream> with) {
    return test::message_of(ErrorCode::value, [&] { peers.run(ins, outs, with); });
  };
  EXPECT_NE(refused(streams).find("rank 1: run shards: got a null input"), std::string::npos);
  EXPECT_NE(refused({}).find("0 streams"), std::string::npos);
  // It is of use after that.
  const std::vector<const void*> both{array.data(), array.data()};
  peers.run(both, outs, streams);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_F(GpuShards, LargeTransposeOfSlabs) {
  expect_peers({.permutation = maps::transpose(1024, 2048), .element_bytes = 4, .shards = {}}, 2);
}

// Slabs large enough for copy engines, against the definition of a transposition.
TEST_F(GpuShards, LongRowsOfSlabsAreCopied) {
  constexpr std::uint64_t kRows = 5003;
  constexpr std::uint64_t kColumns = 7001;
  const NamedAxes axes{.shape = {kRows, kColumns}, .order = {1, 0}};
  for (const int ranks : {2, 3}) {
    const std::vector<int> devices = devices_for(ranks);
    std::vector<std::uint64_t> in_rows(static_cast<std::size_t>(ranks), 2000);
    in_rows.back() = kRows - 2000 * static_cast<std::uint64_t>(ranks - 1);
    PeerShards peers({.permutation = Axes(axes.shape, axes.order),
                      .element_bytes = 4,
                      .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0, in_rows}, .out = ShardAxis{0}},
                      .axes = axes},
                     devices);
    std::vector<std::unique_ptr<cuda::DeviceArray>> arrays;
    std::vector<const void*> ins;
    std::vector<void*> outs;
    std::uint64_t at = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<std::uint32_t> part(peers.plan(rank).in_elements());
      std::iota(part.begin(), part.end(), static_cast<std::uint32_t>(at));
      at += part.size();
      const int device = devices[static_cast<std::size_t>(rank)];
      arrays.push_back(std::make_unique<cuda::DeviceArray>(4 * part.size(), device));
      arrays.back()->upload(part.data());
      ins.push_back(arrays.back()->data());
      part.assign(peers.plan(rank).out_elements() + kGuard, 0xa5a5a5a5);
      arrays.push_back(std::make_unique<cuda::DeviceArray>(4 * part.size(), device));
      arrays.back()->upload(part.data());
      outs.push_back(arrays.back()->data());
    }
    EXPECT_NE(peers.sharded(0).backend_reason().find("copy engines"), std::string::npos)
        << peers.sharded(0).backend_reason();
    EXPECT_GT(peers.sharded(0).workspace_bytes(), 0U);
    for (int run = 0; run < 3; ++run) peers.run(ins, outs, std::vector<Stream>(devices.size()));
    std::uint64_t y = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(rank)]), "cudaSetDevice");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const std::uint64_t count = peers.plan(rank).out_elements();
      std::vector<std::uint32_t> out(count + kGuard);
      arrays[2 * static_cast<std::size_t>(rank) + 1]->download(out.data());
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < count; ++i, ++y) {
        if (out[i] != y % kRows * kColumns + y / kRows) ++wrong;
      }
      EXPECT_EQ(wrong, 0U) << "rank " << rank << " of " << ranks;
      EXPECT_EQ(std::count(out.end() - kGuard, out.end(), 0xa5a5a5a5), static_cast<std::ptrdiff_t>(kGuard));
    }
    check_cuda(cudaSetDevice(0), "cudaSetDevice");
  }
}

// What is chosen, and that it says why.
TEST_F(GpuShards, WaysAreTold) {
  const std::vector<int> devices = devices_for(2);
  const ShardProblem one_pass{.permutation = maps::transpose(1024, 1024), .element_bytes = 4, .shards = {}};
  const ShardProblem two_passes{.permutation = maps::bit_reversal(20), .element_bytes = 4, .shards = {}};
  const PeerShards first(one_pass, devices);
  const PeerShards second(two_passes, devices);
  const PeerShards sliced(two_passes, devices, {}, {.stores = false, .slice_bits = 3});
  const PeerShards plain(two_passes, devices, {}, {.stores = false, .slice_bits = 0});
  EXPECT_STREQ(first.sharded(0).backend(), "stores");
  EXPECT_NE(first.sharded(0).backend_reason().find("comes from one rank"), std::string::npos);
  EXPECT_EQ(first.sharded(0).workspace_bytes(), 0U);
  EXPECT_STREQ(second.sharded(1).backend(), "stores");
  EXPECT_NE(second.sharded(1).backend_reason().find("several ranks"), std::string::npos);
  EXPECT_EQ(second.sharded(1).workspace_bytes(), std::uint64_t{1} << 21);
  const PeerShards stored(two_passes, devices, {}, {.slice_bits = 2});
  EXPECT_STREQ(stored.sharded(0).backend(), "stores");
  EXPECT_NE(stored.sharded(0).backend_reason().find("unpacking follows in 4 slices"), std::string::npos);
  EXPECT_STREQ(sliced.sharded(0).backend(), "slices");
  EXPECT_NE(sliced.sharded(0).backend_reason().find("8 slices"), std::string::npos);
  EXPECT_STREQ(plain.sharded(0).backend(), "messages");
  EXPECT_NE(plain.sharded(0).backend_reason().find("not asked for"), std::string::npos);
}

// --- in place; a thread a rank

TEST_F(GpuShards, InPlace) {
  for (const Permutation& map :
       {Permutation(maps::bit_reversal(18)), Permutation(maps::transpose(512, 512)),
        Permutation(maps::swap_bits(18, 16, 17)), Permutation(maps::flip(1 << 18))}) {
    for (const ShardWays& way : kWays) {
      const std::vector<int> devices = devices_for(2);
      const ShardProblem problem{.permutation = map, .element_bytes = 4, .shards = {.ranks = 2}};
      const WholeArray whole(problem, std::uint64_t{1} << 18);
      on_devices(
          peer_communicators(devices), devices,
          [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
            ShardProblem mine = problem;
            mine.shards.rank = own.rank();
            ShardWays ways = way;
            ways.in_place = true;
            ShardedPlan plan(ShardPlan(mine), communicator, {}, ways);
            const std::vector<std::byte> in = whole.in_part(own.rank());
            cuda::DeviceArray data(in.size(), own.device());
            data.upload(in.data());
            plan.run(data.data(), in.size(), Stream(stream.get()));
            plan.wait(Stream(stream.get()));
            std::vector<std::byte> out(in.size());
            data.download(out.data());
            EXPECT_TRUE(out == whole.out_part(own.rank())) << plan.explain();
          });
    }
  }
}

// Through the host: what MPI's processes do with arrays of devices.
TEST_F(GpuShards, StagedThroughTheHost) {
  const std::vector<int> devices = devices_for(3);
  const NamedAxes axes{.shape = {37, 50, 21}, .order = {2, 0, 1}};
  const ShardProblem problem{.permutation = Axes(axes.shape, axes.order),
                             .element_bytes = 4,
                             .shards = {.ranks = 3, .rank = 0, .in = ShardAxis{1}, .out = ShardAxis{0}},
                             .axes = axes};
  const WholeArray whole(problem, element_count(problem.permutation));
  on_devices(in_memory_communicators(3), devices,
             [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
               const int device = devices[static_cast<std::size_t>(words.rank())];
               ShardProblem mine = problem;
               mine.shards.rank = words.rank();
               ShardedPlan plan(ShardPlan(mine), staged_communicator(shared, device));
               const std::vector<std::byte> in = whole.in_part(words.rank());
               const std::vector<std::byte> wanted = whole.out_part(words.rank());
               cuda::DeviceArray from(in.size(), device);
               from.upload(in.data());
               const cuda::DeviceArray to(wanted.size(), device);
               plan.run(from.data(), in.size(), to.data(), wanted.size(), Stream(stream.get()));
               plan.wait(Stream(stream.get()));
               std::vector<std::byte> out(wanted.size());
               to.download(out.data());
               EXPECT_TRUE(out == wanted) << plan.explain();
               EXPECT_EQ(plan.communicator().name(), "threads, staged");
             });
}

// Each rank has its own part of an index array.
TEST_F(GpuShards, IndexArraysInParts) {
  const std::vector<int> devices = devices_for(2);
  constexpr std::uint64_t kCount = 10001;
  const Indexed drawn = Indexed::random(kCount, 3).redirected(Direction::scatter);
  const ShardProblem problem{.permutation = drawn, .element_bytes = 4, .shards = {.ranks = 2}};
  const WholeArray whole(problem, kCount);
  on_devices(peer_communicators(devices), devices,
             [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
               ShardProblem mine = problem;
               mine.shards.rank = own.rank();
               std::vector<std::uint64_t> entries;
               for (std::uint64_t x = 0; x < kCount; ++x) {
                 if (owner_of(x, ShardAxis{}, {kCount}, 2) == own.rank()) entries.push_back(drawn.entry(x));
               }
               ShardedPlan plan(ShardPlan(mine, kCount, entries, Direction::scatter, own), communicator);
               const std::vector<std::byte> in = whole.in_part(own.rank());
               const std::vector<std::byte> wanted = whole.out_part(own.rank());
               cuda::DeviceArray from(in.size(), own.device());
               from.upload(in.data());
               const cuda::DeviceArray to(wanted.size(), own.device());
               plan.run(from.data(), in.size(), to.data(), wanted.size(), Stream(stream.get()));
               plan.wait(Stream(stream.get()));
               std::vector<std::byte> out(wanted.size());
               to.download(out.data());
               EXPECT_TRUE(out == wanted) << plan.explain();
             });
}

TEST_F(GpuShards, AnotherProblemIsRefusedOnAllRanks) {
  const std::vector<int> devices = devices_for(2);
  const auto communicators = peer_communicators(devices);
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    check_cuda(cudaSetDevice(communicator->device()), "cudaSetDevice");
    const ShardProblem problem{.permutation = maps::roll(1000, communicator->rank() == 1 ? 5 : 6),
                               .element_bytes = 4,
                               .shards = {.ranks = 2, .rank = communicator->rank()}};
    const ShardedPlan plan(ShardPlan(problem), communicator);
  });
  for (const auto& each : thrown)
    EXPECT_NE(text_of(each).find("every rank has to ask for the same problem"), std::string::npos)
        << text_of(each);
}

// A rank that gives up, in the middle of another's call.
TEST_F(GpuShards, APeerThatGivesUpEndsTheOthersWait) {
  const std::vector<int> devices = devices_for(2);
  const auto communicators = peer_communicators(devices, std::chrono::seconds(20));
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    if (communicator->rank() == 1) {
      communicator->abort("out of paper");
      return;
    }
    communicator->all_gather("here");
  });
  EXPECT_NE(text_of(thrown[0]).find("rank 1 gave up: out of paper"), std::string::npos) << text_of(thrown[0]);
}

}  // namespace
}  // namespace faro::testing
