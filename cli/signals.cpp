#include "cli/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "cli/report.hpp"
#include "faro/error.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

constexpr std::string_view kNoMemory =
    "faro: allocate: got no memory, wanted a smaller problem or more memory\n";

// Read by a handler at any moment: a line that its owner keeps.
std::atomic<const std::string*> interrupt_line{nullptr};

void end_as_usual(int signal) {
  io::remove_uncommitted();
  const std::string* const line = interrupt_line.load();
  if (line != nullptr && (signal == SIGINT || signal == SIGTERM)) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line->data(), line->size());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  // The first process of a container is sent no signal that it does not handle.
  constexpr int kEndedBySignal = 128;
  _exit(kEndedBySignal + signal);
}

void end_on_lost_file(int) {
  io::remove_uncommitted();
  constexpr std::string_view kLine =
      "faro: read or write a mapped file: got a part that is not there, wanted a file that keeps its size "
      "and a disk "
      "that works; another program may have shortened it\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kLine.data(), kLine.size());
  _exit(exit_status(ErrorCode::file));
}

// An exception that no one can catch: of a destructor, or of a thread in a parallel region.
[[noreturn]] void end_on_exception() {
  io::remove_uncommitted();
  std::string_view line =
      "faro: run: got an exception that nobody caught, wanted no such failure; this is a bug in faro\n";
  ErrorCode code = ErrorCode::internal;
  try {
    if (const std::exception_ptr exception = std::current_exception()) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    line = kNoMemory;
    code = ErrorCode::value;
  } catch (...) {
  }
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  _exit(exit_status(code));
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;  // so that raising it again inside ends the process
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptNote::InterruptNote(const std::string& left)
    : line_("\nfaro: interrupted: " + fit_for_a_terminal(left) + "\n") {
  interrupt_line = &line_;
}

InterruptNote::~InterruptNote() { interrupt_line = nullptr; }

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) handle(signal, end_as_usual);
  struct sigaction inherited {};
  const bool is_known = sigaction(SIGHUP, nullptr, &inherited) == 0;
  const bool under_nohup = is_known && inherited.sa_handler == SIG_IGN;
  if (!under_nohup) handle(SIGHUP, end_as_usual);
  handle(SIGBUS, end_on_lost_file);
  handle(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_on_exception);
}

}  // namespace faro::cli
