// Rolls and flips of axes in one array on the CPU, against the definition element by element, between guard
// zones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "refusal.hpp"

namespace faro {
namespace cpu_cyclic_in_place_test {

using testing::kGuardBytes;
using testing::kInstrumented;
using testing::kPoison;

// out[pi(x)] = in[x], in every array of the batch.
void expect_in_place(const Permutation& permutation, std::uint64_t width, std::uint64_t batch, int threads) {
  SCOPED_TRACE(to_text(permutation) + ", elements of " + std::to_string(width) + " bytes, batch " +
               std::to_string(batch) + ", " + std::to_string(threads) + " threads");
  const std::uint64_t count = element_count(permutation);
  const std::uint64_t bytes = count * width * batch;
  testing::SplitMix64 random{count + width};
  std::vector<std::byte> memory(bytes + 2 * kGuardBytes + 1, kPoison);
  std::byte* const data = memory.data() + kGuardBytes + 1;
  for (std::uint64_t at = 0; at < bytes; ++at) data[at] = static_cast<std::byte>(random());
  std::vector<std::byte> wanted = memory;
  std::byte* const to = wanted.data() + kGuardBytes + 1;
  for (std::uint64_t x = 0; x < count * batch; ++x) {
    const std::uint64_t target = x / count * count + faro::apply(permutation, x % count);
    std::memcpy(to + target * width, data + x * width, width);
  }
  const Plan plan(
      {.permutation = permutation, .element_bytes = width, .batch = batch, .placement = Placement::in_place},
      cpu::target(threads));
  const cpu::Executor executor(plan);
  std::vector<std::byte> workspace(executor.workspace_bytes() + 1);
  executor.run_in_place(data, workspace.data());
  ASSERT_TRUE(memory == wanted);
  ASSERT_FALSE(plan.explain().empty());
  ASSERT_THAT(plan.explain_json(), ::testing::HasSubstr("\"in_place\""));
}

TEST(CpuCyclicInPlace, EveryRollAndFlipOfFewElements) {
  for (std::uint64_t count = 0; count <= 20; ++count) {
    for (std::uint64_t shift = 0; shift < std::max<std::uint64_t>(count, 1); ++shift) {
      for (const bool reversed : {false, true}) {
        const Cyclic cyclic{.count = count, .shift = shift, .reversed = reversed && count > 0};
        expect_in_place(cyclic, 4, 1 + shift % 3, 1);
        expect_in_place(cyclic, 3, 1, 2);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(CpuCyclicInPlace, RandomAxes) {
  std::mt19937_64 random(501);
  for (int trial = 0; trial < (kInstrumented ? 100 : 1500); ++trial) {
    const std::size_t rank = 1 + random() % 4;
    std::vector<std::uint64_t> shape;
    std::vector<int> order;
    std::vector<Cyclic> moves;
    for (std::size_t a = 0; a < rank; ++a) {
      shape.push_back(1 + random() % (trial % 10 == 0 ? 40 : 9));
      order.push_back(static_cast<int>(a));
      moves.push_back({.count = shape[a], .shift = random() % shape[a], .reversed = random() % 3 == 0});
    }
    const std::vector<std::uint64_t> widths{1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 1000, 4096};
    const std::uint64_t width = widths[random() % (trial % 10 == 0 ? 6 : widths.size())];
    const CyclicAxes axes(shape, order, moves);
    if (axes.count() * width > (1 << 22)) continue;
    const Permutation normal = normal_form(Permutation(axes));
    // What is affine goes by other passes, which want widths that are powers of two.
    if (std::holds_alternative<Affine>(normal) && (width & (width - 1)) != 0) continue;
    expect_in_place(normal, width, 1 + random() % 3, 1 + static_cast<int>(random() % 3));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(CpuCyclicInPlace, LargeArraysByManyThreads) {
  for (const std::uint64_t count : {std::uint64_t{1'000'003}, std::uint64_t{300'000}}) {
    for (const int threads : {1, 2, 5}) {
      expect_in_place(maps::roll(count, 12345), 4, 1, threads);
      expect_in_place(maps::roll(count, -1), 1, 2, threads);
      expect_in_place(maps::flip(count), 8, 1, threads);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Wider than elements of other plans are: rolls and flips, also as affine maps, and equal axes.
TEST(CpuCyclicInPlace, AnyWidth) {
  for (const std::uint64_t width : {4097U, 5000U, 8192U, 70003U}) {
    for (const char* const text : {"roll(15, 4)", "flip(7)", "xor(4, 0xf)", "roll(16, 8)", "roll(16, 0)",
                                   "axes(3 5 2; 0 1 2; 1 3 0; 2)", "axes(5 3 5; 2 1 0)", "transpose(4, 4)",
                                   "inverse(transpose(8, 8))"}) {
      expect_in_place(parse_permutation(text), width, 2, 2);
      const Plan on_gpu({.permutation = parse_permutation(text),
                         .element_bytes = width,
                         .batch = 2,
                         .placement = Placement::in_place},
                        cuda::target_of_capability(9, 0));
      EXPECT_EQ(on_gpu.passes().empty(), std::string(text) == "roll(16, 0)") << text;
    }
    for (const char* const text :
         {"bit_reversal(4)", "multiply(15, 7)", "hilbert(2, 2)", "axes(3 5 2; 2 1 0)"}) {
      const Problem problem{
          .permutation = parse_permutation(text), .element_bytes = width, .placement = Placement::in_place};
      EXPECT_THROW(Plan(problem, cpu::target(1)), Error) << text;
    }
  }
}

// What no engine does in place is refused by name, with the memory that a second array takes.
TEST(CpuCyclicInPlace, OthersAreRefused) {
  const auto refused = [](const Permutation& permutation, const Target& target) {
    const Error error = test::refusal([&] {
      const Plan plan({.permutation = permutation, .element_bytes = 4, .placement = Placement::in_place},
                      target);
    });
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    return std::string(error.what());
  };
  using ::testing::HasSubstr;
  Target gpu = cpu::target(1);
  gpu.engine = Engine::cuda;
  for (const Target& target : {cpu::target(1), gpu})
    EXPECT_THAT(refused(Axes({3, 4, 5}, {2, 1, 0}), target), HasSubstr("rolls and flips of axes"));
  const CyclicAxes turned({3, 5}, {1, 0}, {{.count = 3, .shift = 1}, {.count = 5}});
  for (const Target& target : {cpu::target(1), gpu})
    EXPECT_THAT(refused(turned, target), HasSubstr("a second array"));
}

}  // namespace cpu_cyclic_in_place_test
}  // namespace faro
