// How long an index array may be to be written out as `indices(2 0 1)`: what is longer has a label, or a text
// that only says how many elements it has.
#pragma once

#include <cstdint>

namespace faro {

inline constexpr std::uint64_t kLongestIndexLiteral = 64;

}  // namespace faro
