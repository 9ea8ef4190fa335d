// Threads that wait for each other, again and again: a barrier that ends in an error for all where one gives
// up or does not come.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "faro/error.hpp"

namespace faro::detail {

/// `Post` is what each of them writes down before it waits, and the others read behind it.
template <typename Post>
class Meeting {
 public:
  Meeting(int ranks, std::chrono::milliseconds time_limit)
      : limit_(time_limit), posts_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(posts_.size()); }
  Post& post(int rank) { return posts_[static_cast<std::size_t>(rank)]; }

  /// Returns when all ranks have called it as often. Errors: ErrorCode::device where one gave up, or does
  /// not come.
  void wait() {
    std::unique_lock lock(mutex_);
    require_all_ranks();
    const std::uint64_t round = round_;
    if (++arrived_ == posts_.size()) {
      arrived_ = 0;
      ++round_;
      all_here_.notify_all();
      return;
    }
    const bool came = all_here_.wait_for(lock, limit_, [&] { return round_ != round || !why_.empty(); });
    if (came && round_ != round) return;
    if (!came) {
      why_ = std::to_string(arrived_) + " of " + std::to_string(posts_.size()) + " ranks came within " +
             std::to_string(limit_.count()) + " ms";
      all_here_.notify_all();
    }
    require_all_ranks();
  }

  /// Errors: ErrorCode::device where one gave up.
  void look() {
    const std::lock_guard lock(mutex_);
    require_all_ranks();
  }

  void give_up(int rank, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = "rank " + std::to_string(rank) + " gave up: " + why;
    all_here_.notify_all();
  }

 private:
  void require_all_ranks() const {
    if (!why_.empty()) fail(ErrorCode::device, "exchange shards", why_, "all ranks, in every call");
  }

  std::chrono::milliseconds limit_;
  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::uint64_t round_ = 0;
  std::size_t arrived_ = 0;
  std::string why_;
};

}  // namespace faro::detail
