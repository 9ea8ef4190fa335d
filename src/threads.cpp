#include "faro/threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace faro::detail {
namespace {

// Each thread makes the next and waits for it, so that all live when the last is made. Nothing is allocated:
// running a plan may get here.
struct Chain {
  int wanted;
  int made;
};

void* make_next(void* argument) {
  Chain& chain = *static_cast<Chain*>(argument);
  ++chain.made;
  pthread_t next{};
  if (chain.made < chain.wanted && pthread_create(&next, nullptr, make_next, &chain) == 0)
    pthread_join(next, nullptr);
  return nullptr;
}

// How many of `wanted` threads, ours among them, there can be at a time.
int possible_threads(int wanted) {
  Chain chain{.wanted = wanted, .made = 0};
  make_next(&chain);
  return chain.made;
}

}  // namespace

int most_threads() { return 4 * std::max(1, omp_get_num_procs()); }

int threads_beside(int team, int wanted) {
  // Now, so that its stacks are there whatever those threads take of a limited address space.
  std::atomic<int> made{0};
#pragma omp parallel num_threads(team)
  ++made;
  return std::max(0, possible_threads(made + wanted) - made);
}

void rest_threads() { static_cast<void>(omp_pause_resource_all(omp_pause_soft)); }

int thread_count(int asked) {
  static const bool ends_before_fork = pthread_atfork(rest_threads, nullptr, nullptr) == 0;
  static_cast<void>(ends_before_fork);
  static std::mutex trying;
  static std::atomic<int> possible{1};  // so many there were at a time
  static std::atomic<bool> is_limited{false};
  const int wanted = std::clamp(asked > 0 ? asked : omp_get_max_threads(), 1, most_threads());
  if (wanted > possible && !is_limited) {
    const std::lock_guard lock(trying);
    if (wanted > possible && !is_limited) {
      const int found = possible_threads(wanted);
      is_limited = found < wanted;
      possible = found;
    }
  }
  return std::min<int>(wanted, possible);
}

}  // namespace faro::detail
