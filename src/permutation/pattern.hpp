// Axes by name, as einops writes them: a pattern of the input's axes and one of the output's.
//
//     'b s h d -> b h s d'              the axes 0 2 1 3 of an array of four
//     'b (h d) s -> b h s d, h=8'       an axis of 8 x d is taken apart; d follows from the array
//     'b h s d -> b s (h d)'            two axes become one
//     '... c h w -> ... h w c'          whatever comes before
//     '... h w -> (...) h w'            whatever comes before, as one axis; of 1 where there is nothing
//
// A name stands for an axis, brackets join several to one, the first the slowest, `1` is an axis of one
// element. Lengths come from the array at hand and from what follows the pattern; without an array all of
// them are given: 'a b -> b a, a=3, b=5'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

/// Whether a text is a pattern rather than a map: it has `->`, and names no file.
bool is_pattern(std::string_view text);

/// The pattern of the way back: 'b -> a' of 'a -> b', with the same lengths.
std::string inverse_pattern(std::string_view text);

/// Errors: ErrorCode::spec for what is no pattern, names that are on one side only or twice on one;
/// ErrorCode::value for an array of another rank or of other lengths, and for lengths that nothing says.
ParsedPermutation parse_pattern(std::string_view text,
                                const std::optional<std::vector<std::uint64_t>>& shape);

}  // namespace faro::detail
