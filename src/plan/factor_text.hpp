// The name of a factor: what a map of an in-place pass is, in one line.
//
//     named       bit_reversal(20)
//     gates       circuit(20; swap 1 2; cx 0 19; x 3)        where a few say it, in fewer letters
//     else        a BMMC map of 30 bits
#pragma once

#include <optional>
#include <string>

#include "faro/permutation/affine.hpp"

namespace faro::detail {

/// `map` as a circuit of at most `most_gates` gates, none of them idle; nothing where elimination finds none.
/// Law: parse_permutation(*circuit_text(map)) == map.
std::optional<std::string> circuit_text(const Affine& map, std::size_t most_gates);

std::string factor_text(const Affine& map);

}  // namespace faro::detail
