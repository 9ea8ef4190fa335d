// A permutation's text, with what its files hold beyond the permutation: a circuit's measurements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

struct NotedPermutation {
  ParsedPermutation parsed;
  std::vector<std::string> notes = {};  // a line each: what was read and left out
  std::uint64_t index_elements = 0;     // entries of all index arrays that the text made or read
};

/// parse_with_axes() with its notes.
NotedPermutation parse_with_notes(std::string_view text, const ParseOptions& options = {});

}  // namespace faro::detail
