// The processor's cache line.
#pragma once

#include <cstdint>

namespace faro::cpu {

inline constexpr std::uint64_t kLineBytes = 64;

}  // namespace faro::cpu
