// The refusals of this module's programs.
#pragma once

#include <string>

#include "faro/error.hpp"

namespace faro::programs {

/// ErrorCode::value for a machine, or a size, that a program does not run on.
[[noreturn]] inline void refuse_machine(const std::string& got, const std::string& wanted,
                                        const std::string& remedy = {}) {
  throw Error({.code = ErrorCode::value,
               .operation = "fit a program to the machine",
               .got = got,
               .wanted = wanted,
               .remedy = remedy});
}

}  // namespace faro::programs
