// What tests of texts share: a text's map, and the error of one that is none.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "faro/error.hpp"
#include "faro/permutation/permutation.hpp"
#include "permutation/text.hpp"

namespace faro::parsed_text {

inline Affine parsed(std::string_view text, const ParseOptions& options = {}) {
  return std::get<Affine>(parse_permutation(text, options));
}

// The error that `text` gives; an internal one where it gives none.
inline ErrorReport refusal(std::string_view text, const ParseOptions& options = {}) {
  try {
    const std::string accepted = to_text(parse_permutation(text, options));
    ADD_FAILURE() << text << " was read as " << accepted;
  } catch (const Error& error) {
    return error.report();
  }
  return {};
}

}  // namespace faro::parsed_text
