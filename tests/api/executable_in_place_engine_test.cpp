// ExecutablePlan::run() of one array: right within its guard zones, and every refusal before anything is
// written.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine_support.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace executable_in_place_engine_test {

using test::expect_refused;

Problem in_place(Permutation permutation, std::uint64_t width = 4, std::uint64_t batch = 1) {
  return {.permutation = std::move(permutation),
          .element_bytes = width,
          .batch = batch,
          .placement = Placement::in_place};
}

// Random bytes.
class OneArray : public Guarded {
 public:
  OneArray(std::uint64_t bytes, std::size_t offset, std::uint64_t seed) : Guarded(bytes, offset) {
    SplitMix64 random{seed};
    for (std::uint64_t i = 0; i < bytes; ++i) data()[i] = static_cast<std::byte>(random());
    before_.assign(data(), data() + bytes);
  }

  const std::byte* before() const { return before_.data(); }
  bool is_untouched() { return std::equal(before_.begin(), before_.end(), data()); }

 private:
  std::vector<std::byte> before_;
};

void expect_right(const Problem& problem, const ExecutablePlan& plan, std::size_t offset) {
  SCOPED_TRACE(describe(problem) + " --in-place, " + std::to_string(offset) + " bytes off");
  const std::uint64_t bytes = total_bytes(problem);
  const auto check = [&](const std::function<void(OneArray&)>& run) {
    OneArray array(bytes, offset, bytes + offset);
    run(array);
    const auto wrong = find_mismatch(problem, array.before(), array.data(), 1);
    EXPECT_FALSE(wrong) << to_text(*wrong);
    EXPECT_TRUE(array.guards_intact());
  };
  check([&](OneArray& array) { plan.run(array.data(), bytes); });
  check([&](OneArray& array) {
    OneArray workspace(plan.workspace_bytes(), 1, 7);
    plan.run(array.data(), bytes, {.data = workspace.data(), .bytes = plan.workspace_bytes()}, {});
    EXPECT_TRUE(workspace.guards_intact());
  });
  check([&](OneArray& array) { plan.run_staged(array.data(), array.data(), bytes); });
}

TEST(InPlaceRun, AffineMaps) {
  for (const int n : {0, 1, 2, 4, 7, 10, 12}) {
    for (const std::uint64_t width : {1, 4, 16, 64}) {
      for (const Affine& map : maps_of(n, 3)) {
        for (const std::uint64_t batch : {1, 5}) {
          const Problem problem = in_place(map, width, batch);
          const ExecutablePlan made = plan(problem);
          EXPECT_EQ(made.workspace_bytes(), 0U);
          expect_right(problem, made, width == 4 ? 1 : 0);
        }
      }
    }
  }
}

TEST(InPlaceRun, TranspositionsOfAnySize) {
  bool lent = false;
  for (const std::uint64_t rows : {1, 2, 3, 7, 31, 64, 100}) {
    for (const std::uint64_t columns : {1, 2, 5, 33, 64, 257}) {
      for (const std::uint64_t width : {1, 3, 4, 16}) {
        for (const std::uint64_t batch : {0, 1, 3}) {
          const Problem problem = in_place(maps::transpose_any(rows, columns), width, batch);
          const ExecutablePlan made = plan(problem);
          EXPECT_LE(made.workspace_bytes(), made.plan().array_bytes() + 64 * 4096);
          lent = lent || made.workspace_bytes() > 0;
          expect_right(problem, made, width == 3 ? 1 : 0);
        }
      }
    }
  }
  expect_right(in_place(maps::transpose_any(1000, 777), 4), plan(in_place(maps::transpose_any(1000, 777), 4)),
               0);
  lent = lent || plan(in_place(maps::transpose_any(3000, 1999), 8)).workspace_bytes() > 0;
  EXPECT_TRUE(lent);
}

TEST(InPlaceRun, Spans) {
  std::vector<std::uint32_t> data(1 << 10);
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = i;
  plan(in_place(maps::bit_reversal(10))).run(std::span(data));
  EXPECT_EQ(data[1], 512U);
  EXPECT_EQ(data[512], 1U);
  plan(in_place(maps::bit_reversal(10))).run<std::uint32_t>(data);
  for (std::uint32_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], i);
}

