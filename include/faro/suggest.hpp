// The nearest known name to a misspelt one, for maps, gates, verbs and flags alike.
//
//     nearest("bitreversal", {"bit_reversal", "reverse"})  ->  "bit_reversal"
//     nearest("shufle", {"shuffle", "swap_bits"})          ->  "shuffle"
//     nearest("h", {"x", "cx"})                            ->  nothing: a wrong guess is worse than none
//
// Case, `_` and `-` do not count as differences. Names are near when they agree in two letters of three, or
// when the word is the beginning of the name; words of one or two letters must differ by an exchange of
// neighbours at most.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace faro {

/// Insertions, deletions, substitutions and exchanges of neighbours that turn `a` into `b`, no letter edited
/// twice. Source: Damerau 1964, in the restricted form (optimal string alignment). Cost: |a| |b| steps.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, the first of equals; nothing where none is near.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "did you mean `gray`?", or nothing where none is near: the `remedy` of an error.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace faro
