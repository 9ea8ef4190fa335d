// Short arrays of short rows, moved by way of shared memory (kernels/row_staged.hpp): when, and how many at
// once.
#pragma once

#include <cstdint>
#include <optional>

#include "faro/permutation/take.hpp"
#include "kernels/row_staged.hpp"

namespace faro::detail {

struct StagedRows {
  std::uint64_t unit = 1;    // bytes
  std::uint64_t arrays = 1;  // at a time, of a block
  std::uint64_t blocks = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;

  /// What the kernel is given.
  kernels::StagedShape shape(const RowMove& move, const RowLayout& layout) const;
};

/// Of such a Take or Put, arrays aligned to 16 bytes; nothing where that is not the way: for long arrays and
/// rows, for few of them, and for entries that reach little of an array.
std::optional<StagedRows> staged_rows(const RowMove& move, const RowLayout& layout);

}  // namespace faro::detail
