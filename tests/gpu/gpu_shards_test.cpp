// Shards on one GPU, or on all there are: each rank's output against the whole by the definition. On one GPU
// the ranks are streams of it, which exercises everything but the links.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <complex>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

#include "faro/communicator.hpp"
#include "faro/network/sharded.hpp"
#include "faro/shards.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"
#include "shard_support.hpp"

namespace faro::testing {
namespace {

class GpuShards : public GpuTest {};

constexpr std::byte kUnwritten{0xa5};
constexpr std::uint64_t kGuard = 64;

// Ranks on the machine's devices in turns.
std::vector<int> devices_for(int ranks) {
  const auto count = static_cast<int>(cuda::devices().size());
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % count);
  return devices;
}

// Ways that all have to give the same: stores, slices, messages one after the other.
const std::vector<ShardWays> kWays{
    {}, {.slice_bits = 2}, {.stores = false, .slice_bits = 2}, {.stores = false, .slice_bits = 0}};

// Runs three times without waiting in between, the input changed by nobody: the last result is looked at.
void expect_peers(ShardProblem problem, int ranks, const ShardWays& ways, std::uint64_t skew) {
  problem.shards.ranks = ranks;
  const std::vector<int> devices = devices_for(ranks);
  PeerShards peers(problem, devices, {}, ways);
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
    arrays.push_back(std::make_unique<cuda::DeviceArray>(in.size() + kGuard, device));
    std::vector<std::byte> padded(in.size() + kGuard);
    std::copy(in.begin(), in.end(), padded.begin() + static_cast<std::ptrdiff_t>(skew));
    arrays.back()->upload(padded.data());
    ins.push_back(arrays.back()->data() + skew);
    padded.assign(peers.plan(rank).out_bytes() + kGuard, kUnwritten);
    arrays.push_back(std::make_unique<cuda::DeviceArray>(padded.size(), device));
    arrays.back()->upload(padded.data());
    outs.push_back(arrays.back()->data() + skew);
  }
  for (int run = 0; run < 3; ++run) peers.run(ins, outs, streams);
  for (int rank = 0; rank < ranks; ++rank) {
    check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(rank)]), "cudaSetDevice");
    own[static_cast<std::size_t>(rank)]->wait();
    const std::vector<std::byte> wanted = whole.out_part(rank);
    ASSERT_EQ(wanted.size(), peers.plan(rank).out_bytes());
    std::vector<std::byte> out(arrays[2 * static_cast<std::size_t>(rank) + 1]->size());
    arrays[2 * static_cast<std::size_t>(rank) + 1]->download(out.data());
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(skew);
    const auto end = begin + static_cast<std::ptrdiff_t>(wanted.size());
    const auto is_unwritten = [](std::byte byte) { return byte == kUnwritten; };
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), begin)) << peers.sharded(rank).explain();
    EXPECT_TRUE(std::all_of(out.begin(), begin, is_unwritten) && std::all_of(end, out.end(), is_unwritten))
        << "guard zones of\n"
        << peers.sharded(rank).explain();
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

// --- in place, and captured; a thread a rank

struct RankOnDevice {
  std::shared_ptr<Communicator> communicator;
  int device = 0;
};

// `work` of each rank on a thread of its own, with its device the current one and a stream.
void on_devices(
    const std::vector<std::shared_ptr<Communicator>>& communicators, const std::vector<int>& devices,
    const std::function<void(Communicator&, const std::shared_ptr<Communicator>&, OwnStream&)>& work) {
  const auto thrown = on_ranks(communicators, [&](const std::shared_ptr<Communicator>& communicator) {
    check_cuda(cudaSetDevice(devices[static_cast<std::size_t>(communicator->rank())]), "cudaSetDevice");
    OwnStream stream;
    work(*communicator, communicator, stream);
  });
  for (const auto& each : thrown) EXPECT_EQ(text_of(each), "");
}

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

// Each rank has its own part of an index array, and a network of which layers meet across ranks.
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

TEST_F(GpuShards, SortsByANetwork) {
  const std::vector<int> devices = devices_for(2);
  constexpr std::uint64_t kPart = 1 << 15;
  std::vector<std::uint32_t> all(2 * kPart);
  std::mt19937 random(4);
  for (std::uint32_t& each : all) each = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  on_devices(
      peer_communicators(devices), devices,
      [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
        network::ShardedNetwork sorter({.program = network::sort(16), .element = {network::Scalar::u32}},
                                       communicator);
        const std::uint64_t first = kPart * static_cast<std::uint64_t>(own.rank());
        cuda::DeviceArray in(4 * kPart, own.device());
        in.upload(all.data() + first);
        const cuda::DeviceArray out(4 * kPart, own.device());
        sorter.run(in.data(), out.data(), 4 * kPart, Stream(stream.get()));
        own.wait(Stream(stream.get()));
        std::vector<std::uint32_t> part(kPart);
        out.download(part.data());
        EXPECT_TRUE(std::equal(part.begin(), part.end(), sorted.begin() + static_cast<std::ptrdiff_t>(first)))
            << sorter.explain();
      });
}

