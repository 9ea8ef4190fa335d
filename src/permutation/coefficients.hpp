// What a coefficient (faro/arithmetic.hpp) is, where that decides what is computed.
#pragma once

#include "faro/arithmetic.hpp"

namespace faro::detail {

/// Whether it is this one number for all.
inline bool is_only(const Coefficient& of, double value) {
  return !of.axis && of.values.size() == 1 && of.values.front() == value;
}

}  // namespace faro::detail
