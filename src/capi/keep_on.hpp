// Work of the calling thread that its caller may end.
#pragma once

#include <cstdint>
#include <optional>

#include "engines/cpu/run_watch.hpp"

namespace faro::capi {

/// While it lives, what this thread runs on the CPU asks what faro_set_keep_on() was given, if it moves
/// enough bytes.
class Endable {
 public:
  explicit Endable(std::uint64_t bytes);

 private:
  std::optional<cpu::RunWatch> watch_;
};

}  // namespace faro::capi
