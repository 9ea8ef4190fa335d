// Work shared out among threads, in order and in equal parts.
#pragma once

#include <cstdint>

#include "engines/cpu/run_watch.hpp"
#include "threads.hpp"

namespace faro::cpu {

/// What one thread does: work [begin, end), with things of its own by `rank`.
struct Share {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t rank = 0;  // below the number of threads that were asked for
};

/// A work behind a pointer. What is called once a share need not be inlined: there is one parallel region for
/// every kind of work.
struct ShareCall {
  const void* work;
  void (*call)(const void* work, const Share& share);

  template <typename Work>
  static ShareCall of(const Work& work) {
    return {&work, [](const void* that, const Share& share) { (*static_cast<const Work*>(that))(share); }};
  }
  void operator()(const Share& share) const { call(work, share); }
};

void share_out_calls(std::uint64_t count, int threads, ShareCall work);

/// Calls work(Share) on equal shares of 0..count, one a thread, and returns when all are done. A share may
/// come in pieces, one after another: it does where somebody watches the run.
template <typename Work>
void share_out_by_rank(std::uint64_t count, int threads, const Work& work) {
  share_out_calls(count, threads, ShareCall::of(work));
}

/// The same for work(begin, end).
template <typename Work>
void share_out(std::uint64_t count, int threads, const Work& work) {
  share_out_by_rank(count, threads, [&](Share share) { work(share.begin, share.end); });
}

}  // namespace faro::cpu
