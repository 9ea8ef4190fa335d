#include "faro/error.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace faro {
namespace {

// A report is shown on one line, whatever the name of a file or a spec contained: ESC is \x1b.
std::string one_line(std::string text) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::none_of(text.begin(), text.end(), is_control)) return text;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (is_control(code)) {
      shown += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string message_of(const ErrorReport& report) {
  std::string message = report.operation;
  if (!report.got.empty()) message += ": got " + report.got;
  if (!report.wanted.empty()) message += (report.got.empty() ? ": wanted " : ", wanted ") + report.wanted;
  if (!report.remedy.empty()) message += "; " + report.remedy;
  return message;
}

}  // namespace

std::string_view name(ErrorCode code) noexcept {
  static constexpr const char* kNames[] = {"internal",    "usage",  "spec",         "value",
                                           "unsupported", "device", "verification", "file"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ErrorCode::file) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

int exit_status(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::internal:
      return 1;
    case ErrorCode::usage:
    case ErrorCode::spec:
    case ErrorCode::value:
      return 2;
    case ErrorCode::unsupported:
      return 3;
    case ErrorCode::device:
      return 4;
    case ErrorCode::verification:
      return 5;
    case ErrorCode::file:
      return 6;
  }
  return 1;
}

Error::Error(ErrorReport report) : report_(std::move(report)) {
  report_.operation = one_line(std::move(report_.operation));
  report_.got = one_line(std::move(report_.got));
  report_.wanted = one_line(std::move(report_.wanted));
  report_.remedy = one_line(std::move(report_.remedy));
  message_ = message_of(report_);
}

void fail(ErrorCode code, std::string operation, std::string got, std::string wanted, std::string remedy) {
  throw Error({.code = code,
               .operation = std::move(operation),
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = std::move(remedy)});
}

namespace detail {

void check_failed(const char* condition, const char* file, int line) {
  fail(ErrorCode::internal, "internal check",
       std::string("`") + condition + "` false at " + file + ":" + std::to_string(line), "true",
       "this is a bug in faro; please report it with the command");
}

}  // namespace detail
}  // namespace faro
