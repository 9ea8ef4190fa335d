// What maps were called where they were typed. A map of bits is its matrix, and `random_bmmc(28, 1)` would
// be told as 28 numbers: messages, explanations and drawings keep the name instead.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

class TypedNames {
 public:
  /// Only an affine map whose own text is longer than what was typed has anything to gain.
  void remember(const Permutation& permutation, const std::string& typed);

  /// `text` with the typed names where it has the maps' own texts.
  std::string in(std::string text) const;

  /// The same for the drawing of `permutation`, typed as `typed`, where that needs no escapes: its title may
  /// hold the beginning of a long text.
  std::string in_drawing(const std::string& svg, const Permutation& permutation,
                         const std::string& typed) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;  // own text, typed; in the order of the typing
};

}  // namespace faro::detail
