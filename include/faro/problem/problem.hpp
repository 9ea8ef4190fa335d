// A problem is what a user asks for: a permutation, the width of the elements, the number of arrays, and
// where the result goes.
#pragma once

#include <cstdint>
#include <variant>

#include "faro/permutation/permutation.hpp"

namespace faro {

enum class Placement { out_of_place, in_place };

namespace detail {
/// No permutation's value: a shift that is not below its count.
inline Permutation no_permutation() { return Cyclic{.count = 0, .shift = 1, .reversed = true}; }
inline bool is_no_permutation(const Permutation& permutation) {
  const auto* const cyclic = std::get_if<Cyclic>(&permutation);
  return cyclic != nullptr && cyclic->count == 0 && cyclic->shift != 0;
}
}  // namespace detail

/// `batch` arrays follow one another in memory, each of element_count(permutation) elements of element_bytes
/// bytes, and each is permuted alike: out[b][pi(x)] = in[b][x].
struct Problem {
  /// Has to be said: what stands here before is no permutation, and is refused.
  Permutation permutation = detail::no_permutation();
  /// Bytes of an element, 1 to 4096, which have to be said; of an affine map a power of two, unless it is a
  /// roll, a flip or a permutation of axes too. In place rolls, flips and equal axes take any number.
  std::uint64_t element_bytes = 0;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  Placement placement = Placement::out_of_place;
};

/// Largest n of a problem.
inline constexpr int kMaxProblemBits = 40;
inline constexpr std::uint64_t kMaxElementBytes = 4096;

/// Bytes of all arrays together. Errors: ErrorCode::value past 2^62.
std::uint64_t total_bytes(const Problem& problem);

}  // namespace faro
