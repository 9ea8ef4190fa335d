// The plans of the last problems, so that a problem that is asked for again is not planned again: programs
// ask in a loop, and a library that calls faro for every operation has nowhere to keep a plan.
//
//     plan(p)   plan(q)   plan(p)        two are made, the third is a copy of the first
//
// A plan depends on the problem and on the machine: engine, device, threads. Index arrays are not kept, for
// they are large and may be changed by their owner, nor is anything that a user chose, calibrated or
// measured.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "faro/plan/plan.hpp"

namespace faro::detail {

struct PlanKey {
  Problem problem;
  Engine engine = Engine::cpu;
  int device = 0;
  int threads = 0;

  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.engine == b.engine && a.device == b.device && a.threads == b.threads &&
           a.problem.element_bytes == b.problem.element_bytes && a.problem.batch == b.problem.batch &&
           a.problem.placement == b.problem.placement && a.problem.view == b.problem.view &&
           a.problem.permutation == b.problem.permutation;
  }
};

/// May be used by many threads at once. Cost: a comparison with each of at most kMostKept problems, and a
/// copy of the plan: some microseconds.
template <typename Key, typename Made, std::size_t kMostKept>
class RecentPlans {
 public:
  static constexpr std::size_t kMost = kMostKept;

  std::optional<Made> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (auto entry = plans_.begin(); entry != plans_.end(); ++entry) {
      if (!(entry->first == key)) continue;
      plans_.splice(plans_.begin(), plans_, entry);  // the last that was asked for is the first
      return plans_.front().second;
    }
    return std::nullopt;
  }

  /// Instead of the one that was not asked for for longest, where there are kMost.
  void keep(const Key& key, const Made& plan) {
    const std::lock_guard lock(mutex_);
    plans_.emplace_front(key, plan);
    if (plans_.size() > kMost) plans_.pop_back();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return plans_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::list<std::pair<Key, Made>> plans_;
};

using PlanCache = RecentPlans<PlanKey, Plan, 256>;

}  // namespace faro::detail
