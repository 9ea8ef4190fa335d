// Arrays of structures, structures of arrays, and tiles of them: permutations of the structs' words.
//
//     structs (x y z)              x0 y0 z0 x1 y1 z1 x2 y2 z2 x3 y3 z3
//     aos_to_soa(4, 3)             x0 x1 x2 x3 y0 y1 y2 y3 z0 z1 z2 z3
//     aosoa(4, 3, 2)               x0 x1 y0 y1 z0 z1 x2 x3 y2 y3 z2 z3
//     aosoa(4, 3, 3)               x0 x1 x2 y0 y1 y2 z0 z1 z2 x3 y3 z3      the last tile has what is left
//
// An element is a word, of any width. Within a kernel device/aos.hpp does the same in registers.
#pragma once

#include <cstdint>

#include "faro/permutation/permutation.hpp"

namespace faro::maps {

/// Word w of struct i, at i * words + w, goes to w * count + i: transpose(count, words), affine where both
/// are powers of two. Errors (of all): ErrorCode::value for 0 words and for more than 2^40 elements, affine
/// maps apart.
Permutation aos_to_soa(std::uint64_t count, std::uint64_t words);

/// Its inverse.
Permutation soa_to_aos(std::uint64_t count, std::uint64_t words);

/// aos_to_soa of every `tile` structs by themselves, and of the fewer ones that are left. Axes, or affine,
/// where `tile` divides `count` or is at least `count`; else an index array. Errors: also for a tile of 0
/// structs, and where there is not enough memory for the array. Cost: of an index array 4 bytes an element, 8
/// beyond 2^32.
Permutation aosoa(std::uint64_t count, std::uint64_t words, std::uint64_t tile);

}  // namespace faro::maps
