// What a call refuses with.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "faro/error.hpp"

namespace faro {

/// The error's line, or "accepted".
template <typename Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

namespace test {

/// The error, a line of text, that `call` throws. It is a failure where there is none.
inline Error refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return Error({});
}

inline ErrorReport report_of(const std::function<void()>& call) { return refusal(call).report(); }
inline ErrorCode code_of(const std::function<void()>& call) { return refusal(call).code(); }

/// A word or several.
struct Words : std::vector<std::string> {
  using std::vector<std::string>::vector;
  Words(const char* word) : vector{word} {}
  Words(const std::string& word) : vector{word} {}
};

/// That `call` is refused with this code, every part of the report says something, and its line has all
/// words.
inline void expect_refused(ErrorCode code, const Words& words, const std::function<void()>& call) {
  const Error error = refusal(call);
  const ErrorReport& report = error.report();
  EXPECT_EQ(std::string(name(error.code())), name(code)) << error.what();
  EXPECT_FALSE(report.operation.empty() || report.got.empty() || report.wanted.empty()) << error.what();
  for (const std::string& each : words)
    EXPECT_NE(std::string(error.what()).find(each), std::string::npos)
        << "`" << each << "` is not in: " << error.what();
}
inline void expect_refused(ErrorCode code, const std::function<void()>& call) {
  expect_refused(code, Words(), call);
}

/// The line of an error of this code; "no error" where there is none.
inline std::string message_of(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace test
}  // namespace faro
