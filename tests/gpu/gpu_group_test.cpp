// Groups on a GPU against the obvious loop: drawn lists of mixed kinds, arrays that begin anywhere, rows and
// numbers that are changed, other arrays by addresses of the host and of the device, graphs that are replayed
// with others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "drawn_group.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/group.hpp"
#include "faro/rows.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kGroupGuard = 256;

// One member's arrays on the device, beside what they should become.
class DeviceMember {
 public:
  DeviceMember(Problem of, test::SplitMix64& random, std::uint64_t alignment)
      : problem(std::move(of)), host_(problem, random, alignment) {
    in_past_ = test::below(random, 256 / alignment) * alignment;
    out_past_ = test::below(random, 256 / alignment) * alignment;
    in_ = std::make_unique<cuda::DeviceArray>(host_.in_bytes() + in_past_ + 1);
    out_ = std::make_unique<cuda::DeviceArray>(host_.out_bytes() + out_past_ + 2 * kGroupGuard);
    std::vector<std::byte> bytes(in_->size(), kPoison);
    std::copy_n(host_.in(), host_.in_bytes(), bytes.begin() + static_cast<std::ptrdiff_t>(in_past_));
    in_->upload(bytes.data());
    poison();
  }

  const void* in() const { return in_->data() + in_past_; }
  void* out() const { return out_->data() + kGroupGuard + out_past_; }
  void poison() {
    const std::vector<std::byte> bytes(out_->size(), kPoison);
    out_->upload(bytes.data());
  }
  void expect_moved() const { expect(true); }
  void expect_untouched() const { expect(false); }

  Problem problem;

 private:
  void expect(bool moved) const {
    std::vector<std::byte> wanted(out_->size(), kPoison);
    if (moved) {
      std::vector<std::byte> in(in_->size());
      in_->download(in.data());
      permute_naively(problem, in.data() + in_past_, wanted.data() + kGroupGuard + out_past_, 1);
    }
    std::vector<std::byte> got(out_->size());
    out_->download(got.data());
    EXPECT_TRUE(got == wanted) << to_text(problem) << ", elements of " << problem.element_bytes
                               << " bytes, batch " << problem.batch;
  }

  test::MemberArrays host_;
  std::unique_ptr<cuda::DeviceArray> in_;
  std::unique_ptr<cuda::DeviceArray> out_;
  std::uint64_t in_past_ = 0;
  std::uint64_t out_past_ = 0;
};

std::uint64_t unit_of(const Problem& problem) {
  const std::uint64_t width = problem.element_bytes;
  return std::min<std::uint64_t>(width & (~width + 1), 16);
}

struct DeviceList {
  std::vector<DeviceMember> members;

  void add(const Problem& problem, test::SplitMix64& random, std::uint64_t alignment) {
    members.emplace_back(problem, random, alignment);
  }
  std::vector<GroupMember> with_pointers() const {
    std::vector<GroupMember> all;
    for (const DeviceMember& each : members)
      all.push_back({.problem = each.problem, .in = each.in(), .out = each.out()});
    return all;
  }
  std::vector<const void*> ins() const {
    std::vector<const void*> all;
    for (const DeviceMember& each : members) all.push_back(each.in());
    return all;
  }
  std::vector<void*> outs() const {
    std::vector<void*> all;
    for (const DeviceMember& each : members) all.push_back(each.out());
    return all;
  }
};

