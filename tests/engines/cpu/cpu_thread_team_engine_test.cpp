// Work that is shared out in pieces is done once, whoever comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "piece_times.hpp"
#include "thread_team.hpp"

namespace faro::testing {
namespace cpu_thread_team_engine_test {

using detail::run_pieces;
using detail::Share;
using detail::ShareCall;

struct Seen {
  std::vector<std::atomic<int>> times;
  std::atomic<std::uint64_t> pieces{0};
  std::atomic<std::uint64_t> most_rank{0};

  explicit Seen(std::uint64_t count) : times(count) {}
  void operator()(const Share& share) {
    ++pieces;
    std::uint64_t known = most_rank;
    while (share.rank > known && !most_rank.compare_exchange_weak(known, share.rank)) {
    }
    for (std::uint64_t i = share.begin; i < share.end; ++i) ++times[i];
  }
  bool each_once() const {
    for (const auto& each : times) {
      if (each != 1) return false;
    }
    return true;
  }
};

TEST(CpuThreadTeam, EveryPieceIsDoneOnceWhateverTheCountsAre) {
  for (const std::uint64_t count : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 1000, 4097}) {
    for (const int threads : {-1, 0, 1, 2, 3, 7, 64, 100}) {
      for (const std::uint64_t piece : {0, 1, 5, 64, 5000}) {
        Seen seen(count);
        run_pieces({.count = count, .piece = piece}, threads,
                   ShareCall::of([&](const Share& share) { seen(share); }));
        EXPECT_TRUE(seen.each_once()) << count << " by " << threads << ", pieces of " << piece;
        EXPECT_LT(seen.most_rank, static_cast<std::uint64_t>(std::max(threads, 1)));
      }
    }
  }
}

TEST(CpuThreadTeam, OneThreadHasAllAtOnceAndTwoHaveSixteenPiecesEach) {
  Seen alone(1024);
  run_pieces({.count = 1024}, 1, ShareCall::of([&](const Share& share) { alone(share); }));
  EXPECT_EQ(alone.pieces, 1U);
  Seen both(1024);
  run_pieces({.count = 1024}, 2, ShareCall::of([&](const Share& share) { both(share); }));
  EXPECT_EQ(both.pieces, 32U);
}

// A helper that does not come back before everything else is done holds up its own piece and nothing more.
TEST(CpuThreadTeam, AThreadThatIsAwayHoldsUpOnePiece) {
  constexpr std::uint64_t kCount = 64;
  constexpr int kPatienceMs = 100;  // of the caller, which leaves the helper time to come
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> is_away{false};
  int patience = kPatienceMs;
  run_pieces({.count = kCount, .piece = 1}, 2, ShareCall::of([&](const Share& share) {
               if (share.rank == 1 && !is_away.exchange(true)) {
                 while (done < kCount - 1) std::this_thread::yield();  // all others
               } else if (share.rank == 0) {
                 for (; patience > 0 && !is_away; --patience)
                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
               }
               ++done;
             }));
  EXPECT_EQ(done, kCount);
}

// Rank 0 begins with its own part and goes on with that of a helper that is late.
TEST(CpuThreadTeam, PartsAreContiguousAndTheCallerFinishesWhatIsLeft) {
  constexpr std::uint64_t kCount = 320;
  std::vector<std::uint64_t> begins;  // of the caller
  std::atomic<bool> has_begun{false};
  run_pieces({.count = kCount}, 2, ShareCall::of([&](const Share& share) {
               if (share.rank == 0) {
                 begins.push_back(share.begin);
                 has_begun = true;
               } else {  // or it might do all before a caller that the system has put aside
                 while (!has_begun) std::this_thread::yield();
               }
             }));
  ASSERT_FALSE(begins.empty());
  EXPECT_EQ(begins.front(), 0U);
  for (std::size_t i = 1; i < begins.size(); ++i) EXPECT_GT(begins[i], begins[i - 1]);
}

TEST(CpuThreadTeam, WorkMayShareOutWorkAndSeveralThreadsMayCall) {
  std::atomic<std::uint64_t> sum{0};
  const auto call = [&] {
    for (int round = 0; round < 50; ++round) {
      detail::share_out_evenly(8, 4, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i)
          detail::take_turns_at(100, 4, 3, [&](std::uint64_t, std::uint64_t) { ++sum; });
      });
    }
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back(call);
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(sum, 4U * 50 * 8 * 100);
}

TEST(CpuThreadTeam, PiecesTellWhatAWorkTakesUndisturbed) {
  detail::PieceTimes none;
  EXPECT_EQ(none.all_us(7), 0);
  // The last of 31 is a quarter of one, and one was taken off its processor for 5 ms.
  detail::PieceTimes times;
  for (int piece = 0; piece < 15; ++piece) times.add(piece == 6 ? 5000 : 16);
  times.add(4);
  EXPECT_EQ(times.shortest_us(), 4);
  EXPECT_EQ(times.all_us(31), (14 * 16 + 64 + 4) * 31 / 16);
  EXPECT_GT(times.all_us(31), 31 * 16);
  // Pieces of less than the clock tells.
  detail::PieceTimes quick;
  for (int piece = 0; piece < 10; ++piece) quick.add(piece % 2);
  EXPECT_EQ(quick.all_us(100), 50);
}

TEST(CpuThreadTeam, AWhileGoesWithoutHelpersWhereTheyCostMoreThanTheyBring) {
  detail::Crowding crowding;
  EXPECT_FALSE(crowding.is_crowded(1));
  crowding.judge(1000, 200, 300);  // no more than waking takes
  EXPECT_FALSE(crowding.is_crowded(1001));
  crowding.judge(1000, 1000, 9000);
  EXPECT_TRUE(crowding.is_crowded(250'999));
  EXPECT_FALSE(crowding.is_crowded(251'000));
  crowding.judge(300'000, 1000, 9000);  // again: twice as long
  EXPECT_TRUE(crowding.is_crowded(799'999));
  EXPECT_FALSE(crowding.is_crowded(800'000));
  for (int late = 0; late < 10; ++late) crowding.judge(1'000'000, 1000, 9000);
  EXPECT_TRUE(crowding.is_crowded(4'999'999));
  EXPECT_FALSE(crowding.is_crowded(5'000'000));
  // Nine of ten win 3 ms and one loses 10: worth it. So much is won that the next loss is the first.
  for (int i = 0; i < 10; ++i) crowding.judge(6'000'000, 6000, i == 8 ? 16'000 : 3000);
  EXPECT_FALSE(crowding.is_crowded(6'000'001));
  crowding.judge(6'000'000, 0, 30'000);
  EXPECT_TRUE(crowding.is_crowded(6'249'999));
  EXPECT_FALSE(crowding.is_crowded(6'250'000));
}

}  // namespace cpu_thread_team_engine_test
}  // namespace faro::testing
