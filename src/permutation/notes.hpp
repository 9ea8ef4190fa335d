// A permutation's text, with what it says beyond the permutation: shapes, and what its files hold besides,
// such as a circuit's measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

struct NotedPermutation {
  ParsedPermutation parsed;
  /// Of words that name axes composed with other maps, where `parsed.axes` is nothing: the shape that is
  /// taken and the one that is given.
  std::optional<RegroupedShape> shapes = std::nullopt;
  std::vector<std::string> notes = {};  // a line each: what was read and left out
  std::uint64_t index_elements = 0;     // entries of all index arrays that the text made or read
};

/// What has the shape of ParseOptions: what the map takes, or what it gives, where its inverse is to be run.
/// In compose(f, g) the array is at hand for g, and what g gives for f.
enum class AtHand : std::uint8_t { input, result };

/// parse_with_axes() with its notes.
NotedPermutation parse_with_notes(std::string_view text, const ParseOptions& options = {},
                                  AtHand at_hand = AtHand::input);

}  // namespace faro::detail
