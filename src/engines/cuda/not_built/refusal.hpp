// What stands for classes and functions of the CUDA engine in a build without it.
#pragma once

#include <cstdlib>

#include "engines/cuda/host/availability.hpp"

namespace faro::cuda {

/// Errors: ErrorCode::device, "cuda: not built".
[[noreturn]] inline void refuse() {
  require_available();
  std::abort();  // which is not reached
}

/// A class that moves: its constructors refuse, so that nothing of it is ever run.
// NOLINTBEGIN(bugprone-macro-parentheses): names of classes
#define FARO_NOT_BUILT(Class)                          \
  struct Class::State {};                              \
  Class::Class(Class&&) noexcept = default;            \
  Class& Class::operator=(Class&&) noexcept = default; \
  Class::~Class() = default
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace faro::cuda