// What is queued on a stream that is captured, to be launched again and again.
class CapturedRun {
 public:
  template <typename Queue>
  explicit CapturedRun(const Queue& queue) {
    check_cuda(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    queue(Stream(stream_.get()));
    check_cuda(cudaStreamEndCapture(stream_.get(), &graph_), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  CapturedRun(const CapturedRun&) = delete;
  CapturedRun& operator=(const CapturedRun&) = delete;
  ~CapturedRun() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void launch_and_wait() const {
    check_cuda(cudaGraphLaunch(executable_, stream_.get()), "cudaGraphLaunch");
    stream_.wait();
  }

 private:
  OwnStream stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

constexpr GroupOptions kOnDevice{.engine = Engine::cuda};

class GpuGroup : public GpuTest {};

TEST_F(GpuGroup, MovesDrawnListsWhereverArraysBegin) {
  for (std::uint64_t seed = settings().seed; seed < settings().seed + 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::SplitMix64 random{seed};
    DeviceList list;
    const std::uint64_t most = test::below(random, 2) == 0 ? 300000 : 3000;
    for (const Problem& problem : test::draw_problems(random, 1 + test::below(random, 40), most))
      list.add(problem, random, test::below(random, 2) == 0 ? unit_of(problem) : 32);
    const Group group = plan_group(list.with_pointers(), kOnDevice);
    const OwnStream stream;
    group.run(stream);
    stream.wait();
    for (const DeviceMember& each : list.members) each.expect_moved();
    for (DeviceMember& each : list.members) each.poison();
    group.run(list.ins(), list.outs(), stream);
    stream.wait();
    for (const DeviceMember& each : list.members) each.expect_moved();
    if (HasFailure()) return;
  }
}

TEST_F(GpuGroup, MovesTransposesByTheKernelsOfPlans) {
  for (std::uint64_t seed = settings().seed; seed < settings().seed + 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::SplitMix64 random{seed};
    DeviceList list;
    for (int i = 0; i < 40; ++i) {
      const Problem problem = test::draw_transpose(random);
      list.add(problem, random, test::below(random, 3) == 0 ? unit_of(problem) : 32);
    }
    const Group group = plan_group(list.with_pointers(), kOnDevice);
    EXPECT_LE(group.launches(), 5U) << group.explain();
    const OwnStream stream;
    group.run(stream);
    stream.wait();
    for (const DeviceMember& each : list.members) each.expect_moved();
    if (HasFailure()) return;
  }
}

// Those that go by the launches of all.
std::vector<Problem> grouped_problems(test::SplitMix64& random, std::size_t count) {
  std::vector<Problem> all;
  while (all.size() < count) {
    Problem problem = test::draw_problem(random, 50000);
    if (problem.view || std::holds_alternative<Axes>(problem.permutation) ||
        std::holds_alternative<Affine>(problem.permutation) ||
        std::holds_alternative<Cyclic>(problem.permutation))
      all.push_back(std::move(problem));
  }
  return all;
}

TEST_F(GpuGroup, ReplaysAGraphWithOtherAddresses) {
  test::SplitMix64 random{settings().seed};
  const std::vector<Problem> problems = grouped_problems(random, 30);
  DeviceList first;
  DeviceList second;
  std::vector<GroupMember> without;
  for (const Problem& problem : problems) {
    first.add(problem, random, 32);
    second.add(problem, random, 32);
    without.push_back({.problem = problem});
  }
  const Group group = plan_group(without, kOnDevice);
  const auto table_of = [](const DeviceList& list) {
    std::vector<const void*> all = list.ins();
    for (void* const out : list.outs()) all.push_back(out);
    return all;
  };
  const std::uint64_t bytes = 2 * problems.size() * sizeof(void*);
  cuda::DeviceArray table(bytes);
  table.upload(table_of(first).data());
  const CapturedRun run(
      [&](Stream stream) { group.run_table(reinterpret_cast<const void* const*>(table.data()), stream); });
  run.launch_and_wait();
  for (const DeviceMember& each : first.members) each.expect_moved();
  for (const DeviceMember& each : second.members) each.expect_untouched();
  for (DeviceMember& each : first.members) each.poison();
  table.upload(table_of(second).data());
  run.launch_and_wait();
  for (const DeviceMember& each : first.members) each.expect_untouched();
  for (const DeviceMember& each : second.members) each.expect_moved();
}

TEST_F(GpuGroup, IsCapturedWithPointersOfTheHost) {
  test::SplitMix64 random{settings().seed};
  DeviceList list;
  for (const Problem& problem : grouped_problems(random, 600)) list.add(problem, random, 32);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  const CapturedRun run([&](Stream stream) {
    group.run(list.ins(), list.outs(), stream);  // whose lists are gone when it is launched
  });
  for (int i = 0; i < 2; ++i) {
    run.launch_and_wait();
    for (DeviceMember& each : list.members) {
      each.expect_moved();
      each.poison();
    }
  }
}

// Of the addresses that it was made with it keeps a graph, which is no part of another.
TEST_F(GpuGroup, IsCapturedWithTheArraysThatItWasMadeWith) {
  test::SplitMix64 random{settings().seed + 9};
  DeviceList list;
  for (const Problem& problem : grouped_problems(random, 60)) list.add(problem, random, 32);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  const CapturedRun run([&](Stream stream) { group.run(stream); });
  for (DeviceMember& each : list.members) each.expect_untouched();
  for (int i = 0; i < 2; ++i) {
    run.launch_and_wait();
    for (DeviceMember& each : list.members) {
      each.expect_moved();
      each.poison();
    }
  }
}

TEST_F(GpuGroup, IsRunByManyThreadsAtOnce) {
  test::SplitMix64 random{settings().seed + 10};
  DeviceList list;
  for (const Problem& problem : grouped_problems(random, 60)) list.add(problem, random, 32);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const OwnStream stream;
      for (int i = 0; i < 50; ++i) group.run(stream);
      stream.wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const DeviceMember& each : list.members) each.expect_moved();
}

TEST_F(GpuGroup, RunsInMemoryThatIsLent) {
  test::SplitMix64 random{settings().seed + 5};
  DeviceList list;
  for (const Problem& problem : test::draw_problems(random, 40, 20000)) list.add(problem, random, 32);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  ASSERT_GT(group.workspace_bytes(), 0U);
  const cuda::DeviceArray room(group.workspace_bytes());
  const OwnStream stream;
  group.run(list.ins(), list.outs(), {.data = room.data(), .bytes = room.size()}, stream);
  stream.wait();
  for (const DeviceMember& each : list.members) each.expect_moved();
  EXPECT_NE(
      test::message_of(ErrorCode::value,
                       [&] { group.run(list.ins(), list.outs(), {.data = room.data(), .bytes = 8}, stream); })
          .find("workspace_bytes()"),
      std::string::npos);
}

TEST_F(GpuGroup, MovesTheLayersOfACacheInOneLaunch) {
  test::SplitMix64 random{3};
  DeviceList list;
  const Problem layer{.permutation = Axes({2048, 8, 128}, {1, 0, 2}), .element_bytes = 2};
  for (int i = 0; i < 16; ++i) list.add(layer, random, 256);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  EXPECT_EQ(group.launches(), 1U) << group.explain();
  group.run();
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (const DeviceMember& each : list.members) each.expect_moved();
}

TEST_F(GpuGroup, ChangesNumbersAndTakesRows) {
  const std::uint64_t count = 64 * 100;
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  cuda::DeviceArray in(count * 4);
  cuda::DeviceArray narrow(count * 2);
  cuda::DeviceArray taken(count * 4);
  in.upload(numbers.data());
  std::vector<std::int32_t> entries(100);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<std::int32_t>(99 - i);
  cuda::DeviceArray on_device(400);
  on_device.upload(entries.data());
  const ExecutableRows rows =
      plan_rows(Take{.from = {on_device.data(), 100, {.bytes = 4, .is_signed = true}}, .rows = 100},
                {.row_bytes = 256}, {.engine = Engine::cuda});
  const std::vector<GroupMember> members{
      {.problem = {.permutation = Axes({64, 100}, {1, 0})},
       .arithmetic = std::make_shared<const Arithmetic>(Arithmetic{.from = Number::f32, .to = Number::f16}),
       .in = in.data(),
       .out = narrow.data()},
      {.rows = &rows, .in = in.data(), .out = taken.data()}};
  const Group group = plan_group(members, kOnDevice);
  EXPECT_EQ(group.launches(), 2U) << group.explain();
  group.run();
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<float> got(count);
  taken.download(got.data());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], numbers[(99 - i / 64) * 64 + i % 64]);
  const auto wanted =
      plan(Problem{.permutation = Axes({64, 100}, {1, 0})}, *members[0].arithmetic, {.engine = Engine::cpu});
  std::vector<std::uint16_t> halves(count);
  wanted.run({numbers.data(), count}, halves.data(), count);
  std::vector<std::uint16_t> got_halves(count);
  narrow.download(got_halves.data());
  EXPECT_EQ(got_halves, halves);
  const void* const* const table = reinterpret_cast<const void* const*>(in.data());
  EXPECT_NE(test::message_of(ErrorCode::unsupported, [&] { group.run_table(table); }).find("member"),
            std::string::npos);
}

TEST_F(GpuGroup, RefusesArraysThatLieOtherwiseAndThoseOfTheHost) {
  test::SplitMix64 random{4};
  DeviceList list;
  const Problem problem{.permutation = Axes({50, 60}, {1, 0}), .element_bytes = 4};
  for (int i = 0; i < 3; ++i) list.add(problem, random, 32);
  const Group group = plan_group(list.with_pointers(), kOnDevice);
  std::vector<const void*> ins = list.ins();
  ins[1] = static_cast<const std::byte*>(ins[1]) + 4;
  EXPECT_NE(test::message_of(ErrorCode::value, [&] { group.run(ins, list.outs()); }).find("member 1"),
            std::string::npos);
  std::vector<GroupMember> members = list.with_pointers();
  std::vector<std::uint32_t> on_host(3000);
  members[2].in = on_host.data();
  EXPECT_NE(test::message_of(ErrorCode::value, [&] { static_cast<void>(plan_group(members, kOnDevice)); })
                .find("member 2"),
            std::string::npos);
  for (const DeviceMember& each : list.members) each.expect_untouched();
}

TEST_F(GpuGroup, ChangesNumbersOfManyShapesAsTheCpuDoes) {
  test::SplitMix64 random{settings().seed};
  struct Changed {
    Strided view;
    std::vector<float> in;
    std::unique_ptr<cuda::DeviceArray> from;
    std::unique_ptr<cuda::DeviceArray> to;
  };
  const auto narrows = std::make_shared<const Arithmetic>(
      Arithmetic{.from = Number::f32, .to = Number::bf16, .scale = {{0.5}, {}}});
  std::vector<Changed> arrays(20);
  std::vector<GroupMember> members;
  for (Changed& each : arrays) {
    do each.view = test::draw_view(random);
    while (element_count(each.view) == 0);
    each.in.resize(in_elements(each.view));
    for (float& number : each.in) number = static_cast<float>(random() % 10000) / 7;
    each.from = std::make_unique<cuda::DeviceArray>(each.in.size() * 4);
    each.to = std::make_unique<cuda::DeviceArray>(out_elements(each.view) * 2);
    each.from->upload(each.in.data());
    const std::vector<std::uint16_t> poison(out_elements(each.view), 0xa5a5);
    each.to->upload(poison.data());
    members.push_back({.problem = {.view = each.view},
                       .arithmetic = narrows,
                       .in = each.from->data(),
                       .out = each.to->data()});
  }
  const Group group = plan_group(members, kOnDevice);
  group.run();
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (const Changed& each : arrays) {
    std::vector<std::uint16_t> wanted(out_elements(each.view), 0xa5a5);
    plan(each.view, *narrows, {.engine = Engine::cpu})
        .run({each.in.data(), each.in.size()}, wanted.data(), wanted.size());
    std::vector<std::uint16_t> got(wanted.size());
    each.to->download(got.data());
    EXPECT_EQ(got, wanted) << to_text(each.view);
  }
}

}  // namespace
}  // namespace faro::testing
