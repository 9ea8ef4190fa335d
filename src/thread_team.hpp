// Work shared out among threads that wait asleep, in pieces.
//
//     count    |--------part 0--------|--------part 1--------|     one part a thread, contiguous
//     pieces   |--|--|--|--|--|--|--|-|--|--|--|--|--|--|--|-|     each part's next from a counter
//
// The thread that calls begins with part 0 at once and wakes the others; a thread that is done with its own
// part goes on with pieces of the others'. So all is done even where no other thread ever comes, a thread
// that is away holds up one piece, and a machine that is busy costs no more than one thread alone would.
// (OpenMP's library waits for the last thread of a team by looking again and again, and each thread's share
// is its own: on a busy machine two threads took fifteen times as long as one.)
//
// Where helpers are late all the same, because others have the processors, short work goes without them for a
// while: a thread that is taken off its processor within a piece is gone for milliseconds.
//
// Part r goes to the same thread in every call, as far as it comes: pages that it touched first lie in its
// memory, and later calls find them there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace faro::detail {

/// What one thread does: work [begin, end), with things of its own by `rank`.
struct Share {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t rank = 0;  // below the number of threads that were asked for; 0: the thread that called
};

/// A work behind a pointer. What is called once a piece need not be inlined.
struct ShareCall {
  const void* work;
  void (*call)(const void* work, const Share& share);

  template <typename Work>
  static ShareCall of(const Work& work) {
    return {&work, [](const void* that, const Share& share) { (*static_cast<const Work*>(that))(share); }};
  }
  void operator()(const Share& share) const { call(work, share); }
};

/// How a work is cut.
struct Pieces {
  std::uint64_t count = 0;
  /// 0: a part for each thread, in pieces of a sixteenth of it. Else pieces of so many, in ascending order by
  /// whoever is free.
  std::uint64_t piece = 0;
};

/// Whether other programs take the processors away from teams, so that one thread is the better choice: by
/// what teams won and lost. By many threads at once; then what one of them adds may be lost.
class Crowding {
 public:
  bool is_crowded(std::int64_t now_us) const { return now_us < until_us_.load(std::memory_order_relaxed); }

  /// A work that took `took_us` with helpers, and undisturbed would take `alone_us` without. Where losses
  /// exceed what was won lately (20 ms at most count), a quarter of a second goes without helpers, each time
  /// in a row twice as long, up to 4 s.
  void judge(std::int64_t now_us, std::int64_t alone_us, std::int64_t took_us) {
    constexpr std::int64_t kMostCreditUs = 20'000;
    constexpr std::int64_t kFirstUs = 250'000;
    constexpr std::int64_t kMostUs = 4'000'000;
    const std::int64_t credit = credit_us_.load(std::memory_order_relaxed) + alone_us - took_us;
    credit_us_.store(std::clamp<std::int64_t>(credit, 0, kMostCreditUs), std::memory_order_relaxed);
    if (credit >= kMostCreditUs) while_us_.store(0, std::memory_order_relaxed);
    if (credit > -kSlackUs) return;
    const std::int64_t next = std::clamp(2 * while_us_.load(std::memory_order_relaxed), kFirstUs, kMostUs);
    while_us_.store(next, std::memory_order_relaxed);
    until_us_.store(now_us + next, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kSlackUs = 200;  // what making threads, or the first pages, may take

  std::atomic<std::int64_t> credit_us_{0};
  std::atomic<std::int64_t> until_us_{0};
  std::atomic<std::int64_t> while_us_{0};
};

/// Calls work(share) for pieces that cover 0..count-1 once, by at most `threads` threads (1 and less: by this
/// one, all at once), and returns when all are done. Calls from several threads, and from within work, go on
/// beside one another.
/// Requires: work does not throw (unchecked where threads > 1).   Cost: some microseconds a thread that is
/// woken; the first time that so many are asked for, making them.
void run_pieces(Pieces pieces, int threads, ShareCall work);

/// The same for work(begin, end), a part for each thread.
template <typename Work>
void share_out_evenly(std::uint64_t count, int threads, const Work& work) {
  run_pieces({.count = count}, threads,
             ShareCall::of([&](const Share& share) { work(share.begin, share.end); }));
}

/// work(i, rank) for every i below count, `together` at a time by whoever is free.
template <typename Work>
void take_turns_at(std::uint64_t count, int threads, std::uint64_t together, const Work& work) {
  run_pieces({.count = count, .piece = together}, threads, ShareCall::of([&](const Share& share) {
               for (std::uint64_t i = share.begin; i < share.end; ++i) work(i, share.rank);
             }));
}

}  // namespace faro::detail
