// The CUDA engine where it cannot run, and what both engines refuse. Passes in builds with and without CUDA,
// on machines with and without a GPU; what moves data on one is in tests/gpu/.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "engines/cuda/host/device_pointer.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace cuda_engine_refusals_test {

using test::expect_refused;

constexpr int kNoSuchDevice = 1000;

const Problem kProblem{.permutation = maps::bit_reversal(10), .element_bytes = 4, .batch = 3};

// --- what there is

TEST(CudaStatus, SaysWhyInOneLine) {
  const cuda::Status status = cuda::status();
  EXPECT_FALSE(status.reason.empty());
  EXPECT_EQ(status.reason.find('\n'), std::string::npos) << status.reason;
  EXPECT_EQ(cuda::status().reason, status.reason);
  EXPECT_EQ(cuda::status().available, status.available);
}

TEST(CudaStatus, GoesWithTheDevices) {
  const std::vector<cuda::Device> devices = cuda::devices();
  EXPECT_EQ(devices.empty(), !cuda::status().available) << cuda::status().reason;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const cuda::Device& device = devices[i];
    EXPECT_EQ(device.ordinal, static_cast<int>(i));
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.major, 0);
    EXPECT_GT(device.multiprocessors, 0);
    EXPECT_LE(device.free_memory_bytes, device.memory_bytes);
    EXPECT_LE(device.shared_bytes_per_block, device.shared_bytes_per_multiprocessor);
  }
}

// --- the engine where it is not available

class WithoutCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::status().available) GTEST_SKIP() << cuda::status().reason;
  }
  // "cuda: not built: …", "cuda: no driver: …"
  const std::string reason_ = "cuda: " + cuda::status().reason;
};

TEST_F(WithoutCuda, PlansAreRefusedWithTheReason) {
  for (const int device : {cuda::kCurrentDevice, 0, kNoSuchDevice}) {
    expect_refused(ErrorCode::device, {"engine cuda", "cpu", reason_},
                   [&] { plan(kProblem, {.engine = Engine::cuda, .device = device}); });
    expect_refused(ErrorCode::device, {reason_}, [&] { cuda::target(device); });
  }
}

TEST_F(WithoutCuda, TheReasonIsOfTheBuildOrOfTheMachine) {
  const bool not_built = reason_.starts_with("cuda: not built: ");
  const bool no_driver = reason_.starts_with("cuda: no driver: ");
  const bool no_device = reason_.starts_with("cuda: no device");
  const bool old_driver = reason_.starts_with("cuda: the driver is too old: ");
  EXPECT_TRUE(not_built || no_driver || no_device || old_driver) << reason_;
}

// A plan for a device that is elsewhere can be made and explained, but not run.
TEST_F(WithoutCuda, ExecutorsAreRefused) {
  const Plan elsewhere(kProblem, cuda::target_of_capability(9, 0));
  EXPECT_FALSE(elsewhere.explain().empty());
  expect_refused(ErrorCode::device, {reason_}, [&] { cuda::Executor{elsewhere}; });
  std::vector<std::byte> in(total_bytes(kProblem));
  std::vector<std::byte> out(in.size(), kPoison);
  expect_refused(ErrorCode::device, {reason_}, [&] { cuda::run_staged(elsewhere, in.data(), out.data()); });
  EXPECT_EQ(out, std::vector<std::byte>(in.size(), kPoison));
}

// --- the engine where it is

class WithCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::status().available) GTEST_SKIP() << cuda::status().reason;
  }
};

TEST_F(WithCuda, RefusesADeviceThatIsNotThere) {
  expect_refused(ErrorCode::device, {"device 1000", "device 0"},
                 [] { plan(kProblem, {.engine = Engine::cuda, .device = kNoSuchDevice}); });
  expect_refused(ErrorCode::device, {"device -2"}, [] { cuda::target(-2); });
}

TEST_F(WithCuda, RefusesHostPointers) {
  const ExecutablePlan on_gpu = plan(kProblem, {.engine = Engine::cuda});
  Arrays arrays(total_bytes(kProblem), 0, 0, 1);
  expect_refused(ErrorCode::value, {"a host pointer as the input", "device 0", "run_staged()"},
                 [&] { on_gpu.run(arrays.in(), arrays.out(), arrays.bytes()); });
  EXPECT_TRUE(arrays.untouched());
}

