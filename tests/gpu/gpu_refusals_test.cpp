// What the CUDA engine refuses with a GPU at hand: each by a named error, and nothing is written.
// cuda_engine_refusals_test.cpp has what needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "gpu/gpu_support.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Memory of the host that the driver has pinned.
class Pinned {
 public:
  explicit Pinned(std::uint64_t bytes) : bytes_(bytes) {
    check_cuda(cudaMallocHost(&memory_, bytes), "cudaMallocHost");
    std::fill_n(data(), bytes, kDevicePoison);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { static_cast<void>(cudaFreeHost(memory_)); }

  std::byte* data() const { return static_cast<std::byte*>(memory_); }
  bool untouched() const {
    return std::all_of(data(), data() + bytes_, [](std::byte b) { return b == kDevicePoison; });
  }

 private:
  void* memory_ = nullptr;
  std::uint64_t bytes_;
};

class GpuRefusals : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    plan_ = std::make_unique<ExecutablePlan>(plan(problem_, {.engine = Engine::cuda}));
    arrays_ = std::make_unique<GpuArrays>(bytes_, 0, 0);
    arrays_->prepare(1, {});
    host_.assign(bytes_, kDevicePoison);
  }

  // Every refusal is of one line, names what was got and wanted, and leaves all arrays as they were.
  void expect_refused(ErrorCode code, const std::string& words, const std::function<void()>& call) {
    test::expect_refused(code, words, call);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left behind by: " << words;
    EXPECT_TRUE(arrays_->untouched({})) << words;
    EXPECT_TRUE(host_ == std::vector<std::byte>(bytes_, kDevicePoison)) << words;
  }

  // What was refused before must not keep the plan from running.
  void TearDown() override {
    if (plan_ == nullptr) return;
    arrays_->prepare(2, {});
    plan_->run(arrays_->in(), arrays_->out(), bytes_);
    EXPECT_EQ(arrays_->wrong(problem_, {}), "");
  }

  Problem problem_{.permutation = maps::bit_reversal(16), .element_bytes = 4, .batch = 3};
  std::uint64_t bytes_ = total_bytes(problem_);
  std::unique_ptr<ExecutablePlan> plan_;
  std::unique_ptr<GpuArrays> arrays_;
  std::vector<std::byte> host_;
};

TEST_F(GpuRefusals, HostPointers) {
  expect_refused(ErrorCode::value, "host pointer", [&] { plan_->run(host_.data(), arrays_->out(), bytes_); });
  expect_refused(ErrorCode::value, "host pointer", [&] { plan_->run(arrays_->in(), host_.data(), bytes_); });
}

TEST_F(GpuRefusals, PinnedHostPointers) {
  const Pinned pinned(bytes_);
  expect_refused(ErrorCode::value, "host pointer",
                 [&] { plan_->run(pinned.data(), arrays_->out(), bytes_); });
  expect_refused(ErrorCode::value, "host pointer", [&] { plan_->run(arrays_->in(), pinned.data(), bytes_); });
  EXPECT_TRUE(pinned.untouched());
}

TEST_F(GpuRefusals, DevicePointersForTheCpu) {
  const ExecutablePlan on_cpu = plan(problem_, {.engine = Engine::cpu});
  expect_refused(ErrorCode::value, "device pointer",
                 [&] { on_cpu.run(arrays_->in(), arrays_->out(), bytes_); });
  expect_refused(ErrorCode::value, "device pointer",
                 [&] { on_cpu.run(host_.data(), arrays_->out(), bytes_); });
  expect_refused(ErrorCode::value, "device pointer",
                 [&] { on_cpu.run(arrays_->in(), host_.data(), bytes_); });
}

TEST_F(GpuRefusals, DevicePointersForStaging) {
  expect_refused(ErrorCode::value, "device", [&] { plan_->run_staged(arrays_->in(), host_.data(), bytes_); });
  expect_refused(ErrorCode::value, "device",
                 [&] { plan_->run_staged(host_.data(), arrays_->out(), bytes_); });
}

TEST_F(GpuRefusals, MisalignedPointers) {
  const Problem smaller{.permutation = maps::bit_reversal(15), .element_bytes = 4};
  const ExecutablePlan four = plan(smaller, {.engine = Engine::cuda});
  const std::uint64_t bytes = total_bytes(smaller);
  for (const std::uint64_t off : {1U, 2U, 3U, 5U}) {
    expect_refused(ErrorCode::value, "aligned",
                   [&] { four.run(arrays_->in() + off, arrays_->out(), bytes); });
    expect_refused(ErrorCode::value, "aligned",
                   [&] { four.run(arrays_->in(), arrays_->out() + off, bytes); });
  }
  // 2^13 elements of 16 bytes, and 2^12 of 32, which are units of 16.
  for (const int n : {13, 12}) {
    const Problem wide{.permutation = maps::bit_reversal(n), .element_bytes = std::uint64_t{1} << (17 - n)};
    const ExecutablePlan sixteen = plan(wide, {.engine = Engine::cuda});
    for (const std::uint64_t off : {4U, 8U}) {
      expect_refused(ErrorCode::value, "aligned",
                     [&] { sixteen.run(arrays_->in() + off, arrays_->out(), total_bytes(wide)); });
    }
  }
}

