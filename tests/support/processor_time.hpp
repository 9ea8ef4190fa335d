// What a test takes, counted in time of the processor: other programs that run meanwhile do not add to it,
// though they empty its caches. Times that are promised on a machine of one's own are benchmarks' (bench/).
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace faro::testing {

/// A processor that shares its core and its caches with other programs takes so many times as long.
inline constexpr double kOnABusyMachine = 4;

/// The time of this thread, or of all threads of the program.
enum class TimeOf : clockid_t { thread = CLOCK_THREAD_CPUTIME_ID, program = CLOCK_PROCESS_CPUTIME_ID };

/// Milliseconds since some moment.
inline double processor_ms(TimeOf of = TimeOf::thread) {
  timespec time{};
  clock_gettime(static_cast<clockid_t>(of), &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// What `call` takes, in milliseconds: the least of some runs.
template <typename Call>
double least_processor_ms(int runs, const Call& call, TimeOf of = TimeOf::thread) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const double start = processor_ms(of);
    call();
    least = std::min(least, processor_ms(of) - start);
  }
  return least;
}

}  // namespace faro::testing
