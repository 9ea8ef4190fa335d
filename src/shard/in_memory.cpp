// Threads as ranks. Everybody writes down what it sends, waits for the others, and takes what is its own
// from where it lies; then waits again, so that nobody's array changes under another's hands.
#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include "faro/communicator.hpp"
#include "faro/error.hpp"

namespace faro {
namespace {

class Meeting {
 public:
  Meeting(int ranks, std::chrono::milliseconds time_limit)
      : limit_(time_limit), posts_(static_cast<std::size_t>(ranks)) {}

  struct Post {
    const std::byte* from = nullptr;
    std::span<const ShardMessage> sends;
    std::string word;
  };

  int ranks() const { return static_cast<int>(posts_.size()); }
  Post& post(int rank) { return posts_[static_cast<std::size_t>(rank)]; }

  /// Returns when all ranks have called it as often. Errors: ErrorCode::device where one gave up, or does
  /// not come.
  void wait() {
    std::unique_lock lock(mutex_);
    refuse_if_over();
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
      why_ = fmt::format("{} of {} ranks came within {} ms", arrived_, posts_.size(), limit_.count());
      all_here_.notify_all();
    }
    refuse_if_over();
  }

  void give_up(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why.empty() ? "a rank gave up" : why;
    all_here_.notify_all();
  }

 private:
  void refuse_if_over() const {
    if (why_.empty()) return;
    fail(ErrorCode::device, "exchange shards", why_, "all ranks, in every call");
  }

  std::chrono::milliseconds limit_;
  std::vector<Post> posts_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::uint64_t round_ = 0;
  std::size_t arrived_ = 0;
  std::string why_;
};

class InMemoryCommunicator : public Communicator {
 public:
  InMemoryCommunicator(std::shared_ptr<Meeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  int ranks() const override { return meeting_->ranks(); }
  int rank() const override { return rank_; }
  std::string name() const override { return "threads"; }
  Engine memory() const override { return Engine::cpu; }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream /*stream*/) override {
    Meeting::Post& mine = meeting_->post(rank_);
    mine.from = static_cast<const std::byte*>(from);
    mine.sends = sends;
    meeting_->wait();
    try {
      take(static_cast<std::byte*>(to), receives);
    } catch (const Error& error) {
      meeting_->give_up(fmt::format("rank {} gave up: {}", rank_, error.what()));
      throw;
    }
    meeting_->wait();
  }

  std::vector<std::string> all_gather(const std::string& mine) override {
    meeting_->post(rank_).word = mine;
    meeting_->wait();
    std::vector<std::string> all;
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(meeting_->post(rank).word);
    meeting_->wait();
    return all;
  }

  void abort(const std::string& why) noexcept override {
    try {
      meeting_->give_up(fmt::format("rank {} gave up: {}", rank_, why));
    } catch (...) {
      // Without memory for a sentence, the time limit ends the others' waiting.
    }
  }

 private:
  void take(std::byte* to, std::span<const ShardMessage> receives) {
    std::vector<std::size_t> next(static_cast<std::size_t>(ranks()), 0);
    for (const ShardMessage& wanted : receives) {
      const Meeting::Post& theirs = meeting_->post(wanted.peer);
      std::size_t& at = next[static_cast<std::size_t>(wanted.peer)];
      while (at < theirs.sends.size() && theirs.sends[at].peer != rank_) ++at;
      if (at == theirs.sends.size() || theirs.sends[at].bytes != wanted.bytes) {
        fail(ErrorCode::internal, "exchange shards",
             at == theirs.sends.size() ? "no message" : fmt::format("one of {} bytes", theirs.sends[at].bytes),
             fmt::format("one of {} bytes from rank {}", wanted.bytes, wanted.peer));
      }
      std::memcpy(to + wanted.offset_bytes, theirs.from + theirs.sends[at].offset_bytes, wanted.bytes);
      ++at;
    }
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> in_memory_communicators(int ranks,
                                                                   std::chrono::milliseconds time_limit) {
  if (ranks < 1) fail(ErrorCode::value, "make communicators", fmt::format("{} ranks", ranks), "1 or more");
  const auto meeting = std::make_shared<Meeting>(ranks, time_limit);
  std::vector<std::shared_ptr<Communicator>> made;
  for (int rank = 0; rank < ranks; ++rank) made.push_back(std::make_shared<InMemoryCommunicator>(meeting, rank));
  return made;
}

}  // namespace faro
