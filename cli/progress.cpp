#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/report.hpp"

namespace faro::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kRefresh{200};
constexpr std::chrono::minutes kWithoutTerminal{1};

double seconds_now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::size_t terminal_columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t total, double seconds) {
  if (total == 0) return fmt::format("{:.0f} s", seconds);
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string text = fmt::format("{:.0f}% of {}", 100 * part, size_text(total));
  if (done == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  const double left = static_cast<double>(total - std::min(done, total)) / rate;
  return text + fmt::format(", {}/s, {:.0f} s left", size_text(static_cast<std::uint64_t>(rate)), left);
}

std::uint64_t bytes_of_file(const std::string& path) {
  std::error_code failed;
  const std::uint64_t bytes = std::filesystem::file_size(path, failed);
  return failed ? 0 : bytes;
}

Progress::Progress(Verbosity verbosity) {
  if (verbosity != Verbosity::normal) return;
  const bool on_terminal = isatty(STDERR_FILENO) == 1;
  try {
    thread_ = std::thread([this, on_terminal] { show(on_terminal); });
  } catch (const std::system_error&) {
    // Without a thread to show it, it is not shown.
  }
}

Progress::~Progress() { end(); }

void Progress::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Progress::step(const std::string& name, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  step_ = name;
  step_begin_ = seconds_now();
  bytes_ = bytes;
  done_ = 0;
}

void Progress::reach(const std::string& name, std::uint64_t done_bytes, std::uint64_t total_bytes) {
  if (bytes_ != total_bytes) step(name, total_bytes);
  done_.store(done_bytes, std::memory_order_relaxed);
}

std::function<void(std::uint64_t)> Progress::advance() {
  return [this](std::uint64_t bytes) { done_.fetch_add(bytes, std::memory_order_relaxed); };
}

std::string Progress::line(double seconds) const {
  return "faro: " + step_ + (bytes_ == 0 ? ", " : ": ") + progress_text(done_, bytes_, seconds);
}

void Progress::show(bool on_terminal) {
  bool shown = false;
  std::unique_lock lock(mutex_);
  const auto has_ended = [this] { return ended_; };
  const auto first = on_terminal ? Clock::duration(kSilence) : Clock::duration(kWithoutTerminal);
  const auto next = on_terminal ? Clock::duration(kRefresh) : first;
  for (auto pause = first; !changed_.wait_for(lock, pause, has_ended); pause = next) {
    const double seconds = seconds_now() - step_begin_;
    std::string text = fit_for_a_terminal(line(seconds));
    // A line that wraps could not be taken back.
    if (on_terminal && text.size() >= terminal_columns())
      text = "faro: " + progress_text(done_, bytes_, seconds);
    std::fprintf(stderr, on_terminal ? "\r\x1b[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
    shown = on_terminal;
  }
  if (shown) std::fprintf(stderr, "\r\x1b[K");
}

}  // namespace faro::cli
