#include "threads.hpp"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace faro::detail {
namespace {

// Keeps threads alive until all that can be made are made.
struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
  bool is_open = false;
};

void* wait_at(void* argument) {
  Gate& gate = *static_cast<Gate*>(argument);
  std::unique_lock lock(gate.mutex);
  gate.opened.wait(lock, [&] { return gate.is_open; });
  return nullptr;
}

// How many of `wanted` threads, ours among them, there can be at a time.
int possible_threads(int wanted) {
  Gate gate;
  std::vector<pthread_t> made;
  made.reserve(static_cast<std::size_t>(wanted));
  pthread_t thread{};
  while (static_cast<int>(made.size()) + 1 < wanted && pthread_create(&thread, nullptr, wait_at, &gate) == 0)
    made.push_back(thread);
  {
    const std::lock_guard lock(gate.mutex);
    gate.is_open = true;
  }
  gate.opened.notify_all();
  for (const pthread_t each : made) pthread_join(each, nullptr);
  return static_cast<int>(made.size()) + 1;
}

}  // namespace

int most_threads() { return 4 * std::max(1, omp_get_num_procs()); }

int thread_count(int asked) {
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
