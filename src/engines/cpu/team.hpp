// Work shared out among threads (thread_team.hpp), where a run may be watched.
#pragma once

#include <cstdint>

#include "engines/cpu/run_watch.hpp"
#include "faro/threads.hpp"
#include "thread_team.hpp"

namespace faro::cpu {

using detail::Share;
using detail::ShareCall;

void share_out_calls(std::uint64_t count, int threads, ShareCall work);

/// Calls work(Share) on pieces of 0..count, each thread's one behind another as far as it comes in time
/// (thread_team.hpp), and returns when all are done. One thread has all at once, unless somebody watches.
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
