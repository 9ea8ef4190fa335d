// One plan from many threads and streams at once, its life beside the work that it queued, memory, and
// graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engines/cuda_index.hpp"
#include "faro/faro.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/transpose_oracle.hpp"
#include "oracle.hpp"

namespace faro::testing {
namespace {

class GpuConcurrency : public GpuTest {};

ExecutablePlan gpu_plan(const Problem& problem) { return plan(problem, {.engine = Engine::cuda}); }

// One of each kind of pass.
std::vector<Problem> problems_of_every_kind() {
  return {
      {.permutation = maps::random_bmmc(20, 4), .element_bytes = 4},
      {.permutation = maps::bit_reversal(21), .element_bytes = 1},
      {.permutation = maps::random_bmmc(19, 5), .element_bytes = 2, .batch = 3},
      {.permutation = maps::bit_reversal(7), .element_bytes = 4, .batch = 1001},  // tiles, and a tail
      {.permutation = maps::identity(20), .element_bytes = 4},
      {.permutation = direct_sum(Affine(8), maps::bit_reversal(12)), .element_bytes = 4},
      {.permutation = maps::gray(3), .element_bytes = 1},
  };
}

// --- threads and streams

TEST_F(GpuConcurrency, OnePlanFromManyThreadsAndStreams) {
  constexpr int kThreads = 8;
  constexpr std::size_t kStreams = 4;
  constexpr std::uint64_t kRounds = 3;
  for (const Problem& problem : problems_of_every_kind()) {
    const ExecutablePlan shared = gpu_plan(problem);
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kThreads; ++caller) {
      callers.emplace_back([&, caller] {
        try {
          const OwnStream streams[kStreams];
          std::vector<std::unique_ptr<GpuArrays>> arrays;
          for (std::size_t i = 0; i < kStreams; ++i) {
            arrays.push_back(
                std::make_unique<GpuArrays>(total_bytes(problem), 0, i % 2 * problem.element_bytes));
          }
          for (std::uint64_t round = 0; round < kRounds; ++round) {
            const std::uint64_t seed = round * 100 + static_cast<std::uint64_t>(caller) * 10;
            for (std::size_t i = 0; i < kStreams; ++i) arrays[i]->prepare(seed + i, streams[i]);
            for (std::size_t i = 0; i < kStreams; ++i) {
              shared.run(arrays[i]->in(), arrays[i]->out(), arrays[i]->bytes(), streams[i]);
            }
            for (std::size_t i = 0; i < kStreams; ++i) {
              EXPECT_EQ(arrays[i]->wrong(problem, streams[i]), "") << describe(problem);
            }
          }
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what() << "\n  " << describe(problem);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    if (HasFailure()) return;
  }
}

TEST_F(GpuConcurrency, ManyPlansAtOnce) {
  const Target target = cuda::target();
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int n = 2; n <= 20; n += 3) {
        check({.problem = {.permutation = maps::random_bmmc(n, caller),
                           .element_bytes = std::uint64_t{1} << caller % 6,
                           .batch = 1 + caller % 3},
               .target = target,
               .seed = caller});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Each caller plans index arrays of its own, and one of the device that all share: schedules are made by
// several kernels with memory in between, of every caller at once.
TEST_F(GpuConcurrency, IndexArraysPlannedAtOnce) {
  constexpr std::uint64_t kShared = 300'007;
  const Indexed shared = cuda::random_on_device(kShared, 5);
  const Indexed fetched = cuda::to_host(shared);
  const auto check_one = [](const Indexed& planned, const Indexed& known, std::uint64_t width) {
    const Problem problem{.permutation = planned, .element_bytes = width};
    const std::uint64_t bytes = total_bytes(problem);
    std::vector<std::byte> in(bytes);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 41 + i / 251);
    std::vector<std::byte> wanted(bytes);
    permute_naively({.permutation = known, .element_bytes = width}, in.data(), wanted.data(), 1);
    const OwnStream stream;
    for (const std::optional<IndexMethod> method :
         {std::optional<IndexMethod>(), std::optional(IndexMethod::partition),
          std::optional(IndexMethod::direct)}) {
      PlanOptions options{.engine = Engine::cuda};
      options.index_choice.method = method;
      const ExecutablePlan made = plan(problem, options);
      cuda::DeviceArray from(bytes);
      const cuda::DeviceArray to(bytes);
      from.upload(in.data());
      made.run(from.data(), to.data(), bytes, stream);
      stream.wait();
      std::vector<std::byte> out(bytes);
      to.download(out.data());
      EXPECT_TRUE(out == wanted) << planned.count() << " elements of " << width << " bytes, "
                                 << to_text(*made.plan().way());
    }
  };
  std::vector<std::thread> callers;
  for (std::uint64_t caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      try {
        const std::uint64_t width = std::uint64_t{1} << caller % 5;
        for (const std::uint64_t count : {1000U, 70'001U, 1U << 20}) {
          const Indexed own = Indexed::random(count + caller, caller);
          const Indexed turned = own.redirected(caller % 2 == 0 ? Direction::scatter : Direction::gather);
          check_one(turned, turned, width);
        }
        check_one(shared, fetched, width);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "caller " << caller << ": " << error.what();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Transpositions in place whose plans share kernels but differ in how much shared memory a launch takes.
// The limit of dynamic shared memory belongs to the kernel, not to the plan: a plan that sets it to its own
// need takes the launches of another thread's plan away. In the rising rounds each thread's array is a little
// larger than all before it, so that whoever looks at the limit finds it too low, and all set it at once.
class TransposesPlannedAtOnce {
 public:
  static constexpr int kThreads = 12;
  static constexpr int kRounds = 400;

  explicit TransposesPlannedAtOnce(std::uint64_t seed) : seed_(seed) {}

  void run() {
    std::vector<std::thread> callers;
    for (int caller = 0; caller < kThreads; ++caller) callers.emplace_back([this, caller] { call(caller); });
    for (std::thread& caller : callers) caller.join();
  }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;

  // All threads draw elements of one width, and so share kernels. Every other round takes shapes of any form.
  static Rectangle draw_shape(int round, std::mt19937_64& random) {
    constexpr std::uint64_t widths[] = {4, 8, 2, 1, 16};
    constexpr std::uint64_t least_bytes = std::uint64_t{49} << 10;  // above what needs no limit to be raised
    constexpr std::uint64_t most_bytes = std::uint64_t{210} << 10;  // of an array that a block takes whole
    const std::uint64_t width = widths[round / 2 % 5];
    const std::uint64_t step = (most_bytes - least_bytes) / kRounds;
    const std::uint64_t bytes =
        round % 2 == 0 ? least_bytes + step * static_cast<std::uint64_t>(round) + random() % (4 * step)
                       : random() % kMostBytes;
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes / width);
    const std::uint64_t rows = 1 + random() % std::min(count, std::uint64_t{1} << (1 + random() % 18));
    return {.arrays = 1, .rows = rows, .columns = count / rows, .element_bytes = width};
  }

  void call(int caller) {
    const std::uint64_t seed = seed_ * kThreads + static_cast<std::uint64_t>(caller);
    std::mt19937_64 random(seed);
    std::optional<OwnStream> stream;
    std::optional<cuda::DeviceArray> data;
    std::optional<cuda::DeviceArray> workspace;
    for (int round = 0; round < kRounds; ++round) {
      const Rectangle shape = draw_shape(round, random);
      start_.arrive_and_wait();
      if (failed_) continue;  // but at every barrier
      try {
        if (!stream) {
          stream.emplace();
          data.emplace(kMostBytes);
          workspace.emplace(kMostBytes);
        }
        const std::string wrong = transpose(shape, round, *data, *workspace, *stream);
        if (wrong.empty()) continue;
        ADD_FAILURE() << wrong << where(shape, seed, round);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << where(shape, seed, round);
      }
      failed_ = true;
    }
  }

  static std::string where(const Rectangle& shape, std::uint64_t seed, int round) {
    return "\n  transpose(" + std::to_string(shape.rows) + ", " + std::to_string(shape.columns) + ") of " +
           std::to_string(shape.element_bytes) + " bytes in place, round " + std::to_string(round) +
           ", the thread's seed " + std::to_string(seed);
  }

  // Plans, runs and compares; what is wrong, in words.
  static std::string transpose(const Rectangle& shape, int round, const cuda::DeviceArray& data,
                               const cuda::DeviceArray& workspace, const OwnStream& stream) {
    const auto drawn = static_cast<std::uint64_t>(round);
    const Plan plan({.permutation = maps::transpose_any(shape.rows, shape.columns),
                     .element_bytes = shape.element_bytes,
                     .batch = shape.arrays,
                     .placement = Placement::in_place},
                    cuda::target());
    if (plan.workspace_bytes() > workspace.size()) return "a workspace of more bytes than there are";
    draw(data.data(), shape, drawn, stream);
    const cuda::Executor executor(plan);
    executor.run(data.data(), stream, plan.workspace_bytes() == 0 ? nullptr : workspace.data());
    const std::uint64_t misplaced = misplaced_elements(data.data(), shape, drawn, stream);
    return misplaced == 0 ? "" : std::to_string(misplaced) + " misplaced elements";
  }

  std::uint64_t seed_;
  std::barrier<> start_{kThreads};
  std::atomic<bool> failed_ = false;
};

TEST_F(GpuConcurrency, TransposesInPlacePlannedAtOnce) { TransposesPlannedAtOnce(settings().seed).run(); }

// Work on one stream is done in order: an involution twice, with no waiting in between.
TEST_F(GpuConcurrency, RunsFollowOneAnotherOnAStream) {
  const Problem problem{.permutation = maps::random_bmmc(20, 7), .element_bytes = 4};
  const Problem undo{.permutation = inverse(problem.permutation), .element_bytes = 4};
  const Problem nothing{.permutation = maps::identity(20), .element_bytes = 4};
  const ExecutablePlan there = gpu_plan(problem);
  const ExecutablePlan back = gpu_plan(undo);
  const OwnStream stream;
  GpuArrays arrays(total_bytes(problem), 0, 0);
  const cuda::DeviceArray between(total_bytes(problem));
  arrays.prepare(1, stream);
  there.run(arrays.in(), between.data(), arrays.bytes(), stream);
  back.run(between.data(), arrays.out(), arrays.bytes(), stream);
  EXPECT_EQ(arrays.wrong(nothing, stream), "");
}

TEST_F(GpuConcurrency, TheDefaultStream) {
  for (const Problem& problem : problems_of_every_kind()) {
    const ExecutablePlan on_default = gpu_plan(problem);
    GpuArrays arrays(total_bytes(problem), 0, 0);
    arrays.prepare(3, {});
    on_default.run(arrays.in(), arrays.out(), arrays.bytes());
    EXPECT_EQ(arrays.wrong(problem, {}), "") << describe(problem);
  }
}

TEST_F(GpuConcurrency, TheCurrentDeviceIsLeftAsItWas) {
  const std::vector<cuda::Device> devices = cuda::devices();
  if (devices.size() < 2) GTEST_SKIP() << "one device only";
  const Problem problem{.permutation = maps::bit_reversal(20), .element_bytes = 4};
  check_cuda(cudaSetDevice(1), "cudaSetDevice");
  const OwnStream stream;
  GpuArrays arrays(total_bytes(problem), 0, 0);
  arrays.prepare(1, stream);
  const ExecutablePlan first = plan(problem, {.engine = Engine::cuda, .device = 0});
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
  const ExecutablePlan second = plan(problem, {.engine = Engine::cuda, .device = 1});
  EXPECT_THROW(first.run(arrays.in(), arrays.out(), arrays.bytes(), stream), Error);
  second.run(arrays.in(), arrays.out(), arrays.bytes(), stream);
  int current = -1;
  check_cuda(cudaGetDevice(&current), "cudaGetDevice");
  EXPECT_EQ(current, 0);
  check_cuda(cudaSetDevice(1), "cudaSetDevice");
  EXPECT_EQ(arrays.wrong(problem, stream), "");
  check_cuda(cudaSetDevice(0), "cudaSetDevice");
}

// --- the plan's life, and memory

TEST_F(GpuConcurrency, APlanMayGoWhenItsWorkIsDone) {
  for (const Problem& problem : problems_of_every_kind()) {
    const OwnStream stream;
    GpuArrays arrays(total_bytes(problem), 0, 0);
    arrays.prepare(1, stream);
    {
      ExecutablePlan made = gpu_plan(problem);
      const ExecutablePlan moved = std::move(made);
      moved.run(arrays.in(), arrays.out(), arrays.bytes(), stream);
      stream.wait();
    }
    EXPECT_EQ(arrays.wrong(problem, stream), "") << describe(problem);
  }
}

TEST_F(GpuConcurrency, RunningAllocatesNothing) {
  for (const Problem& problem : problems_of_every_kind()) {
    const ExecutablePlan made = gpu_plan(problem);
    EXPECT_EQ(made.workspace_bytes(), 0U);
    const OwnStream stream;
    GpuArrays aligned(total_bytes(problem), 0, 0);
    GpuArrays unaligned(total_bytes(problem), problem.element_bytes, 0);
    aligned.prepare(1, stream);
    unaligned.prepare(1, stream);
    stream.wait();
    const std::uint64_t before = free_device_bytes();
    for (int i = 0; i < 50; ++i) {
      made.run(aligned.in(), aligned.out(), aligned.bytes(), stream);
      made.run(unaligned.in(), unaligned.out(), unaligned.bytes(), stream);
    }
    EXPECT_EQ(free_device_bytes(), before) << describe(problem);
    stream.wait();
    EXPECT_EQ(free_device_bytes(), before) << describe(problem);
    EXPECT_EQ(aligned.wrong(problem, stream) + unaligned.wrong(problem, stream), "") << describe(problem);
  }
}

// --- graphs

// A capture that an allocation, a wait or a query would have broken, launched on other data each time.
class Graph {
 public:
  template <typename Work>
  Graph(const OwnStream& stream, const Work& work) {
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    work();
    check_cuda(cudaStreamEndCapture(stream.get(), &graph_), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    static_cast<void>(cudaGraphExecDestroy(executable_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }

  void launch(const OwnStream& stream) const {
    check_cuda(cudaGraphLaunch(executable_, stream.get()), "cudaGraphLaunch");
  }
  std::size_t nodes() const {
    std::size_t count = 0;
    check_cuda(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    return count;
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

TEST_F(GpuConcurrency, CapturedInAGraphAndReplayed) {
  for (const Problem& problem : problems_of_every_kind()) {
    for (const std::uint64_t offset : {std::uint64_t{0}, problem.element_bytes}) {
      const ExecutablePlan made = gpu_plan(problem);
      const OwnStream stream;
      GpuArrays arrays(total_bytes(problem), offset, 0);
      stream.wait();
      const Graph graph(stream, [&] { made.run(arrays.in(), arrays.out(), arrays.bytes(), stream); });
      EXPECT_EQ(graph.nodes(), made.plan().passes().size()) << describe(problem);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        arrays.prepare(seed, stream);
        graph.launch(stream);
        EXPECT_EQ(arrays.wrong(problem, stream), "") << describe(problem) << ", replay " << seed;
      }
    }
  }
}

// Kernels of small arrays are launched before the one ahead has ended. Between two arrays there and back,
// each reads what the one ahead has written, and writes what that one has read: from caches of the last but
// one it would be old.
TEST_F(GpuConcurrency, SmallArraysInAChain) {
  constexpr int calls = 65;
  for (const char* const map : {"axes(31 33; 1 0)", "axes(63 64 65; 2 0 1)", "axes(512 512; 1 0)",
                                "bit_reversal(14)", "random_bmmc(18, 1)", "axes(16 16 16; 2 1 0)"}) {
    for (const std::uint64_t width : {1U, 4U, 8U}) {
      const Problem problem{.permutation = parse_permutation(map), .element_bytes = width};
      const ExecutablePlan made = gpu_plan(problem);
      const ExecutablePlan host = plan(problem, {.engine = Engine::cpu});
      const std::uint64_t bytes = total_bytes(problem);
      std::vector<std::byte> first(bytes);
      std::mt19937 random(settings().seed);
      for (std::byte& byte : first) byte = static_cast<std::byte>(random());
      std::vector<std::byte> wanted = first;
      std::vector<std::byte> other(bytes);
      for (int call = 0; call < calls; ++call) {
        host.run(wanted.data(), other.data(), bytes);
        wanted.swap(other);
      }
      const OwnStream stream;
      cuda::DeviceArray a(bytes);
      cuda::DeviceArray b(bytes);
      const auto chain = [&] {
        for (int call = 0; call < calls; ++call) {
          made.run((call % 2 == 0 ? a : b).data(), (call % 2 == 0 ? b : a).data(), bytes, stream);
        }
      };
      const Graph graph(stream, chain);
      for (const bool in_graph : {false, true}) {
        a.upload(first.data());
        if (in_graph) {
          graph.launch(stream);
        } else {
          chain();
        }
        stream.wait();
        b.download(other.data());
        EXPECT_TRUE(other == wanted) << describe(problem) << (in_graph ? ", in a graph" : "");
      }
    }
  }
}

// What is refused during a capture leaves the capture whole.
TEST_F(GpuConcurrency, ARefusalDoesNotBreakACapture) {
  const Problem problem{.permutation = maps::bit_reversal(16), .element_bytes = 4};
  const ExecutablePlan made = gpu_plan(problem);
  const OwnStream stream;
  GpuArrays arrays(total_bytes(problem), 0, 0);
  std::vector<std::byte> host(total_bytes(problem));
  const Graph graph(stream, [&] {
    EXPECT_THROW(made.run(arrays.in(), arrays.out() + 1, arrays.bytes(), stream), Error);
    EXPECT_THROW(made.run(host.data(), arrays.out(), arrays.bytes(), stream), Error);
    made.run(arrays.in(), arrays.out(), arrays.bytes(), stream);
  });
  arrays.prepare(1, stream);
  graph.launch(stream);
  EXPECT_EQ(arrays.wrong(problem, stream), "");
}

}  // namespace
}  // namespace faro::testing
