// What stands for the classes and functions of the CUDA engine in a build without it: each is declared by its
// signature, and refuses.
//
//     FARO_ABSENT_MOVABLE(RowExecutor);                        its State, moves and destructor
//     FARO_ABSENT(RowExecutor::RowExecutor(const RowPlan&));
//
// Constructors refuse, so that members never run. All are weak: tests put others in their place.
#pragma once

#include <cstdlib>

#include "engines/cuda/host/availability.hpp"

namespace faro::cuda {

/// Errors: ErrorCode::device, "cuda: not built".   Requires: a build without CUDA.
[[noreturn]] inline void refuse() {
  require_available();
  std::abort();  // which is not reached
}

#define FARO_ABSENT(...) \
  [[gnu::weak]] __VA_ARGS__ { refuse(); }
// NOLINTBEGIN(bugprone-macro-parentheses): names of classes
#define FARO_ABSENT_CLASS(Class) \
  struct Class::State {};        \
  [[gnu::weak]] Class::~Class() = default
#define FARO_ABSENT_MOVABLE(Class)          \
  FARO_ABSENT_CLASS(Class);                 \
  Class::Class(Class&&) noexcept = default; \
  Class& Class::operator=(Class&&) noexcept = default
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace faro::cuda
