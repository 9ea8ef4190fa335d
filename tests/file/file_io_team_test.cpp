// The threads that read and write: rounds of items, one behind another.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "file/io_team.hpp"

namespace faro {
namespace file_io_team_test {

using file::IoTeam;
constexpr std::uint64_t kItems = 50;

TEST(FileIoTeam, EachItemOfEachRoundIsCalledOnce) {
  for (const int threads : {0, 1, 3}) {
    IoTeam team(threads, io::TransferMode::buffered);
    std::vector<std::vector<std::atomic<int>>> calls;
    constexpr std::size_t kRounds = 6;
    for (std::size_t round = 0; round < kRounds; ++round) calls.emplace_back(kItems);
    const auto expect_done = [&](std::size_t round) {
      for (const std::atomic<int>& count : calls[round])
        EXPECT_EQ(count, 1) << threads << " threads, " << round;
    };
    const auto start = [&](std::size_t round) {
      team.start(kItems, [&calls, round](std::uint64_t item, io::Transfers&) { ++calls[round].at(item); });
    };
    start(0);
    start(1);
    for (std::size_t round = 2; round < kRounds; ++round) {
      team.wait();
      expect_done(round - 2);
      start(round);
    }
    team.wait();
    expect_done(kRounds - 2);
    team.wait();
    expect_done(kRounds - 1);
    team.wait();  // for nothing
  }
}

TEST(FileIoTeam, AnErrorIsToldByItsOwnRound) {
  IoTeam team(2, io::TransferMode::buffered);
  std::atomic<std::uint64_t> called{0};
  team.start(kItems, [&](std::uint64_t, io::Transfers&) { ++called; });
  team.start(kItems, [&](std::uint64_t item, io::Transfers&) {
    if (item == 3) throw std::runtime_error("the fourth");
  });
  team.start(kItems, [&](std::uint64_t, io::Transfers&) { ++called; });
  EXPECT_NO_THROW(team.wait());
  EXPECT_THROW(team.wait(), std::runtime_error);
  EXPECT_NO_THROW(team.wait());
  EXPECT_EQ(called, 2 * kItems);
}

TEST(FileIoTeam, WhatIsDroppedIsWaitedForAndForgotten) {
  IoTeam team(2, io::TransferMode::buffered);
  std::atomic<int> within{0};
  for (int round = 0; round < 3; ++round) {
    team.start(kItems, [&](std::uint64_t, io::Transfers&) {
      ++within;
      --within;
      throw std::runtime_error("nobody hears of it");
    });
  }
  team.drop();
  EXPECT_EQ(within, 0);
  EXPECT_NO_THROW(team.wait());
  std::atomic<std::uint64_t> called{0};
  team.start(kItems, [&](std::uint64_t, io::Transfers&) { ++called; });
  team.wait();
  EXPECT_EQ(called, kItems);
}

}  // namespace file_io_team_test
}  // namespace faro
