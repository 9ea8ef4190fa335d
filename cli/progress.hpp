// What is being done when it takes longer than a second: on a terminal one line that is kept up to date,
// elsewhere a line a minute.
//
//     faro: writing out.npy: 43% of 186 GiB, 1.2 GiB/s, 88 s left
//     faro: permuting 186 GiB, 12 s
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace faro::cli {

enum class Verbosity { normal, quiet };

/// Shows the present step until it is destroyed.
class Progress {
 public:
  explicit Progress(Verbosity verbosity);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Names the step that begins now; `bytes` of it where advance() will be told how many are done.
  void step(const std::string& name, std::uint64_t bytes = 0);
  /// How much of it is done, of how much in all; another total begins the step. By one thread at a time.
  void reach(const std::string& name, std::uint64_t done_bytes, std::uint64_t total_bytes);

  /// Shows nothing more: for who is about to print.
  void end();

  /// Adds to the bytes of the present step that are done. For no longer than this lives.
  std::function<void(std::uint64_t)> advance();

 private:
  void show(bool on_terminal);
  std::string line(double seconds) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_;
  double step_begin_ = 0;    // seconds since the start
  std::uint64_t bytes_ = 0;  // of the step, 0: not known
  std::atomic<std::uint64_t> done_{0};
  bool ended_ = false;
  std::thread thread_;  // not started where nothing is shown
};

/// A file's size, 0 where it is none.
std::uint64_t bytes_of_file(const std::string& path);

/// "43% of 186 GiB, 1.2 GiB/s, 88 s left": of `done` bytes in so many seconds. Without a total its time
/// alone.
std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds);

}  // namespace faro::cli