TEST_F(GpuRefusals, OverlappingArrays) {
  std::byte* const out = arrays_->out();
  const Problem half{.permutation = maps::bit_reversal(16), .element_bytes = 2};
  const ExecutablePlan small = plan(half, {.engine = Engine::cuda});
  const std::uint64_t bytes = total_bytes(half);
  expect_refused(ErrorCode::value, "in place", [&] { small.run(out, out, bytes); });
  for (const std::uint64_t apart : {std::uint64_t{2}, std::uint64_t{16}, bytes - 2}) {
    expect_refused(ErrorCode::value, "overlap", [&] { small.run(out, out + apart, bytes); });
    expect_refused(ErrorCode::value, "overlap", [&] { small.run(out + apart, out, bytes); });
  }
}

TEST_F(GpuRefusals, NullPointersAndOtherSizes) {
  expect_refused(ErrorCode::value, "null input", [&] { plan_->run(nullptr, arrays_->out(), bytes_); });
  expect_refused(ErrorCode::value, "null output", [&] { plan_->run(arrays_->in(), nullptr, bytes_); });
  for (const std::uint64_t bytes : {std::uint64_t{0}, bytes_ - 4, bytes_ + 4, 2 * bytes_}) {
    expect_refused(ErrorCode::value, std::to_string(bytes_) + " bytes",
                   [&] { plan_->run(arrays_->in(), arrays_->out(), bytes); });
    expect_refused(ErrorCode::value, std::to_string(bytes_) + " bytes",
                   [&] { plan_->run_staged(host_.data(), host_.data(), bytes); });
  }
}

TEST_F(GpuRefusals, DevicesThatAreNotThere) {
  for (const int device : {99, -2}) {
    expect_refused(ErrorCode::device, "device " + std::to_string(device),
                   [&] { plan(problem_, {.engine = Engine::cuda, .device = device}); });
    expect_refused(ErrorCode::device, "device " + std::to_string(device), [&] { cuda::target(device); });
  }
}

TEST_F(GpuRefusals, AStreamForTheCpu) {
  const OwnStream stream;
  const ExecutablePlan on_cpu = plan(problem_, {.engine = Engine::cpu});
  std::vector<std::byte> in(bytes_);
  expect_refused(ErrorCode::value, "stream", [&] { on_cpu.run(in.data(), host_.data(), bytes_, stream); });
}

// Half of one array is refused by name; so is a budget that one segment does not fit.
TEST_F(GpuRefusals, StagingWithTooSmallABudget) {
  std::vector<std::byte> in(bytes_);
  for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{1000}}) {
    expect_refused(ErrorCode::unsupported, "device memory",
                   [&] { plan_->run_staged(in.data(), host_.data(), bytes_, {.device_bytes = budget}); });
  }
}

// All but a little of the device's memory is taken, and staging is told to use more than is left.
TEST_F(GpuRefusals, StagingOutOfDeviceMemory) {
  constexpr std::uint64_t kLeft = 48 * kMiB;
  constexpr std::uint64_t kPiece = 128 * kMiB;
  std::unique_ptr<cuda::DeviceArray> hog;
  for (std::uint64_t spare = kLeft; hog == nullptr && spare < kPiece; spare += 16 * kMiB) {
    try {
      hog = std::make_unique<cuda::DeviceArray>(free_device_bytes() - spare);
    } catch (const Error&) {
      continue;  // what is free is not in one piece
    }
  }
  if (hog == nullptr || free_device_bytes() >= kPiece) GTEST_SKIP() << "the device's memory cannot be filled";
  const Problem large{.permutation = maps::bit_reversal(26), .element_bytes = 4};
  const ExecutablePlan staged = plan(large, {.engine = Engine::cuda});
  const std::vector<std::byte> in(total_bytes(large));
  std::vector<std::byte> out(in.size(), kDevicePoison);
  expect_refused(ErrorCode::device, "cudaMalloc", [&] {
    staged.run_staged(in.data(), out.data(), out.size(), {.device_bytes = 8 * kPiece, .piece_bytes = kPiece});
  });
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::byte b) { return b == kDevicePoison; }));
}

}  // namespace
}  // namespace faro::testing
