// How far a run on the CPU has come, for whoever shows it: the command on a terminal, where a run takes
// seconds.
//
//     RunWatch watch(bytes, advance);     on the thread that calls run(), before it does
//
//     pass 1    |########|########|       the threads' shares of the work are cut into pieces,
//     pass 2    |###.....|##......|       and each that is done tells its part: 65% of the bytes
//
// A watch may also ask whether to go on, between pieces, on the thread that called run(); what is not done
// yet is then left, and run() throws RunEnded. (Passes in place take turns at tiles and are carried to their
// end: half a permutation is no array.)
//
// Where nobody watches, a work that is shared out costs a load and a comparison more.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

namespace faro::cpu {

/// A run that its watch has ended; the output is partly written.
class RunEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "the run was ended"; }
};

class RunWatch {
 public:
  /// Watches what this thread runs while it lives. `advance` is called by any thread of the run, with some of
  /// `bytes` at a time and with no more than all of them together.
  RunWatch(std::uint64_t bytes, std::function<void(std::uint64_t)> advance)
      : bytes_(bytes), advance_(std::move(advance)), outer_(std::exchange(of_this_thread(), this)) {}
  /// Asks `keep_on` on this thread, at most ten times a second; false ends the run.
  explicit RunWatch(std::function<bool()> keep_on)
      : bytes_(0), keep_on_(std::move(keep_on)), outer_(std::exchange(of_this_thread(), this)) {}
  ~RunWatch() { of_this_thread() = outer_; }
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// Null where nobody watches this thread.
  static RunWatch*& of_this_thread() {
    static thread_local RunWatch* watch = nullptr;
    return watch;
  }

  /// All passes before this one are done.
  void begin_pass(std::uint64_t pass, std::uint64_t passes) {
    pass_bytes_ = static_cast<double>(bytes_) / static_cast<double>(passes);
    before_ = pass_bytes_ * static_cast<double>(pass);
    in_pass_ = 0;
    reach(before_);
  }

  /// A part of the present pass, from 0 to 1. By any thread.
  void did(double part) {
    const auto more = static_cast<std::uint64_t>(part * pass_bytes_);
    const auto now = static_cast<double>(in_pass_.fetch_add(more, std::memory_order_relaxed) + more);
    reach(before_ + std::min(now, pass_bytes_));
  }

 private:
  friend class WatchedParts;
  friend class WatchedWork;

  void reach(double at) {
    const auto target = static_cast<std::uint64_t>(at);
    std::uint64_t told = told_.load(std::memory_order_relaxed);
    while (told < target) {
      if (!told_.compare_exchange_weak(told, target, std::memory_order_relaxed)) continue;
      advance_(target - told);
      return;
    }
  }

  void ask() {
    constexpr std::chrono::milliseconds kBetween{100};
    if (!keep_on_ || ended_.load(std::memory_order_relaxed)) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < kBetween) return;
    asked_ = now;
    if (!keep_on_()) ended_.store(true, std::memory_order_relaxed);
  }

  std::uint64_t bytes_;
  std::function<void(std::uint64_t)> advance_;
  std::function<bool()> keep_on_;
  RunWatch* outer_;
  double pass_bytes_ = 0;
  double before_ = 0;  // bytes of the passes before
  double weight_ = 1;  // of a work that is shared out, in its pass
  std::atomic<std::uint64_t> in_pass_{0};
  std::atomic<std::uint64_t> told_{0};
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::atomic<bool> ended_{false};
};

/// For a pass that shares out several works, one after another: each is so many parts of what there is.
class WatchedParts {
 public:
  explicit WatchedParts(std::uint64_t parts) : watch_(RunWatch::of_this_thread()) {
    if (watch_ == nullptr) return;
    weight_ = watch_->weight_;
    watch_->weight_ /= static_cast<double>(std::max<std::uint64_t>(1, parts));
  }
  ~WatchedParts() {
    if (watch_ != nullptr) watch_->weight_ = weight_;
  }
  WatchedParts(const WatchedParts&) = delete;
  WatchedParts& operator=(const WatchedParts&) = delete;

 private:
  RunWatch* watch_;
  double weight_ = 1;
};

/// One work that is shared out: tells of it, and keeps quiet what is shared out within.
class WatchedWork {
 public:
  explicit WatchedWork(std::uint64_t count)
      : watch_(std::exchange(RunWatch::of_this_thread(), nullptr)),
        each_(watch_ == nullptr || count == 0 ? 0 : watch_->weight_ / static_cast<double>(count)) {}
  ~WatchedWork() { RunWatch::of_this_thread() = watch_; }
  WatchedWork(const WatchedWork&) = delete;
  WatchedWork& operator=(const WatchedWork&) = delete;

  bool is_watched() const { return watch_ != nullptr; }
  /// `count` of what there is to do. By any thread.
  void did(std::uint64_t count) const {
    if (watch_ != nullptr) watch_->did(each_ * static_cast<double>(count));
  }
  /// Asks whether to go on. Requires: on the thread that the watch is of (unchecked).
  void ask() const {
    if (watch_ != nullptr) watch_->ask();
  }
  /// By any thread.
  bool is_ended() const { return watch_ != nullptr && watch_->ended_.load(std::memory_order_relaxed); }
  /// When all threads are done. Errors: RunEnded.
  void require_unended() const {
    if (is_ended()) throw RunEnded();
  }

 private:
  RunWatch* watch_;
  double each_;
};

}  // namespace faro::cpu
