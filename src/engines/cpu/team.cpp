#include "engines/cpu/team.hpp"

#include <omp.h>

#include <algorithm>

namespace faro::cpu {
namespace {

// Calls work(share), or where somebody watches, work(piece) for the share's pieces in order.
void do_share(const Share& share, const WatchedWork& watched, ShareCall work) {
  if (!watched.is_watched()) return work(share);
  constexpr std::uint64_t kPieces = 64;
  const std::uint64_t piece = std::max<std::uint64_t>(1, (share.end - share.begin) / kPieces);
  for (std::uint64_t begin = share.begin; begin < share.end && !watched.is_ended();) {
    const std::uint64_t end = share.end - begin < 2 * piece ? share.end : begin + piece;
    work(Share{.begin = begin, .end = end, .rank = share.rank});
    watched.did(end - begin);
    if (share.rank == 0) watched.ask();  // the thread that called
    begin = end;
  }
}

}  // namespace

void share_out_calls(std::uint64_t count, int threads, ShareCall work) {
  const WatchedWork watched(count);
  if (threads <= 1) {
    do_share(Share{.begin = 0, .end = count, .rank = 0}, watched, work);
    return watched.require_unended();
  }
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
  watched.require_unended();
}

}  // namespace faro::cpu
