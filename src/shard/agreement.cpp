// An error on one rank is an error on all: everybody says how it went before anybody goes on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <sstream>

#include "faro/communicator.hpp"
#include "faro/error.hpp"

namespace faro::detail {
namespace {

constexpr std::array kErrorCodes{ErrorCode::internal,     ErrorCode::usage,       ErrorCode::spec,
                                 ErrorCode::value,        ErrorCode::unsupported, ErrorCode::device,
                                 ErrorCode::verification, ErrorCode::file};

// "ok", or a code's name; then the other parts of a report, or a digest, a line each.
std::string report_text(const ErrorReport& report) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", name(report.code), report.operation, report.got, report.wanted,
                     report.remedy);
}

constexpr char kOwnBehind = '\0';

std::string outcome_of(const std::function<Said()>& work, const std::string& operation) {
  try {
    const Said said = work();
    return "ok\n" + said.alike + kOwnBehind + said.own;
  } catch (const Error& error) {
    return report_text(error.report());
  } catch (const std::bad_alloc&) {
    return report_text({.code = ErrorCode::value,
                        .operation = operation,
                        .got = "too little memory",
                        .wanted = "memory for the rank's part of the work",
                        .remedy = ""});
  } catch (const std::exception& error) {
    return report_text({.code = ErrorCode::internal,
                        .operation = operation,
                        .got = error.what(),
                        .wanted = "no exception",
                        .remedy = ""});
  }
}

// Reports the fault of the rank alone, or of all: then no number is said.
[[noreturn]] void throw_report(const std::string& text, std::optional<std::size_t> rank) {
  std::istringstream lines(text);
  std::array<std::string, 5> parts;
  for (std::string& part : parts) std::getline(lines, part);
  ErrorCode code = ErrorCode::internal;
  for (const ErrorCode each : kErrorCodes) {
    if (name(each) == parts[0]) code = each;
  }
  fail(code, rank ? fmt::format("rank {}: {}", *rank, parts[1]) : parts[1], parts[2], parts[3], parts[4]);
}

}  // namespace

void agree(Communicator& communicator, const std::string& operation,
           const std::function<std::string()>& work) {
  static_cast<void>(
      agree_and_tell(communicator, operation, [&] { return Said{.alike = work(), .own = {}}; }));
}

std::vector<std::string> agree_and_tell(Communicator& communicator, const std::string& operation,
                                        const std::function<Said()>& work) {
  std::vector<std::string> all = communicator.all_gather(outcome_of(work, operation));
  std::vector<std::string> own;
  for (std::string& each : all) {
    const std::size_t end = std::min(each.find(kOwnBehind), each.size());
    own.push_back(each.substr(std::min(end + 1, each.size())));
    each.resize(end);
  }
  const bool is_of_all =
      std::all_of(all.begin(), all.end(), [&](const auto& each) { return each == all[0]; });
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].starts_with("ok\n"))
      throw_report(all[rank], is_of_all ? std::nullopt : std::optional(rank));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    fail(ErrorCode::value, operation, fmt::format("rank {} with {}", rank, all[rank].substr(3)),
         fmt::format("the same on all ranks, of rank 0 {}", all[0].substr(3)),
         "every rank has to ask for the same problem");
  }
  return own;
}

}  // namespace faro::detail