// Whole arrays through a network over 2, 4 and 8 ranks: what each rank has, in their order.
template <typename T>
std::vector<T> by_network(const network::Program& program, const std::vector<T>& in, int ranks) {
  const std::vector<int> devices = devices_for(ranks);
  const std::size_t part = in.size() / static_cast<std::size_t>(ranks);
  std::vector<T> out(in.size());
  on_devices(peer_communicators(devices), devices,
             [&](Communicator& own, const std::shared_ptr<Communicator>& communicator, OwnStream& stream) {
               network::ShardedNetwork made({.program = program, .element = network::ElementOf<T>::value},
                                            communicator);
               const std::size_t first = part * static_cast<std::size_t>(own.rank());
               cuda::DeviceArray from(part * sizeof(T), own.device());
               from.upload(in.data() + first);
               const cuda::DeviceArray to(part * sizeof(T), own.device());
               made.run(from.data(), to.data(), part * sizeof(T), Stream(stream.get()));
               own.wait(Stream(stream.get()));
               to.download(out.data() + first);
             });
  return out;
}

// Against the sum that defines the transform, at some places.
template <typename Number>
void expect_fourier_over_devices(int n, int ranks, double tolerance) {
  using T = std::complex<Number>;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<Number> number(-1, 1);
  std::vector<T> in(std::size_t{1} << n);
  for (T& each : in) each = {number(random), number(random)};
  const std::vector<T> out = by_network(network::fft(n), in, ranks);
  for (std::size_t y = 0; y < in.size(); y = 3 * y + 1) {
    std::complex<double> sum = 0;
    for (std::size_t x = 0; x < in.size(); ++x) {
      const double turn =
          -2 * std::numbers::pi * static_cast<double>(x * y % in.size()) / static_cast<double>(in.size());
      sum += std::complex<double>(in[x]) * std::polar(1.0, turn);
    }
    EXPECT_LT(std::abs(sum - std::complex<double>(out[y])), tolerance) << ranks << " ranks, place " << y;
  }
  const std::vector<T> back = by_network(network::inverse_fft(n), out, ranks);
  double worst = 0;
  for (std::size_t x = 0; x < in.size(); ++x) {
    worst = std::max(worst, std::abs(std::complex<double>(back[x]) / static_cast<double>(in.size()) -
                                     std::complex<double>(in[x])));
  }
  EXPECT_LT(worst, tolerance) << ranks << " ranks";
}

TEST_F(GpuShards, TransformsByANetwork) {
  for (const int ranks : {1, 2, 4, 8}) {
    expect_fourier_over_devices<float>(16, ranks, 1e-2);
    expect_fourier_over_devices<double>(13, ranks, 1e-9);
  }
  std::vector<std::uint32_t> in(1 << 14);
  std::mt19937 random(5);
  for (std::uint32_t& each : in) each = static_cast<std::uint32_t>(random());
  // Pair numbers that are any linear map of the rank's own, and the bits of the whole.
  const auto numbered = network::operators::user<std::uint32_t>(
      "numbered",
      [](std::uint32_t& a, std::uint32_t& b, std::uint64_t p, int k) {
        a = a * 3 + static_cast<std::uint32_t>(p);
        b = (b ^ a) + static_cast<std::uint32_t>(p * 7) + static_cast<std::uint32_t>(k);
      },
      "a = a * 3 + p; b = (b ^ a) + p * 7 + n;");
  using network::bmmc;
  using network::pairs;
  using network::two;
  const network::Program program = pairs(numbered, 14) * bmmc(maps::random_bmmc(14, 1)) *
                                   two(pairs(numbered, 13)) * bmmc(maps::bit_reversal(14)) * network::wht(14);
  std::vector<std::uint32_t> wanted(in.size());
  network::compile({.program = program, .element = {network::Scalar::u32}}, {.engine = Engine::cpu})
      .run(std::span<const std::uint32_t>(in), std::span<std::uint32_t>(wanted));
  for (const int ranks : {1, 2, 4}) EXPECT_EQ(by_network(program, in, ranks), wanted) << ranks << " ranks";
}

