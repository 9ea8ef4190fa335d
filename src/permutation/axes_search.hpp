// The only permutation of axes that an index array can be, from a few of its entries.
//
//     shape 2 3 4, order 2 1 0      P[0 ..] = 0 6 12 18 | 2 8 14 20 | 4 10 16 22 | 1 7 …
//
//     fastest axis    P[1] = 6: its step.     P[e] = 6 e for e = 2, 3, divisors of 24, not for 4: extent 4
//     next, at 4      P[4] = 2: its step.     P[4 e] = 2 e for e = 2, a divisor of 6, not for 3: extent 3
//     next, at 12     P[12] = 1: its step.    Of what is left, 2, no divisor remains: extent 2
//
// In the normal form two neighbours of the input are none of the output, so an axis ends at the first divisor
// whose entry is off its line. The steps 1 2 6 must be those of an order of the axes: here 2 1 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

struct AxesSearch {
  std::optional<Axes> candidate;
  std::string why;  // where there is none
};

/// The only axes, each flipped or rolled, that it can be, the fastest first: the longest of which a few
/// entries are where its steps lead.
///
///     P[0] P[p] P[2 p] …      steps all alike but one, where the axis goes round, and back by as many as it has
struct CyclicAxesSearch {
  std::optional<CyclicAxes> candidate;
  std::string why;  // where there is none
};

/// Requires: an array that is a permutation.   Cost: some calls of `reader.at` for each divisor of the count,
/// and as many as bits of its extent for each axis.
CyclicAxesSearch find_cyclic_axes(IndexReader& reader);

/// Requires: at least one element, and entry 0 is 0. Cost: a call of `reader.at` an axis, for at most all
/// divisors of the count.
AxesSearch find_axes(IndexReader& reader);

// Which map most entries of an index array follow, by a few samples.

struct SampledMaps {
  std::vector<Permutation> candidates;  // an Affine, a Modular
  std::string why;                      // there is none
};

/// Cost: a thousand entries.
SampledMaps sample_maps(IndexReader& reader);

// An index array of blocks that are equal (Blocks of faro/permutation/permutation.hpp), as one of them.

/// The permutation of the first `block` elements, of which `together` are one: of block / together elements,
/// with the array's direction. Requires: an array of the host; both divide what they are to (unchecked).
inline Indexed block_of(const Indexed& indexed, std::uint64_t block, std::uint64_t together) {
  const std::uint64_t count = block / together;
  const auto entries = [&](auto word) {
    std::vector<decltype(word)> made(count);
    for (std::uint64_t k = 0; k < count; ++k)
      made[k] = static_cast<decltype(word)>(indexed.entry(k * together) / together);
    return Indexed(std::move(made), indexed.direction());
  };
  return count > std::uint64_t{1} << 32 ? entries(std::uint64_t{0}) : entries(std::uint32_t{0});
}

}  // namespace faro::detail
