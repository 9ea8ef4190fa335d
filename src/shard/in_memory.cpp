// Threads as ranks, each with a part in the host's memory, or on a GPU. Everybody writes down what it sends,
// waits for the others, and takes what is its own from where it lies; then waits again, so that nobody's
// array changes under another's hands. GPUs do the same in the order of their streams.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engines/cuda_parts.hpp"
#include "faro/communicator.hpp"
#include "faro/error.hpp"
#include "faro/shards.hpp"
#include "shard/methods.hpp"

namespace faro {
namespace {

// Threads that wait for each other, again and again: a barrier that ends in an error for all where one gives
// up or does not come.

// `Post` is what each of them writes down before it waits, and the others read behind it.
template <typename Post>
class Meeting {
 public:
  Meeting(int ranks, std::chrono::milliseconds time_limit)
      : limit_(time_limit), posts_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(posts_.size()); }
  Post& post(int rank) { return posts_[static_cast<std::size_t>(rank)]; }

  // Returns when all ranks have called it as often. Errors: ErrorCode::device where one gave up, or does
  // not come.
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

  // Errors: ErrorCode::device where one gave up.
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

struct ShardPost {
  const std::byte* from = nullptr;
  std::span<const ShardMessage> sends;
  std::string word;
  std::vector<void*> opened = {};      // what others may write to
  const cuda::PeerEnd* end = nullptr;  // of a rank on a GPU
};
using ShardMeeting = Meeting<ShardPost>;

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ShardMeeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  int ranks() const override { return meeting_->ranks(); }
  int rank() const override { return rank_; }
  std::string name() const override { return "threads"; }
  Engine memory() const override { return Engine::cpu; }

  void exchange(const void* from, std::span<const ShardMessage> sends, void* to,
                std::span<const ShardMessage> receives, Stream stream) override {
    ShardPost& mine = meeting_->post(rank_);
    mine.from = static_cast<const std::byte*>(from);
    mine.sends = sends;
    before(stream);
    meeting_->wait();
    try {
      take(static_cast<std::byte*>(to), receives, stream);
    } catch (const Error& error) {
      meeting_->give_up(rank_, error.what());
      throw;
    }
    meeting_->wait();
    after(sends, stream);
  }

  std::vector<std::string> all_gather(const std::string& mine) override {
    meeting_->post(rank_).word = mine;
    meeting_->wait();
    std::vector<std::string> all;
    all.reserve(static_cast<std::size_t>(ranks()));
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(meeting_->post(rank).word);
    meeting_->wait();
    return all;
  }

  void abort(const std::string& why) noexcept override {
    try {
      meeting_->give_up(rank_, why);
    } catch (...) {
      return;  // without memory for a sentence, the time limit ends the others' waiting
    }
  }

 protected:
  ShardMeeting& meeting() { return *meeting_; }

  // What is to be sent is ready; what others take of it.
  virtual void before(Stream /*stream*/) {}
  virtual void copy(int /*peer*/, const std::byte* from, std::byte* to, std::uint64_t bytes,
                    Stream /*stream*/) {
    std::memcpy(to, from, bytes);
  }
  // All of mine has been copied, and what I sent may be written over when the others have.
  virtual void copied(Stream /*stream*/) {}
  virtual void after(std::span<const ShardMessage> /*sends*/, Stream /*stream*/) {}

 private:
  void take(std::byte* to, std::span<const ShardMessage> receives, Stream stream) {
    std::vector<std::size_t> next(static_cast<std::size_t>(ranks()), 0);
    for (const ShardMessage& wanted : detail::next_rank_first(receives, rank_, ranks())) {
      const ShardPost& theirs = meeting_->post(wanted.peer);
      std::size_t& at = next[static_cast<std::size_t>(wanted.peer)];
      while (at < theirs.sends.size() && theirs.sends[at].peer != rank_) ++at;
      if (at == theirs.sends.size() || theirs.sends[at].bytes != wanted.bytes) {
        fail(
            ErrorCode::internal, "exchange shards",
            at == theirs.sends.size() ? "no message" : fmt::format("one of {} bytes", theirs.sends[at].bytes),
            fmt::format("one of {} bytes from rank {}", wanted.bytes, wanted.peer));
      }
      copy(wanted.peer, theirs.from + theirs.sends[at].offset_bytes, to + wanted.offset_bytes, wanted.bytes,
           stream);
      ++at;
    }
    copied(stream);
  }

