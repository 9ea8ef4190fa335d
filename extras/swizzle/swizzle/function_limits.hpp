// How far the functions of a hole are listed (function_set.hpp), and what says that they were not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "faro/error.hpp"

namespace faro::swizzle {

struct FunctionLimits {
  std::uint64_t most_functions = 20'000'000;
  double seconds = 0;           // 0: no limit
  bool processor_time = false;  // what `seconds` count; else the clock's
};

namespace detail {

enum class Limit : std::uint8_t { time, size };

/// What may finish it, in any space.
inline std::string remedy_of(Limit limit) {
  return limit == Limit::time ? "a longer time limit" : "smaller holes";
}

/// ErrorCode::unsupported, with what a result says instead of the error: `what` is a clause, "the functions
/// of `row` were not all listed", to which a limit of time is still to be added.
class CutOff : public Error {
 public:
  CutOff(Limit limit, std::string what, ErrorReport report)
      : Error(std::move(report)), limit_(limit), what_(std::move(what)) {}

  Limit limit() const noexcept { return limit_; }
  const std::string& clause() const noexcept { return what_; }

 private:
  Limit limit_;
  std::string what_;
};

}  // namespace detail
}  // namespace faro::swizzle
