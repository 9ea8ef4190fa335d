// Work shared out among threads, in order and in equal parts.
#pragma once

#include <omp.h>

#include <algorithm>
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

/// Calls work(share), or where somebody watches, work(piece) for the share's pieces in order.
template <typename Work>
void do_share(const Share& share, const WatchedWork& watched, const Work& work) {
  if (!watched.is_watched()) return work(share);
  constexpr std::uint64_t kPieces = 64;
  const std::uint64_t piece = std::max<std::uint64_t>(1, (share.end - share.begin) / kPieces);
  for (std::uint64_t begin = share.begin; begin < share.end;) {
    const std::uint64_t end = share.end - begin < 2 * piece ? share.end : begin + piece;
    work(Share{.begin = begin, .end = end, .rank = share.rank});
    watched.did(end - begin);
    begin = end;
  }
}

/// Calls work(Share) on equal shares of 0..count, one a thread, and returns when all are done. A share may
/// come in pieces, one after another.
template <typename Work>
void share_out_by_rank(std::uint64_t count, int threads, const Work& work) {
  const WatchedWork watched(count);
  if (threads <= 1) return do_share(Share{.begin = 0, .end = count, .rank = 0}, watched, work);
#pragma omp parallel num_threads(detail::thread_count(threads))
  {
    const auto team = static_cast<std::uint64_t>(omp_get_num_threads());
    const auto rank = static_cast<std::uint64_t>(omp_get_thread_num());
    // Rounded so that no product of counts is needed: the first shares are one longer.
    const std::uint64_t share = count / team;
    const std::uint64_t longer = count % team;
    const std::uint64_t begin = rank * share + std::min(rank, longer);
    do_share(Share{.begin = begin, .end = begin + share + (rank < longer ? 1 : 0), .rank = rank}, watched,
             work);
  }
}

/// The same for work(begin, end).
template <typename Work>
void share_out(std::uint64_t count, int threads, const Work& work) {
  share_out_by_rank(count, threads, [&](Share share) { work(share.begin, share.end); });
}

}  // namespace faro::cpu
