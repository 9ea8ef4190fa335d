// The arguments of the maps that are not affine by their name: each reads what stands between the
// parentheses.
#pragma once

#include "faro/permutation/permutation.hpp"
#include "parser.hpp"

namespace faro::detail {

Permutation read_transpose(SpecReader& reader);   // rows, columns: affine where both are powers of two
Permutation read_aos_to_soa(SpecReader& reader);  // count, words
Permutation read_soa_to_aos(SpecReader& reader);  // count, words
Permutation read_aosoa(SpecReader& reader);       // count, words, tile
Permutation read_axes(SpecReader& reader);        // extents; order
Permutation read_roll(SpecReader& reader);        // count, shift
Permutation read_flip(SpecReader& reader);        // count
Permutation read_random(SpecReader& reader);      // count, seed
Permutation read_indices(SpecReader& reader);     // the entries of a scatter
Permutation read_compose(SpecReader& reader);     // f, g
Permutation read_inverse(SpecReader& reader);     // f
Permutation read_power(SpecReader& reader);       // f, k

// The same by their bare names, of the array at hand.
Permutation transpose_of_shape(SpecReader& reader,
                               const std::vector<std::uint64_t>& shape);  // all axes reversed
Permutation aos_to_soa_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation soa_to_aos_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);
Permutation flip_of_shape(SpecReader& reader, const std::vector<std::uint64_t>& shape);

}  // namespace faro::detail