// --- by NCCL, where there are two devices and the library is found

bool has_nccl_for_two() {
  return cuda::devices().size() >= 2 && dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL) != nullptr;
}

void expect_nccl(const ShardProblem& problem, const ShardWays& ways, bool captured = false) {
  std::vector<int> devices(static_cast<std::size_t>(problem.shards.ranks));
  std::iota(devices.begin(), devices.end(), 0);
  const WholeArray whole(problem, element_count(problem.permutation));
  on_devices(in_memory_communicators(problem.shards.ranks), devices,
             [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
               const auto communicator = nccl_communicator(words.rank(), shared);
               ShardProblem mine = problem;
               mine.shards.rank = words.rank();
               ShardedPlan plan(ShardPlan(mine), communicator, {}, ways);
               const std::vector<std::byte> in = whole.in_part(words.rank());
               const std::vector<std::byte> wanted = whole.out_part(words.rank());
               cuda::DeviceArray from(std::max<std::size_t>(in.size(), 1), words.rank());
               if (!in.empty()) from.upload(in.data());
               const cuda::DeviceArray to(std::max<std::size_t>(wanted.size(), 1), words.rank());
               const auto run = [&] {
                 plan.run(from.data(), in.size(), to.data(), wanted.size(), Stream(stream.get()));
               };
               run();
               plan.wait(Stream(stream.get()));
               if (captured) {
                 check_cuda(cudaMemset(to.data(), 0, wanted.size()), "cudaMemset");
                 cudaGraph_t graph = nullptr;
                 cudaGraphExec_t executable = nullptr;
                 check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
                            "capture");
                 run();
                 check_cuda(cudaStreamEndCapture(stream.get(), &graph), "end of capture");
                 check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
                 for (int launch = 0; launch < 3; ++launch)
                   check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
                 plan.wait(Stream(stream.get()));
                 check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
                 check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
               }
               if (wanted.empty()) return;
               std::vector<std::byte> out(wanted.size());
               to.download(out.data());
               EXPECT_TRUE(out == wanted) << plan.explain();
             });
}

TEST_F(GpuShards, ByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  std::mt19937_64 random(29);
  for (int trial = 0; trial < 10; ++trial) {
    const int n = 16 + trial % 3;
    const ShardProblem affine{
        .permutation = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()),
        .element_bytes = std::uint64_t{1} << (trial % 5),
        .shards = {.ranks = 2}};
    expect_nccl(affine, {.stores = false, .slice_bits = trial % 4});
    expect_nccl(affine, {.slice_bits = trial % 3});
  }
  const NamedAxes axes{.shape = {37, 50, 21}, .order = {2, 0, 1}};
  for (const ShardWays& ways : {ShardWays{}, ShardWays{.stores = false}}) {
    // Without passes: what a rank keeps is half, all and nothing.
    for (const Permutation& map :
         {Permutation(maps::swap_bits(18, 16, 17)), Permutation(maps::xor_mask(18, 0)),
          Permutation(maps::xor_mask(18, 1 << 17))}) {
      for (const std::uint64_t width : {2U, 4U, 32U})
        expect_nccl({.permutation = map, .element_bytes = width, .shards = {.ranks = 2}}, ways);
    }
    expect_nccl(
        {.permutation = Axes(axes.shape, axes.order),
         .element_bytes = 4,
         .shards = {.ranks = 2, .rank = 0, .in = ShardAxis{1, {11, 39}}, .out = ShardAxis{0, {21, 0}}},
         .axes = axes},
        ways);
    expect_nccl({.permutation = maps::roll(100003, 777), .element_bytes = 8, .shards = {.ranks = 2}}, ways);
  }
  expect_nccl({.permutation = Indexed::random(50021, 3), .element_bytes = 4, .shards = {.ranks = 2}}, {});
}

