// Which regions of an unfinished output are on the disk, so that a later run goes on behind them.
//
//     first sweep    | 0 | 1 | 2 | … |        one after another: a line of file::Journal each, with a checksum of
//     second sweep   | k | k+1 | …            the region's elements in C order
//
// A line is written when the region's chunks are on the disk, and those of all regions before it, and where
// nothing of them is in memory alone, as the index of a shard is until its last chunk is stored.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "file/journal.hpp"

namespace faro::store {

class RegionJournal {
 public:
  /// Of the output `path`, whose run `work` tells from others. Errors: ErrorCode::file.
  RegionJournal(const std::filesystem::path& path, const std::string& work, double checkpoint_seconds);

  /// Whether there is one of another run.
  bool is_of_another() const { return journal_.is_of_another(); }
  /// Whether it has anything that a later run could go on behind.
  bool is_resumable() const { return !journal_.finished().empty(); }
  /// Forgets all that an earlier run finished.
  void begin_anew() { journal_.restart(0); }
  void remove() noexcept { journal_.remove(); }

  /// `sync` brings to the disk what the sweep stored; what the one before it stored is noted. The sums are of
  /// its regions that an earlier run finished. Errors: ErrorCode::file.
  std::span<const std::uint64_t> begin_sweep(std::uint64_t regions, std::function<void()> sync);
  /// None of those is of use.
  void restart_sweep() { journal_.restart(before_); }
  /// The next region is stored. Errors: ErrorCode::file.
  void add(std::uint64_t checksum, bool is_settled);
  /// The run ends before its time. The end of a whole one needs no note: the output follows. Errors:
  /// ErrorCode::file.
  void interrupt() { checkpoint(); }

 private:
  void checkpoint();

  file::Journal journal_;
  double checkpoint_seconds_;
  std::size_t before_ = 0;  // regions of the sweeps before this one
  std::size_t regions_ = 0;
  std::function<void()> sync_;
  std::vector<std::uint64_t> stored_;  // that the journal does not have yet
  std::size_t settled_ = 0;            // of them
  std::chrono::steady_clock::time_point noted_ = std::chrono::steady_clock::now();
};

}  // namespace faro::store
