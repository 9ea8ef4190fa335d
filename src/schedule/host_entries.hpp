// The entries of an index array of the host, of whichever width they are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "faro/error.hpp"
#include "faro/permutation/indexed.hpp"

namespace faro::schedule {

/// Errors: ErrorCode::value for an array on a device.
inline void require_host(const Indexed& indexed, const std::string& operation) {
  if (indexed.on_host()) return;
  fail(ErrorCode::value, operation, "an index array on device " + std::to_string(*indexed.device()),
       "one of the host", "plan it for that device, or copy it to the host");
}

/// use(entries), a span of 32- or of 64-bit entries. Requires: an array of the host (unchecked).
template <typename Use>
decltype(auto) with_entries(const Indexed& indexed, const Use& use) {
  if (indexed.entries64().empty()) return use(indexed.entries32());
  return use(indexed.entries64());
}

}  // namespace faro::schedule
