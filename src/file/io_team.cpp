#include "file/io_team.hpp"

#include <new>
#include <utility>

#include "faro/error.hpp"

namespace faro::file {

IoTeam::IoTeam(int threads, io::TransferMode mode, int queue_depth)
    : mode_(mode), queue_depth_(queue_depth), own_(mode, queue_depth) {
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { live(); });
  } catch (const std::exception&) {
    // With fewer, or by the caller alone.
  }
}

IoTeam::~IoTeam() {
  {
    std::unique_lock lock(mutex_);
    failed_ = true;
    changed_.wait(lock, [this] { return busy_ == 0; });
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IoTeam::start(std::uint64_t items, Body body) {
  {
    const std::lock_guard lock(mutex_);
    FARO_CHECK(!started_);
    body_ = std::move(body);
    items_ = items;
    next_ = 0;
    failed_ = false;
    error_ = nullptr;
    started_ = true;
    ++round_;
  }
  changed_.notify_all();
}

void IoTeam::wait() {
  if (!started_) return;
  work(own_);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return busy_ == 0; });
  started_ = false;
  body_ = nullptr;
  if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
}

void IoTeam::work(io::Transfers& transfers) {
  while (!failed_.load(std::memory_order_relaxed)) {
    const std::uint64_t item = next_.fetch_add(1);
    if (item >= items_) return;
    try {
      body_(item, transfers);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
      failed_ = true;
    }
  }
}

void IoTeam::live() {
  std::unique_ptr<io::Transfers> transfers;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || (started_ && round_ != seen); });
    if (ending_) return;
    seen = round_;
    ++busy_;
    lock.unlock();
    try {
      if (transfers == nullptr) transfers = std::make_unique<io::Transfers>(mode_, queue_depth_);
      work(*transfers);
    } catch (const std::bad_alloc&) {
      // The others do it.
    }
    lock.lock();
    if (--busy_ == 0) changed_.notify_all();
  }
}

}  // namespace faro::file
