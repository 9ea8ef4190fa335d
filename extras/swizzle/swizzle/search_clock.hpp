// How long a search has taken: by the clock on the wall, or by the processor time of the thread that
// searches, which a busy machine does not lengthen.
#pragma once

#include <chrono>
#include <ctime>

namespace faro::swizzle::detail {

class SearchClock {
 public:
  explicit SearchClock(bool processor_time = false) : processor_time_(processor_time), start_(now()) {}

  double seconds() const { return now() - start_; }

 private:
  double now() const {
    if (processor_time_) {
      constexpr double kNanoseconds = 1e-9;
      std::timespec time{};
      if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) {
        return static_cast<double>(time.tv_sec) + kNanoseconds * static_cast<double>(time.tv_nsec);
      }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  bool processor_time_;
  double start_;
};

}  // namespace faro::swizzle::detail
