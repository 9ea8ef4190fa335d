// A problem is what a user asks for: a permutation or a strided view, the width of the elements, the number
// of arrays, and where the result goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "faro/permutation/permutation.hpp"
#include "faro/permutation/strided.hpp"

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
  /// This or a view has to be said: what stands here before is no permutation, and is refused.
  Permutation permutation = detail::no_permutation();
  /// Bytes of an element, 1 to 4096, which have to be said; of an affine map a power of two, unless it is a
  /// roll, a flip or a permutation of axes too. In place rolls, flips and equal axes take any number.
  std::uint64_t element_bytes = 0;
  std::uint64_t batch = 1;  // any count; 0 is an empty problem
  Placement placement = Placement::out_of_place;
  /// Instead of a permutation: an array's elements by strides (faro/permutation/strided.hpp), of any width,
  /// out of place, without a batch, which is an axis of the view.
  std::optional<Strided> view = {};
};

/// Largest n of a problem.
inline constexpr int kMaxProblemBits = 40;
inline constexpr std::uint64_t kMaxElementBytes = 4096;

/// Bytes that are moved, of all arrays together. Errors: ErrorCode::value past 2^62.
std::uint64_t total_bytes(const Problem& problem);

/// Elements of an array that are moved. Errors: those of element_count() of a view.
std::uint64_t element_count(const Problem& problem);
/// The text of its permutation or view.
std::string to_text(const Problem& problem);

}  // namespace faro
