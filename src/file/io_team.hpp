// Threads that read and write while others permute.
//
//     start(items)     |--item--|--item--|        a thread takes the next item, with requests of its own
//     start(items)     |--item--|--item--|        and goes on with those of the next round
//     wait()           the caller helps with what is left of the oldest, and hears of its first error
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "io/transfers.hpp"

namespace faro::file {

class IoTeam {
 public:
  using Body = std::function<void(std::uint64_t item, io::Transfers& transfers)>;

  /// As many threads as the system lets this process make, at most `threads`; none will do.
  IoTeam(int threads, io::TransferMode mode, int queue_depth = 0);
  /// Waits for what was started.
  ~IoTeam();
  IoTeam(const IoTeam&) = delete;
  IoTeam& operator=(const IoTeam&) = delete;

  /// Begins to call body(0) … body(items - 1), by any thread and in any order, once all items of the rounds
  /// that were started before are taken.
  void start(std::uint64_t items, Body body);
  /// Waits for the oldest round that nobody waited for; none will do. Errors: the first that its body threw;
  /// its later items were then left out.
  void wait();
  /// Leaves out what was not begun of all rounds, and waits for what was.
  void drop() noexcept;

 private:
  struct Round {
    Body body;
    std::uint64_t items = 0;
    std::uint64_t next = 0;  // item to be taken
    std::uint64_t busy = 0;  // items that threads are at
    std::exception_ptr error = nullptr;
  };

  /// Calls one item of the oldest round that has any, of the first `rounds`. Returns whether there was one.
  bool work(std::unique_lock<std::mutex>& lock, io::Transfers& transfers, std::size_t rounds);
  void live();

  io::TransferMode mode_;
  int queue_depth_;
  io::Transfers own_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Round> rounds_;  // whose elements stay where they are
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace faro::file
