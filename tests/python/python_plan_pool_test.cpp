// The pool that keeps the Python package's plans of rows on a GPU from call to call, with plans that need
// none.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../python/src/plan_pool.hpp"

namespace faro {
namespace plan_pool_test {

// Counts how many there are, and whether two calls ever had one at the same time.
struct FakePlan {
  explicit FakePlan(std::atomic<int>* count) : alive(count) { ++*alive; }
  ~FakePlan() { --*alive; }
  FakePlan(const FakePlan&) = delete;
  FakePlan& operator=(const FakePlan&) = delete;
  std::atomic<int>* alive;
  std::atomic<int> users{0};
};
using Pool = python::PlanPool<std::unique_ptr<FakePlan>>;

class PlanPool : public ::testing::Test {
 protected:
  Pool::Lent borrow(Pool& pool, std::int64_t key) {
    return pool.borrow({key, 7}, [&] {
      ++made_;
      return std::make_unique<FakePlan>(&alive_);
    });
  }
  int made_ = 0;
  std::atomic<int> alive_{0};
};

TEST_F(PlanPool, TheSameKeyGetsTheSamePlanAgain) {
  Pool pool(4);
  const FakePlan* first = nullptr;
  for (int call = 0; call < 5; ++call) {
    auto lent = borrow(pool, 1);
    if (call == 0) first = (*lent).get();
    EXPECT_EQ((*lent).get(), first);
    EXPECT_EQ(pool.idle(), 0U);
    lent.give_back();
    EXPECT_EQ(pool.idle(), 1U);
  }
  EXPECT_EQ(made_, 1);
  auto other = borrow(pool, 2);
  EXPECT_NE((*other).get(), first);
  EXPECT_EQ(made_, 2);
}

TEST_F(PlanPool, TwoCallsAtATimeHaveAPlanEach) {
  Pool pool(4);
  {
    auto a = borrow(pool, 1);
    auto b = borrow(pool, 1);
    EXPECT_NE((*a).get(), (*b).get());
    a.give_back();
    b.give_back();
  }
  EXPECT_EQ(pool.idle(), 2U);
  auto a = borrow(pool, 1);
  auto b = borrow(pool, 1);
  EXPECT_EQ(made_, 2);
}

TEST_F(PlanPool, APlanThatFailedIsNotUsedAgain) {
  Pool pool(4);
  { auto lent = borrow(pool, 1); }
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(pool.idle(), 0U);
  auto lent = borrow(pool, 1);
  EXPECT_EQ(made_, 2);
  EXPECT_THROW(pool.borrow({9}, []() -> std::unique_ptr<FakePlan> { throw std::runtime_error("none"); }),
               std::runtime_error);
}

TEST_F(PlanPool, IdlePlansAreForgottenWhenThereAreMany) {
  Pool pool(3);
  for (std::int64_t key = 0; key < 3; ++key) borrow(pool, key).give_back();
  EXPECT_EQ(alive_, 3);
  borrow(pool, 3).give_back();
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(pool.idle(), 1U);
}

TEST(PlanPoolThreads, NoPlanHasTwoUsers) {
  std::atomic<int> alive{0};
  Pool pool(8);
  std::atomic<bool> shared{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int call = 0; call < 2000; ++call) {
        auto lent = pool.borrow({(t + call) % 3}, [&] { return std::make_unique<FakePlan>(&alive); });
        if ((*lent)->users.fetch_add(1) != 0) shared = true;
        (*lent)->users.fetch_sub(1);
        if (call % 50 != 0) {
          lent.give_back();
        } else {
          auto dropped = std::move(lent);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared);
  EXPECT_LE(pool.idle(), 8U);
}

}  // namespace plan_pool_test
}  // namespace faro
