// The oldest way to transpose in place, as a baseline: each element goes where it belongs, the one that lay
// there goes next, and so on until a cycle closes.
//
//     2 x 3      0 1 2 3 4 5      1 -> 2 -> 4 -> 3 -> 1; 0 and 5 stay
//
// One bit an element tells which cycles are done. Nearly every step is a miss of every cache, and no two
// steps of a cycle overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace faro::bench {

/// Transposes rows x columns elements. `done`: rows columns / 64 + 1 words, of any content.
void follow_cycles(std::byte* data, std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes,
                   std::vector<std::uint64_t>& done);

}  // namespace faro::bench
