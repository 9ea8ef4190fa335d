// The refusals of this module.
#pragma once

#include <string>

#include "faro/error.hpp"

namespace faro::schedule {

/// ErrorCode::value for `operation`.
[[noreturn]] inline void refuse_value(const char* operation, const std::string& got,
                                      const std::string& wanted) {
  throw Error({.code = ErrorCode::value, .operation = operation, .got = got, .wanted = wanted, .remedy = {}});
}

/// ErrorCode::file for the plan file `name`.
[[noreturn]] inline void refuse_file(const std::string& name, const std::string& got,
                                     const std::string& wanted, const std::string& remedy = {}) {
  throw Error({.code = ErrorCode::file,
               .operation = "read `" + name + "`",
               .got = got,
               .wanted = wanted,
               .remedy = remedy});
}

}  // namespace faro::schedule
