// What is wrong with a sketch or its specification.
#pragma once

#include <string>
#include <utility>

#include "faro/error.hpp"

namespace faro::swizzle::detail {

/// ErrorCode::spec for `operation`.
[[noreturn]] inline void refuse_spec(std::string operation, std::string got, std::string wanted,
                                     std::string remedy = "") {
  throw Error({.code = ErrorCode::spec,
               .operation = std::move(operation),
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = std::move(remedy)});
}

}  // namespace faro::swizzle::detail
