// The transposition in place on a GPU, against the definition, between guard zones: every width, every form
// of plan, batches, arrays that begin anywhere, workspaces of exactly the size, graphs, 2^32 elements and
// more.
#include "plan/gpu_transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/gpu_support.hpp"
#include "gpu/transpose_oracle.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kGuard = 256;

Problem problem_of(const Rectangle& r) {
  return {.permutation = maps::transpose_any(r.rows, r.columns),
          .element_bytes = r.element_bytes,
          .batch = r.arrays,
          .placement = Placement::in_place};
}

std::string text_of(const Rectangle& r) {
  return "transpose(" + std::to_string(r.rows) + ", " + std::to_string(r.columns) + "), " +
         std::to_string(r.element_bytes) + " bytes, batch " + std::to_string(r.arrays);
}

class GpuTranspose : public GpuTest {
 protected:
  std::mt19937_64 random{settings().seed};
  std::set<detail::GpuTransposeForm> reached;

  // Transposes a part of a poisoned allocation that begins `offset` past an aligned address.
  void check_shape(const Rectangle& r, std::uint64_t offset = 0) {
    SCOPED_TRACE(text_of(r) + ", offset " + std::to_string(offset));
    const TransposePlan plan(problem_of(r), cuda::target());
    reached.insert(detail::plan_gpu_transpose(r, detail::gpu_transpose_limits(plan.target())).form);
    EXPECT_LE(plan.workspace_bytes(), plan.workers() * std::max(r.rows, r.columns) * r.element_bytes);
    const cuda::LoadedPasses sweeps(plan.passes());  // of powers of two, too
    const std::uint64_t begin = kGuard + offset;
    std::vector<std::byte> poison(begin + r.bytes() + kGuard, std::byte{0x5a});
    std::vector<std::byte> lent(2 * kGuard + plan.workspace_bytes(), std::byte{0x5a});
    cuda::DeviceArray memory(poison.size());
    cuda::DeviceArray workspace(lent.size());
    memory.upload(poison.data());
    workspace.upload(lent.data());
    const OwnStream stream;
    draw(memory.data() + begin, r, 7, stream);
    std::byte* const data = memory.data() + begin;
    std::byte* const scratch = plan.workspace_bytes() == 0 ? nullptr : workspace.data() + kGuard;
    sweeps.launch({.in = data, .out = data, .workspace = scratch}, stream);
    EXPECT_EQ(misplaced_elements(memory.data() + begin, r, 7, stream), 0u);
    memory.download(poison.data());
    workspace.download(lent.data());
    const auto is_poison = [](std::byte b) { return b == std::byte{0x5a}; };
    const auto at = [](std::vector<std::byte>& bytes, std::uint64_t i) {
      return bytes.begin() + static_cast<std::ptrdiff_t>(i);
    };
    EXPECT_TRUE(std::all_of(poison.begin(), at(poison, begin), is_poison));
    EXPECT_TRUE(std::all_of(at(poison, begin + r.bytes()), poison.end(), is_poison));
    EXPECT_TRUE(std::all_of(lent.begin(), at(lent, kGuard), is_poison));
    EXPECT_TRUE(std::all_of(at(lent, kGuard + plan.workspace_bytes()), lent.end(), is_poison));
  }
};

TEST_F(GpuTranspose, EveryFormAndWidth) {
  for (std::uint64_t width = 1; width <= 16; ++width) {
    const std::uint64_t unit = width & (~width + 1);
    for (const Rectangle& r : {Rectangle{.arrays = 5, .rows = 7, .columns = 11},
                               Rectangle{.arrays = 1000, .rows = 3, .columns = 5},
                               Rectangle{.arrays = 2, .rows = 333, .columns = 500},
                               Rectangle{.arrays = 3, .rows = 5, .columns = 60001},
                               Rectangle{.arrays = 2, .rows = 12, .columns = 300000},
                               Rectangle{.arrays = 1, .rows = 300007, .columns = 3},
                               Rectangle{.arrays = 1, .rows = 1500, .columns = 9000},
                               Rectangle{.arrays = 1, .rows = 7919, .columns = 1583},
                               Rectangle{.arrays = 1, .rows = 1000, .columns = 8000}}) {
      Rectangle shape = r;
      shape.element_bytes = width;
      check_shape(shape, unit * (random() % 16));
    }
  }
  EXPECT_EQ(reached.size(), 4u) << "every form but huge, which is below";
}

