// Host arrays through the GPU, in one piece and in many, held to the CPU engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "gpu/gpu_maps.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::size_t kHostGuardBytes = 64;

struct StagedCase {
  Problem problem;
  cuda::StagingOptions options;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;
};

std::string text_of(const StagedCase& c) {
  return describe(c.problem) + " --engine cuda\n  device memory " + std::to_string(c.options.device_bytes) +
         ", pieces of " + std::to_string(c.options.piece_bytes) + ", in + " + std::to_string(c.in_offset) +
         ", out + " + std::to_string(c.out_offset);
}

bool is_poison(const std::byte* from, const std::byte* to) {
  return std::all_of(from, to, [](std::byte b) { return b == kDevicePoison; });
}

class GpuStaging : public GpuTest {
 protected:
  // Pieces that it took; nothing where it was refused as unsupported, and then nothing may be written.
  std::optional<std::uint64_t> run(const StagedCase& c) {
    const std::uint64_t bytes = total_bytes(c.problem);
    std::vector<std::byte> in(c.in_offset + bytes);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<std::byte>((i + 1) * 0x9e3779b97f4a7c15 >> 56);
    std::vector<std::byte> out(c.out_offset + bytes + 2 * kHostGuardBytes, kDevicePoison);
    std::vector<std::byte> expected(bytes);
    const std::byte* const from = in.data() + c.in_offset;
    std::byte* const to = out.data() + c.out_offset + kHostGuardBytes;
    plan(c.problem, {.engine = Engine::cpu}).run(from, expected.data(), bytes);

    const std::vector<std::byte> in_before = in;
    std::optional<std::uint64_t> pieces;
    try {
      cuda::StagedExecutor executor(Plan(c.problem, cuda::target()), c.options);
      executor.run(from, to);
      pieces = executor.pieces();
      if (c.options.piece_bytes != 0) {
        EXPECT_LE(executor.piece_bytes(), c.options.piece_bytes) << text_of(c);
      }
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), to)) << "a wrong result\n  " << text_of(c);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what() << "\n  " << text_of(c);
      EXPECT_TRUE(is_poison(to, to + bytes)) << "refused, but written\n  " << text_of(c);
    }
    EXPECT_TRUE(is_poison(out.data(), to) && is_poison(to + bytes, out.data() + out.size()))
        << "written outside the output\n  " << text_of(c);
    EXPECT_EQ(in, in_before) << "the input changed\n  " << text_of(c);
    return pieces;
  }
};

TEST_F(GpuStaging, InOnePieceOrAFew) {
  for (const int n : {0, 1, 10, 18, 22}) {
    for (const Affine& map : every_kind_of_map(n, settings().seed)) {
      EXPECT_TRUE(run({.problem = {.permutation = map, .element_bytes = 4}, .options = {}}).has_value());
      if (HasFailure()) return;
    }
  }
}

// Arrays that are cut: budgets far below the array's size, every width.
TEST_F(GpuStaging, ManyPieces) {
  std::uint64_t ran = 0;
  std::uint64_t most_pieces = 0;
  std::uint64_t turn = 0;
  for (std::uint64_t width = 1; width <= 4096; width *= 2) {
    for (const std::uint64_t array_bytes : {2 * kMiB, 8 * kMiB}) {
      const int n = std::countr_zero(array_bytes / width);
      const std::vector<Affine> maps = every_kind_of_map(n, settings().seed + turn);
      for (const std::uint64_t piece_bytes : {64 * kKiB, 512 * kKiB}) {
        for (const Affine& map : {maps::random_bmmc(n, settings().seed + turn), maps::bit_reversal(n),
                                  maps[turn % maps.size()], maps[(turn + 7) % maps.size()]}) {
          const StagedCase c{.problem = {.permutation = map, .element_bytes = width, .batch = 1 + turn % 2},
                             .options = {.device_bytes = (2 + turn % 5) * piece_bytes,
                                         .piece_bytes = piece_bytes,
                                         .threads = static_cast<int>(turn % 4)},
                             .in_offset = turn % 3,
                             .out_offset = turn % 5};
          ++turn;
          const std::optional<std::uint64_t> pieces = run(c);
          if (HasFailure()) return;
          ran += pieces.has_value() ? 1 : 0;
          most_pieces = std::max(most_pieces, pieces.value_or(0));
        }
      }
    }
  }
  EXPECT_GT(ran, turn / 2) << "of " << turn << " cases";
  EXPECT_GE(most_pieces, 32U);
}

// Small arrays travel some at a time.
TEST_F(GpuStaging, Batches) {
  std::uint64_t turn = 0;
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U}) {
    for (const std::uint64_t batch : {0U, 1U, 3U, 64U, 1000U}) {
      const int n = 10 - static_cast<int>(turn % 4);
      const StagedCase c{
          .problem = {.permutation = maps::random_bmmc(n, turn), .element_bytes = width, .batch = batch},
          .options = {.device_bytes = 4 * 64 * kKiB, .piece_bytes = 64 * kKiB},
          .in_offset = turn % 2,
          .out_offset = turn % 3};
      ++turn;
      EXPECT_TRUE(run(c).has_value()) << text_of(c);
      if (HasFailure()) return;
    }
  }
}

// By the public interface, from pinned memory too, and again with the same executor.
TEST_F(GpuStaging, RunStaged) {
  const Problem problem{.permutation = maps::random_bmmc(22, 3), .element_bytes = 4, .batch = 2};
  const std::uint64_t bytes = total_bytes(problem);
  void* pinned = nullptr;
  check_cuda(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
  auto* const in = static_cast<std::byte*>(pinned);
  for (std::size_t i = 0; i < bytes; ++i) in[i] = static_cast<std::byte>((i + 1) * 0x9e3779b97f4a7c15 >> 56);
  std::vector<std::byte> expected(bytes);
  std::vector<std::byte> out(bytes);
  plan(problem, {.engine = Engine::cpu}).run(in, expected.data(), bytes);
  plan(problem, {.engine = Engine::cuda}).run_staged(in, out.data(), bytes);
  EXPECT_EQ(out, expected);

  cuda::StagedExecutor again(Plan(problem, cuda::target()), {.piece_bytes = kMiB});
  for (int round = 0; round < 2; ++round) {
    std::fill(out.begin(), out.end(), kDevicePoison);
    again.run(in, out.data());
    EXPECT_EQ(out, expected) << "round " << round;
  }
  EXPECT_GT(again.pieces(), 1U);
  static_cast<void>(cudaFreeHost(pinned));
}

TEST_F(GpuStaging, ReturnsItsMemory) {
  const Problem problem{.permutation = maps::bit_reversal(22), .element_bytes = 4};
  const std::vector<std::byte> in(total_bytes(problem));
  std::vector<std::byte> out(in.size());
  const ExecutablePlan made = plan(problem, {.engine = Engine::cuda});
  made.run_staged(in.data(), out.data(), out.size());
  const std::uint64_t before = free_device_bytes();
  for (int i = 0; i < 3; ++i) made.run_staged(in.data(), out.data(), out.size());
  EXPECT_EQ(free_device_bytes(), before);
}

}  // namespace
}  // namespace faro::testing