  std::shared_ptr<ShardMeeting> meeting_;
  int rank_;
};

// A thread whose part is on a device: it waits for the others' streams, not for their work.
class PeerCommunicator : public ThreadCommunicator, public PeerMemory {
 public:
  PeerCommunicator(std::shared_ptr<ShardMeeting> meeting, int rank, const std::vector<int>& devices)
      : ThreadCommunicator(meeting, rank),
        end_(devices[static_cast<std::size_t>(rank)], devices),
        host_(std::move(meeting), rank) {
    this->meeting().post(rank).end = &end_;
  }

  std::string name() const override { return "peers"; }
  Engine memory() const override { return Engine::cuda; }
  int device() const override { return end_.device(); }
  Communicator* host() override { return &host_; }
  PeerMemory* peer_memory() override { return end_.reaches_all() ? this : nullptr; }

  std::vector<std::vector<std::byte*>> open_all(std::span<void* const> mine, Stream stream) override {
    meeting().post(rank()).opened.assign(mine.begin(), mine.end());
    end_.mark_ready(stream);
    meeting().wait();
    std::vector<std::vector<std::byte*>> arrays(mine.size());
    for (int peer = 0; peer < ranks(); ++peer) {
      const ShardPost& theirs = meeting().post(peer);
      FARO_CHECK(theirs.opened.size() == mine.size());
      for (std::size_t i = 0; i < mine.size(); ++i)
        arrays[i].push_back(static_cast<std::byte*>(theirs.opened[i]));
      if (peer != rank()) end_.wait_until_ready(*theirs.end, stream);
    }
    return arrays;
  }

  void close(Stream stream) override {
    end_.mark_copied(stream);
    meeting().wait();
    for (int peer = 0; peer < ranks(); ++peer) {
      if (peer != rank()) end_.wait_until_copied(*meeting().post(peer).end, stream);
    }
  }

  void wait(Stream stream) override {
    while (!cuda::is_done(device(), stream)) {
      meeting().look();
      std::this_thread::yield();
    }
  }

 protected:
  void before(Stream stream) override { end_.mark_ready(stream); }
  void copy(int peer, const std::byte* from, std::byte* to, std::uint64_t bytes, Stream stream) override {
    const cuda::PeerEnd& theirs = *meeting().post(peer).end;
    end_.wait_until_ready(theirs, stream);
    end_.copy(from, theirs.device(), to, bytes, stream);
  }
  void copied(Stream stream) override { end_.mark_copied(stream); }
  void after(std::span<const ShardMessage> sends, Stream stream) override {
    for (const ShardMessage& message : sends)
      end_.wait_until_copied(*meeting().post(message.peer).end, stream);
  }

 private:
  cuda::PeerEnd end_;
  ThreadCommunicator host_;  // at the same meetings
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> in_memory_communicators(int ranks,
                                                                   std::chrono::milliseconds time_limit) {
  if (ranks < 1) fail(ErrorCode::value, "make communicators", fmt::format("{} ranks", ranks), "1 or more");
  const auto meeting = std::make_shared<ShardMeeting>(ranks, time_limit);
  std::vector<std::shared_ptr<Communicator>> made;
  made.reserve(static_cast<std::size_t>(meeting->ranks()));
  for (int rank = 0; rank < ranks; ++rank)
    made.push_back(std::make_shared<ThreadCommunicator>(meeting, rank));
  return made;
}

std::vector<std::shared_ptr<Communicator>> peer_communicators(const std::vector<int>& devices,
                                                              std::chrono::milliseconds time_limit) {
  if (devices.empty()) fail(ErrorCode::value, "make communicators", "no devices", "1 or more");
  const auto meeting = std::make_shared<ShardMeeting>(static_cast<int>(devices.size()), time_limit);
  std::vector<std::shared_ptr<Communicator>> made;
  made.reserve(static_cast<std::size_t>(meeting->ranks()));
  for (int rank = 0; rank < meeting->ranks(); ++rank)
    made.push_back(std::make_shared<PeerCommunicator>(meeting, rank, devices));
  return made;
}

}  // namespace faro
