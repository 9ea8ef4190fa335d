// Emitted kernels on a GPU, compiled at run time: every rung against the oracle, maps against the same
// arithmetic on the host, and the compiler's modules. tests/emit/emitted_executor_test.cpp has what needs no
// GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/engines/cuda_emitted.hpp"
#include "faro/engines/nvrtc.hpp"
#include "faro/engines/runtime_compiler.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "gpu/gpu_maps.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

class GpuEmitted : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const cuda::NvrtcStatus compiler = cuda::nvrtc_status();
    if (!compiler.available) GTEST_SKIP() << compiler.reason;
  }
};

// --- every rung, moved elements

struct RungCase {
  Affine map;
  std::string command;
};

void check_rungs(int n, const std::string& element, std::uint64_t element_bytes,
                 std::set<std::string>& reached) {
  std::vector<emit::Source> sources;
  std::vector<RungCase> cases;
  for (const Affine& map :
       {maps::identity(n), maps::bit_reversal(n), maps::reverse(n), maps::gray(n), maps::random_bpc(n, 1),
        maps::random_bpc(n, 2), maps::random_bmmc(n, 1), maps::random_bmmc(n, 2),
        direct_sum(Affine(n / 2), maps::random_bmmc(n - n / 2, 3))}) {
    for (const emit::Rung rung : {emit::Rung::naive, emit::Rung::tile, emit::Rung::banks, emit::Rung::iters,
                                  emit::Rung::two_pass, emit::Rung::one_pass}) {
      const std::string command = "faro emit '" + to_text(Permutation(map)) + "' --kernel " +
                                  emit::name(rung) + " --element '" + element + "'";
      try {
        sources.push_back(emit::emit(
            map, {.rung = rung, .element = element, .name = "kernel_" + std::to_string(sources.size())}));
        cases.push_back({map, command});
        reached.insert(emit::name(rung));
      } catch (const Error& error) {
        EXPECT_EQ(name(error.code()), name(ErrorCode::unsupported)) << error.what() << "\n  " << command;
      }
    }
  }
  const std::vector<cuda::EmittedExecutor> kernels = cuda::make_emitted_executors(std::move(sources));
  const std::uint64_t bytes = element_bytes << n;
  const OwnStream stream;
  GpuArrays arrays(bytes, 0, 0);
  const cuda::DeviceArray workspace(bytes);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    arrays.prepare(i + 1, stream);
    kernels[i].run(arrays.in(), arrays.out(), workspace.data(), stream);
    EXPECT_EQ(arrays.wrong({.permutation = cases[i].map, .element_bytes = element_bytes}, stream), "")
        << cases[i].command;
    for (const cuda::KernelResources& resources : kernels[i].resources()) {
      EXPECT_GT(resources.registers, 0) << cases[i].command;
      EXPECT_GT(resources.blocks_per_multiprocessor, 0) << cases[i].command;
      EXPECT_EQ(resources.local_bytes, 0U) << cases[i].command;
    }
  }
}

TEST_F(GpuEmitted, EveryRungMovesWhatTheOracleSays) {
  std::set<std::string> reached;
  check_rungs(16, "uint32_t", 4, reached);
  check_rungs(15, "uint8_t", 1, reached);
  check_rungs(15, "short", 2, reached);
  check_rungs(14, "double", 8, reached);
  check_rungs(13, "float4", 16, reached);
  check_rungs(22, "float", 4, reached);
  for (int n = 0; n <= 6; ++n) check_rungs(n, "int", 4, reached);
  EXPECT_EQ(reached.size(), 6U);
}

// --- maps

template <typename T>
struct MapCase {
  std::string expression;
  std::string element;
  std::function<T(T v, std::uint64_t x, std::uint64_t y)> on_host;
};

