// The one error type of the library.
//
// A fault of the caller or of a resource is thrown as `Error` before anything has been written: it says which
// operation refused, what it got, what it wanted, and what to do. A broken invariant of faro itself is a
// `FARO_CHECK` that failed; it is never compiled out.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "faro/require_cxx20.hpp"

namespace faro {

enum class ErrorCode {
  internal,      // an invariant of faro is broken: a bug, please report it
  usage,         // the command line cannot be understood
  spec,          // a permutation's text cannot be understood
  value,         // a value is outside what the operation accepts
  unsupported,   // understood, but not possible (yet) with this build, machine or plan
  device,        // no such device, or a device call failed
  verification,  // a result differs from the oracle
  file,          // missing, malformed, unwritable, or the disk is full
};

/// The name used in JSON: "internal", "usage", "spec", "value", "unsupported", "device", "verification",
/// "file".
std::string_view name(ErrorCode code) noexcept;

/// The command line's exit status for `code`: 1 internal, 2 usage, spec and value, 3 unsupported, 4 device,
/// 5 verification, 6 file.
int exit_status(ErrorCode code) noexcept;

/// What went wrong, in the four parts that a user needs. Every part is one line of plain text.
struct ErrorReport {
  ErrorCode code = ErrorCode::internal;
  std::string operation;  // what was being done: "plan", "parse `gray(`", "read `in.npy`"
  std::string got;        // the offending value
  std::string wanted;     // what would have been accepted
  std::string remedy;     // what to do about it; may be empty
};

class Error : public std::exception {
 public:
  explicit Error(ErrorReport report);

  const ErrorReport& report() const noexcept { return report_; }
  ErrorCode code() const noexcept { return report_.code; }

  /// One line: "operation: got …, wanted …; remedy".
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorReport report_;
  std::string message_;
};

/// Throws Error of these parts: the one way to refuse. `operation` is what was being done.
[[noreturn]] void fail(ErrorCode code, std::string operation, std::string got, std::string wanted,
                       std::string remedy = {});

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace faro

// An invariant of faro's own. Always on; throws ErrorCode::internal, naming the condition and its place.
#define FARO_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::faro::detail::check_failed(#condition, __FILE__, __LINE__))
