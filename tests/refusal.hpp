// What a call refuses with.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "faro/error.hpp"

namespace faro::test {

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

}  // namespace faro::test