// Long enough for arrays that are registered with NCCL, and for slices of different lengths.
TEST_F(GpuShards, ByNcclBetweenRegisteredArrays) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  const ShardProblem transpose{
      .permutation = maps::transpose(2048, 4096), .element_bytes = 64, .shards = {.ranks = 2}};
  const ShardProblem reversal{
      .permutation = maps::bit_reversal(23), .element_bytes = 64, .shards = {.ranks = 2}};
  const ShardProblem affine{
      .permutation = maps::random_bmmc(22, 3), .element_bytes = 8, .shards = {.ranks = 2}};
  expect_nccl(transpose, {.stores = false}, true);
  expect_nccl(reversal, {.stores = false});
  expect_nccl(affine, {.stores = false});
  expect_nccl(affine, {.stores = false, .slice_bits = 4});
  expect_nccl(affine, {.stores = false, .slice_bits = 0});
  // One pass that becomes two, for its slices.
  const ShardProblem one_pass{
      .permutation = compose(maps::swap_bits(23, 21, 22), direct_sum(maps::random_bmmc(22, 5), Affine(1))),
      .element_bytes = 64,
      .shards = {.ranks = 2}};
  expect_nccl(one_pass, {.stores = false});
  // Boxes, whose messages begin anywhere, whole and in slices, of all devices.
  const int ranks = std::min(4, static_cast<int>(cuda::devices().size()));
  const NamedAxes plane{.shape = {2001, 2003}, .order = {1, 0}};
  const NamedAxes box{.shape = {5, 1201, 703}, .order = {2, 0, 1}};
  for (const int slice_bits : {-1, 0, 1, 3}) {
    expect_nccl({.permutation = Axes(plane.shape, plane.order),
                 .element_bytes = 16,
                 .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{0}, .out = ShardAxis{0}},
                 .axes = plane},
                {.stores = false, .slice_bits = slice_bits});
    expect_nccl({.permutation = Axes(box.shape, box.order),
                 .element_bytes = 12,
                 .shards = {.ranks = ranks, .rank = 0, .in = ShardAxis{1}, .out = ShardAxis{0}},
                 .axes = box},
                {.stores = false, .slice_bits = slice_bits});
  }
}

TEST_F(GpuShards, ByNcclInAGraph) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  expect_nccl({.permutation = maps::transpose(1024, 1024), .element_bytes = 4, .shards = {.ranks = 2}},
              {.stores = false, .slice_bits = 2}, true);
  expect_nccl({.permutation = maps::transpose(1024, 1024), .element_bytes = 4, .shards = {.ranks = 2}}, {},
              true);
  expect_nccl({.permutation = maps::bit_reversal(18), .element_bytes = 4, .shards = {.ranks = 2}},
              {.slice_bits = 2}, true);
  expect_nccl({.permutation = maps::bit_reversal(18), .element_bytes = 8, .shards = {.ranks = 2}},
              {.stores = false, .slice_bits = 0}, true);
}

// Words between two processes, by a socket; arrays go by NCCL.
class SocketWords : public Communicator {
 public:
  SocketWords(int socket, int rank) : socket_(socket), rank_(rank) {}
  ~SocketWords() override { close(socket_); }
  SocketWords(const SocketWords&) = delete;
  SocketWords& operator=(const SocketWords&) = delete;

  int ranks() const override { return 2; }
  int rank() const override { return rank_; }
  std::string name() const override { return "a socket"; }
  Engine memory() const override { return Engine::cpu; }
  void exchange(const void*, std::span<const ShardMessage>, void*, std::span<const ShardMessage>,
                Stream) override {
    throw std::runtime_error("words only");
  }
  std::vector<std::string> all_gather(const std::string& mine) override {
    const std::uint64_t bytes = mine.size();
    pass<false>(const_cast<std::uint64_t*>(&bytes), sizeof bytes);
    pass<false>(const_cast<char*>(mine.data()), mine.size());
    std::uint64_t theirs_bytes = 0;
    pass<true>(&theirs_bytes, sizeof theirs_bytes);
    std::string theirs(theirs_bytes, ' ');
    pass<true>(theirs.data(), theirs.size());
    return rank_ == 0 ? std::vector{mine, theirs} : std::vector{theirs, mine};
  }
  void abort(const std::string&) noexcept override { shutdown(socket_, SHUT_RDWR); }

 private:
  template <bool receives>
  void pass(void* data, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      char* const at = static_cast<char*>(data) + done;
      const ssize_t moved =
          receives ? recv(socket_, at, bytes - done, 0) : send(socket_, at, bytes - done, MSG_NOSIGNAL);
      if (moved <= 0) throw std::runtime_error("the other process is gone");
      done += static_cast<std::size_t>(moved);
    }
  }

  int socket_;
  int rank_;
};