// Small shapes, drawn and checked on the host, between guard zones in memory that is allocated once.
class SmallShapes {
 public:
  explicit SmallShapes(std::uint64_t most_bytes)
      : most_bytes_(most_bytes), from_(most_bytes), to_(most_bytes + 2 * kGuard), workspace_(1 << 20) {}

  void expect_in_place(const Rectangle& r) {
    const TransposePlan plan(problem_of(r), target_);
    const cuda::LoadedPasses sweeps(plan.passes());
    ASSERT_LE(plan.workspace_bytes(), workspace_.size());
    to_.upload(between_guards(drawn(r)).data());
    std::byte* const data = to_.data() + kGuard;
    sweeps.launch({.in = data, .out = data, .workspace = workspace_.data()}, stream_);
    expect_transposed(r, "in place");
  }

  void expect_out_of_place(const Rectangle& r) {
    Problem problem = problem_of(r);
    problem.placement = Placement::out_of_place;
    const ExecutablePlan executable = plan(problem, {.engine = Engine::cuda});
    std::vector<std::byte> in = drawn(r);
    in.resize(most_bytes_);
    from_.upload(in.data());
    to_.upload(between_guards({}).data());
    executable.run(from_.data(), to_.data() + kGuard, r.bytes(), stream_);
    expect_transposed(r, "out of place");
  }

 private:
  // Byte k of element x, on the host.
  static std::byte byte_of(std::uint64_t x, std::uint64_t k) {
    const std::uint64_t hash = (2 * x + k / 8 + 1) * 0x9e3779b97f4a7c15;
    return static_cast<std::byte>(hash >> (56 - 8 * (k % 8)));
  }

  static std::vector<std::byte> drawn(const Rectangle& r) {
    std::vector<std::byte> in(r.bytes());
    for (std::uint64_t at = 0; at < in.size(); ++at)
      in[at] = byte_of(at / r.element_bytes, at % r.element_bytes);
    return in;
  }

  static std::vector<std::byte> transposed(const Rectangle& r) {
    std::vector<std::byte> out;
    for (std::uint64_t j = 0; j < r.columns; ++j) {
      for (std::uint64_t i = 0; i < r.rows; ++i) {
        for (std::uint64_t k = 0; k < r.element_bytes; ++k) out.push_back(byte_of(i * r.columns + j, k));
      }
    }
    return out;
  }

  // Poison wherever the array is not.
  std::vector<std::byte> between_guards(const std::vector<std::byte>& array) const {
    std::vector<std::byte> all(to_.size(), std::byte{0x5a});
    std::copy(array.begin(), array.end(), all.begin() + kGuard);
    return all;
  }

  void expect_transposed(const Rectangle& r, const char* how) {
    stream_.wait();
    std::vector<std::byte> seen(to_.size());
    to_.download(seen.data());
    EXPECT_TRUE(seen == between_guards(transposed(r))) << text_of(r) << ", " << how;
  }

  std::uint64_t most_bytes_;
  Target target_ = cuda::target();
  cuda::DeviceArray from_;
  cuda::DeviceArray to_;
  cuda::DeviceArray workspace_;
  OwnStream stream_;
};

TEST_F(GpuTranspose, EveryShapeTo64) {
  constexpr std::uint64_t most = 64;
  SmallShapes shapes(most * most * 4);
  for (std::uint64_t rows = 1; rows <= most; ++rows) {
    for (std::uint64_t columns = 1; columns <= most; ++columns) {
      const Rectangle r{.arrays = 1, .rows = rows, .columns = columns, .element_bytes = 4};
      shapes.expect_in_place(r);
      shapes.expect_out_of_place(r);
      if (HasFailure()) return;
    }
  }
}

