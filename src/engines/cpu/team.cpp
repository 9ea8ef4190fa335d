#include "engines/cpu/team.hpp"

#include <algorithm>

namespace faro::cpu {

void share_out_calls(std::uint64_t count, int threads, ShareCall work) {
  const WatchedWork watched(count);
  if (!watched.is_watched()) return detail::run_pieces({.count = count}, threads, work);
  constexpr std::uint64_t kPieces = 64;  // of each thread: each tells its part
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, count / kPieces / static_cast<std::uint64_t>(std::max(1, threads)));
  const auto tell = [&](const Share& share) {
    for (std::uint64_t begin = share.begin; begin < share.end && !watched.is_ended();) {
      const std::uint64_t end = std::min(share.end, begin + piece);
      work({.begin = begin, .end = end, .rank = share.rank});
      watched.did(end - begin);
      if (share.rank == 0) watched.ask();  // the thread that called
      begin = end;
    }
  };
  detail::run_pieces({.count = count}, threads, ShareCall::of(tell));
  watched.require_unended();
}

}  // namespace faro::cpu
