// Index arrays on a GPU: every kernel of the schedules, and the executor with streams, graphs, batches,
// workspaces and refusals. What is made on the device is held against the host in gpu_index_device_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "engines/cuda_index.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/index_oracle.hpp"
#include "gpu/scheduled_passes.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

using cuda::DeviceArray;
using schedule::IndexSchedule;
using schedule::PartitionShape;

class GpuIndex : public GpuTest {};

constexpr std::uint64_t kPad = 256;

std::uint64_t total(const IndexArrays& arrays, std::uint64_t count) {
  return arrays.element_bytes * arrays.batch * count;
}

// Arrays with poison around the output, `offset` bytes past an address that is aligned to 256.
struct Guarded {
  Guarded(std::uint64_t array_bytes, std::uint64_t at)
      : bytes(array_bytes), offset(at), input(bytes + offset + 1), output(bytes + offset + 2 * kPad) {
    fill_bytes(input.data(), input.size(), 7, {});
    check_cuda(cudaMemset(output.data(), 0xa5, output.size()), "cudaMemset");
  }
  std::byte* in() const { return input.data() + offset; }
  std::byte* out() const { return output.data() + offset + kPad; }
  void expect_guards() const {
    std::vector<std::byte> zone(kPad);
    for (const std::byte* from : {out() - kPad, out() + bytes}) {
      const std::uint64_t size = from < out() ? kPad : kPad - offset;
      check_cuda(cudaMemcpy(zone.data(), from, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (std::uint64_t i = offset; i < size; ++i) ASSERT_EQ(zone[i], std::byte{0xa5}) << i;
    }
  }

  std::uint64_t bytes;
  std::uint64_t offset;
  DeviceArray input;
  DeviceArray output;
};

// The schedule both ways, run as a program and compared on the device.
void expect_program(const IndexSchedule& schedule, const Indexed& source, const IndexArrays& arrays,
                    const ScheduledOptions& options = {}, std::uint64_t offset = 0) {
  SCOPED_TRACE("count " + std::to_string(source.count()) + ", " + std::to_string(arrays.element_bytes) +
               " bytes, batch " + std::to_string(arrays.batch) + ", offset " + std::to_string(offset) +
               ", variant " + std::to_string(options.variant.value_or(-1)));
  const Indexed on_device = cuda::to_device(source);
  for (const IndexSchedule& one : {schedule, schedule.inverse()}) {
    const cuda::DeviceIndexSchedule sent = cuda::upload(one, 0);
    const ScheduledPasses program(sent, arrays, options);
    const Guarded memory(total(arrays, source.count()), offset);
    const DeviceArray workspace(program.workspace_bytes());
    program.launch(memory.in(), memory.out(), workspace.data());
    const IndexOracle oracle{.entries = on_device.device_entries(),
                             .entry_bytes = on_device.index_type().bytes,
                             .forwards = one.applied == Direction::scatter,
                             .count = source.count(),
                             .element_bytes = arrays.element_bytes,
                             .batch = arrays.batch};
    EXPECT_EQ(misplaced_bytes(oracle, memory.in(), memory.out(), {}), 0U)
        << (oracle.forwards ? "forwards" : "backwards");
    memory.expect_guards();
  }
}

PartitionShape shape_of(std::uint64_t count, int chunk_bits, int most_bits) {
  return {count, chunk_bits, schedule::even_levels(count, chunk_bits, most_bits)};
}

TEST_F(GpuIndex, PartitionOfEveryWidthAndVariant) {
  for (const std::uint64_t count : {std::uint64_t{1} << 20, std::uint64_t{1000003}}) {
    const Indexed source = Indexed::random(count, 1);
    for (const int chunk_bits : {10, 12}) {
      const IndexSchedule schedule =
          schedule::partition_index_schedule(source, shape_of(count, chunk_bits, 8));
      for (const std::uint64_t bytes : {1U, 2U, 4U, 8U, 16U, 12U, 48U}) {
        for (int variant = 0; variant < kernels::kCompiledPartitionCount; ++variant) {
          expect_program(schedule, source, {.element_bytes = bytes, .batch = 1}, {false, variant});
        }
        expect_program(schedule, source, {.element_bytes = bytes, .batch = 1}, {}, bytes & (~bytes + 1));
        if (HasFailure()) return;
      }
    }
  }
}

// Chunks of 64 and 128 KiB, one and three passes, and chunks that no multiprocessor holds.
TEST_F(GpuIndex, RealChunks) {
  const std::uint64_t count = (std::uint64_t{1} << 22) + 12345;
  const Indexed source = Indexed::random(count, 2);
  for (const int chunk_bits : {14, 15}) {
    for (const int most_bits : {8, 4}) {
      const IndexSchedule schedule =
          schedule::partition_index_schedule(source, shape_of(count, chunk_bits, most_bits));
      for (const std::uint64_t bytes : {1U, 4U, 8U, 16U, 64U}) expect_program(schedule, source, {bytes, 1});
    }
  }
  const Indexed small = Indexed::random(65536, 3);
  const IndexSchedule one_chunk = schedule::partition_index_schedule(small, shape_of(65536, 16, 8));
  for (const std::uint64_t bytes : {1U, 2U, 4U, 64U}) expect_program(one_chunk, small, {bytes, 2});
}

TEST_F(GpuIndex, EveryShortLength) {
  for (std::uint64_t count = 0; count <= 4096; count = count < 300 ? count + 1 : count + 97) {
    const Indexed source = Indexed::random(count, count);
    const IndexArrays arrays{.element_bytes = std::uint64_t{1} << count % 5, .batch = 1 + count % 3};
    expect_program(schedule::direct_schedule(source), source, arrays);
    expect_program(schedule::partition_index_schedule(source, shape_of(count, 5, 4)), source, arrays);
    if (HasFailure()) return;
  }
}

TEST_F(GpuIndex, DirectOfEveryWidthAndBatch) {
  for (const std::uint64_t count : {std::uint64_t{1000}, std::uint64_t{1} << 21, std::uint64_t{2000003}}) {
    const Indexed source = Indexed::random(count, 4);
    for (const std::uint64_t bytes : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 64U}) {
      for (const std::uint64_t batch : {1U, 3U}) {
        expect_program(schedule::direct_schedule(source), source, {bytes, batch});
        expect_program(schedule::direct_schedule(source), source, {bytes, batch}, {}, bytes & (~bytes + 1));
      }
    }
  }
  const Indexed many = Indexed::random(1000, 5);
  expect_program(schedule::direct_schedule(many), many, {4, 100000});
  expect_program(schedule::partition_index_schedule(many, shape_of(1000, 14, 8)), many, {4, 100000});
}

TEST_F(GpuIndex, RowsAndColumnsFusedAndAsPublished) {
  const std::uint64_t count = 196608;  // 512 x 384
  const Indexed source = Indexed::random(count, 6);
  const IndexSchedule schedule = schedule::row_column_schedule(source);
  for (const std::uint64_t bytes : {1U, 4U, 12U, 16U, 512U}) {
    for (const bool as_published : {false, true}) {
      expect_program(schedule, source, {bytes, 2}, {as_published, {}});
    }
  }
}

Plan plan_of(const Indexed& source, std::uint64_t bytes, std::uint64_t batch,
             const IndexChoice& choice = {}) {
  return Plan({.permutation = source, .element_bytes = bytes, .batch = batch}, cuda::target(),
              recognise(source), choice);
}

void expect_run(const cuda::Executor& executor, const Plan& plan, const Indexed& on_device, void* workspace,
                Stream stream) {
  const Guarded memory(plan.array_bytes(), 0);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  executor.run(memory.in(), memory.out(), stream, workspace);
  const IndexOracle oracle{.entries = on_device.device_entries(),
                           .entry_bytes = on_device.index_type().bytes,
                           .forwards = on_device.direction() == Direction::scatter,
                           .count = plan.index_plan()->count(),
                           .element_bytes = plan.problem().element_bytes,
                           .batch = plan.problem().batch};
  EXPECT_EQ(misplaced_bytes(oracle, memory.in(), memory.out(), stream), 0U) << plan.explain();
}

TEST_F(GpuIndex, ExecutorOfEveryMethodAndDirection) {
  const std::uint64_t count = 1 << 20;
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    Indexed source = Indexed::random(count, 8);
    if (direction == Direction::gather) source = source.inverse();
    const Indexed on_device = cuda::to_device(source);
    for (const IndexMethod method :
         {IndexMethod::direct, IndexMethod::partition, IndexMethod::row_column, IndexMethod::row_column_5}) {
      for (const std::uint64_t bytes : {4U, 12U, 64U}) {
        const Plan plan = plan_of(source, bytes, 2, {.method = method, .chunk_bits = {}, .level_bits = {}});
        const cuda::Executor executor(plan);
        SCOPED_TRACE(plan.explain());
        const OwnStream stream;
        expect_run(executor, plan, on_device, nullptr, stream);
        // A schedule that was fetched and given to another executor does the same.
        const cuda::Executor again(plan, executor.schedule());
        EXPECT_EQ(executor.workspace_bytes(), plan.workspace_bytes());
        EXPECT_EQ(again.workspace_bytes(), executor.workspace_bytes());
        expect_run(again, plan, on_device, nullptr, stream);
      }
    }
  }
}

