// What the tables of the offline permutation paper have in common: its five permutations, its algorithms, and
// what these access.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/shared_permutation.hpp"

namespace faro::reproduce {

inline constexpr std::uint32_t kOfflineElements = 1024;  // and threads
inline constexpr std::uint32_t kOfflineWidth = 32;
inline constexpr std::size_t kOfflinePermutations = 5;
inline constexpr std::size_t kRandomPermutation = 1;  // which of them depends on the seed

using kernels::PermuteWay;

/// "copy", "D", "S", "conflict-free", "conflict-free, 10-bit lists", "conflict-free, lists in registers".
std::string_view name_of(PermuteWay way);

struct OfflinePermutation {
  std::string_view name;
  std::vector<std::uint32_t> list;
};

/// Permutations of kOfflineElements on kOfflineWidth banks: identical, random, transpose, shuffle, bit
/// reversal.
std::array<OfflinePermutation, kOfflinePermutations> offline_permutations(std::uint64_t seed);

/// What the threads of a block accessed in one permutation, thread after thread, in elements or words of the
/// array.
struct OfflineAccesses {
  std::vector<std::uint64_t> reads_a;
  std::vector<std::uint64_t> writes_b;
  std::vector<std::uint64_t> reads_lists;
  std::uint64_t misplaced = 0;  // elements of b that are not where P sends them
};

/// Runs the published kernel on the counting memory. Requires: kOfflineElements (checked).
OfflineAccesses offline_accesses(PermuteWay way, std::span<const std::uint32_t> permutation);

}  // namespace faro::reproduce
