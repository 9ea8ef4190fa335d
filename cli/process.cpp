#include "cli/process.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace faro::cli {
namespace {

constexpr std::size_t kLeastThreadStack = std::size_t{1} << 20;
constexpr std::size_t kThreadStack = std::size_t{2} << 20;
constexpr std::size_t kMainStack = std::size_t{8} << 20;

// What OMP_STACKSIZE says, in bytes: "16k", "512", which is in KiB, "2 M". Nothing that can be read is
// plenty.
std::size_t stack_bytes(const char* text) {
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  if (end == text) return kThreadStack;
  while (*end == ' ') ++end;
  int shift = 10;
  if (*end == 'b' || *end == 'B') shift = 0;
  if (*end == 'm' || *end == 'M') shift = 20;
  if (*end == 'g' || *end == 'G') shift = 30;
  return number >> (40 - shift) != 0 ? kThreadStack : static_cast<std::size_t>(number << shift);
}

struct Call {
  const std::function<int()>* work;
  int result;
};

void* make(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  call.result = (*call.work)();
  return nullptr;
}

}  // namespace

void share_heap_under_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

void prepare_thread_stacks(char** argv) {
  for (const char* const variable : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const char* const value = secure_getenv(variable);
    if (value == nullptr || stack_bytes(value) >= kLeastThreadStack) continue;
    setenv("OMP_STACKSIZE", "2M", 1);
    unsetenv("GOMP_STACKSIZE");
    execv("/proc/self/exe", argv);
    break;  // where that cannot be: with what there is
  }
  // Other threads have the limit of the main stack for theirs.
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) return;
  std::size_t bytes = 0;
  if (pthread_attr_getstacksize(&usual, &bytes) == 0 && bytes < kLeastThreadStack &&
      pthread_attr_setstacksize(&usual, kThreadStack) == 0)
    pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&usual);
}

int with_enough_stack(const std::function<int()>& work) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kMainStack) return work();
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kMainStack);
  if (setrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= kMainStack) return work();
  // A thread's stack is memory like any other, whatever the limit of the main one.
  pthread_attr_t attributes;
  pthread_t thread{};
  Call call{&work, 0};
  if (pthread_attr_init(&attributes) != 0) return work();
  const bool runs = pthread_attr_setstacksize(&attributes, kMainStack) == 0 &&
                    pthread_create(&thread, &attributes, make, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!runs) return work();
  pthread_join(thread, nullptr);
  return call.result;
}

}  // namespace faro::cli