TEST(InPlaceRun, ManyThreadsAtOnce) {
  for (const Permutation& permutation :
       {Permutation(maps::random_bmmc(12, 5)), Permutation(maps::transpose_any(70, 61))}) {
    const Problem problem = in_place(permutation, 8);
    const ExecutablePlan made = plan(problem, {.threads = 2});
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 1);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      threads.emplace_back([&, i] {
        OneArray array(total_bytes(problem), i, i);
        made.run(array.data(), total_bytes(problem));
        wrong[i] = find_mismatch(problem, array.before(), array.data(), 1) || !array.guards_intact() ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
  }
}

// --- refusals

class InPlaceRefusals : public ::testing::Test {
 protected:
  Problem affine_ = in_place(maps::random_bmmc(10, 1));
  Problem any_ = in_place(maps::transpose_any(301, 211));
  OneArray array_{301 * 211 * 4, 0, 3};
};

TEST_F(InPlaceRefusals, OfArrays) {
  for (const Problem& problem : {affine_, any_}) {
    const ExecutablePlan made = plan(problem);
    const std::uint64_t bytes = total_bytes(problem);
    std::byte* const data = array_.data();
    expect_refused(ErrorCode::value, std::to_string(bytes - 1) + " bytes",
                   [&] { made.run(data, bytes - 1); });
    expect_refused(ErrorCode::value, "0 bytes", [&] { made.run(data, 0); });
    expect_refused(ErrorCode::value, "a null array", [&] { made.run(nullptr, bytes); });
    expect_refused(ErrorCode::value, "two arrays for a plan in place",
                   [&] { made.run(array_.before(), data, bytes); });
    expect_refused(ErrorCode::value, "two arrays for a plan in place", [&] { made.run(data, data, bytes); });
    expect_refused(ErrorCode::value, "two arrays for a plan in place",
                   [&] { made.run_staged(array_.before(), data, bytes); });
    expect_refused(ErrorCode::value, "a stream for engine cpu", [&] {
      made.run(data, bytes, Stream(reinterpret_cast<CUstream_st*>(std::uintptr_t{64})));
    });
    expect_refused(ErrorCode::value, "bytes", [&] { made.run(std::span(data, bytes + 4)); });
    expect_refused(ErrorCode::unsupported, "map", [&] { static_cast<void>(made.with_map("v + 1")); });
    expect_refused(ErrorCode::unsupported, "schedule", [&] { made.save("never.plan"); });
    EXPECT_EQ(made.schedule(), nullptr);
    EXPECT_TRUE(made.kernel_resources().empty());
    EXPECT_EQ(made.explain(), made.plan().explain());
  }
  EXPECT_TRUE(array_.is_untouched());
  EXPECT_TRUE(array_.guards_intact());
}

TEST_F(InPlaceRefusals, OfAPlanWithTwoArrays) {
  for (Problem problem : {affine_, any_}) {
    problem.placement = Placement::out_of_place;
    const ExecutablePlan made = plan(problem);
    const std::uint64_t bytes = total_bytes(problem);
    expect_refused(ErrorCode::value, "one array for a plan out of place",
                   [&] { made.run(array_.data(), bytes); });
    expect_refused(ErrorCode::value, "in place", [&] { made.run(array_.data(), array_.data(), bytes); });
  }
  EXPECT_TRUE(array_.is_untouched());
}

TEST_F(InPlaceRefusals, OfAWorkspace) {
  const ExecutablePlan made = plan(any_, {.threads = 1});
  const std::uint64_t needed = made.workspace_bytes();
  ASSERT_GT(needed, 0U);
  std::byte* const data = array_.data();
  const std::uint64_t bytes = total_bytes(any_);
  std::vector<std::byte> workspace(needed);
  expect_refused(ErrorCode::value, "a null workspace", [&] { made.run(data, bytes, Workspace{}, {}); });
  expect_refused(ErrorCode::value, "workspace_bytes()",
                 [&] { made.run(data, bytes, {.data = workspace.data(), .bytes = needed - 1}, {}); });
  expect_refused(ErrorCode::value, "overlaps the array",
                 [&] { made.run(data, bytes, {.data = data + bytes - 1, .bytes = needed}, {}); });
  EXPECT_TRUE(array_.is_untouched());
  plan(affine_).run(data, total_bytes(affine_), Workspace{}, {});  // needs none
}

TEST(InPlaceRun, EmptyBatch) {
  for (const Permutation& permutation :
       {Permutation(maps::gray(20)), Permutation(maps::transpose_any(30, 50))}) {
    const ExecutablePlan made = plan(in_place(permutation, 4, 0));
    made.run(nullptr, 0);
    made.run_staged(nullptr, nullptr, 0);
    std::byte one{1};
    expect_refused(ErrorCode::value, "1 bytes", [&] { made.run(&one, 1); });
  }
}

}  // namespace executable_in_place_engine_test
}  // namespace faro::testing