TEST_F(GpuIndex, GraphsThreadsAndNoAllocation) {
  const Indexed source = Indexed::random(3000017, 9);
  const Indexed on_device = cuda::to_device(source);
  const Plan plan =
      plan_of(source, 4, 1, {.method = IndexMethod::partition, .chunk_bits = 10, .level_bits = {6, 6}});
  const cuda::Executor executor(plan);
  ASSERT_GT(executor.workspace_bytes(), 0U);
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      const OwnStream stream;
      const DeviceArray workspace(executor.workspace_bytes());
      for (int round = 0; round < 3; ++round) expect_run(executor, plan, on_device, workspace.data(), stream);
    });
  }
  for (std::thread& caller : callers) caller.join();

  const OwnStream stream;
  const Guarded memory(plan.array_bytes(), 0);
  const DeviceArray workspace(executor.workspace_bytes());
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::uint64_t before = free_device_bytes();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  executor.run(memory.in(), memory.out(), stream, workspace.data());
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch");
  stream.wait();
  executor.run(memory.in(), memory.out(), stream, workspace.data());
  stream.wait();
  EXPECT_GE(free_device_bytes() + (4U << 20), before);
  const IndexOracle oracle{on_device.device_entries(), 4, true, plan.index_plan()->count(), 4, 1};
  EXPECT_EQ(misplaced_bytes(oracle, memory.in(), memory.out(), stream), 0U);
  check_cuda(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

using test::code_of;

TEST_F(GpuIndex, Refusals) {
  const Indexed source = Indexed::random(100000, 10);
  const Plan plan =
      plan_of(source, 4, 1, {.method = IndexMethod::partition, .chunk_bits = 6, .level_bits = {6, 5}});
  const cuda::Executor executor(plan);
  const Guarded memory(plan.array_bytes() + 16, 0);
  const DeviceArray workspace(executor.workspace_bytes() + 16);
  std::vector<std::byte> host(plan.array_bytes());
  const auto run = [&](void* in, void* out, void* lent) {
    return code_of([&] { executor.run(in, out, {}, lent); });
  };
  EXPECT_EQ(run(host.data(), memory.out(), nullptr), ErrorCode::value);
  EXPECT_EQ(run(memory.in(), host.data(), nullptr), ErrorCode::value);
  EXPECT_EQ(run(memory.in() + 1, memory.out(), nullptr), ErrorCode::value);
  EXPECT_EQ(run(memory.in(), memory.out() + 2, nullptr), ErrorCode::value);
  EXPECT_EQ(run(memory.in(), memory.out(), workspace.data() + 4), ErrorCode::value);
  EXPECT_EQ(run(memory.in(), memory.out(), host.data()), ErrorCode::value);
  EXPECT_EQ(
      code_of([&] { cuda::Executor other(plan, schedule::direct_schedule(Indexed::random(99999, 1))); }),
      ErrorCode::value);
  const auto of_other_shape = schedule::partition_index_schedule(source, shape_of(source.count(), 7, 5));
  EXPECT_EQ(code_of([&] { cuda::Executor other(plan, of_other_shape); }), ErrorCode::value);
  EXPECT_EQ(code_of([&] { cuda::Executor other(plan, schedule::direct_schedule(source)); }),
            ErrorCode::value);
  EXPECT_EQ(code_of([&] { cuda::Executor other(plan, executor.schedule().inverse()); }), ErrorCode::value);
  std::vector<std::byte> out(memory.bytes);
  check_cuda(cudaMemcpy(out.data(), memory.out(), out.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (const std::byte b : out) ASSERT_EQ(b, std::byte{0xa5});
}

// 2^31 + 3 elements, made on the device: partition and direct, forwards and backwards.
TEST_F(GpuIndex, BeyondThirtyOneBits) {
  const std::uint64_t count = (std::uint64_t{1} << 31) + 3;
  if (free_device_bytes() < count * 36) GTEST_SKIP() << "too little memory of the device";
  const Indexed scatter = cuda::random_on_device(count, 11);
  for (const Indexed& source : {scatter, scatter.inverse()}) {
    for (const IndexMethod method : {IndexMethod::partition, IndexMethod::direct}) {
      for (const std::uint64_t bytes : {1U, 4U}) {
        const Plan plan({.permutation = source, .element_bytes = bytes}, cuda::target(),
                        cuda::recognise(source), {.method = method, .chunk_bits = {}, .level_bits = {}});
        ASSERT_EQ(plan.index_plan()->chosen().method, method);
        const cuda::Executor executor(plan);
        expect_run(executor, plan, source, nullptr, {});
      }
    }
  }
}

}  // namespace
}  // namespace faro::testing
