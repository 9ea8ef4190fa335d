// Makes on the host what the kernels of shared_permutation.hpp read: the lists of each way, and the division
// of a block's shared memory among teams.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faro/device/conflict_free.hpp"
#include "kernels/shared_permutation.hpp"

namespace faro::kernels {

/// Index bits of the published kernel's packed ways: three indices below 1024 to a word.
inline constexpr int kPermuteIndexBits = 10;

/// A way's sizes, of n 4-byte elements and `threads` threads.
constexpr PermuteShape permute_shape(PermuteWay way, std::uint32_t count, std::uint32_t threads) {
  const bool is_packed = way == PermuteWay::packed || way == PermuteWay::held;
  const auto packed_words =
      static_cast<std::uint32_t>(2 * device::packed_list_words(count, kPermuteIndexBits));
  return {.count = count,
          .threads = threads,
          .element_bytes = 4,
          .list_words = is_packed ? packed_words : list_words_of(way, count),
          .index_bits = kPermuteIndexBits};
}

/// The words of buffer kLists: nothing, p, q, s and d, or s and d packed.
/// Errors: ErrorCode::value where it is no permutation, where 32 does not divide its length (the ways with a
///         schedule), or where it is longer than 1024 (those with packed lists).
std::vector<std::uint32_t> permutation_lists(std::span<const std::uint32_t> permutation, PermuteWay way);

/// For arrays that a packed schedule permutes, in a block of at most `most_threads` threads and
/// `shared_bytes`: up to 4 KiB a warp's, of which a block has up to eight, else a whole block's.
/// Nothing where one array does not fit.
std::optional<TeamParams> make_team_params(const schedule::PackedSchedule& packed, int element_bytes,
                                           std::uint64_t shared_bytes, std::uint32_t most_threads = 1024);

}  // namespace faro::kernels