template <typename T>
void check_map(const Affine& map, std::uint64_t batch, const MapCase<T>& c) {
  const Problem problem{.permutation = map, .element_bytes = sizeof(T), .batch = batch};
  SCOPED_TRACE(describe(problem) + " --engine cuda --map '" + c.expression + "' --element '" + c.element +
               "'");
  const std::uint64_t elements = std::uint64_t{1} << map.bits();
  std::vector<T> in(batch * elements);
  for (std::uint64_t k = 0; k < in.size(); ++k) in[k] = static_cast<T>((k * 0x9e3779b1U >> 7) % 1000);
  std::vector<T> expected(in.size());
  for (std::uint64_t k = 0; k < in.size(); ++k) {
    const std::uint64_t x = k % elements;
    const std::uint64_t y = map(x);
    expected[k - x + y] = c.on_host(in[k], x, y);
  }
  const std::uint64_t bytes = in.size() * sizeof(T);
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda}).with_map(c.expression, c.element);
  EXPECT_EQ(plan.map(), c.expression);
  cuda::DeviceArray device_in(bytes);
  GpuArrays arrays(bytes, 0, 0);  // its output, between guard zones
  device_in.upload(in.data());
  const OwnStream stream;
  arrays.prepare(1, stream);
  plan.run(device_in.data(), arrays.out(), bytes, stream);
  stream.wait();
  std::vector<T> out(in.size());
  check_cuda(cudaMemcpy(out.data(), arrays.out(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), bytes), 0);
  std::array<std::byte, 2 * kDeviceGuardBytes> guards{};
  check_cuda(
      cudaMemcpy(guards.data(), arrays.out() - kDeviceGuardBytes, kDeviceGuardBytes, cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  check_cuda(cudaMemcpy(guards.data() + kDeviceGuardBytes, arrays.out() + bytes, kDeviceGuardBytes,
                        cudaMemcpyDeviceToHost),
             "cudaMemcpy");
  EXPECT_TRUE(std::all_of(guards.begin(), guards.end(), [](std::byte b) { return b == kDevicePoison; }));

  std::vector<T> staged(in.size());
  plan.run_staged(in.data(), staged.data(), bytes);
  EXPECT_EQ(std::memcmp(staged.data(), expected.data(), bytes), 0);
}

TEST_F(GpuEmitted, MapsComputeWhatTheHostDoes) {
  const MapCase<std::uint32_t> affine{"v * 3 + x + 7 * y", "uint32_t", [](std::uint32_t v, auto x, auto y) {
                                        return static_cast<std::uint32_t>(v * 3 + x + 7 * y);
                                      }};
  for (const int n : {0, 1, 3, 10, 14}) {
    for (const std::uint64_t batch : {1U, 2U, 17U, 100U}) check_map(maps::random_bmmc(n, 5), batch, affine);
  }
  check_map(maps::bit_reversal(20), 1, affine);
  check_map(maps::bit_reversal(12), 37, affine);
  // An index must be the array's own, whatever the launch.
  const MapCase<std::uint32_t> first{"x == 0 ? 1 : y == 0 ? 2 : 0", "", [](auto /*v*/, auto x, auto y) {
                                       return x == 0 ? 1U : y == 0 ? 2U : 0U;
                                     }};
  check_map(maps::gray(9), 1000, first);
  check_map(maps::reverse(9), 1000, first);
  check_map<float>(maps::gray(13), 3, {"v * 0.5f + (x & 1)", "float", [](float v, auto x, auto /*y*/) {
                                         return v * 0.5F + static_cast<float>(x & 1);
                                       }});
  check_map<std::uint8_t>(maps::random_bpc(15, 2), 5, {"v ^ x", "", [](std::uint8_t v, auto x, auto /*y*/) {
                                                         return static_cast<std::uint8_t>(v ^ x);
                                                       }});
  check_map<std::int16_t>(maps::random_bpc(15, 2), 1, {"-v", "short", [](std::int16_t v, auto, auto) {
                                                         return static_cast<std::int16_t>(-v);
                                                       }});
  check_map<double>(maps::random_bmmc(12, 2), 20, {"v * v - y", "double", [](double v, auto, auto y) {
                                                     return v * v - static_cast<double>(y);
                                                   }});
}

TEST_F(GpuEmitted, MapsRunOnStreamsAndInGraphs) {
  const Problem problem{.permutation = maps::bit_reversal(16), .element_bytes = 4, .batch = 3};
  const std::uint64_t bytes = total_bytes(problem);
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda}).with_map("v");
  GpuArrays arrays(bytes, 0, 0);
  const OwnStream stream;
  arrays.prepare(1, stream);
  stream.wait();
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  plan.run(arrays.in(), arrays.out(), bytes, stream);
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  EXPECT_TRUE(arrays.untouched(stream));
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
  EXPECT_EQ(arrays.wrong(problem, stream), "");
  check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuEmitted, MapsThatCannotBeAreRefusedAndNothingIsWritten) {
  const Problem problem{.permutation = maps::bit_reversal(12), .element_bytes = 4};
  const std::uint64_t bytes = total_bytes(problem);
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
  GpuArrays arrays(bytes + 16, 0, 0);
  arrays.prepare(1, {});
  const auto expect_refused = [&](ErrorCode code, const std::string& words,
                                  const std::function<void()>& call) {
    SCOPED_TRACE(words);
    test::expect_refused(code, words, [&] { call(); });
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left behind by: " << words;
    EXPECT_TRUE(arrays.untouched({})) << words;
  };
  expect_refused(ErrorCode::value, "identifier \"w\" is undefined",
                 [&] { static_cast<void>(plan.with_map("v + w")); });
  expect_refused(ErrorCode::value, "map `v + w`", [&] { static_cast<void>(plan.with_map("v + w")); });
  expect_refused(ErrorCode::value, "of 8 bytes", [&] { static_cast<void>(plan.with_map("v", "double")); });
  expect_refused(ErrorCode::value, "expression", [&] { static_cast<void>(plan.with_map("")); });
  const ExecutablePlan mapped = plan.with_map("v + 1");
  expect_refused(ErrorCode::value, "aligned to 16 bytes",
                 [&] { mapped.run(arrays.in() + 4, arrays.out(), bytes); });
  expect_refused(ErrorCode::value, "aligned to 16 bytes",
                 [&] { mapped.run(arrays.in(), arrays.out() + 4, bytes); });
  std::vector<std::byte> host(2 * bytes);
  expect_refused(ErrorCode::value, "host pointer", [&] { mapped.run(host.data(), arrays.out(), bytes); });
  expect_refused(ErrorCode::unsupported, "device memory",
                 [&] { mapped.run_staged(host.data(), host.data() + bytes, bytes, {.device_bytes = 1000}); });
  EXPECT_NE(mapped.explain().find("v + 1"), std::string::npos) << mapped.explain();
}