TEST_F(GpuTranspose, EveryShapeTo24OfOtherWidths) {
  constexpr std::uint64_t most = 24;
  SmallShapes shapes(most * most * 16);
  for (const std::uint64_t width : {1U, 2U, 8U, 16U}) {
    for (std::uint64_t rows = 1; rows <= most; ++rows) {
      for (std::uint64_t columns = 1; columns <= most; ++columns) {
        const Rectangle r{.arrays = 1, .rows = rows, .columns = columns, .element_bytes = width};
        shapes.expect_in_place(r);
        shapes.expect_out_of_place(r);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(GpuTranspose, SmallBatches) {
  for (std::uint64_t rows = 1; rows <= 20; ++rows) {
    for (std::uint64_t columns = 1; columns <= 20; ++columns) {
      check_shape({.arrays = 3, .rows = rows, .columns = columns, .element_bytes = 4});
    }
  }
}

TEST_F(GpuTranspose, RandomShapes) {
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t count = std::uint64_t{1} << (12 + random() % 14);
    const std::uint64_t rows = 1 + random() % (std::uint64_t{1} << (1 + random() % 20));
    const std::uint64_t columns = std::max<std::uint64_t>(1, count / rows);
    constexpr std::uint64_t widths[] = {4, 8, 2, 1, 16, 12};
    check_shape(
        {.arrays = 1 + random() % 3, .rows = rows, .columns = columns, .element_bytes = widths[i % 6]});
  }
}

// The last two have rows that fit no shared memory.
TEST_F(GpuTranspose, LargeArrays) {
  if (free_device_bytes() < std::uint64_t{12} << 30) GTEST_SKIP() << "too little memory";
  const OwnStream stream;
  for (const Rectangle& r : {Rectangle{.rows = 65537, .columns = 65539, .element_bytes = 1},
                             Rectangle{.rows = 3, .columns = 1431655777, .element_bytes = 2},
                             Rectangle{.rows = 2147483659, .columns = 2, .element_bytes = 1},
                             Rectangle{.rows = 15001, .columns = 16003, .element_bytes = 16},
                             Rectangle{.rows = 18000, .columns = 15000, .element_bytes = 16}}) {
    SCOPED_TRACE(text_of(r));
    const Plan plan(problem_of(r), cuda::target());
    const cuda::Executor executor(plan);
    const cuda::DeviceArray memory(r.bytes());
    const cuda::DeviceArray workspace(std::max<std::uint64_t>(1, plan.workspace_bytes()));
    draw(memory.data(), r, 9, stream);
    executor.run(memory.data(), stream, plan.workspace_bytes() == 0 ? nullptr : workspace.data());
    EXPECT_EQ(misplaced_elements(memory.data(), r, 9, stream), 0u);
  }
}

TEST_F(GpuTranspose, IsCapturedIntoAGraph) {
  const Rectangle r{.rows = 1237, .columns = 9001, .element_bytes = 4};
  const Plan plan(problem_of(r), cuda::target());
  const cuda::Executor executor(plan);
  const cuda::DeviceArray memory(r.bytes());
  const cuda::DeviceArray workspace(std::max<std::uint64_t>(1, plan.workspace_bytes()));
  const OwnStream stream;
  draw(memory.data(), r, 3, stream);
  stream.wait();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  executor.run(memory.data(), stream, plan.workspace_bytes() == 0 ? nullptr : workspace.data());
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
  check_cuda(cudaGraphLaunch(ready, stream.get()), "cudaGraphLaunch");
  EXPECT_EQ(misplaced_elements(memory.data(), r, 3, stream), 0u);
  check_cuda(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuTranspose, RefusesWhatItCannotUse) {
  const Rectangle r{.rows = 1237, .columns = 90001, .element_bytes = 4};
  const Plan plan(problem_of(r), cuda::target());
  const cuda::Executor executor(plan);
  ASSERT_GT(plan.workspace_bytes(), 0u);
  const cuda::DeviceArray memory(r.bytes() + 16);
  const cuda::DeviceArray workspace(plan.workspace_bytes() + 16);
  std::vector<std::byte> host(16);
  const OwnStream stream;
  const auto code_of = [&](void* data, void* lent) {
    try {
      executor.run(data, stream, lent);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  draw(memory.data(), r, 3, stream);
  EXPECT_EQ(code_of(memory.data() + 2, workspace.data()), ErrorCode::value);
  EXPECT_EQ(code_of(memory.data(), nullptr), ErrorCode::value);
  EXPECT_EQ(code_of(memory.data(), workspace.data() + 4), ErrorCode::value);
  EXPECT_EQ(code_of(host.data(), workspace.data()), ErrorCode::value);
  EXPECT_EQ(code_of(memory.data(), host.data()), ErrorCode::value);
  executor.run(memory.data(), stream, workspace.data());
  EXPECT_EQ(misplaced_elements(memory.data(), r, 3, stream), 0u) << "nothing had been moved";
}

TEST_F(GpuTranspose, KernelsKeepTheirRegisters) {
  for (const Rectangle& r : {Rectangle{.rows = 5000, .columns = 7001, .element_bytes = 4},
                             Rectangle{.rows = 7, .columns = 1000001, .element_bytes = 8}}) {
    const cuda::Executor executor(Plan(problem_of(r), cuda::target()));
    for (const cuda::KernelResources& each : executor.resources()) {
      EXPECT_EQ(each.local_bytes, 0u) << text_of(r);
      EXPECT_GE(each.blocks_per_multiprocessor, 1) << text_of(r);
    }
  }
}

}  // namespace
}  // namespace faro::testing
