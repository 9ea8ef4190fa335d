#include "cli/progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace faro::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kRefresh{200};

}  // namespace

Progress::Progress(Verbosity verbosity) {
  if (verbosity == Verbosity::normal && isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::step(const std::string& name) {
  const std::lock_guard lock(mutex_);
  step_ = name;
}

void Progress::show() {
  const auto start = Clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  const auto has_ended = [this] { return ended_; };
  for (auto pause = kSilence; !changed_.wait_for(lock, pause, has_ended); pause = kRefresh) {
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    std::fprintf(stderr, "\r\x1b[Kfaro: %s … %.1f s", step_.c_str(), elapsed.count());
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace faro::cli
