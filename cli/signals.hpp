// Ending by a signal leaves no temporary file behind.
#pragma once

#include <string>

namespace faro::cli {

/// Interrupt, termination, hang-up and a closed pipe remove what is not committed and then end the process as
/// they would have; a hang-up that is ignored, as under nohup, stays so. A file that shrinks while it is
/// mapped ends it with one line and the exit status of a file error. A limit on file sizes becomes an
/// ordinary error of the write that met it. An exception that nobody can catch, of a destructor or a thread
/// that gets no memory, ends the process with one line.
void install_signal_handlers();

/// What an interruption would leave, reported when one comes: "`x.npy` is permuted in part". For as long as
/// this lives; one at a time.
class InterruptNote {
 public:
  explicit InterruptNote(const std::string& left);
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

 private:
  std::string line_;
};

}  // namespace faro::cli
