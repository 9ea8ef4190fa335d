// Rows of any width permuted where they are, on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace faro::python {

/// What is permuted: `outer` arrays, one after another, of `rows` rows each.
struct RowCycles {
  std::uint64_t rows = 0;
  std::uint64_t outer = 1;
  std::uint64_t row_bytes = 1;
};

/// Row i gets what row sources[i] was. Requires: a permutation.
class ListedSources {
 public:
  explicit ListedSources(const std::uint64_t* sources) : sources_(sources) {}
  std::uint64_t operator()(std::uint64_t row) const { return sources_[row]; }

 private:
  const std::uint64_t* sources_;
};

/// Those of an affine map: row i gets what row M i + complement was. `columns`: of M, at most 40.
class AffineSources {
 public:
  AffineSources(const std::vector<std::uint64_t>& columns, std::uint64_t complement);
  std::uint64_t operator()(std::uint64_t row) const {
    std::uint64_t source = complement_;
    for (const auto& table : tables_) {
      source ^= table[row % kEntries];
      row /= kEntries;
    }
    return source;
  }

 private:
  static constexpr std::uint64_t kEntries = 256;
  std::vector<std::array<std::uint64_t, kEntries>> tables_;  // of eight bits of a row's number each
  std::uint64_t complement_;
};

/// Each cycle is followed once, so that a row is read once and written once, and one row of a cycle is held.
/// Rows are named some hundred ahead, and fetched. Threads share the bytes of a row. Cost: as a copy where
/// rows are wide; a cache line's time, of some that are on their way together, a narrow one. Memory: a bit a
/// row, for each thread.
void permute_rows(const RowCycles& of, const ListedSources& sources, std::byte* data);
void permute_rows(const RowCycles& of, const AffineSources& sources, std::byte* data);

}  // namespace faro::python
