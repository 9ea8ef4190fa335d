// Columns rotated by 0, 1, 2, … within a strip, by whole registers.
//
//     rotations 0 1 2 3      step 1: odd columns by 1     0 1 0 1
//                            step 2: columns 2, 3 by 2    0 0 2 2
//
// A rotation by k is one by every power of two that k has, and each of those is a choice, element by element,
// between a row and one further on. All steps go down the strip together: as soon as a row is there, the
// first step does the row before it, the second the one two above that, and so on, all in the first-level
// cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faro::cpu {

struct StripRows {
  std::byte* first = nullptr;  // of faro::detail::register_columns(element_bytes) columns
  std::uint64_t stride_bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t element_bytes = 1;
};

/// Up: new[r][k] = old[(r + k) mod rows][k]. Down: new[r][k] = old[(r - k) mod rows][k]. Uses 9 KiB of stack.
/// Requires: rows >= columns (unchecked). Any alignment.
enum class Rotation { up, down };
void rotate_strip(const StripRows& strip, Rotation rotation);

}  // namespace faro::cpu
