#include "file/io_team.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

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
  drop();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void IoTeam::start(std::uint64_t items, Body body) {
  {
    const std::lock_guard lock(mutex_);
    rounds_.push_back({.body = std::move(body), .items = items});
  }
  changed_.notify_all();
}

void IoTeam::wait() {
  std::unique_lock lock(mutex_);
  if (rounds_.empty()) return;
  while (work(lock, own_, 1)) {
  }
  changed_.wait(lock, [this] { return rounds_.front().busy == 0; });
  const Round done = std::move(rounds_.front());
  rounds_.pop_front();
  lock.unlock();
  if (done.error != nullptr) std::rethrow_exception(done.error);
}

void IoTeam::drop() noexcept {
  std::unique_lock lock(mutex_);
  for (Round& round : rounds_) round.next = round.items;
  const auto is_idle = [](const Round& round) { return round.busy == 0; };
  changed_.wait(lock, [&] { return std::all_of(rounds_.begin(), rounds_.end(), is_idle); });
  rounds_.clear();
}

bool IoTeam::work(std::unique_lock<std::mutex>& lock, io::Transfers& transfers, std::size_t rounds) {
  const auto end = rounds_.begin() + static_cast<std::ptrdiff_t>(std::min(rounds, rounds_.size()));
  const auto found =
      std::find_if(rounds_.begin(), end, [](const Round& round) { return round.next < round.items; });
  if (found == end) return false;
  Round& round = *found;
  const std::uint64_t item = round.next++;
  ++round.busy;
  lock.unlock();
  std::exception_ptr error;
  try {
    round.body(item, transfers);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  if (error != nullptr) {
    if (round.error == nullptr) round.error = error;
    round.next = round.items;
  }
  if (--round.busy == 0) changed_.notify_all();
  return true;
}

void IoTeam::live() {
  std::unique_ptr<io::Transfers> transfers;
  try {
    transfers = std::make_unique<io::Transfers>(mode_, queue_depth_);
  } catch (const std::bad_alloc&) {
    return;  // the others do it
  }
  const auto has_items = [](const Round& round) { return round.next < round.items; };
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || std::any_of(rounds_.begin(), rounds_.end(), has_items); });
    if (ending_) return;
    work(lock, *transfers, rounds_.size());
  }
}

}  // namespace faro::file