// --- the compiler's modules

TEST_F(GpuEmitted, ModulesAreCachedAndLiveAsLongAsTheyAreUsed) {
  const Problem problem{.permutation = maps::bit_reversal(10), .element_bytes = 4};
  const std::uint64_t bytes = total_bytes(problem);
  const emit::Source source = emit::emit(maps::bit_reversal(10));
  const cuda::EmittedExecutor kernel(source);
  const cuda::RuntimeSource first{.text = "extern \"C\" __global__ void k() {}"};
  const auto module = cuda::compile(first, cuda::kCurrentDevice);
  EXPECT_EQ(cuda::compile(first, 0), module);
  for (std::size_t i = 0; i < cuda::kMostCachedModules + 1; ++i) {
    const std::string number = std::to_string(i);
    static_cast<void>(cuda::compile({.text = "extern \"C\" __global__ void k" + number + "() {}"}, 0));
  }
  EXPECT_NE(cuda::compile(first, 0), module);  // forgotten, and compiled again
  module->kernel("k").launch(1, 1, 1, 0, nullptr, {});
  GpuArrays arrays(bytes, 0, 0);
  arrays.prepare(1, {});
  kernel.run(arrays.in(), arrays.out(), nullptr);
  EXPECT_EQ(arrays.wrong(problem, {}), "");
}

TEST_F(GpuEmitted, TemplatesAndAllSharedMemory) {
  const cuda::RuntimeSource source{.text = R"(#include <cstdint>
template <int factor> __global__ void turned(const uint32_t* in, uint32_t* out, uint32_t count) {
  extern __shared__ uint32_t shared[];
  for (uint32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y)
    shared[count - 1 - i] = factor * in[i];
  __syncthreads();
  for (uint32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y)
    out[i] = shared[i];
}
)",
                                   .name_expressions = {"turned<3>"}};
  const auto module = cuda::compile(source, cuda::kCurrentDevice);
  const cuda::RuntimeKernel kernel = module->kernel("turned<3>");
  EXPECT_GT(kernel.registers(), 0);
  EXPECT_EQ(kernel.static_shared_bytes(), 0U);
  EXPECT_GE(kernel.threads_per_block_max(), 256);
  std::uint32_t count = 24 * 1024;  // 96 KiB
  EXPECT_GE(kernel.blocks_per_multiprocessor(256, 4 * count), 1);
  std::vector<std::uint32_t> host(count);
  std::iota(host.begin(), host.end(), 5U);
  cuda::DeviceArray in(4 * count);
  const cuda::DeviceArray out(4 * count);
  in.upload(host.data());
  std::byte* from = in.data();
  std::byte* to = out.data();
  void* arguments[] = {&from, &to, &count};
  kernel.launch(1, 64, 4, 4 * count, arguments, {});
  std::vector<std::uint32_t> result(count);
  out.download(result.data());
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 3 * host[count - 1 - i]) << i;
  EXPECT_THROW(static_cast<void>(module->kernel("turned<4>")), Error);
  EXPECT_THROW(kernel.launch(std::uint64_t{1} << 31, 1, 1, 0, arguments, {}), Error);
}

}  // namespace
}  // namespace faro::testing
