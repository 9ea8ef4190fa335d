// What the functions of faro.h have in common: exceptions become statuses, and objects hold C++ values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "engines/cpu/run_watch.hpp"
#include "faro/error.hpp"
#include "faro/faro.h"
#include "faro/permutation/permutation.hpp"

struct faro_map {
  faro::Permutation permutation;
};

namespace faro::capi {

/// Keeps what is being thrown for faro_last_message() and its parts, and gives its status. Requires: within a
/// handler. Never throws.
faro_status keep_current_exception() noexcept;

/// Runs `body`; nothing that it throws goes further.
template <typename Body>
faro_status guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return FARO_OK;
  } catch (...) {
    return keep_current_exception();
  }
}

/// Errors: ErrorCode::value naming the argument where it is null.
void require_argument(const void* argument, const char* operation, const char* name);
struct GivenArgument {
  const void* address;
  const char* name;
};
void require_argument(const char* operation, std::initializer_list<GivenArgument> arguments);
/// Of `count` structures: null where there are none. A count below 0 that was made unsigned is refused, too.
void require_structures(const void* first, std::uint64_t count, const char* operation, const char* name);

/// Errors: ErrorCode::value for options that this version does not know.
template <std::size_t count>
void require_zeros(const std::uint64_t (&reserved)[count], const char* operation) {
  for (const std::uint64_t word : reserved) {
    if (word != 0) {
      fail(ErrorCode::value, operation, "reserved options that are not zero", "zeros",
           "the library is older than the program, or the options were not set to zeros");
    }
  }
}

/// A copy of a text that faro_free() takes. Errors: std::bad_alloc.
char* given_away(const std::string& text);

/// A count that C has in an int, as a size. Errors: ErrorCode::value for a negative one and past `most`.
std::size_t checked_rank(const char* operation, int rank, int most = 64);

// Work of the calling thread that its caller may end.

/// While it lives, what this thread runs on the CPU asks what faro_set_keep_on() was given, if it moves
/// enough bytes.
class Endable {
 public:
  explicit Endable(std::uint64_t bytes);

 private:
  std::optional<cpu::RunWatch> watch_;
};

}  // namespace faro::capi
