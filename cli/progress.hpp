// What is being done, on a terminal, when it takes longer than a second.
//
//     faro: permuting 4 GiB … 3.2 s
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace faro::cli {

enum class Verbosity { normal, quiet };

/// Shows the present step until it is destroyed. Silent where standard error is no terminal.
class Progress {
 public:
  explicit Progress(Verbosity verbosity);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Names the step that begins now.
  void step(const std::string& name);

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_;
  bool ended_ = false;
  std::thread thread_;  // not started where nothing is shown
};

}  // namespace faro::cli