TEST_F(WithCuda, ExplainsItsKernels) {
  const ExecutablePlan on_gpu = plan(kProblem, {.engine = Engine::cuda});
  EXPECT_EQ(on_gpu.engine(), Engine::cuda);
  EXPECT_EQ(on_gpu.kernel_resources().size(), on_gpu.plan().passes().size());
  EXPECT_NE(on_gpu.explain().find("registers a thread"), std::string::npos) << on_gpu.explain();
}

TEST_F(WithCuda, AnEmptyBatchNeedsNoArrays) {
  const ExecutablePlan nothing =
      plan({.permutation = maps::bit_reversal(10), .element_bytes = 4, .batch = 0}, {.engine = Engine::cuda});
  nothing.run(nullptr, nullptr, 0);
  nothing.run_staged(nullptr, nullptr, 0);
}

// --- options

TEST(CudaOptions, TakeOnlyCompiledTiles) {
  kernels::CompiledTile unknown = kernels::kCompiledTiles[0];
  unknown.shape.row_bits = 1;
  expect_refused(ErrorCode::value, {"tile", "kCompiledTiles"},
                 [&] { plan(kProblem, {.engine = Engine::cuda, .tile = unknown}); });
}

TEST(CudaOptions, AreNotForOtherEngines) {
  for (const Engine engine : {Engine::automatic, Engine::cpu}) {
    expect_refused(ErrorCode::value, {"device 0", name(engine)},
                   [&] { plan(kProblem, {.engine = engine, .device = 0}); });
    expect_refused(ErrorCode::value, {"tile", name(engine)},
                   [&] { plan(kProblem, {.engine = engine, .tile = kernels::kCompiledTiles[0]}); });
  }
}

// --- the CPU engine beside it

TEST(CpuBesideCuda, AutomaticIsTheCpuAndSaysWhy) {
  const ExecutablePlan automatic = plan(kProblem);
  EXPECT_EQ(automatic.engine(), Engine::cpu);
  EXPECT_NE(automatic.engine_reason().find("host"), std::string::npos) << automatic.engine_reason();
  EXPECT_TRUE(automatic.kernel_resources().empty());
  EXPECT_EQ(automatic.explain(), automatic.plan().explain());
}

TEST(CpuBesideCuda, RefusesAStream) {
  const ExecutablePlan on_cpu = plan(kProblem);
  Arrays arrays(total_bytes(kProblem), 0, 0, 1);
  const Stream stream(reinterpret_cast<CUstream_st*>(std::uintptr_t{1}));  // cudaStreamLegacy
  expect_refused(ErrorCode::value, {"a stream", "no stream"},
                 [&] { on_cpu.run(arrays.in(), arrays.out(), arrays.bytes(), stream); });
  EXPECT_TRUE(arrays.untouched());
}

// status() has loaded the driver, where there is one: from then on every array is asked about.
TEST(CpuBesideCuda, TakesHostArrays) {
  cuda::status();
  const ExecutablePlan on_cpu = plan(kProblem);
  Arrays arrays(total_bytes(kProblem), 0, 0, 1);
  on_cpu.run(arrays.in(), arrays.out(), arrays.bytes());
  EXPECT_EQ(first_wrong(kProblem, arrays.in(), arrays.out()), std::nullopt);
}

TEST(CpuBesideCuda, StagingIsRunning) {
  const ExecutablePlan on_cpu = plan(kProblem);
  Arrays arrays(total_bytes(kProblem), 0, 0, 1);
  on_cpu.run_staged(arrays.in(), arrays.out(), arrays.bytes());
  EXPECT_EQ(first_wrong(kProblem, arrays.in(), arrays.out()), std::nullopt);
  EXPECT_TRUE(arrays.guards_intact() && arrays.input_intact());
  expect_refused(ErrorCode::value, {"bytes"},
                 [&] { on_cpu.run_staged(arrays.in(), arrays.out(), arrays.bytes() - 1); });
}

}  // namespace cuda_engine_refusals_test
}  // namespace faro::testing