// What one of two processes does: the same plan over arrays that come and go, within larger allocations.
void expect_of_process(int socket, int rank) {
  const auto words = std::make_shared<SocketWords>(socket, rank);
  check_cuda(cudaSetDevice(rank), "cudaSetDevice");
  const auto communicator = nccl_communicator(rank, words, std::chrono::seconds(30));
  int can_reach = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can_reach, 0, 1), "cudaDeviceCanAccessPeer");
  const NamedAxes axes{.shape = {37, 50, 21}, .order = {2, 0, 1}};
  const std::vector<ShardProblem> problems{
      {.permutation = maps::transpose(512, 1024), .element_bytes = 4, .shards = {.ranks = 2, .rank = rank}},
      {.permutation = maps::bit_reversal(17), .element_bytes = 8, .shards = {.ranks = 2, .rank = rank}},
      {.permutation = Axes(axes.shape, axes.order),
       .element_bytes = 4,
       .shards = {.ranks = 2, .rank = rank, .in = ShardAxis{1, {11, 39}}, .out = ShardAxis{0}},
       .axes = axes},
      {.permutation = maps::bit_reversal(23), .element_bytes = 8, .shards = {.ranks = 2, .rank = rank}}};
  for (const ShardProblem& problem : problems) {
    const WholeArray whole(problem, element_count(problem.permutation));
    // The last one goes by messages, between arrays that are registered.
    const bool by_messages = &problem == &problems.back();
    ShardedPlan plan(ShardPlan(problem), communicator, {},
                     by_messages ? ShardWays{.stores = false} : ShardWays{.slice_bits = 1});
    EXPECT_EQ(std::string(plan.backend()) == "stores", !by_messages && can_reach != 0)
        << plan.backend_reason();
    const std::vector<std::byte> in = whole.in_part(rank);
    const std::vector<std::byte> wanted = whole.out_part(rank);
    for (const std::size_t offset : {0U, 256U, 8U}) {
      cuda::DeviceArray from(in.size(), rank);
      from.upload(in.data());
      const cuda::DeviceArray to(wanted.size() + offset, rank);
      const OwnStream stream;
      for (int run = 0; run < 3; ++run)
        plan.run(from.data(), in.size(), to.data() + offset, wanted.size(), Stream(stream.get()));
      plan.wait(Stream(stream.get()));
      std::vector<std::byte> out(to.size());
      to.download(out.data());
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), out.begin() + static_cast<std::ptrdiff_t>(offset)))
          << plan.explain();
      words->all_gather("done");  // an array is given back when nobody writes to it
    }
  }
}

TEST_F(GpuShards, ByNcclOfTwoProcesses) {
  constexpr const char* kSocket = "FARO_TEST_SOCKET";
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  if (const char* const given = std::getenv(kSocket); given != nullptr)
    return expect_of_process(std::atoi(given), 1);
  int sockets[2] = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  // The second process is this program with this test alone, for CUDA does not live through a fork.
  const std::string socket = std::string(kSocket) + "=" + std::to_string(sockets[1]);
  std::vector<char*> environment{const_cast<char*>(socket.c_str())};
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const char* const arguments[] = {"gpu_test", "--gtest_filter=GpuShards.ByNcclOfTwoProcesses", nullptr};
    execve("/proc/self/exe", const_cast<char* const*>(arguments), environment.data());
    _exit(127);
  }
  close(sockets[1]);
  EXPECT_NO_THROW(expect_of_process(sockets[0], 0));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the other process";
}

// A rank that does not come: the others' wait ends by the time limit, and their stream is free again.
TEST_F(GpuShards, ALostRankEndsTheWaitByNccl) {
  if (!has_nccl_for_two()) GTEST_SKIP() << "no two devices with libnccl.so.2";
  constexpr std::uint64_t kBytes = 16 << 20;
  const std::vector<int> devices{0, 1};
  for (const bool registered : {false, true}) {
    on_devices(in_memory_communicators(2), devices,
               [&](Communicator& words, const std::shared_ptr<Communicator>& shared, OwnStream& stream) {
                 const auto communicator = nccl_communicator(words.rank(), shared, std::chrono::seconds(2));
                 const cuda::DeviceArray array(2 * kBytes, words.rank());
                 MessageArrays arrays;
                 if (registered) arrays = communicator->message_arrays(kBytes, kBytes);
                 const std::vector<ShardMessage> messages{{1 - words.rank(), 0, kBytes}};
                 const auto exchange = [&] {
                   communicator->exchange(arrays.to_send ? arrays.to_send.get() : array.data(), messages,
                                          arrays.received ? arrays.received.get() : array.data() + kBytes,
                                          messages, Stream(stream.get()));
                   communicator->wait(Stream(stream.get()));
                 };
                 exchange();
                 if (words.rank() == 1) return;  // lost
                 const std::string text = test::message_of(ErrorCode::device, exchange);
                 EXPECT_NE(text.find("nothing from a rank for 2000 ms"), std::string::npos) << text;
                 check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
               });
  }
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
