// Rows of any width permuted where they are, on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace faro::python {

/// What is permuted: `outer` arrays, one after another, of `sources.size()` rows each.
struct RowCycles {
  std::vector<std::uint64_t> sources;  // row i gets what row sources[i] was. Requires: a permutation
  std::uint64_t outer = 1;
  std::uint64_t row_bytes = 1;
};

/// Each cycle is followed once, so that a row is read once and written once, and one row of a cycle is held.
/// Threads share the bytes of a row. Cost: as a copy where rows are wide; memory for the sources, a bit and a
/// word a row, and one row.
void permute_rows(const RowCycles& rows, std::byte* data);

}  // namespace faro::python
