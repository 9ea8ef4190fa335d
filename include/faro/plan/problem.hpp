// A problem is what a user asks for: a permutation, the width of the elements, the number of arrays, and
// where the result goes.
#pragma once

#include <cstdint>

#include "faro/permutation/permutation.hpp"

namespace faro {

enum class Placement { out_of_place, in_place };

/// `batch` arrays follow one another in memory, each of element_count(permutation) elements of element_bytes
/// bytes, and each is permuted alike: out[b][pi(x)] = in[b][x].
struct Problem {
  Permutation permutation;
  /// 1 to 4096; of an affine map a power of two, unless it is a roll, a flip or a permutation of axes too.
  std::uint64_t element_bytes = 4;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  Placement placement = Placement::out_of_place;
};

/// Largest n of a problem.
inline constexpr int kMaxProblemBits = 40;
inline constexpr std::uint64_t kMaxElementBytes = 4096;

/// Bytes of all arrays together. Errors: ErrorCode::value past 2^62.
std::uint64_t total_bytes(const Problem& problem);

}  // namespace faro
