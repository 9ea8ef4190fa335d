// A rank's part as runs of the whole array: what of a file it reads and writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "faro/distribution.hpp"
#include "faro/shards.hpp"

namespace faro::detail {

/// Elements that lie together in the array, and in the part.
struct PartRun {
  std::uint64_t index = 0;    // of the first, in the array
  std::uint64_t element = 0;  // and in the part
  std::uint64_t length = 0;
};

/// Each run of the part, ascending; whole fast axes are one.
void for_runs(const RankPart& part, const std::vector<std::uint64_t>& shape,
              const std::function<void(const PartRun&)>& use);

/// What a rank holds of a cut: slabs or a distribution. Errors: those of part_of(); ErrorCode::unsupported
/// for a cut by bits.
RankPart part_of_cut(const ShardCut& cut, const std::vector<std::uint64_t>& shape, int ranks, int rank);
/// Whether no rank before this one holds the same.
bool is_first_copy(const ShardCut& cut, const std::vector<std::uint64_t>& shape, int ranks, int rank);

}  // namespace faro::detail
