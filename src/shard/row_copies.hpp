// A view whose output lies in rows of whole runs, in two steps: packing in the order of the output, and
// copies of rows, which copy engines carry over links at their full rate, wherever the rows begin.
//
//     a slab of the input        packed, by rows of the output       the peer's output
//     [ . a b . ]                [ a c e ]   --- rows --->           [ x x a c e x ]
//     [ . c d . ]  ---kernel-->  [ b d f ]                           [ x x b d f x ]
//     [ . e f . ]
//
// Where the input has the same rows, as a slab of rows that becomes one of columns, they are copied from
// there.
//
// A kernel that stores over a link writes parts of sectors where rows begin anywhere, and its blocks keep
// others from the multiprocessors while they wait for the link. Slices of rows are packed while those before
// are copied.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "faro/permutation/strided.hpp"

namespace faro::detail {

struct RowCopies {
  // In elements, but for the number of rows.
  struct Slice {
    Strided packing;  // from the input to the workspace; without axes where rows are copied from the input
    std::uint64_t from = 0;  // of the workspace, or of the input
    std::uint64_t from_pitch = 0;
    std::uint64_t to = 0;  // of the output
    std::uint64_t to_pitch = 0;
    std::uint64_t run = 0;  // of a row
    std::uint64_t rows = 0;
  };
  std::vector<Slice> slices;
  std::uint64_t workspace_elements = 0;  // 0: all is copied from the input
};

/// In at most `slices` slices of the output's slowest axis, or in one from the input. None where the output
/// is not rows of one distance, or rows are shorter than `least_run` elements. `unit` elements are what the
/// workspace's rows are aligned to.
struct RowChoice {
  std::uint64_t slices = 1;
  std::uint64_t least_run = 1;
  std::uint64_t unit = 1;
};
std::optional<RowCopies> row_copies(const Strided& view, const RowChoice& choice);

}  // namespace faro::detail
