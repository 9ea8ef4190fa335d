// Runs of every kind that are watched: the result is the one that nobody watches gives, and what is told adds
// up to the array.
#include "engines/cpu/run_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "faro/faro.hpp"

namespace run_watch_test {
namespace {

using namespace faro;

std::vector<std::byte> bytes_of(std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  std::uint64_t state = count;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

struct Told {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<int> times{0};
};

// All is told but what rounding leaves out, and never more than there is; large arrays in many parts.
void expect_told(const Told& told, std::uint64_t bytes, const std::string& what) {
  EXPECT_LE(told.bytes, bytes) << what;
  EXPECT_GE(static_cast<double>(told.bytes), 0.97 * static_cast<double>(bytes)) << what;
  EXPECT_GE(told.times, 8) << what;
}

struct Case {
  std::string spec;
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;
  Placement placement = Placement::out_of_place;
};

TEST(RunWatch, SpecsOfEveryKind) {
  const std::vector<Case> cases{
      {.spec = "bit_reversal(18)"},
      {.spec = "bits(18; 0 1 2 3 4 5 6 7 17 16 15 14 13 12 11 10 9 8)"},
      {.spec = "xor(18, 5)", .element_bytes = 1},
      {.spec = "random_bmmc(18, 1)", .element_bytes = 8},
      {.spec = "random_bmmc(10, 1)", .batch = 300},
      {.spec = "flip(300000)"},
      {.spec = "roll(300000, 12345)"},
      {.spec = "transpose(300, 1001)"},
      {.spec = "axes(30 40 50 6; 2 0 3 1)", .batch = 3},
      {.spec = "random(300000, 1)"},
      {.spec = "random(300000, 1)", .element_bytes = 2, .batch = 2},
      {.spec = "bit_reversal(21)", .placement = Placement::in_place},
      {.spec = "random_bmmc(20, 1)", .element_bytes = 8, .placement = Placement::in_place},
      {.spec = "transpose(300, 1001)", .placement = Placement::in_place},
      {.spec = "transpose(1001, 3)", .batch = 100, .placement = Placement::in_place},
      {.spec = "transpose(1100, 1100)", .placement = Placement::in_place},
      {.spec = "transpose(3, 100003)", .placement = Placement::in_place},
      {.spec = "transpose(100003, 3)", .element_bytes = 8, .placement = Placement::in_place},
  };
  for (const Case& each : cases) {
    const Problem problem{.permutation = parse_permutation(each.spec),
                          .element_bytes = each.element_bytes,
                          .batch = each.batch,
                          .placement = each.placement};
    const std::uint64_t bytes = total_bytes(problem);
    const std::vector<std::byte> in = bytes_of(bytes);
    for (const int threads : {1, 2}) {
      const std::string what = each.spec + " of " + std::to_string(each.element_bytes) + " bytes, " +
                               std::to_string(threads) + " threads";
      const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cpu, .threads = threads});
      const auto run = [&] {
        std::vector<std::byte> out = in;
        if (each.placement == Placement::in_place) {
          plan.run(out.data(), bytes);
        } else {
          plan.run(in.data(), out.data(), bytes);
        }
        return out;
      };
      const std::vector<std::byte> unwatched = run();
      Told told;
      {
        const cpu::RunWatch watch(bytes, [&](std::uint64_t more) {
          told.bytes += more;
          ++told.times;
        });
        EXPECT_TRUE(run() == unwatched) << what;
      }
      expect_told(told, bytes, what);
      EXPECT_TRUE(run() == unwatched) << what << ": not watched any more";
      expect_told(told, bytes, what);
    }
  }
}

// Who watches one run hears nothing of another thread's, and the outer watch waits while an inner one is
// there.
TEST(RunWatch, OnlyItsOwnThread) {
  const ExecutablePlan plan =
      faro::plan({.permutation = parse_permutation("bit_reversal(18)"), .element_bytes = 4},
                 {.engine = Engine::cpu, .threads = 1});
  const std::vector<std::byte> in = bytes_of(4 << 18);
  std::vector<std::byte> out(in.size());
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  const cpu::RunWatch watch(in.size(), [&](std::uint64_t more) { outer += more; });
  {
    const cpu::RunWatch another(in.size(), [&](std::uint64_t more) { inner += more; });
    plan.run(in.data(), out.data(), in.size());
  }
  EXPECT_EQ(outer, 0U);
  EXPECT_GT(inner, 0U);
  std::thread([&] { plan.run(in.data(), out.data(), in.size()); }).join();
  EXPECT_EQ(outer, 0U);
  plan.run(in.data(), out.data(), in.size());
  EXPECT_GT(outer, 0U);
}

}  // namespace
}  // namespace run_watch_test
