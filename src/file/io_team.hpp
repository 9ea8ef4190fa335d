// Threads that read and write while others permute.
//
//     start(items)     |--item--|--item--|        a thread takes the next item, with requests of its own
//                      |--item--|--item--|
//     wait()           the caller helps with what is left, and hears of the first error
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
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

  /// Begins to call body(0) … body(items - 1), by any thread and in any order. Requires: what was started
  /// before was waited for (checked).
  void start(std::uint64_t items, Body body);
  /// Errors: the first that a body threw; later items were then left out.
  void wait();

 private:
  void work(io::Transfers& transfers);
  void live();

  io::TransferMode mode_;
  int queue_depth_;
  io::Transfers own_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Body body_;
  std::uint64_t items_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::uint64_t round_ = 0;
  std::size_t busy_ = 0;  // threads that are at work on this round
  bool started_ = false;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace faro::file
