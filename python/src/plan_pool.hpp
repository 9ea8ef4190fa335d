// Plans that one call at a time uses, kept from call to call.
//
//     first call      borrow(key)  none is idle: made     ... run, check ...   back to the pool
//     second call     borrow(key)  the same plan
//     two at a time   borrow(key)  borrow(key)  a plan for each
//
// For plans with a state of their own, as those of rows on a GPU: what they note of wrong entries is that of
// the call that asks. A plan that a call gives up, since it failed, is not used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace faro::python {

/// `Plan`: what owns one and can be moved, such as a std::unique_ptr. Any number of threads may use the pool,
/// which outlives what it lends.
template <typename Plan>
class PlanPool {
 public:
  using Key = std::vector<std::int64_t>;

  /// Idle plans that are kept at most; one more, and all of them are forgotten.
  explicit PlanPool(std::size_t most_idle) : most_idle_(most_idle) {}

  /// A plan in use. It goes with this, unless it is given back.
  class Lent {
   public:
    const Plan& operator*() const { return plan_; }
    /// For other calls. Requires: not yet given back (unchecked).
    void give_back() { pool_->keep(std::move(key_), std::move(plan_)); }

   private:
    friend class PlanPool;
    Lent(PlanPool* pool, Key key, Plan plan) : pool_(pool), key_(std::move(key)), plan_(std::move(plan)) {}
    PlanPool* pool_;
    Key key_;
    Plan plan_;
  };

  /// An idle plan of that key, or what make() gives. Throws what make() throws.
  template <typename Make>
  Lent borrow(Key key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = idle_.find(key);
      if (found != idle_.end()) {
        Plan plan = std::move(found->second.back());
        found->second.pop_back();
        if (found->second.empty()) idle_.erase(found);
        --count_;
        return Lent(this, std::move(key), std::move(plan));
      }
    }
    return Lent(this, std::move(key), make());
  }

  std::size_t idle() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  using Idle = std::map<Key, std::vector<Plan>>;

  void keep(Key key, Plan plan) {
    Idle dropped;  // destroyed last, without the lock: it may take long
    const std::lock_guard lock(mutex_);
    if (count_ >= most_idle_) {
      dropped.swap(idle_);
      count_ = 0;
    }
    idle_[std::move(key)].push_back(std::move(plan));
    ++count_;
  }

  std::size_t most_idle_;
  std::mutex mutex_;
  Idle idle_;
  std::size_t count_ = 0;
};

}  // namespace faro::python
